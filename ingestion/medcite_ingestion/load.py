"""Loads PubMed files into an index: parse, leave out what is stored already, chunk, embed, store; in bounded memory.

PubMed XML is read piece by piece; MEDLINE text, which people save by hand, is read whole, up to a limit.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import structlog

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.errors import IndexMismatch, InvalidInput, NotFound
from medcite_core.ports import CorpusIndex, Embedder, IndexedRecord, Vectors
from medcite_core.settings import IndexSettings
from medcite_core.types import Chunk, ParseProblem, Record, Tombstone
from medcite_ingestion.documents import decoded
from medcite_ingestion.load_report import LoadProgress, LoadReport, Stage, Tally
from medcite_ingestion.medline_text import parse_medline_text
from medcite_ingestion.pubmed_xml import Parsed, parse_pubmed_xml

log = structlog.get_logger(__name__)

BATCH_RECORDS = 256
SUFFIXES = (".xml", ".xml.gz", ".nbib")
MAX_MEDLINE_BYTES = 200_000_000
_MEDLINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*PMID- ?\d")
_EMBED_TEXTS = 256

OnProgress = Callable[[LoadProgress], None]
Prepared = tuple[Record, tuple[Chunk, ...]]
VectorsOf = Callable[[Sequence[Prepared], Callable[[int], None]], list[Vectors]]
"""Vectors for each record's chunks, in order; the callback is told how many chunks are done."""


def load_files(
    paths: Iterable[Path | str],
    store: CorpusIndex,
    embedder: Embedder,
    settings: IndexSettings,
    on_progress: OnProgress | None = None,
) -> LoadReport:
    """Load files, or all *.xml, *.xml.gz and *.nbib below folders, in order of their names.

    What a file is, its content says: PubMed XML, plain or gzipped, or MEDLINE text.

    Loading again changes nothing and embeds nothing. A file that cannot be read is a problem in the report, and the
    next one is loaded. When the embedder or the index fails, what was stored before stays.

    Raises:
        NotFound: a path does not exist, or a folder holds no XML; nothing was loaded.
        IndexMismatch: the index was made with another model or chunking than `embedder` and `settings`.
        EmbedderUnavailable, IndexBroken: the load stopped there; load again to go on.
    """
    files = find_files(paths)
    check_identity(store, embedder, settings)
    return FileLoader(store, settings, _embedded_by(embedder), on_progress).load(files)


def find_files(paths: Iterable[Path | str]) -> list[Path]:
    """The files that `paths` name, each once.

    Raises:
        NotFound: a path does not exist, or a folder holds no XML.
    """
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            below = sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith(SUFFIXES))
            if not below:
                raise NotFound(
                    f"the folder {path} holds no .xml, .xml.gz or .nbib file", "Name a folder of PubMed files."
                )
            files.update(dict.fromkeys(below))
        elif path.exists():
            files[path] = None
        else:
            raise NotFound(f"there is no file or folder {path}", "Check the path.")
    return list(files)


def check_identity(store: CorpusIndex, embedder: Embedder, settings: IndexSettings) -> None:
    """Raise `IndexMismatch` unless vectors and chunks that are made now fit those of the index."""
    made_with = store.identity
    if made_with.embedder != embedder.identity:
        raise IndexMismatch(
            f"the index was made with the embedding model {made_with.embedder.model} "
            f"({made_with.embedder.dimension} dimensions), not with {embedder.identity.model}"
        )
    if (made_with.chunk_size, made_with.chunk_overlap) != (settings.chunk_size, settings.chunk_overlap):
        raise IndexMismatch(
            f"the index holds chunks of {made_with.chunk_size} characters with {made_with.chunk_overlap} overlap, "
            f"the settings say {settings.chunk_size} with {settings.chunk_overlap}"
        )


