"""Small records, passages and evidence for tests of what comes after the index."""

from __future__ import annotations

from collections.abc import Sequence

from medcite_core.chunking import chunk_record
from medcite_core.settings import IndexSettings
from medcite_core.types import Author, Evidence, Notice, PartialDate, Passage, Record, assemble_text

DEFAULT_PARTS = (("", "", "Drug A lowered blood pressure by 5 mmHg. No serious harm was seen."),)


def a_record(
    pmid: str = "100",
    title: str = "Drug A in hypertension.",
    parts: Sequence[tuple[str, str, str]] = DEFAULT_PARTS,
    *,
    year: int | None = 2019,
    author: str = "Doe",
    notices: tuple[Notice, ...] = (),
    doi: str = "",
    pmcid: str = "",
) -> Record:
    """A record; `parts` are (label, NLM category, text)."""
    text, sections = assemble_text(title, list(parts))
    return Record(
        pmid=pmid,
        version=1,
        title=title,
        sections=sections,
        text=text,
        authors=(Author(last_name=author, initials="A"),),
        date=PartialDate(year=year),
        notices=notices,
        doi=doi,
        pmcid=pmcid,
    )


def passages_of(record: Record, *, chunk_size: int = 500, score: float = 0.9) -> tuple[Passage, ...]:
    """All chunks of a record as found passages, each a little weaker than the one before."""
    settings = IndexSettings(chunk_size=chunk_size, chunk_overlap=chunk_size * 2 // 5)
    return tuple(Passage(chunk, record, score=score - 0.01 * chunk.ordinal) for chunk in chunk_record(record, settings))


def evidence_of(*records: Record) -> tuple[Evidence, ...]:
    """One piece of evidence for each section of the abstract of each record, numbered."""
    sections = [(record, section) for record in records for section in record.sections if section.kind == "abstract"]
    return tuple(
        Evidence(
            number=number,
            source=record,
            chunk_id=f"{record.pmid}:{section.span.start}-{section.span.end}",
            section=section.label or section.kind,
            span=section.span,
            text=section.text,
            score=0.9,
        )
        for number, (record, section) in enumerate(sections, start=1)
    )
