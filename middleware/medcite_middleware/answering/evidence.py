"""From found passages to numbered evidence: whole sentences of one section, overlaps merged, no gaps in the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from medcite_core.sentences import sentence_spans
from medcite_core.types import Evidence, Passage, Section, Span


def select_evidence(passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Evidence 1…n in the order of the passages, each widened to the sentences of its section that it touches.

    Passages of one section that overlap, once widened, become one piece of evidence with the rank, score and chunk id
    of the best of them. `evidence.record.text[evidence.span] == evidence.text`, and no span leaves its section.
    """
    groups: list[tuple[Passage, Section, Span]] = []
    for passage in passages:
        for section in passage.record.sections:
            if section.span.overlaps(passage.chunk.span):
                groups = _merged([*groups, (passage, section, _widened(passage.chunk.span, section))])
    return tuple(
        Evidence(
            number=number,
            record=passage.record,
            chunk_id=passage.chunk.id,
            section=section.label or section.kind,
            span=span,
            text=span.of(passage.record.text),
            score=passage.score,
        )
        for number, (passage, section, span) in enumerate(groups, start=1)
    )


def _widened(span: Span, section: Section) -> Span:
    """The sentences of `section` that share a character with `span`, as one span of the record's text."""
    sentences = [Span(section.span.start + s.start, section.span.start + s.end) for s in sentence_spans(section.text)]
    touched = [sentence for sentence in sentences if sentence.overlaps(span)]
    if not touched:
        return Span(max(span.start, section.span.start), min(span.end, section.span.end))
    return Span(touched[0].start, touched[-1].end)


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