class FileLoader:
    """One load: walks files, keeps the counts, writes in batches of at most `BATCH_RECORDS` records."""

    def __init__(
        self, store: CorpusIndex, settings: IndexSettings, vectors_of: VectorsOf, on_progress: OnProgress | None
    ) -> None:
        self._store = store
        self._settings = settings
        self._vectors_of = vectors_of
        self._on_progress = on_progress
        self._tally = Tally()
        self._seen_unknown: set[str] = set()
        self._file_name = ""
        self._files_total = 0

    def load(self, files: Sequence[Path]) -> LoadReport:
        """Load `files` in order."""
        started = time.monotonic()
        self._files_total = len(files)
        for path in files:
            self._load_file(path)
        self._tell("index")
        self._store.finish_load()
        self._tell("done")
        report = self._tally.report(time.monotonic() - started)
        log.info(
            "load_finished", files=report.files, records=report.records, chunks=report.chunks, problems=report.problems
        )
        return report

    def _load_file(self, path: Path) -> None:
        tally, self._file_name = self._tally, path.name
        citations_before, problems_before = tally.citations, tally.problems
        tombstones: list[Tombstone] = []
        last_problem_pmid = ""
        batch: list[Record] = []
        self._tell("parse")
        for item in _parsed_or_problem(path, self._seen_unknown):
            if isinstance(item, Record):
                tally.add_record(item.pmid)
                batch.append(item)
                if len(batch) >= BATCH_RECORDS:
                    self._write(batch)
                    batch = []
            elif isinstance(item, Tombstone):
                tally.tombstones += 1
                tombstones.append(item)
            else:
                tally.add_problem(item)
                last_problem_pmid = item.pmid
        self._write(batch)
        if tombstones:
            tally.removed += self._store.remove(tombstones)
        tally.files += 1
        read, problems = tally.citations - citations_before, tally.problems - problems_before
        if problems and read == problems:
            # One problem that names no citation is one of the file itself: there was none to count.
            is_no_pubmed_file = problems == 1 and not last_problem_pmid
            tally.add_failed_file(path.name, problems, is_no_pubmed_file=is_no_pubmed_file)

    def _write(self, batch: Sequence[Record]) -> None:
        if not batch:
            return
        to_write, counts = self._store.plan_writes(batch)
        self._tally.written += counts
        prepared = [(record, chunk_record(record, self._settings)) for record in to_write]
        total = sum(len(chunks) for _, chunks in prepared)
        if prepared:
            self._tell("embed", 0, total)
            vectors = self._vectors_of(prepared, lambda done: self._tell("embed", done, total))
            self._tell("store", total, total)
            entries = [
                IndexedRecord(record, chunks, rows) for (record, chunks), rows in zip(prepared, vectors, strict=True)
            ]
            self._tally.written += self._store.replace(entries)
            self._tally.chunks += total
        self._tell("parse")

    def _tell(self, stage: Stage, chunks_done: int = 0, chunks_total: int = 0) -> None:
        if self._on_progress is not None:
            self._on_progress(
                LoadProgress(
                    stage,
                    self._file_name,
                    self._tally.files,
                    self._files_total,
                    self._tally.citations,
                    chunks_done,
                    chunks_total,
                )
            )


def _parsed_or_problem(path: Path, seen_unknown: set[str]) -> Iterator[Parsed]:
    """Everything in a file; what the system says when it cannot be read becomes a problem."""
    count = 0
    try:
        with path.open("rb") as file:
            is_medline = bool(_MEDLINE.match(file.read(4096)))
        for item in _medline(path) if is_medline else parse_pubmed_xml(path, seen_unknown=seen_unknown):
            yield item
            count += 1
    except InvalidInput as error:
        yield ParseProblem(path.name, count, "", error.message, is_file_cut=True)
    except OSError as error:
        yield ParseProblem(path.name, count, "", f"cannot be read: {error.strerror or error}", is_file_cut=True)


def _medline(path: Path) -> Iterator[Parsed]:
    if path.stat().st_size > MAX_MEDLINE_BYTES:
        reason = f"MEDLINE text of more than {MAX_MEDLINE_BYTES:,} bytes; save it in parts, or as XML"
        yield ParseProblem(path.name, 0, "", reason, is_file_cut=True)
        return
    content = path.read_bytes()
    yield from parse_medline_text(decoded(path.name, content), path.name, hashlib.sha256(content).hexdigest())


def _embedded_by(embedder: Embedder) -> VectorsOf:
    def vectors_of(prepared: Sequence[Prepared], told: Callable[[int], None]) -> list[Vectors]:
        texts = [text for record, chunks in prepared for text in embedding_texts(record, chunks)]
        parts = []
        for start in range(0, len(texts), _EMBED_TEXTS):
            parts.append(embedder.embed_passages(texts[start : start + _EMBED_TEXTS]))
            told(min(start + _EMBED_TEXTS, len(texts)))
        return split_rows(np.concatenate(parts), prepared)

    return vectors_of


def split_rows(rows: Vectors, prepared: Sequence[Prepared]) -> list[Vectors]:
    """Rows in chunk order, cut by record."""
    ends = np.cumsum([len(chunks) for _, chunks in prepared])
    return list(np.split(rows, ends[:-1]))
