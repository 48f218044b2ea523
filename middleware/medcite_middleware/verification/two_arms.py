"""Effects worked out from two arms of one sentence: risk ratio, odds ratio, differences, numbers needed to treat."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from medcite_core.answers import ComputationProof, Operand, Verdict
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.figure_frames import (
    LIMIT_STEMS,
    SILENT_STEMS,
    added,
    content_of,
    gives,
    left_out,
    without,
    without_brackets,
)
from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.measures import tolerance
from medcite_middleware.verification.number_forms import convention_of
from medcite_middleware.verification.quantities import Quantity, quantities
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.sources import quote_proof, source_sentences, states

Measure = Literal["risk_ratio", "odds_ratio", "relative_change", "points", "needed", "difference"]

_JOINED = re.compile(
    r"\b(?:versus|vs\.?|compared (?:with|to)|as against|and|while|whereas|but|against|than)(?!\w)|[,;]", re.IGNORECASE
)
_REFERENCE = re.compile(
    r"\b(?:than|versus|vs\.?|compared (?:with|to)|in comparison (?:with|to)|relative to|over|against|as \w+ as|"
    r"as(?= (?:with|in|on|among|for|under)\b))(?!\w)",
    re.IGNORECASE,
)
_NAMED: tuple[tuple[Measure, re.Pattern[str]], ...] = (
    ("risk_ratio", re.compile(r"\b(?:relative risk|risk ratio|rate ratio|RR)\b(?! reduction)", re.IGNORECASE)),
    ("odds_ratio", re.compile(r"\b(?:odds ratio|OR)\b")),
    ("needed", re.compile(r"\b(?:numbers? needed to (?:treat|harm)|NNT|NNH)\b", re.IGNORECASE)),
    (
        "relative_change",
        re.compile(r"\b(?:relative (?:risk )?(?:reduction|increase|decrease|difference)|RRR)\b", re.IGNORECASE),
    ),
    (
        "points",
        re.compile(r"\b(?:absolute (?:risk )?(?:reduction|increase|decrease|difference)|risk difference|ARR)\b", re.I),
    ),
)
_DIFFERENCE = re.compile(r"\b(?:difference|differed)\b", re.IGNORECASE)
_UP = re.compile(r"\b(?:higher|greater|more|increas\w+|rais\w+|larger|longer|doubl\w+|tripl\w+|twice)\b", re.IGNORECASE)
_DOWN = re.compile(r"\b(?:lower\w*|less|fewer|reduc\w+|decreas\w+|smaller|shorter|halv\w+|half)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:by|chang\w+|fall|fell|falls|rise|rose|risen|declin\w+|drop\w*|improv\w+|gain\w*|differ\w*|ratio|grew)\b",
    re.I,
)
_WAY = re.compile(r"\bfrom\b[^.;]*\bto\b", re.IGNORECASE)
_RESPECTIVELY = re.compile(r"([^.;]*?)[,\s]+respectively\b", re.IGNORECASE)
_OPERATION_STEMS = frozenset(
    """relat risk ratio rate odd number need treat harm absolut reduct increas decreas differ lower higher greater less
    fewer more reduc rais larger longer smaller shorter mean averag doubl tripl twice halv half time fold by point
    high like often common""".split()
)
_TIMES = frozenset("second minute hour day week month year".split())
_TOLERATED = 1 + 1e-9
_RATIO_SHARE = 0.05
_MEASURES: dict[Measure, tuple[str, str]] = {
    "risk_ratio": ("a / b", "risk ratio"),
    "odds_ratio": ("(a / (100 - a)) / (b / (100 - b))", "odds ratio"),
    "relative_change": ("(a - b) / b * 100", "relative difference"),
    "points": ("a - b", "difference"),
    "difference": ("a - b", "difference"),
    "needed": ("100 / (a - b)", "number needed to treat"),
}


@dataclass(frozen=True, slots=True)
class TwoArms:
    """Two figures of one kind in a sentence, each with the stems of its own arm alone; `common` is what both share."""

    evidence: Evidence
    span: Span
    first: Quantity
    second: Quantity
    first_words: frozenset[str]
    second_words: frozenset[str]
    common: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a claim asks of two arms: `left` stands before "than", `right` after it."""

    measure: Measure
    figure: Quantity
    left: frozenset[str]
    right: frozenset[str]
    said: tuple[str, ...]
    way: str
    others: frozenset[str]


