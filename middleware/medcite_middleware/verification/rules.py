"""The judge that is always on. It confirms what a source says in the same words and catches altered copies of it.

A paraphrase it leaves `unchecked`: that two sentences are alike is no proof that they say the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from medcite_core.answers import CitationState, Verdict
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Source
from medcite_middleware.verification.absence import absence_verdict
from medcite_middleware.verification.denials import read_denial
from medcite_middleware.verification.denying import denial_verdict, opposed_but_for_the_sample
from medcite_middleware.verification.figures import figures_of_retracted, figures_verdict
from medcite_middleware.verification.marks import cited_numbers
from medcite_middleware.verification.matches import Match, Reading, contradicts, matches_of, readings_of, supports
from medcite_middleware.verification.named_authors import read_named_finding
from medcite_middleware.verification.quotations import quotation_verdict
from medcite_middleware.verification.ruling import RULES_VERSION, Ruling, citation_of, sources_named
from medcite_middleware.verification.undecided import undecided

__all__ = ["RULES_VERSION", "RulesJudge"]


class RulesJudge:
    """Decides claims by rules alone: quotes, numbers and what they come to, negations, directions and hedges."""

    def __init__(self, settings: VerifySettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        """`rules`."""
        return "rules"

    def judge(self, case: Case) -> Verdict:
        """The verdict of one claim, read against the whole sources of the evidence."""
        claim, evidence = case.claim, case.evidence
        cited = sources_named(case)
        ruling = Ruling(claim, citation_of(claim, evidence), self._settings.quote_threshold)
        if claim.is_quotation:
            return quotation_verdict(ruling, cited or evidence, self._is_usable)
        if not claim.cited and case.needs_citation:
            return self._without_citation(ruling, evidence, case.text)
        if ruling.citation == "not_found":
            numbers = ", ".join(str(n) for n in sorted(set(claim.cited) - {e.number for e in evidence}))
            return ruling.verdict(
                "unchecked", "citation_not_found", f"It cites [{numbers}], and there is no such source."
            )
        if claim.kind == "absence":
            absent = absence_verdict(case, allow_retracted=self._settings.allow_retracted_support)
            if absent is not None:
                return absent
        readings = readings_of(claim, case.text)
        finding = read_named_finding(readings[0].text)
        if finding is not None:
            evidence = cited = tuple(e for e in cited or evidence if finding.is_of(e.source))
            if not evidence:
                return ruling.verdict(
                    "unchecked", "author_differs", "No source is by the authors and of the year named."
                )
            readings = (Reading(finding.inner),)
        denial = read_denial(readings[0].text)
        if denial is not None:
            denied = matches_of((Reading(denial.inner),), evidence, cited, claim.cited)
            verdict = denial_verdict(ruling, denial, [m for m in denied if self._is_usable(m.evidence.source)])
            if verdict is not None:
                return verdict
        matches = matches_of(readings, evidence, cited, claim.cited)
        return self._decide(ruling, readings[0], matches, evidence, cited)

    def _decide(
        self,
        ruling: Ruling,
        reading: Reading,
        matches: Sequence[Match],
        evidence: Sequence[Evidence],
        cited: Sequence[Evidence],
    ) -> Verdict:
        usable = [m for m in matches if self._is_usable(m.evidence.source)]
        supporting = [m for m in usable if supports(m)]
        opposing = [m for m in usable if contradicts(m)]
        from_cited = [m for m in supporting if m.is_cited]
        if from_cited:
            return _supported_by_cited(ruling, from_cited, opposing, cited)
        against = [m for m in opposing if m.is_cited] or opposed_but_for_the_sample(reading, usable)
        if against and supporting:
            return ruling.conflicting(supporting[0], against[0], _elsewhere(ruling))
        if len({m.comparison.source_words for m in against if m.comparison.difference == "number"}) > 1:
            return ruling.several_candidates(against)
        if against:
            return ruling.contradicted(against[0])
        if supporting:
            return _supported_elsewhere(ruling, supporting[0])
        withdrawn = [m for m in matches if m.is_cited and supports(m)]
        if withdrawn:
            return ruling.verdict(
                "unsupported",
                "only_retracted",
                "Only a retracted record says this.",
                (withdrawn[0].proof("closest"),),
            )
        if not reading.before and not reading.about:
            read = [e for e in (*cited, *evidence) if self._is_usable(e.source)]
            by_figures = figures_verdict(ruling, reading.text, read, [e for e in cited if self._is_usable(e.source)])
            if by_figures is not None:
                return by_figures
            retracted = figures_of_retracted(ruling, reading.text, [e for e in cited if not self._is_usable(e.source)])
            if retracted is not None:
                return retracted
        return undecided(ruling, matches, cited)

    def _without_citation(self, ruling: Ruling, evidence: Sequence[Evidence], text: str) -> Verdict:
        matches = [m for m in matches_of(readings_of(ruling.claim, text), evidence, ()) if supports(m)]
        if matches:
            explanation = f"No source is named here; the words stand in source [{matches[0].evidence.number}]."
            return ruling.verdict("unchecked", "no_citation", explanation, (matches[0].proof("closest"),))
        return ruling.verdict("unchecked", "no_citation", "No source is named for this sentence.")

    def _is_usable(self, source: Source) -> bool:
        return source.is_usable_as_support or self._settings.allow_retracted_support


def _supported_by_cited(
    ruling: Ruling, supporting: Sequence[Match], opposing: Sequence[Match], cited: Sequence[Evidence]
) -> Verdict:
    support = supporting[0]
    source_id = support.evidence.source.source_id
    # In one record a like sentence with another figure is another arm or time, not a conflict.
    others = [m for m in opposing if m.evidence.source.source_id != source_id or m.comparison.difference != "number"]
    if others:
        return ruling.conflicting(support, others[0])
    explanation, review = "The source says this in the same words.", ""
    saying = {m.evidence.source.source_id for m in supporting}
    own = cited_numbers(ruling.claim.text)
    silent = [str(e.number) for e in cited if e.number in own and e.source.source_id not in saying]
    if silent:
        review = f"Source [{support.evidence.number}] says this; in [{', '.join(silent)}] these words do not stand."
        explanation = review
    return ruling.verdict("supported", "verbatim", explanation, (support.proof("supports"),), review=review)


def _supported_elsewhere(ruling: Ruling, support: Match) -> Verdict:
    number = support.evidence.number
    if not ruling.claim.cited:
        explanation = f"Source [{number}] says this in the same words."
    else:
        explanation = f"These words stand in source [{number}], not in the one that is cited."
    proofs = (support.proof("supports"),)
    return ruling.verdict("supported", "verbatim", explanation, proofs, _elsewhere(ruling))


def _elsewhere(ruling: Ruling) -> CitationState:
    """Support outside the sources named is the wrong source, where any is named."""
    return "wrong_source" if ruling.claim.cited else "none"
