"""What a sentence says beside its figures: the words that must fit before a recomputed figure means anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from medcite_core.stemming import stem
from medcite_core.types import Span
from medcite_middleware.verification.number_forms import convention_of
from medcite_middleware.verification.quantities import quantities
from medcite_middleware.verification.vocabulary import HEDGES, NEGATIONS
from medcite_middleware.verification.words import meaning_words

_EMPTY = frozenset(
    """a an the of in on at to for with by and or as from is are was were be been being am has have had having did do
    does that this these those it its their our his her we they there here which who whom whose than versus vs compared
    per among between both while whereas respectively also so such i""".split()
)
"""Words that carry nothing by themselves. Negations, hedges, "only", "before", "without" are none of them."""

SILENT_STEMS = frozenset(
    """patient group arm participant subject recipi result studi trial found show shown observ report occur happen
    develop""".split()
)
"""Stems that a claim may leave out of a sentence: they name who was looked at, not which of them."""

_LIMITS = frozenset(
    """only except unless if but without although though when before after during until despite mice mouse rats rat
    animals women men children adults male female males females boys girls infants elderly older younger smokers
    vitro vivo baseline subgroup""".split()
)
LIMIT_STEMS = frozenset(stem(word) for word in _LIMITS | NEGATIONS | HEDGES)
"""Stems that turn or bound what a sentence says: a claim never leaves one out, and never adds one."""

_HAIR = 1e-9
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


@lru_cache(maxsize=8192)
def content_of(text: str) -> tuple[str, ...]:
    """Stems of the words of `text` that say something, in order; names keep their capitals and digits."""
    found = []
    for word in meaning_words(text):
        if word.kind not in ("word", "identifier", "number") or word.form in _EMPTY:
            continue
        is_name = word.kind != "word" or len(word.form) == 1  # drug A is not a drug
        found.append(word.form if is_name else stem(word.form))
    return tuple(found)


def without(text: str, spans: Iterable[Span]) -> str:
    """`text` with the words at `spans` blanked out, so that every other place stays where it was."""
    characters = list(text)
    for span in spans:
        characters[span.start : span.end] = " " * (span.end - span.start)
    return "".join(characters)


def without_brackets(text: str) -> str:
    """`text` with what stands in brackets blanked out."""
    return _BRACKETED.sub(lambda m: " " * len(m.group()), text)


def left_out(said: Sequence[str], there: Sequence[str], allowed: frozenset[str] = frozenset()) -> set[str]:
    """Stems that stand there and are not said, beyond those that name nobody in particular."""
    return set(there) - set(said) - SILENT_STEMS - allowed


def added(said: Sequence[str], there: Sequence[str], allowed: frozenset[str] = frozenset()) -> set[str]:
    """Stems that are said and do not stand there."""
    return set(said) - set(there) - SILENT_STEMS - allowed


def gives(text: str, value: float) -> bool:
    """Whether a figure of `text` has a value; a change from one to another has none of its own.

    What a source states itself, such as an adjusted ratio, is not computed against.
    """
    found = [q for q in quantities(text, convention_of(text)) if not q.is_changing]
    return any(abs(float(bound) - value) <= _HAIR for q in found for bound in (q.low, q.high))
