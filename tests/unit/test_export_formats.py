"""Exports of single records: what reference managers and spreadsheets stumble over."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import bibtexparser
import nbib
import pytest
import rispy
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalker
from support.small_corpus import make_record

from medcite_core.types import Author, Notice, PartialDate, Record
from medcite_ingestion.pubmed_xml import parse_pubmed_xml
from medcite_middleware.citation.styles import cite
from medcite_middleware.export.bibtex import bibtex_text, citation_key
from medcite_middleware.export.csl import csl_item
from medcite_middleware.export.fields import full_pages, reference_title
from medcite_middleware.export.formats import FORMATS
from medcite_middleware.export.nbib import nbib_text
from medcite_middleware.export.ris import ris_text
from medcite_middleware.export.table import csv_text, harmless

XML = Path(__file__).parents[1] / "golden" / "xml"
HOSTILE = "=cmd|'/C calc'!A0 & 100% _a_ {b $c #d ~e ^f \\g} \"h\" <i>x</i>{"
HOSTILE += "\nTY  - EVIL\nER  - \n@article{x, \x00\x1b[31m \u2028 end"


def golden(number: str) -> list[Record]:
    """The records of a field report's file."""
    return [item for item in parse_pubmed_xml(XML / f"FR-{number}-in.xml") if isinstance(item, Record)]


def bibtex_fields(record: Record) -> dict[str, str]:
    """The entry as `bibtexparser` reads it."""
    parser = bibtexparser.bparser.BibTexParser(common_strings=True)
    (entry,) = parser.parse(bibtex_text(record)).entries
    return dict(entry)


def from_latex(text: str) -> str:
    """What LaTeX would show; strict, so that what does not compile fails."""
    LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    # Two names that pylatexenc does not know, and a sign that it takes for another.
    known = text.replace(r"\textbraceleft{}", r"\{").replace(r"\textbraceright{}", r"\}")
    return " ".join(LatexNodes2Text().latex_to_text(known).replace("ˆ", "^").split())


def ris_fields(record: Record) -> dict:
    (entry,) = rispy.loads(ris_text(record))
    return entry


def every_format(record: Record) -> dict[str, str]:
    return {name: "".join(form.pieces([record])) for name, form in FORMATS.items()}


# ------------------------------------------------------------------ the field reports


def test_fr_241_every_ris_line_is_a_tag_and_every_record_ends_with_er():
    records = golden("241")
    assert len(records) == 2
    text = "".join(FORMATS["ris"].pieces(records))
    lines = [line for line in text.split("\n") if line]
    assert all(re.fullmatch(r"[A-Z][A-Z0-9]  - .*", line) for line in lines)
    assert lines.count("ER  - ") == 2
    assert "\r" not in text


def test_fr_244_the_type_is_the_first_line_and_a_chapter_is_a_chapter():
    (record,) = golden("244")
    assert ris_text(record).startswith("TY  - JOUR\n")
    chapter = replace(record, is_book=True, journal="A Book")
    assert ris_text(chapter).startswith("TY  - CHAP\n")
    assert ris_text(replace(chapter, journal="")).startswith("TY  - BOOK\n")
    assert "\nTI  - \n" not in ris_text(replace(record, journal="", volume=""))


def test_fr_245_shortened_pages_are_made_whole_and_article_numbers_stay():
    records = golden("245")
    ris = [ris_fields(record) for record in records]
    assert [(r.get("start_page"), r.get("end_page")) for r in ris] == [
        ("845", "846"),
        ("2210", "2214"),
        ("S12", "S19"),
        ("e1002195", None),
        ("33", None),
    ]
    assert ris[3]["custom7"] == "e1002195"
    assert [bibtex_fields(r)["pages"] for r in records] == ["845--846", "2210--2214", "S12--S19", "e1002195", "33"]
    assert [csl_item(r)["page"] for r in records] == ["845-846", "2210-2214", "S12-S19", "e1002195", "33"]
    assert [nbib.read(nbib_text(r))[0]["pages"] for r in records] == [r.pages for r in records]
    assert {bibtex_fields(r)["title"] for r in records} == {"Test title"}


@pytest.mark.parametrize(
    ("pages", "first", "last", "joined"),
    [
        ("1338-46", "1338", "1346", "1338-1346"),
        ("99-101", "99", "101", "99-101"),
        ("E665-72", "E665", "E672", "E665-E672"),
        ("e48-e51", "e48", "e51", "e48-e51"),
        ("F62-F73", "F62", "F73", "F62-F73"),
        ("100-4; discussion 104-5", "100", "104", "100-104, 104-105"),
        ("167-70, 173, 176-9", "167", "170", "167-170, 173, 176-179"),
        ("1134-1146.e6", "1134", "1146.e6", "1134-1146.e6"),
        ("77-95, viii", "77", "95", "77-95, viii"),
        ("1-C10", "1", "C10", "1-C10"),
        ("CD002020", "CD002020", "", "CD002020"),
        ("[34457 words; 185 paragraphs]", "", "", ""),
        ("", "", "", ""),
    ],
)
def test_page_ranges_as_pubmed_writes_them(pages, first, last, joined):
    whole = full_pages(make_record("1", "T", pages=pages))
    assert (whole.first, whole.last, whole.joined("-")) == (first, last, joined)


