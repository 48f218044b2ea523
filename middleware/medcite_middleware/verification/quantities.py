"""Reads the quantities of a text: what kind each is, its unit, its range and what part it plays in the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from medcite_core.types import Span
from medcite_middleware.verification import quantity_marks as m
from medcite_middleware.verification.number_forms import Convention, Numeral, convention_of, numerals
from medcite_middleware.verification.quantity_marks import Comparator
from medcite_middleware.verification.units import money_name, unit_name
from medcite_middleware.verification.vocabulary import LABEL_NOUNS

Kind = Literal[
    "percent", "points", "p", "year", "date", "measure", "money", "number", "fraction", "pair", "ratio", "fold", "label"
]
Role = Literal["value", "interval", "spread", "level"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity at `span`, its unit, comparator and range included.

    `low` and `high` are its value, equal unless it is a range; percent are given as written (45 for 45 %), a fraction
    as percent of its `parts`, a pair, ratio or date by its `parts` alone. `unit` is the unit library's expression or a
    currency code. `step` is the place value of the last digit. `name` is what it estimates (OR, RR, HR, n), if said.
    `role` is what it is in the sentence: a finding, the bounds of an interval, a spread, or an interval's level.
    """

    span: Span
    low: Decimal
    high: Decimal
    kind: Kind
    step: Decimal = Decimal(1)
    unit: str = ""
    comparator: Comparator = ""
    role: Role = "value"
    name: str = ""
    parts: tuple[Decimal, ...] = ()
    is_ambiguous: bool = False
    is_approximate: bool = False
    is_changing: bool = False  # the range is where something began and ended: "from 4% to 12%"

    @property
    def is_range(self) -> bool:
        """Whether it has two ends."""
        return self.low != self.high


@lru_cache(maxsize=4096)
def quantities(text: str, convention: Convention | None = None) -> tuple[Quantity, ...]:
    """The quantities of `text`, in order, without overlap. `convention` is that of the text around it."""
    if convention is None:
        convention = convention_of(text)
    taken = list(_dates(text))
    covered = [q.span for q in taken]
    read = [n for n in numerals(text, convention) if not any(_overlap(n.span, s) for s in covered)]
    found = [
        *taken,
        *_fold_words(text),
        *_share_words(text),
        *_with_units_of_spreads(text, list(_read_all(text, read))),
    ]
    found.sort(key=lambda q: (q.span.start, -q.span.end))
    kept: list[Quantity] = []
    for quantity in found:
        if not kept or quantity.span.start >= kept[-1].span.end:
            kept.append(quantity)
    return tuple(kept)


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end


def _dates(text: str) -> Iterator[Quantity]:
    for match in m.DATE.finditer(text):
        digits = tuple(Decimal(d) for d in re.findall(r"\d+", match.group()))
        yield Quantity(Span(match.start(), match.end()), digits[0], digits[0], "date", parts=digits)
    for match in m.SEASON.finditer(text):
        first = int(match["from"])
        last = int(match["to"]) if len(match["to"]) == 4 else first // 100 * 100 + int(match["to"])
        if first < last <= first + 99:
            yield Quantity(Span(match.start(), match.end()), Decimal(first), Decimal(last), "year")


def _fold_words(text: str) -> Iterator[Quantity]:
    for match in m.FOLD_WORDS.finditer(text):
        value = Decimal(m.FOLDS[match.group().lower()])
        yield Quantity(Span(match.start(), match.end()), value, value, "fold")


def _share_words(text: str) -> Iterator[Quantity]:
    """Shares in words, "half of", "two thirds of": as good as whole percent."""
    for match in m.SHARE_WORDS.finditer(text):
        if not text.startswith(" of", match.end()) and not text[: match.start()].lower().endswith(" by "):
            continue
        count, part = (1, 2) if match["half"] else (m.COUNTS[match["count"].lower()], m.PARTS[match["part"].lower()])
        percent = Decimal(100 * count) / part
        span = Span(match.start(), match.end())
        yield Quantity(span, percent, percent, "fraction", parts=(Decimal(count), Decimal(part)))


