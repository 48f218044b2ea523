"""What every index promises, whichever engine it uses (ports.CorpusIndex)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from medcite_core.errors import IndexMismatch, IndexMissing, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.ports import EmbedderIdentity, IndexIdentity, WriteCounts
from medcite_core.types import Author, MeshHeading, Notice, PartialDate

ALL = SearchFilter()
HOSTILE = [
    "O'Brien's",
    "back\\slash",
    "100% _wild_",
    "x' OR 1=1 --",
    'double "quotes"',
    "Ménière; DROP",
    "β-日本語",
    "]",
    "nul\x00byte\n",
]


# ------------------------------------------------------------------ storing


def test_a_stored_record_comes_back_equal_with_its_counts(index, made):
    record = made.record(
        7,
        "Zinc in Ménière's disease",
        "AIM: To see.",
        "RESULTS: 3 × 10⁶ cells; p<0.05.",
        authors=(Author("Doe", "Jane", "J"), Author(collective_name="Example Study Group")),
        journal="J Test",
        mesh_headings=(MeshHeading("Zinc", "D015032", ("blood",), True),),
        notices=(Notice("corrected", "8", "J Test. 2001"),),
        doi="10.1/x",
        other_abstracts=(("fre", "publisher", "Résumé"),),
    )
    assert made.load(index, record) == WriteCounts(inserted=1)
    assert index.get(["7"]) == {"7": record}
    assert (index.count(), index.count_chunks(), index.years()) == (1, 3, {2020: 1})


def test_get_keeps_the_order_asked_for_and_leaves_out_what_is_not_there(index, made):
    made.load(index, *(made.record(pmid) for pmid in (1, 2, 30)))
    assert list(index.get(["30", "x", "1", "999", "", "٣", "01", "1"])) == ["30", "1"]


def test_loading_the_same_again_changes_nothing(index, made):
    records = [made.record(i, f"Title {i}", "Some words.") for i in range(1, 6)]
    made.load(index, *records)
    again = [made.from_file(record, 99) for record in records]
    todo, counts = index.plan_writes(again)
    assert (todo, counts) == ([], WriteCounts(unchanged=5))
    assert made.load(index, *again) == WriteCounts(unchanged=5)
    assert index.get(["3"])["3"] == records[2]


def test_a_revised_record_replaces_all_its_old_chunks_and_no_others(index, made):
    made.load(index, made.record(1, "Old title", "alpha.", "beta."), made.record(2, "Other", "alpha."))
    assert made.load(index, made.record(1, "New title", "gamma.", version=2)) == WriteCounts(replaced=1)
    assert index.count_chunks() == 4
    assert made.pmids(index.lexical_chunks("alpha", ALL, 9)) == ["2"]
    assert made.pmids(index.lexical_chunks("old", ALL, 9)) == []
    assert made.pmids(index.lexical_records("alpha beta old", ALL, 0, 9)[0]) == ["2"]
    assert index.get(["1"])["1"].title == "New title"


def test_what_the_search_returns_and_what_get_returns_are_the_same_revision(index, made):
    made.load(index, made.record(1, "Old", "alpha beta."))
    made.load(index, made.record(1, "New longer title", "alpha gamma.", version=2))
    for hit in index.lexical_chunks("alpha", ALL, 9) + index.vector_chunks(made.embed("alpha"), ALL, 9):
        record = index.get([hit.chunk.pmid])[hit.chunk.pmid]
        assert hit.chunk.span.of(record.text) == hit.chunk.text


@pytest.mark.parametrize("finished", [False, True])
def test_new_rows_are_found_at_once_before_and_after_the_load_is_finished(index, made, finished):
    made.load(index, *(made.record(i, f"Common {i}", "common words.") for i in range(1, 30)))
    index.finish_load()
    made.load(index, made.record(77, "Fresh zeta", "zeta words."))
    if finished:
        index.finish_load()
    assert made.pmids(index.lexical_chunks("zeta", ALL, 9)) == ["77", "77"]
    assert made.pmids(index.lexical_records("zeta", ALL, 0, 9)[0]) == ["77"]
    assert made.pmids(index.vector_chunks(made.embed("Fresh zeta"), ALL, 1)) == ["77"]
    assert index.count(SearchFilter(title="fresh")) == 1


def test_an_index_opened_elsewhere_sees_what_was_written(open_any, tmp_path, made):
    writer, reader = open_any(tmp_path / "i", made.identity), open_any(tmp_path / "i", made.identity, create=False)
    assert reader.count() == 0
    made.load(writer, made.record(5, "Zeta"))
    assert (reader.count(), made.pmids(reader.lexical_chunks("zeta", ALL, 3))) == (1, ["5"])
    assert reader.lexical_records("zeta", ALL, 0, 9)[1] == 1
    made.load(writer, made.record(6, "Zeta"))
    assert reader.lexical_records("zeta", ALL, 0, 9)[1] == 2
    writer.remove([made.tombstone(5, None)])
    assert made.pmids(reader.lexical_records("zeta", ALL, 0, 9)[0]) == ["6"]


def test_counts_of_a_mixed_batch_add_up_and_the_newest_of_a_repeated_pmid_is_stored(index, made):
    made.load(index, made.record(1), made.record(2, version=3))
    records = [
        made.record(1),  # unchanged
        made.record(2, "Older", version=2),  # outdated
        made.record(3, "First", version=1),  # beaten by the next
        made.record(3, "Second", version=2),
        made.record(3, "Third", version=1),  # outdated
        made.record(4),
    ]
    todo, rest = index.plan_writes(records)
    assert [(r.pmid, r.title) for r in todo] == [("3", "Second"), ("4", "A title")]
    assert rest == WriteCounts(unchanged=1, outdated=3)
    counts = made.load(index, *records)
    assert counts == WriteCounts(inserted=2, unchanged=1, outdated=3)
    assert counts.total == len(records)
    assert index.get(["3"])["3"].title == "Second"


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"version": 1, "date_revised": PartialDate(2022)}, {"version": 2, "date_revised": PartialDate(2020)}),
        ({"date_revised": PartialDate(2020, 1, 2)}, {"date_revised": PartialDate(2020, 1, 10)}),
        ({"file": 1016}, {"file": 1017}),
        ({"file": 1300, "release": 21}, {"file": 2, "release": 22}),
        ({}, {"date_revised": PartialDate(2020)}),
    ],
)
def test_the_newer_copy_is_kept_whatever_comes_first(index, made, older, newer, first):
    def copy(title, place):
        fields = {k: v for k, v in place.items() if k not in ("file", "release")}
        return made.from_file(made.record(9, title, **fields), place.get("file", 5), place.get("release", 21))

    copies = [copy("Older", older), copy("Newer", newer)]
    made.load(index, copies[first])
    counts = made.load(index, copies[1 - first])
    assert index.get(["9"])["9"].title == "Newer"
    assert counts == (WriteCounts(outdated=1) if first else WriteCounts(replaced=1))


@pytest.mark.parametrize("tombstone_first", [False, True])
def test_a_withdrawn_record_is_never_found_again(index, made, tombstone_first):
    record, other = made.from_file(made.record(4, "Zeta", "zeta."), 10), made.record(5, "Eta")
    made.load(index, other)
    if tombstone_first:
        assert index.remove([made.tombstone(4, 11)]) == 0
        assert made.load(index, record) == WriteCounts(outdated=1)
        assert index.plan_writes([record]) == ([], WriteCounts(outdated=1))
    else:
        made.load(index, record)
        assert index.remove([made.tombstone(4, 11)]) == 1
        assert made.load(index, record) == WriteCounts(outdated=1)
    index.finish_load()
    assert (index.count(), index.get(["4"]), [r.pmid for r in index.scan()]) == (1, {}, ["5"])
    assert made.pmids(index.lexical_chunks("zeta", ALL, 9)) == []
    assert made.pmids(index.lexical_records("zeta", ALL, 0, 9)[0]) == []
    assert made.pmids(index.vector_chunks(made.embed("zeta."), ALL, 9)) == ["5"]


@pytest.mark.parametrize("tombstone_first", [False, True])
@pytest.mark.parametrize("newer", [{"file": 12}, {"file": 10, "version": 2}, {"file": 1, "release": 22}])
def test_a_record_newer_than_its_withdrawal_stays_or_comes_back(index, made, tombstone_first, newer):
    record = made.from_file(made.record(4, version=newer.get("version", 1)), newer["file"], newer.get("release", 21))
    if tombstone_first:
        index.remove([made.tombstone(4, 11)])
    made.load(index, record)
    if not tombstone_first:
        assert index.remove([made.tombstone(4, 11)]) == 0
    assert index.count() == 1


def test_of_files_without_a_number_the_withdrawal_wins(index, made):
    made.load(index, made.from_file(made.record(4), None))
    assert index.remove([made.tombstone(4, None)]) == 1
    assert made.load(index, made.from_file(made.record(4, "Other"), None)) == WriteCounts(outdated=1)


def test_an_older_tombstone_does_not_weaken_a_newer_one(index, made):
    index.remove([made.tombstone(4, 20), made.tombstone(4, 3)])
    index.remove([made.tombstone(4, 2)])
    assert made.load(index, made.from_file(made.record(4), 10)) == WriteCounts(outdated=1)


def test_what_cannot_be_stored_is_refused_whole(index, made):
    good = made.indexed(made.record(1, "Good", "words."))
    vectors = good.vectors
    bad = [
        replace(good, vectors=vectors[:, :-1]),
        replace(good, vectors=vectors[:1]),
        replace(good, vectors=np.where(np.arange(vectors.shape[1]) == 3, np.nan, vectors).astype(np.float32)),
        replace(good, vectors=np.concatenate([vectors[:1], np.zeros_like(vectors[:1])])),
        replace(good, chunks=(), vectors=vectors[:0]),
        replace(good, chunks=good.chunks[::-1]),
        replace(good, chunks=(good.chunks[0], replace(good.chunks[1], text="other"))),
        replace(good, chunks=(good.chunks[0], replace(good.chunks[1], pmid="2"))),
        replace(good, chunks=(good.chunks[0], replace(good.chunks[1], id=good.chunks[0].id))),
        made.indexed(made.record("01")),
        made.indexed(made.record("12a")),
    ]
    for entry in bad:
        with pytest.raises(InvalidInput):
            index.replace([made.indexed(made.record(3)), entry])
    assert index.count() == 0
    with pytest.raises(InvalidInput):
        index.remove([made.tombstone("x")])


def test_nothing_to_do_is_no_error(index):
    assert (index.replace([]), index.remove([]), index.plan_writes([])) == (WriteCounts(), 0, ([], WriteCounts()))
    assert (index.count(), index.count_chunks(), index.years(), index.get([])) == (0, 0, {}, {})
    assert index.lexical_chunks("word", ALL, 3) == []
    assert index.lexical_records("word", ALL, 0, 3) == ([], 0)
    index.finish_load()


# ------------------------------------------------------------------ filters


def _filtered_corpus(made):
    smith, stroke = Author("Smith", "Anna Maria", "AM"), MeshHeading("Stroke")
    return [
        made.record(1, "Aspirin for strokes", "x.", year=2010, keywords=("Heart Attack",), authors=(smith,)),
        made.record(2, "Stroke and statins", "x.", year=2011, journal="The Lancet", issn="0140-6736"),
        made.record(3, "Nothing else", "x.", year=None, languages=("fre",), pmcid="PMC1"),
        made.record(4, "Zinc", "x.", year=2012, publication_types=("Review", "Journal Article"), languages=("eng",)),
        made.record(5, "Gone", "x.", year=2012, notices=(Notice("retracted", "6"),), mesh_headings=(stroke,)),
        made.record(6, "Retraction notice", "x.", year=2013, notices=(Notice("retraction_notice", "5"),)),
        made.record(7, "Group work", "x.", year=2013, authors=(Author(collective_name="WHO Study Group"),)),
        made.record(8, "Sjögren's syndrome", "x.", year=2009, journal="Lancet Neurol", journal_abbreviation="Lancet N"),
    ]  # fmt: skip


FILTERS = [
    (SearchFilter(), "12345678"),
    (SearchFilter(year_from=2011, year_to=2012), "245"),
    (SearchFilter(year_from=2012), "4567"),
    (SearchFilter(year_to=2010), "18"),
    (SearchFilter(title="stroke"), "12"),
    (SearchFilter(title="STROKES aspirin"), "1"),
    (SearchFilter(title="Sjogren’s"), "8"),
    (SearchFilter(title="stroke zinc"), ""),
    (SearchFilter(keywords=("heart attack",)), "1"),
    (SearchFilter(keywords=("stroke", "HEART  ATTACK")), "15"),
    (SearchFilter(keywords=("heart",)), ""),
    (SearchFilter(journal=("the lancet",)), "2"),
    (SearchFilter(journal=("0140-6736", "lancet n")), "28"),
    (SearchFilter(author=("smith am",)), "1"),
    (SearchFilter(author=("Smith, A.M.",)), "1"),
    (SearchFilter(author=("SMITH", "who study group")), "17"),
    (SearchFilter(author=("Anna Maria Smith",)), "1"),
    (SearchFilter(publication_types=("review",)), "4"),
    (SearchFilter(languages=("ENG", "fre")), "34"),
    (SearchFilter(has_pmcid=True), "3"),
    (SearchFilter(exclude_retracted=True), "1234678"),
    (SearchFilter(year_from=2012, publication_types=("Review",), languages=("eng",)), "4"),
    (SearchFilter(title="stroke", year_to=2010), "1"),
]


@pytest.mark.parametrize("is_finished", [False, True])
def test_each_filter_passes_the_same_records_in_every_kind_of_search(index, made, is_finished):
    made.load(index, *_filtered_corpus(made))
    if is_finished:
        index.finish_load()
    for search_filter, expected in FILTERS:
        wanted = list(expected)
        assert index.count(search_filter) == len(wanted), search_filter
        assert [r.pmid for r in index.scan(search_filter)] == wanted, search_filter
        assert sorted(set(made.pmids(index.lexical_chunks("x", search_filter, 50)))) == wanted, search_filter
        page, total = index.lexical_records("x", search_filter, 0, 50)
        assert (sorted(made.pmids(page)), total) == (wanted, len(wanted)), search_filter
        hits = index.vector_chunks(made.embed("x."), search_filter, 50)
        assert sorted(set(made.pmids(hits))) == wanted, search_filter


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_of_a_filter_can_break_out_of_it(index, made, value):
    author = Author(collective_name=value)
    marked = made.record(1, f"Title {value}", "x.", keywords=(value,), journal=value, authors=(author,),
                         publication_types=(value,), languages=(value,))  # fmt: skip
    made.load(index, marked, made.record(2, "Plain", "x."))
    for field in ("keywords", "journal", "author", "publication_types", "languages"):
        search_filter = SearchFilter(**{field: (value,)})
        assert index.count(search_filter) == 1, field
        assert set(made.pmids(index.lexical_chunks("x", search_filter, 9))) == {"1"}, field
        assert set(made.pmids(index.vector_chunks(made.embed("x"), search_filter, 9))) == {"1"}, field
        assert index.count(SearchFilter(**{field: (value + "'", "zz")})) == 0, field
    assert index.count(SearchFilter(title=f"{value} title")) == 1


def test_a_title_filter_without_a_word_is_refused_rather_than_ignored(index, made):
    with pytest.raises(InvalidInput, match="no word"):
        index.count(SearchFilter(title="!!!"))


def test_a_filter_that_leaves_one_percent_still_returns_k(index, made):
    """FR-096: and a filter never adds rows that do not match, nor limits the next search."""
    records = [
        made.record(i, f"Common {i % 7}", "common words here.", keywords=("rare",) if i % 100 == 0 else ("plain",))
        for i in range(1, 1001)
    ]
    made.load(index, *records, made.record(5000, "Zeta marker"))
    index.finish_load()
    rare = SearchFilter(keywords=("rare",))
    expected = [str(i) for i in range(100, 1001, 100)]
    assert sorted(made.pmids(index.lexical_chunks("here", rare, 10)), key=int) == expected
    assert len(index.vector_chunks(made.embed("common words"), rare, 10)) == 10
    assert made.pmids(index.lexical_chunks("zeta", SearchFilter(year_from=1900), 50)) == ["5000"]
    assert made.pmids(index.lexical_chunks("zeta", rare, 50)) == []
    assert made.pmids(index.lexical_chunks("zeta", ALL, 50)) == ["5000"]
    assert len(index.lexical_chunks("common", ALL, 50)) == 50


def test_filtering_by_year_is_the_same_before_and_after_the_year_is_indexed(index, made):
    """FR-095."""
    rows = [json.loads(line) for line in _golden("FR-095-rows.jsonl").read_text().splitlines()]
    made.load(index, *(made.record(row["id"] + 1, row["text"], year=row["year"]) for row in rows))
    expected = sorted(str(row["id"] + 1) for row in rows if row["year"] >= 2020)
    for _ in range(2):
        hits = index.lexical_chunks("fever", SearchFilter(year_from=2020), 50)
        assert sorted(made.pmids(hits)) == expected == ["11", "12"]
        index.finish_load()


def test_values_of_a_field_are_ored_the_same_before_and_after_indexing(index, made):
    """FR-098: an OR of two indexed conditions counts what a loop over the records counts."""
    records = [made.record(i + 1, "T", journal="ABC"[i % 3], year=2000 + i % 10) for i in range(600)]
    made.load(index, *records)
    for _ in range(2):
        assert index.count(SearchFilter(journal=("A", "B"))) == 400
        assert index.count(SearchFilter(journal=("A", "B"), year_from=2009)) == sum(
            r.journal in "AB" and r.year == 2009 for r in records
        )
        index.finish_load()


def test_a_field_can_be_filtered_by_without_being_returned(index, made):
    """FR-100: a hit holds the chunk, nothing of the filter."""
    made.load(index, made.record(1, "Zeta", publication_types=("Review",)), made.record(2, "Zeta"))
    (hit,) = index.lexical_chunks("zeta", SearchFilter(publication_types=("Review",)), 9)
    assert (hit.chunk.pmid, hit.chunk.text, hit.rank) == ("1", "Zeta", 1)


# ------------------------------------------------------------------ queries


def test_any_text_is_a_query_and_its_words_are_found(index, made):
    """FR-099: no query is an error; operators and special characters are text."""
    queries = _golden("FR-099-queries.txt").read_text(encoding="utf-8").splitlines()
    titles = ["Septic shock", "An unbalanced diet", "p<0.05 was set", "IL-6 levels", "5-FU (adjuvant)", "TNF-α rise"]
    made.load(index, *(made.record(i, title) for i, title in enumerate(titles, start=1)))
    index.finish_load()
    best = {query: made.pmids(index.lexical_chunks(query, ALL, 3)) for query in queries}
    assert best['"septic shock"'] == ["1"]
    assert best['"unbalanced'] == ["2"]
    assert best["p<0.05"][0] == "3"
    assert best["IL-6"][0] == "4"
    assert best["5-FU (adjuvant)"][0] == "5"
    assert best["TNF-α"][0] == "6"
    assert best["AND"] == []


@pytest.mark.parametrize(
    "query",
    ['"', '""', '" "', "((((", "a AND OR NOT", "title:zeta^2~", "*", "\\", "zeta\x00\x07", "\ud800 zeta", "🙂", "'",
     "%", 'x"y"z"', "“zeta”", "zeta " * 20_000, "the of", '"the of" zeta', "!?.", "-"],
)  # fmt: skip
def test_no_query_is_an_error(index, made, query):
    made.load(index, made.record(1, "Zeta of the day", "zeta words."))
    hits = index.lexical_chunks(query, ALL, 5)
    _, total = index.lexical_records(query, ALL, 0, 5)
    assert bool(hits) == bool(total) == ("zeta" in query)


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_a_blank_query_is_refused(index, query):
    for search in (lambda: index.lexical_chunks(query, ALL, 3), lambda: index.lexical_records(query, ALL, 0, 3)):
        with pytest.raises(InvalidInput, match="blank"):
            search()


@pytest.mark.parametrize("is_finished", [False, True])
def test_a_quoted_phrase_must_stand_word_for_word_up_to_endings(index, made, is_finished):
    made.load(
        index,
        made.record(1, "Shocks", "The septic shocks were treated."),
        made.record(2, "Other", "Shock that was septic, and septic arthritis shock."),
        made.record(3, "Stop words", "They used were the old ones."),
        made.record(4, "More", "They used it and were glad. Rate of death in Sjögren syndrome."),
        made.record(5, "Split title septic", "Shock comes next."),
    )
    if is_finished:
        index.finish_load()

    def both(query):
        chunks = made.pmids(index.lexical_chunks(query, ALL, 9))
        page, total = index.lexical_records(query, ALL, 0, 9)
        assert (made.pmids(page), total) == (chunks, len(chunks))
        return chunks

    assert set(made.pmids(index.lexical_chunks('"septic shock" treated', ALL, 9))) >= {"1"}
    assert "2" not in made.pmids(index.lexical_chunks('"septic shock"', ALL, 9))
    assert both('"were treated"') == ["1"]
    assert both('"used were"') == ["3"]
    assert both('"rate of death"') == ["4"]
    assert both('"rate death"') == []
    assert both('"Sjogren Syndrome"') == ["4"]
    assert both('"used were" "septic shock"') == []


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("IL-6 receptor", "The IL-6 receptors."),
        ("Crohn's disease", "In Crohn’s disease (CD)."),
        ("Crohn’s disease", "In Crohn's disease."),
        ("p < 0.05", "It fell (p<0.05)."),
        ("10.5 mg", "A dose of 10.5 mg/day."),
        ("beta blocker", "Beta-blockers help."),
        ("TNF-α", "Raised TNF-α, and more."),
        ("it was not superior", "It was not superior to placebo."),
        ("5-FU (adjuvant)", "5-FU (adjuvant) was given."),
    ],
)
def test_a_phrase_is_found_however_it_is_punctuated(index, made, phrase, text):
    made.load(index, made.record(1, "Yes", f"{text}"), made.record(2, "No", "Receptor disease mg 10 5 p 05 help IL 6."))
    assert made.pmids(index.lexical_chunks(f'"{phrase}"', ALL, 9)) == ["1"]
    assert made.pmids(index.lexical_records(f"“{phrase}”", ALL, 0, 9)[0]) == ["1"]


def test_words_are_found_by_their_stems_without_case_or_accents_and_negations_count(index, made):
    made.load(index, made.record(1, "Réductions"), made.record(2, "It was not superior"), made.record(3, "Superior"))
    assert made.pmids(index.lexical_chunks("REDUCTION", ALL, 9)) == ["1"]
    assert made.pmids(index.lexical_chunks("not", ALL, 9)) == ["2"]


def test_the_title_counts_for_every_chunk(index, made):
    made.load(index, made.record(1, "Metformin", "It lowered glucose."), made.record(2, "Zinc", "It lowered glucose."))
    best = index.lexical_chunks("metformin glucose", ALL, 9)[0]
    assert (best.chunk.pmid, best.chunk.text) == ("1", "It lowered glucose.")


# ------------------------------------------------------------------ order and paging


def _tied_corpus(made, n=300):
    # In an order of arrival that is not the order of the PMIDs; all texts are alike.
    return [made.record((i * 7919) % 10_007 + 1, "Same title", "same words.") for i in range(n)]


def test_equal_scores_are_ordered_by_pmid_and_ordinal_even_at_the_cut(index, made):
    records = _tied_corpus(made)
    for start in range(0, len(records), 60):
        made.load(index, *records[start : start + 60])
    in_order = sorted((r.pmid for r in records), key=int)
    for _ in range(2):
        for search in (
            lambda k: index.lexical_chunks("words", ALL, k),
            lambda k: index.vector_chunks(made.embed("same words."), ALL, k),
        ):
            assert made.pmids(search(5)) == in_order[:5]
            assert search(40) == search(40)
            assert search(40)[:7] == search(7)
            assert [hit.rank for hit in search(40)] == list(range(1, 41))
        index.finish_load()


def test_hits_come_in_falling_order_of_a_score_that_is_a_cosine_for_vectors(index, made):
    made.load(index, made.record(1, "alpha beta"), made.record(2, "alpha gamma"), made.record(3, "delta"))
    hits = index.vector_chunks(made.embed("alpha beta") * 5, ALL, 9)
    assert made.pmids(hits)[:2] == ["1", "2"]
    exact = {str(i + 1): float(made.embed("alpha beta") @ made.embed(t))
             for i, t in enumerate(["alpha beta", "alpha gamma", "delta"])}  # fmt: skip
    for hit in hits:
        assert hit.score == pytest.approx(exact[hit.chunk.pmid], abs=1e-3)
    scores = [hit.score for hit in index.lexical_chunks("alpha beta delta", ALL, 9)]
    assert scores == sorted(scores, reverse=True)


def test_pages_of_all_hits_join_without_gap_or_repeat_to_the_total(index, made):
    made.load(index, *_tied_corpus(made), made.record(20_000, "Not it"))
    made.load(index, *(made.record(30_000 + i, f"Words {'words ' * (i % 5)}") for i in range(57)))
    first, total = index.lexical_records("words", ALL, 0, 20)
    assert total == 357
    seen = [hit for offset in range(0, total + 40, 20) for hit in index.lexical_records("words", ALL, offset, 20)[0]]
    assert seen[:20] == first
    assert len({hit.pmid for hit in seen}) == len(seen) == total
    assert [hit.rank for hit in seen] == list(range(1, total + 1))
    assert [(-hit.score, int(hit.pmid)) for hit in seen] == sorted((-hit.score, int(hit.pmid)) for hit in seen)
    assert index.lexical_records("words", ALL, 0, 0) == ([], total)
    assert index.lexical_records("words", ALL, total, 10) == ([], total)


def test_the_total_follows_a_write_between_two_pages(index, made):
    made.load(index, *_tied_corpus(made, 30))
    assert index.lexical_records("words", ALL, 0, 5)[1] == 30
    made.load(index, made.record(99_999, "words"))
    assert index.lexical_records("words", ALL, 5, 5)[1] == 31


def test_a_scan_yields_each_record_once_in_order_of_pmids(index, made):
    records = [made.record(pmid, f"T {pmid}") for pmid in (900, 9, 1000, 31, *range(2000, 2600))]
    made.load(index, *records)
    found = list(index.scan())
    assert [r.pmid for r in found] == [str(n) for n in (9, 31, 900, 1000, *range(2000, 2600))]
    assert {r.pmid: r for r in found} == {r.pmid: r for r in records}
    assert len(list(index.scan(SearchFilter(title="31")))) == 1


def test_years_leave_out_records_without_one(index, made):
    made.load(index, *(made.record(i + 1, year=year) for i, year in enumerate([2001, None, 1999, 2001])))
    assert list(index.years().items()) == [(1999, 1), (2001, 2)]


@pytest.mark.parametrize(("k", "offset", "limit"), [(0, -1, 5), (-3, 0, -1)])
def test_impossible_sizes_are_refused(index, made, k, offset, limit):
    with pytest.raises(InvalidInput):
        index.lexical_chunks("x", ALL, k)
    with pytest.raises(InvalidInput):
        index.vector_chunks(made.embed("x"), ALL, k)
    with pytest.raises(InvalidInput):
        index.lexical_records("x", ALL, offset, limit)


def test_a_query_vector_must_have_the_dimension_and_a_direction(index, made):
    good = made.embed("x")
    for bad in (good[:-1], np.zeros_like(good), good * np.nan, good[None]):
        with pytest.raises(InvalidInput):
            index.vector_chunks(bad, ALL, 3)


def test_stored_vectors_come_back_by_the_ids_of_their_chunks(index, made):
    entries = [made.indexed(made.record(pmid, f"Title {pmid}", "x.", "y.")) for pmid in range(1, 9)]
    index.replace(entries)
    wanted = {c.id: v for e in entries[2:5] for c, v in zip(e.chunks[1:], e.vectors[1:], strict=True)}
    found = index.chunk_vectors([*wanted, "9:0-1", "1:99-100", "x' OR 1=1 --", "", "9" * 30 + ":0-1"])
    assert found.keys() == wanted.keys()
    assert all(np.allclose(found[chunk_id], wanted[chunk_id], atol=1e-3) for chunk_id in wanted)
    assert index.chunk_vectors([]) == {}


def test_many_threads_at_once_get_what_one_gets(index, made):
    made.load(index, *_filtered_corpus(made))
    index.finish_load()
    filters = [search_filter for search_filter, _ in FILTERS]

    def ask(search_filter):
        chunks = index.lexical_chunks("stroke x", search_filter, 9)
        near = index.vector_chunks(made.embed("x."), search_filter, 9)
        return chunks, near, index.lexical_records("x", search_filter, 0, 9), index.count(search_filter)

    alone = [ask(search_filter) for search_filter in filters]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, filters * 4)) == alone * 4


# ------------------------------------------------------------------ identity


def test_an_index_that_is_not_there_is_missing_unless_it_may_be_made(open_any, tmp_path, made):
    with pytest.raises(IndexMissing):
        open_any(tmp_path / "none", made.identity, create=False)
    open_any(tmp_path / "none", made.identity)
    assert open_any(tmp_path / "none", made.identity, create=False).identity == made.identity


OTHER_IDENTITIES = [
    ({"model": "other-model"}, {}, "other-model"),
    ({"dimension": 1024}, {}, "1024"),
    ({"revision": "2"}, {}, "revision"),
    ({"query_prompt": "Represent: {text}"}, {}, "query prompt"),
    ({"pooling": "cls"}, {}, "pooling"),
    ({}, {"chunk_size": 900}, "chunk size 500, now 900"),
    ({}, {"chunk_overlap": 10}, "chunk overlap 200, now 10"),
    ({}, {"template": "{chunk}"}, "template"),
]


@pytest.mark.parametrize(("embedder", "other", "named"), OTHER_IDENTITIES)
@pytest.mark.parametrize("create", [False, True])
def test_an_index_made_with_another_model_or_chunking_is_refused_in_words(
    open_any, tmp_path, made, embedder, other, named, create
):
    """FR-080, FR-081: also for another model of the same dimension."""
    made.load(open_any(tmp_path / "i", made.identity), made.record(1))
    changed = IndexIdentity(
        replace(made.identity.embedder, **embedder), other.get("chunk_size", 500), other.get("chunk_overlap", 200),
        other.get("template", made.identity.template),
    )  # fmt: skip
    with pytest.raises(IndexMismatch) as caught:
        open_any(tmp_path / "i", changed, create=create)
    assert "hash-words" in caught.value.message
    assert "32" in caught.value.message
    assert named in caught.value.message
    assert "MEDCITE_EMBEDDING__MODEL=hash-words" in caught.value.hint
    assert "MEDCITE_DATA_DIR" in caught.value.hint or "MEDCITE_OPENSEARCH__INDEX" in caught.value.hint
    assert open_any(tmp_path / "i", made.identity).count() == 1


def test_a_dimension_not_known_yet_is_taken_from_the_index(open_any, tmp_path, made):
    unknown = replace(made.identity, embedder=EmbedderIdentity("hash-words", "1", "mean", "", 0))
    with pytest.raises(InvalidInput):
        open_any(tmp_path / "i", unknown)
    open_any(tmp_path / "i", made.identity)
    assert open_any(tmp_path / "i", unknown).identity == made.identity


def test_a_record_may_have_only_its_title_and_it_may_be_long(index, made):
    long = made.record(1, "word " * 3000 + "end")
    assert index.replace([made.indexed(long)]) == WriteCounts(inserted=1)
    assert made.pmids(index.lexical_chunks("end", ALL, 1)) == ["1"]


def _golden(name: str) -> Path:
    return Path(__file__).parents[1] / "golden" / "index" / name
