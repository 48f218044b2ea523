"""The report of a check: every claim or row once, in the order given, with its verdict and all that it rests on.

`docs/schemas/verification-1.json` is made from these models. It grows only by adding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from medcite_core.answers import Answer, Claim, Verdict
from medcite_core.types import Evidence
from medcite_middleware.events import ClaimOut, EvidenceOut, SearchReportOut, StatementOut, VerdictOut
from medcite_middleware.shaping import claim_out, evidence_out, search_out, statement_out, verdict_out
from medcite_middleware.verification.labels import worst_label

SCHEMA_VERSION = 1
EntryState = Literal["judged", "not_checkable", "invalid", "failed"]


class ReportPart(BaseModel):
    """One claim of an entry and its verdict. Spans slice the entry's text."""

    claim: ClaimOut
    verdict: VerdictOut


class ReportEntry(BaseModel):
    """One line of a claims file, or one claim of a text.

    `verdict` is supported, contradicted, unsupported, conflicting, unchecked or partly_supported (its claims differ);
    `not_checkable` for what states nothing, `invalid` for a line that cannot be read. `row` counts from 1.
    `same_as` is the row of an earlier line with the same claim, whose verdict this is.
    """

    row: int
    id: str = ""
    claim: str
    verdict: str
    state: EntryState
    explanation: str
    question: str = ""
    pmids: list[str] = []
    same_as: int | None = None
    parts: list[ReportPart] = []
    statements: list[StatementOut] = []
    evidence: list[EvidenceOut] = []


class ReportCounts(BaseModel):
    """What became of the entries; `asked` is the sum of the four states. `verdicts` counts entries by verdict."""

    asked: int
    judged: int
    not_checkable: int
    invalid: int
    failed: int
    repeated: int
    claims: int
    claims_checked: int
    needs_review: int
    model_calls: int
    verdicts: dict[str, int]


class ReportSource(BaseModel):
    """What was checked against: a record of the corpus, a file, or the corpus itself."""

    kind: Literal["corpus", "record", "document"]
    id: str
    name: str
    sha256: str = ""
    unread: list[str] = []


class VerificationReport(BaseModel):
    """A whole check. `groundedness` is supported claims / all claims, null without claims."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["verification"] = "verification"
    created: str
    text: str = ""
    question: str = ""
    is_complete: bool = True
    counts: ReportCounts
    groundedness: float | None
    sources: list[ReportSource]
    unreadable_sources: list[str] = []
    search: SearchReportOut | None = None
    versions: dict[str, str]
    settings: dict[str, Any] = Field(default_factory=dict)
    entries: list[ReportEntry]


def entry_of(
    row: int,
    text: str,
    claims: Sequence[Claim],
    verdicts: Sequence[Verdict],
    evidence: Sequence[Evidence],
    *,
    entry_id: str = "",
    question: str = "",
    pmids: Sequence[str] = (),
    statements: Sequence[StatementOut] = (),
) -> ReportEntry:
    """The entry of a text with its claims; only the evidence that a verdict shows or cites is kept."""
    if not claims:
        kind = statements[0].kind.replace("_", " ") if statements else "fragment"
        return ReportEntry(
            row=row,
            id=entry_id,
            claim=text,
            verdict="not_checkable",
            state="not_checkable",
            explanation=f"It states nothing that can be checked ({kind}).",
            question=question,
            pmids=list(pmids),
            statements=list(statements),
        )
    parts = [ReportPart(claim=claim_out(c), verdict=verdict_out(v)) for c, v in zip(claims, verdicts, strict=True)]
    label = worst_label([verdict.label for verdict in verdicts])
    deciding = next((v for v in verdicts if v.label == label), None) or next(
        (v for v in verdicts if v.label != "supported"), verdicts[0]
    )
    has_failed = any(v.reason in ("judge_failed", "source_missing") for v in verdicts)
    shown = {p.evidence_number for part in parts for p in part.verdict.proofs} | {
        operand.quote.evidence_number
        for part in parts
        for p in part.verdict.proofs
        if p.computation
        for operand in p.computation.operands
    }
    cited = {number for claim in claims for number in claim.cited}
    return ReportEntry(
        row=row,
        id=entry_id,
        claim=text,
        verdict=label,
        state="failed" if has_failed else "judged",
        explanation=deciding.explanation,
        question=question,
        pmids=list(pmids),
        parts=parts,
        statements=list(statements),
        evidence=[evidence_out(e) for e in evidence if e.number in shown | cited],
    )


def counts_of(entries: Sequence[ReportEntry]) -> ReportCounts:
    """Counts that add up: judged + not checkable + invalid + failed = asked."""
    states = Counter(entry.state for entry in entries)
    parts = [part for entry in entries for part in entry.parts]
    return ReportCounts(
        asked=len(entries),
        judged=states["judged"],
        not_checkable=states["not_checkable"],
        invalid=states["invalid"],
        failed=states["failed"],
        repeated=sum(entry.same_as is not None for entry in entries),
        claims=len(parts),
        claims_checked=sum(part.verdict.label != "unchecked" for part in parts),
        needs_review=sum(bool(part.verdict.review) for part in parts),
        model_calls=sum(part.verdict.calls for entry in entries if entry.same_as is None for part in entry.parts),
        verdicts=dict(sorted(Counter(entry.verdict for entry in entries).items())),
    )


def groundedness_of(entries: Sequence[ReportEntry]) -> float | None:
    """Supported claims / all claims; unchecked ones count against it; None without claims."""
    parts = [part for entry in entries for part in entry.parts]
    if not parts:
        return None
    return sum(part.verdict.label == "supported" for part in parts) / len(parts)


def report_of_answer(
    answer: Answer, sources: Sequence[ReportSource], *, created: str, settings: Mapping[str, Any]
) -> VerificationReport:
    """The report of a checked text: an entry for every claim."""
    entries = [
        entry_of(row, claim.text, [claim], [verdict], answer.evidence, entry_id=claim.id, question=answer.question)
        for row, (claim, verdict) in enumerate(zip(answer.claims, answer.verdicts, strict=True), start=1)
    ]
    entries += [
        ReportEntry(
            row=len(answer.claims) + at,
            claim=statement.text,
            verdict="not_checkable",
            state="not_checkable",
            explanation=f"It states nothing that can be checked ({statement.kind.replace('_', ' ')}).",
            statements=[statement_out(statement)],
        )
        for at, statement in enumerate(answer.statements, start=1)
    ]
    return VerificationReport(
        created=created,
        text=answer.text,
        question=answer.question,
        counts=counts_of(entries),
        groundedness=groundedness_of(entries),
        sources=list(sources),
        search=search_out(answer.search),
        versions=dict(answer.versions),
        settings=dict(settings),
        entries=entries,
    )
