"""Claims about a table of figures in plain text (CSV): totals, means and extremes of a column, and single cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from medcite_core.answers import ComputationProof, Operand, Verdict
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.figure_frames import LIMIT_STEMS, added, content_of, without
from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.number_forms import convention_of, numerals
from medcite_middleware.verification.quantities import quantities
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.sources import quote_proof

MIN_ROWS, MAX_ROWS = 2, 200
"""Of a table that is computed over: every cell is an operand, and a proof must stay readable."""

_DELIMITERS = ",;\t|"
_TOTAL = re.compile(r"\b(?:total(?:led|ed|s)?|sum|in all|altogether|overall|combined)\b", re.IGNORECASE)
_MEAN = re.compile(r"\b(?:mean|average)\b", re.IGNORECASE)
_MOST = re.compile(r"\b(?:largest|highest|greatest|biggest|most(?: common| frequent)?|maximum|top)\b", re.IGNORECASE)
_LEAST = re.compile(r"\b(?:smallest|lowest|fewest|least(?: common| frequent)?|minimum)\b", re.IGNORECASE)
_ABOUT_TABLES = frozenset("tabl row column number count file data valu categori entri item record n".split())


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table that stands in a source as lines of cells: a `header`, labelled rows, and one column of figures."""

    evidence: Evidence
    header: tuple[str, ...]
    labels: tuple[str, ...]
    values: tuple[float, ...]
    lines: tuple[Span, ...]

    def operands(self, at: Sequence[int] | None = None) -> tuple[Operand, ...]:
        """The cells as operands, each with the line that it stands on."""
        rows = range(len(self.values)) if at is None else at
        return tuple(
            Operand(f"x{n + 1}", self.values[n], quote_proof(self.evidence, self.lines[n], "supports")) for n in rows
        )


def table_verdict(ruling: Ruling, claim: str, evidence: Sequence[Evidence]) -> Verdict | None:
    """The verdict of a claim about the one table among its sources; None without one, or if it asks something else."""
    most, least = _MOST.search(claim), _LEAST.search(claim)
    if not (most or least or _TOTAL.search(claim) or _MEAN.search(claim)):
        return None
    tables = [table for item in evidence for table in _tables(item)]
    if len(tables) != 1:
        return None
    table = tables[0]
    if most or least:
        return _extreme(ruling, claim, table, most or least, is_most=most is not None)  # type: ignore[arg-type]
    for pattern, name in ((_TOTAL, "sum"), (_MEAN, "mean")):
        asked = pattern.search(claim)
        if asked:
            return _of_column(ruling, claim, table, asked, name)
    return None


def _tables(item: Evidence) -> Iterator[TextTable]:
    """A source that is a table from its first line to its last, with one column of names and one of figures."""
    lines = list(_lines(item.source.text))
    if not MIN_ROWS + 1 <= len(lines) <= MAX_ROWS + 1:
        return
    head = lines[0].of(item.source.text)
    delimiter = max(_DELIMITERS, key=head.count)
    if not head.count(delimiter):
        return
    rows = [next(csv.reader([line.of(item.source.text)], delimiter=delimiter)) for line in lines]
    if any(len(row) != len(rows[0]) for row in rows) or any(_number(cell, "point") is not None for cell in rows[0]):
        return
    convention = "comma" if delimiter != "," and convention_of(item.source.text) == "comma" else "point"
    numeric = [c for c in range(len(rows[0])) if all(_number(row[c], convention) is not None for row in rows[1:])]
    named = [c for c in range(len(rows[0])) if c not in numeric]
    if len(numeric) != 1 or len(named) != 1:  # of several columns none is guessed
        return
    values = tuple(_number(row[numeric[0]], convention) or 0.0 for row in rows[1:])
    labels = tuple(row[named[0]].strip() for row in rows[1:])
    yield TextTable(item, tuple(rows[0]), labels, values, tuple(lines[1:]))


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare:
            begin = start + line.index(bare)
            yield Span(begin, begin + len(bare))
        start += len(line)


def _number(cell: str, convention: str) -> float | None:
    bare = cell.strip()
    found = numerals(bare, convention)
    is_whole_cell = len(found) == 1 and found[0].span == Span(0, len(bare)) and not found[0].is_in_words
    return float(found[0].value) if is_whole_cell and not found[0].is_ambiguous else None


