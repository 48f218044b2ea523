"""Reads files that are checked against: plain text, Markdown, PubMed's XML and MEDLINE text, told by content."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Sequence

from medcite_core.errors import InvalidInput
from medcite_core.plain_documents import text_document
from medcite_core.types import ParseProblem, Record, Source, Tombstone
from medcite_ingestion.medline_text import parse_medline_text
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

MAX_FILE_BYTES = 20_000_000
_NOT_YET = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a Word, spreadsheet or zip file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"{\\rtf": "an RTF file",
}
_MEDLINE = re.compile(rb"\s*PMID- ?\d")


class FileReader:
    """Reads a file's bytes as the sources that it holds."""

    def read(self, name: str, content: bytes) -> Sequence[Source]:
        """One document, or the records of a file of PubMed citations.

        Raises:
            InvalidInput: it is too large, of a format that is not read, damaged, or holds no text.
        """
        if len(content) > MAX_FILE_BYTES:
            raise InvalidInput(
                f"{name} is larger than {MAX_FILE_BYTES:,} bytes", "Split it, or give the part you need."
            )
        for signature, what in _NOT_YET.items():
            if content.startswith(signature):
                raise InvalidInput(f"{name} is {what}, which cannot be read yet", "Save it as plain text or Markdown.")
        if content.startswith(b"\x1f\x8b"):
            content = _unzipped(name, content)
        head = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
        if head.startswith((b"<?xml", b"<PubmedArticle", b"<!DOCTYPE Pubmed")) and b"Pubmed" in content[:20_000]:
            return _usable(name, parse_pubmed_xml(io.BytesIO(content), name))
        digest = hashlib.sha256(content).hexdigest()
        if _MEDLINE.match(content[:4096].removeprefix(b"\xef\xbb\xbf")):
            return _usable(name, parse_medline_text(decoded(name, content), name, digest))
        return (text_document(name, decoded(name, content), digest),)


def decoded(name: str, content: bytes) -> str:
    """The text of a file: UTF-8 if it is, else what its byte order mark or its letters say; see `encoding_of`.

    Raises:
        InvalidInput: it is no text.
    """
    encoding = encoding_of(content)
    text = content.decode(encoding, "replace") if encoding else ""
    if not encoding or text.count("\x00") > len(text) // 100:
        raise InvalidInput(f"{name} is not a text file", "Give plain text, Markdown or PubMed XML.")
    return text


def encoding_of(content: bytes) -> str:
    """The encoding of a text, empty when it is none.

    Letters decide only between encodings that others have not ruled out, and Windows-1252 goes first: in short English
    texts with a "µ" or a curly apostrophe detection takes Central European for it (FR-179).
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8-sig"
    if b"\x00" in content:
        return ""
    from charset_normalizer import from_bytes

    head = content[:1_000_000]
    best = (
        from_bytes(head, cp_isolation=["cp1252"]).best()
        or from_bytes(head, cp_exclusion=["utf_16", "utf_16_be", "utf_16_le"]).best()
    )
    return best.encoding if best is not None else ""


def _unzipped(name: str, content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            data = stream.read(5 * MAX_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{name} is a damaged gzip file: {error}", "Fetch it again.") from None
    if len(data) > 5 * MAX_FILE_BYTES:
        raise InvalidInput(
            f"{name} unpacks to more than {5 * MAX_FILE_BYTES:,} bytes", "Load it with `medcite ingest`."
        )
    return data


def _usable(name: str, parsed: Iterable[Record | Tombstone | ParseProblem]) -> tuple[Record, ...]:
    """The records of a file, all or none: one left out could be the one that contradicts."""
    items = list(parsed)
    records = tuple(item for item in items if isinstance(item, Record))
    reasons = [
        item.reason if isinstance(item, ParseProblem) else "a withdrawn citation"
        for item in items
        if not isinstance(item, Record)
    ]
    if reasons or not records:
        said = f"{len(reasons)} of its citations cannot be used ({reasons[0]})" if reasons else "it holds no citation"
        raise InvalidInput(f"{name}: {said}", "Fetch the file again from PubMed.")
    return records
