"""Reads files that are checked against: plain text, Markdown, and PubMed's XML. The format is told by content."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Sequence

from medcite_core.errors import InvalidInput
from medcite_core.plain_documents import text_document
from medcite_core.types import Record, Source
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

MAX_FILE_BYTES = 20_000_000
_NOT_YET = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a Word, spreadsheet or zip file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"{\\rtf": "an RTF file",
}
_MEDLINE = re.compile(rb"^\s*PMID- ?\d", re.MULTILINE)


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
            return _records(name, content)
        if _MEDLINE.search(content[:4096]):
            raise InvalidInput(f"{name} is MEDLINE text, which cannot be read yet", "Save it from PubMed as XML.")
        return (text_document(name, decoded(name, content), hashlib.sha256(content).hexdigest()),)


def decoded(name: str, content: bytes) -> str:
    """The text of a file: UTF-8 if it is, else what its byte order mark or its letters say.

    Raises:
        InvalidInput: it is no text.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content[:1_000_000]).best()
        if best is None or b"\x00" in content[:100_000]:
            raise InvalidInput(f"{name} is not a text file", "Give plain text, Markdown or PubMed XML.") from None
        return content.decode(best.encoding, "replace")
    if text.count("\x00") > len(text) // 100:
        raise InvalidInput(f"{name} is not a text file", "Give plain text, Markdown or PubMed XML.")
    return text


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


def _records(name: str, content: bytes) -> tuple[Record, ...]:
    items = list(parse_pubmed_xml(io.BytesIO(content), name))
    records = tuple(item for item in items if isinstance(item, Record))
    problems = [item for item in items if not isinstance(item, Record)]
    reasons = [getattr(problem, "reason", "a withdrawn citation") for problem in problems]
    if reasons or not records:
        said = f"{len(reasons)} of its citations cannot be used ({reasons[0]})" if reasons else "it holds no citation"
        raise InvalidInput(f"{name}: {said}", "Fetch the file again from PubMed.")
    return records
