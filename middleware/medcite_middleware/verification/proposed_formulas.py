"""Whether a formula that a chat model proposes can bear a figure out, or was only made to give it."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence

from medcite_middleware.verification.quantities import quantities
from medcite_middleware.verification.units import factor

MAX_OPERATIONS = 24
"""More steps than any rate, ratio or mean of twenty figures needs."""

_SCALES = frozenset({1, 100, 1000, 10_000, 100_000, 1_000_000})


def why_unfit(expression: str, names: Sequence[str]) -> str:
    """Why an expression says nothing about its operands; empty for one that does.

    It uses every operand, and no numbers of its own but 1, powers of ten (per cent, per 1,000) and how many operands
    there are (a mean): any other could be chosen so that the result fits.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "The expression cannot be read."
    nodes = list(ast.walk(tree))
    if sum(isinstance(n, ast.BinOp | ast.UnaryOp | ast.Call) for n in nodes) > MAX_OPERATIONS:
        return "The expression is too long."
    functions = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    used = {n.id for n in nodes if isinstance(n, ast.Name)} - functions
    if used != set(names):
        return "The expression must use every operand that you give, and nothing else."
    known = _SCALES | set(range(2, len(names) + 1))
    constants = [n.value for n in nodes if isinstance(n, ast.Constant)]
    strange = [c for c in constants if isinstance(c, bool) or c not in known]
    return f"The number {strange[0]!r} in the expression stands in no evidence." if strange else ""


Evaluate = Callable[[str, Mapping[str, float]], float]
"""A safe evaluator of formulas; ValueError or ArithmeticError for one that it does not take."""


def why_idle(evaluate: Evaluate, expression: str, values: Mapping[str, float]) -> str:
    """Why an operand does nothing in an expression (`a + b - b`); empty when the result hangs on each of them.

    Raises:
        ValueError: the expression cannot be evaluated.
        ArithmeticError: it divides by zero.
    """
    result = evaluate(expression, values)
    for name, value in values.items():
        moved = evaluate(expression, {**values, name: value * 1.01 + 0.01})
        is_chosen = "max(" in expression or "min(" in expression
        if math.isclose(moved, result, rel_tol=1e-9, abs_tol=1e-12) and not is_chosen:
            return f"The operand {name} does nothing in the expression."
    return ""


def why_other_kind(claim: str, claimed: float, operands: Mapping[str, tuple[float, str]]) -> str:
    """Why the claim's figure is no result of these operands (value and the words they stand in); empty if it may be.

    A year, a label, a p-value or the bound of an interval is no result; and what is measured stays what it is:
    milligrams are not worked out of millimetres, nor of percentages.
    """
    asked = [q for q in quantities(claim) if claimed in (float(q.low), float(q.high))]
    results = [q for q in asked if q.kind not in ("year", "date", "label", "p", "pair", "ratio") and q.role == "value"]
    if not results:
        return f"{claimed:g} is no figure of the claim that follows from others."
    if any(q.is_ambiguous for q in results):
        return f"{claimed:g} may be read in two ways."
    units = {q.unit for q in results if q.kind in ("measure", "money")}
    if not units:
        return ""
    stated = [q for value, words in operands.values() for q in quantities(words) if float(q.low) == value]
    given = {q.unit for q in stated if q.kind in ("measure", "money")}
    if not any(_is_same(unit, other) for unit in units for other in given):
        return (
            f"The claim's figure is in {', '.join(sorted(units))}, those of the evidence in {', '.join(sorted(given))}."
        )
    return ""


def _is_same(unit: str, other: str) -> bool:
    return factor(unit, other) == 1
