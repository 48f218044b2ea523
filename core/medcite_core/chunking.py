"""Cuts a record into chunks for the index: offsets exact, no section crossed, nothing left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from medcite_core.ports import EMBEDDING_TEMPLATE
from medcite_core.settings import IndexSettings
from medcite_core.types import Chunk, Record, Span

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

SEPARATORS = ("\n\n", "\n", " ", "")

# Stand-ins for visible characters: all code points from the first private-use one up, so none is white space.
_FIRST_STAND_IN = 0xE000
_WINDOW_CHARS = 0x110000 - _FIRST_STAND_IN


def chunk_record(record: Record, settings: IndexSettings) -> tuple[Chunk, ...]:
    """The chunks of a record, in text order; the title's come first. The same record always gives the same chunks.

    Every visible character of each section is in at least one chunk. A chunk has at most `chunk_size` characters; with
    a short tail merged into it at most `chunk_size + min_chunk_chars`.
    """
    chunks: list[Chunk] = []
    for section in record.sections:
        for span in chunk_spans(section.text, settings):
            place = Span(section.span.start + span.start, section.span.start + span.end)
            chunks.append(
                Chunk(
                    id=f"{record.pmid}:{place.start}-{place.end}",
                    pmid=record.pmid,
                    ordinal=len(chunks),
                    section=section.label or section.kind,
                    span=place,
                    text=place.of(record.text),
                )
            )
    return tuple(chunks)


def chunk_spans(text: str, settings: IndexSettings) -> tuple[Span, ...]:
    """Where LangChain's RecursiveCharacterTextSplitter cuts `text`, as exact spans, with short tails merged."""
    spans = [
        Span(base + span.start, base + span.end)
        for base in range(0, len(text), _WINDOW_CHARS)
        for span in _split(text[base : base + _WINDOW_CHARS], settings.chunk_size, settings.chunk_overlap)
    ]
    return tuple(_merge_short(spans, settings.chunk_size, settings.min_chunk_chars))


def embedding_texts(record: Record, chunks: Sequence[Chunk]) -> list[str]:
    """What is embedded for each chunk: the record's title, a line break, the chunk; a title chunk stands alone."""
    title_end = record.sections[0].span.end if record.sections and record.sections[0].kind == "title" else 0
    return [
        chunk.text if chunk.span.end <= title_end else EMBEDDING_TEMPLATE.format(title=record.title, chunk=chunk.text)
        for chunk in chunks
    ]


@cache
def _splitter(size: int, overlap: int) -> RecursiveCharacterTextSplitter:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, separators=list(SEPARATORS))


def _split(text: str, size: int, overlap: int) -> Iterator[Span]:
    """The splitter's own cuts, with offsets that cannot be wrong.

    The splitter returns strings, and looking for a string in a text that repeats itself may find the wrong place (its
    `add_start_index` does). It looks at white space and lengths only, so it is given a text in which each visible
    character is replaced by one that occurs nowhere else: a piece's first character then says where it stands.
    """
    marked = "".join(char if char.isspace() else chr(_FIRST_STAND_IN + offset) for offset, char in enumerate(text))
    for piece in _splitter(size, overlap).split_text(marked):
        # The splitter strips pieces, so that the first character is a visible one.
        start = ord(piece[0]) - _FIRST_STAND_IN
        yield Span(start, start + len(piece))


def _merge_short(spans: Sequence[Span], size: int, min_chars: int) -> list[Span]:
    """Joins a chunk that is short, or adds few characters to the one before it, with its neighbour.

    Only where the two stand close together, so that the joined one has at most `size + min_chars` characters. Chunks
    that lie wholly inside a neighbour, which the splitter can give at long runs without spaces, are left out.
    """
    merged: list[Span] = []
    for span in spans:
        if merged:
            last = merged[-1]
            if last.contains(span):
                continue
            if span.contains(last):
                merged[-1] = span
                continue
            adds_little = span.end - max(last.end, span.start) < min_chars
            last_is_short = last.end - last.start < min_chars
            if (adds_little or last_is_short) and span.end - last.start <= size + min_chars:
                merged[-1] = Span(last.start, max(last.end, span.end))
                continue
        merged.append(span)
    return merged
