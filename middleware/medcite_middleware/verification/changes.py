"""By how much something changed, where a source says from where to where: points, percent, folds, units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Literal

from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.measures import as_share, tolerance
from medcite_middleware.verification.quantities import Quantity, quantities
from medcite_middleware.verification.units import factor

_UP = re.compile(
    r"\b(?:increas(?:e|es|ed)|rises?|rose|risen|grew|grown|rais(?:es|ed)|climbed|went up|gained)\b", re.IGNORECASE
)
_DOWN = re.compile(
    r"\b(?:decreas(?:e|es|ed)|reduc(?:es|ed)|fell|falls?|fallen|declin(?:es|ed)|drop(?:s|ped)|lower(?:s|ed)|went down|"
    r"shrank)\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\s*\bby\s+(?:an?\s+)?(?:(?:factor|total)\s+of\s+)?$", re.IGNORECASE)
_FOLD_SHARE = Decimal("0.05")
"""How far, as a share of it, a ratio may lie from "doubled" or "halved"."""

_TOLD = ("percent", "fraction", "points", "fold", "measure", "number", "money")

Way = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Change:
    """A claimed change against `start` and `end` of the source; the rests are both texts without it, to be compared."""

    claim_rest: str
    sentence_rest: str
    start: Decimal
    end: Decimal
    formula: str
    result: Decimal
    claimed: Decimal
    tolerance: Decimal
    unit: str
    fits: bool
    is_ambiguous: bool
    is_same_way: bool
    explanation: str

    def may_be(self, step: Decimal) -> bool:
        """Whether the claim fits values that the source's, rounded to `step`, may have been."""
        if not self.is_same_way:
            return False
        results = []
        for start, end in product((-step / 2, step / 2), repeat=2):
            try:
                values = {"a": float(self.start + start), "b": float(self.end + end)}
                results.append(Decimal(str(evaluate_formula(self.formula, values))))
            except (ValueError, ArithmeticError):
                return True
        return min(results) - self.tolerance <= self.claimed <= max(results) + self.tolerance


def change_in(claim: str, ours: Sequence[Quantity], sentence: str, moved: Quantity) -> Change | None:
    """The change that a claim tells, measured by the source's from and to; None when it tells none that can be."""
    # What stands in the sentence too ("in 2,431 patients") is compared with it word by word.
    there = {(q.kind, q.low, q.high, q.unit) for q in quantities(sentence)}
    told = [q for q in ours if q.kind in _TOLD and not q.is_changing and (q.kind, q.low, q.high, q.unit) not in there]
    if len(told) != 1 or moved.is_ambiguous or told[0].is_ambiguous or told[0].comparator or told[0].is_range:
        return None
    figure = told[0]
    rests = _rests(claim, figure, sentence, moved)
    if rests is None:
        return None
    claim_rest, sentence_rest, way = rests
    start, end = moved.low, moved.high
    if start == end or (start < end) != (_way_of(sentence, moved) == "up"):
        return None  # the source's own words and figures do not agree
    is_same_way = (way == "up") == (start < end)
    measured = _measured(figure, moved, sentence, start, end)
    if measured is None:
        return None
    formula, result, allowed, unit, other = measured
    fits = is_same_way and abs(figure.low - result) <= allowed
    return Change(
        claim_rest,
        sentence_rest,
        start,
        end,
        formula,
        result,
        figure.low,
        allowed,
        unit,
        fits,
        is_same_way and not fits and other is not None and abs(figure.low - other) <= allowed,
        is_same_way,
        _explained(
            start, end, moved, result, unit, figure.span.of(claim).strip(), other, is_same_way=is_same_way, fits=fits
        ),
    )


def _way_of(sentence: str, moved: Quantity) -> Way | None:
    before = sentence[: moved.span.start]
    ups, downs = list(_UP.finditer(before)), list(_DOWN.finditer(before))
    if len(ups) + len(downs) != 1:
        return None
    return "up" if ups else "down"


def _rests(claim: str, figure: Quantity, sentence: str, moved: Quantity) -> tuple[str, str, Way] | None:
    """Both texts without the change, their verbs made the same, and which way the claim's goes."""
    verb = (_UP if _way_of(sentence, moved) == "up" else _DOWN).search(sentence[: moved.span.start])
    if verb is None:
        return None
    sentence_rest = (
        sentence[: verb.start()] + "changed" + sentence[verb.end() : moved.span.start] + sentence[moved.span.end :]
    )
    before, after = claim[: figure.span.start], claim[figure.span.end :]
    is_word = figure.kind == "fold" and not re.search(r"\d", figure.span.of(claim))
    ups, downs = list(_UP.finditer(before)), list(_DOWN.finditer(before))
    if is_word and not ups and not downs:  # "The risk doubled."
        way: Way = "up" if figure.low > 1 else "down"
        return f"{before}changed{after}", sentence_rest, way
    if len(ups) + len(downs) != 1:
        return None
    (found,) = ups or downs
    between = before[found.end() :]
    if figure.kind != "fold" and not _BY.search(between):
        return None
    rest = before[: found.start()] + "changed" + _BY.sub(" ", between) + after
    return " ".join(rest.split()), sentence_rest, "up" if ups else "down"


def _measured(
    figure: Quantity, moved: Quantity, sentence: str, start: Decimal, end: Decimal
) -> tuple[str, Decimal, Decimal, str, Decimal | None] | None:
    """Formula, result, tolerance, unit; and what the figure would be if percent meant percentage points."""
    difference = abs(end - start)
    is_share = as_share(moved, sentence)
    sign = "b - a" if end > start else "a - b"
    if figure.kind == "points":
        return (sign, difference, tolerance(figure), "percentage points", None) if is_share else None
    if figure.kind in ("percent", "fraction"):
        if not start:
            return None
        relative = difference / start * 100
        points = difference if is_share and figure.kind == "percent" else None
        return f"({sign}) / a * 100", relative, tolerance(figure), "%", points
    if figure.kind == "fold":
        if not start or not end:
            return None
        falls = end < start
        is_part = figure.low < 1
        ratio = end / start if not falls or is_part else start / end
        allowed = max(tolerance(figure) if figure.step < 1 else Decimal(0), figure.low * _FOLD_SHARE)
        return ("b / a" if not falls or is_part else "a / b"), ratio, allowed, "times", None
    if is_share or figure.kind != moved.kind:
        return None
    times = factor(moved.unit, figure.unit) if figure.kind == "measure" else Decimal(1)
    if times is None or (figure.kind == "money" and figure.unit != moved.unit):
        return None
    formula = f"({sign})" if times == 1 else f"({sign}) * {times.normalize():f}"
    return formula, difference * times, tolerance(figure), figure.unit, None


def _explained(
    start: Decimal,
    end: Decimal,
    moved: Quantity,
    result: Decimal,
    unit: str,
    claimed: str,
    other: Decimal | None,
    *,
    is_same_way: bool,
    fits: bool,
) -> str:
    mark = "%" if moved.kind == "percent" else ""
    went = f"from {start.normalize():f}{mark} to {end.normalize():f}{mark}"
    much = f"{float(result):.4g}{'' if unit == '%' else ' '}{unit}".strip()
    if unit == "times":
        much = f"a ratio of {float(result):.3g}"
    if not is_same_way:
        return f"The source goes {went}, which is the other way."
    if fits:
        return f"The source goes {went}, which is {much}, as the answer says ({claimed})."
    if other is not None:
        points = f"{float(other):.4g} percentage points"
        return f"The source goes {went}, which is {points}, or {much} of where it began; the answer says {claimed}."
    return f"The source goes {went}, which is {much}, not {claimed}."
