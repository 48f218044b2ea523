"""The list of all records that a search finds: sorted, paged to its end, with the words that were found."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from medcite_core.answers import SearchReport
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex
from medcite_core.types import Record, RecordHit, RecordOrder, SuggestField, ValueCount
from medcite_middleware.pipeline.threads import in_thread
from medcite_middleware.retrieval.filter_hints import values_note
from medcite_middleware.retrieval.query import clean_query
from medcite_middleware.services.corpus import RecordSearcher
from medcite_middleware.services.highlighting import Highlights, highlight, query_stems

REORDERED = 100
"""So many of the records that match best by their words are put in order by their meaning too."""
_PASSAGES = REORDERED
_KEPT_HEADS = 64
SearchMode = Literal["hybrid", "lexical"]
_HeadKey = tuple[str, SearchFilter, tuple[str, ...]]
_Head = tuple[list[str], SearchReport]


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """What to list. A blank `query` lists every record that passes, the newest first.

    `mode` is that of the list's first page, for the pages that follow: their order stays the same although the embedder
    has become ready, or another reader has begun the same search, in the meantime.
    """

    query: str
    search_filter: SearchFilter
    sort: RecordOrder = "relevance"
    descending: bool | None = None
    mode: SearchMode | None = None

    @property
    def order(self) -> RecordOrder:
        """The order in which the index lists them."""
        return "date" if self.sort == "relevance" and not self.query.strip() else self.sort

    @property
    def is_descending(self) -> bool:
        """The direction; by itself best first, newest first, and journals from A to Z."""
        return self.order != "journal" if self.descending is None else self.descending


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record of the list, and what of the query stands in it."""

    record: Record
    highlights: Highlights


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Some of the `total` records; all pages together are all of them, each once."""

    total: int
    offset: int
    limit: int
    sort: RecordOrder
    descending: bool
    records: tuple[ListedRecord, ...]
    report: SearchReport


class ResultListService:
    """Lists records and completes filters."""

    def __init__(self, index: CorpusIndex, searcher: RecordSearcher) -> None:
        self._index = index
        self._searcher = searcher
        self._heads: OrderedDict[_HeadKey, dict[SearchMode, _Head]] = OrderedDict()
        self._heads_lock = threading.Lock()

    async def page(self, wanted: ResultQuery, offset: int, limit: int) -> ResultPage:
        """Up to `limit` records from `offset` on.

        Raises:
            InvalidInput: the query has characters but no word, or the title filter holds none.
        """
        return await in_thread(self._page, wanted, offset, limit)

    async def suggest(self, field: SuggestField, prefix: str, limit: int) -> list[ValueCount]:
        """Values of a filter field that begin with `prefix`, the most frequent first."""
        return await in_thread(self._index.suggest, field, prefix, limit)

    def pmids(self, wanted: ResultQuery, offset: int, limit: int) -> tuple[list[str], int, SearchReport]:
        """A page of the list as PMIDs, how many there are in all, and what was searched."""
        query = clean_query(wanted.query) if wanted.query.strip() else ""
        hits, total = self._index.listed_records(
            query, wanted.search_filter, wanted.order, offset, limit, descending=wanted.is_descending
        )
        page = _pmids(hits)
        if wanted.order == "relevance" and wanted.is_descending and offset < REORDERED and limit and total:
            head, report = self._head(query, wanted.search_filter, wanted.mode, is_new=offset == 0)
            first = head[offset : offset + limit]
            return first + page[len(first) :], total, report
        return page, total, self._report(query, wanted.search_filter)

    def _page(self, wanted: ResultQuery, offset: int, limit: int) -> ResultPage:
        pmids, total, report = self.pmids(wanted, offset, limit)
        records = self._index.get(pmids)
        stems = query_stems(report.query)
        return ResultPage(
            total=total,
            offset=offset,
            limit=limit,
            sort=wanted.sort,
            descending=wanted.is_descending,
            # A record that was withdrawn in this very moment is not there any more.
            records=tuple(ListedRecord(records[p], highlight(records[p], stems)) for p in pmids if p in records),
            report=report,
        )

    def _head(self, query: str, search_filter: SearchFilter, mode: SearchMode | None, *, is_new: bool) -> _Head:
        """The records that match best by their words, put in order by words and meaning.

        It is kept for the pages that follow, by its mode: while they are turned the embedder may have become ready, and
        its order would show some records twice and others never. The last one made serves whoever names no mode.
        """
        hits, _ = self._index.listed_records(query, search_filter, "relevance", 0, REORDERED, descending=True)
        by_words = _pmids(hits)
        key = (query, search_filter, tuple(by_words))
        with self._heads_lock:
            kept = self._heads.get(key, {})
            wanted = mode or next(reversed(kept), None)
            if not is_new and wanted in kept:
                return kept[wanted]
        result = self._searcher.find(query, search_filter, _PASSAGES)
        found = dict.fromkeys(passage.record.pmid for passage in result.passages)
        members = set(by_words)
        head = (list(dict.fromkeys([*(pmid for pmid in found if pmid in members), *by_words])), result.report)
        with self._heads_lock:
            kept = self._heads.setdefault(key, {})
            kept.pop(result.report.mode, None)
            kept[result.report.mode] = head
            self._heads.move_to_end(key)
            while len(self._heads) > _KEPT_HEADS:
                self._heads.popitem(last=False)
        return head

    def _report(self, query: str, search_filter: SearchFilter) -> SearchReport:
        passed_by = {name: self._index.count(search_filter.only(name)) for name in search_filter.active_fields()}
        return SearchReport(
            mode="lexical",
            applied_filter=search_filter.applied(),
            passed=self._index.count(search_filter),
            passed_by=passed_by,
            corpus_records=self._index.count(),
            query=query,
            note=values_note(self._index, search_filter, passed_by),
        )


def _pmids(hits: Sequence[RecordHit]) -> list[str]:
    return [hit.pmid for hit in hits]
