"""The events of a run, as they cross the wire. The page's types are generated from these models; only ever added to.

Every event travels as one server-sent event: `id:` its number in the run, `event:` its type, `data:` this JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

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
    """A source as the page shows it. `text` is what every span of it slices.

    A document that was given to check against has its id in `document`, no PMID, its name as title, and `unread` parts.
    """

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
    document: str = ""
    page_count: int | None = None
    unread: list[str] = []


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
    """One checkable statement; `span` slices the answer's text, as `sentence` does, in which it stands.

    `meaning` is how it was understood, when its own words do not stand alone.
    """

    id: str
    span: SpanOut
    text: str
    cited: list[int]
    is_quotation: bool
    kind: Literal["factual", "numeric", "comparative", "absence", "citation"] = "factual"
    sentence: SpanOut | None = None
    meaning: str = ""


class StatementOut(BaseModel):
    """A sentence of the answer that cannot be checked, and of what kind it is."""

    span: SpanOut
    text: str
    kind: Literal["question", "greeting", "heading", "about_the_sources", "opinion", "instruction", "fragment"]


class SentenceOut(BaseModel):
    """A sentence of the answer that holds claims, and the worst of their labels."""

    span: SpanOut
    label: Literal["supported", "contradicted", "unsupported", "conflicting", "unchecked", "partly_supported"]


class OperandOut(BaseModel):
    """A figure that a computation takes from a source."""

    name: str
    value: float
    quote: ProofOut


class ComputationOut(BaseModel):
    """A figure recomputed: `claimed` agrees with `result` when they differ by at most `tolerance`."""

    formula: str
    operands: list[OperandOut]
    result: float
    claimed: float
    tolerance: float
    unit: str = ""


class ScanOut(BaseModel):
    """The receipt of a full scan."""

    sources: list[str]
    blocks_scanned: int
    blocks_total: int
    pages_scanned: int = 0
    pages_total: int = 0
    rows_scanned: int = 0
    forms_tried: list[str]
    unread_parts: list[str]
    is_complete: bool


class ProofOut(BaseModel):
    """What a verdict rests on. For a quote, `span` slices the text of the record `pmid` or the document `document`."""

    kind: Literal["quote", "computation", "scan"]
    pmid: str = ""
    document: str = ""
    page: int | None = None
    span: SpanOut | None = None
    text: str = ""
    section: str = ""
    shows: str = ""
    evidence_number: int | None = None
    alignment: Literal["verbatim", "repaired"] = "verbatim"
    difference: str = ""
    computation: ComputationOut | None = None
    scan: ScanOut | None = None


OperandOut.model_rebuild()


class VoteOut(BaseModel):
    """What one judge said, before the policy."""

    judge: str
    label: Literal["supported", "contradicted", "unsupported", "conflicting", "unchecked"]
    reason: str
    confidence: float | None = None


class VerdictOut(BaseModel):
    """The verdict of one claim. `review` says why a person should look at it; `searched` what was read and left out."""

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
    votes: list[VoteOut] = []
    review: str = ""
    searched: str = ""
    calls: int = 0


class SearchReportOut(BaseModel):
    """What was really searched. `rewritten_from` is what the reader typed, when `query` is a follow-up made whole."""

    mode: Literal["hybrid", "lexical"]
    applied_filter: dict[str, Any]
    passed: int
    passed_by: dict[str, int]
    corpus_records: int
    query: str
    note: str
    rewritten_from: str = ""


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
    statements: list[StatementOut] = []
    sentences: list[SentenceOut] = []


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
    """A step began or went on: `understand`, `search`, `read`, `write`, `check`. `total` 0 when not known."""

    type: Literal["stage"] = "stage"
    name: str
    done: int = 0
    total: int = 0


class EvidenceEvent(BaseModel):
    """The numbered passages, and what was searched."""

    type: Literal["evidence"] = "evidence"
    evidence: list[EvidenceOut]
    search: SearchReportOut


class EvidenceAddedEvent(BaseModel):
    """Passages found for or against a claim, numbered on from the earlier ones."""

    type: Literal["evidence_added"] = "evidence_added"
    evidence: list[EvidenceOut]


class TextEvent(BaseModel):
    """The next piece of the answer's text."""

    type: Literal["text"] = "text"
    delta: str


class ClaimEvent(BaseModel):
    """A claim was found in the answer's text."""

    type: Literal["claim"] = "claim"
    claim: ClaimOut


class ClaimStepEvent(BaseModel):
    """A step in the check of one claim is done: `retrieve`, `judge`, `ask`, `check`, `revise`."""

    type: Literal["claim_step"] = "claim_step"
    claim_id: str
    step: str


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
    | EvidenceAddedEvent
    | TextEvent
    | ClaimEvent
    | ClaimStepEvent
    | VerdictEvent
    | FinishedEvent
    | IncompleteEvent
    | CancelledEvent
    | ErrorEvent,
    Field(discriminator="type"),
]
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
FINAL_TYPES = ("finished", "incomplete", "cancelled", "error")
