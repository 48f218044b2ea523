"""What is claimed, cited and found true: claims, proofs, verdicts, and the answer that holds them. All are frozen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from medcite_core.types import Evidence, Span


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement: `answer_text[span] == text`. `cited` are the evidence numbers it names, in order."""

    id: str
    span: Span
    text: str
    cited: tuple[int, ...] = ()
    is_quotation: bool = False


VerdictLabel = Literal["supported", "contradicted", "unsupported", "conflicting", "unchecked"]
CitationState = Literal["right", "wrong_source", "not_found", "none"]


@dataclass(frozen=True, slots=True)
class QuoteProof:
    """Words cut out of a record: `record.text[span] == text`. `shows` says which way they speak.

    `closest` is no proof of anything: the nearest words of an undecided claim, for the reader to judge.
    """

    pmid: str
    span: Span
    text: str
    section: str
    shows: Literal["supports", "contradicts", "closest"]
    evidence_number: int | None = None
    kind: Literal["quote"] = "quote"


@dataclass(frozen=True, slots=True)
class ComputationProof:
    """A figure recomputed from operands that stand in the sources."""

    formula: str
    operands: tuple[tuple[str, str], ...]
    result: float
    tolerance: float
    kind: Literal["computation"] = "computation"


@dataclass(frozen=True, slots=True)
class ScanProof:
    """A full scan for words that are not there."""

    blocks_scanned: int
    forms_tried: tuple[str, ...]
    is_complete: bool
    kind: Literal["scan"] = "scan"


Proof = QuoteProof | ComputationProof | ScanProof


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judges say of one claim. Never supported or contradicted without a proof.

    `reason` is one of the stable codes in docs/contracts; `explanation` is one sentence for the reader.
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

    def __post_init__(self) -> None:
        directions = {p.shows for p in self.proofs if isinstance(p, QuoteProof)}
        needed = {
            "supported": {"supports"},
            "contradicted": {"contradicts"},
            "conflicting": {"supports", "contradicts"},
        }
        is_computed = any(not isinstance(p, QuoteProof) for p in self.proofs)
        if not is_computed and not needed.get(self.label, set()) <= directions:
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
    `unchecked`.
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
