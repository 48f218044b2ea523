"""Short forms that a text defines itself, "hematoma volume (HV)", with exact spans.

The rule is that of A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in
biomedical text", Pacific Symposium on Biocomputing 2003: the letters of the short form are looked for in the words
beside the bracket, from the last to the first, and the first one must begin a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from medcite_core.types import Span

MAX_SHORT = 10
"""Characters of a short form, at most."""

_BRACKET = re.compile(r"[(\[](?P<inside>[^()\[\]\n]{2,200})[)\]]")
# Behind the first of these a bracket holds something else: "(HV; mL)", "(OR, 1.2)".
_NEXT_ITEM = re.compile(r"[;,:]\s|\s=\s")
_SHORT = re.compile(r"[^\W_][\w.+/'’*-]*(?: [^\W_][\w.+/'’*-]*)?")
_WORD = re.compile(r"\S+")
# A definition does not reach over the end of a sentence or into the bracket before.
_STOPS = re.compile(r"[.!?;]\s+(?=[A-Z0-9(])|[()\[\]]")
_ROMAN = re.compile(r"[IVX]{2,}")
_QUOTES = "\"'“”‘’ "


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form and what it stands for; both spans slice the text: `text[short_span] == short`."""

    short: str
    long: str
    short_span: Span
    long_span: Span


@lru_cache(maxsize=2048)  # the same abstracts are read for every sentence of an answer
def abbreviations(text: str) -> tuple[Abbreviation, ...]:
    """The short forms that `text` defines, "long (SHORT)" or "SHORT (long)", in the order of their brackets.

    Only what the text itself spells out counts. A short form has 2 to 10 characters, a capital letter, and its letters
    stand in the long form in the same order.
    """
    found = []
    for bracket in _BRACKET.finditer(text):
        inside = _stripped(text, *bracket.span("inside"))
        definition = _short_inside(text, inside, bracket.start()) or _long_inside(text, inside, bracket.start())
        if definition is not None:
            found.append(definition)
    return tuple(found)


def _short_inside(text: str, inside: Span, bracket: int) -> Abbreviation | None:
    """ "hematoma volume (HV)": the last words before the bracket, as few as the letters need."""
    item = _NEXT_ITEM.search(text, inside.start, inside.end)
    short_span = _stripped(text, inside.start, item.start() if item else inside.end)
    short = short_span.of(text)
    if not _is_short(short):
        return None
    before = _clause_before(text, bracket)
    words = list(_WORD.finditer(text, before.start, before.end))[-_most_words(short) :]
    if not words:
        return None
    return _defined(text, short_span, Span(words[0].start(), words[-1].end()))


def _long_inside(text: str, inside: Span, bracket: int) -> Abbreviation | None:
    """ "HV (hematoma volume)": the whole bracket, or its first item, for the word before it."""
    before = _clause_before(text, bracket)
    words = list(_WORD.finditer(text, before.start, before.end))
    if not words:
        return None
    short_span = _stripped(text, *words[-1].span())
    if not _is_short(short_span.of(text)):
        return None
    for end in _ends(text, inside):
        definition = _defined(text, short_span, Span(inside.start, end))
        # The bracket explains the word as a whole: words before the first letter would be another matter.
        if (
            definition is not None
            and definition.long_span.start == inside.start
            and len(definition.long.split()) <= _most_words(definition.short)
        ):
            return definition
    return None


def _ends(text: str, inside: Span) -> Iterator[int]:
    yield inside.end
    item = _NEXT_ITEM.search(text, inside.start, inside.end)
    if item:
        yield item.start()


def _clause_before(text: str, bracket: int) -> Span:
    start = text.rfind("\n", 0, bracket) + 1
    for stop in _STOPS.finditer(text, start, bracket):
        start = stop.end()
    return Span(start, bracket)


def _is_short(candidate: str) -> bool:
    return (
        2 <= len(candidate) <= MAX_SHORT
        and _SHORT.fullmatch(candidate) is not None
        and any(char.isupper() for char in candidate)
        and _ROMAN.fullmatch(candidate) is None
    )


def _most_words(short: str) -> int:
    return min(len(short) + 5, 2 * len(short))


def _defined(text: str, short_span: Span, where: Span) -> Abbreviation | None:
    """The definition whose long form ends where `where` does, if the letters are found in it."""
    short = short_span.of(text)
    start = _long_start(short, where.of(text))
    if start is None:
        return None
    long_span = Span(where.start + start, where.end)
    long = long_span.of(text)
    # Words that only repeat the short form ("the HV group (HV)") define nothing.
    if len(long) <= len(short) or short.casefold() in (word.casefold() for word in re.split(r"[\s-]+", long)):
        return None
    return Abbreviation(short, long, short_span, long_span)


def _long_start(short: str, words: str) -> int | None:
    """Where the long form begins in `words`, which it ends; None when a letter is not there."""
    place = len(words)
    letters = [place for place, char in enumerate(short) if char.isalnum()]
    for letter in reversed(letters):
        wanted = short[letter].casefold()
        place -= 1
        while place >= 0 and not (
            words[place].casefold() == wanted and (letter != letters[0] or _begins_word(words, place))
        ):
            place -= 1
        if place < 0:
            return None
    # The whole word, with what a hyphen joins to it: "anti-tumor necrosis factor" is one name.
    return words.rfind(" ", 0, place) + 1


def _begins_word(words: str, place: int) -> bool:
    return place == 0 or not words[place - 1].isalnum()


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip(_QUOTES))
    return Span(start + left, max(start + left, end - (len(piece) - len(piece.rstrip(_QUOTES)))))
