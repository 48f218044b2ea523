"""From the values inside to what crosses the wire."""

from __future__ import annotations

from medcite_core.answers import Answer, Claim, Proof, QuoteProof, SearchReport, Verdict
from medcite_core.types import Evidence, Record
from medcite_middleware.events import (
    AnswerOut,
    ClaimOut,
    EvidenceOut,
    NoticeOut,
    ProofOut,
    RecordOut,
    SearchReportOut,
    SectionOut,
    SpanOut,
    VerdictOut,
)

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
        rewritten_from=report.rewritten_from,
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
