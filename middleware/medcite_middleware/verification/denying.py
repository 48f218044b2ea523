"""Verdicts on claims that deny what a source says, or say what it denies, where its sample is left aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medcite_core.answers import Verdict
from medcite_middleware.verification.comparison import MIN_NEGATED_WORDS, compare
from medcite_middleware.verification.denials import Denial, without_sample
from medcite_middleware.verification.matches import Match, Reading, contradicts
from medcite_middleware.verification.ruling import Ruling
from medcite_middleware.verification.sources import states


def denial_verdict(ruling: Ruling, denial: Denial, matches: Sequence[Match]) -> Verdict | None:
    """The verdict on a claim that denies a statement; `matches` are of that statement. None when it stays open.

    A source that says the statement contradicts the claim. One that denies it in the same words bears out a claim that
    calls it false; that nothing shows it is more than any one source can bear out.
    """
    cited = [m for m in matches if m.is_cited]
    affirming = [m for m in cited if _affirms(m, denial.inner)]
    denying = (
        [m for m in cited if m.comparison.difference == "negation" and contradicts(m)] if denial.is_outright else []
    )
    if affirming and denying:
        return ruling.conflicting(denying[0], affirming[0])
    if affirming:
        explanation = "The answer denies what the source says."
        return ruling.verdict("contradicted", "negation_differs", explanation, (affirming[0].proof("contradicts"),))
    if denying:
        return ruling.verdict("supported", "paraphrase", "The source denies it too.", (denying[0].proof("supports"),))
    return None


def opposed_but_for_the_sample(reading: Reading, matches: Sequence[Match]) -> list[Match]:
    """Matches of the sources named that say the opposite of a claim, their sample ("in 30 adults") left aside."""
    found = []
    for match in matches:
        sentence = match.span.of(match.evidence.source.text)
        finding = without_sample(sentence)
        if finding == sentence or not match.is_cited or reading.before or not states(match.evidence, match.span):
            continue
        comparison = compare(reading.text, finding)
        if comparison.difference == "negation" and comparison.lines_up:
            found.append(replace(match, comparison=comparison))
    return found


def _affirms(match: Match, statement: str) -> bool:
    comparison = match.comparison
    if comparison.difference != "none":
        comparison = compare(statement, without_sample(match.span.of(match.evidence.source.text)))
    is_said = comparison.difference == "none" and comparison.common_words >= MIN_NEGATED_WORDS
    return is_said and states(match.evidence, match.span)
