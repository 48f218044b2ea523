"""What a person reads on a terminal: answers with their verdicts and quotes, search results, tables, problems."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from medcite.doctor import Check
from medcite_middleware.events import AnswerOut, ComputationOut, EvidenceOut, RecordOut, SearchReportOut, VerdictOut
from medcite_middleware.export.verdicts.report import VerificationReport

# A shape and a word for each verdict, never colour alone.
VERDICT_MARKS = {
    "supported": ("✓", "supported", "green"),
    "contradicted": ("✗", "contradicted", "red"),
    "unsupported": ("○", "unsupported", "yellow"),
    "conflicting": ("≠", "conflicting", "magenta"),
    "unchecked": ("?", "not checked", "dim"),
}
CHECK_MARKS = {"ok": ("✓", "ok", "green"), "warn": ("!", "warn", "yellow"), "fail": ("✗", "fail", "red")}
_THOUSAND, _WRITTEN_OUT = 1e3, 1e12
_MAX_OPERANDS = 6
"""Of a long table only the ends are printed; reports hold them all."""
ALARMING = ("retracted", "partially_retracted", "retraction_notice", "expression_of_concern")


def results() -> Console:
    """Standard output. What is printed is text: nothing in it is taken for markup, and pipes get unwrapped lines."""
    return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def messages() -> Console:
    """Standard error."""
    return Console(file=sys.stderr, markup=False, highlight=False, emoji=False, soft_wrap=not sys.stderr.isatty())


def plain(text: str) -> str:
    """`text` without control characters: a record or a model must not steer the terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") else "�" for c in text)


def many(number: int, word: str) -> str:
    """`1 record`, `2,000 records`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def print_error(message: str, hint: str) -> None:
    """One line on what went wrong and one on what to do, on standard error."""
    out = messages()
    out.print(f"medcite: {plain(message)}")
    out.print(f"  {plain(hint)}")


def print_answer_end(answer: AnswerOut, out: Console) -> None:
    """What follows the streamed text: each claim's verdict with its quotes, the sources, and what was searched."""
    out.print()
    if answer.verdicts:
        out.print(Text("Checked sentence by sentence", style="bold"))
        for claim, verdict in zip(answer.claims, answer.verdicts, strict=True):
            _print_verdict(claim.text, verdict, out)
        out.print(_summary(answer))
        out.print()
    _print_sources(answer.evidence, out)
    out.print(Text(search_line(answer.search), style="dim"))


def _print_verdict(claim: str, verdict: VerdictOut, out: Console, names: Mapping[str, str] | None = None) -> None:
    mark, word, style = VERDICT_MARKS[verdict.label]
    out.print(Text.assemble((f"  {mark} {word}", style), f"  {_one_line(claim)}"))
    if verdict.explanation and verdict.label != "supported":
        out.print(Text(f"      {plain(verdict.explanation)}", style="dim"))
    for proof in verdict.proofs:
        if proof.kind == "quote":
            source = f"PMID {proof.pmid}" if proof.pmid else (names or {}).get(proof.document, proof.document)
            where = source + (f", {proof.section}" if proof.section else "")
            number = f"[{proof.evidence_number}] " if proof.evidence_number else ""
            against = "against it: " if proof.shows == "contradicts" else ""
            out.print(f"      {number}{against}“{_one_line(proof.text, 400)}” ({plain(where)})")
        elif proof.computation is not None:
            for line in _computation_lines(proof.computation, names or {}):
                out.print(line)
        elif proof.scan is not None:
            scan = proof.scan
            tried = ", ".join(scan.forms_tried)
            out.print(f"      searched {scan.blocks_scanned} of {scan.blocks_total} passages for: {plain(tried)}")


def _figure(value: float) -> str:
    if value == round(value) and abs(value) < _WRITTEN_OUT:
        return f"{value:,.0f}"
    return f"{value:,.2f}" if _THOUSAND <= abs(value) < _WRITTEN_OUT else f"{value:.6g}"


def _computation_lines(made: ComputationOut, names: Mapping[str, str]) -> Iterator[str]:
    """The formula with its operands and result, then each sentence that gave one."""
    unit = f" {plain(made.unit)}" if made.unit else ""
    shown = made.operands if len(made.operands) <= _MAX_OPERANDS else [*made.operands[:2], made.operands[-1]]
    given = ", ".join(f"{plain(o.name)} = {_figure(o.value)}" for o in shown)
    where = "" if made.formula in {o.name for o in shown} else f" where {given}"
    yield (
        f"      {plain(made.formula)} = {_figure(made.result)}{unit}{where}; "
        f"the claim says {_figure(made.claimed)}, to within {_figure(made.tolerance)}"
    )
    for quote in {o.quote.text: o.quote for o in shown}.values():
        source = f"PMID {quote.pmid}" if quote.pmid else names.get(quote.document, quote.document)
        number = f"[{quote.evidence_number}] " if quote.evidence_number else ""
        yield f"      {number}“{_one_line(quote.text, 400)}” ({plain(source)})"


