"""Exports records as a file: all of a search or some that were marked, every one of them or an error."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from medcite_core.errors import InvalidInput, NotFound
from medcite_core.ports import CorpusIndex
from medcite_core.types import Record
from medcite_middleware.export.formats import FORMATS, ExportFormat
from medcite_middleware.pipeline.threads import in_thread
from medcite_middleware.services.result_list import ResultListService, ResultQuery

_READ_AT_ONCE = 200
_IN_MEMORY_BYTES = 4_000_000
_NAMED_MISSING = 10


class RecordsMissing(NotFound):
    """Some of the records to export are not in the corpus: `missing`, in the order asked for."""

    def __init__(self, message: str, hint: str, missing: Sequence[str]) -> None:
        super().__init__(message, hint)
        self.missing = tuple(missing)


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A finished file of `records`; large ones lie on disk and go when `content` is closed.

    `asked` counts what was asked for, a PMID given twice twice.
    """

    name: str
    media_type: str
    content: IO[bytes]
    size: int
    records: int
    asked: int


class ExportService:
    """Writes files of records. Nothing leaves before the whole file is there, so that its counts are true."""

    def __init__(self, index: CorpusIndex, results: ResultListService, max_records: int) -> None:
        self._index = index
        self._results = results
        self._max_records = max_records

    async def export_pmids(self, pmids: Sequence[str], export_format: ExportFormat) -> ExportedFile:
        """The records of `pmids`, each once, in their order.

        Raises:
            RecordsMissing: some are not in the corpus; names them.
            InvalidInput: more than `max_records`.
        """
        return await in_thread(self._write, list(dict.fromkeys(pmids)), export_format, len(pmids))

    async def export_search(self, wanted: ResultQuery, export_format: ExportFormat) -> ExportedFile:
        """All records of a search, in the order of its list.

        Raises:
            InvalidInput: there are none, or more than `max_records`.
        """
        return await in_thread(self._write_search, wanted, export_format)

    def _write_search(self, wanted: ResultQuery, export_format: ExportFormat) -> ExportedFile:
        pmids, total, _ = self._results.pmids(wanted, 0, self._max_records)
        self._check_number(total)
        if not total:
            raise InvalidInput("no record matches, so there is nothing to export", "Search for other words.")
        return self._write(pmids, export_format, len(pmids))

    def _write(self, pmids: Sequence[str], export_format: ExportFormat, asked: int) -> ExportedFile:
        self._check_number(len(pmids))
        writer = FORMATS[export_format]
        content = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by the one who sends it
        try:
            for piece in writer.pieces(self._records(pmids)):
                content.write(piece.encode("utf-8", "replace"))
        except BaseException:
            content.close()
            raise
        size = content.tell()
        content.seek(0)
        name = f"medcite-{len(pmids)}-record{'s' if len(pmids) != 1 else ''}.{writer.suffix}"
        return ExportedFile(name, writer.media_type, content, size, len(pmids), asked)

    def _records(self, pmids: Sequence[str]) -> Iterator[Record]:
        missing: list[str] = []
        for start in range(0, len(pmids), _READ_AT_ONCE):
            portion = pmids[start : start + _READ_AT_ONCE]
            found = self._index.get(portion)
            missing += [pmid for pmid in portion if pmid not in found]
            if not missing:
                yield from (found[pmid] for pmid in portion)
        if missing:
            named = ", ".join(missing[:_NAMED_MISSING])
            more = f" and {len(missing) - _NAMED_MISSING:,} more" if len(missing) > _NAMED_MISSING else ""
            raise RecordsMissing(
                f"{len(missing):,} of {len(pmids):,} records are not in this corpus: PMID {named}{more}",
                "Leave them out and export again; they may have been withdrawn from PubMed.",
                missing,
            )

    def _check_number(self, records: int) -> None:
        if records > self._max_records:
            raise InvalidInput(
                f"{records:,} records are too many for one file; at most {self._max_records:,} are exported",
                "Narrow the search by year or journal, and export it in parts, or raise "
                "MEDCITE_SERVER__MAX_EXPORT_RECORDS.",
            )
