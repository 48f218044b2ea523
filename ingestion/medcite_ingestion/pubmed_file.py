"""Opens PubMed files: hashes them as stored, undoes gzip, and refuses a damaged archive before anything is read."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from isal import igzip

READ_BYTES = 1 << 20
_SPOOL_BYTES = 16 << 20
_NAME = re.compile(r"^pubmed(\d{2})n(\d{4,5})\.xml(\.gz)?$")
_MD5 = re.compile(r"\b([0-9a-fA-F]{32})\b")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file before it is parsed. `damage` says why it must not be read; empty when it is whole."""

    name: str
    sha256: str
    byte_count: int
    is_gzip: bool
    release: int | None
    file_number: int | None
    damage: str = ""


def release_of(file_name: str) -> tuple[int | None, int | None]:
    """(21, 1016) for pubmed21n1016.xml.gz, NLM's scheme for baseline and update files; (None, None) otherwise."""
    match = _NAME.match(file_name)
    return (int(match[1]), int(match[2])) if match else (None, None)


@contextmanager
def seekable(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    """`source` as a stream that can be read twice; one that cannot seek is copied to a temporary file first."""
    if isinstance(source, Path):
        with source.open("rb") as stream:
            yield stream
    elif source.seekable():
        yield source
    else:
        with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
            shutil.copyfileobj(source, spool, READ_BYTES)
            spool.seek(0)
            yield spool  # type: ignore[misc]  # a SpooledTemporaryFile is a BinaryIO in all but name


def examine(stream: BinaryIO, name: str, published_md5: str = "") -> FileFacts:
    """Read the whole stream once, from where it stands, and put it back there.

    An archive is unpacked to the end, because gzip keeps its checksum there: no record of a damaged one is used.
    """
    start = stream.tell()
    sha256, md5, byte_count = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    while block := stream.read(READ_BYTES):
        sha256.update(block)
        md5.update(block)
        byte_count += len(block)
    stream.seek(start)
    is_gzip = stream.read(2) == b"\x1f\x8b"
    stream.seek(start)
    damage = ""
    if published_md5 and md5.hexdigest() != published_md5.lower():
        damage = f"its MD5 is {md5.hexdigest()}, the .md5 file beside it says {published_md5.lower()}"
    elif is_gzip:
        damage = _gzip_damage(stream)
        stream.seek(start)
    release, file_number = release_of(name)
    return FileFacts(name, sha256.hexdigest(), byte_count, is_gzip, release, file_number, damage)


def published_md5(path: Path) -> str:
    """The MD5 that NLM publishes beside a baseline file (`NAME.md5`); empty when there is none."""
    beside = path.with_name(path.name + ".md5")
    if not beside.is_file():
        return ""
    match = _MD5.search(beside.read_text(encoding="ascii", errors="replace")[:1000])
    return match[1] if match else ""


@contextmanager
def unpacked(stream: BinaryIO, facts: FileFacts) -> Iterator[BinaryIO]:
    """The XML bytes, whether they are stored plainly or gzipped."""
    if not facts.is_gzip:
        yield stream
        return
    with igzip.IGzipFile(fileobj=stream, mode="rb") as archive:
        yield archive


def _gzip_damage(stream: BinaryIO) -> str:
    try:
        with igzip.IGzipFile(fileobj=stream, mode="rb") as archive:
            while archive.read(READ_BYTES):
                pass
    except EOFError:
        return "the gzip archive is cut short"
    except (OSError, zlib.error, igzip.isal_zlib.error) as error:
        return f"the gzip archive is damaged: {error}"
    return ""
