"""How the rules put what they found into a verdict: its reason, and the sentence that explains it to the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medcite_core.answers import CitationState, Claim, Proof, Verdict, VerdictLabel
from medcite_core.ports import Case
from medcite_core.types import Evidence
from medcite_middleware.verification.comparison import Comparison
from medcite_middleware.verification.matches import Match

RULES_VERSION = "rules.v3"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdicts that the rules can give on one claim. `citation` is what is known of the sources it names."""

    claim: Claim
    citation: CitationState
    quote_threshold: float = 90.0

    def verdict(
        self,
        label: VerdictLabel,
        reason: str,
        explanation: str,
        proofs: tuple[Proof, ...] = (),
        citation: CitationState | None = None,
        *,
        review: str = "",
        searched: str = "",
    ) -> Verdict:
        """A verdict by the rules; `citation` where it is another than the ruling's own."""
        return Verdict(
            self.claim.id,
            label,
            reason,
            explanation,
            proofs,
            self.citation if citation is None else citation,
            judge="rules",
            model=RULES_VERSION,
            thresholds=(("quote_threshold", self.quote_threshold),),
            review=review,
            searched=searched,
        )

    def contradicted(self, match: Match) -> Verdict:
        """The source says it otherwise."""
        difference = match.comparison
        says = " ".join(difference.source_words) or "nothing"
        claims = " ".join(difference.claim_words) or "nothing"
        reasons = {
            "number": ("number_differs", f"The source says {says} where the answer says {claims}."),
            "negation": ("negation_differs", _negation_explanation(difference)),
            "direction": ("direction_differs", f"The source says “{says}” where the answer says “{claims}”."),
        }
        reason, explanation = reasons[difference.difference]
        return self.verdict("contradicted", reason, explanation, (match.proof("contradicts"),))

    def several_candidates(self, matches: Sequence[Match]) -> Verdict:
        """Several sentences give a figure of their own; which one is meant is not guessed."""
        figures = list(dict.fromkeys(" ".join(m.comparison.source_words) for m in matches))
        explanation = f"The source gives {' and '.join(figures)}; which of them is meant is not clear."
        proofs = tuple(dict.fromkeys(m.proof("closest") for m in matches))
        return self.verdict("unchecked", "several_candidates", explanation, proofs)

    def conflicting(self, support: Match, against: Match, citation: CitationState | None = None) -> Verdict:
        """One source says it, another the opposite."""
        return self.verdict(
            "conflicting",
            "sources_disagree",
            f"Source [{support.evidence.number}] says this, source [{against.evidence.number}] differs.",
            (support.proof("supports"), against.proof("contradicts")),
            citation,
        )


def citation_of(claim: Claim, evidence: Sequence[Evidence]) -> CitationState:
    """Whether the sources that a claim names exist."""
    if not claim.cited:
        return "none"
    existing = {e.number for e in evidence}
    return "right" if set(claim.cited) <= existing else "not_found"


def sources_named(case: Case) -> tuple[Evidence, ...]:
    """The evidence that a claim names or, if it names none and need not, that of the sources given to check against."""
    if case.claim.cited or case.needs_citation:
        return case.cited
    return tuple(e for e in case.evidence if e.source.source_id in case.given)


def _negation_explanation(comparison: Comparison) -> str:
    if comparison.source_words and not comparison.claim_words:
        return f"The answer leaves out “{' '.join(comparison.source_words)}”, which stands in the source."
    if comparison.claim_words and not comparison.source_words:
        return f"The answer adds “{' '.join(comparison.claim_words)}”, which does not stand in the source."
    says, claims = " ".join(comparison.source_words), " ".join(comparison.claim_words)
    return f"The source says “{says}” where the answer says “{claims}”."
