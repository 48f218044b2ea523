"""CSL-JSON, the format of citation processors."""

from __future__ import annotations

import json
from typing import Any

from medcite_core.types import Author, PartialDate, Record
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


def csl_item(record: Record) -> dict[str, Any]:
    """The record as an item; its id is the PMID."""
    pages = full_pages(record)
    notes = notices_in_words(record)
    item: dict[str, Any] = {
        "id": record.pmid,
        "type": _type_of(record),
        "title": reference_title(record),
        "author": [_name(author) for author in record.authors],
        "container-title": one_line(record.journal),
        "container-title-short": one_line(record.journal_abbreviation),
        "volume": one_line(record.volume),
        "issue": one_line(record.issue),
        "page": pages.joined("-"),
        "number": pages.first if pages.is_article_number else "",
        "issued": _issued(record.date),
        "ISSN": one_line(record.issn),
        "DOI": one_line(record.doi),
        "PMID": record.pmid,
        "PMCID": record.pmcid,
        "URL": pubmed_url(record),
        "language": ", ".join(record.languages),
        "abstract": abstract_text(record),
        "keyword": "; ".join(subjects(record)),
        "genre": "; ".join(record.publication_types),
        "status": record.status if record.status != "no_notice" else "",
        "note": "; ".join(notes),
    }
    return {name: value for name, value in item.items() if value}


def csl_text(record: Record) -> str:
    """The record as JSON on one line, without the comma that a list needs."""
    return json.dumps(csl_item(record), ensure_ascii=False)


def _type_of(record: Record) -> str:
    if not record.is_book:
        return "article-journal"
    return "chapter" if record.journal else "book"


def _name(author: Author) -> dict[str, str]:
    if author.collective_name:
        return {"literal": one_line(author.collective_name)}
    given = given_names(author)
    if not given:
        return {"literal": one_line(author.last_name)}
    return {"family": one_line(author.last_name), "given": given}


def _issued(date: PartialDate) -> dict[str, Any]:
    if date.year is None:
        return {"literal": one_line(date.raw)} if date.raw else {}
    parts = [date.year]
    if date.month:
        parts += [date.month, date.day] if date.day else [date.month]
    return {"date-parts": [parts]}