def print_report(report: VerificationReport, out: Console) -> None:
    """A checked text: each claim with its verdict, its proofs and where they stand; then what was counted."""
    for entry in report.entries:
        if not entry.parts:
            out.print(Text(f"  – not checkable  {_one_line(entry.claim)}", style="dim"))
        for part in entry.parts:
            names = {e.record.document: e.record.title for e in entry.evidence}
            _print_verdict(part.claim.text, part.verdict, out, names)
            if part.verdict.review:
                out.print(Text(f"      look at it: {plain(part.verdict.review)}", style="yellow"))
    counts = report.counts
    said = f"  {counts.claims_checked} of {counts.claims} claims could be checked"
    grounded = "" if report.groundedness is None else f"; {report.groundedness:.0%} of all are supported"
    out.print(f"{said}{grounded}.")
    for problem in report.unreadable_sources:
        out.print(Text(f"  not read: {plain(problem)}", style="yellow"))


def _summary(answer: AnswerOut) -> str:
    counted = f"  {answer.checked} of {answer.total} could be checked"
    if answer.groundedness is None:
        return counted + ("; these are quotations, so no share is given" if answer.mode == "quotations" else "")
    return f"{counted}; {answer.groundedness:.0%} of all are supported"


def _print_sources(evidence: Sequence[EvidenceOut], out: Console) -> None:
    if not evidence:
        return
    out.print(Text("Sources", style="bold"))
    numbers: dict[str, list[int]] = {}
    records: dict[str, RecordOut] = {}
    for one in evidence:
        numbers.setdefault(one.pmid, []).append(one.number)
        records[one.pmid] = one.record
    for pmid, record in records.items():
        out.print(f"  [{', '.join(map(str, numbers[pmid]))}] {reference(record)}")
        _print_notice(record, out, "      ")
        out.print(Text(f"      {record.pubmed_url}", style="dim"))
    out.print()


def reference(record: RecordOut) -> str:
    """Authors, title, journal and date on one line."""
    journal = record.journal_abbreviation or record.journal
    parts = (record.authors_short.rstrip("."), record.title.rstrip("."), journal.rstrip("."), record.date_display)
    return _one_line(". ".join(part for part in parts if part) + ".", 400)


def _print_notice(record: RecordOut, out: Console, indent: str) -> None:
    if record.status in ALARMING:
        out.print(Text(f"{indent}!! {record.status_text}", style="bold red"))
    elif record.status == "corrected":
        out.print(Text(f"{indent}! {record.status_text}", style="yellow"))


def print_hits(hits: Iterable[tuple[RecordOut, Sequence[str]]], out: Console) -> None:
    """Records found, best first, each with its passages."""
    for position, (record, passages) in enumerate(hits, start=1):
        out.print(f"{position:>3}. {reference(record)}")
        _print_notice(record, out, "     ")
        for passage in passages:
            out.print(f"     {_one_line(passage, 300)}")
        out.print(Text(f"     PMID {record.pmid}  {record.pubmed_url}", style="dim"))


def search_line(report: SearchReportOut) -> str:
    """What was really searched, in one line."""
    how = "by words and meaning" if report.mode == "hybrid" else "by words"
    line = f"Searched {how} in {report.passed:,} of {many(report.corpus_records, 'record')}"
    if report.applied_filter:
        line += "; filter: " + ", ".join(f"{key}={_show(value)}" for key, value in report.applied_filter.items())
    return plain(f"{line}. {report.note}" if report.note else f"{line}.")


def _show(value: object) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def print_checks(checks: Iterable[Check], out: Console) -> None:
    """The doctor's findings, as they come in."""
    for check in checks:
        mark, word, style = CHECK_MARKS[check.state]
        out.print(Text.assemble((f"{mark} {word:<5}", style), f"{check.name:<16} {plain(check.found)}"))
        if check.advice:
            out.print(Text(f"{'':<24}→ {check.advice}"))


def print_settings(rows: Sequence[dict[str, str]], out: Console) -> None:
    """Every setting with its value, where that came from, its environment variable and what it is.

    A block of lines each, because names must stay whole, to be copied, on the narrowest terminal.
    """
    for row in rows:
        style = "" if row["origin"] == "default" else "bold"
        value = plain(row["value"]) or "–"
        head = Text.assemble((f"{row['setting']} = {value}", style), (f"  ({plain(row['origin'])})", "dim"))
        for line in (head, Text(f"    {row['variable']}"), Text(f"    {plain(row['description'])}", style="dim")):
            out.print(line, soft_wrap=True)


def _one_line(text: str, limit: int = 240) -> str:
    line = " ".join(plain(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
