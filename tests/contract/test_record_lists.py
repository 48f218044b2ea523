"""What every index promises of whole lists of records, and of completions for a filter (ports.RecordStore)."""

from __future__ import annotations

import random

import pytest

from medcite_core.errors import InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.types import Author, MeshHeading, PartialDate, ValueCount

ALL = SearchFilter()


def listed(index, query="", order="relevance", descending=True, search_filter=ALL, offset=0, limit=1000):
    hits, total = index.listed_records(query, search_filter, order, offset, limit, descending=descending)
    return [hit.pmid for hit in hits], total


@pytest.fixture
def many(index, made):
    """60 records about aspirin, of few dates and journals, and 10 about zinc."""
    dice = random.Random(1)
    records = [
        made.record(
            pmid,
            f"{'Zinc' if pmid > 60 else 'Aspirin'} in study {pmid}",
            "aspirin " * dice.randint(0, 4) + "words." if pmid <= 60 else "other words.",
            date=PartialDate(dice.choice([1999, 2005, 2020, None]), dice.choice([None, 3, 11]), raw="x"),
            journal=dice.choice(["", "Acta", "The Lancet", "Brain"]),
        )
        for pmid in range(1, 71)
    ]
    made.load(index, *records)
    return index, {record.pmid: record for record in records}


@pytest.mark.parametrize("query", ["aspirin", ""])
@pytest.mark.parametrize("order", ["relevance", "date", "journal"])
@pytest.mark.parametrize("descending", [True, False])
def test_pages_of_every_order_are_together_all_records_each_once(many, query, order, descending):
    index, records = many
    pages = [listed(index, query, order, descending, offset=offset, limit=7) for offset in range(0, 77, 7)]
    together = [pmid for page, _ in pages for pmid in page]
    expected = 60 if query else 70
    assert {total for _, total in pages} == {expected}
    assert len(together) == len(set(together)) == expected
    assert set(together) == {p for p in records if not query or int(p) <= 60}
    assert together == listed(index, query, order, descending)[0]


def test_by_date_the_newest_come_first_and_those_without_a_date_last_either_way(many):
    index, records = many
    for descending in (True, False):
        order = [records[pmid].date for pmid in listed(index, "aspirin", "date", descending)[0]]
        known = [(d.year, d.month or 0) for d in order if d.year is not None]
        assert known == sorted(known, reverse=descending)
        assert all(d.year is None for d in order[len(known) :])
        assert 0 < len(known) < len(order)


def test_by_journal_the_article_the_does_not_count_and_those_without_a_journal_come_last(many):
    index, records = many
    names = [records[pmid].journal for pmid in listed(index, "aspirin", "journal", False)[0]]
    assert list(dict.fromkeys(names)) == ["Acta", "Brain", "The Lancet", ""]
    assert list(dict.fromkeys(records[p].journal for p in listed(index, "aspirin", "journal", True)[0])) == [
        "The Lancet",
        "Brain",
        "Acta",
        "",
    ]


def test_by_relevance_a_list_is_the_lexical_search(many):
    index, _ = many
    hits, total = index.lexical_records("aspirin", ALL, 5, 20)
    assert index.listed_records("aspirin", ALL, "relevance", 5, 20, descending=True) == (hits, total)


def test_ties_go_by_score_and_then_by_pmid(index, made):
    made.load(index, *(made.record(p, "Aspirin", "aspirin aspirin." if p == 5 else "other words.") for p in (9, 5, 30)))
    assert listed(index, "aspirin", "date")[0] == ["5", "9", "30"]
    assert listed(index, "", "date")[0] == ["5", "9", "30"]


def test_a_list_without_a_query_is_what_passes_the_filter(many):
    index, records = many
    search_filter = SearchFilter(year_from=2005, journal=("brain",))
    found, total = listed(index, "  ", "date", search_filter=search_filter)
    assert set(found) == {p for p, r in records.items() if (r.year or 0) >= 2005 and r.journal == "Brain"}
    assert total == len(found) == index.count(search_filter) > 0


def test_a_list_follows_what_is_written(index, made):
    made.load(index, made.record(1, "A", year=2001), made.record(2, "B", year=2002))
    assert listed(index, "", "date")[0] == ["2", "1"]
    made.load(index, made.record(1, "A", year=2010, version=2), made.record(3, "C", year=2005))
    assert listed(index, "", "date")[0] == ["1", "3", "2"]
    index.remove([made.tombstone(3, None)])
    assert listed(index, "", "date") == (["1", "2"], 2)


def test_an_empty_index_lists_nothing_and_suggests_nothing(index):
    assert listed(index, "", "date") == ([], 0)
    assert listed(index, "aspirin", "journal") == ([], 0)
    assert index.suggest("keywords", "", 10) == []


@pytest.mark.parametrize(("offset", "limit"), [(-1, 5), (0, -1)])
def test_a_negative_offset_or_limit_is_refused(index, offset, limit):
    with pytest.raises(InvalidInput):
        index.listed_records("", ALL, "date", offset, limit, descending=True)


# ------------------------------------------------------------------ completions


@pytest.fixture
def valued(index, made):
    """Records with values in every field that is completed."""
    made.load(
        index,
        made.record(
            1,
            keywords=("heart failure", "Stroke"),
            mesh_headings=(MeshHeading("Stroke"), MeshHeading("Heart Failure")),
            journal="The Lancet",
            authors=(Author("Ménière", "Émile", "É"), Author(collective_name="Heart Group")),
            publication_types=("Review",),
            languages=("eng", "fre"),
        ),
        made.record(
            2,
            keywords=("stroke", "ischaemic stroke"),
            journal="Heart",
            authors=(Author("Meng", "X", "X"),),
            languages=("eng",),
            publication_types=("Review", "Letter"),
        ),
        made.record(3, keywords=("Heat stroke",), journal="Heart"),
    )
    return index


def test_a_value_counts_each_record_once_whatever_its_spelling(valued):
    assert valued.suggest("keywords", "stroke", 9) == [
        ValueCount("Stroke", 2),
        ValueCount("Heat stroke", 1),
        ValueCount("ischaemic stroke", 1),
    ]


def test_every_field_is_completed_from_the_beginning_of_any_word(valued):
    assert valued.suggest("journal", "lan", 9) == [ValueCount("The Lancet", 1)]
    assert valued.suggest("author", "menie", 9) == [ValueCount("Ménière É", 1)]
    assert valued.suggest("author", "gro", 9) == [ValueCount("Heart Group", 1)]
    assert valued.suggest("publication_types", "REV", 9) == [ValueCount("Review", 2)]
    assert valued.suggest("languages", "", 9) == [ValueCount("eng", 2), ValueCount("fre", 1)]
    assert valued.suggest("journal", "art", 9) == []


def test_the_limit_keeps_the_most_frequent(valued):
    assert valued.suggest("journal", "", 1) == [ValueCount("Heart", 2)]


@pytest.mark.parametrize("field", ["keywords", "journal", "author", "publication_types", "languages"])
def test_a_suggested_value_given_as_a_filter_passes_as_many_records_as_it_says(valued, field):
    suggested = valued.suggest(field, "", 50)
    assert suggested
    for entry in suggested:
        assert valued.count(SearchFilter(**{field: (entry.value,)})) == entry.records, entry


@pytest.mark.parametrize("prefix", ["x' OR 1=1 --", "\x00", "%", "(", "\ud83d"])
def test_any_text_is_a_prefix(valued, prefix):
    assert valued.suggest("keywords", prefix, 5) == []
