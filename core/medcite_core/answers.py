"""What is claimed, cited and found true: claims, proofs, verdicts, and the answer that holds them. All are frozen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from medcite_core.types import Evidence, Span

ClaimKind = Literal["factual", "numeric", "comparative", "absence", "citation"]
StatementKind = Literal["question", "greeting", "heading", "about_the_sources", "opinion", "instruction", "fragment"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement: `answer_text[span] == text`. `cited` are the evidence numbers it names, in order.

    `sentence` is where the sentence that it belongs to stands in the answer; None when it is that sentence itself.
    `meaning` is the claim made to stand alone (pronouns and elliptic answers resolved), empty when its own words do.
    """

    id: str
    span: Span
    text: str
    cited: tuple[int, ...] = ()
    is_quotation: bool = False
    kind: ClaimKind = "factual"
    sentence: Span | None = None
    meaning: str = ""

    @property
    def standalone(self) -> str:
        """What judges and searches read: `meaning`, or the claim's own words."""
        return self.meaning or self.text


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer that cannot be checked, and of what kind it is. It has no verdict and counts nowhere."""

    span: Span
    text: str
    kind: StatementKind


VerdictLabel = Literal["supported", "contradicted", "unsupported", "conflicting", "unchecked"]
CitationState = Literal["right", "wrong_source", "not_found", "none"]


@dataclass(frozen=True, slots=True)
class QuoteProof:
    """Words cut out of a source: `source.text[span] == text`. `shows` says which way they speak.

    `closest` is no proof of anything: the nearest words of an undecided claim, for the reader to judge. The source is
    the record `pmid`, or else the document `document` (its id), on `page` where it has pages. `alignment` tells how a
    quotation in the claim or in a model's reply was found; `difference` shows what was repaired.
    """

    pmid: str
    span: Span
    text: str
    section: str
    shows: Literal["supports", "contradicts", "closest"]
    evidence_number: int | None = None
    document: str = ""
    page: int | None = None
    alignment: Literal["verbatim", "repaired"] = "verbatim"
    difference: str = ""
    kind: Literal["quote"] = "quote"


@dataclass(frozen=True, slots=True)
class Operand:
    """A figure that a computation takes from a source: `value` as read from `quote.text`; `name` is in the formula."""

    name: str
    value: float
    quote: QuoteProof


@dataclass(frozen=True, slots=True)
class ComputationProof:
    """A figure recomputed from operands that stand in the sources.

    `formula` is in the operands' names ("(a - b) / a * 100"). `claimed` agrees with `result` when they differ by at
    most `tolerance`, which follows the claim's own precision. All three are in `unit`.
    """

    formula: str
    operands: tuple[Operand, ...]
    result: float
    claimed: float
    tolerance: float
    shows: Literal["supports", "contradicts"]
    unit: str = ""
    kind: Literal["computation"] = "computation"


@dataclass(frozen=True, slots=True)
class ScanProof:
    """A full scan for words that are, or are not, there: its receipt. Only a complete one can show an absence; one that
    is not `shows` nothing.

    `sources` are the PMIDs and document ids scanned; `pages_scanned` and `rows_scanned` count where formats have them;
    `unread_parts` are what has no readable text.
    """

    sources: tuple[str, ...]
    blocks_scanned: int
    blocks_total: int
    forms_tried: tuple[str, ...]
    is_complete: bool
    shows: Literal["supports", "contradicts", "nothing"]
    pages_scanned: int = 0
    pages_total: int = 0
    rows_scanned: int = 0
    unread_parts: tuple[str, ...] = ()
    kind: Literal["scan"] = "scan"


Proof = QuoteProof | ComputationProof | ScanProof


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge said of a claim, before the policy."""

    judge: str
    label: VerdictLabel
    reason: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judges say of one claim. Never supported or contradicted without a proof.

    `reason` is one of the stable codes in docs/contracts; `explanation` is one sentence for the reader. `review` says
    why a person should look at it, empty when nobody needs to. `searched` tells what evidence was read and what was
    left out. `calls` counts requests to a chat model.
    """

    claim_id: str
    label: VerdictLabel
    reason: str
    explanation: str
    proofs: tuple[Proof, ...] = ()
    citation: CitationState = "none"
    judge: str = "rules"
    model: str = ""
    prompt_version: str = ""
    thresholds: tuple[tuple[str, float], ...] = ()
    confidence: float | None = None
    votes: tuple[Vote, ...] = ()
    review: str = ""
    searched: str = ""
    calls: int = 0

    def __post_init__(self) -> None:
        shown = {p.shows for p in self.proofs}
        needed = {
            "supported": {"supports"},
            "contradicted": {"contradicts"},
            "conflicting": {"supports", "contradicts"},
        }
        if not needed.get(self.label, set()) <= shown:
            raise ValueError(f"a verdict of {self.label} needs a proof")


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What was really searched: `mode`, the filter as applied, how many records passed it, in all and per field.

    `note` is set when the search was narrower than asked (the model was still loading, say). `rewritten_from` holds the
    reader's own words when `query` is not what they typed: a follow-up, understood from the turns before it.
    """

    mode: Literal["hybrid", "lexical"]
    applied_filter: dict[str, object]
    passed: int
    passed_by: dict[str, int]
    corpus_records: int
    query: str
    note: str = ""
    rewritten_from: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer. Every claim has exactly one verdict, in the same order.

    `outcome`: `answered`; `nothing_relevant` or `corpus_empty` when the corpus does not hold it. `mode`: `generated` by
    a chat model, made of `quotations`, or `given` by the reader to be checked. `groundedness` = supported / all claims;
    None without claims and for quotations, where it would be 1 by construction. `checked` counts verdicts other than
    `unchecked`. `statements` are the sentences that cannot be checked.
    """

    question: str
    text: str
    mode: Literal["generated", "quotations", "given"]
    outcome: Literal["answered", "nothing_relevant", "corpus_empty"]
    claims: tuple[Claim, ...]
    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...]
    search: SearchReport
    evidence_found: int = 0
    versions: tuple[tuple[str, str], ...] = ()
    timings_ms: tuple[tuple[str, float], ...] = ()
    statements: tuple[Statement, ...] = ()

    def __post_init__(self) -> None:
        if [claim.id for claim in self.claims] != [verdict.claim_id for verdict in self.verdicts]:
            raise ValueError("every claim has exactly one verdict, in the same order")

    @property
    def checked(self) -> int:
        """How many claims could be decided."""
        return sum(verdict.label != "unchecked" for verdict in self.verdicts)

    @property
    def groundedness(self) -> float | None:
        """Share of claims that are supported; unchecked ones count against it."""
        if not self.claims or self.mode == "quotations":
            return None
        return sum(verdict.label == "supported" for verdict in self.verdicts) / len(self.claims)


CITATION_MARK = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
"""A citation in an answer: `[3]` or `[1, 4]`."""
