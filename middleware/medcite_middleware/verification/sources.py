"""Reading a source sentence by sentence: which of them state something, and how one is cut out as a proof."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from medcite_core.answers import QuoteProof
from medcite_core.documents import Document
from medcite_core.sentences import sentence_spans
from medcite_core.types import Evidence, Source, Span

_AIM_WORDS = re.compile(
    r"^(?:to|in order to)\b|^(?:we|this|the|our|here|it)\b.*\b(?:aim\w*|objective\w*|purpose\w*|goal\w*|investigat\w+|"
    r"determin\w+|evaluat\w+|assess\w*|examin\w+|stud\w+|explor\w+|test\w*|compar\w+|whether|hypothes\w+|describ\w+|"
    r"review\w*|analy\w+|sought|unknown|unclear)\b",
    re.IGNORECASE,
)


def source_sentences(source: Source) -> Iterator[Span]:
    """The sentences of a source's title and sections, as spans of its text; none crosses a section."""
    for section in source.sections:
        for span in sentence_spans(section.text):
            yield Span(section.span.start + span.start, section.span.start + span.end)


def states(evidence: Evidence, span: Span) -> bool:
    """Whether a sentence of a source states something: not in a hypothesis or question, nor a bare aim.

    Under OBJECTIVE stands what was asked ("Zetamab reduces mortality"?), unless the sentence itself says that it is an
    aim ("To determine whether …"). A title that asks states nothing.
    """
    source = evidence.source
    section = source.section_at(span.start)
    if section is None:
        return True
    if section.kind == "title":
        return "?" not in section.text
    heading = f"{section.label} {section.nlm_category}".upper()
    if any(word in heading for word in ("HYPOTHES", "QUESTION")):
        return False
    is_aim = any(word in heading for word in ("OBJECTIVE", "AIM", "PURPOSE", "GOAL"))
    return not is_aim or bool(_AIM_WORDS.search(span.of(source.text)))


def quote_proof(evidence: Evidence, span: Span, shows: Literal["supports", "contradicts", "closest"]) -> QuoteProof:
    """The words of a source at `span`, as a proof."""
    source = evidence.source
    section = source.section_at(span.start)
    is_document = isinstance(source, Document)
    return QuoteProof(
        "" if is_document else source.source_id,
        span,
        span.of(source.text),
        section.label if section else "",
        shows,
        evidence.number,
        source.source_id if is_document else "",
        source.page_at(span.start) if isinstance(source, Document) else None,
    )
