"""CSV for spreadsheets: one row a record, no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

from medcite_core.types import Record
from medcite_middleware.export.fields import abstract_text, full_pages, notices_in_words, one_line, pubmed_url

COLUMNS = (
    "pmid title authors journal journal_abbreviation year date volume issue pages pages_full doi pmcid status notices "
    "publication_types languages keywords mesh_headings abstract issn url"
).split()
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel takes UTF-8 for another encoding, and é for two signs."""


def csv_head() -> str:
    """What a file begins with."""
    return BYTE_ORDER_MARK + _line(COLUMNS)


def csv_text(record: Record) -> str:
    """The record's row. Values of a list are parted by `; `."""
    cells = {
        "pmid": record.pmid,
        "title": record.title,
        "authors": "; ".join(author.display() for author in record.authors),
        "journal": record.journal,
        "journal_abbreviation": record.journal_abbreviation,
        "year": str(record.year or ""),
        "date": record.date.iso(),
        "volume": record.volume,
        "issue": record.issue,
        "pages": record.pages,
        "pages_full": full_pages(record).joined("-"),
        "doi": record.doi,
        "pmcid": record.pmcid,
        "status": record.status,
        "notices": "; ".join(notices_in_words(record)),
        "publication_types": "; ".join(record.publication_types),
        "languages": "; ".join(record.languages),
        "keywords": "; ".join(record.keywords),
        "mesh_headings": "; ".join(heading.descriptor for heading in record.mesh_headings),
        "abstract": abstract_text(record),
        "issn": record.issn,
        "url": pubmed_url(record),
    }
    return _line([harmless(cells[name]) for name in COLUMNS])


def harmless(text: str) -> str:
    """`text` on one line; an apostrophe before what a spreadsheet would take for a formula."""
    line = one_line(text)
    visible = line.lstrip("\u200b\u200c\u200d\u2060\ufeff\u00ad \u00a0")
    starts_one = visible.startswith(_FORMULA_STARTS) or text.lstrip(" \n\u00a0").startswith(_FORMULA_STARTS)
    return f"'{line}" if starts_one else line


def _line(cells: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()