def arms_verdict(ruling: Ruling, claim: str, evidence: Sequence[Evidence]) -> Verdict | None:
    """The verdict of a claim about an effect between two arms that one sentence of a source gives figures of."""
    asked = _asked(claim)
    if asked is None:
        return None
    fitting = []
    for item in evidence:
        for arms in _sentences_with_arms(item):
            sides = _sides(asked, arms)
            if sides is not None:
                fitting.append((arms, sides))
    if len(fitting) != 1:
        return None
    arms, (one, other) = fitting[0]
    return _compared(ruling, asked, arms, one, other)


# ------------------------------------------------------------ what is asked


def _asked(claim: str) -> _Asked | None:
    figures = [q for q in quantities(claim) if q.kind not in ("label", "year", "date")]
    main = [q for q in figures if q.kind in ("number", "percent", "points", "fold", "measure") and q.role == "value"]
    named = [(name, m) for name, pattern in _NAMED for m in [pattern.search(claim)] if m]
    reference = _REFERENCE.search(claim)
    if len(named) > 1 or reference is None:
        return None
    spans: list[Span] = []
    if named:
        measure: Measure = named[0][0]
        spans.append(Span(named[0][1].start(), named[0][1].end()))
        figure = _only(q for q in main if q.kind in _FIGURE_KINDS[measure])
    else:
        figure = _only(q for q in main if q.kind in ("fold", "points")) or (
            _only(q for q in main if q.kind == "measure" and _is_compared(claim, q, reference))
        )
        if figure is None:
            return None
        measure = {"fold": "risk_ratio", "points": "points"}.get(figure.kind, "difference")  # type: ignore[assignment]
    if figure is None or figure.is_range or figure.is_ambiguous or figure.comparator:
        return None
    spans.append(figure.span)
    bare = without(claim, [*spans, *(q.span for q in figures)])
    left, right = bare[: reference.start()], bare[reference.end() :]
    ways = {way for way, pattern in (("up", _UP), ("down", _DOWN)) if pattern.search(claim)}
    if len(ways) > 1:
        return None
    others = frozenset(_figure_key(q) for q in figures if q is not figure)
    return _Asked(
        measure, figure, frozenset(content_of(left)), frozenset(content_of(right)), content_of(bare),
        min(ways, default=""), others,
    )  # fmt: skip


_FIGURE_KINDS: dict[Measure, tuple[str, ...]] = {
    "risk_ratio": ("number", "fold"),
    "odds_ratio": ("number", "fold"),
    "needed": ("number",),
    "relative_change": ("percent",),
    "points": ("percent", "points"),
    "difference": ("measure",),
}


def _only(found: Iterator[Quantity]) -> Quantity | None:
    all_of = list(found)
    return all_of[0] if len(all_of) == 1 else None


def _is_compared(claim: str, figure: Quantity, reference: re.Match[str]) -> bool:
    """ "5 mmHg lower than", "a difference of 5 mmHg": a difference and no value."""
    after = claim[figure.span.end : reference.start()]
    return bool(re.match(r"\s(?:\w+\s)?(?:lower|higher|less|more|greater|longer|shorter|fewer)\b", after, re.I))


def _figure_key(quantity: Quantity) -> str:
    return f"{quantity.kind} {float(quantity.low):g} {float(quantity.high):g} {quantity.unit}"


# ------------------------------------------------------------ what a sentence gives


def _sentences_with_arms(item: Evidence) -> Iterator[TwoArms]:
    convention = convention_of(item.source.text)
    for span in source_sentences(item.source):
        text = span.of(item.source.text)
        arms = _arms_of(item, span, text, quantities(text, convention)) if states(item, span) else None
        if arms is not None:
            yield arms


def _arms_of(item: Evidence, span: Span, text: str, found: Sequence[Quantity]) -> TwoArms | None:
    outside = without_brackets(text)
    known = [q for q in found if q.kind not in ("label", "date")]
    plain = [q for q in known if outside[q.span.start : q.span.end].strip()]
    if _WAY.search(text):
        return None  # words are compared as sets, and "from A to B" is not "from B to A"
    pair = _pair_of(plain)
    blank = without(outside, [q.span for q in found])
    if pair is not None:
        # "Mortality fell by 12% with A and 24% with B": these are changes, and no risks.
        parts = None if _tells_of_change(blank) else _parts_about(blank, *pair)
    else:
        pair = _pair_of([q for q in known if q not in plain and not _is_of_test(q)])
        parts = _parts_with_brackets(text, blank, *pair) if pair is not None else None
    if pair is None or parts is None:
        return None
    before, first, second = parts
    common = before | (first & second)
    own_first, own_second = first - common - SILENT_STEMS, second - common - SILENT_STEMS
    if not own_first or not own_second:
        return None
    others = frozenset(_figure_key(q) for q in plain if q not in pair)
    return TwoArms(item, span, *pair, frozenset(own_first), frozenset(own_second), frozenset(common), others)


