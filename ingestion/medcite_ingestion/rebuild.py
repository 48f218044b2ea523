"""Fills a new index from the records of another: chunked and embedded anew, as often as it takes to catch up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.errors import Busy, IndexBroken
from medcite_core.ports import CorpusIndex, Embedder, IndexedRecord, RecordStore
from medcite_core.settings import IndexSettings
from medcite_core.types import Record
from medcite_ingestion.load import split_rows

BATCH_RECORDS = 256
_MOST_PASSES = 6

OnProgress = Callable[[int, int], None]
"""Records looked at in this pass, and how many there are."""


class Rebuild(Protocol):
    """An index in the making beside the one that serves."""

    @property
    def source(self) -> RecordStore:
        """The index that serves."""
        ...

    @property
    def target(self) -> CorpusIndex:
        """The one that is to take its place."""
        ...

    def copy_withdrawals(self) -> int:
        """Take over which records are withdrawn."""
        ...

    def publish(self) -> None:
        """Put the new one in the old one's place, in one step."""
        ...

    def wait_for_writers(self) -> bool:
        """After that, wait until nobody writes to the old one any more; whether that came about."""
        ...


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild did: `records` and `chunks` in the new index, of which `written` records by this run.

    `may_lack_writes`: a load into the old index did not end; what it wrote last is perhaps only there. Load it again.
    """

    records: int
    chunks: int
    written: int
    withdrawals: int
    passes: int
    may_lack_writes: bool = False


def rebuild(
    job: Rebuild, embedder: Embedder, settings: IndexSettings, on_progress: OnProgress | None = None
) -> RebuildReport:
    """Copy every record of the serving index into the new one, publish it, and take over what came in meanwhile.

    Records that an earlier, interrupted run has copied are not embedded again.

    Raises:
        Busy: the serving index changes faster than it can be copied; it goes on serving.
        IndexBroken: the new index does not hold what the old one does; it was not published.
        EmbedderUnavailable, IndexUnreachable: the rebuild stopped there; run it again to go on.
    """
    written = passes = withdrawals = 0
    while True:
        withdrawals = job.copy_withdrawals()
        fresh = _copy(job, embedder, settings, on_progress)
        written, passes = written + fresh, passes + 1
        if fresh == 0:
            break
        if passes >= _MOST_PASSES:
            raise Busy(f"the index that serves still changes after {passes} passes; pause what loads into it")
    job.target.finish_load()
    old, new = job.source.count(), job.target.count()
    if old != new:
        raise IndexBroken(
            f"the serving index holds {old} records, the rebuilt one {new}; it was not published",
            "Run the rebuild again.",
        )
    job.publish()
    # A load that began before the switch may have written to the old index until now.
    is_quiet = job.wait_for_writers()
    job.copy_withdrawals()
    written += _copy(job, embedder, settings, on_progress)
    job.target.finish_load()
    return RebuildReport(
        job.target.count(), job.target.count_chunks(), written, withdrawals, passes, may_lack_writes=not is_quiet
    )


def _copy(job: Rebuild, embedder: Embedder, settings: IndexSettings, on_progress: OnProgress | None) -> int:
    """One pass over the serving index; returns how many records were written."""
    total, looked_at, written = job.source.count(), 0, 0
    for batch in _batches(job.source.scan()):
        to_write, _ = job.target.plan_writes(batch)
        prepared = [(record, chunk_record(record, settings)) for record in to_write]
        if prepared:
            texts = [text for record, chunks in prepared for text in embedding_texts(record, chunks)]
            rows = split_rows(embedder.embed_passages(texts), prepared)
            entries = [IndexedRecord(r, chunks, vectors) for (r, chunks), vectors in zip(prepared, rows, strict=True)]
            counts = job.target.replace(entries)
            written += counts.inserted + counts.replaced
        looked_at += len(batch)
        if on_progress is not None:
            on_progress(looked_at, max(total, looked_at))
    return written


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    while batch := list(islice(records, BATCH_RECORDS)):
        yield batch
