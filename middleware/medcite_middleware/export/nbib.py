"""NBIB, PubMed's own MEDLINE format: tags in four columns, prose wrapped under six spaces."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from medcite_core.types import Author, NoticeKind, Record
from medcite_middleware.export.fields import abstract_text, given_names, marked_title, mesh_terms, one_line

WIDTH = 87
"""Columns of a line, as PubMed has them."""
_PROSE = frozenset({"TI", "BTI", "AB", "TT", "SO"})
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
# NLM, "MEDLINE/PubMed data element (field) descriptions": tags of comments and corrections.
_NOTICE_TAGS: dict[NoticeKind, str] = {
    "retracted": "RIN",
    "partially_retracted": "PRIN",
    "retraction_notice": "ROF",
    "expression_of_concern": "ECI",
    "expression_of_concern_notice": "ECF",
    "corrected": "EIN",
    "correction_notice": "EFR",
    "updated": "UIN",
    "update_of": "UOF",
    "commented": "CIN",
    "comment_on": "CON",
}


def nbib_text(record: Record) -> str:
    """One record and the blank line that ends it."""
    return "".join(f"{_field(tag, value)}\n" for tag, value in _fields(record) if value) + "\n"


def _field(tag: str, value: str) -> str:
    # Only prose is wrapped: some readers make two headings, or two groups, of one that is (FR-048).
    if tag not in _PROSE:
        return f"{tag:<4}- {value}"
    # Words are never cut: readers join lines with a space.
    return textwrap.fill(
        value,
        WIDTH,
        initial_indent=f"{tag:<4}- ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fields(record: Record) -> Iterator[tuple[str, str]]:
    yield "PMID", record.pmid
    yield "LR", record.date_revised.iso().replace("-", "") if record.date_revised.day else ""
    yield "IS", f"{one_line(record.issn)} ({record.issn_kind})" if record.issn else ""
    yield "VI", one_line(record.volume)
    yield "IP", one_line(record.issue)
    yield "DP", one_line(record.date.raw) or _date(record)
    yield "BTI" if record.is_book and not record.journal else "TI", marked_title(record)
    yield "PG", one_line(record.pages)
    yield "LID", f"{one_line(record.doi)} [doi]" if record.doi else ""
    yield "AB", abstract_text(record)
    for author in record.authors:
        yield from _author(author)
    for language in record.languages:
        yield "LA", one_line(language)
    for kind in _publication_types(record):
        yield "PT", one_line(kind)
    yield "TT", one_line(record.vernacular_title)
    if record.is_book:
        yield "BTI", one_line(record.journal)
    else:
        yield "TA", one_line(record.journal_abbreviation).replace(".", "")
        yield "JT", one_line(record.journal)
    for notice in record.notices:
        place = one_line(notice.reference)
        yield _NOTICE_TAGS[notice.kind], f"{place} PMID: {notice.pmid}".strip() if notice.pmid else place
    for term in mesh_terms(record):
        yield "MH", term
    yield "PMC", record.pmcid
    for word in record.keywords:
        yield "OT", one_line(word)
    yield "AID", f"{one_line(record.doi)} [doi]" if record.doi else ""
    yield "SO", _source(record)


def _author(author: Author) -> Iterator[tuple[str, str]]:
    if author.collective_name:
        yield "CN", one_line(author.collective_name)
        return
    yield "FAU", ", ".join(filter(None, (one_line(author.last_name), given_names(author))))
    yield "AU", one_line(author.display())


def _publication_types(record: Record) -> list[str]:
    types = list(record.publication_types)
    if record.status == "retracted" and "Retracted Publication" not in types:
        types.append("Retracted Publication")
    return types


def _date(record: Record) -> str:
    date = record.date
    if date.year is None:
        return ""
    month = _MONTHS[date.month - 1] if date.month else ""
    return " ".join(filter(None, (str(date.year), month, str(date.day) if date.day and month else "")))


def _source(record: Record) -> str:
    """`Brain Dev. 2019 Mar;3(2):1338-46.`, without signs for what is missing (FR-253)."""
    journal = one_line(record.journal_abbreviation or record.journal).rstrip(".")
    date = one_line(record.date.raw) or _date(record)
    issue = f"{one_line(record.volume)}({one_line(record.issue)})" if record.issue else one_line(record.volume)
    place = ":".join(filter(None, (issue, one_line(record.pages))))
    when = ";".join(filter(None, (date, place)))
    doi = f"doi: {one_line(record.doi)}" if record.doi else ""
    return " ".join(f"{part}." for part in (journal, when, doi) if part)
