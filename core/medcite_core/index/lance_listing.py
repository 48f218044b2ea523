"""Whole lists of records, sorted and paged to their end, and completions for a filter; kept between requests."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.filters import SearchFilter
from medcite_core.index.lance_catalogue import Catalogue, read_catalogue
from medcite_core.index.lance_filter import all_of, filter_sql
from medcite_core.index.lance_search import ranked_records
from medcite_core.index.query_text import read_query
from medcite_core.types import RecordOrder, SuggestField, ValueCount

_KEPT_LISTS, _KEPT_LISTED_RECORDS = 16, 2_000_000
# Completions may lag behind a running load, whose every write makes a new version: by at most this many times what
# reading them all takes.
_LAG = 20

Ranking = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""PMIDs in order, and their scores."""


class RecordLists:
    """The lists of one chunk table. Safe to use from several threads."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks
        self._lists: OrderedDict[tuple[int, str, SearchFilter, RecordOrder, bool], Ranking] = OrderedDict()
        self._lists_lock = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._catalogue_lock = threading.Lock()
        self._read_at = self._reading_took = 0.0

    def sorted_list(self, query: str, search_filter: SearchFilter, order: RecordOrder, descending: bool) -> Ranking:
        """All records that match the query and pass; without a query all that pass, of score 0.

        Raises:
            InvalidInput: the title filter holds no word.
        """
        # Kept for the next pages of the same search; a new version of the table is a new key.
        key = (int(self._chunks.version), query, search_filter, order, descending)
        with self._lists_lock:
            if key in self._lists:
                self._lists.move_to_end(key)
                return self._lists[key]
        ranking = self._sorted(self._unsorted(query, search_filter), order, descending)
        with self._lists_lock:
            self._lists[key] = ranking
            while len(self._lists) > 1 and (
                len(self._lists) > _KEPT_LISTS
                or sum(len(pmids) for pmids, _ in self._lists.values()) > _KEPT_LISTED_RECORDS
            ):
                self._lists.popitem(last=False)
        return ranking

    def _unsorted(self, query: str, search_filter: SearchFilter) -> Ranking:
        where = filter_sql(search_filter)
        if query.strip():
            return ranked_records(self._chunks, read_query(query), where)
        heads = self._chunks.search().where(all_of(["is_head", where])).select(["pmid"]).to_arrow()
        pmids = np.sort(np.asarray(heads.column("pmid").to_numpy(), dtype=np.int64))
        return pmids, np.zeros(len(pmids))

    def _sorted(self, ranking: Ranking, order: RecordOrder, descending: bool) -> Ranking:
        pmids, scores = ranking
        if order == "relevance":
            places = np.lexsort((pmids, -scores if descending else scores))
        else:
            keys, have_none = self._current_catalogue().keys_of(pmids, order)
            # Ties by score, then by pmid.
            places = np.lexsort((pmids, -scores, -keys if descending else keys, have_none))
        return pmids[places], scores[places]

    def suggest(self, field: SuggestField, prefix: str, limit: int) -> list[ValueCount]:
        """Values of `field` in which a word begins with `prefix`, the most frequent first."""
        return self._current_catalogue(lag=_LAG).values[field].with_prefix(prefix, limit)

    def _current_catalogue(self, lag: int = 0) -> Catalogue:
        with self._catalogue_lock:
            version = int(self._chunks.version)
            kept = self._catalogue
            if kept is not None and kept.version != version:
                is_recent = time.monotonic() - self._read_at < lag * self._reading_took
                kept = kept if is_recent else None
            if kept is None:
                started = time.monotonic()
                kept = self._catalogue = read_catalogue(self._chunks, version)
                self._read_at = time.monotonic()
                self._reading_took = self._read_at - started
            return kept
