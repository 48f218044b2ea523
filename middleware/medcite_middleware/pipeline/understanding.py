"""Understands a question from the turns before it, and searches for what is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from medcite_core.answers import SearchReport, Turn
from medcite_core.filters import SearchFilter
from medcite_core.stemming import stem_words
from medcite_core.types import Passage
from medcite_middleware.answering.follow_up import stand_alone
from medcite_middleware.pipeline.threads import in_thread


class Found(Protocol):
    """What a search returns: the best passages, those of them that are relevant, and what was searched."""

    @property
    def passages(self) -> tuple[Passage, ...]: ...
    @property
    def relevant(self) -> tuple[Passage, ...]: ...
    @property
    def report(self) -> SearchReport: ...


class Searcher(Protocol):
    """Finds passages for a question."""

    def search(self, query: str, search_filter: SearchFilter, k: int | None = None) -> Found:
        """The `k` best passages that pass the filter."""
        ...


class Rewriter(Protocol):
    """Makes a follow-up whole with a chat model."""

    async def rewrite(self, question: str, history: Sequence[Turn]) -> str:
        """The question made whole, or an empty text when the model did not do that."""
        ...


@dataclass(frozen=True, slots=True)
class Understood:
    """What is meant. `question` stands alone; `by_rules` is how the rules put it, in the reader's own words.

    Both equal `asked` when it needs nothing of the turns before it.
    """

    asked: str
    question: str
    by_rules: str


@dataclass(frozen=True, slots=True)
class FoundTogether:
    """What the searches for the two wordings of one question found."""

    passages: tuple[Passage, ...]
    relevant: tuple[Passage, ...]
    report: SearchReport


async def understand(question: str, history: Sequence[Turn], rewriter: Rewriter | None) -> Understood:
    """Make `question` stand alone. The model is asked only about what the rules find to be a follow-up."""
    by_rules = stand_alone(question, history)
    if by_rules == question or rewriter is None:
        return Understood(question, by_rules, by_rules)
    return Understood(question, await rewriter.rewrite(question, history) or by_rules, by_rules)


async def search(searcher: Searcher, understood: Understood, search_filter: SearchFilter, k: int | None) -> Found:
    """Search for what is meant; a model's wording never replaces the reader's own words, which are searched too."""
    found = await in_thread(searcher.search, understood.question, search_filter, k)
    if understood.question == understood.asked:
        return found
    report = replace(found.report, rewritten_from=understood.asked)
    if set(stem_words(understood.by_rules)) <= set(stem_words(understood.question)):
        return FoundTogether(found.passages, found.relevant, report)
    own = await in_thread(searcher.search, understood.by_rules, search_filter, k)
    return FoundTogether(
        _merged(found.passages, own.passages),
        _merged(found.relevant, own.relevant),
        report,
    )


def _merged(first: Sequence[Passage], second: Sequence[Passage]) -> tuple[Passage, ...]:
    """In turn one of each, without repeats, as many as the longer one holds."""
    merged: dict[str, Passage] = {}
    for place in range(max(len(first), len(second))):
        for passages in (first, second):
            if place < len(passages):
                merged.setdefault(passages[place].chunk.id, passages[place])
    return tuple(list(merged.values())[: max(len(first), len(second))])
