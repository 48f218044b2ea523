"""The judge that is always on. It confirms what a source says in the same words and catches altered copies of it.

A paraphrase it leaves `unchecked`: that two sentences are alike is no proof that they say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from medcite_core.answers import CitationState, Claim, QuoteProof, Verdict, VerdictLabel
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Source, Span
from medcite_middleware.verification.claims import without_marks
from medcite_middleware.verification.comparison import MIN_CONTENT_WORDS, Comparison, compare
from medcite_middleware.verification.quotes import find_quote, quoted_words
from medcite_middleware.verification.sources import quote_proof, source_sentences, states
from medcite_middleware.verification.vocabulary import LABEL_NOUNS
from medcite_middleware.verification.words import meaning_words

RULES_VERSION = "rules.v1"
MIN_CANDIDATE_SCORE = 50.0
"""A sentence below this rapidfuzz token_set_ratio (0..100) shares too little with the claim to be compared."""

MIN_FOREIGN_WORDS = 6
"""Words in common from which a record that is not cited can speak against a claim."""

_NUMBER_WORDS = re.compile(
    r"\b(?:half|third|quarter|twice|double\w*|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]\w+)?|hundred|"
    r"thousand|million|dozen|both|majority)\b",
    re.IGNORECASE,
)

CLOSEST_SHOWN = 60.0
"""Least similarity (0..100) at which the closest sentence of an undecided claim is shown."""


@dataclass(frozen=True, slots=True)
class _Match:
    evidence: Evidence
    span: Span  # of the sentence, in the record's text
    comparison: Comparison
    is_cited: bool

    def proof(self, shows: str) -> QuoteProof:
        return quote_proof(
            self.evidence,
            self.span,
            "supports" if shows == "supports" else "contradicts" if shows == "contradicts" else "closest",
        )


class RulesJudge:
    """Decides claims by rules alone: quotes, numbers, negations, directions and hedges."""

    def __init__(self, settings: VerifySettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        """`rules`."""
        return "rules"

    def judge(self, case: Case) -> Verdict:
        """The verdict of one claim, read against the whole sources of the evidence."""
        claim, evidence = case.claim, case.evidence
        cited = case.cited
        if not claim.cited and not case.needs_citation:
            cited = tuple(e for e in evidence if e.source.source_id in case.given)
        citation = _citation(claim, evidence)
        if claim.is_quotation:
            return self._judge_quotation(claim, cited or list(evidence), citation)
        if not claim.cited and case.needs_citation:
            return self._without_citation(claim, evidence)
        if citation == "not_found":
            numbers = ", ".join(str(n) for n in sorted(set(claim.cited) - {e.number for e in evidence}))
            return self._verdict(
                claim,
                "unchecked",
                "citation_not_found",
                f"It cites [{numbers}], and there is no such source.",
                citation,
            )
        matches = list(self._matches(claim, evidence, cited))
        return self._decide(claim, matches, cited, citation)

    def _decide(
        self,
        claim: Claim,
        matches: Sequence[_Match],
        cited: Sequence[Evidence],
        citation: CitationState,
    ) -> Verdict:
        usable = [m for m in matches if self._is_usable(m.evidence.source)]
        supporting = [m for m in usable if self._supports(m)]
        opposing = [m for m in usable if self._contradicts(m)]
        from_cited = [m for m in supporting if m.is_cited]
        if from_cited:
            return self._supported_by_cited(claim, from_cited[0], opposing, citation)
        against = [m for m in opposing if m.is_cited]
        if against and supporting:
            return self._conflicting(claim, supporting[0], against[0], "wrong_source")
        if against:
            return self._contradicted(claim, against[0], citation)
        if supporting:
            found = supporting[0].evidence.number
            return self._verdict(
                claim,
                "supported",
                "verbatim",
                f"These words stand in source [{found}], not in the one that is cited.",
                "wrong_source",
                (supporting[0].proof("supports"),),
            )
        withdrawn = [m for m in matches if m.is_cited and self._supports(m)]
        if withdrawn:
            return self._verdict(
                claim,
                "unsupported",
                "only_retracted",
                "Only a retracted record says this.",
                citation,
                (withdrawn[0].proof("closest"),),
            )
        return self._undecided(claim, matches, cited, citation)

    def _supported_by_cited(
        self, claim: Claim, support: _Match, opposing: Sequence[_Match], citation: CitationState
    ) -> Verdict:
        # In one record a like sentence with another figure is another arm or time, not a conflict.
        others = [m for m in opposing if m.evidence.source.source_id != support.evidence.source.source_id]
        if others:
            return self._conflicting(claim, support, others[0], citation)
        proofs = (support.proof("supports"),)
        return self._verdict(
            claim, "supported", "verbatim", "The source says this in the same words.", citation, proofs
        )

    def _conflicting(self, claim: Claim, support: _Match, against: _Match, citation: CitationState) -> Verdict:
        return self._verdict(
            claim,
            "conflicting",
            "sources_disagree",
            f"Source [{support.evidence.number}] says this, source [{against.evidence.number}] differs.",
            citation,
            (support.proof("supports"), against.proof("contradicts")),
        )

    def _contradicted(self, claim: Claim, match: _Match, citation: CitationState) -> Verdict:
        difference = match.comparison
        says = " ".join(difference.source_words) or "nothing"
        claims = " ".join(difference.claim_words) or "nothing"
        reasons = {
            "number": ("number_differs", f"The source says {says} where the answer says {claims}."),
            "negation": ("negation_differs", _negation_explanation(difference)),
            "direction": ("direction_differs", f"The source says “{says}” where the answer says “{claims}”."),
        }
        reason, explanation = reasons[difference.difference]
        return self._verdict(claim, "contradicted", reason, explanation, citation, (match.proof("contradicts"),))

    def _undecided(
        self, claim: Claim, matches: Sequence[_Match], cited: Sequence[Evidence], citation: CitationState
    ) -> Verdict:
        near = [m for m in matches if m.is_cited and m.comparison.similarity >= CLOSEST_SHOWN]
        best = near[0] if near else None
        proofs = (best.proof("closest"),) if best else ()
        if best and best.comparison.difference == "hedge" and best.comparison.common_words >= MIN_CONTENT_WORDS:
            words = " ".join(best.comparison.source_words)
            return self._verdict(
                claim,
                "unsupported",
                "overstated",
                f"The source is less sure: it says “{words}”.",
                citation,
                proofs,
            )
        figures = _figures(claim.text)
        record_figures = set().union(*(_figures(e.source.text) for e in cited))
        missing = sorted(figures - record_figures)
        has_number_words = any(_NUMBER_WORDS.search(e.source.text) for e in cited)
        if missing and not record_figures and not has_number_words and set(missing) & _shares(claim.text):
            return self._verdict(
                claim,
                "unsupported",
                "operands_absent",
                f"No source cited here gives the figure {', '.join(missing)}, or figures to work it out from.",
                citation,
                proofs,
            )
        if missing:
            return self._verdict(
                claim,
                "unchecked",
                "formula_unknown",
                f"The figure {', '.join(missing)} does not stand in the source cited; it was not recomputed.",
                citation,
                proofs,
            )
        if best and best.comparison.difference == "word" and best.comparison.common_words >= MIN_CONTENT_WORDS:
            says, claims = best.comparison.source_words, best.comparison.claim_words
            explanation = f"The closest sentence says “{' '.join(says)}” where the answer says “{' '.join(claims)}”."
            return self._verdict(claim, "unchecked", "subject_differs", explanation, citation, proofs)
        if best and best.comparison.difference == "left_out":
            explanation = "The source's sentence says more; what was left out may change the meaning."
        else:
            explanation = "Not in the source's own words, and no judge that can read a paraphrase is set up."
        return self._verdict(claim, "unchecked", "no_judge_for_paraphrase", explanation, citation, proofs)

    def _without_citation(self, claim: Claim, evidence: Sequence[Evidence]) -> Verdict:
        matches = [m for m in self._matches(claim, evidence, ()) if self._supports(m)]
        if matches:
            explanation = f"No source is named here; the words stand in source [{matches[0].evidence.number}]."
            return self._verdict(claim, "unchecked", "no_citation", explanation, "none", (matches[0].proof("closest"),))
        return self._verdict(claim, "unchecked", "no_citation", "No source is named for this sentence.", "none")

    def _judge_quotation(self, claim: Claim, cited: Sequence[Evidence], citation: CitationState) -> Verdict:
        words = quoted_words(claim.text)
        for evidence in cited:
            span = find_quote(words, evidence.source.text, self._settings.quote_threshold)
            if span is None:
                continue
            match = _Match(evidence, span, compare(words, words), is_cited=True)
            if not self._is_usable(evidence.source):
                return self._verdict(
                    claim,
                    "unsupported",
                    "only_retracted",
                    "The quoted record is retracted.",
                    citation,
                    (match.proof("closest"),),
                )
            return self._verdict(
                claim, "supported", "verbatim", "Quoted word for word.", citation, (match.proof("supports"),)
            )
        return self._verdict(
            claim, "unsupported", "not_in_sources", "These words do not stand in the source that is quoted.", citation
        )

    def _matches(self, claim: Claim, evidence: Sequence[Evidence], cited: Sequence[Evidence]) -> Iterator[_Match]:
        """Sentences that share words with the claim, the most similar first; each record once, cited ones first."""
        text = without_marks(claim.text)
        cited_ids = {e.source.source_id for e in cited}
        found: list[_Match] = []
        seen: set[str] = set()
        for item in sorted(evidence, key=lambda e: (e.number not in claim.cited, e.number)):
            source = item.source
            if source.source_id in seen:
                continue
            seen.add(source.source_id)
            for span in source_sentences(source):
                sentence = span.of(source.text)
                if fuzz.token_set_ratio(text, sentence) >= MIN_CANDIDATE_SCORE:
                    found.append(_Match(item, span, compare(text, sentence), source.source_id in cited_ids))
        found.sort(key=lambda m: (not m.is_cited, -m.comparison.similarity, m.evidence.number, m.span.start))
        return iter(found)

    def _supports(self, match: _Match) -> bool:
        # A short sentence ("No deaths occurred.") says something only of the record that is cited.
        least = 2 if match.is_cited else MIN_CONTENT_WORDS
        comparison = match.comparison
        return (
            comparison.difference == "none" and comparison.common_words >= least and states(match.evidence, match.span)
        )

    def _contradicts(self, match: _Match) -> bool:
        comparison = match.comparison
        if not comparison.lines_up or comparison.difference == "none" or comparison.similarity < 70:
            return False
        if not states(match.evidence, match.span):
            return False
        # Another study may well have another figure; that it found the opposite is a conflict.
        is_same_study = match.is_cited or comparison.difference != "number"
        return is_same_study and (match.is_cited or comparison.common_words >= MIN_FOREIGN_WORDS)

    def _is_usable(self, source: Source) -> bool:
        return source.is_usable_as_support or self._settings.allow_retracted_support

    def _verdict(
        self,
        claim: Claim,
        label: VerdictLabel,
        reason: str,
        explanation: str,
        citation: CitationState,
        proofs: tuple[QuoteProof, ...] = (),
    ) -> Verdict:
        return Verdict(
            claim.id,
            label,
            reason,
            explanation,
            proofs,
            citation,
            judge="rules",
            model=RULES_VERSION,
            thresholds=(("quote_threshold", self._settings.quote_threshold),),
        )


def _citation(claim: Claim, evidence: Sequence[Evidence]) -> CitationState:
    if not claim.cited:
        return "none"
    existing = {e.number for e in evidence}
    return "right" if set(claim.cited) <= existing else "not_found"


def _figures(text: str) -> set[str]:
    """Measures written in digits: no names such as "type 1", "OCT3/4" or "one of", which are no figures."""
    bare = without_marks(text)
    words = meaning_words(bare)
    return {
        word.form
        for at, word in enumerate(words)
        if word.is_number
        and any(c.isdigit() for c in word.span.of(bare))
        and (at == 0 or words[at - 1].form not in LABEL_NOUNS | {"/"})
        and (at + 1 == len(words) or words[at + 1].form != "/")
    }


def _shares(text: str) -> set[str]:
    """Percentages and decimals: figures that a text without any figures cannot bear out."""
    bare = without_marks(text)
    words = meaning_words(bare)
    return {
        word.form
        for at, word in enumerate(words)
        if word.is_number and ("." in word.form or (at + 1 < len(words) and words[at + 1].form == "%"))
    }


def _negation_explanation(comparison: Comparison) -> str:
    if comparison.source_words and not comparison.claim_words:
        return f"The answer leaves out “{' '.join(comparison.source_words)}”, which stands in the source."
    if comparison.claim_words and not comparison.source_words:
        return f"The answer adds “{' '.join(comparison.claim_words)}”, which does not stand in the source."
    says, claims = " ".join(comparison.source_words), " ".join(comparison.claim_words)
    return f"The source says “{says}” where the answer says “{claims}”."
