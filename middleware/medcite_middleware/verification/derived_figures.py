"""Figures that a claim derives from several of a source: of lists, of two arms. Each recomputed, with its operands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

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
from medcite_middleware.verification.number_forms import convention_of
from medcite_middleware.verification.quantities import Quantity, quantities
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.sources import quote_proof, source_sentences, states
from medcite_middleware.verification.tables import table_verdict
from medcite_middleware.verification.two_arms import arms_verdict

MIN_LISTED = 3
MAX_LEFT_OUT = 4
"""Most words of the sentence of a list that a claim about all of it may leave out ("three wards … on the audit")."""

_JOIN = re.compile(r"\s*(?:,|;|,?\s*and|,?\s*or|/)\s*")
_OPERATIONS = (
    ("mean", re.compile(r"\b(?:(?:the|an?|on)\s)?(?:mean|average|averaged)\b", re.IGNORECASE)),
    (
        "sum",
        re.compile(r"\b(?:total(?:led|ed)?|sum|combined|in all|altogether|together|add(?:s|ed)? up)\b", re.IGNORECASE),
    ),
    ("max", re.compile(r"\b(?:highest|largest|greatest|maximum|max|best|top)\b", re.IGNORECASE)),
    ("min", re.compile(r"\b(?:lowest|smallest|(?<!at )least|minimum|min|worst)\b", re.IGNORECASE)),
    ("all", re.compile(r"\b(?:all|every|each|both|none|no)\b", re.IGNORECASE)),
)
_PLACING = frozenset("lie lay fell fall rang reach stay remain exceed above below over under least most".split())


@dataclass(frozen=True, slots=True)
class FigureList:
    """Figures of one kind that a sentence of a source lists: `members`, whose spans are in that sentence."""

    evidence: Evidence
    span: Span
    text: str
    members: tuple[Quantity, ...]
    figures: tuple[Quantity, ...]

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Each figure with the sentence that it stands in."""
        quote = quote_proof(self.evidence, self.span, "supports")
        return tuple(Operand(f"x{n}", float(q.low), quote) for n, q in enumerate(self.members, 1))


def derived_verdict(ruling: Ruling, claim: str, evidence: Sequence[Evidence]) -> Verdict | None:
    """The verdict of a claim whose figure follows from several of a source; None when no formula fits it.

    `claim` is without citation marks; `evidence` what it may rest on, retracted records left out.
    """
    sources = list({e.source.source_id: e for e in reversed(evidence)}.values())[::-1]  # each is read once, whole
    found = table_verdict(ruling, claim, sources) or arms_verdict(ruling, claim, sources)
    return found or _list_verdict(ruling, claim, sources)


def _list_verdict(ruling: Ruling, claim: str, evidence: Sequence[Evidence]) -> Verdict | None:
    operation, op_span = _operation(claim)
    figures = [q for q in quantities(claim) if q.kind not in ("label", "date", "year", "p")]
    if not operation or len(figures) != 1 or figures[0].is_ambiguous or figures[0].is_changing:
        return None
    asked = figures[0]
    said = [s for s in content_of(without(claim, [asked.span, op_span])) if s not in _PLACING]
    lists = [found for item in evidence for found in _lists(item, asked)]
    most = MAX_LEFT_OUT if operation != "sum" else 1
    fitting = [found for found in lists if said and _is_about(said, found, most)]
    if len(fitting) != 1 or _has_other_figures(fitting[0]):
        return None
    if operation == "all":
        if _generalises(claim, op_span, fitting[0]):
            return None
        return _all_of(ruling, asked, fitting[0], is_denied=_denies(claim, op_span))
    return _one_of(ruling, operation, asked, fitting[0])


def _operation(claim: str) -> tuple[str, Span]:
    found = [(name, m) for name, pattern in _OPERATIONS for m in [pattern.search(claim)] if m]
    if len(found) != 1:
        return "", Span(0, 0)
    return found[0][0], Span(found[0][1].start(), found[0][1].end())


def _denies(claim: str, op_span: Span) -> bool:
    return op_span.of(claim).casefold() in ("none", "no")


def _is_about(said: Sequence[str], found: FigureList, most: int) -> bool:
    """Whether a claim speaks of what the list lists: all its words stand there, and at most `most` others do."""
    there = content_of(without(found.text, [q.span for q in quantities(found.text)]))
    over = left_out(said, there)
    return not added(said, there) and len(over) <= most and not over & LIMIT_STEMS


def _generalises(claim: str, op_span: Span, found: FigureList) -> bool:
    """Whether a claim speaks of all patients where the sentence tells of three: the rest may be otherwise."""
    noun = content_of(claim[op_span.end :])[:1]
    counted = {
        stem
        for q in found.figures
        if q not in found.members
        for stem in content_of(found.text[q.span.end : found.members[0].span.start])[:1]
    }
    return bool(set(noun) & (counted | SILENT_STEMS))


def _has_other_figures(found: FigureList) -> bool:
    """Whether figures beside the list ("… at 1, 2 and 3 years") make it one of times or groups: all but its number."""
    others = [q for q in found.figures if q.kind != "label" and q not in found.members]
    return any(q.kind != "number" or q.low != len(found.members) for q in others)