def test_fr_246_an_electronic_article_number_and_the_doi_are_kept():
    (record,) = golden("246")
    ris, bib = ris_fields(record), bibtex_fields(record)
    assert (ris["doi"], ris["custom7"], ris["start_page"]) == (record.doi, "e123", "e123")
    assert (bib["doi"], bib["pages"]) == (record.doi, "e123")
    assert csl_item(record)["number"] == "e123"


def test_fr_247_signs_of_latex_come_back_as_they_were():
    (record,) = golden("247")
    bib = bibtex_fields(record)
    assert from_latex(bib["journal"]) == "Science & Practice"
    assert from_latex(bib["title"]) == "A_1 & B#2 cost $5 {sic} at x^2 ~ 3"
    assert r"\&" in bib["journal"]


def test_fr_248_a_percent_sign_is_escaped_in_bibtex_and_plain_in_ris():
    (record,) = golden("248")
    assert not re.search(r"(?<!\\)%", bibtex_fields(record)["title"])
    assert from_latex(bibtex_fields(record)["title"]) == "Full (100%) remission in 5 % of cases"
    assert ris_fields(record)["title"] == "Full (100%) remission in 5 % of cases"


def test_fr_251_raised_and_lowered_signs_are_latex_in_bibtex_and_plain_elsewhere():
    (record,) = golden("251")
    title = bibtex_fields(record)["title"]
    assert r"\textsuperscript{6}" in title
    assert r"A\_b" in title
    from_latex(title)
    for text in every_format(record).values():
        assert "<su" not in text
    assert ris_fields(record)["title"] == reference_title(record)


def test_fr_252_a_name_is_printed_as_pubmed_has_it_and_a_group_is_braced():
    (record,) = golden("252")
    author = record.authors[0]
    assert ris_fields(record)["authors"] == [f"{author.last_name}, {author.fore_name}"]
    group = replace(record, authors=(Author(collective_name="WHO Group, Asia and Europe"), author))
    assert bibtex_fields(group)["author"].startswith("{WHO Group, Asia and Europe} and ")
    assert csl_item(group)["author"][0] == {"literal": "WHO Group, Asia and Europe"}
    assert ris_fields(group)["authors"][0] == "WHO Group, Asia and Europe"
    assert nbib.read(nbib_text(group))[0]["corporate_author"] == "WHO Group, Asia and Europe"
    assert "WHO Group, Asia and Europe" in cite(group, "apa")


@pytest.mark.parametrize("style", ["vancouver", "apa"])
def test_fr_253_nothing_is_doubled_where_volume_and_pages_are_missing(style):
    (record,) = golden("253")
    for text in (cite(record, style), nbib_text(record)):
        assert not re.search(r"\.\.|;:|\(\)|;\.", text), text
    assert "2019" in cite(record, style)


@pytest.mark.parametrize("style", ["vancouver", "apa"])
def test_fr_050_a_record_without_authors_is_cited_and_exported(style):
    (record,) = golden("050")
    assert record.authors == ()
    assert cite(record, style).startswith("[No authors listed].")
    assert cite(record, style).count(reference_title(record)) == 1
    assert "authors" not in ris_fields(record)
    assert "author" not in bibtex_fields(record)
    assert citation_key(record) == f"anon{record.year}-{record.pmid}"


def test_fr_063_every_export_of_a_retracted_record_says_so_and_still_imports():
    (record,) = golden("063")
    assert record.status == "retracted"
    assert ris_fields(record)["title"].startswith("[Retracted] ")
    assert any(note.startswith("Retracted") for note in ris_fields(record)["notes"])
    assert bibtex_fields(record)["title"].startswith("[Retracted] ")
    assert bibtex_fields(record)["note"].startswith("Retracted")
    assert csl_item(record)["title"].startswith("[Retracted] ")
    assert csl_item(record)["note"].startswith("Retracted")
    again = nbib.read(nbib_text(record))[0]
    assert again["title"].startswith("[Retracted] ")
    assert "Retracted Publication" in again["publication_types"]
    (row,) = csv.DictReader(io.StringIO("".join(FORMATS["csv"].pieces([record])).lstrip("\ufeff")))
    assert row["status"] == "retracted"
    for style in ("vancouver", "apa"):
        assert "[Retracted]" in cite(record, style)


def test_a_title_that_says_retracted_itself_is_not_marked_twice():
    record = make_record("1", "RETRACTED: Zinc cures.", notices=(Notice("retracted", "2", "J. 2020"),))
    assert reference_title(record) == "RETRACTED: Zinc cures"


def test_a_retraction_known_by_its_notice_alone_is_a_publication_type_in_nbib():
    record = make_record("1", "Zinc cures.", notices=(Notice("retracted", "2", "J Test. 2020;1:2"),))
    assert "\nPT  - Retracted Publication\n" in nbib_text(record)
    assert "\nRIN - J Test. 2020;1:2 PMID: 2\n" in nbib_text(record)


