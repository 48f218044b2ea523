"""PubMed XML becomes records: one test for each oddity that real files have."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import socket
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from medcite_core.types import ParseProblem, Record, Tombstone
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

GOLDEN = Path(__file__).parents[1] / "golden" / "xml"


def records_of(name: str) -> list[Record]:
    parsed = list(parse_pubmed_xml(GOLDEN / name))
    assert all(isinstance(item, Record) for item in parsed), parsed
    return [item for item in parsed if isinstance(item, Record)]


def only(name: str) -> Record:
    (record,) = records_of(name)
    return record


def article(pmid: str = "90000001", *, title: str = "A title.", body: str = "", extra: str = "", data: str = "") -> str:
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal><JournalIssue><PubDate>'
        f"<Year>2019</Year></PubDate></JournalIssue><Title>J</Title></Journal><ArticleTitle>{title}</ArticleTitle>"
        f"{body}</Article>{extra}</MedlineCitation><PubmedData>{data}</PubmedData></PubmedArticle>"
    )


def parse(*articles: str, head: str = '<?xml version="1.0"?>', tail: str = "</PubmedArticleSet>") -> list[object]:
    text = f"{head}<PubmedArticleSet>{''.join(articles)}{tail}"
    return list(parse_pubmed_xml(io.BytesIO(text.encode()), "test.xml"))


def parsed_one(**parts: str) -> Record:
    (record,) = parse(article(**parts))
    assert isinstance(record, Record)
    return record


# ---------------------------------------------------------------- dates


@pytest.mark.parametrize("kind", ["Print", "Electronic"])
def test_an_issn_keeps_its_kind(kind: str) -> None:
    text = article().replace("<Journal>", f'<Journal><ISSN IssnType="{kind}">1234-5678</ISSN>')
    (record,) = parse(text)
    assert isinstance(record, Record)
    assert (record.issn, record.issn_kind) == ("1234-5678", kind)


def test_a_version_that_no_record_can_have_is_a_problem_of_its_own_citation_only() -> None:
    broken = article("3").replace('Version="1"', 'Version="3000000000"')
    found = parse(article("2"), broken, article("4"))
    assert [item.pmid for item in found if isinstance(item, Record)] == ["2", "4"]
    (problem,) = [item for item in found if isinstance(item, ParseProblem)]
    assert "version" in problem.reason


def test_fr028_a_season_in_medline_date_gives_its_first_year_and_keeps_the_wording() -> None:
    date = only("FR-028-in.xml").date
    assert (date.year, date.month, date.day, date.raw) == (2016, None, None, "Winter 2016-2017")


def test_fr031_a_print_date_is_never_mixed_with_the_electronic_one() -> None:
    assert only("FR-031-in.xml").date.iso() == "2011-02"


def test_fr032_a_record_with_an_empty_date_has_no_year_and_its_neighbours_are_read() -> None:
    assert [record.year for record in records_of("FR-032-in.xml")] == [2019, None, 2019]


def test_without_a_print_date_the_electronic_one_stands_in_and_is_marked() -> None:
    record = parsed_one(
        body="<ArticleDate DateType='Electronic'><Year>2010</Year><Month>12</Month><Day>31</Day></ArticleDate>"
    )
    assert record.date.iso() == "2019"
    text = article(body="<ArticleDate><Year>2010</Year><Month>12</Month><Day>31</Day></ArticleDate>")
    (record,) = parse(text.replace("<PubDate><Year>2019</Year></PubDate>", "<PubDate/>"))
    assert isinstance(record, Record)
    assert (record.date.iso(), record.date.raw) == ("2010-12-31", "2010-12-31 [electronic]")


@pytest.mark.parametrize(
    ("words", "year", "month"),
    [
        ("1998 Dec-1999 Jan", 1998, None),
        ("2019 Sep/Oct", 2019, None),
        ("1944-1945", 1944, None),
        ("2018 July August", 2018, None),
        ("1975 Dec 15-31", 1975, 12),
        ("Spring", None, None),
    ],
)
def test_a_medline_date_gives_a_month_only_when_it_names_just_one(
    words: str, year: int | None, month: int | None
) -> None:
    text = article().replace("<Year>2019</Year>", f"<MedlineDate>{words}</MedlineDate>")
    (record,) = parse(text)
    assert isinstance(record, Record)
    assert (record.date.year, record.date.month, record.date.raw) == (year, month, words)


def test_a_day_that_its_month_does_not_have_is_left_out() -> None:
    text = article().replace("<Year>2019</Year>", "<Year>2019</Year><Month>Feb</Month><Day>31</Day>")
    (record,) = parse(text)
    assert isinstance(record, Record)
    assert record.date.iso() == "2019-02"


# ---------------------------------------------------------------- files that are not whole


def test_fr034_a_file_cut_in_mid_tag_is_named_with_line_and_column() -> None:
    (problem,) = parse_pubmed_xml(GOLDEN / "FR-034-cut.xml")
    assert isinstance(problem, ParseProblem)
    assert problem.is_file_cut
    assert (problem.file_name, problem.pmid) == ("FR-034-cut.xml", "90000002")
    lines = (GOLDEN / "FR-034-cut.xml").read_text().split("\n")
    assert (problem.line, problem.column) == (len(lines), len(lines[-1]) + 1)


def test_fr034_an_empty_file_is_a_problem_at_its_first_line() -> None:
    (problem,) = parse_pubmed_xml(GOLDEN / "FR-034-empty.xml")
    assert isinstance(problem, ParseProblem)
    assert (problem.line, problem.column, problem.reason) == (1, 1, "the file is empty")


def test_fr016_a_cut_set_gives_its_whole_records_and_one_problem_for_the_rest() -> None:
    whole = records_of("FR-016-full.xml")
    *good, problem = parse_pubmed_xml(GOLDEN / "FR-016-cut.xml")
    assert len(whole) == 3
    assert [item.text for item in good if isinstance(item, Record)] == [r.text for r in whole[: len(good)]]
    assert isinstance(problem, ParseProblem)
    assert problem.is_file_cut


def test_a_set_that_lacks_its_end_tag_is_cut_although_every_record_is_whole() -> None:
    record, problem = parse(article(), tail="\n")
    assert isinstance(record, Record)
    assert isinstance(problem, ParseProblem)
    assert problem.is_file_cut


def test_fr027_an_archive_cut_short_gives_no_record_at_all() -> None:
    (problem,) = parse_pubmed_xml(GOLDEN / "FR-027-pubmed_test0001.xml.gz.cut")
    assert isinstance(problem, ParseProblem)
    assert problem.is_file_cut
    assert "gzip archive is cut short" in problem.reason


def test_fr027_a_file_that_differs_from_the_md5_beside_it_is_not_read(tmp_path: Path) -> None:
    good = gzip.compress((GOLDEN / "FR-034-good.xml").read_bytes())
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(good)
    digest = hashlib.md5(good, usedforsecurity=False).hexdigest()
    (tmp_path / "pubmed26n0001.xml.gz.md5").write_text(f"MD5(pubmed26n0001.xml.gz)= {digest}\n")
    assert [type(item) for item in parse_pubmed_xml(path)] == [Record]
    (tmp_path / "pubmed26n0001.xml.gz.md5").write_text(f"MD5(pubmed26n0001.xml.gz)= {'0' * 32}\n")
    (problem,) = parse_pubmed_xml(path)
    assert isinstance(problem, ParseProblem)
    assert "MD5" in problem.reason


def test_an_archive_with_a_flipped_bit_gives_no_record(tmp_path: Path) -> None:
    data = bytearray(gzip.compress((GOLDEN / "FR-016-full.xml").read_bytes()))
    data[len(data) // 2] ^= 0x10
    path = tmp_path / "flipped.xml.gz"
    path.write_bytes(data)
    (problem,) = parse_pubmed_xml(path)
    assert isinstance(problem, ParseProblem)
    assert problem.is_file_cut


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("blocked.html", b"<html><head><title>Access blocked</title></head></html>", "root element is <html>"),
        ("error.xml", b"<?xml version='1.0'?><eFetchResult><ERROR>Bad id</ERROR></eFetchResult>", "Bad id"),
        ("set.nbib", b"\nPMID- 12345\nTI  - A title\n", "MEDLINE text"),
        ("binary.xml", bytes(range(256)) * 4, "not PubMed XML"),
        ("notes.txt", b"Mean age was 54.", "not PubMed XML"),
        ("reply.json", b'{"error": "API rate limit exceeded"}', "not PubMed XML"),
    ],
)
def test_what_is_not_pubmed_xml_is_one_clear_problem(name: str, data: bytes, words: str) -> None:
    (problem,) = parse_pubmed_xml(io.BytesIO(data), name)
    assert isinstance(problem, ParseProblem)
    assert problem.file_name == name
    assert words in problem.reason


def test_an_empty_set_has_no_citations_and_no_problem() -> None:
    assert parse() == []
    assert list(parse_pubmed_xml(io.BytesIO(b"<PubmedArticleSet/>"), "empty.xml")) == []


def test_one_bad_citation_does_not_stop_the_others_and_the_counts_add_up() -> None:
    bad = article("2", title="An unclosed <i>tag.")
    no_pmid = article("3").replace('<PMID Version="1">3</PMID>', "")
    unclosed = article("4").removesuffix("</PubmedArticle>")
    undefined = article("5", title="A&nbsp;b")
    parsed = parse(article("1"), "\n", bad, "\n", no_pmid, unclosed, undefined, article("6"))
    assert [type(item) for item in parsed] == [Record, *[ParseProblem] * 4, Record]
    problems = [item for item in parsed if isinstance(item, ParseProblem)]
    assert [problem.position for problem in problems] == [1, 2, 3, 4]
    assert [problem.pmid for problem in problems] == ["2", "", "4", "5"]
    assert problems[0].line == 2
    assert "no PMID" in problems[1].reason
    assert not any(problem.is_file_cut for problem in problems)


def test_a_broken_start_tag_between_citations_is_not_lost_silently() -> None:
    parsed = parse(article("1"), article("2").replace("<PubmedArticle>", "<PubmedArtcle>"), article("3"))
    assert [type(item) for item in parsed] == [Record, ParseProblem, Record]
    problem = parsed[1]
    assert isinstance(problem, ParseProblem)
    assert "PubmedArtcle" in problem.reason


def test_a_citation_in_a_comment_is_none() -> None:
    assert len(parse(f"<!-- {article('1')} -->", article("2"), "<!-- </PubmedArticle> -->")) == 1


def test_the_bytes_of_a_record_that_cross_a_read_border_are_read_as_one() -> None:
    long = "word " * 40_000
    body = f"<Abstract><AbstractText>{long}</AbstractText></Abstract>"
    parsed = parse(article("1", body=body), article("2", body=body))
    assert [item.sections[1].text for item in parsed if isinstance(item, Record)] == [long.strip()] * 2


def test_concatenated_sets_are_read_to_the_last_record() -> None:
    one = f"<?xml version='1.0'?>\n<PubmedArticleSet>{article('1')}</PubmedArticleSet>\n"
    parsed = list(parse_pubmed_xml(io.BytesIO((one + one.replace(">1<", ">2<")).encode()), "two.xml"))
    assert [item.pmid for item in parsed if isinstance(item, Record)] == ["1", "2"]
    assert len(parsed) == 2


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_other_encodings_are_read_as_their_declaration_says(encoding: str) -> None:
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?><PubmedArticleSet>{article(title="Müller é")}</PubmedArticleSet>'
    )
    (record,) = parse_pubmed_xml(io.BytesIO(text.encode(encoding)), "encoded.xml")
    assert isinstance(record, Record)
    assert record.title == "Müller é"


def test_wherever_a_file_is_cut_its_whole_records_come_and_one_problem_says_so() -> None:
    data = (GOLDEN / "FR-016-full.xml").read_bytes()
    whole = [record.text for record in records_of("FR-016-full.xml")]
    ends = [match.end() for match in re.finditer(rb"</PubmedArticle>", data)]
    first, last = data.index(b"<PubmedArticleSet>") + len(b"<PubmedArticleSet>"), data.index(b"</PubmedArticleSet>")
    for cut in range(first, last, 7):
        *good, problem = parse_pubmed_xml(io.BytesIO(data[:cut]), "cut.xml")
        assert [item.text for item in good if isinstance(item, Record)] == whole[: sum(end <= cut for end in ends)]
        assert len(good) == sum(end <= cut for end in ends)
        assert isinstance(problem, ParseProblem)
        assert problem.is_file_cut


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 4308), st.binary(max_size=3), st.integers(0, 40))
def test_no_damage_raises_or_takes_more_than_it_touches(place: int, new: bytes, removed: int) -> None:
    data = (GOLDEN / "FR-016-full.xml").read_bytes()
    damaged = data[:place] + new + data[place + removed :]
    # Such a beginning makes it a gzip archive, or UTF-16: read as that it holds nothing.
    assume(not damaged.startswith((b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")))
    parsed = list(parse_pubmed_xml(io.BytesIO(damaged), "damaged.xml"))
    starts = damaged.count(b"<PubmedArticle>") if b"<PubmedArticleSet>" in damaged else 0
    assert len(parsed) >= starts
    assert sum(isinstance(item, Record) for item in parsed) >= (1 if starts else 0)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    body = f"<Abstract><AbstractText>{'Words of an abstract. ' * 300}</AbstractText></Abstract>"
    path = tmp_path / "large.xml"
    with path.open("w") as out:
        out.write("<PubmedArticleSet>")
        for pmid in range(1, 1501):
            out.write(article(str(pmid), body=body))
        out.write("</PubmedArticleSet>")
    assert path.stat().st_size > 9_000_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in parse_pubmed_xml(path)) == 1500
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


# ---------------------------------------------------------------- safety


def test_fr045_a_dtd_of_a_future_year_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def trap(*args: object, **kwargs: object) -> None:
        raise AssertionError("the parser reached for the network")

    monkeypatch.setattr(socket, "socket", trap)
    monkeypatch.setattr(socket, "create_connection", trap)
    assert only("FR-045-in.xml").text == "Test title.\n\nTest abstract."


def test_entities_are_never_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 20))
    head = f'<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY l0 "ha">{laughs}]>'
    problem, record = parse(article("1", title="&l19;"), article("2"), head=head)
    assert isinstance(problem, ParseProblem)
    assert "undefined entity" in problem.reason
    assert isinstance(record, Record)


def test_deep_nesting_is_a_problem_of_that_citation_alone() -> None:
    deep = "<i>" * 20_000 + "x" + "</i>" * 20_000
    problem, record = parse(article("1", title=deep), article("2"))
    assert isinstance(problem, ParseProblem)
    assert isinstance(record, Record)


def test_fr046_an_element_that_nlm_has_added_is_named_once_a_run() -> None:
    seen: set[str] = set()
    with capture_logs() as logs:
        for _ in range(2):
            (record,) = parse_pubmed_xml(GOLDEN / "FR-046-in.xml", seen_unknown=seen)
            assert isinstance(record, Record)
    assert [entry["element"] for entry in logs if entry["event"] == "unknown_pubmed_element"] == ["BrandNewElement"]


# ---------------------------------------------------------------- text


def test_fr035_an_empty_label_gives_no_prefix_and_bold_lines_are_not_glued() -> None:
    text = only("FR-035-in.xml").text
    assert text.split("\n\n")[1:] == [
        "Patient: adult, 40 Symptoms: fever",
        "OBJECTIVE: Rare event.",
        "RESULTS: It resolved.",
    ]


def test_fr036_a_title_keeps_what_stands_before_and_in_its_markup() -> None:
    assert only("FR-036-in.xml").title == "Effect of the ABC1 gene on growth."


def test_fr037_an_abstract_does_not_end_at_an_italic_p() -> None:
    text = only("FR-037-in.xml").text
    assert "p < 0.05" in text
    assert text.endswith("12 months.")


def test_fr038_a_power_of_ten_stays_a_power() -> None:
    text = only("FR-038-in.xml").text
    assert "3 x 10⁶ cells" in text
    assert "PaO₂ was < 60 and q < 0.1" in text


def test_fr039_mathml_gives_its_text_alone() -> None:
    assert only("FR-039-in.xml").text.endswith("The dose was 5 mg daily.")


def test_fr040_an_italic_not_is_kept() -> None:
    assert "was not superior to placebo" in only("FR-040-in.xml").text


def test_fr042_labels_are_kept_before_their_text() -> None:
    record = only("FR-042-in.xml")
    assert "CONCLUSIONS: Drug B did not reduce attacks." in record.text
    assert [section.label for section in record.sections] == ["", "BACKGROUND", "CONCLUSIONS"]


def test_fr043_every_section_is_kept_in_order() -> None:
    words = ["alphaword", "betaword", "gammaword", "deltaword", "epsilonword"]
    text = only("FR-043-in.xml").text
    places = [text.index(word) for word in words]
    assert places == sorted(places)


def test_fr044_a_mathml_table_does_not_stop_the_batch() -> None:
    assert len(records_of("FR-044-in.xml")) == 3


def test_section_spans_slice_the_text_exactly() -> None:
    for path in sorted(GOLDEN.glob("FR-*-in.xml")):
        for record in records_of(path.name):
            assert all(section.span.of(record.text) == section.text for section in record.sections)


def test_unassigned_is_no_label() -> None:
    body = '<Abstract><AbstractText Label="UNASSIGNED" NlmCategory="UNASSIGNED">Words.</AbstractText></Abstract>'
    record = parsed_one(body=body)
    assert record.text == "A title.\n\nWords."
    assert record.sections[1].nlm_category == "UNASSIGNED"


def test_a_translated_title_keeps_its_brackets_and_the_vernacular_one_stands_apart() -> None:
    record = parsed_one(title="[On hearts].", body="<VernacularTitle>Über Herzen.</VernacularTitle>")
    assert (record.title, record.vernacular_title) == ("[On hearts].", "Über Herzen.")
    assert "Herzen" not in record.text


def test_another_abstract_is_kept_apart_from_the_text() -> None:
    extra = (
        '<OtherAbstract Type="Publisher" Language="spa"><AbstractText Label="OBJETIVO">Uno.</AbstractText>'
        "<AbstractText>Dos.</AbstractText></OtherAbstract>"
    )
    record = parsed_one(extra=extra)
    assert record.other_abstracts == (("spa", "Publisher", "OBJETIVO: Uno.\n\nDos."),)
    assert "Uno" not in record.text


def test_a_citation_without_a_title_says_so_in_pubmeds_own_words() -> None:
    record = parsed_one(title="")
    assert record.text == "[Not Available]."


# ---------------------------------------------------------------- authors, identifiers, headings


def test_fr049_a_group_is_an_author_in_its_place() -> None:
    assert [author.display() for author in only("FR-049-in.xml").authors] == ["Doe A", "Example Study Group"]


def test_fr050_a_citation_without_authors_is_read() -> None:
    assert only("FR-050-in.xml").authors_short() == "[No authors listed]"


def test_a_spelling_that_was_corrected_is_not_an_author_twice() -> None:
    body = (
        '<AuthorList CompleteYN="N"><Author ValidYN="N"><LastName>Doo</LastName><Initials>A</Initials></Author>'
        '<Author ValidYN="Y"><LastName>Doe</LastName><Initials>A</Initials></Author></AuthorList>'
    )
    record = parsed_one(body=body)
    assert [author.display() for author in record.authors] == ["Doe A"]
    assert not record.authors_complete


def test_identifiers_of_references_are_not_the_records_own() -> None:
    data = (
        "<ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.5555/other</ArticleId>"
        "<ArticleId IdType='pmc'>PMC999</ArticleId></ArticleIdList></Reference></ReferenceList>"
        "<ArticleIdList><ArticleId IdType='pmc'>PMC123</ArticleId></ArticleIdList>"
    )
    record = parsed_one(data=data, body='<ELocationID EIdType="doi" ValidYN="Y">10.5555/own</ELocationID>')
    assert (record.doi, record.pmcid) == ("10.5555/own", "PMC123")
    only_references = data.partition("</ReferenceList>")[0] + "</ReferenceList>"
    record = parsed_one(data=only_references, body='<ELocationID EIdType="doi" ValidYN="N">10.5555/bad</ELocationID>')
    assert (record.doi, record.pmcid) == ("", "")


def test_fr246_an_electronic_article_number_stands_for_the_pages() -> None:
    record = only("FR-246-in.xml")
    assert record.pages == "e123"
    assert record.doi


def test_headings_keep_qualifiers_and_major_topics() -> None:
    extra = (
        "<MeshHeadingList><MeshHeading><DescriptorName UI='D006321' MajorTopicYN='N'>Heart</DescriptorName>"
        "<QualifierName MajorTopicYN='Y'>physiology</QualifierName></MeshHeading><MeshHeading>"
        "<DescriptorName UI='D006801' MajorTopicYN='N'>Humans</DescriptorName></MeshHeading></MeshHeadingList>"
        "<KeywordList><Keyword>CO<sub>2</sub></Keyword><Keyword>CO<sub>2</sub></Keyword></KeywordList>"
    )
    heart, humans = parsed_one(extra=extra).mesh_headings
    assert (heart.descriptor, heart.descriptor_ui, heart.qualifiers, heart.is_major) == (
        "Heart",
        "D006321",
        ("physiology",),
        True,
    )
    assert not humans.is_major
    assert parsed_one(extra=extra).keywords == ("CO₂",)


# ---------------------------------------------------------------- notices and withdrawals


def test_fr059_an_erratum_and_a_concern_are_not_retractions() -> None:
    assert [record.status for record in records_of("FR-059-in.xml")] == [
        "corrected",
        "expression_of_concern",
        "no_notice",
    ]


def test_fr060_a_concern_and_a_retraction_are_both_kept() -> None:
    record = only("FR-060-in.xml")
    assert {notice.kind for notice in record.notices} == {"expression_of_concern", "retracted"}
    assert record.status == "retracted"


def test_fr061_the_notice_of_a_retraction_is_not_the_retracted_paper() -> None:
    paper, notice = records_of("FR-061-in.xml")
    assert (paper.status, notice.status) == ("retracted", "retraction_notice")
    assert not notice.is_usable_as_support


def test_fr062_the_revised_record_carries_its_retraction_and_is_newer() -> None:
    before, after = only("FR-062-1.xml"), only("FR-062-2.xml")
    assert before.pmid == after.pmid
    assert (before.status, after.status) == ("no_notice", "retracted")
    assert (after.version, after.date_revised.iso()) > (before.version, before.date_revised.iso())


@pytest.mark.parametrize("name", ["DeleteCitation", "DeleteDocument"])
def test_deletions_are_tombstones_one_for_each_pmid(name: str) -> None:
    deleted = f'<{name}><PMID Version="2">11</PMID>\n<PMID>12</PMID><PMID>x</PMID></{name}>'
    record, first, second, problem = parse(article("1"), deleted)
    assert isinstance(record, Record)
    assert isinstance(first, Tombstone)
    assert isinstance(second, Tombstone)
    assert [(t.pmid, t.version, t.provenance.position) for t in (first, second)] == [("11", 2, 1), ("12", 1, 2)]
    assert isinstance(problem, ParseProblem)


# ---------------------------------------------------------------- books, provenance


def test_a_chapter_has_its_book_as_journal_and_a_book_its_own_title() -> None:
    chapter = (
        "<PubmedBookArticle><BookDocument><PMID Version='1'>20301295</PMID><ArticleIdList>"
        "<ArticleId IdType='bookaccession'>NBK1</ArticleId></ArticleIdList><Book><BookTitle>GeneReviews</BookTitle>"
        "<PubDate><Year>1993</Year></PubDate><AuthorList Type='editors'><Author><LastName>Ed</LastName></Author>"
        "</AuthorList></Book><ArticleTitle>A <i>gene</i></ArticleTitle><Language>eng</Language><AuthorList "
        "Type='authors'><Author><LastName>Au</LastName></Author></AuthorList><PublicationType>Review</PublicationType>"
        "<Abstract><AbstractText Label='Diagnosis'>Text.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"
    )
    (record,) = parse(chapter)
    assert isinstance(record, Record)
    assert record.is_book
    assert (record.title, record.journal, record.year) == ("A gene", "GeneReviews", 1993)
    assert record.authors_short() == "Au"
    assert record.publication_types == ("Review",)
    assert record.text == "A gene\n\nDiagnosis: Text."
    (book,) = parse(chapter.replace("<ArticleTitle>A <i>gene</i></ArticleTitle>", ""))
    assert isinstance(book, Record)
    assert (book.title, book.journal) == ("GeneReviews", "")


def test_provenance_names_file_release_position_and_the_checksum_of_the_stored_bytes(tmp_path: Path) -> None:
    path = tmp_path / "pubmed21n1016.xml.gz"
    path.write_bytes(gzip.compress((GOLDEN / "FR-016-full.xml").read_bytes()))
    records = [item for item in parse_pubmed_xml(path) if isinstance(item, Record)]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for position, record in enumerate(records):
        source = record.provenance
        assert (source.file_name, source.sha256, source.position) == ("pubmed21n1016.xml.gz", digest, position)
        assert (source.release, source.file_number) == (21, 1016)
    assert (records[0].provenance.release, only("FR-045-in.xml").provenance.release) == (21, None)


def test_a_stream_that_cannot_seek_is_read_too() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *args: int) -> int:
            raise io.UnsupportedOperation("seek")

    parsed = list(parse_pubmed_xml(Pipe((GOLDEN / "FR-016-full.xml").read_bytes()), "pipe.xml"))
    assert [type(item) for item in parsed] == [Record] * 3