def _pair_of(found: Sequence[Quantity]) -> tuple[Quantity, Quantity] | None:
    """The two shares, or else the two measures of one unit, when there are just two and both are plain values."""
    main = [q for q in found if q.kind in ("percent", "fraction", "measure") and q.role == "value"]
    for kinds in (("percent", "fraction"), ("measure",)):
        pair = [q for q in main if q.kind in kinds]
        if len(pair) == 2 and pair[0].unit == pair[1].unit:
            is_plain = not any(
                q.is_range or q.comparator or q.is_ambiguous or q.is_changing or q.is_approximate for q in pair
            )
            return (pair[0], pair[1]) if is_plain else None
    return None


def _is_of_test(quantity: Quantity) -> bool:
    return quantity.kind == "p" or quantity.role != "value" or bool(quantity.name)


def _tells_of_change(blank: str) -> bool:
    return bool(_UP.search(blank) or _DOWN.search(blank) or _CHANGES.search(blank))


def _parts_about(blank: str, one: Quantity, two: Quantity) -> tuple[set[str], set[str], set[str]] | None:
    """Words before the first figure, of its arm and of the other: "12% with A and 24% with B"."""
    middle, after = blank[one.span.end : two.span.start], blank[two.span.end :]
    before = set(content_of(blank[: one.span.start]))
    joins = list(_JOINED.finditer(middle))
    if not joins:
        return None
    in_turn = _RESPECTIVELY.match(after)
    if in_turn and not content_of(middle):  # "12% and 24% in the aspirin and placebo groups, respectively"
        sides = _JOINED.split(in_turn[1])
        rest = set(content_of(after[in_turn.end() :]))
        return (before | rest, set(content_of(sides[0])), set(content_of(sides[1]))) if len(sides) == 2 else None
    join = next((j for j in joins if len(j.group()) > 1), joins[-1])
    first = set(content_of(middle[: join.start()]))
    second = set(content_of(f"{middle[join.end() :]} {after}"))
    return before, first, second


def _parts_with_brackets(
    text: str, blank: str, one: Quantity, two: Quantity
) -> tuple[set[str], set[str], set[str]] | None:
    """The same for "lower with A than with B (12% vs 24%)" and "lower with A (12%) than with B (24%)"."""
    if _CHANGES.search(blank):
        return None
    between = text[one.span.end : two.span.start]
    is_one_bracket = not re.search(r"[)\]]", between)
    if is_one_bracket and not re.fullmatch(r"\s?(?:versus|vs\.?|and|compared with|,|;)\s?", between):
        return None
    start = 0 if is_one_bracket else one.span.end
    references = list(_REFERENCE.finditer(blank, start, one.span.start if is_one_bracket else two.span.start))
    ways = {way for way, pattern in (("up", _UP), ("down", _DOWN)) if pattern.search(blank)}
    fits = len(ways) == 1 and (one.low > two.low) == ("up" in ways) and one.low != two.low
    if len(references) != 1 or not fits:
        return None
    end = blank.find(";") if ";" in blank else len(blank)
    if end < two.span.end:
        return None
    first = set(content_of(blank[: references[0].start()])) - _OPERATION_STEMS
    second = set(content_of(blank[references[0].end() : end])) - _OPERATION_STEMS
    return set(), first, second


def _sides(asked: _Asked, arms: TwoArms) -> tuple[Quantity, Quantity] | None:
    """The figure of the arm that the claim speaks of, and that of its reference; None when the words do not fit."""
    there = arms.common | arms.first_words | arms.second_words
    said = set(asked.said) - _OPERATION_STEMS
    over = left_out(asked.said, tuple(there), frozenset({"rate"}))
    if added(tuple(said), tuple(there)) or over or asked.others != arms.others:
        return None
    if (set(asked.said) ^ set(there)) & LIMIT_STEMS:
        return None
    first, second, left, right = arms.first_words, arms.second_words, asked.left, asked.right
    # The sentence's last words may be of its second arm or of both ("… and 24% on placebo died").
    if first & left and not first & right and (second & right) - left:
        return arms.first, arms.second
    if second & left and first & right and not first & left and not second & right:
        return arms.second, arms.first
    return None


