"""The sentences of the sources that share words with a claim, each compared with it word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz import fuzz

from medcite_core.answers import Claim, QuoteProof
from medcite_core.types import Evidence, Source, Span
from medcite_middleware.verification.answered import answered_questions
from medcite_middleware.verification.claims import sentence_before
from medcite_middleware.verification.clauses import clause_spans
from medcite_middleware.verification.comparison import MIN_CONTENT_WORDS, Comparison, compare
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.pronouns import names_again, points_back, subject_of
from medcite_middleware.verification.sources import quote_proof, source_sentences, states
from medcite_middleware.verification.synonyms import roots

_ITEM_NUMBER = re.compile(r"^\(?\d{1,2}[.)]\s+(?=[A-Z])")
"""A number that a source gives its sentences; it is no part of them."""

_ARTICLES = frozenset("the a an".split())

MIN_CANDIDATE_SCORE = 50.0
"""A sentence below this rapidfuzz token_set_ratio (0..100) shares too little with the claim to be compared."""

MIN_SIMILARITY = 70.0
"""Least similarity (0..100) at which a sentence with one thing turned is the claim's own."""

MIN_NEGATED_SIMILARITY = 60.0
"""The same for a negation, which changes the form of the verb too ("does not cure", "cures")."""

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


@dataclass(frozen=True, slots=True)
class Reading:
    """Words to look for in the sources on behalf of a claim.

    With `before`, the sentence that stands before them in the answer must stand before them in the source too, since
    they point back to it. With `about`, the source must hold these words, since they are what "the drug" names.
    `is_part` when they are a clause of a sentence: they may then be one in the source.
    """

    text: str
    before: str = ""
    about: str = ""
    is_part: bool = False


def readings_of(claim: Claim, answer_text: str) -> tuple[Reading, ...]:
    """What a claim may say in a source's words: what it means and, if it opens with a pronoun, what stands written."""
    is_part = claim.sentence is not None
    written = without_marks(claim.text)
    is_named_again = names_again(written)
    sentence = sentence_before(answer_text, claim.span) if is_named_again or points_back(written) else ""
    before = "" if is_named_again else sentence
    as_written = Reading(written, before, subject_of(sentence) if is_named_again else "", is_part)
    if not claim.meaning:
        return (as_written,)
    meant = Reading(without_marks(claim.meaning), is_part=is_part)
    return (meant, as_written) if before else (meant,)


def matches_of(
    readings: Sequence[Reading], evidence: Sequence[Evidence], cited: Sequence[Evidence], numbers: Sequence[int] = ()
) -> list[Match]:
    """Sentences that share words with a claim, cited ones first, then the most similar; each source is read once.

    `numbers` are the evidence numbers that the claim names.
    """
    cited_ids = {e.source.source_id for e in cited}
    found: list[Match] = []
    seen: set[str] = set()
    for item in sorted(evidence, key=lambda e: (e.number not in numbers, e.number)):
        if item.source.source_id in seen:
            continue
        seen.add(item.source.source_id)
        is_cited = item.source.source_id in cited_ids
        for reading in readings:
            found.extend(Match(item, span, c, is_cited) for span, c in _compared(reading, item.source))
    found.sort(key=lambda m: (not m.is_cited, -m.comparison.similarity, m.evidence.number, m.span.start))
    return found


def _compared(reading: Reading, source: Source) -> Iterator[tuple[Span, Comparison]]:
    """The sentences of a source that are worth comparing with a reading, compared; the best clause of each."""
    if reading.about and not set(roots(reading.about)) - _ARTICLES <= set(roots(source.text)):
        return
    before: Span | None = None
    for span in source_sentences(source):
        sentence = _ITEM_NUMBER.sub("", span.of(source.text))
        parts = [sentence]
        if reading.is_part:
            parts.extend(clause.of(sentence) for clause in clause_spans(sentence))
        near = [p for p in parts if fuzz.token_set_ratio(reading.text, p, score_cutoff=MIN_CANDIDATE_SCORE)]
        if near:
            comparison = max((compare(reading.text, p) for p in near), key=_closeness)
            if reading.before and not _same(reading.before, before.of(source.text) if before else ""):
                comparison = replace(comparison, difference="other", lines_up=False)
            yield span, comparison
        before = span
    for answered in answered_questions(source):
        yield answered.span, compare(reading.text, answered.statement)


def _closeness(comparison: Comparison) -> tuple[bool, bool, float]:
    return comparison.difference == "none", comparison.lines_up, comparison.similarity


def _same(left: str, right: str) -> bool:
    return compare(left, right).difference == "none"


def supports(match: Match) -> bool:
    """Whether the sentence says what the claim says, in the same words."""
    # A short sentence ("No deaths occurred.") says something only of the record that is cited.
    least = 2 if match.is_cited else MIN_CONTENT_WORDS
    comparison = match.comparison
    return comparison.difference == "none" and comparison.common_words >= least and states(match.evidence, match.span)


def contradicts(match: Match) -> bool:
    """Whether the sentence is the claim with one figure, negation or direction turned."""
    comparison = match.comparison
    if not comparison.lines_up or comparison.difference == "none":
        return False
    if comparison.similarity < (MIN_NEGATED_SIMILARITY if comparison.difference == "negation" else MIN_SIMILARITY):
        return False
    if not states(match.evidence, match.span):
        return False
    # Another study may well have another figure; that it found the opposite is a conflict.
    is_same_study = match.is_cited or comparison.difference != "number"
    return is_same_study and (match.is_cited or comparison.common_words >= MIN_FOREIGN_WORDS)
