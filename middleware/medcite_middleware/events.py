"""The events of a run, as they cross the wire. The page's types are generated from these models; they grow only by adding.

Every event travels as one server-sent event: `id:` its number in the run, `event:` its type, `data:` this JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from medcite_core.types import Answer, Claim, Evidence, Proof, QuoteProof, Record, SearchReport, Verdict

SCHEMA_VERSION = 1


class SpanOut(BaseModel):
    """Offsets in Unicode code points."""

    start: int
    end: int


class NoticeOut(BaseModel):
    """A correction, retraction or comment that PubMed links to a record."""

    kind: str
    pmid: str
    reference: str


class SectionOut(BaseModel):
    """A part of a record's text."""

    kind: Literal["title", "abstract"]
    label: str
    span: SpanOut


class RecordOut(BaseModel):
    """A PubMed citation as the page shows it. `text` is what every record span slices."""

    pmid: str
    version: int
    title: str
    text: str
    sections: list[SectionOut]
    authors: list[str]
    authors_short: str
    journal: str
    journal_abbreviation: str
    volume: str
    issue: str
    pages: str
    year: int | None
    date: str
    date_display: str
    publication_types: list[str]
    mesh_headings: list[str]
    keywords: list[str]
    languages: list[str]
    doi: str
    pmcid: str
    status: str
    status_text: str
    notices: list[NoticeOut]
    pubmed_url: str
    doi_url: str
    pmc_url: str
    source_file: str
    source_sha256: str


class EvidenceOut(BaseModel):
    """A numbered passage: `span` slices `record.text` to `text`."""

    number: int
    pmid: str
    chunk_id: str
    section: str
    span: SpanOut
    text: str
    score: float
    record: RecordOut


class ClaimOut(BaseModel):
    """One checkable statement; `span` slices the answer's text."""

    id: str
    span: SpanOut
    text: str
    cited: list[int]
    is_quotation: bool


class ProofOut(BaseModel):
    """What a verdict rests on. For a quote, `span` slices the record's text to `text`."""

    kind: Literal["quote", "computation", "scan"]
    pmid: str = ""
    span: SpanOut | None = None
    text: str = ""
    section: str = ""
    shows: str = ""
    evidence_number: int | None = None
    details: dict[str, Any] = {}


class VerdictOut(BaseModel):
    """The verdict of one claim."""

    claim_id: str
    label: Literal["supported", "contradicted", "unsupported", "conflicting", "unchecked"]
    reason: str
    explanation: str
    proofs: list[ProofOut]
    citation: Literal["right", "wrong_source", "not_found", "none"]
    judge: str
    model: str
    prompt_version: str
    thresholds: dict[str, float]
    confidence: float | None


class SearchReportOut(BaseModel):
    """What was really searched."""

    mode: Literal["hybrid", "lexical"]
    applied_filter: dict[str, Any]
    passed: int
    passed_by: dict[str, int]
    corpus_records: int
    query: str
    note: str


class AnswerOut(BaseModel):
    """A finished answer."""

    schema_version: int = SCHEMA_VERSION
    question: str
    text: str
    mode: Literal["generated", "quotations", "given"]
    outcome: Literal["answered", "nothing_relevant", "corpus_empty"]
    claims: list[ClaimOut]
    verdicts: list[VerdictOut]
    evidence: list[EvidenceOut]
    evidence_found: int
    search: SearchReportOut
    groundedness: float | None
    checked: int
    total: int
    versions: dict[str, str]
    timings_ms: dict[str, float]


class ErrorOut(BaseModel):
    """An error in words; `code` is for programs."""

    code: str
    message: str
    hint: str
    retryable: bool
    request_id: str


class RunEvent(BaseModel):
    """First event: the run's id, with which it can be resumed or cancelled."""

    type: Literal["run"] = "run"
    schema_version: int = SCHEMA_VERSION
    run_id: str


class StageEvent(BaseModel):
    """A step began or went on: `search`, `read`, `write`, `check`. `total` 0 when not known."""

    type: Literal["stage"] = "stage"
    name: str
    done: int = 0
    total: int = 0


class EvidenceEvent(BaseModel):
    """The numbered passages, and what was searched."""

    type: Literal["evidence"] = "evidence"
    evidence: list[EvidenceOut]
    search: SearchReportOut


class TextEvent(BaseModel):
    """The next piece of the answer's text."""

    type: Literal["text"] = "text"
    delta: str


class ClaimEvent(BaseModel):
    """A claim was found in the answer's text."""

    type: Literal["claim"] = "claim"
    claim: ClaimOut


class VerdictEvent(BaseModel):
    """A claim was decided."""

    type: Literal["verdict"] = "verdict"
    verdict: VerdictOut


class FinishedEvent(BaseModel):
    """The whole answer; it equals what the earlier events built up."""

    type: Literal["finished"] = "finished"
    answer: AnswerOut
    outcome: str


class IncompleteEvent(BaseModel):
    """The answer stopped half-way; `text` is what there is. It must not be shown or kept as a finished one."""

    type: Literal["incomplete"] = "incomplete"
    reason: str
    text: str
    error: ErrorOut | None = None


class CancelledEvent(BaseModel):
    """The run was cancelled."""

    type: Literal["cancelled"] = "cancelled"


class ErrorEvent(BaseModel):
    """The run failed before there was an answer."""

    type: Literal["error"] = "error"
    error: ErrorOut


