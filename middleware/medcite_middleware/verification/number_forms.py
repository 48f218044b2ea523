"""Reads single numerals: digits in any grouping, powers of ten, scale words, written-out numbers.

A comma or a point may group digits or begin decimals. Which it does is taken from the numeral itself, else from the
text's other numerals, else from its language; what stays open is ambiguous and decides nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal

from medcite_core.types import Span

Convention = Literal["point", "comma", ""]
"""Which sign begins the decimals in a text; empty when nothing in it tells."""

_SPACES = "\u0020\u00a0\u202f\u2009"
_DASH = "-−–‑"
_POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TENS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_BODY = rf"(?:\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?!\d)(?:[.,·]\d+)?|\d+(?:[.,]\d+)+|\d+(?:·\d+)?|[.·]\d+)"
_EXPONENT = rf"(?:\s?[×✕*x]\s?10(?:\^\(?[{_DASH}+]?\d+\)?|[⁻⁺]?[{_POWERS}]+)|[eE][{_DASH}+]?\d{{1,3}}(?!\w))"
_DIGITS = re.compile(
    rf"(?<![\w{_POWERS}⁻])(?<!\d[.,·])(?<![^\W\d_][-‑.])(?P<body>{_BODY})(?P<power>[⁻⁺]?[{_POWERS}]+)?(?P<exponent>{_EXPONENT})?"
    rf"(?P<scale>[{_SPACES}-]?(?:{'|'.join(_TENS)})\b)?",
    re.IGNORECASE,
)
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety hundred".split() + list(_TENS)
_NUMBER_WORD = rf"(?:{'|'.join(_SMALL + _LARGE)})"
# "two hundred and four" is one number, "seven and eight" are two.
_WORDS = re.compile(
    rf"\b{_NUMBER_WORD}\b(?:(?:[\s-]+|(?<=hundred)\s+and\s+|(?<=thousand)\s+and\s+|(?<=million)\s+and\s+)"
    rf"{_NUMBER_WORD}\b)*",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\b(?:the|was|were|of|and|with|in|is|had|for|to|from|than)\b", re.IGNORECASE)
_COMMA_DECIMALS = re.compile(
    rf"(?<![\d.,])(?:\d{{1,3}}(?:[.{_SPACES}'’]\d{{3}})+,\d+|\d+,\d\d|0,\d+|\d+,\d(?=\s?(?:%|[a-zµμ]+\b)))(?![\d,.]\d|\d)"
)
_POINT_DECIMALS = re.compile(
    rf"(?<![\d.,])(?:\d{{1,3}}(?:[,{_SPACES}'’]\d{{3}})+\.\d+|\d+\.\d\d?|0\.\d+|\d+\.\d{{4,}})(?![\d,.]\d|\d)"
)
_COMMA_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3}){2,}(?![\d,])")
_POINT_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])")


@dataclass(frozen=True, slots=True)
class Numeral:
    """A numeral at `span`. `step` is the place value of its last digit: 0.1 for 2.5, 100,000 for 2.4 million.

    `is_ambiguous` when its point or comma may group digits as well. `is_scaled` when a scale word is part of it.
    """

    span: Span
    value: Decimal
    step: Decimal
    is_ambiguous: bool = False
    is_scaled: bool = False
    is_in_words: bool = False


def convention_of(text: str) -> Convention:
    """Which sign begins the decimals of the numerals in `text`, as far as they tell without doubt."""
    comma = bool(_COMMA_DECIMALS.search(text) or _POINT_GROUPS.search(text))
    point = bool(_POINT_DECIMALS.search(text) or _COMMA_GROUPS.search(text))
    if comma != point:
        return "comma" if comma else "point"
    if not comma and len(_ENGLISH.findall(text)) >= 2:
        return "point"
    return ""


@lru_cache(maxsize=4096)
def numerals(text: str, convention: Convention = "") -> tuple[Numeral, ...]:
    """All numerals of `text`, in order; `convention` is that of the text around it."""
    found = [*_in_digits(text, convention), *_in_words(text)]
    found.sort(key=lambda n: n.span.start)
    return tuple(found)


def _in_digits(text: str, convention: Convention) -> Iterator[Numeral]:
    for match in _DIGITS.finditer(text):
        after = text[match.end() : match.end() + 1]
        if match["power"] and match["body"] not in ("10",):
            continue  # an index or a footnote mark: 5², not a numeral of its own
        read = _read_body(match["body"], convention)
        if read is None or (after.isdigit()):
            continue
        value, step, is_ambiguous = read
        exponent = _exponent(match["exponent"] or "")
        if match["power"]:
            value, step, exponent = Decimal(1), Decimal(1), exponent + _plain_int(match["power"])
        scale = (match["scale"] or "").strip(f"{_SPACES}-").lower()
        factor = Decimal(1).scaleb(exponent + _TENS.get(scale, 0))
        span, sign = _signed(text, match.start(), match.end())
        yield Numeral(span, sign * value * factor, step * factor, is_ambiguous, bool(scale))


def _signed(text: str, start: int, end: int) -> tuple[Span, int]:
    """The span with a minus before it, if that is one: not the dash of a range or a compound."""
    before = text[:start]
    if before[-1:] in ("-", "−", "–") and (len(before) == 1 or before[-2] in f"{_SPACES}(=<>≤≥[,;:"):
        return Span(start - 1, end), -1
    return Span(start, end), 1


def _read_body(body: str, convention: Convention) -> tuple[Decimal, Decimal, bool] | None:
    """Value, place value of the last digit, whether it could be read otherwise; None for what is no numeral."""
    spaced = re.fullmatch(rf"(\d{{1,3}})((?:[{_SPACES}'’]\d{{3}})+)(?:[.,·](\d+))?", body)
    if spaced:
        return _number(re.sub(r"\D", "", spaced[1] + spaced[2]), spaced[3] or "", False)
    body = body.replace("·", ".")
    signs = [c for c in body if c in ".,"]
    if not signs:
        return _number(body, "", False)
    last = signs[-1]
    whole, _, decimals = body.rpartition(last)
    if len(set(signs)) == 2:
        grouping = signs[0]
        if signs.count(last) > 1 or not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(grouping)}\d{{3}})+", whole):
            return None
        return _number(whole.replace(grouping, ""), decimals, False)
    if len(signs) > 1:
        return _number(body.replace(last, ""), "", False) if _is_grouped(body, last) else None
    can_group = len(decimals) == 3 and 1 <= len(whole) <= 3 and not whole.startswith("0")
    decimal_sign = {"point": ".", "comma": ","}.get(convention, "")
    if decimal_sign:
        if last == decimal_sign:
            return _number(whole, decimals, False)
        return _number(whole + decimals, "", False) if can_group else None
    if not can_group:
        return _number(whole, decimals, False)
    # A comma before three digits groups them in English, which abstracts are written in; a point may do either.
    return _number(whole + decimals, "", False) if last == "," else _number(whole, decimals, True)


def _is_grouped(body: str, sign: str) -> bool:
    return bool(re.fullmatch(rf"\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+", body))


def _number(whole: str, decimals: str, is_ambiguous: bool) -> tuple[Decimal, Decimal, bool] | None:
    try:
        value = Decimal(f"{whole or '0'}.{decimals}" if decimals else whole)
    except InvalidOperation:
        return None
    return value, Decimal(1).scaleb(-len(decimals)), is_ambiguous


def _exponent(written: str) -> int:
    if not written:
        return 0
    tail = re.sub(r"^\s?[×✕*x]\s?10", "", written).strip("eE^()")
    return _plain_int(tail)


def _plain_int(written: str) -> int:
    plain = unicodedata.normalize("NFKC", written).replace("−", "-").replace("–", "-").replace("‑", "-")
    return int(plain)


def _in_words(text: str) -> Iterator[Numeral]:
    from text_to_num import text2num

    for match in _WORDS.finditer(text):
        words = match.group().strip(" -\t\n")
        span = Span(match.start(), match.start() + len(words))
        # "one" is a pronoun as often as a number; "million" after digits is part of that numeral.
        if words.lower() == "one" or re.search(r"\d[\s-]?$", text[: span.start]):
            continue
        try:
            value = Decimal(text2num(" ".join(words.lower().split()), "en"))
        except ValueError:
            continue
        yield Numeral(span, value, Decimal(1), is_in_words=True)
