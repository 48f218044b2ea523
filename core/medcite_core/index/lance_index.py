"""The embedded index: records and their chunks in one LanceDB table, published together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.errors import Busy, IndexBroken
from medcite_core.filters import SearchFilter
from medcite_core.index.checks import check_at_least, checked_vector, newest_withdrawals
from medcite_core.index.lance_filter import all_of, filter_sql, pmid_sql
from medcite_core.index.lance_hybrid import count_matches, search_together
from medcite_core.index.lance_listing import RecordLists
from medcite_core.index.lance_rows import (
    STATE_COLUMNS,
    check_batch,
    pmid_number,
    record_of,
    rows_of,
    state_of,
    tombstone_schema,
)
from medcite_core.index.lance_search import best_chunks_by_text, best_chunks_by_vector
from medcite_core.index.lance_table import bring_up_to_date, engine_errors, open_tables
from medcite_core.index.precedence import CopyState, Withdrawal, newest_copies
from medcite_core.index.query_text import read_query
from medcite_core.index.version_cache import VersionCache
from medcite_core.ports import HybridLists, IndexedRecord, IndexIdentity, WriteCounts
from medcite_core.types import Hit, Record, RecordHit, RecordOrder, SuggestField, Tombstone, ValueCount

_PMIDS_AT_ONCE = 1000
_CHUNK_ID = re.compile(r"[0-9]{1,18}:[0-9]{1,9}-[0-9]{1,9}")
_SCAN_RECORDS = 256
_WRITES_BETWEEN_COMPACTIONS = 200
_WRITE_LOCK_TIMEOUT_S = 600
_KEPT_COUNTS, _KEPT_RECORDS, _KEPT_WORDS = 256, 1000, 20_000


class LanceIndex:
    """A `CorpusIndex` in a folder of this machine. Safe to use from several threads.

    Any number of processes may read while one writes; writers wait for each other. A kill at any moment leaves the
    state before or after a write.
    """

    def __init__(self, path: Path, identity: IndexIdentity, *, create: bool = True) -> None:
        """Open the index in `path`; make an empty one if there is none and `create` is true.

        Raises:
            IndexMissing: there is none and `create` is false.
            IndexMismatch: it was made with another model or chunking than `identity`, or another format.
            IndexBroken: it cannot be read or created.
        """
        self._path = path
        self._chunks, self._tombstones, self._identity = open_tables(path, identity, create=create)
        self._lists = RecordLists(self._chunks)
        self._word_counts: VersionCache[str, int] = VersionCache(_KEPT_WORDS)
        self._counts: VersionCache[str, int] = VersionCache(_KEPT_COUNTS)
        self._records: VersionCache[int, Record] = VersionCache(_KEPT_RECORDS)
        self._writes = 0

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
        words, where = read_query(query), filter_sql(search_filter)
        with self._reading("searching by words"):
            return best_chunks_by_text(self._chunks, words, where, k)

    def vector_chunks(self, vector: npt.NDArray[np.float32], search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k nearest chunks; scores are cosine similarities, -1..1.

        Raises:
            InvalidInput: the vector has another dimension or no direction, or as in `lexical_chunks`.
        """
        check_at_least("k", k, 1)
        wanted, where = checked_vector(vector, self._identity.embedder.dimension), filter_sql(search_filter)
        with self._reading("searching by meaning"):
            return best_chunks_by_vector(self._chunks, wanted, where, k)

    def hybrid_lists(
        self, query: str, vector: npt.NDArray[np.float32] | None, search_filter: SearchFilter, k: int
    ) -> HybridLists:
        """The k best of `lexical_chunks`, `lexical_records` and `vector_chunks`, searched at the same time.

        Raises:
            InvalidInput: as in `lexical_chunks` and `vector_chunks`.
        """
        check_at_least("k", k, 1)
        wanted = None if vector is None else checked_vector(vector, self._identity.embedder.dimension)
        words, where = read_query(query), filter_sql(search_filter)
        with self._reading("searching"):
            return search_together(self._chunks, words, wanted, where, k)

    def chunk_vectors(self, chunk_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors of the chunks that exist, by chunk id."""
        found: dict[str, npt.NDArray[np.float32]] = {}
        # An id is `pmid:start-end`; anything else is no chunk's, and has no business in the engine's query.
        ids = [chunk_id for chunk_id in dict.fromkeys(chunk_ids) if _CHUNK_ID.fullmatch(chunk_id)]
        for start in range(0, len(ids), _PMIDS_AT_ONCE):
            some = ids[start : start + _PMIDS_AT_ONCE]
            # The PMIDs stand in the ids, and have an index.
            owners = pmid_sql(sorted({int(chunk_id.partition(":")[0]) for chunk_id in some}))
            quoted = ", ".join(f"'{chunk_id}'" for chunk_id in some)
            with self._reading("reading vectors"):
                table = self._rows(f"{owners} AND id IN ({quoted})", ["id", "vector"])
            vectors = table.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
            rows = vectors.reshape(-1, self._identity.embedder.dimension)
            found.update(zip(table.column("id").to_pylist(), rows, strict=True))
        return found

    def lexical_records(
        self, query: str, search_filter: SearchFilter, offset: int, limit: int
    ) -> tuple[list[RecordHit], int]:
        """A page of all records that match any word of the query (and hold its quoted phrases), and their number.

        Raises:
            InvalidInput: the query is blank, offset or limit is negative, or the title filter holds no word.
        """
        read_query(query)
        return self.listed_records(query, search_filter, "relevance", offset, limit, descending=True)

    def records_holding(self, words: Sequence[str]) -> list[int]:
        """For each of `words`, in how many records it stands; 0 for a stop word."""
        with self._reading("counting words"):
            version = self._version()
            known = self._word_counts.kept(version, words)
            missing = [word for word in dict.fromkeys(words) if word not in known]
            counted = dict(zip(missing, count_matches(self._chunks, missing), strict=True))
            self._word_counts.keep(version, counted)
        return [(known | counted)[word] for word in words]

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

        The first list by date or journal after a write reads every record once (0.1 ms each).

        Raises:
            InvalidInput: offset or limit is negative, or the title filter holds no word.
        """
        check_at_least("offset", offset, 0)
        check_at_least("limit", limit, 0)
        with self._reading("listing records"):
            pmids, scores = self._lists.sorted_list(query, search_filter, order, descending)
        page = zip(pmids[offset : offset + limit].tolist(), scores[offset : offset + limit].tolist(), strict=True)
        return [RecordHit(str(p), s, rank) for rank, (p, s) in enumerate(page, start=offset + 1)], len(pmids)

    def suggest(self, field: SuggestField, prefix: str, limit: int) -> list[ValueCount]:
        """Values of a filter field in which a word begins with `prefix`, and how many records hold each."""
        check_at_least("limit", limit, 0)
        with self._reading("reading values"):
            return self._lists.suggest(field, prefix, limit)

    # ------------------------------------------------------------ records

    def count(self, search_filter: SearchFilter | None = None) -> int:
        """Records that pass the filter."""
        where = all_of(["is_head", filter_sql(search_filter)])
        with self._reading("counting"):
            return self._counts.value(self._version(), where, lambda: int(self._chunks.count_rows(where)))

    def count_chunks(self) -> int:
        """Chunks of all records."""
        with self._reading("counting"):
            return int(self._chunks.count_rows())

    def get(self, pmids: Sequence[str]) -> dict[str, Record]:
        """The records that exist, by pmid, in the order asked for."""
        numbers = [number for pmid in dict.fromkeys(pmids) if (number := pmid_number(pmid)) is not None]
        with self._reading("reading records"):
            version = self._version()
        found = self._records.kept(version, numbers)
        missing = [number for number in numbers if number not in found]
        if missing:
            read = self._read_records(missing, "")
            self._records.keep(version, read)
            found |= read
        return {str(number): found[number] for number in numbers if number in found}

    def years(self) -> dict[int, int]:
        """Records per publication year, in order of years."""
        with self._reading("counting years"):
            column = self._rows("is_head AND year IS NOT NULL", ["year"]).column("year").to_numpy()
        years, counts = np.unique(column, return_counts=True)
        return dict(zip(years.tolist(), counts.tolist(), strict=True))

    def scan(self, search_filter: SearchFilter | None = None) -> Iterator[Record]:
        """Every record that passes, in pmid order. Only the PMIDs and a few hundred records are in memory at once.

        A record that goes or changes while the scan runs is left out or shown in its new state.
        """
        where = filter_sql(search_filter)
        with self._reading("scanning"):
            pmids = np.sort(self._rows(all_of(["is_head", where]), ["pmid"]).column("pmid").to_numpy())
        for start in range(0, len(pmids), _SCAN_RECORDS):
            numbers = pmids[start : start + _SCAN_RECORDS].tolist()
            found = self._read_records(numbers, where)
            yield from (found[number] for number in numbers if number in found)

    def _read_records(self, numbers: Sequence[int], where: str) -> dict[int, Record]:
        found: dict[int, Record] = {}
        for some in _slices(numbers):
            with self._reading("reading records"):
                table = self._rows(all_of(["is_head", pmid_sql(some), where]), ["pmid", "payload"])
            for row in table.to_pylist():
                found[row["pmid"]] = record_of(row["payload"])
        return found

    # ------------------------------------------------------------ writing

    def plan_writes(self, records: Sequence[Record]) -> tuple[list[Record], WriteCounts]:
        """Which of `records` are new or newer than what is stored, and counts for the rest; see `precedence`."""
        numbers = [number for record in records if (number := pmid_number(record.pmid)) is not None]
        chosen, counts = newest_copies(records, self._states(numbers), self._withdrawals(numbers))
        return [records[position] for position in chosen.values()], counts

    def replace(self, batch: Sequence[IndexedRecord]) -> WriteCounts:
        """Store records in one commit. Of a pmid that repeats the newest is stored; see `precedence`.

        Raises:
            InvalidInput: a record, its chunks or vectors cannot be stored as they are; nothing was written.
            IndexBroken: the write failed, or did not store what it should have.
        """
        check_batch(batch, self._identity.embedder.dimension)
        with self._writing("storing records"):
            numbers = [int(entry.record.pmid) for entry in batch]
            stored = self._states(numbers)
            chosen, counts = newest_copies([e.record for e in batch], stored, self._withdrawals(numbers))
            if not chosen:
                return counts
            entries = [batch[position] for position in chosen.values()]
            self._merge(entries, is_new=stored.keys().isdisjoint(chosen))
            self._compact_now_and_then()
        replaced = sum(pmid in stored for pmid in chosen)
        return counts + WriteCounts(inserted=len(chosen) - replaced, replaced=replaced)

    def _merge(self, entries: Sequence[IndexedRecord], *, is_new: bool) -> None:
        rows = rows_of(entries, self._identity)
        mine = pmid_sql([int(entry.record.pmid) for entry in entries])
        if is_new:
            self._chunks.add(rows)
        else:
            merge = self._chunks.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.when_not_matched_by_source_delete(mine).execute(rows)
        chunks, heads = self._chunks.count_rows(mine), self._chunks.count_rows(f"is_head AND {mine}")
        if (chunks, heads) != (rows.num_rows, len(entries)):
            raise IndexBroken(
                f"{len(entries)} records with {rows.num_rows} chunks were written to {self._path}, "
                f"but {heads} with {chunks} are there",
                "Load the same files again; if it stays, move the index away and build it anew.",
            )

    def remove(self, tombstones: Sequence[Tombstone]) -> int:
        """Apply withdrawals; returns how many records went. Older records of the same pmid stay out from then on."""
        newest = newest_withdrawals(tombstones)
        if not newest:
            return 0
        with self._writing("withdrawing records"):
            known = self._withdrawals([int(pmid) for pmid in newest])
            fresh = {p: w for p, w in newest.items() if p not in known or not w.is_older_than(known[p])}
            # The withdrawal first: after a kill in between, the next write or load takes the records out.
            self._store_withdrawals(fresh)
            return self._take_out([int(pmid) for pmid in newest])

    def _store_withdrawals(self, withdrawals: dict[str, Withdrawal]) -> None:
        import pyarrow as pa

        if not withdrawals:
            return
        rows = [
            {"pmid": int(pmid), "version": w.version, "release": w.release, "file_number": w.file_number}
            for pmid, w in withdrawals.items()
        ]
        merge = self._tombstones.merge_insert("pmid").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(pa.Table.from_pylist(rows, schema=tombstone_schema()))

    def _take_out(self, numbers: Sequence[int]) -> int:
        """Delete those of `numbers` that are withdrawn; returns how many records went."""
        withdrawn = self._withdrawals(numbers)
        states = self._states([int(pmid) for pmid in withdrawn])
        gone = [int(pmid) for pmid, state in states.items() if withdrawn[pmid].withdraws(state)]
        for some in _slices(gone):
            self._chunks.delete(pmid_sql(some))
        return len(gone)

    def finish_load(self) -> None:
        """After a load: bring the search indexes up to date and compact. Searches go on meanwhile."""
        with self._writing("finishing a load"):
            withdrawn = self._tombstones.search().select(["pmid"]).to_arrow().column("pmid").to_pylist()
            self._take_out(withdrawn)
            bring_up_to_date(self._chunks, self._identity.embedder.dimension)
            self._tombstones.optimize()
            self._writes = 0

    def _compact_now_and_then(self) -> None:
        self._writes += 1
        if self._writes >= _WRITES_BETWEEN_COMPACTIONS:
            bring_up_to_date(self._chunks, self._identity.embedder.dimension)
            self._writes = 0

    def _states(self, numbers: Sequence[int]) -> dict[str, CopyState]:
        found: dict[str, CopyState] = {}
        for some in _slices(numbers):
            with self._reading("reading states"):
                table = self._rows(f"is_head AND {pmid_sql(some)}", STATE_COLUMNS)
            found.update((str(row["pmid"]), state_of(row)) for row in table.to_pylist())
        return found

    def _withdrawals(self, numbers: Sequence[int]) -> dict[str, Withdrawal]:
        found: dict[str, Withdrawal] = {}
        for some in _slices(numbers):
            with self._reading("reading withdrawals"):
                rows = self._tombstones.search().where(pmid_sql(some)).to_arrow().to_pylist()
            for row in rows:
                found[str(row["pmid"])] = Withdrawal(row["version"], row["release"], row["file_number"])
        return found

    # ------------------------------------------------------------ engine

    def _version(self) -> int:
        return int(self._chunks.version)

    def _rows(self, where: str, columns: list[str]) -> Any:
        return self._chunks.search().where(where).select(columns).to_arrow()

    def _reading(self, action: str) -> AbstractContextManager[None]:
        return engine_errors(action, self._path)

    @contextmanager
    def _writing(self, action: str) -> Iterator[None]:
        from filelock import FileLock, Timeout

        with engine_errors(action, self._path):
            try:
                lock = FileLock(self._path / "write.lock").acquire(timeout=_WRITE_LOCK_TIMEOUT_S)
            except Timeout:
                raise Busy(f"another process has been writing to {self._path} for ten minutes") from None
            with lock:
                yield


def _slices(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), _PMIDS_AT_ONCE):
        yield numbers[start : start + _PMIDS_AT_ONCE]