def _with_units_of_spreads(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """ "54.3 ± 12.1 years": the unit behind a spread is that of the value before it too."""
    for at, one in enumerate(found):
        two = found[at + 1] if at + 1 < len(found) else None
        is_bare = one.kind == "number" and two is not None and two.kind in ("measure", "percent", "money")
        if is_bare and two is not None and m.PLUS_MINUS.fullmatch(text[one.span.end : two.span.start]):
            yield replace(one, kind=two.kind, unit=two.unit)
        else:
            yield one


def _read_all(text: str, read: Sequence[Numeral]) -> Iterator[Quantity]:
    at = 0
    while at < len(read):
        one = read[at]
        two = read[at + 1] if at + 1 < len(read) else None
        both = _two_numerals(text, one, two) if two is not None else None
        if both is not None:
            yield both
            at += 2
            continue
        yield _single(text, one)
        at += 1


def _two_numerals(text: str, one: Numeral, two: Numeral) -> Quantity | None:
    """A fraction, pair, ratio or range made of two numerals, if they are one."""
    gap = text[one.span.end : two.span.start]
    if gap == "/" and not one.is_in_words:
        return _slashed(text, one, two)
    if re.fullmatch(r"\s?:\s?", gap) and not re.match(r"\s?[ap]\.?m\b|\s?h\b", text[two.span.end :]):
        return Quantity(Span(one.span.start, two.span.end), one.value, one.value, "ratio", parts=(one.value, two.value))
    if m.OF.fullmatch(gap) and _is_share(one, two):
        return _fraction(text, one, two)
    is_usual = two.value in m.ROUND_BASES or one.value == 1 or "per" in gap or (one.is_in_words and two.is_in_words)
    if m.PER.fullmatch(gap) and _is_share(one, two) and is_usual:
        return _fraction(text, one, two)
    return _range(text, one, two)


def _is_share(one: Numeral, two: Numeral) -> bool:
    return 0 <= one.value <= two.value and two.value > 1 and two.value == two.value.to_integral_value()


def _slashed(text: str, one: Numeral, two: Numeral) -> Quantity | None:
    unit = m.UNIT_AFTER.match(text, two.span.end)
    is_pressure = unit is not None and unit["unit"] == "mmHg"
    if is_pressure or re.search(r"\b(?:pressure|BP)\b[^.;]*$", text[: one.span.start], re.IGNORECASE):
        end = unit.end() if unit else two.span.end
        name = unit_name(unit["unit"]) if unit else ""
        span = Span(one.span.start, end)
        return Quantity(span, one.value, one.value, "pair", one.step, name, parts=(one.value, two.value))
    return _fraction(text, one, two) if _is_share(one, two) else None


def _fraction(text: str, one: Numeral, two: Numeral) -> Quantity:
    percent = one.value * 100 / two.value
    start, comparator, is_approximate = _with_before(text, one.span.start)
    return Quantity(
        Span(start, two.span.end),
        percent,
        percent,
        "fraction",
        comparator=comparator,
        parts=(one.value, two.value),
        is_approximate=is_approximate,
    )


def _range(text: str, one: Numeral, two: Numeral) -> Quantity | None:
    """ "32 to 46 percent", "between seven and eight days", "30% to 40%", "from 4% to 12%"."""
    second = _single(text, two)
    if second.kind in ("label", "p", "year", "fold") or second.comparator:
        return None
    first = _single(text, one)
    gap = text[max(one.span.end, min(first.span.end, two.span.start)) : two.span.start]
    is_between = bool(re.search(r"\bbetween\s$", text[: first.span.start], re.IGNORECASE)) and bool(
        m.AND.fullmatch(gap)
    )
    is_named_twice = _names_both_ends(text, gap, first.span, two.span)
    if not is_between and not m.RANGE.fullmatch(gap) and not is_named_twice:
        return None
    if (
        first.kind == "label"
        or (first.kind not in ("number", second.kind))
        or (first.unit and first.unit != second.unit)
    ):
        return None
    is_bare = first.kind == "number" and not first.unit
    low, step = one.value, one.step
    if (
        two.is_scaled
        and not one.is_scaled
        and not is_named_twice
        and re.fullmatch(r"[\d.,]+", one.span.of(text))
        and first.span == one.span
    ):
        scale = second.step / _written_step(two.span.of(text))
        low, step = low * scale, step * scale
    if not is_bare and first.kind != second.kind:
        return None
    is_changing = bool(m.CHANGE.search(text[: first.span.start])) and " to " in gap
    if low > second.high and not is_changing:
        return None
    start = first.span.start - (len("between ") if is_between else 0)
    if is_changing:
        start = [f.start() for f in re.finditer("from", text[: first.span.start], re.IGNORECASE)][-1]
    before = text[:start]
    role: Role = "interval" if m.INTERVAL.search(before) else first.role
    return replace(
        second,
        span=Span(start, second.span.end),
        low=low,
        step=min(step, second.step),
        role=role,
        name=first.name,
        is_ambiguous=one.is_ambiguous or two.is_ambiguous,
        is_approximate=first.is_approximate,
        comparator=first.comparator,  # "(< 0 to 8.47)"
        is_changing=is_changing,
    )


def _names_both_ends(text: str, gap: str, first: Span, second: Span) -> bool:
    """ "from 30 cells to 40 million cells": what is counted stands behind either end."""
    match = m.RANGE_WITH_NOUN.fullmatch(gap)
    is_from = bool(re.search(r"\bfrom\s$", text[: first.start], re.IGNORECASE))
    return match is not None and is_from and bool(re.match(rf"\s{match['noun']}\b", text[second.end :]))


def _written_step(written: str) -> Decimal:
    """The place value of the last digit as written, before its scale word."""
    digits = re.match(r"[\d.,]+", written)
    decimals = digits.group().rpartition(".")[2] if digits and "." in digits.group() else ""
    return Decimal(1).scaleb(-len(decimals))


def _single(text: str, numeral: Numeral) -> Quantity:
    """A numeral with what stands before and after it."""
    start, comparator, is_approximate = _with_before(text, numeral.span.start)
    before, after = text[:start], text[numeral.span.end :]
    base = Quantity(
        Span(start, numeral.span.end),
        numeral.value,
        numeral.value,
        "number",
        numeral.step,
        comparator=comparator,
        is_ambiguous=numeral.is_ambiguous,
        is_approximate=is_approximate,
    )
    return _as_p(text, base, numeral) or _as_unit(text, base, numeral) or _as_bare(base, before, after, numeral)


def _with_before(text: str, start: int) -> tuple[int, Comparator, bool]:
    """Where a quantity begins with the words before it that bound or soften it."""
    comparator: Comparator = ""
    is_approximate = False
    money = m.MONEY_BEFORE.search(text, max(0, start - 4), start)
    if money:
        start = money.start()
    for _ in range(2):
        before = text[max(0, start - 24) : start]
        soft = m.APPROXIMATE.search(before)
        if soft:
            is_approximate, start = True, start - (len(before) - soft.start())
            continue
        for pattern, sign in m.COMPARATORS:
            match = pattern.search(before)
            if match:
                return start - (len(before) - match.start()), sign, is_approximate
    return start, comparator, is_approximate


def _as_p(text: str, base: Quantity, numeral: Numeral) -> Quantity | None:
    match = m.P.search(text[max(0, numeral.span.start - 20) : numeral.span.start])
    if match is None or not 0 <= numeral.value <= m.MAX_P or m.PERCENT.match(text, numeral.span.end):
        return None
    start = max(0, numeral.span.start - 20) + match.start()
    return replace(
        base,
        span=Span(start, numeral.span.end),
        kind="p",
        comparator=m.BOUND_SIGNS.get(match["sign"] or "", base.comparator),
    )


def _as_unit(text: str, base: Quantity, numeral: Numeral) -> Quantity | None:
    end = numeral.span.end
    role = _role(text[: base.span.start])
    money = m.MONEY_BEFORE.search(text, max(0, numeral.span.start - 4), numeral.span.start)
    if money:
        return replace(base, kind="money", unit=money_name(money["unit"]), role=role)
    points = m.POINTS.match(text, end)
    if points:
        return replace(base, span=Span(base.span.start, points.end()), kind="points", role=role)
    level = m.LEVEL.match(text, end)
    percent = m.PERCENT.match(text, end)
    if percent:
        span = Span(base.span.start, percent.end())
        return replace(base, span=span, kind="percent", role="level" if level else role)
    for pattern, kind in ((m.UNIT_AFTER, "measure"), (m.MONEY_AFTER, "money")):
        match = pattern.match(text, end)
        if match and not (kind == "measure" and match["unit"] in ("y", "d", "s", "t") and match.start("unit") == end):
            unit = unit_name(match["unit"]) if kind == "measure" else money_name(match["unit"])
            if unit in m.TIMES and m.DURING.match(text, base.span.start):  # "over 12 weeks" is during them
                base = replace(base, span=numeral.span, comparator="")
            return replace(base, span=Span(base.span.start, match.end()), kind=kind, unit=unit, role=role)  # type: ignore[arg-type]
    fold = m.FOLD.match(text, end)
    if fold:
        return replace(base, span=Span(base.span.start, fold.end()), kind="fold")
    return None


def _as_bare(base: Quantity, before: str, after: str, numeral: Numeral) -> Quantity:
    if m.GLUED.match(after):
        return replace(base, kind="label")
    word = m.WORD_BEFORE.search(before)
    if word and word[1].casefold() in LABEL_NOUNS and not base.comparator:
        return replace(base, kind="label")
    is_year = 1500 <= numeral.value <= 2100 and numeral.step == 1 and not numeral.is_in_words
    if (
        is_year
        and "," not in before[-1:]
        and m.YEAR_CONTEXT.search(before)
        and not re.match(r"\s(?:of\s)?[a-z]{4,}s\b", after)
    ):
        return replace(base, kind="year")
    name = m.NAME.search(before)
    return replace(base, name=m.NAMES.get(name["name"].casefold(), "") if name else "", role=_role(before))


def _role(before: str) -> Role:
    if m.SPREAD.search(before):
        return "spread"
    return "interval" if m.INTERVAL.search(before) else "value"
