"""RIS, written by rispy: TY first, ER last, one value a line."""

from __future__ import annotations

from typing import Any

import rispy

from medcite_core.types import Author, Record
from medcite_middleware.export.fields import (
    abstract_text,
    full_pages,
    given_names,
    notices_in_words,
    one_line,
    pubmed_url,
    reference_title,
    subjects,
)


class _Writer(rispy.RisWriter):  # type: ignore[misc]
    """rispy's writer without its numbers between records, which are no RIS lines."""

    SEPARATOR = None

    def set_header(self, count: int) -> str:
        del count
        return ""


def ris_text(record: Record) -> str:
    """One record, from `TY` to `ER` and a blank line."""
    return str(rispy.dumps([_reference(record)], implementation=_Writer)) + "\n"


def _reference(record: Record) -> dict[str, Any]:
    pages = full_pages(record)
    date = record.date
    fields: dict[str, Any] = {
        "type_of_reference": _type_of(record),
        "title": reference_title(record),
        "authors": [_name(author) for author in record.authors],
        "secondary_title": one_line(record.journal),
        "alternate_title1": one_line(record.journal_abbreviation),
        "year": str(date.year) if date.year else "",
        "date": _date(record),
        "volume": one_line(record.volume),
        "number": one_line(record.issue),
        "start_page": pages.first,
        "end_page": pages.last,
        "custom7": pages.first if pages.is_article_number else "",
        "issn": one_line(record.issn),
        "doi": one_line(record.doi),
        "accession_number": record.pmid,
        "custom2": record.pmcid,
        "name_of_database": "PubMed",
        "language": ", ".join(record.languages),
        "abstract": abstract_text(record),
        "keywords": subjects(record),
        "notes": [*notices_in_words(record), *_types_note(record), f"PMID: {record.pmid}"],
        "urls": [pubmed_url(record)],
    }
    return {name: value for name, value in fields.items() if value}


def _type_of(record: Record) -> str:
    if not record.is_book:
        return "JOUR"
    return "CHAP" if record.journal else "BOOK"


def _types_note(record: Record) -> list[str]:
    return [f"Publication type: {'; '.join(record.publication_types)}"] if record.publication_types else []


def _name(author: Author) -> str:
    if author.collective_name:
        return one_line(author.collective_name)
    return ", ".join(filter(None, (one_line(author.last_name), given_names(author))))


def _date(record: Record) -> str:
    """`2019/03/01/`, with empty places for what is not known."""
    date = record.date
    if date.year is None:
        return ""
    return f"{date.year:04d}/{date.month or 0:02d}/{date.day or 0:02d}/".replace("/00", "/")
