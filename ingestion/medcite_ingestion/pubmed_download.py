"""Fetches records by PMID into a folder of PubMed XML files, which a load then reads; interrupted, it goes on."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from medcite_core.errors import InvalidInput
from medcite_ingestion.eutils import EutilsClient, FetchedBatch, PubMedUnavailable

OnFetch = Callable[[int, int], None]
"""PMIDs asked for so far, and how many there are."""

MAX_FAILURES_IN_A_ROW = 3
"""So many PMIDs that fail one after another are no fault of theirs: NCBI does not serve us."""
MAX_LIST_BYTES = 400_000_000
_PMID = re.compile(r"[\"']?(?:PMID:?\s*)?0*([1-9]\d{0,8})[\"']?(?:[,;\t].*)?", re.IGNORECASE)
_HEADING = re.compile(r"[\"']?(?:pmids?|uids?|ids?|article_?ids?)[\"']?(?:[,;\t].*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What was fetched: asked = fetched + missing + failed. `missing` are not in PubMed; `failed` could not be got."""

    asked: int
    fetched: int
    missing: tuple[str, ...]
    failed: tuple[str, ...]
    files: tuple[Path, ...]

    @property
    def is_partial(self) -> bool:
        """Whether anything that was asked for is not there."""
        return bool(self.missing or self.failed)


def read_pmids(path: Path) -> tuple[list[str], int]:
    """The PMIDs of a file, each once, in its order, and how many were repeated.

    One stands on each line, or in the first column of a CSV file; a heading and blank lines are passed over.

    Raises:
        InvalidInput: the file cannot be read, or a line names no PMID; says which.
    """
    try:
        if path.stat().st_size > MAX_LIST_BYTES:
            raise InvalidInput(f"{path} is larger than {MAX_LIST_BYTES:,} bytes", "Give the list in parts.")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as text: {error}", "Give a text or CSV file of PMIDs.") from None
    found: dict[str, None] = {}
    listed = 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        match = _PMID.fullmatch(text)
        if match:
            listed += 1
            found[match.group(1)] = None
        elif text and not (number == 1 and _HEADING.fullmatch(text)):
            raise InvalidInput(
                f"line {number} of {path.name} names no PMID: {text[:60]!r}", "Give one PMID on each line."
            )
    if not found:
        raise InvalidInput(f"{path.name} holds no PMID", "Give one PMID on each line.")
    return list(found), listed - len(found)


def folder_of(root: Path, pmids: Sequence[str]) -> Path:
    """Where the records of just these PMIDs are kept, so that the same list goes on where it was."""
    return root / hashlib.sha256("\n".join(pmids).encode("ascii")).hexdigest()[:16]


def download(
    client: EutilsClient, pmids: Sequence[str], folder: Path, batch: int, on_progress: OnFetch | None = None
) -> Downloaded:
    """Fetch `pmids` into `folder`, in files of at most `batch`; those that are there are not fetched again.

    A file is there whole or not at all. A PMID that fails again and again is left out, and the rest goes on.

    Raises:
        PubMedUnavailable, PubMedRefused: NCBI serves nothing; what was fetched stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fetcher = _Fetcher(client)
    missing: list[str] = []
    failed: list[str] = []
    files: list[Path] = []
    for start in range(0, len(pmids), batch):
        some = pmids[start : start + batch]
        stem = f"batch-{start // batch + 1:06d}"
        absent = folder / f"{stem}.missing"  # written last: with it the batch is whole
        if absent.exists():
            missing += absent.read_text(encoding="ascii").split()
        else:
            got, lost = fetcher.fetch(some)
            for old in folder.glob(f"{stem}*.xml.gz"):
                old.unlink()
            for number, one in enumerate(got):
                _write(folder / (f"{stem}-{number:03d}.xml.gz" if number else f"{stem}.xml.gz"), gzip.compress(one.xml))
            lacking = [pmid for one in got for pmid in one.missing]
            if not lost:
                _write(absent, "\n".join(lacking).encode("ascii"))
            missing += lacking
            failed += lost
        files += sorted(folder.glob(f"{stem}*.xml.gz"))
        if on_progress is not None:
            on_progress(start + len(some), len(pmids))
    fetched = len(pmids) - len(missing) - len(failed)
    return Downloaded(len(pmids), fetched, tuple(missing), tuple(failed), tuple(files))


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f"{path.name}.part")
    partial.write_bytes(content)
    partial.replace(path)


class _Fetcher:
    """Fetches batches, and in halves what cannot be fetched together, down to the PMID that stands in the way."""

    def __init__(self, client: EutilsClient) -> None:
        self._client = client
        self._failures = 0

    def fetch(self, pmids: Sequence[str]) -> tuple[list[FetchedBatch], list[str]]:
        """What was got of `pmids`, and those that could not be got.

        Raises:
            PubMedUnavailable, PubMedRefused: several in a row failed, or the request itself is wrong.
        """
        try:
            got = self._client.fetch(pmids)
        except PubMedUnavailable as error:
            if not error.retryable:
                raise
            if len(pmids) == 1:
                self._failures += 1
                if self._failures >= MAX_FAILURES_IN_A_ROW:
                    raise
                return [], list(pmids)
        else:
            self._failures = 0
            return [got], []
        middle = len(pmids) // 2
        first, second = self.fetch(pmids[:middle]), self.fetch(pmids[middle:])
        return first[0] + second[0], first[1] + second[1]
