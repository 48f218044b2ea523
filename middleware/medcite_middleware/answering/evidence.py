"""From found passages to numbered evidence: whole sentences of one section, overlaps merged, no gaps in the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from medcite_core.sentences import sentence_spans
from medcite_core.types import Evidence, Passage, Record, Section, Span
from medcite_middleware.answering.sentence_kinds import part_of

_ENDING_CHARS = 700


def select_evidence(passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Evidence 1…n in the order of the passages, each widened to the sentences of its section that it touches.

    Passages of one section that overlap, once widened, become one piece of evidence with the rank, score and chunk id
    of the best of them. `evidence.record.text[evidence.span] == evidence.text`, and no span leaves its section.

    A title names what a record is about and proves nothing: a record found by its title brings the end of its
    conclusions (or results) instead, under the chunk id of the title; the title itself only when it has no abstract.
    """
    groups: list[tuple[Passage, Section, Span]] = []
    for passage in passages:
        for section in passage.record.sections:
            if not section.span.overlaps(passage.chunk.span):
                continue
            ending = _telling_section(passage.record) if section.kind == "title" else None
            if ending is not None:
                groups = _merged([*groups, (passage, ending, _last_sentences(ending))])
            else:
                groups = _merged([*groups, (passage, section, _widened(passage.chunk.span, section))])
    return tuple(
        Evidence(
            number=number,
            source=passage.record,
            chunk_id=passage.chunk.id,
            section=section.label or section.kind,
            span=span,
            text=span.of(passage.record.text),
            score=passage.score,
        )
        for number, (passage, section, span) in enumerate(groups, start=1)
    )


def _telling_section(record: Record) -> Section | None:
    """The section in which an abstract says what was found; None without an abstract."""
    abstract = [section for section in record.sections if section.kind == "abstract"]
    for wanted in ("CONCLUSIONS", "RESULTS"):
        for section in reversed(abstract):
            if part_of(section, len(section.text)) == wanted:
                return section
    return abstract[-1] if abstract else None


def _last_sentences(section: Section) -> Span:
    """The sentences that end a section, about as many as a chunk holds; at least one."""
    sentences = _sentences(section)
    fitting = [s for s in sentences if sentences[-1].end - s.start <= _ENDING_CHARS] or sentences[-1:]
    return Span(fitting[0].start, fitting[-1].end) if fitting else section.span


def _widened(span: Span, section: Section) -> Span:
    """The sentences of `section` that share a character with `span`, as one span of the record's text."""
    sentences = _sentences(section)
    touched = [sentence for sentence in sentences if sentence.overlaps(span)]
    if not touched:
        return Span(max(span.start, section.span.start), min(span.end, section.span.end))
    return Span(touched[0].start, touched[-1].end)


def _sentences(section: Section) -> list[Span]:
    """The sentences of a section, as spans of the record's text."""
    return [Span(section.span.start + s.start, section.span.start + s.end) for s in sentence_spans(section.text)]


def _merged(groups: list[tuple[Passage, Section, Span]]) -> list[tuple[Passage, Section, Span]]:
    """`groups` with the last one joined to what it overlaps; it may bridge several that did not overlap before."""
    *before, (passage, section, span) = groups
    kept: list[tuple[Passage, Section, Span]] = []
    place = len(before)
    for other_passage, other_section, other in before:
        is_same_text = other_passage.record.pmid == passage.record.pmid and other_section.span == section.span
        if is_same_text and other.overlaps(span):
            if place == len(before):
                place, passage = len(kept), other_passage
            span = Span(min(span.start, other.start), max(span.end, other.end))
        else:
            kept.append((other_passage, other_section, other))
    kept.insert(min(place, len(kept)), (passage, section, span))
    return kept
