"""Whether two quantities say the same: other unit, other form, rounded, within a bound or a range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from medcite_middleware.verification.quantities import Quantity
from medcite_middleware.verification.units import factor

Relation = Literal["equal", "inside", "differs", "open"]
"""`inside`: the source gives a range that holds the claim's value. `open`: comparable, but not decided (the source is
rounder than the claim, or only bounds the value)."""

APPROXIMATE_SHARE = Decimal("0.02")
"""How far, as a share of it, a value may lie from one that is said to be "about" so much."""

ROUNDED_SHARE = Decimal("0.05")
"""How far, as a share of it, a value may lie from what it is rounded to: an odds ratio of 1.4 is not 1."""

_SHARE_WORDS = re.compile(r"\b(?:proportions?|fractions?|probabilit(?:y|ies)|shares?)\b", re.IGNORECASE)
_SHARES = ("percent", "fraction")
_EXACT_SHARES = (Decimal(0), Decimal(100))
"""Nobody and everybody: 99.6 % is not rounded to them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity in a common unit: what `relation` compares. `low` and `high` are in `unit` of the claim."""

    low: Decimal
    high: Decimal
    step: Decimal


def as_share(quantity: Quantity, text: str) -> bool:
    """Whether it is a share of a whole: percent, n of N, or a proportion that the text calls one."""
    if quantity.kind in _SHARES:
        return True
    is_plain = quantity.kind == "number" and not quantity.name and 0 <= quantity.low <= quantity.high <= 1
    return is_plain and quantity.step < 1 and bool(_SHARE_WORDS.search(text))


def converted(source: Quantity, claim: Quantity, source_text: str, claim_text: str) -> Measured | None:
    """The source's quantity in the claim's unit; None when the two do not measure the same kind of thing."""
    if (source.name and claim.name and source.name != claim.name) or source.role != claim.role:
        return None
    if as_share(source, source_text) and as_share(claim, claim_text):
        times = _share_scale(source) / _share_scale(claim)
        return Measured(source.low * times, source.high * times, source.step * times)
    if source.kind != claim.kind:
        return None
    if source.kind in ("pair", "ratio", "date"):
        is_same = source.parts == claim.parts and source.unit == claim.unit
        return Measured(claim.low if is_same else source.low, claim.high if is_same else source.high, source.step)
    if source.kind == "money":
        return Measured(source.low, source.high, source.step) if source.unit == claim.unit else None
    times_unit = factor(source.unit, claim.unit) if source.kind == "measure" else Decimal(1)
    if times_unit is None:
        return None
    return Measured(source.low * times_unit, source.high * times_unit, source.step * times_unit)


def _share_scale(quantity: Quantity) -> Decimal:
    return Decimal(1) if quantity.kind in _SHARES else Decimal(100)


def tolerance(claim: Quantity) -> Decimal:
    """How far the source's value may lie from the claim's: half of its last digit, a little more for "about"."""
    half = _step(claim) / 2
    return max(half, abs(claim.high) * APPROXIMATE_SHARE) if claim.is_approximate else half


def allowance(claim: Quantity) -> Decimal:
    """The tolerance of a figure that is restated: that of its last digit, and of a twentieth of it."""
    return min(tolerance(claim), abs(claim.high) * ROUNDED_SHARE)


def _step(quantity: Quantity) -> Decimal:
    """The place value of the last digit; a fraction is as exact as whole percent when it is the claim's."""
    return Decimal("0.01") if quantity.kind == "fraction" and quantity.parts[1] > 12 else quantity.step


def relation(claim: Quantity, source: Quantity, claim_text: str, source_text: str) -> Relation | None:
    """How a source's quantity bears on the claim's; None when they are not comparable."""
    if claim.is_ambiguous or source.is_ambiguous or claim.is_changing != source.is_changing:
        return None
    measured = converted(source, claim, source_text, claim_text)
    if measured is None:
        return None
    if claim.kind in ("pair", "ratio", "date"):
        return "equal" if claim.parts == source.parts and claim.unit == source.unit else "differs"
    if source.is_approximate and not claim.is_approximate:
        return "open"  # the claim is surer than the source
    if claim.comparator or source.comparator:
        return _bounded(claim, source, measured)
    rounded = Decimal(0) if _is_all_or_none(claim, claim_text) else tolerance(claim)
    allowed = min(rounded, allowance(claim))
    if abs(claim.low - measured.low) <= allowed and abs(claim.high - measured.high) <= allowed:
        return "equal"
    if measured.low != measured.high and measured.low <= claim.low and claim.high <= measured.high:
        return "inside"
    half = max(measured.step / 2, _rounded_step(claim) / 2)
    if abs(claim.low - measured.low) <= half and abs(claim.high - measured.high) <= half:
        return "open"
    return "differs"


def _rounded_step(claim: Quantity) -> Decimal:
    """What 12300 may be rounded to: its zeros may be figures or not, so that 12345 does not speak against it."""
    if claim.step != 1 or not claim.low or claim.low != claim.low.to_integral_value():
        return Decimal(0)
    digits = f"{int(abs(claim.low))}"
    return Decimal(10) ** (len(digits) - len(digits.rstrip("0")))


def _is_all_or_none(claim: Quantity, claim_text: str) -> bool:
    return as_share(claim, claim_text) and claim.low == claim.high and claim.low * _share_scale(claim) in _EXACT_SHARES


def _bounded(claim: Quantity, source: Quantity, measured: Measured) -> Relation:
    """One of the two bounds a value: "more than 40 %" is borne out by 45 %; two bounds must be the same one."""
    if claim.comparator and source.comparator:
        ours, theirs = (claim.low, claim.high), (measured.low, measured.high)
        return "equal" if claim.comparator == source.comparator and ours == theirs else "open"
    if not claim.comparator:
        return "open"  # a bound does not say which value
    is_above = claim.comparator in (">", "≥")
    value = measured.low if is_above else measured.high
    is_met = value > claim.low if is_above else value < claim.low
    if is_met or (value == claim.low and claim.comparator in ("≤", "≥")):
        return "equal"
    return "differs" if measured.low == measured.high else "open"
