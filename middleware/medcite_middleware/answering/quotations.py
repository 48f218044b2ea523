"""An answer without a model: the sentences of the evidence that answer best, word for word, each dated and cited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from medcite_core.answers import Claim
from medcite_core.sentences import sentence_spans
from medcite_core.types import Evidence, Span
from medcite_middleware.answering.question_words import QuestionWords, short_forms_in, stems_of
from medcite_middleware.answering.sentence_kinds import heading_chars, statement_weight

MAX_QUOTES = 5
MIN_ON_TOPIC = 0.43
"""Share of the question's words, weighted, that a quoted record holds in its title and abstract."""
MIN_SCORE = 0.3
"""Least score of a quoted sentence: the share of the question that it answers, times how well it stands as a quote."""
MIN_OF_BEST = 0.6
"""A further sentence is quoted only if it scores at least this share of the best one."""
_NEAR_DUPLICATE = 85.0
_REPEAT_DISCOUNT = 0.85
_QUANTITY_BONUS = 1.35
_FIGURE = re.compile(r"\d\s*%|\b(?:CI|OR|RR|HR|ratios?|per)\b.*\d|\d\s*(?:mg|µg|g|ml|mL|mm|kg|IU)\b")

_TELLING = re.compile(r"\d+(?:\.\d+)?|\bno\b|\bnot\b|\bwithout\b|n't\b")


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
    """Every sentence that may be quoted, with its score."""
    records = {item.record.pmid: item.record for item in evidence}
    short_forms = {pmid: short_forms_in(record.text) for pmid, record in records.items()}
    sentences = [
        (item, span, stems_of(span.of(item.text), short_forms[item.record.pmid]))
        for item in evidence
        for span in sentence_spans(item.text)
    ]
    words = QuestionWords(question, [stems for _, _, stems in sentences])
    on_topic = {pmid for pmid, record in records.items() if words.held_by(stems_of(record.text)) >= MIN_ON_TOPIC}
    best_passage = max((item.score for item in evidence), default=0.0) or 1.0
    found = []
    for item, span, stems in sentences:
        section = item.record.section_at(item.span.start + span.start)
        if section is None or item.record.pmid not in on_topic:
            continue
        title = stems_of(item.record.title, short_forms[item.record.pmid])
        passage = stems_of(item.text, short_forms[item.record.pmid])
        span = Span(span.start + heading_chars(span.of(item.text)), span.end)
        text = span.of(item.text)
        score = words.answered_by(stems, title, passage)
        score *= statement_weight(text, section, span.start + item.span.start - section.span.start)
        score *= 0.7 + 0.3 * item.score / best_passage
        if words.asks_for_a_quantity and _FIGURE.search(text):
            score *= _QUANTITY_BONUS
        if score >= MIN_SCORE:
            found.append(Quote(item, span, text, score))
    return found


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
