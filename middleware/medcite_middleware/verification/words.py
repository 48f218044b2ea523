"""Words of a text with their places, in a normal form in which only differences of meaning remain."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from medcite_core.types import Span
from medcite_middleware.verification.vocabulary import NUMBER_WORDS

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_DASHES = "-‐‑‒–—―−"
_TOKEN = re.compile(
    rf"""
    (?P<power>[{_SUPERSCRIPTS}]+|\^\(?[-+]?\d+\)?)             # 10⁶ is 10 and a power, never 106
  | (?P<identifier>[^\W\d_]+[{_DASHES}]?\d[\w]*(?:[{_DASHES}]\d+)*)   # IL-6, CD4, COVID-19, p53
  | (?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:[.·]\d+)?|\.\d+)
  | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)
  | (?P<plusminus>\+/[{_DASHES}]|±)
  | (?P<sign>[<>≤≥=≦≧%‰$€£×*/+~≈:;,.()\[\]{_DASHES}])
  | (?P<other>[^\s\w])
    """,
    re.VERBOSE,
)
_CONTRACTED_NOT = re.compile(r"(?P<verb>[^\W\d_]+)n['’]t$", re.IGNORECASE)
_SIGNS = {"≦": "≤", "≧": "≥", "≈": "~", "*": "×"}
_SILENT = frozenset(", ; : . ' \" - “ ” ‘ ’ « » ( ) [ ] ` _ * # • …".split())
_STROKES = str.maketrans(dict.fromkeys(_DASHES, "-"))


@dataclass(frozen=True, slots=True)
class Word:
    """A token of a text: `form` is its normal form, `span` its place in that text.

    `kind`: `word`, `number` (form is its plain decimal value), `identifier` (IL-6), `sign` (%, <, ±) or `silent`
    (punctuation that carries no meaning by itself). `depth` counts the brackets it stands in.
    """

    form: str
    kind: str
    span: Span
    depth: int = 0

    @property
    def is_number(self) -> bool:
        """Whether its form is a decimal value."""
        return self.kind == "number"


def words_of(text: str) -> list[Word]:
    """All tokens of `text`, in order, punctuation included; every span cuts its token out of `text`."""
    words: list[Word] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        raw = match.group()
        span = Span(match.start(), match.end())
        if raw in ")]":
            depth = max(0, depth - 1)
        words.extend(_normal(text, raw, kind, span, depth))
        if raw in "([":
            depth += 1
    return words


@lru_cache(maxsize=8192)  # each sentence of a source is compared with every claim
def meaning_words(text: str) -> tuple[Word, ...]:
    """The tokens of `text` without silent punctuation."""
    return tuple(w for w in words_of(text) if w.kind != "silent")


def _normal(text: str, raw: str, kind: str, span: Span, depth: int) -> list[Word]:
    if kind == "power":
        digits = unicodedata.normalize("NFKC", raw).translate(_STROKES).strip("^()").lstrip("+")
        return [Word(f"^{digits}", "sign", span, depth)]
    if kind == "identifier":
        form = unicodedata.normalize("NFKC", raw).casefold().translate(_STROKES).replace("-", "")
        return [Word(form, "identifier", span, depth)]
    if kind == "number":
        return [Word(_signed(text, span) + plain_number(raw), "number", span, depth)]
    if kind == "word":
        return _word(raw, span, depth)
    if kind == "plusminus":
        return [Word("±", "sign", span, depth)]
    sign = unicodedata.normalize("NFKC", _SIGNS.get(raw, raw)).translate(_STROKES)
    if sign == "-" or sign in _SILENT:
        return [Word(sign, "silent", span, depth)]
    return [Word(sign, "sign", span, depth)]


def _word(raw: str, span: Span, depth: int) -> list[Word]:
    form = unicodedata.normalize("NFKC", raw).casefold().replace("’", "'")
    if form in NUMBER_WORDS:
        return [Word(NUMBER_WORDS[form], "number", span, depth)]
    if form in ("percent", "pct"):
        return [Word("%", "sign", span, depth)]
    contracted = _CONTRACTED_NOT.match(raw)
    if contracted or form == "cannot":
        verb = "can" if form in ("cannot", "can't") else "will" if form == "won't" else form[:-3]
        middle = span.start + len(verb) if verb != "will" else span.start + 2
        middle = min(middle, span.end - 1)
        return [
            Word(verb, "word", Span(span.start, middle), depth),
            Word("not", "word", Span(middle, span.end), depth),
        ]
    return [Word(form.removesuffix("'s"), "word", span, depth)]


def _signed(text: str, span: Span) -> str:
    """`-` when the number is negative: a dash directly before it that follows no word, number or closing bracket."""
    before = text[max(0, span.start - 1) : span.start]
    if not before or before not in _DASHES:
        return ""
    earlier = text[max(0, span.start - 2) : span.start - 1]
    return "-" if not earlier or earlier.isspace() or earlier in "(=<>[,;:~≈" else ""


def plain_number(raw: str) -> str:
    """A number as its plain decimal value: `1,312` → `1312`, `.050` → `0.05`, `5.0` → `5`."""
    text = unicodedata.normalize("NFKC", raw).replace(",", "").replace("·", ".")
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    plain = format(value.normalize(), "f")
    return "0" if plain in ("-0", "0") else plain
