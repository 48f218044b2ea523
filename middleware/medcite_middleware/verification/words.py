"""Words of a text with their places, in a normal form in which only differences of meaning remain.

What may fold is only what never means anything: dashes of one kind or another, ligatures, a capital at the start of a
word, digits or letters for small numbers. What may mean something stays: signs, powers, capitals of units and acronyms
(mM is not mm), dashes that stand for minus, "to" or a negative marker (CD8- cells).
"""

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
_LETTER = rf"[^\W\d_{_SUPERSCRIPTS}]"
_ALNUM = rf"[^\W_{_SUPERSCRIPTS}]"
_UNIT = "(?:kg|mg|µg|μg|mcg|ng|mL|ml|dL|dl|mm|cm|km|mmol|µmol|μmol|mmHg|IU|kPa|kcal|kJ|Hz|kHz|MHz)"
_TOKEN = re.compile(
    rf"""
    (?P<name>(?:\d+\.){{2,}}\d+{_ALNUM}*|{_LETTER}+(?:[{_DASHES}]?\d{_ALNUM}*)?(?:\.\d+{_ALNUM}*)+)  # XBB.1.50, v1.10
  | (?P<power>[{_SUPERSCRIPTS}]+|\^\(?[-+]?\d+\)?)              # 10⁶ is 10 and a power, never 106
  | (?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!\d)|(?:\d+(?:[.·]\d+)?|\.\d+)(?:[eE][{_DASHES}+]?\d+)?)
        (?:(?!{_ALNUM})|(?={_UNIT}(?!{_ALNUM})))
  | (?P<identifier>{_LETTER}+[{_DASHES}]?\d{_ALNUM}*|\d+(?:[.·]\d+)?{_LETTER}{_ALNUM}*)   # IL-6, CD4, p53, 2x10, 5mg
  | (?P<word>{_LETTER}+(?:['’]{_LETTER}+)*)
  | (?P<plusminus>\+/[{_DASHES}]|±)
  | (?P<sign>[^\s\w])
  | (?P<rest>\w)
    """,
    re.VERBOSE,
)
_CONTRACTED_NOT = re.compile(r"(?P<verb>[^\W\d_]+)n['’]t$", re.IGNORECASE)
_PRONOUNS = frozenset("it he she that this what there here who where when how let everyone nobody".split())
_SIGNS = {"≦": "≤", "≧": "≥", "≈": "~", "∼": "~", "*": "×"}
_PUNCTUATION = frozenset(", ; : .".split())
_QUOTATION_MARKS = frozenset("\" “ ” „ ‘ ’ ' « » ` _ # •".split())
_BRACKETS = frozenset("( ) [ ]".split())
_STROKES = str.maketrans(dict.fromkeys(_DASHES, "-"))


@dataclass(frozen=True, slots=True)
class Word:
    """A token of a text: `form` is its normal form, `span` its place in that text.

    `kind`: `word`, `number` (form is its plain decimal value), `identifier` (IL-6), `sign` (%, <, ±, a dash that means
    something), `punctuation` (, ; : .), `bracket`, or `silent` (quotation marks, the hyphen of a compound). `depth`
    counts the brackets it stands in. `is_compound` when a hyphen ties it to a neighbour.
    """

    form: str
    kind: str
    span: Span
    depth: int = 0
    is_compound: bool = False

    @property
    def is_number(self) -> bool:
        """Whether its form is a decimal value."""
        return self.kind == "number"


def words_of(text: str) -> list[Word]:
    """All tokens of `text`, in order, punctuation included; every span cuts its token out of `text`."""
    words: list[Word] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "sign"
        raw = match.group()
        span = Span(match.start(), match.end())
        if raw in (")", "]"):
            depth = max(0, depth - 1)
        words.extend(_normal(text, raw, kind, span, depth, words[-1] if words else None))
        if raw in ("(", "["):
            depth += 1
    return words


@lru_cache(maxsize=8192)  # each sentence of a source is compared with every claim
def meaning_words(text: str) -> tuple[Word, ...]:
    """The tokens of `text` that carry meaning by themselves: no punctuation, brackets or quotation marks."""
    return tuple(w for w in words_of(text) if w.kind not in ("silent", "punctuation", "bracket"))


@lru_cache(maxsize=8192)
def strict_words(text: str) -> tuple[Word, ...]:
    """The tokens of `text` with its punctuation and brackets, for words that must be the same: a comma can turn a
    sentence ("No, statins helped"). Only quotation marks and the stops that end it are left out."""
    words = [w for w in words_of(text) if w.kind != "silent"]
    while words and words[-1].kind == "punctuation":
        words.pop()
    return tuple(words)