def _is_about(claim: str, spans: Sequence[Span], table: TextTable, names: Sequence[str] = ()) -> bool:
    said = content_of(without(claim, spans))
    there = {s for cell in (*table.header, *names) for s in content_of(cell)}
    over = added(said, tuple(there), _ABOUT_TABLES)
    return not over and not set(said) & LIMIT_STEMS


def _of_column(ruling: Ruling, claim: str, table: TextTable, asked: re.Match[str], name: str) -> Verdict | None:
    figures = [q for q in quantities(claim) if q.kind != "label"]
    if len(figures) != 1 or figures[0].kind not in ("number", "year") or figures[0].is_ambiguous:
        return None
    figure = figures[0]
    if figure.is_range or figure.comparator:
        return None
    if not _is_about(claim, [figure.span, Span(asked.start(), asked.end())], table):
        return None
    operands = table.operands()
    formula = f"{name}({', '.join(o.name for o in operands)})"
    if len(formula) > _MAX_SHOWN:
        formula = f"{name}({operands[0].name}, …, {operands[-1].name})"
    result = evaluate_formula_of(name, [o.value for o in operands])
    claimed, tolerance = float(figure.low), float(figure.step) / 2 * (1 + 1e-9)
    called = "total" if name == "sum" else "mean"
    if abs(claimed - result) <= tolerance:
        proof = ComputationProof(formula, operands, result, claimed, tolerance, "supports")
        told = f"The {called} of the {len(operands)} rows is {result:g}."
        return ruling.verdict("supported", "computed", told, (proof,))
    proof = ComputationProof(formula, operands, result, claimed, tolerance, "contradicts")
    told = f"The {called} of the {len(operands)} rows is {result:g}; the answer says {claimed:g}."
    return ruling.verdict("contradicted", "number_differs", told, (proof,))


_MAX_SHOWN = 280


def evaluate_formula_of(name: str, values: Sequence[float]) -> float:
    """`sum`, `mean`, `max` or `min` of any number of values, in pieces that a formula can hold."""
    total = 0.0
    for at in range(0, len(values), 20):
        part = {f"x{n}": value for n, value in enumerate(values[at : at + 20], 1)}
        total += evaluate_formula(f"sum({', '.join(part)})", part)
    return total / len(values) if name == "mean" else total


def _extreme(ruling: Ruling, claim: str, table: TextTable, asked: re.Match[str], *, is_most: bool) -> Verdict | None:
    named = [n for n, label in enumerate(table.labels) if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", claim, re.I)]
    if len(named) != 1:
        return None
    label = table.labels[named[0]]
    spans = [Span(asked.start(), asked.end())]
    if any(q.kind != "label" for q in quantities(without(claim, _places(claim, label)))):
        return None
    if not _is_about(claim, [*spans, *_places(claim, label)], table):
        return None
    extreme = max(table.values) if is_most else min(table.values)
    own = table.values[named[0]]
    holders = [n for n, value in enumerate(table.values) if value == extreme]
    called = "largest" if is_most else "smallest"
    first = list(dict.fromkeys([holders[0], named[0]]))  # what decides stands first
    operands = table.operands([*first, *(n for n in range(len(table.values)) if n not in first)])
    formula = f"{'max' if is_most else 'min'}({operands[0].name}, …, {operands[-1].name})"
    if own == extreme and len(holders) == 1:
        proof = ComputationProof(formula, operands, extreme, own, 0.0, "supports")
        told = f"{label} has {own:g}, the {called} of the {len(operands)} rows."
        return ruling.verdict("supported", "computed", told, (proof,))
    if own == extreme:
        return None  # several share the place
    proof = ComputationProof(formula, operands, extreme, own, 0.0, "contradicts")
    told = f"{label} has {own:g}; the {called} is {table.labels[holders[0]]} with {extreme:g}."
    return ruling.verdict("contradicted", "number_differs", told, (proof,))


def _places(claim: str, label: str) -> list[Span]:
    return [Span(m.start(), m.end()) for m in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", claim, re.IGNORECASE)]
