"""Where the words of a query stand in a record, and the sentence that shows most of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from medcite_core.index.filter_keys import folded
from medcite_core.sentences import sentence_spans
from medcite_core.stemming import stem, stems_with_spans
from medcite_core.types import Record, Section, Span
from medcite_middleware.retrieval.query import content_words


@dataclass(frozen=True, slots=True)
class Highlights:
    """`matches` slice `Record.text` to words of the query in any of their endings; `snippet` slices it to a sentence.

    Without a match the snippet is the first sentence of the abstract, or the title.
    """

    matches: tuple[Span, ...]
    snippet: Span


def query_stems(query: str) -> frozenset[str]:
    """The stems of a query's content words, without accents; none for a blank query."""
    return frozenset(content_words(folded(query)))


def highlight(record: Record, stems: frozenset[str]) -> Highlights:
    """Find `stems` (from `query_stems`) in `record`."""
    found = [(word, span) for word, span in _stems_of(record.text) if word in stems] if stems else []
    return Highlights(tuple(span for _, span in found), _snippet(record, found))


def _stems_of(text: str) -> Iterator[tuple[str, Span]]:
    # Accents go word by word, so that places stay those of the text.
    return ((stem(folded(span.of(text))), span) for _, span in stems_with_spans(text))


def _snippet(record: Record, found: Sequence[tuple[str, Span]]) -> Span:
    # Only the section with most of the words is cut into sentences: that is what takes the time.
    sections = sorted(record.sections, key=lambda section: (-_held(found, section.span), section.kind == "title"))
    if not sections:
        return Span(0, 0)
    section = sections[0]
    sentences = _sentences(section) or [section.span]
    return max(sentences, key=lambda span: (_held(found, span), -span.start))


def _sentences(section: Section) -> list[Span]:
    start = section.span.start
    return [Span(start + span.start, start + span.end) for span in sentence_spans(section.text)]


def _held(found: Sequence[tuple[str, Span]], span: Span) -> int:
    """How many different words of the query stand in `span`."""
    return len({word for word, place in found if span.contains(place)})
