"""Finding quoted words in a source and cutting them out of it: what is shown is always the source's own characters."""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz import fuzz

from medcite_core.types import Span
from medcite_middleware.verification.claims import without_marks
from medcite_middleware.verification.comparison import compare

_DASHES = "‐‑‒–—―−"
_QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "′": "'"}
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def quoted_words(claim_text: str) -> str:
    """The words between the first opening and the last closing quotation mark; the whole claim when there are none."""
    match = re.search(r"[“\"](.*)[”\"]", claim_text, re.DOTALL)
    return match.group(1).strip() if match else without_marks(claim_text)


def find_quote(words: str, source: str, threshold: float = 90.0) -> Span | None:
    """Where `words` stand in `source`, or None.

    Tries them as they are, then without differences of typography (white space, dashes, quotation marks, ligatures,
    hyphenation at line ends), then aligned by rapidfuzz at `threshold` (0..100). The last is accepted only when no
    number, negation or other word differs: a score says that texts are alike, not that they say the same.
    """
    if not words.strip():
        return None
    at = _whole_match(words, source)
    if at >= 0:
        return Span(at, at + len(words))
    plain_words, _ = normalised(words)
    plain_source, places = normalised(source)
    plain_words = plain_words.strip()
    at = _whole_match(plain_words, plain_source)
    if at >= 0:
        return Span(places[at], places[at + len(plain_words) - 1] + 1)
    aligned = fuzz.partial_ratio_alignment(plain_words, plain_source, score_cutoff=threshold)
    if aligned is None or len(plain_words) > len(plain_source) or aligned.dest_start == aligned.dest_end:
        return None
    span = _whole_words(source, places[aligned.dest_start], places[aligned.dest_end - 1] + 1)
    return span if compare(words, span.of(source)).difference == "none" else None


def normalised(text: str) -> tuple[str, list[int]]:
    """`text` without differences of typography, and the place in `text` of each of its characters."""
    characters: list[str] = []
    places: list[int] = []
    index = 0
    while index < len(text):
        character = text[index]
        if character in _INVISIBLE:
            index += 1
            continue
        hyphenated = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])").match(text, index)
        if hyphenated:
            index = hyphenated.end()
            continue
        if character.isspace():
            if characters and characters[-1] != " ":
                characters.append(" ")
                places.append(index)
            index += 1
            continue
        plain = "-" if character in _DASHES else _QUOTES.get(character) or _compatible(character)
        for piece in plain.casefold():
            characters.append(piece)
            places.append(index)
        index += 1
    return "".join(characters), places


def _whole_match(words: str, text: str) -> int:
    """Where `words` stand in `text` as whole words; -1 if nowhere. "effective" is not found in "ineffective"."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        starts_inside = at > 0 and text[at - 1].isalnum() and words[0].isalnum()
        ends_inside = end < len(text) and text[end].isalnum() and words[-1].isalnum()
        if not starts_inside and not ends_inside:
            return at
        at = text.find(words, at + 1)
    return -1


def _compatible(character: str) -> str:
    # Superscripts are kept: folding 10⁶ to 106 would change a number.
    if unicodedata.decomposition(character).startswith("<super>"):
        return character
    return unicodedata.normalize("NFKC", character)


def _whole_words(source: str, start: int, end: int) -> Span:
    while start > 0 and source[start - 1].isalnum() and source[start].isalnum():
        start -= 1
    while end < len(source) and source[end - 1].isalnum() and source[end].isalnum():
        end += 1
    return Span(start, end)