# ------------------------------------------------------------ the verdict


def _compared(ruling: Ruling, asked: _Asked, arms: TwoArms, one: Quantity, other: Quantity) -> Verdict | None:
    is_share = one.kind in ("percent", "fraction")
    if (asked.measure == "difference") == is_share or (not is_share and asked.measure != "difference"):
        return None
    if not is_share and asked.figure.unit != one.unit:
        return None
    formula, called = _MEASURES[asked.measure]
    formula = _turned(formula, asked, one, other)
    quote = quote_proof(arms.evidence, arms.span, "supports")
    operands = (Operand("a", float(one.low), quote), Operand("b", float(other.low), quote))
    try:
        result = evaluate_formula(formula, {o.name: o.value for o in operands})
        lowest, highest = _bounds(formula, one, other)
    except (ValueError, ArithmeticError):
        return None
    is_right_way = not asked.way or (asked.way == "up") == (one.low > other.low) or one.low == other.low
    if asked.measure in ("risk_ratio", "odds_ratio") and asked.figure.kind == "number":
        is_right_way = True  # the ratio itself tells which way it goes
    claimed = abs(float(asked.figure.low))
    allowed = _allowed(asked)
    unit = {"points": "points", "relative_change": "%", "difference": one.unit}.get(asked.measure, "")
    sentence = arms.span.of(arms.evidence.source.text)
    given = f"{one.span.of(sentence).strip()} and {other.span.of(sentence).strip()}"
    if is_right_way and abs(claimed - result) <= allowed:
        proof = ComputationProof(formula, operands, result, claimed, allowed, "supports", unit)
        told = f"From {given} the {called} is {result:.3g}{_after(unit)}, as the answer says to its last digit."
        return ruling.verdict("supported", "computed", told, (proof,))
    if not is_right_way and abs(claimed - result) <= allowed:
        proof = ComputationProof(formula, operands, result, claimed, allowed, "contradicts", unit)
        told = f"The figures are {given}: the difference is as large as the answer says, and goes the other way."
        return ruling.verdict("contradicted", "direction_differs", told, (proof,))
    if lowest - allowed <= claimed <= highest + allowed or gives(arms.evidence.source.text, claimed):
        return None  # the source's own figures are rounded, or it gives another ratio itself: it may be so
    proof = ComputationProof(formula, operands, result, claimed, allowed, "contradicts", unit)
    told = f"From {given} the {called} is {result:.3g}{_after(unit)}; the answer says {claimed:g}{_after(unit)}."
    return ruling.verdict("contradicted", "number_differs", told, (proof,))


def _allowed(asked: _Asked) -> float:
    """Half of the claim's last digit; of a ratio no more than a twentieth, as "doubled" and "RR 2" are not 1.6."""
    claimed = abs(float(asked.figure.low))
    if asked.measure == "needed":
        return 1.0  # rounded up by convention
    half = float(tolerance(asked.figure)) * _TOLERATED
    if asked.measure not in ("risk_ratio", "odds_ratio"):
        return half
    is_whole = asked.figure.step >= 1
    return _RATIO_SHARE * claimed if is_whole else min(half, _RATIO_SHARE * claimed)


def _turned(formula: str, asked: _Asked, one: Quantity, other: Quantity) -> str:
    """The formula with its larger figure first, where a claim tells the size alone and the way in words."""
    if asked.measure in ("points", "difference", "needed") and one.low < other.low:
        return formula.replace("(a - b)", "(b - a)").replace("a - b", "b - a")
    if asked.measure == "relative_change" and one.low < other.low:
        return "(b - a) / b * 100"
    return formula


def _bounds(formula: str, one: Quantity, other: Quantity) -> tuple[float, float]:
    """Between what the result may lie, as the source's own figures are rounded."""
    results = []
    for a, b in product((-0.5, 0.5), repeat=2):
        values = {
            "a": float(one.low) + a * _step(one),
            "b": float(other.low) + b * _step(other),
        }
        try:
            results.append(evaluate_formula(formula, values))
        except (ValueError, ArithmeticError):
            return -math.inf, math.inf
    return min(results), max(results)


def _step(quantity: Quantity) -> float:
    return 0.0 if quantity.kind == "fraction" else float(quantity.step)


def _after(unit: str) -> str:
    return "%" if unit == "%" else f" {unit}{'s' if unit in _TIMES else ''}" if unit else ""
