"""An answer without a model: the sentences of the evidence that answer best, word for word, each dated and cited."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from medcite_core.sentences import sentence_spans
from medcite_core.stemming import stem_words
from medcite_core.types import Claim, Evidence, Section, Span
from medcite_middleware.answering.sentence_kinds import statement_weight

MAX_QUOTES = 5
MIN_COVERAGE = 0.3
"""Share of the question's words, weighted by rarity, that a quoted sentence holds; its passage counts half."""
MIN_OF_BEST = 0.6
"""A further sentence is quoted only if it scores at least this share of the best one."""
_NEAR_DUPLICATE = 85.0
_REPEAT_DISCOUNT = 0.85
_CONTEXT_CREDIT = 0.5

_TELLING = re.compile(r"\d+(?:\.\d+)?|\bno\b|\bnot\b|\bwithout\b|n't\b")

_FUNCTION_WORDS = frozenset(
    stem_words(
        "a about after all also am an and any are as at be because been before being between both but by can could did "
        "do does doing done during each exist explain for from give had has have having he her his how i if in into is "
        "it its just know known may me might more most much must my no nor not of on or other our out over per please "
        "say should show so some such tell than that the their them then there these they this those through to too "
        "under up upon us very was we were what when where whether which while who whom whose why will with within "
        "without would you your evidence"
    )
)


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is checked: `text[claim.span] == claim.text` for each claim; empty when nothing answers."""

    text: str
    claims: tuple[Claim, ...]
    mode: Literal["generated", "quotations"] = "quotations"


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a piece of evidence: `evidence.text[span] == text`, and how well it answers."""

    evidence: Evidence
    span: Span
    text: str
    score: float


def quote_answer(question: str, evidence: Sequence[Evidence], *, allow_retracted: bool = False) -> Draft:
    """One line a quotation: `“sentence” — Doe A et al., 2019 [1]`; at most five, none when nothing bears on it.

    Retracted records and notices of retraction are not quoted unless `allow_retracted`, and are then marked.
    """
    usable = [e for e in evidence if allow_retracted or e.record.is_usable_as_support]
    lines: list[str] = []
    claims: list[Claim] = []
    offset = 0
    for quote in best_quotes(question, usable):
        line = _line(quote)
        claims.append(
            Claim(
                id=f"c{len(claims) + 1}",
                span=Span(offset, offset + len(line)),
                text=line,
                cited=(quote.evidence.number,),
                is_quotation=True,
            )
        )
        lines.append(line)
        offset += len(line) + 1
    return Draft("\n".join(lines), tuple(claims))


def best_quotes(question: str, evidence: Sequence[Evidence]) -> tuple[Quote, ...]:
    """The sentences to quote, best first: distinct, and from several records where they answer equally well."""
    chosen: list[Quote] = []
    of_record: Counter[str] = Counter()
    candidates = _candidates(question, evidence)
    best = max((quote.score for quote in candidates), default=0.0)
    while candidates and len(chosen) < MAX_QUOTES:
        # Ties go to the better passage, then to the earlier sentence: the order is total and repeatable.
        quote = max(
            candidates,
            key=lambda q: (
                q.score * _REPEAT_DISCOUNT ** of_record[q.evidence.record.pmid],
                -q.evidence.number,
                -q.span.start,
            ),
        )
        if quote.score * _REPEAT_DISCOUNT ** of_record[quote.evidence.record.pmid] < MIN_OF_BEST * best:
            break
        candidates.remove(quote)
        if not any(_says_the_same(quote.text, other.text) for other in chosen):
            chosen.append(quote)
            of_record[quote.evidence.record.pmid] += 1
    return tuple(chosen)


def _candidates(question: str, evidence: Sequence[Evidence]) -> list[Quote]:
    sentences = [(item, span, _stems(span.of(item.text))) for item in evidence for span in sentence_spans(item.text)]
    weights = _word_weights(question, [stems for _, _, stems in sentences])
    total = sum(weights.values())
    if not total:
        return []
    best_passage = max((item.score for item in evidence), default=0.0) or 1.0
    found = []
    for item, span, stems in sentences:
        section = item.record.section_at(item.span.start + span.start)
        if section is None or not stems & weights.keys():
            continue
        text = span.of(item.text)
        context = _stems(f"{item.record.title}\n{item.text}")
        covered = sum(
            weight * (1.0 if stem in stems else _CONTEXT_CREDIT if stem in context else 0.0)
            for stem, weight in weights.items()
        )
        coverage = covered / total
        if coverage < MIN_COVERAGE:
            continue
        weight = statement_weight(text, section, is_last=_ends_section(item, span, section))
        score = coverage * weight * (0.7 + 0.3 * item.score / best_passage)
        if score > 0:
            found.append(Quote(item, span, text, score))
    return found


def _word_weights(question: str, sentences: Sequence[frozenset[str]]) -> dict[str, float]:
    """The question's content words, each weighted by its rarity among the sentences found."""
    words = {stem for stem in _stems(question) if stem not in _FUNCTION_WORDS} or set(_stems(question))
    return {
        word: 1.0 + math.log((len(sentences) + 1) / (sum(word in stems for stems in sentences) + 1)) for word in words
    }


def _stems(text: str) -> frozenset[str]:
    """The stems of `text`, compounds such as COX-2 as their parts."""
    return frozenset(stem_words(text))


def _ends_section(item: Evidence, span: Span, section: Section) -> bool:
    return item.span.start + span.end >= len(section.text.rstrip()) + section.span.start


def _says_the_same(a: str, b: str) -> bool:
    """Whether two sentences repeat each other; a different number or negation is a different statement."""
    if fuzz.token_set_ratio(a, b) < _NEAR_DUPLICATE:
        return False
    return sorted(_TELLING.findall(a.lower())) == sorted(_TELLING.findall(b.lower()))


def _line(quote: Quote) -> str:
    record = quote.evidence.record
    year = str(record.year) if record.year is not None else "n.d."
    note = "" if record.is_usable_as_support else f", {record.status.replace('_', ' ')}"
    return f"“{quote.text}” — {record.authors_short()}, {year}{note} [{quote.evidence.number}]"
