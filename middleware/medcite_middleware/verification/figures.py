"""Claims whose figures say in another form, or follow by arithmetic from, what one sentence of a source says.

What a sentence says beside its figures must be the claim's own words: the comparison is that of the rules, over both
texts with the figures in question replaced by marks that are equal where the figures are. Arithmetic never stretches
words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz import fuzz

from medcite_core.answers import CitationState, ComputationProof, Operand, Proof, QuoteProof, Verdict
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.changes import Change, change_in
from medcite_middleware.verification.comparison import MIN_CONTENT_WORDS, compare
from medcite_middleware.verification.derived_figures import derived_verdict
from medcite_middleware.verification.figure_frames import content_of, gives, without
from medcite_middleware.verification.matches import MIN_CANDIDATE_SCORE
from medcite_middleware.verification.measures import relation
from medcite_middleware.verification.number_forms import convention_of
from medcite_middleware.verification.quantities import Quantity, quantities
from medcite_middleware.verification.restated_figures import (
    LABELS,
    LEAST_WORDS,
    Computed,
    Outcome,
    Read,
    Sides,
    part_first,
    restated,
    same_subject,
    subject,
)
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.sources import quote_proof, source_sentences, states


@dataclass(frozen=True, slots=True)
class Finding:
    """What one sentence, at `span` of the evidence's source, says of a claim's figures."""

    outcome: Outcome
    evidence: Evidence
    span: Span
    explanation: str
    computed: tuple[Computed, ...] = ()
    common_words: int = 0

    def proofs(self) -> tuple[Proof, ...]:
        """The computations, or the sentence where nothing was computed."""
        if self.outcome not in ("supported", "contradicted"):
            return (quote_proof(self.evidence, self.span, "closest"),)
        shows: Literal["supports", "contradicts"] = "supports" if self.outcome == "supported" else "contradicts"
        quote = quote_proof(self.evidence, self.span, shows)
        return tuple(
            ComputationProof(
                one.formula,
                tuple(Operand(name, float(value), quote) for name, value in one.operands),
                float(one.result),
                float(one.claimed),
                float(one.tolerance),
                shows,
                one.unit,
            )
            for one in self.computed
        ) or (quote,)


def figures_verdict(
    ruling: Ruling, words: str, evidence: Sequence[Evidence], cited: Sequence[Evidence]
) -> Verdict | None:
    """The verdict of a claim, in `words`, by what its figures are in another form, or come to; None when that is open.

    `evidence` is usable as support, cited first; `cited` is what the claim names.
    """
    own = {e.source.source_id for e in cited}
    sources = {e.source.source_id: e for e in reversed(evidence)}  # each once, as it comes first
    named = [e for source_id, e in sources.items() if source_id in own][::-1]
    verdict = _decided(ruling, list(findings(words, named)), is_cited=True) or derived_verdict(ruling, words, named)
    if verdict is not None:
        return verdict
    others = findings(words, [e for source_id, e in sources.items() if source_id not in own][::-1])
    elsewhere = [f for f in others if f.common_words >= MIN_CONTENT_WORDS and f.outcome == "supported"]
    return _decided(ruling, elsewhere, is_cited=False)


def figures_of_retracted(ruling: Ruling, words: str, withdrawn: Sequence[Evidence]) -> Verdict | None:
    """The verdict of a claim whose figures follow from a retracted record alone; None when they do not.

    `withdrawn` are the records cited that may not support anything.
    """
    verdict = figures_verdict(ruling, words, withdrawn, withdrawn) if withdrawn else None
    if verdict is None or verdict.label != "supported":
        return None
    quotes = [p if isinstance(p, QuoteProof) else p.operands[0].quote for p in verdict.proofs if p.kind != "scan"]
    closest = tuple(dict.fromkeys(replace(quote, shows="closest") for quote in quotes))
    return ruling.verdict("unsupported", "only_retracted", "Only a retracted record gives these figures.", closest)


def findings(words: str, evidence: Sequence[Evidence]) -> Iterator[Finding]:
    """What each sentence of the sources says of the claim's figures, where it says anything."""
    if not any(q.kind not in LABELS for q in quantities(words)):
        return
    spans = [q.span for q in quantities(words)]
    for item in evidence:
        convention = convention_of(item.source.text)
        for span in source_sentences(item.source):
            if not states(item, span):
                continue
            sentence = span.of(item.source.text)
            if all(q.kind in LABELS for q in quantities(sentence, convention)):
                continue
            is_near = fuzz.token_set_ratio(words, sentence, score_cutoff=MIN_CANDIDATE_SCORE)
            if not is_near and not set(subject(without(words, spans))) <= set(content_of(sentence)):
                continue
            found = _read(words, sentence, Sides(words, sentence, convention))
            if found is not None:
                outcome, explanation, computed, common = found
                is_change = computed and any(q.is_changing for q in quantities(sentence, convention))
                if outcome == "contradicted" and is_change and gives(item.source.text, float(computed[0].claimed)):
                    continue  # the source gives another change itself, an adjusted one maybe
                yield Finding(outcome, item, span, explanation, computed, common)