def _lists(item: Evidence, asked: Quantity) -> Iterator[FigureList]:
    """The lists of an item's sentences whose figures are of the kind asked for."""
    convention = convention_of(item.source.text)
    for span in source_sentences(item.source):
        text = span.of(item.source.text)
        if not states(item, span):
            continue
        outside = without_brackets(text)
        figures = tuple(q for q in quantities(text, convention) if outside[q.span.start : q.span.end].strip())
        run: list[Quantity] = []
        for quantity in (*figures, None):
            if quantity is not None and (not run or _JOIN.fullmatch(text[run[-1].span.end : quantity.span.start])):
                run.append(quantity)
                continue
            members = _same_kind(run)
            if len(members) >= MIN_LISTED and members[-1].kind == asked.kind and members[-1].unit == asked.unit:
                yield FigureList(item, span, text, members, figures)
            run = [] if quantity is None else [quantity]


def _same_kind(run: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """The figures of a run, if all are plain values of one kind; the last one's unit may be all's ("5, 7 and 9 mg")."""
    if not run:
        return ()
    last = run[-1]
    is_like = all(
        q.role == "value"
        and not (q.is_range or q.comparator or q.is_ambiguous)
        and q.kind in (last.kind, "number")
        and q.unit in (last.unit, "")
        for q in run
    )
    return tuple(run) if is_like and last.kind in ("percent", "measure", "money", "number", "fraction") else ()


# ------------------------------------------------------------ one figure of all


_FORMULAS = {"mean": "mean({})", "sum": "sum({})", "max": "max({})", "min": "min({})"}
_CALLED = {"mean": "mean", "sum": "sum", "max": "highest", "min": "lowest"}


def _one_of(ruling: Ruling, operation: str, asked: Quantity, found: FigureList) -> Verdict | None:
    if asked.is_range or asked.comparator or (operation == "sum" and asked.kind in ("percent", "fraction")):
        return None
    formula = _FORMULAS[operation].format(", ".join(o.name for o in found.operands))
    result = evaluate_formula(formula, {o.name: o.value for o in found.operands})
    tolerance = float(asked.step) / 2 * (1 + 1e-9)
    claimed = float(asked.low)
    unit = "%" if asked.kind in ("percent", "fraction") else asked.unit
    given = ", ".join(f"{float(q.low):g}" for q in found.members)
    if abs(claimed - result) <= tolerance:
        proof = ComputationProof(formula, found.operands, result, claimed, tolerance, "supports", unit)
        told = (
            f"The {_CALLED[operation]} of {given} is {result:.4g}{_after(unit)}, as the answer says to its last digit."
        )
        return ruling.verdict("supported", "computed", told, (proof,))
    values = [float(q.low) for q in found.members]
    # A mean of groups may weigh them: only one that lies outside of all of them cannot be.
    is_possible = operation == "mean" and min(values) - tolerance <= claimed <= max(values) + tolerance
    if is_possible or (operation in ("mean", "sum") and gives(found.evidence.source.text, claimed)):
        return None
    proof = ComputationProof(formula, found.operands, result, claimed, tolerance, "contradicts", unit)
    told = (
        f"The {_CALLED[operation]} of {given} is {result:.4g}{_after(unit)}; the answer says {claimed:g}{_after(unit)}."
    )
    return ruling.verdict("contradicted", "number_differs", told, (proof,))


def _all_of(ruling: Ruling, asked: Quantity, found: FigureList, *, is_denied: bool) -> Verdict | None:
    """Whether all figures of a list lie where the claim says, or none does; each is compared, the list quoted."""
    if not (asked.is_range or asked.comparator):
        return None
    inside = [_lies(q.low, asked) for q in found.members]
    wrong = [q for q, is_in in zip(found.members, inside, strict=True) if is_in == is_denied]
    given = ", ".join(f"{float(q.low):g}" for q in found.members)
    where = _where(asked, "%" if asked.kind == "percent" else asked.unit)
    if not wrong:
        told = f"{'None' if is_denied else 'All'} of {given} lie{'s' if is_denied else ''} {where}."
        proof = quote_proof(found.evidence, found.span, "supports")
        return ruling.verdict("supported", "computed", told, (proof,))
    told = f"Of {given}, {float(wrong[0].low):g} {'lies' if is_denied else 'does not lie'} {where}."
    proof = quote_proof(found.evidence, found.span, "contradicts")
    return ruling.verdict("contradicted", "number_differs", told, (proof,))


def _lies(value: Decimal, asked: Quantity) -> bool:
    if asked.is_range:
        return asked.low <= value <= asked.high
    return {
        "<": value < asked.low,
        "≤": value <= asked.low,
        ">": value > asked.low,
        "≥": value >= asked.low,
    }[asked.comparator]


def _where(asked: Quantity, unit: str) -> str:
    if asked.is_range:
        return f"between {float(asked.low):g} and {float(asked.high):g}{_after(unit)}"
    words = {"<": "below", "≤": "at or below", ">": "above", "≥": "at or above"}
    return f"{words[asked.comparator]} {float(asked.low):g}{_after(unit)}"


def _after(unit: str) -> str:
    return "%" if unit == "%" else f" {unit}" if unit else ""