# ------------------------------------------------------------------ hostile text


def hostile_record() -> Record:
    return replace(
        make_record("77", HOSTILE, f"AIM: {HOSTILE}", keywords=(HOSTILE, "ok"), doi="10.1/a_b%c{d"),
        authors=(Author(last_name="O'Brien, and} {x", fore_name="A & B"), Author(collective_name=HOSTILE)),
        journal=HOSTILE,
        volume="-1+1",
        notices=(Notice("corrected", "9", HOSTILE),),
    )


def test_hostile_text_makes_no_second_record_in_any_format():
    record = hostile_record()
    flat = " ".join(HOSTILE.replace("\x00", "").replace("\x1b", "").split())
    assert ris_fields(record)["title"] == flat
    assert ris_fields(record)["keywords"] == [flat, "ok"]
    again = nbib.read(nbib_text(record))
    assert [entry["pubmed_id"] for entry in again] == [77]
    assert again[0]["title"] == flat
    bib = bibtex_fields(record)
    assert from_latex(bib["title"]) == flat
    assert from_latex(bib["abstract"]) == f"AIM: {flat}"
    assert [from_latex(name) for name in bib["author"].split(" and ")][-1] == flat
    (item,) = json.loads("".join(FORMATS["csl-json"].pieces([record])))
    assert (item["title"], item["container-title"]) == (flat, flat)


@pytest.mark.parametrize("start", [*list("=+-@\t\r＝＋"), " =", "\n=", "\xa0@"])
def test_no_cell_of_a_csv_begins_as_a_formula(start):
    assert harmless(f"{start}1+1").startswith("'")
    record = replace(make_record("1", f"{start}SUM(A1)"), journal=f"{start}x", volume=f"{start}2")
    (row,) = csv.reader(io.StringIO(csv_text(record)))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", " ", "＝", "＋")) for cell in row)


def test_a_harmless_cell_stays_as_it_is():
    assert harmless("5'-nucleotidase = good") == "5'-nucleotidase = good"


# ------------------------------------------------------------------ BibTeX's own ways


def test_pairs_that_latex_makes_one_sign_of_stay_two():
    record = make_record("1", "A -- b ''c'' ?` d")
    assert from_latex(bibtex_fields(record)["title"]) == "A -- b ''c'' ?` d"


def test_capitals_inside_a_title_are_kept_from_styles():
    record = make_record("1", "Effects of COX-2 and mRNA on Zinc.")
    assert bibtex_fields(record)["title"] == "Effects of {COX-2} and {mRNA} on {Zinc}".replace("{Zinc}", "Zinc")


def test_a_backslash_in_a_doi_or_pmcid_and_an_and_in_capitals_do_not_break_an_entry():
    record = replace(
        make_record("9", "A trial.", doi="10.1/a\\b", pmcid="PMC_1&2"),
        authors=(Author(last_name="Sons AND Co", fore_name="A"), Author(last_name="Roe", fore_name="B And C")),
    )
    text = bibtex_text(record)
    assert "10.1/a%5Cb" in text
    assert "PMC\\_1\\&2" in text
    assert "{Sons AND Co}, A and Roe, {B And C}" in text


def test_keys_are_ascii_and_differ_by_pmid():
    one = replace(make_record("11", "T"), authors=(Author(last_name="Müller-Ménière"),))
    other = replace(one, pmid="12")
    assert (citation_key(one), citation_key(other)) == ("mullermeniere2020-11", "mullermeniere2020-12")
    assert citation_key(replace(one, authors=(Author(last_name="王"),))) == "anon2020-11"


def test_an_incomplete_list_of_authors_ends_with_others():
    record = replace(make_record("1", "T"), authors=(Author("Doe", "A"),), authors_complete=False)
    assert bibtex_fields(record)["author"] == "Doe, A and others"


# ------------------------------------------------------------------ citations


def test_a_citation_has_what_each_style_prints():
    record = replace(
        make_record("101", "Zinc & β-cells: 5 < 6."),
        authors=(Author("Doe", "Jane Ann", "JA"), Author("Ménière", "É", "É")),
        journal="Journal of tests",
        journal_abbreviation="J. Tests",
        volume="3",
        issue="2",
        pages="1338-46",
        date=PartialDate(2019, 3, 1),
        doi="10.1/x",
    )
    assert cite(record, "vancouver") == (
        "Doe JA, Ménière É. Zinc & β-cells: 5 < 6. J Tests. 2019 Mar 1;3(2):1338–46. doi:10.1/x PubMed PMID: 101."
    )
    assert cite(record, "apa") == (
        "Doe, J. A., & Ménière, É. (2019). Zinc & β-cells: 5 < 6. Journal of Tests, 3(2), 1338–1346. "
        "https://doi.org/10.1/x"
    )


@pytest.mark.parametrize("style", ["vancouver", "apa"])
def test_a_bare_record_can_be_cited(style):
    record = make_record("5", "Only a title", year=None)
    assert "Only a title" in cite(record, style)
    assert "None" not in cite(record, style)
