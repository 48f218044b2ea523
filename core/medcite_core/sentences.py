"""Sentence boundaries as exact spans."""

from __future__ import annotations

import itertools
import re
from functools import cache, lru_cache
from typing import Any

from medcite_core.types import Span

# Ends that the segmenter takes for abbreviations: "(98 %). One patient", "between 0.86 and 0.91. Agreement".
_MISSED = re.compile(r"(?:[)\]]|\d\.\d+)\.\s+(?=[A-Z][a-z]+\s)")


@cache
def _segmenter() -> tuple[Any, Any]:
    from syntok import segmenter
    from syntok.tokenizer import Tokenizer

    return segmenter, Tokenizer(replace_not_contraction=False, emit_hyphen_or_underscore_sep=True)


@lru_cache(maxsize=2048)  # a checker reads the same abstracts for every claim
def sentence_spans(text: str) -> tuple[Span, ...]:
    """The sentences of `text`, in order, without the white space around them; every other character is in one.

    A line break ends a sentence: sections of a record and lines of an answer stand on lines of their own.
    Boundaries are those of `syntok`, a segmenter that keeps offsets.
    """
    spans: list[Span] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        spans.extend(_line_spans(line, offset))
        offset += len(line)
    return tuple(spans)


def _line_spans(line: str, offset: int) -> list[Span]:
    segmenter, tokenizer = _segmenter()
    body_start = len(line) - len(line.lstrip())
    body_end = len(line.rstrip())
    if body_start >= body_end:
        return []
    tokens = iter(list(tokenizer.tokenize(line)))
    starts = [sentence[0].offset for sentence in segmenter.segment(tokens) if sentence]
    starts = sorted({*starts[1:], *(m.end() for m in _MISSED.finditer(line))})
    cuts = [body_start]
    for start in starts:
        cut = _after_closing_quote(line, start)
        if cuts[-1] < cut < body_end and _is_boundary(line, cuts[-1], cut):
            cuts.append(cut)
    cuts.append(body_end)
    spans = []
    for start, end in itertools.pairwise(cuts):
        piece = line[start:end]
        left = start + len(piece) - len(piece.lstrip())
        right = start + len(piece.rstrip())
        if left < right:
            spans.append(Span(offset + left, offset + right))
    return spans


def _after_closing_quote(line: str, cut: int) -> int:
    # A closing quotation mark that follows the full stop belongs to the sentence it closes.
    if line[cut : cut + 1] in "”’»" or (line[cut : cut + 1] == '"' and line[cut + 1 : cut + 2].isspace()):
        return cut + 1
    return cut


def _is_boundary(line: str, start: int, cut: int) -> bool:
    """Whether the segmenter's cut can stand: not inside brackets, nor before a bracket with no full stop before it."""
    left = line[start:cut]
    if left.rstrip().endswith((";", "et al.")):
        return False
    if any(left.count(opening) > left.count(closing) for opening, closing in ("()", "[]")) and len(left) < 600:
        return False
    return line[cut] not in "([" or left.rstrip().endswith((".", "!", "?", ";", "”", '"', "]", ")"))
