"""From the values inside to what crosses the wire."""

from __future__ import annotations

from medcite_core.answers import (
    Answer,
    Claim,
    ComputationProof,
    Proof,
    QuoteProof,
    SearchReport,
    Statement,
    Verdict,
)
from medcite_core.documents import Document
from medcite_core.types import Evidence, Record, Section, Source
from medcite_middleware.events import (
    AnswerOut,
    ClaimOut,
    ComputationOut,
    EvidenceOut,
    NoticeOut,
    OperandOut,
    ProofOut,
    RecordOut,
    ScanOut,
    SearchReportOut,
    SectionOut,
    SentenceOut,
    SpanOut,
    StatementOut,
    VerdictOut,
    VoteOut,
)
from medcite_middleware.verification.labels import sentence_labels

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


def _section_out(section: Section) -> SectionOut:
    span = SpanOut(start=section.span.start, end=section.span.end)
    return SectionOut(kind=section.kind, label=section.label, span=span)


def record_out(record: Record) -> RecordOut:
    """Shape a record for the wire."""
    return RecordOut(
        pmid=record.pmid,
        version=record.version,
        title=record.title,
        text=record.text,
        sections=[_section_out(section) for section in record.sections],
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


def document_out(document: Document) -> RecordOut:
    """Shape a document as a source: what only PubMed citations have is empty."""
    return RecordOut(
        pmid="",
        version=1,
        title=document.name,
        text=document.text,
        sections=[_section_out(section) for section in document.sections],
        authors=[],
        authors_short="",
        journal="",
        journal_abbreviation="",
        volume="",
        issue="",
        pages="",
        year=None,
        date="",
        date_display="",
        publication_types=[],
        mesh_headings=[],
        keywords=[],
        languages=[],
        doi="",
        pmcid="",
        status="",
        status_text="",
        notices=[],
        pubmed_url="",
        doi_url="",
        pmc_url="",
        source_file=document.name,
        source_sha256=document.sha256,
        document=document.id,
        page_count=document.pages,
        unread=list(document.unread),
    )


def source_out(source: Source) -> RecordOut:
    """Shape a source for the wire."""
    return document_out(source) if isinstance(source, Document) else record_out(source)


def evidence_out(evidence: Evidence) -> EvidenceOut:
    """Shape a numbered passage for the wire."""
    source = source_out(evidence.source)
    return EvidenceOut(
        number=evidence.number,
        pmid=source.pmid,
        chunk_id=evidence.chunk_id,
        section=evidence.section,
        span=SpanOut(start=evidence.span.start, end=evidence.span.end),
        text=evidence.text,
        score=evidence.score,
        record=source,
    )


def claim_out(claim: Claim) -> ClaimOut:
    """Shape a claim for the wire."""
    sentence = claim.sentence or claim.span
    return ClaimOut(
        id=claim.id,
        span=SpanOut(start=claim.span.start, end=claim.span.end),
        text=claim.text,
        cited=list(claim.cited),
        is_quotation=claim.is_quotation,
        kind=claim.kind,
        sentence=SpanOut(start=sentence.start, end=sentence.end),
        meaning=claim.meaning,
    )


def statement_out(statement: Statement) -> StatementOut:
    """Shape a sentence that cannot be checked."""
    span = SpanOut(start=statement.span.start, end=statement.span.end)
    return StatementOut(span=span, text=statement.text, kind=statement.kind)


def proof_out(proof: Proof) -> ProofOut:
    """Shape a proof for the wire."""
    if isinstance(proof, QuoteProof):
        return ProofOut(
            kind="quote",
            pmid=proof.pmid,
            document=proof.document,
            page=proof.page,
            span=SpanOut(start=proof.span.start, end=proof.span.end),
            text=proof.text,
            section=proof.section,
            shows=proof.shows,
            evidence_number=proof.evidence_number,
            alignment=proof.alignment,
            difference=proof.difference,
        )
    if isinstance(proof, ComputationProof):
        return ProofOut(
            kind="computation",
            shows=proof.shows,
            computation=ComputationOut(
                formula=proof.formula,
                operands=[OperandOut(name=o.name, value=o.value, quote=proof_out(o.quote)) for o in proof.operands],
                result=proof.result,
                claimed=proof.claimed,
                tolerance=proof.tolerance,
                unit=proof.unit,
            ),
        )
    return ProofOut(
        kind="scan",
        shows=proof.shows,
        scan=ScanOut(
            sources=list(proof.sources),
            blocks_scanned=proof.blocks_scanned,
            blocks_total=proof.blocks_total,
            pages_scanned=proof.pages_scanned,
            pages_total=proof.pages_total,
            rows_scanned=proof.rows_scanned,
            forms_tried=list(proof.forms_tried),
            unread_parts=list(proof.unread_parts),
            is_complete=proof.is_complete,
        ),
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
        votes=[VoteOut(judge=v.judge, label=v.label, reason=v.reason, confidence=v.confidence) for v in verdict.votes],
        review=verdict.review,
        searched=verdict.searched,
        calls=verdict.calls,
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
        statements=[statement_out(s) for s in answer.statements],
        sentences=[
            SentenceOut(span=SpanOut(start=span.start, end=span.end), label=label)
            for span, label in sentence_labels(answer.claims, answer.verdicts)
        ],
    )
