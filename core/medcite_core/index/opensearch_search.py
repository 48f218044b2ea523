"""Ranked searches, lists and scans in an OpenSearch index."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.errors import IndexUnreachable
from medcite_core.filters import SearchFilter
from medcite_core.index.opensearch_mapping import CHUNK_FIELDS, chunk_of, record_doc_id
from medcite_core.index.opensearch_query import (
    Query,
    chunk_order,
    clauses,
    exact_vector_query,
    record_order,
    text_query,
    vector_query,
)
from medcite_core.index.query_text import TextQuery, read_query
from medcite_core.types import Hit, RecordOrder

EXACT_ROWS = 10_000
"""Up to so many passing chunks are compared one by one: no graph can miss one then."""
WINDOW = 10_000
"""Documents that one request may return; a list goes on from its last document (`search_after`)."""
_SPARE = 32
_KEPT_LISTS, _KEPT_LISTED_RECORDS = 16, 2_000_000
_KEEP_ALIVE = "2m"
_SHARD_PAUSES_S = (0.1, 0.5, 1, 2, 4)
"""Pauses before parts of an index that did not answer are asked again."""

Ranking = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""PMIDs in order, and their scores."""


class ClusterSearch:
    """Reads the index (or alias) `index` of a cluster. Safe to use from several threads."""

    def __init__(self, client: Any, index: str) -> None:
        self._client = client
        self.index = index
        self._lists: OrderedDict[tuple[Any, ...], Ranking] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, body: dict[str, Any], **params: Any) -> dict[str, Any]:
        """One search; a part of the index that did not answer is asked again, and is never a shorter result.

        Raises:
            IndexUnreachable: some shards failed again and again, or it timed out.
        """
        for pause_s in (*_SHARD_PAUSES_S, None):
            reply: dict[str, Any] = self._client.search(body=body, **self._place(body), **params)
            shards = reply["_shards"]
            if not shards["failed"] and not reply.get("timed_out"):
                return reply
            # The node that held it has just died: its copy elsewhere takes over within seconds.
            if pause_s is not None:
                time.sleep(pause_s)
        raise IndexUnreachable(
            f"{shards['failed']} of {shards['total']} parts of the index {self.index} did not answer",
            "Wait until the cluster is green again (`medcite doctor` shows its state).",
        )

    def _place(self, body: dict[str, Any]) -> dict[str, Any]:
        # A point in time names its index itself, and copies of a shard are then the same ones for every page.
        return {} if "pit" in body else {"index": self.index, "search_type": "dfs_query_then_fetch"}

    def count(self, filters: list[Query]) -> int:
        """Documents that meet all of `filters`."""
        reply = self._client.count(index=self.index, body={"query": {"bool": {"filter": filters}}})
        return int(reply["count"])

    # ------------------------------------------------------------ chunks

    def chunks_by_text(self, words: TextQuery, search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k best chunks by BM25 over title and text."""
        query = text_query(words, "search_text", clauses(search_filter, "chunk"))
        return [
            Hit(chunk_of(hit["_source"]), float(hit["_score"]), rank)
            for rank, hit in enumerate(self._best(lambda _: query, k, words if words.phrases else None), start=1)
        ]

    def chunks_by_vector(self, vector: npt.NDArray[np.float32], search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k nearest chunks by cosine: exactly while few pass, otherwise through the graph."""
        filters = clauses(search_filter, "chunk")
        unit = [float(x) for x in vector / np.linalg.norm(vector)]
        if self.count(filters) <= EXACT_ROWS:
            exact = exact_vector_query(unit, filters)
            found = self._best(lambda _: exact, k)
        else:
            found = self._best(lambda limit: vector_query(unit, filters, limit), k)
        # Both score (1 + cosine) / 2; rounding may leave the range.
        return [
            Hit(chunk_of(hit["_source"]), max(-1.0, min(1.0, 2 * float(hit["_score"]) - 1)), rank)
            for rank, hit in enumerate(found, start=1)
        ]

    def _best(self, query: Callable[[int], Query], k: int, phrases_of: TextQuery | None = None) -> list[dict[str, Any]]:
        """The first k hits in order that hold the phrases and belong to the current revision of their record."""
        fields = [*CHUNK_FIELDS, "search_text"] if phrases_of else CHUNK_FIELDS
        limit = min(WINDOW, k + _SPARE)
        had_old = False
        while True:
            body = {"query": query(limit), "size": limit, "sort": chunk_order(), "_source": fields}
            found = self.search({**body, "track_scores": True, "track_total_hits": False})["hits"]["hits"]
            kept = [hit for hit in found if not phrases_of or phrases_of.holds_phrases(hit["_source"]["search_text"])]
            current = self._of_current_revision(kept)
            if len(current) < len(kept) and not had_old:
                # A record was switched over since the search began; its new chunks were made visible before that.
                had_old = True
                continue
            if len(current) >= k or len(found) < limit or limit >= WINDOW:
                return current[:k]
            limit = min(WINDOW, limit * 4)

    def _of_current_revision(self, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        revisions = self.revisions(sorted({hit["_source"]["pmid"] for hit in hits}))
        return [hit for hit in hits if revisions.get(hit["_source"]["pmid"]) == hit["_source"]["revision"]]

    def revisions(self, pmids: Sequence[int]) -> dict[int, str]:
        """The current revision of each record that exists."""
        return {pmid: source["revision"] for pmid, source in self.records(pmids, ["revision"]).items()}

    def records(self, pmids: Sequence[int], fields: Sequence[str]) -> dict[int, dict[str, Any]]:
        """Fields of the record documents that exist, as last written (not as last refreshed)."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(pmids), 500):
            some = pmids[start : start + 500]
            body = {"ids": [record_doc_id(pmid) for pmid in some]}
            docs = self._client.mget(body=body, index=self.index, params={"_source_includes": ",".join(fields)})["docs"]
            found.update({pmid: doc["_source"] for pmid, doc in zip(some, docs, strict=True) if doc.get("found")})
        return found

    # ------------------------------------------------------------ lists of records

    def listed(
        self, query: str, search_filter: SearchFilter, order: RecordOrder, offset: int, limit: int, *, descending: bool
    ) -> tuple[Ranking, int]:
        """A page of all records that match and pass, and their number."""
        words = read_query(query) if query.strip() else None
        body = {
            "query": text_query(words, "record_text", clauses(search_filter, "record")),
            "sort": record_order(order, descending=descending),
            "track_scores": True,
            "_source": False,
            "docvalue_fields": ["pmid"],
        }
        is_checked = words is not None and bool(words.phrases)
        if offset + limit <= WINDOW and not is_checked:
            page = {**body, "from": offset, "size": limit, "track_total_hits": True}
            hits = self.search(page, preference=_same_copies(query))["hits"]
            return _ranking(hits["hits"]), int(hits["total"]["value"])
        pmids, scores = self._whole_list((query, search_filter, order, descending), body, words if is_checked else None)
        return (pmids[offset : offset + limit], scores[offset : offset + limit]), len(pmids)

    def _whole_list(self, key: tuple[Any, ...], body: dict[str, Any], words: TextQuery | None) -> Ranking:
        """All pages of a search, kept for the next request of the same one until something is written."""
        key = (self._version(), *key)
        with self._lock:
            if key in self._lists:
                self._lists.move_to_end(key)
                return self._lists[key]
        if words is not None:
            body = {**body, "_source": ["record_text"]}
        pmids: list[npt.NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        scores: list[npt.NDArray[np.float64]] = [np.empty(0, dtype=np.float64)]
        for page in self.pages(body, WINDOW if words is None else 500):
            kept = [hit for hit in page if words is None or words.holds_phrases(hit["_source"]["record_text"])]
            some = _ranking(kept)
            pmids.append(some[0])
            scores.append(some[1])
        ranking = np.concatenate(pmids), np.concatenate(scores)
        with self._lock:
            self._lists[key] = ranking
            while len(self._lists) > 1 and (
                len(self._lists) > _KEPT_LISTS or sum(len(p) for p, _ in self._lists.values()) > _KEPT_LISTED_RECORDS
            ):
                self._lists.popitem(last=False)
        return ranking

    def _version(self) -> tuple[tuple[str, int], ...]:
        """Changes with every write."""
        shards = self._client.indices.stats(index=self.index, metric="get", level="shards")["indices"]
        return tuple(
            sorted(
                (f"{name}/{number}", copies[0]["seq_no"]["max_seq_no"])
                for name, index in shards.items()
                for number, copies in index["shards"].items()
            )
        )

    def pages(self, body: dict[str, Any], size: int) -> Iterator[list[dict[str, Any]]]:
        """All hits of a search, page by page, as of the moment it began."""
        with self._point_in_time() as pit:
            after: list[Any] | None = None
            while True:
                page = {**body, "size": size, "pit": pit, "track_total_hits": False}
                if after is not None:
                    page["search_after"] = after
                hits = self.search(page)["hits"]["hits"]
                if hits:
                    yield hits
                if len(hits) < size:
                    return
                after = hits[-1]["sort"]

    @contextmanager
    def _point_in_time(self) -> Iterator[dict[str, str]]:
        pit = self._client.create_pit(index=self.index, params={"keep_alive": _KEEP_ALIVE})["pit_id"]
        try:
            yield {"id": pit, "keep_alive": _KEEP_ALIVE}
        finally:
            self._client.delete_pit(body={"pit_id": [pit]})


def _ranking(hits: list[dict[str, Any]]) -> Ranking:
    pmids = np.array([hit["fields"]["pmid"][0] for hit in hits], dtype=np.int64)
    return pmids, np.array([hit["_score"] or 0.0 for hit in hits], dtype=np.float64)


def _same_copies(query: str) -> str:
    # Copies of a shard differ in what was deleted, and so in scores: the same search always asks the same ones.
    return f"q{abs(hash(query)) % 1_000_000}"
