"""The result list as readers turn its pages while other things happen, and what a filter is told that fits nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.small_corpus import RECORDS, WordHashEmbedder, make_record, small_index, small_settings

from medcite_core.filters import SearchFilter
from medcite_middleware.retrieval.hybrid import Retriever
from medcite_middleware.services.result_list import ResultListService, ResultPage, ResultQuery

EVERYTHING = SearchFilter()
ABOUT_ZINC = [
    make_record(str(n), f"Zinc report {n}.", "Zinc " * (n % 7) + "was given.", languages=("eng", "ger")[: 1 + n % 2])
    for n in range(1, 61)
]


@pytest.fixture
def embedder() -> WordHashEmbedder:
    return WordHashEmbedder()


@pytest.fixture
def service(tmp_path: Path, embedder: WordHashEmbedder) -> ResultListService:
    settings = small_settings(tmp_path)
    index = small_index(settings, embedder, [*RECORDS, *ABOUT_ZINC])
    return ResultListService(index, Retriever(index, embedder, settings.retrieval))


def page(service: ResultListService, wanted: ResultQuery, offset: int = 0, limit: int = 20) -> ResultPage:
    return asyncio.run(service.page(wanted, offset, limit))


def pmids(pages: Sequence[ResultPage]) -> list[str]:
    return [item.record.pmid for page in pages for item in page.records]


def test_pages_do_not_shift_when_the_model_gets_ready_and_another_reader_starts_the_same_search(
    service: ResultListService, embedder: WordHashEmbedder
) -> None:
    embedder.state = "loading"
    first = page(service, ResultQuery("zinc report was", EVERYTHING))
    assert first.report.mode == "lexical"
    embedder.state = "ready"
    of_another_reader = page(service, ResultQuery("zinc report was", EVERYTHING))
    assert of_another_reader.report.mode == "hybrid"
    assert pmids([of_another_reader]) != pmids([first])  # the two orders differ, or this would show nothing

    for begun in (first, of_another_reader):
        wanted = ResultQuery("zinc report was", EVERYTHING, mode=begun.report.mode)
        found = pmids([begun, *(page(service, wanted, offset) for offset in (20, 40, 60))])
        assert len(found) == begun.total
        assert len(set(found)) == begun.total


def test_a_blank_query_without_a_filter_lists_the_whole_corpus(service: ResultListService) -> None:
    listed = page(service, ResultQuery("", EVERYTHING), limit=100)
    assert listed.total == len(RECORDS) + len(ABOUT_ZINC) == len(set(pmids([listed])))


@pytest.mark.parametrize(
    ("chosen", "note"),
    [
        (SearchFilter(languages=("English",)), "No record has the language “English”; did you mean “eng”?"),
        (SearchFilter(languages=("German",)), "did you mean “ger”?"),
        (SearchFilter(keywords=("metfromin",)), "No record has the keyword “metfromin”; did you mean “metformin”?"),
        (SearchFilter(keywords=("Asprin",)), "did you mean “Aspirin”?"),
        (SearchFilter(journal=("xyzzy",)), "No record has the journal “xyzzy”."),
        (SearchFilter(languages=("eng",)), ""),
        (SearchFilter(year_from=2190), ""),
    ],
)
def test_a_value_that_no_record_has_is_said_with_the_nearest_that_exists(
    service: ResultListService, chosen: SearchFilter, note: str
) -> None:
    for query in ("", "zinc"):
        report = page(service, ResultQuery(query, chosen)).report
        assert note in report.note
        assert bool(report.note) == bool(note)
        assert report.mode in ("lexical", "hybrid")
