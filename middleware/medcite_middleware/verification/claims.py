"""From an answer's text to its claims: each sentence that states something, with its exact span and its citations."""

from __future__ import annotations

import re

from medcite_core.answers import CITATION_MARK, Claim
from medcite_core.sentences import sentence_spans
from medcite_core.types import Span

_LEADING_MARKS = re.compile(rf"(?:\s*{CITATION_MARK.pattern})+\s*[.,;]?")
_BULLET = re.compile(r"(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)")
_WRAPPED_LINE = re.compile(r"(?<=[^\s.!?:;])[ \t]*\n[ \t]*(?=[a-z(])")
_HEADING = re.compile(r"#{1,6}\s|[*_]{2}[^*_]+[*_]{2}:?$")
_MAX_HEADING_WORDS = 6
_GREETING = re.compile(
    r"(?:hi|hello|hey|thanks?(?: you)?|sure|certainly|of course|great question|you'?re welcome|i hope this helps)"
    r"(?: (?:there|again|so|very|much|for|your|asking|the|question|happy|glad|to|help)){0,6}[,.! ]*$",
    re.IGNORECASE,
)
_ABOUT_THE_SOURCES = re.compile(
    r"(?:unfortunately, )?(?:based on [^,]+, )?(?:the |these |this )?"
    r"(?:given |provided |supplied |available |retrieved )?"
    r"(?:context|sources?|evidence|abstracts?|passages?|records?|corpus)\s(?:provided\s|given\s)?"
    r"(?:does|do|did)(?:\snot|n't)\s"
    r"(?:contain|hold|say|provide|answer|mention|give|state|include|address|discuss|report)\b[^,;:]*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:but|so|therefore|hence|however|thus|because|since|although|while|which means)\b", re.IGNORECASE
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


def citation_marks(text: str) -> list[re.Match[str]]:
    """The citations in `text`: `[3]`, `[1, 4]`. A bracket between a number and a word ("5 [3, 8] days") is none."""
    return [
        mark
        for mark in CITATION_MARK.finditer(text)
        if not (re.search(r"\d\s*$", text[: mark.start()]) and re.match(r"\s*[^\W_]", text[mark.end() :]))
    ]


def cited_numbers(text: str) -> tuple[int, ...]:
    """The evidence numbers cited in `text`, each once, in order: `[2, 3] … [2]` gives (2, 3)."""
    found = [int(n) for mark in citation_marks(text) for n in re.findall(r"\d+", mark.group(1))]
    return tuple(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """`text` with its citation marks taken out, and the space before them."""
    kept, end = [], 0
    for mark in citation_marks(text):
        kept.append(text[end : mark.start()].rstrip())
        end = mark.end()
    return "".join([*kept, text[end:]]).strip()


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


def _is_checkable(text: str) -> bool:
    """Whether a sentence states something. What carries a citation does, whatever it looks like, unless it asks."""
    bare = without_marks(text).strip(" *_#\"“”'")
    if not re.search(r"[^\W\d_]{2}", bare):
        return False
    if bare.endswith("?"):
        return False
    if cited_numbers(text):
        return True
    is_heading = bool(_HEADING.match(text)) or (bare.endswith(":") and len(bare) < 120)
    if is_heading and (len(bare.split()) <= _MAX_HEADING_WORDS or bare.endswith(":")):
        return False
    if _GREETING.match(bare):
        return False
    return not _ABOUT_THE_SOURCES.match(bare) or bool(_GOES_ON.search(bare))
