"""The index in an OpenSearch cluster: the same contract as the embedded one, for several machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from medcite_core.errors import IndexMissing, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.index.checks import check_at_least, checked_vector
from medcite_core.index.identity import check_identity
from medcite_core.index.lance_rows import check_batch, pmid_number
from medcite_core.index.opensearch_alias import AliasTarget, create_first, resolve
from medcite_core.index.opensearch_client import BulkWriter, build_client, cluster_errors
from medcite_core.index.opensearch_mapping import SUGGEST_FIELDS, stored_record
from medcite_core.index.opensearch_query import clauses, suggestion_aggregations, suggestions
from medcite_core.index.opensearch_search import ClusterSearch
from medcite_core.index.opensearch_writing import ClusterWriter
from medcite_core.index.query_text import read_query
from medcite_core.ports import IndexedRecord, IndexIdentity, WriteCounts
from medcite_core.settings import OpenSearchSettings
from medcite_core.types import Hit, Record, RecordHit, RecordOrder, SuggestField, Tombstone, ValueCount

_SCAN_RECORDS = 256
_MAX_PREFIX_CHARS = 200


class OpenSearchIndex:
    """A `CorpusIndex` in a cluster, under an alias. Safe to use from several threads, processes and machines.

    A record is switched over by one write of its record document, after its new chunks can be found and before the old
    ones go. A chunk of another revision than the current one is never returned. A kill at any moment leaves each record
    in its old or its new state; what such a write left behind is cleared by the next one of the same record, or by
    `finish_load`.
    """

    def __init__(self, settings: OpenSearchSettings, identity: IndexIdentity, *, create: bool = True) -> None:
        """Open the index behind `settings.index`; make an empty one if there is none and `create` is true.

        Raises:
            IndexMissing: there is none and `create` is false.
            IndexMismatch: it was made with another model or chunking than `identity`, or another mapping.
            IndexUnreachable: no host answers.
            IndexBroken: it is no index of medcite, or cannot be created.
        """
        self._place = f"the index {settings.index} on {', '.join(settings.hosts)}"
        self._client = build_client(settings)
        self._bulk_bytes = settings.bulk_bytes
        with cluster_errors("opening", self._place):
            if not self._client.indices.exists(index=settings.index):
                if not create:
                    raise IndexMissing(f"there is no index {settings.index} on {', '.join(settings.hosts)}")
                if identity.embedder.dimension < 1:
                    raise InvalidInput("the embedding model's dimension is not known yet; an index cannot be created")
                create_first(self._client, settings, identity)
            name, self._identity = resolve(self._client, settings.index, self._place)
        check_identity(self._identity, identity, self._place, "MEDCITE_OPENSEARCH__INDEX")
        self._target = AliasTarget(self._client, settings.index, self._place, name, self._identity)
        self._last_search = ClusterSearch(self._client, name)

    @property
    def _search(self) -> ClusterSearch:
        """Of the index that the alias stands for now."""
        name = self._target.for_reading()
        if self._last_search.index != name:
            self._last_search = ClusterSearch(self._client, name)
        return self._last_search

    def _writer(self) -> ClusterWriter:
        """For one write, which goes to one index from beginning to end."""
        name = self._target.for_writing()
        bulk = BulkWriter(self._client, name, self._bulk_bytes)
        return ClusterWriter(self._client, name, ClusterSearch(self._client, name), bulk)

    @property
    def identity(self) -> IndexIdentity:
        """How it was made."""
        return self._identity

    # ------------------------------------------------------------ search

    def lexical_chunks(self, query: str, search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k best chunks by BM25 over chunk text and title; a "quoted phrase" must stand in them.

        Raises:
            InvalidInput: the query is blank, k is below 1, or the title filter holds no word.
        """
        check_at_least("k", k, 1)
        words = read_query(query)
        with cluster_errors("searching by words", self._place):
            return self._search.chunks_by_text(words, search_filter, k)

    def vector_chunks(self, vector: npt.NDArray[np.float32], search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k nearest chunks; scores are cosine similarities, -1..1.

        Raises:
            InvalidInput: the vector has another dimension or no direction, or as in `lexical_chunks`.
        """
        check_at_least("k", k, 1)
        wanted = checked_vector(vector, self._identity.embedder.dimension)
        with cluster_errors("searching by meaning", self._place):
            return self._search.chunks_by_vector(wanted, search_filter, k)

    def chunk_vectors(self, chunk_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors of the chunks that exist, by chunk id."""
        owners = {chunk_id: pmid_number(chunk_id.partition(":")[0]) for chunk_id in dict.fromkeys(chunk_ids)}
        numbers = sorted({number for number in owners.values() if number is not None})
        with cluster_errors("reading vectors", self._place):
            search = self._search
            revisions = search.revisions(numbers)
            docs = {
                f"{chunk_id}@{revisions[number]}": chunk_id
                for chunk_id, number in owners.items()
                if number in revisions and len(chunk_id) < 64
            }
            if not docs:
                return {}
            body = {"ids": list(docs)}
            params = {"_source_includes": "embedding"}
            found = self._client.mget(body=body, index=search.index, params=params)["docs"]
        return {
            docs[doc["_id"]]: np.asarray(doc["_source"]["embedding"], dtype=np.float32)
            for doc in found
            if doc.get("found")
        }

    def lexical_records(
        self, query: str, search_filter: SearchFilter, offset: int, limit: int
    ) -> tuple[list[RecordHit], int]:
        """A page of all records that match any word of the query (and hold its quoted phrases), and their number.

        Raises:
            InvalidInput: the query is blank, offset or limit is negative, or the title filter holds no word.
        """
        read_query(query)
        return self.listed_records(query, search_filter, "relevance", offset, limit, descending=True)

    def listed_records(
        self,
        query: str,
        search_filter: SearchFilter,
        order: RecordOrder,
        offset: int,
        limit: int,
        *,
        descending: bool,
    ) -> tuple[list[RecordHit], int]:
        """A page of all records that match and pass, in `order`, and their number; see `ports.RecordStore`.

        Raises:
            InvalidInput: offset or limit is negative, or the title filter holds no word.
        """
        check_at_least("offset", offset, 0)
        check_at_least("limit", limit, 0)
        with cluster_errors("listing records", self._place):
            (pmids, scores), total = self._search.listed(
                query, search_filter, order, offset, limit, descending=descending
            )
        page = zip(pmids.tolist(), scores.tolist(), strict=True)
        return [RecordHit(str(p), s, rank) for rank, (p, s) in enumerate(page, start=offset + 1)], total

    def suggest(self, field: SuggestField, prefix: str, limit: int) -> list[ValueCount]:
        """Values of a filter field in which a word begins with `prefix`, and how many records hold each."""
        check_at_least("limit", limit, 0)
        if field not in SUGGEST_FIELDS or len(prefix) > _MAX_PREFIX_CHARS or limit == 0:
            return []
        body = {
            "size": 0,
            "query": {"term": {"kind": "record"}},
            "aggs": suggestion_aggregations(field, prefix, min(1000, 4 * limit + 50)),
        }
        with cluster_errors("reading values", self._place):
            return suggestions(self._search.search(body)["aggregations"], limit)

    # ------------------------------------------------------------ records

    def count(self, search_filter: SearchFilter | None = None) -> int:
        """Records that pass the filter."""
        filters = clauses(search_filter, "record")
        with cluster_errors("counting", self._place):
            return self._search.count(filters)

    def count_chunks(self) -> int:
        """Chunks of all records."""
        body = {
            "size": 0,
            "query": {"term": {"kind": "record"}},
            "aggs": {"chunks": {"sum": {"field": "chunk_count"}}},
        }
        with cluster_errors("counting", self._place):
            return int(self._search.search(body)["aggregations"]["chunks"]["value"])

    def get(self, pmids: Sequence[str]) -> dict[str, Record]:
        """The records that exist, by pmid, in the order asked for."""
        numbers = [number for pmid in dict.fromkeys(pmids) if (number := pmid_number(pmid)) is not None]
        with cluster_errors("reading records", self._place):
            found = self._search.records(numbers, ["payload"])
        return {str(number): stored_record(found[number]) for number in numbers if number in found}

    def years(self) -> dict[int, int]:
        """Records per publication year, in order of years."""
        by_year = {"terms": {"field": "year", "size": 5000, "order": {"_key": "asc"}}}
        body = {"size": 0, "query": {"term": {"kind": "record"}}, "aggs": {"years": by_year}}
        with cluster_errors("counting years", self._place):
            buckets = self._search.search(body)["aggregations"]["years"]["buckets"]
        return {int(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}

    def scan(self, search_filter: SearchFilter | None = None) -> Iterator[Record]:
        """Every record that passes, in pmid order, as of the moment the scan began; a few hundred in memory at once."""
        body = {
            "query": {"bool": {"filter": clauses(search_filter, "record")}},
            "sort": [{"pmid": "asc"}],
            "_source": ["payload"],
        }
        pages = self._search.pages(body, _SCAN_RECORDS)
        while True:
            with cluster_errors("scanning", self._place):
                page = next(pages, None)
            if page is None:
                return
            yield from (stored_record(hit["_source"]) for hit in page)

    # ------------------------------------------------------------ writing

    def plan_writes(self, records: Sequence[Record]) -> tuple[list[Record], WriteCounts]:
        """Which of `records` are new or newer than what is stored, and counts for the rest; see `precedence`."""
        with cluster_errors("reading records", self._place):
            return self._writer().plan(records)

    def replace(self, batch: Sequence[IndexedRecord]) -> WriteCounts:
        """Store records. Of a pmid that repeats the newest is stored; see `precedence`.

        Raises:
            InvalidInput: a record, its chunks or vectors cannot be stored as they are; nothing was written.
            IndexUnreachable: the cluster stopped answering; each record is in its old or its new state.
            IndexBroken: the cluster refused some of them; it names them.
        """
        check_batch(batch, self._identity.embedder.dimension)
        with cluster_errors("storing records", self._place):
            return self._writer().replace(list(batch))

    def remove(self, tombstones: Sequence[Tombstone]) -> int:
        """Apply withdrawals; returns how many records went. Older records of the same pmid stay out from then on."""
        with cluster_errors("withdrawing records", self._place):
            return self._writer().remove(tombstones)

    def finish_load(self) -> None:
        """After a load: clear what interrupted writes left behind, and take out what was withdrawn meanwhile."""
        with cluster_errors("finishing a load", self._place):
            self._writer().finish_load()
