"""From an answer's text to its claims: each sentence that states something, with its exact span and its citations."""

from __future__ import annotations

import re

from medcite_core.answers import CITATION_MARK, Claim
from medcite_core.sentences import sentence_spans
from medcite_core.types import Span

_LEADING_MARKS = re.compile(rf"(?:\s*{CITATION_MARK.pattern})+\s*[.,;]?")
_BULLET = re.compile(r"(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)")
_HEADING = re.compile(r"#{1,6}\s|[*_]{2}[^*_]+[*_]{2}:?$")
_GREETING = re.compile(
    r"(?:hi|hello|hey|thanks?(?: you)?|sure|certainly|of course|great question|you'?re welcome|i hope this helps)\b"
    r"[^.!]*[.!]?$",
    re.IGNORECASE,
)
_ABOUT_THE_SOURCES = re.compile(
    r"(?:unfortunately, )?(?:based on [^,]+, )?(?:the |these |this )?"
    r"(?:given |provided |supplied |available |retrieved )?"
    r"(?:context|sources?|evidence|abstracts?|passages?|records?|corpus)\s(?:provided\s|given\s)?"
    r"(?:does|do|did)(?:\snot|n't)\s"
    r"(?:contain|hold|say|provide|answer|mention|give|state|include|address|discuss|report)\b",
    re.IGNORECASE,
)


def split_claims(answer_text: str) -> tuple[Claim, ...]:
    """The claims of an answer, in order, with ids `c1`, `c2`, …; `answer_text[claim.span] == claim.text`.

    A sentence is one claim; the citations that follow its full stop belong to it. Questions, greetings, headings and
    statements about the sources themselves ("The context does not say …") are no claims.
    """
    claims: list[Claim] = []
    for span in _with_trailing_marks(answer_text):
        text = span.of(answer_text)
        if _is_checkable(text):
            claims.append(Claim(f"c{len(claims) + 1}", span, text, cited_numbers(text)))
    return tuple(claims)


def cited_numbers(text: str) -> tuple[int, ...]:
    """The evidence numbers cited in `text`, each once, in order: `[2, 3] … [2]` gives (2, 3)."""
    found = [int(n) for mark in CITATION_MARK.finditer(text) for n in re.findall(r"\d+", mark.group(1))]
    return tuple(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """`text` with its citation marks taken out, and the space before them."""
    return re.sub(rf"\s*{CITATION_MARK.pattern}", "", text).strip()


def _with_trailing_marks(text: str) -> list[Span]:
    """Sentence spans in which a mark that opens a sentence ("It helps. [1] It harms.") goes to the sentence before."""
    spans: list[Span] = []
    for span in sentence_spans(text):
        start = span.start
        marks = _LEADING_MARKS.match(text, span.start, span.end)
        if marks and spans and "\n" not in text[spans[-1].end : span.start]:
            end = marks.start() + len(marks.group().rstrip())
            spans[-1] = Span(spans[-1].start, end)
            start = end + len(text[end : span.end]) - len(text[end : span.end].lstrip())
        bullet = _BULLET.match(text, start, span.end)
        if bullet:
            start = bullet.end()
        if start < span.end:
            spans.append(Span(start, span.end))
    return spans


def _is_checkable(text: str) -> bool:
    bare = without_marks(text).strip(" *_\"“”'")
    if not re.search(r"[^\W\d_]{2}", bare):
        return False
    if bare.endswith("?") or _HEADING.match(text) or (bare.endswith(":") and len(bare) < 120):
        return False
    return not (_GREETING.match(bare) or _ABOUT_THE_SOURCES.match(bare))
