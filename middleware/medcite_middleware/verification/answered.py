"""Questions that a source asks and answers at once: "Was the trial blinded? No." states that it was not."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from medcite_core.sentences import sentence_spans
from medcite_core.types import Source, Span
from medcite_middleware.verification.elliptic import statement_of, with_pronoun_resolved
from medcite_middleware.verification.pronouns import subject_of

_TAKEN_BACK = re.compile(r"(?:but|however|though|although|except|only|unless|not|or)\b", re.IGNORECASE)
_ANSWER = re.compile(r"(yes|no)\s*[.!]?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answered:
    """The statement that a question and the answer after it make; `span` holds both, in the source's text."""

    span: Span
    statement: str


def answered_questions(source: Source) -> list[Answered]:
    """Every question of a source that a bare "Yes" or "No" follows, as a statement."""
    return [
        Answered(Span(section.span.start + span.start, section.span.start + span.end), statement)
        for section in source.sections
        if "?" in section.text
        for span, statement in _answered(section.text)
    ]


@lru_cache(maxsize=2048)
def _answered(text: str) -> tuple[tuple[Span, str], ...]:
    found = []
    subject = ""
    spans = sentence_spans(text)
    for at, (asked, answer) in enumerate(itertools.pairwise(spans)):
        question, reply = asked.of(text), _ANSWER.match(answer.of(text))
        after = spans[at + 2].of(text) if at + 2 < len(spans) else ""
        if not question.endswith("?") or reply is None or _TAKEN_BACK.match(after):
            subject = subject_of(question) or subject
            continue
        statement = statement_of(with_pronoun_resolved(question, subject), is_yes=reply.group(1).casefold() == "yes")
        if statement:
            found.append((Span(asked.start, answer.end), statement))
            subject = subject_of(statement) or subject
    return tuple(found)