def is_balanced(words: tuple[Word, ...]) -> bool:
    """Whether every bracket is closed, so that depths can be relied on."""
    opened = sum(w.form in ("(", "[") for w in words)
    return opened == sum(w.form in (")", "]") for w in words)


def _normal(text: str, raw: str, kind: str, span: Span, depth: int, before: Word | None) -> list[Word]:
    if kind == "power":
        digits = unicodedata.normalize("NFKC", raw).translate(_STROKES).strip("^()").lstrip("+")
        return [Word(f"^{digits}", "sign", span, depth)]
    if kind == "number":
        return [Word(plain_number(raw), "number", span, depth, _is_compound(text, span))]
    if kind == "name":  # no decimals: XBB.1.5 is not XBB.1.50
        return [Word(unicodedata.normalize("NFKC", raw), "identifier", span, depth, _is_compound(text, span))]
    if kind == "identifier":
        return [Word(_identifier(raw), "identifier", span, depth, _is_compound(text, span))]
    if kind == "word":
        return _word(text, raw, span, depth, before)
    if kind == "plusminus":
        return [Word("±", "sign", span, depth)]
    if raw in _DASHES:
        is_hyphen = raw in "-‐‑" and _joins_letters(text, span)
        return [Word("-", "silent" if is_hyphen else "sign", span, depth)]
    sign = unicodedata.normalize("NFKC", _SIGNS.get(raw, raw))
    if sign in _QUOTATION_MARKS or raw in _QUOTATION_MARKS:
        return [Word(sign, "silent", span, depth)]
    if sign in _PUNCTUATION:
        return [Word(sign, "punctuation", span, depth)]
    return [Word(sign, "bracket" if sign in _BRACKETS else "sign", span, depth)]


def _identifier(raw: str) -> str:
    # IL-6 and IL6 are one; T1-2 keeps its dash (it is not part of this token), and E-8 after a number is the number's.
    # One letter and a dash may be a day or a value before zero (D-7, T-2.5).
    match = re.match(rf"({_LETTER}{{2,}})[-‐‑](\d.*)$", raw)
    return unicodedata.normalize("NFKC", "".join(match.groups()) if match else raw)


def _word(text: str, raw: str, span: Span, depth: int, before: Word | None) -> list[Word]:
    plain = unicodedata.normalize("NFKC", raw).replace("’", "'")
    form = plain.lower()  # casefold would take ß for ss
    if form in NUMBER_WORDS:
        return [Word(NUMBER_WORDS[form], "number", span, depth, _is_compound(text, span))]
    if form in ("percent", "pct"):
        return [Word("%", "sign", span, depth)]
    contracted = _CONTRACTED_NOT.match(raw)
    if contracted or form == "cannot":
        verb = {"cannot": "can", "can't": "can", "won't": "will"}.get(form, form[:-3])
        middle = max(span.start + 1, span.end - 3)
        return [
            Word(verb, "word", Span(span.start, middle), depth),
            Word("not", "word", Span(middle, span.end), depth),
        ]
    owner = form.removesuffix("'s")
    if owner != form and owner in _PRONOUNS:  # "it's" is "it is", not "its"
        middle = span.end - 2
        return [
            Word(owner, "word", Span(span.start, middle), depth),
            Word("us" if owner == "let" else "is", "word", Span(middle, span.end), depth),
        ]
    keeps_case = (
        any(c.isupper() for c in plain[1:])  # AIDS, mRNA, MPa
        or (len(plain) == 1 and plain.isupper() and before is not None)  # vitamin A, group B
        or (before is not None and before.is_number and before.span.end >= span.start - 1)  # a unit
    )
    shown = plain if keeps_case else form
    return [Word(shown.removesuffix("'s"), "word", span, depth, _is_compound(text, span))]


def _is_compound(text: str, span: Span) -> bool:
    after, before = text[span.end : span.end + 1], text[max(0, span.start - 1) : span.start]
    return (after != "" and after in _DASHES) or (before != "" and before in _DASHES)


def _joins_letters(text: str, span: Span) -> bool:
    """Whether a dash is the hyphen of a compound: directly between a letter or digit and a letter."""
    before, after = text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]
    return before.isalnum() and after.isalpha()


def plain_number(raw: str) -> str:
    """A number as its plain decimal value: `1,312` → `1312`, `.050` → `0.05`, `5.0` → `5`, `5E-8` → `0.00000005`."""
    text = unicodedata.normalize("NFKC", raw).translate(_STROKES).replace(",", "").replace("·", ".")
    if re.fullmatch(r"0\d+", text):
        return text  # "10 000" is not "10 00"
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    if value and abs(value.adjusted()) > 40:
        return text.casefold()
    plain = format(value.normalize(), "f")
    return "0" if plain in ("-0", "0") else plain
