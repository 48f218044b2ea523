"""Reads MEDLINE text (`.nbib`, PubMed's "PubMed" format) as records, whole or with the reason why not.

Own code because the kept readers lose words: Biopython fails at a blank line in an abstract and merges records without
one between them, nbib drops the rest of such an abstract and cuts a heading where its line wraps (FR-047, FR-048).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from medcite_core.types import (
    Author,
    MeshHeading,
    Notice,
    NoticeKind,
    ParseProblem,
    PartialDate,
    Provenance,
    Record,
    assemble_text,
)
from medcite_ingestion.citation import NO_TITLE
from medcite_ingestion.citation_date import date_from_words

_FIELD = re.compile(r"([A-Z][A-Z0-9 ]{3})-(?: (.*))?")
_PMID_AT_END = re.compile(r"\s*PMID:\s*(\d{1,9})\.?\s*$")
_DOI = re.compile(r"(\S+) \[doi\]")
# NLM, "MEDLINE/PubMed data element (field) descriptions": tags of comments and corrections.
_NOTICES: dict[str, NoticeKind] = {
    "RIN": "retracted",
    "PRIN": "partially_retracted",
    "ROF": "retraction_notice",
    "PROF": "retraction_notice",
    "ECI": "expression_of_concern",
    "ECF": "expression_of_concern_notice",
    "EIN": "corrected",
    "CRI": "corrected",
    "RPI": "corrected",
    "EFR": "correction_notice",
    "CRF": "correction_notice",
    "RPF": "correction_notice",
    "UIN": "updated",
    "UOF": "update_of",
    "CIN": "commented",
    "CON": "comment_on",
}
Fields = list[tuple[str, str]]


def parse_medline_text(text: str, file_name: str, sha256: str) -> Iterator[Record | ParseProblem]:
    """Every citation of a MEDLINE text, in order; each begins with its PMID, with or without a blank line before it."""
    for position, (fields, problem) in enumerate(_citations(text)):
        pmid = dict(reversed(fields)).get("PMID", "")
        if not problem and not (pmid.isascii() and pmid.isdigit() and len(pmid) <= 9):
            problem = f"{pmid[:40]!r} is not a PMID"
        if problem:
            yield ParseProblem(file_name, position, pmid, problem)
        else:
            yield _record(pmid, fields, Provenance(file_name, sha256, position))


def _citations(text: str) -> Iterator[tuple[Fields, str]]:
    """The fields of each citation, and what is wrong with it, empty if nothing is."""
    fields: Fields = []
    problem = ""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        match = _FIELD.fullmatch(line.rstrip())
        if match:
            tag, value = match[1].strip(), (match[2] or "").strip()
            if tag == "PMID" and fields:
                yield fields, problem
                fields, problem = [], ""
            fields.append((tag, value))
        elif line.startswith("      ") and fields:
            tag, value = fields[-1]
            fields[-1] = tag, f"{value} {line.strip()}".strip()
        else:
            problem = problem or f"line {number} belongs to no field: {line.strip()[:60]!r}"
    if fields or problem:
        yield fields, problem


def _record(pmid: str, fields: Fields, provenance: Provenance) -> Record:
    def every(tag: str) -> tuple[str, ...]:
        return tuple(value for name, value in fields if name == tag and value)

    def first(*tags: str) -> str:
        return next((values[0] for tag in tags if (values := every(tag))), "")

    is_book = not first("TI") and bool(first("BTI"))
    title = first("TI", "BTI", "TT") or NO_TITLE
    text, sections = assemble_text(title, [("", "", abstract) for abstract in every("AB")])
    dois = [found[1] for tag in ("LID", "AID") for value in every(tag) if (found := _DOI.fullmatch(value))]
    return Record(
        pmid=pmid,
        version=1,
        title=title,
        sections=sections,
        text=text,
        authors=tuple(_authors(fields)),
        journal=first("JT", "TA"),
        journal_abbreviation=first("TA"),
        volume=first("VI"),
        issue=first("IP"),
        pages=first("PG"),
        date=date_from_words(first("DP")) if first("DP") else PartialDate(),
        publication_types=every("PT"),
        mesh_headings=tuple(map(_heading, every("MH"))),
        keywords=tuple(word.removeprefix("*") for word in every("OT")),
        doi=dois[0] if dois else "",
        pmcid=first("PMC"),
        languages=every("LA"),
        vernacular_title=first("TT"),
        notices=tuple(_notice(_NOTICES[tag], value) for tag, value in fields if tag in _NOTICES and value),
        is_book=is_book,
        provenance=provenance,
    )


def _authors(fields: Fields) -> Iterator[Author]:
    """Full names where they are given, with the initials of the short form that follows; else the short forms."""
    short = [value for tag, value in fields if tag == "AU"]
    has_full = any(tag == "FAU" for tag, _ in fields)
    full = 0
    for tag, value in fields:
        if tag == "CN":
            yield Author(collective_name=value)
        elif tag == "FAU":
            last, _, fore = value.partition(", ")
            initials = short[full].removeprefix(last).strip() if full < len(short) else ""
            full += 1
            yield Author(last_name=last, fore_name=fore, initials=initials)
        elif tag == "AU" and not has_full:
            last, _, initials = value.rpartition(" ")
            yield Author(last_name=last or initials, initials=initials if last else "")


def _heading(value: str) -> MeshHeading:
    descriptor, *qualifiers = value.split("/")
    return MeshHeading(
        descriptor.removeprefix("*"), qualifiers=tuple(q.removeprefix("*") for q in qualifiers), is_major="*" in value
    )


def _notice(kind: NoticeKind, value: str) -> Notice:
    found = _PMID_AT_END.search(value)
    return Notice(kind, found[1], value[: found.start()]) if found else Notice(kind, "", value)