Event = Annotated[
    RunEvent
    | StageEvent
    | EvidenceEvent
    | TextEvent
    | ClaimEvent
    | VerdictEvent
    | FinishedEvent
    | IncompleteEvent
    | CancelledEvent
    | ErrorEvent,
    Field(discriminator="type"),
]
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
FINAL_TYPES = ("finished", "incomplete", "cancelled", "error")

STATUS_TEXT = {
    "retracted": "Retracted",
    "partially_retracted": "Partly retracted",
    "retraction_notice": "Notice of retraction",
    "expression_of_concern": "Expression of concern",
    "corrected": "Corrected: an erratum has been published",
}


def status_text(record: Record) -> str:
    """The record's state in words; without a notice it says as of when PubMed had none."""
    if record.status in STATUS_TEXT:
        return STATUS_TEXT[record.status]
    as_of = record.date_revised.iso()
    return f"No notice in PubMed as of {as_of}" if as_of else "No notice in PubMed when this record was loaded"


def record_out(record: Record) -> RecordOut:
    """Shape a record for the wire."""
    return RecordOut(
        pmid=record.pmid,
        version=record.version,
        title=record.title,
        text=record.text,
        sections=[
            SectionOut(kind=s.kind, label=s.label, span=SpanOut(start=s.span.start, end=s.span.end))
            for s in record.sections
        ],
        authors=[a.display() for a in record.authors],
        authors_short=record.authors_short(),
        journal=record.journal,
        journal_abbreviation=record.journal_abbreviation,
        volume=record.volume,
        issue=record.issue,
        pages=record.pages,
        year=record.year,
        date=record.date.iso(),
        date_display=record.date.raw or record.date.iso() or "n.d.",
        publication_types=list(record.publication_types),
        mesh_headings=[h.descriptor for h in record.mesh_headings],
        keywords=list(record.keywords),
        languages=list(record.languages),
        doi=record.doi,
        pmcid=record.pmcid,
        status=record.status,
        status_text=status_text(record),
        notices=[NoticeOut(kind=n.kind, pmid=n.pmid, reference=n.reference) for n in record.notices],
        pubmed_url=f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/",
        doi_url=f"https://doi.org/{record.doi}" if record.doi else "",
        pmc_url=f"https://pmc.ncbi.nlm.nih.gov/articles/{record.pmcid}/" if record.pmcid else "",
        source_file=record.provenance.file_name,
        source_sha256=record.provenance.sha256,
    )


def evidence_out(evidence: Evidence) -> EvidenceOut:
    """Shape a numbered passage for the wire."""
    return EvidenceOut(
        number=evidence.number,
        pmid=evidence.record.pmid,
        chunk_id=evidence.chunk_id,
        section=evidence.section,
        span=SpanOut(start=evidence.span.start, end=evidence.span.end),
        text=evidence.text,
        score=evidence.score,
        record=record_out(evidence.record),
    )


def claim_out(claim: Claim) -> ClaimOut:
    """Shape a claim for the wire."""
    return ClaimOut(
        id=claim.id,
        span=SpanOut(start=claim.span.start, end=claim.span.end),
        text=claim.text,
        cited=list(claim.cited),
        is_quotation=claim.is_quotation,
    )


def proof_out(proof: Proof) -> ProofOut:
    """Shape a proof for the wire."""
    if isinstance(proof, QuoteProof):
        return ProofOut(
            kind="quote",
            pmid=proof.pmid,
            span=SpanOut(start=proof.span.start, end=proof.span.end),
            text=proof.text,
            section=proof.section,
            shows=proof.shows,
            evidence_number=proof.evidence_number,
        )
    if proof.kind == "computation":
        return ProofOut(
            kind="computation",
            details={
                "formula": proof.formula,
                "operands": dict(proof.operands),
                "result": proof.result,
                "tolerance": proof.tolerance,
            },
        )
    return ProofOut(
        kind="scan",
        details={
            "blocks_scanned": proof.blocks_scanned,
            "forms_tried": list(proof.forms_tried),
            "is_complete": proof.is_complete,
        },
    )


def verdict_out(verdict: Verdict) -> VerdictOut:
    """Shape a verdict for the wire."""
    return VerdictOut(
        claim_id=verdict.claim_id,
        label=verdict.label,
        reason=verdict.reason,
        explanation=verdict.explanation,
        proofs=[proof_out(p) for p in verdict.proofs],
        citation=verdict.citation,
        judge=verdict.judge,
        model=verdict.model,
        prompt_version=verdict.prompt_version,
        thresholds=dict(verdict.thresholds),
        confidence=verdict.confidence,
    )


def search_out(report: SearchReport) -> SearchReportOut:
    """Shape a search report for the wire."""
    return SearchReportOut(
        mode=report.mode,
        applied_filter=report.applied_filter,
        passed=report.passed,
        passed_by=report.passed_by,
        corpus_records=report.corpus_records,
        query=report.query,
        note=report.note,
    )


def answer_out(answer: Answer) -> AnswerOut:
    """Shape a finished answer for the wire."""
    return AnswerOut(
        question=answer.question,
        text=answer.text,
        mode=answer.mode,
        outcome=answer.outcome,
        claims=[claim_out(c) for c in answer.claims],
        verdicts=[verdict_out(v) for v in answer.verdicts],
        evidence=[evidence_out(e) for e in answer.evidence],
        evidence_found=answer.evidence_found,
        search=search_out(answer.search),
        groundedness=answer.groundedness,
        checked=answer.checked,
        total=len(answer.claims),
        versions=dict(answer.versions),
        timings_ms=dict(answer.timings_ms),
    )
