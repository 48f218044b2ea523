"""Evaluates formulas over named figures: arithmetic and nothing else, whoever wrote them."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from typing import Any

MAX_FORMULA_CHARS = 300


def evaluate_formula(formula: str, operands: Mapping[str, float]) -> float:
    """The value of `formula`, in which the names of `operands` stand for their values.

    It may add, subtract, multiply, divide, and call `abs`, `min`, `max`, `sum`, `mean` of numbers.

    Raises:
        ValueError: it is too long, uses something else or an unknown name, or its value is no finite number.
        ArithmeticError: it divides by zero.
    """
    from simpleeval import InvalidExpression, SimpleEval

    if len(formula) > MAX_FORMULA_CHARS:
        raise ValueError(f"a formula has at most {MAX_FORMULA_CHARS} characters")
    evaluator = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=dict(operands))
    evaluator.nodes = {node: read for node, read in evaluator.nodes.items() if node in _NODES}
    try:
        tree = ast.parse(formula.strip(), mode="eval")
        value = evaluator.eval(formula, previously_parsed=tree.body)
    except (InvalidExpression, SyntaxError, TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"the formula cannot be evaluated: {error}") from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("the formula does not give a number")
    return float(value)


def _mean(*values: float) -> float:
    return math.fsum(values) / len(values)


def _sum(*values: float) -> float:
    return math.fsum(values)


_FUNCTIONS: dict[str, Any] = {"abs": abs, "min": min, "max": max, "sum": _sum, "mean": _mean}


_OPERATORS: dict[Any, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_NODES = (ast.Expression, ast.Expr, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant)
"""What a formula may consist of: no conditions, attributes, texts or lists."""
