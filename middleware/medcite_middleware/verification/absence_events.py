"""What the sentences of a source say of an event: that there was none, that it happened, or neither for certain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from medcite_core.answers import QuoteProof
from medcite_core.sentences import sentence_spans
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.absence_claims import EventAbsence, read_absence
from medcite_middleware.verification.scanning import Forms, may_hold, places, tokens_of
from medcite_middleware.verification.sources import quote_proof, states
from medcite_middleware.verification.synonyms import related_to, root, roots, same_as

_PIECES = re.compile(r"\s*;\s*|,\s+(?:but|and|whereas|while)\s+|\s+(?:but|whereas)\s+|,?\s+and\s+(?=there\s|no\s)")
# What "but" joins may take back what stands before it: it ends no denial.
_JOINTS = re.compile(r"\s*;\s*|,\s+and\s+|,?\s+and\s+(?=there\s|no\s)")
_OPENING = re.compile(r"(?:in|among|during|after|before|at|for|with|within|over|if|when|although|though|while)\b", re.I)
_DOUBT = re.compile(
    r"\b(?:may|might|could|would|should|if|whether|unless|expect\w*|hypothes\w+|assum\w+|predict\w+|estimat\w+|risk|risks|"
    r"prevent\w*|avoid\w*|reduc\w+|potential\w*|possib\w+|aim\w*|endpoint|end point|outcome was|outcomes were|defined|"
    r"definition|cause of|causes of|time to|free|worldwide|globally|annually|each year|per year|every year|history of|"
    r"previous\w*|prior|censored|excluded|exclusion|model\w*|cell|cells|neuronal|apoptotic|programmed|unlikely|likely|"
    r"absence of|lack of|rather than|instead of|case fatality|no longer|had (?:previously|already)|cited|review\w*)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:may|might|could|would|should|if|whether|expect\w*|hypothes\w+|assum\w+|predict\w+)\b", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|neither|nor|without|zero|absent|absence|hardly|few|lack)\b|n['’]t\b", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which|that)\b", re.IGNORECASE)
_COUNT = (
    r"(?:(?!0)\d[\d,.]*\s*%?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|some|many|multiple|both|"
    r"(?:\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)(?:-\w+)?)"
)
_HAPPENED = r"(?:occurred|happened|developed|arose|emerged|ensued|took place)"
_SEEN = r"(?:reported|observed|recorded|seen|noted|found|documented|detected|identified|encountered|registered)"
_BE = r"(?:was|were|has been|have been|had been)"
_HAD = r"(?:had|experienced|developed|suffered(?: from)?)"
_MARK = "\ufffc"
"""Stands for the mention in a piece of text while it is read."""

_SHAPES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_COUNT}\s+(?:[\w-]+\s+){{0,3}}?{_MARK}\s+(?:(?:events?|cases?|outcomes?)\s+)?(?:{_HAPPENED}|{_BE}\s+{_SEEN})\b",
        rf"\bthere\s+{_BE}\s+{_COUNT}\s+(?:[\w-]+\s+){{0,3}}?{_MARK}",
        rf"^(?:[\w-]+\s+){{0,3}}?{_MARK}\s+(?:{_HAPPENED}|{_BE}\s+{_SEEN})\b",
        rf"\b{_HAD}\s+(?:{_COUNT}\s+)?(?:[\w-]+\s+){{0,2}}?{_MARK}",
    )
)
_DIED = re.compile(rf"\w[^.;:]*\s{_MARK}", re.IGNORECASE)
_CELL = re.compile(
    rf"{_MARK}(?:\s+rates?)?(?:\s*[:=|\t]\s*|\s+)(?:(?:was|were|of)\s+)?(?P<count>\d+(?:\.\d+)?)"
    r"(?!\d|\s*(?:mg|days?|weeks?|months?|years?)\b)",
    re.IGNORECASE,
)
_ALL_SURVIVED = re.compile(
    r"(?:all|every one of|each of)\s+(?:of\s+)?(?:the\s+)?(?:patients|participants|subjects)\s+survived\b(?P<scope>.*)",
    re.IGNORECASE,
)
_EMPTY_SCOPE = re.compile(
    r"(?:in|during|throughout|over)\s+(?:the|this|our|any of the)\s+(?:whole\s+|entire\s+)?(?:study|trial|trials|"
    r"studies)|in\s+(?:either|any)\s+(?:of the\s+)?(?:group|groups|arm|arms)|in\s+any\s+(?:patients?|participants?)|"
    r"overall|at all|in\s+the\s+(?:paper|report)",
    re.IGNORECASE,
)
_NARROWER = frozenset("serious severe major further new unexpected additional drug-related treatment-related".split())
_BACKGROUND = ("BACKGROUND", "INTRODUCTION", "OBJECTIVE", "AIM", "PURPOSE", "METHODS", "IMPORTANCE")
_ARTICLES = frozenset("a an the".split())
_SMALL_ROOTS = frozenset(root(w) for w in "of in on at during among for to with by and or were was".split())


@dataclass(frozen=True, slots=True)
class Said:
    """What one sentence says of an event."""

    evidence: Evidence
    span: Span
    kind: Literal["denied", "happened", "unclear"]

    @property
    def text(self) -> str:
        """The sentence."""
        return self.span.of(self.evidence.source.text)

    def proof(self, shows: Literal["supports", "contradicts", "closest"]) -> QuoteProof:
        """The sentence as a proof."""
        return quote_proof(self.evidence, self.span, shows)


def said_of(evidence: Evidence, event: str, claim: EventAbsence, forms: Forms) -> Iterator[Said]:
    """What each sentence of a source that names an event, or what is close to it, says of it."""
    source = evidence.source
    heads = _heads(event)
    close = (*forms.related, *heads, *(other for head in heads for other in related_to(head)))
    wanted = (*forms.same, *close)
    spans = (
        Span(section.span.start + s.start, section.span.start + s.end)
        for section in source.sections
        if any(may_hold(section.text, form) for form in wanted)
        for s in sentence_spans(section.text)
    )
    for span in spans:
        sentence = span.of(source.text)
        tokens = tokens_of(sentence)
        exact = sorted({p for form in forms.same for p in places(tokens, form)})
        if not exact and not any(places(tokens, form) for form in close):
            continue
        if not states(evidence, span) or sentence.rstrip().endswith("?"):
            yield Said(evidence, span, "unclear")
            continue
        is_denied = _denies(sentence, event, claim)
        has_happened = any(_happened(sentence, place) for place in exact) and _meets(claim.scope, sentence)
        if is_denied:
            yield Said(evidence, span, "denied")
        if has_happened and not _is_background(evidence, span):
            yield Said(evidence, span, "happened")
        elif not is_denied:
            yield Said(evidence, span, "unclear")


def _heads(event: str) -> tuple[str, ...]:
    """An event without the words before its last ones: "serious adverse events" is close to "adverse events"."""
    words = event.split()
    return tuple(h for n in range(1, len(words)) for w in [" ".join(words[n:])] for h in (w, *same_as(w)))


def _denies(sentence: str, event: str, claim: EventAbsence) -> bool:
    """Whether a sentence, or a piece of it that stands alone, says of the same event and scope that there was none."""
    pieces = [sentence]
    if not _OPENING.match(sentence):
        pieces.extend(p for p in _JOINTS.split(sentence) if p)
    if _HYPOTHETICAL.search(sentence):
        return False
    return any(_is_denial(piece, event, claim) for piece in pieces)


def _is_denial(piece: str, event: str, claim: EventAbsence) -> bool:
    survived = _ALL_SURVIVED.fullmatch(piece.strip().rstrip("."))
    if survived and roots(event) in ({roots("death")} | {roots(s) for s in same_as("death")}):
        return _scope(survived["scope"]) == _scope(claim.scope)
    read = read_absence(re.sub(r"\b0(?=\s+(?!of\b|out\b)[a-z])", "no", piece))
    if not isinstance(read, EventAbsence) or _scope(read.scope) != _scope(claim.scope):
        return _is_zero(piece, event, claim)
    names = _names(event)
    return any(roots(other) in names for other in read.events)


def _names(event: str) -> set[tuple[str, ...]]:
    """The event by all its names, and without a word that only narrows it: none at all are none that are severe."""
    names = {roots(event), *(roots(s) for s in same_as(event))}
    first, _, rest = event.partition(" ")
    if rest and first.casefold() in _NARROWER:
        names |= _names(rest)
    return names


def _is_zero(piece: str, event: str, claim: EventAbsence) -> bool:
    """ "Deaths: 0", "Mortality was 0%", and nothing else."""
    if _scope(claim.scope):
        return False
    for form in (event, *same_as(event)):
        for place in places(tokens_of(piece), form):
            marked = piece[: place.start] + _MARK + piece[place.end :]
            found = _CELL.fullmatch(marked.strip().rstrip(".").removesuffix("%").strip())
            if found and float(found["count"]) == 0:
                return True
    return False


def _happened(sentence: str, place: Span) -> bool:
    """Whether the piece of a sentence that names the event at `place` says that it happened."""
    start = max((m.end() for m in _PIECES.finditer(sentence) if m.end() <= place.start), default=0)
    end = min((m.start() for m in _PIECES.finditer(sentence) if m.start() >= place.end), default=len(sentence))
    piece = sentence[start : place.start] + _MARK + sentence[place.end : end]
    word = place.of(sentence).casefold()
    if re.search(r"\b0\b(?![.,]\d)", piece[: piece.index(_MARK)]):  # "0 of 40 patients died"
        return False
    if _DOUBT.search(piece) or _NEGATION.search(piece) or _RELATIVE.search(piece[: piece.index(_MARK)]):
        return False
    cell = _CELL.search(piece)
    if cell:
        return float(cell["count"]) > 0
    if word in ("died", "bled", "relapsed", "recurred"):
        return bool(_DIED.search(piece))
    return any(shape.search(piece.strip()) for shape in _SHAPES)


def _is_background(evidence: Evidence, span: Span) -> bool:
    section = evidence.source.section_at(span.start)
    heading = f"{section.label} {getattr(section, 'nlm_category', '')}".upper() if section else ""
    return any(word in heading for word in _BACKGROUND)


def _scope(text: str) -> tuple[str, ...]:
    """The words of a scope, as roots and in order, without articles; none for "in this study"."""
    bare = _EMPTY_SCOPE.sub(" ", text)
    return tuple(root(w) for w in re.findall(r"[^\W_]+", bare) if w.casefold() not in _ARTICLES)


def _meets(scope: str, sentence: str) -> bool:
    """Whether what happened in `sentence` happened within `scope`: its words stand there, or it has none."""
    wanted = {r for r in _scope(scope) if r not in _SMALL_ROOTS}
    return wanted <= set(roots(sentence))
