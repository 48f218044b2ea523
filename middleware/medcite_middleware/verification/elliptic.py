"""Answers that need their question ("Yes, in 2019", "Twelve weeks."), made whole. The question is no evidence."""

from __future__ import annotations

import re

from medcite_middleware.verification.vocabulary import AUXILIARIES

_YES_NO = re.compile(r"\W*(?P<answer>yes|no)\b(?:\s*[,.;:!–—-]+\s*(?P<rest>.*))?$", re.IGNORECASE | re.DOTALL)
_POLAR = re.compile(
    r"(?:and\s+)?(?P<verb>was|were|is|are|did|does|do|has|have|had|can|could|will|would|should)\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_HAS_NEGATION = re.compile(r"\b(?:not|never|no|none|nobody|neither|nor|without)\b|n['’]t\b", re.IGNORECASE)
_TAIL_OF_YES = re.compile(r"(?:in|at|on|by|after|before|during|for|within|until|among|from|with|over)\b", re.IGNORECASE)
_PRONOUN_START = re.compile(r"(?:it|they|he|she|this|these|those|there|you|we|i)\b", re.IGNORECASE)
_NOUN_PHRASE = re.compile(
    r"(?P<noun>(?:the|this|a|an|its|their)\s+(?:[\w-]+))\s+(?P<rest>[\w-].*)$", re.IGNORECASE | re.DOTALL
)
_NAME = re.compile(r"(?P<noun>[\w-]+(?:\s+[A-Z]\b)?)\s+(?P<rest>[\w-].*)$", re.DOTALL)
_PREDICATE = re.compile(
    r"(?:\w+ly\s+)?(?:\w+(?:ed|en|wn|ung|ade|ept|elt|old|ought)|open|double-blind(?:ed)?|blind|safe|effective|superior|inferior|"
    r"associated|higher|lower|better|worse|available|significant|positive|negative|common|rare|similar|different|useful)\b",
    re.IGNORECASE,
)
_BASE_VERB = re.compile(
    r"(?:reduce|increase|decrease|improve|lower|raise|prevent|cause|affect|change|cure|help|work|harm|inhibit|enhance|prolong|"
    r"shorten|delay|predict|include|receive|show|report|occur|die|survive|lead|protect|block|treat|relieve|worsen|slow|"
    r"stimulate|suppress|activate|induce|promote|require|differ|have|contain|use|take|start|stop|recover|relapse|respond)\b",
    re.IGNORECASE,
)
_ASKED_FOR = (
    (r"(?:what|which)\s+(?P<be>was|were|is|are)\s+(?P<noun>(?:the|its|their)\s+.+)$", "{noun} {be} {answer}"),
    (r"(?:who|what|which\s+[\w-]+)\s+(?P<rest>(?:[\w-]+ed|was|were|is|are|has|had)\s+.+)$", "{answer} {rest}"),
    (
        r"how\s+many\s+(?P<noun>[\w-]+)\s+(?P<rest>(?:[\w-]+ed|were|are|have|had|was)\b.*)$",
        "{answer} {noun} {rest}",
    ),
)


def made_whole(answer: str, question: str) -> str:
    """The statement that `answer` makes when `question` was asked; empty when it does not need the question.

    Where no plain sentence can be made of the two, they stand side by side: "How was it given? By mouth."
    """
    asked = question.strip().rstrip("?").strip()
    answer = answer.strip()
    if not asked or not answer:
        return ""
    polar = _YES_NO.match(answer)
    if polar:
        return _polar(polar["answer"].casefold() == "yes", (polar["rest"] or "").strip(), asked, answer)
    words = answer.rstrip(".! ")
    for form, pattern in _ASKED_FOR:
        found = re.match(form, asked, re.IGNORECASE | re.DOTALL)
        if found:
            parts = {k: (v or "") for k, v in found.groupdict().items()}
            if any(_PRONOUN_START.match(v) for v in parts.values()):
                break
            return _sentence(pattern.format(answer=words, **parts))
    return f"{asked[:1].upper()}{asked[1:]}? {answer}"


def without_yes_or_no(text: str) -> str:
    """A full sentence after "Yes," or, where it denies too, after "No,"; empty when it cannot be left out."""
    found = _YES_NO.match(text)
    rest = (found["rest"] or "").strip() if found else ""
    if not found or not rest:
        return ""
    if found["answer"].casefold() == "no" and not _HAS_NEGATION.search(rest):
        return ""
    if found["answer"].casefold() == "yes" and _HAS_NEGATION.search(rest):
        return ""
    return rest[:1].upper() + rest[1:]


def with_pronoun_resolved(question: str, subject: str) -> str:
    """A question such as "Was it randomised?" with `subject` for its pronoun; as it is without one, or without any."""
    found = re.match(r"(?P<verb>\s*\w+)\s+(?:it|they)\b(?P<rest>.*)$", question, re.IGNORECASE | re.DOTALL)
    if found is None or not subject or not _POLAR.match(question.strip()):
        return question
    named = subject[0].lower() + subject[1:] if subject.split()[0] in ("The", "A", "An", "All") else subject
    return f"{found['verb']} {named}{found['rest']}"


def _polar(is_yes: bool, rest: str, asked: str, answer: str) -> str:
    aside = f"{asked[:1].upper()}{asked[1:]}? {answer}"
    if rest and not (is_yes and _TAIL_OF_YES.match(rest)):
        return aside
    statement = statement_of(asked, is_yes=is_yes)
    if not statement:
        return aside
    return _sentence(f"{statement.rstrip('.')} {rest.rstrip('. ')}".strip())


def statement_of(question: str, *, is_yes: bool) -> str:
    """The sentence that "yes" or "no" to `question` states; empty when subject and predicate cannot be told apart."""
    found = _POLAR.match(question.strip().rstrip("?").strip())
    if found is None or _HAS_NEGATION.search(question) or _PRONOUN_START.match(found["rest"]):
        return ""
    verb, rest = found["verb"].casefold(), found["rest"].strip()
    parts = _NOUN_PHRASE.match(rest) or _NAME.match(rest)
    if parts is None or parts["noun"].casefold() in AUXILIARIES:
        return ""
    predicate = _BASE_VERB if verb in ("did", "does", "do", "can", "could", "will", "would", "should") else _PREDICATE
    if not predicate.match(parts["rest"]):
        return ""
    said = f"{verb} " if is_yes else f"{verb} not "
    return _sentence(f"{parts['noun']} {said}{parts['rest']}")


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