def figures_hold(claim: str, texts: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each figure of a claim that none of `texts` bears out, whatever its unit or form."""
    missing = []
    for ours in _figures(claim):
        if not any(
            relation(ours, theirs, claim, text) == "equal"
            for text in texts
            for theirs in quantities(text)
            if theirs.kind not in LABELS
        ):
            missing.append(f"The figure {ours.span.of(claim).strip()} does not stand in the words shown.")
    return tuple(missing)


def _figures(text: str) -> list[Quantity]:
    """Findings in digits: what a reader would look up in the source."""
    return [
        q
        for q in quantities(text)
        if q.kind not in LABELS and q.kind != "fold" and q.role == "value" and re.search(r"\d", q.span.of(text))
    ]


def _decided(ruling: Ruling, found: Sequence[Finding], *, is_cited: bool) -> Verdict | None:
    by_outcome = {outcome: [f for f in found if f.outcome == outcome] for outcome in Outcome.__args__}  # type: ignore[attr-defined]
    supported, contradicted = by_outcome["supported"], by_outcome["contradicted"]
    if supported:
        one = supported[0]
        citation: CitationState | None = "wrong_source" if ruling.claim.cited and not is_cited else None
        # In one record another figure is that of another arm or time; in another record it is another finding.
        own = one.evidence.source.source_id
        against = next((f for f in contradicted if f.evidence.source.source_id != own), None)
        if against is not None:
            told = f"Source [{one.evidence.number}] bears this out, source [{against.evidence.number}] differs."
            proofs = one.proofs() + against.proofs()
            return ruling.verdict("conflicting", "sources_disagree", told, proofs, citation)
        return ruling.verdict("supported", "computed", one.explanation, one.proofs(), citation)
    if len({f.computed[0].result if f.computed else f.span for f in contradicted}) > 1:
        proofs = tuple(quote_proof(f.evidence, f.span, "closest") for f in contradicted)
        told = "Several sentences of the source give other figures; which of them is meant is not clear."
        return ruling.verdict("unchecked", "several_candidates", told, proofs)
    if by_outcome["inside"]:
        one = by_outcome["inside"][0]
        return ruling.verdict("unsupported", "overstated", one.explanation, one.proofs())
    if by_outcome["ambiguous"]:
        one = by_outcome["ambiguous"][0]
        return ruling.verdict("unchecked", "ambiguous_number", one.explanation, one.proofs())
    if contradicted:
        one = contradicted[0]
        return ruling.verdict("contradicted", "number_differs", one.explanation, one.proofs())
    return None


def _read(claim: str, sentence: str, sides: Sides) -> Read | None:
    found = restated(sides) or same_subject(sides)
    if found is None:
        turned = part_first(sentence)
        if turned:
            convention = convention_of(sentence)
            found = restated(Sides(claim, turned, convention))
    return found or _changed(sides)


# ---------------------------------------------------------------- change


def _changed(sides: Sides) -> Read | None:
    """The sentence tells from where to where something went, the claim by how much."""
    moved = [q for q in sides.theirs if q.is_changing and q.role == "value"]
    if len(moved) != 1:
        return None
    change = change_in(sides.claim, sides.ours, sides.sentence, moved[0])
    if change is None:
        return None
    comparison = compare(change.claim_rest, change.sentence_rest)
    if comparison.difference != "none" or comparison.common_words < LEAST_WORDS:
        return None
    if not change.fits and not change.is_ambiguous and change.may_be(moved[0].step):
        return None
    return _judged(change, comparison.common_words)


def _judged(change: Change, common: int) -> Read:
    start, end = change.start, change.end
    if change.fits:
        one = Computed(
            change.formula, (("a", start), ("b", end)), change.result, change.claimed, change.tolerance, change.unit
        )
        return "supported", change.explanation, (one,), common
    if change.is_ambiguous:
        return "ambiguous", change.explanation, (), common
    one = Computed(
        change.formula, (("a", start), ("b", end)), change.result, change.claimed, change.tolerance, change.unit
    )
    return "contradicted", change.explanation, (one,), common
