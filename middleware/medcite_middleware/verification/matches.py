"""The sentences of the sources that share words with a claim, each compared with it word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from medcite_core.answers import QuoteProof
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.claims import without_marks
from medcite_middleware.verification.comparison import MIN_CONTENT_WORDS, Comparison, compare
from medcite_middleware.verification.sources import quote_proof, source_sentences, states

MIN_CANDIDATE_SCORE = 50.0
"""A sentence below this rapidfuzz token_set_ratio (0..100) shares too little with the claim to be compared."""

MIN_FOREIGN_WORDS = 6
"""Words in common from which a record that is not cited can speak against a claim."""


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence, at `span` of the evidence's source, against a claim."""

    evidence: Evidence
    span: Span
    comparison: Comparison
    is_cited: bool

    def proof(self, shows: Literal["supports", "contradicts", "closest"]) -> QuoteProof:
        """The sentence as a proof."""
        return quote_proof(self.evidence, self.span, shows)


def matches_of(
    claim_text: str, evidence: Sequence[Evidence], cited: Sequence[Evidence], numbers: Sequence[int] = ()
) -> list[Match]:
    """Sentences that share words with a claim, cited ones first, then the most similar; each source is read once.

    `numbers` are the evidence numbers that the claim names.
    """
    text = without_marks(claim_text)
    cited_ids = {e.source.source_id for e in cited}
    found: list[Match] = []
    seen: set[str] = set()
    for item in sorted(evidence, key=lambda e: (e.number not in numbers, e.number)):
        source = item.source
        if source.source_id in seen:
            continue
        seen.add(source.source_id)
        for span in source_sentences(source):
            sentence = span.of(source.text)
            if fuzz.token_set_ratio(text, sentence) >= MIN_CANDIDATE_SCORE:
                found.append(Match(item, span, compare(text, sentence), source.source_id in cited_ids))
    found.sort(key=lambda m: (not m.is_cited, -m.comparison.similarity, m.evidence.number, m.span.start))
    return found


def supports(match: Match) -> bool:
    """Whether the sentence says what the claim says, in the same words."""
    # A short sentence ("No deaths occurred.") says something only of the record that is cited.
    least = 2 if match.is_cited else MIN_CONTENT_WORDS
    comparison = match.comparison
    return comparison.difference == "none" and comparison.common_words >= least and states(match.evidence, match.span)


def contradicts(match: Match) -> bool:
    """Whether the sentence is the claim with one figure, negation or direction turned."""
    comparison = match.comparison
    if not comparison.lines_up or comparison.difference == "none" or comparison.similarity < 70:
        return False
    if not states(match.evidence, match.span):
        return False
    # Another study may well have another figure; that it found the opposite is a conflict.
    is_same_study = match.is_cited or comparison.difference != "number"
    return is_same_study and (match.is_cited or comparison.common_words >= MIN_FOREIGN_WORDS)
