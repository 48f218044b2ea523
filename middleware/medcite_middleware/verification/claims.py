"""From an answer's text to its claims: each clause that states something, with its exact span and its citations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from medcite_core.answers import CITATION_MARK, Claim, Statement
from medcite_core.sentences import sentence_spans
from medcite_core.types import Span
from medcite_middleware.verification.claim_kinds import claim_kind, is_fragment, statement_kind
from medcite_middleware.verification.clauses import clause_spans
from medcite_middleware.verification.elliptic import made_whole, with_pronoun_resolved, without_yes_or_no
from medcite_middleware.verification.leads import DENIAL, denying_lead
from medcite_middleware.verification.marks import citation_marks, cited_numbers, without_marks
from medcite_middleware.verification.pronouns import subject_of, with_subject

__all__ = [
    "SplitText",
    "citation_marks",
    "cited_numbers",
    "claim_of",
    "sentence_before",
    "split_claims",
    "split_text",
    "without_marks",
]

_LEADING_MARKS = re.compile(rf"(?:\s*{CITATION_MARK.pattern})+\s*[.,;]?")
_BULLET = re.compile(r"(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)")
_WRAPPED_LINE = re.compile(r"(?<=[^\s.!?:;])[ \t]*\n[ \t]*(?=[a-z(])")


@dataclass(frozen=True, slots=True)
class SplitText:
    """The claims of a text, and its sentences that cannot be checked; both in order."""

    claims: tuple[Claim, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    span: Span
    text: str
    is_item: bool = False
    follows: bool = False  # on the sentence before, in the same paragraph


def split_text(text: str, question: str = "") -> SplitText:
    """The claims of `text`, with ids `c1`, `c2`, … and `text[claim.span] == claim.text`, and what is no claim.

    A clause that can be read alone is a claim of its own and carries all citations of its sentence; else the sentence
    is one claim. Pronouns and answers to a question are resolved in `meaning`, where that is certain. `question` is
    what the text answers: it makes elliptic answers whole and is never evidence.
    """
    claims: list[Claim] = []
    statements: list[Statement] = []
    asked, lead, before = question, "", ""
    for sentence in _sentences(text):
        if not sentence.is_item and not (lead.endswith(":") and sentence.follows):
            lead = ""
        bare = without_marks(sentence.text)
        kind = statement_kind(sentence.text)
        whole = made_whole(bare, asked) if _needs_question(kind, bare) else ""
        if kind is None or whole:
            claims.extend(_claims_of(sentence, before if sentence.follows else "", whole, lead, len(claims)))
        else:
            statements.append(Statement(sentence.span, sentence.text, kind))
        if not sentence.is_item:
            lead = denying_lead(sentence.text)
        if kind == "question":
            asked = with_pronoun_resolved(bare, subject_of(before))
        elif kind is None and not whole:
            asked = ""
        before = (
            (whole or (claims[-1].meaning if claims and kind is None else "") or bare) if kind != "question" else before
        )
    return SplitText(tuple(claims), tuple(statements))


def split_claims(answer_text: str) -> tuple[Claim, ...]:
    """The claims of an answer, without its statements; see `split_text`."""
    return split_text(answer_text).claims


def claim_of(text: str, claim_id: str = "c1", start: int = 0, question: str = "") -> Claim:
    """The whole of `text`, a line of a claims file say, as one claim that stands at `start` of a longer text."""
    bare = without_marks(text)
    meaning = made_whole(bare, question) if is_fragment(bare) else without_yes_or_no(bare)
    kind = claim_kind(meaning or text)
    return Claim(claim_id, Span(start, start + len(text)), text, cited_numbers(text), kind=kind, meaning=meaning)


def sentence_before(text: str, span: Span) -> str:
    """The sentence of `text` that goes before the one at `span` in the same paragraph; empty if there is none."""
    before = ""
    for sentence in _sentences(text):
        if sentence.span.end > span.start:
            return before if sentence.follows else ""
        before = without_marks(sentence.text)
    return ""


def _needs_question(kind: str | None, bare: str) -> bool:
    """Whether a sentence is a piece of an answer that its question makes whole."""
    return bool(re.search(r"[^\W_]", bare)) and (kind == "fragment" or (kind is None and is_fragment(bare)))


def _claims_of(sentence: _Sentence, before: str, whole: str, lead: str, known: int) -> list[Claim]:
    """The claims of one sentence; `known` is how many there are before it."""
    cited = cited_numbers(sentence.text)
    spans = (Span(0, len(sentence.text)),) if whole or lead else clause_spans(sentence.text)
    claims = []
    for number, part in enumerate(spans, start=known + 1):
        words = part.of(sentence.text)
        if whole:
            meaning = whole
        else:
            bare = without_marks(words)
            meaning = without_yes_or_no(bare) or with_subject(bare, before)
        if lead:
            bare = meaning or without_marks(words)
            meaning = DENIAL + bare[:1].lower() + bare[1:] if _may_be_lowered(bare) else DENIAL + bare
        span = Span(sentence.span.start + part.start, sentence.span.start + part.end)
        kind = claim_kind(meaning or words)
        claims.append(
            Claim(f"c{number}", span, words, cited, False, kind, sentence.span if len(spans) > 1 else None, meaning)
        )
        before = words
    return claims


def _may_be_lowered(text: str) -> bool:
    first = re.match(r"[^\W_]+", text)
    return first is not None and first.group()[1:].islower() and first.group().casefold() in _COMMON_OPENERS


_COMMON_OPENERS = frozenset(
    "the a an all no some most many patients adults children people in it this these there".split()
)


@lru_cache(maxsize=64)  # each claim of a text may look at the sentence before it
def _sentences(text: str) -> tuple[_Sentence, ...]:
    """The sentences of a text; list items without their bullets."""
    sentences: list[_Sentence] = []
    for span in _with_trailing_marks(text):
        line_start = max((text.rfind(end, 0, span.start) for end in _LINE_ENDS), default=-1) + 1
        opening = text[line_start : span.start]
        follows = bool(sentences) and sentences[-1].span.end >= line_start
        is_item = bool(_BULLET.fullmatch(opening.lstrip())) or (follows and bool(sentences) and sentences[-1].is_item)
        sentences.append(_Sentence(span, span.of(text), is_item, follows))
    return tuple(sentences)


_LINE_ENDS = "\n\r\u2028\u2029\x0b\x0c\x85"


def _with_trailing_marks(text: str) -> list[Span]:
    """Sentence spans in which a mark that opens a sentence ("It helps. [1] It harms.") goes to the sentence before."""
    spans: list[Span] = []
    # A line that goes on in lower case was wrapped, not ended: one space stands for the break, so spans stay.
    unwrapped = _WRAPPED_LINE.sub(lambda m: " " * len(m.group()), text)
    for span in sentence_spans(unwrapped):
        start = span.start
        marks = _LEADING_MARKS.match(text, span.start, span.end)
        if marks and spans and "\n" not in unwrapped[spans[-1].end : span.start]:
            end = marks.start() + len(marks.group().rstrip())
            spans[-1] = Span(spans[-1].start, end)
            start = end + len(text[end : span.end]) - len(text[end : span.end].lstrip())
        bullet = _BULLET.match(text, start, span.end)
        if bullet:
            start = bullet.end()
        if start < span.end:
            spans.append(Span(start, span.end))
    return spans
