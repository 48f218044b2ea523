"""What is searched for a follow-up: the question meant, and beside a model's wording always the reader's own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from support.small_corpus import RECORDS

from medcite_core.answers import SearchReport, Turn
from medcite_core.filters import SearchFilter
from medcite_core.types import Chunk, Passage, Record
from medcite_middleware.pipeline.understanding import FoundTogether, search, understand

HISTORY = (Turn("user", "What does drug Zetamab do in asthma?"), Turn("assistant", "It halved attacks [1]."))
BY_RULES = "What does drug Zetamab do in asthma, in children?"


def passage(record: Record) -> Passage:
    section = record.sections[-1]
    return Passage(Chunk(f"{record.pmid}:0", record.pmid, 0, section.label, section.span, section.text), record, 0.9)


@dataclass
class Searcher:
    """Finds by query; unknown queries find the last record."""

    by_query: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, search_filter: SearchFilter, k: int | None = None) -> FoundTogether:
        self.asked.append(query)
        passages = tuple(passage(record) for record in self.by_query.get(query, RECORDS[-1:]))
        return FoundTogether(passages, passages, SearchReport("hybrid", {}, 5, {}, 5, query))


@dataclass
class Rewriter:
    """Always says the same."""

    text: str
    asked: int = 0

    async def rewrite(self, question: str, history: Sequence[Turn]) -> str:
        self.asked += 1
        return self.text


def found_for(question: str, searcher: Searcher, rewriter: Rewriter | None = None) -> FoundTogether:
    async def run() -> FoundTogether:
        understood = await understand(question, HISTORY, rewriter)
        found = await search(searcher, understood, SearchFilter(), None)
        return FoundTogether(found.passages, found.relevant, found.report)

    return asyncio.run(run())


def test_fr_118_the_readers_words_with_their_topic_are_searched_beside_the_models_and_both_are_shown() -> None:
    searcher = Searcher({"Is it liver failure?": RECORDS[:2], BY_RULES: RECORDS[1:3]})
    found = found_for("And in children?", searcher, Rewriter("Is it liver failure?"))
    assert searcher.asked == ["Is it liver failure?", BY_RULES]
    assert [p.record.pmid for p in found.relevant] == ["101", "102"]
    assert found.report.rewritten_from == "And in children?"
    searcher = Searcher({"Is it liver failure?": RECORDS[:1], BY_RULES: (RECORDS[1], RECORDS[0], RECORDS[2])})
    found = found_for("And in children?", searcher, Rewriter("Is it liver failure?"))
    assert [p.record.pmid for p in found.passages] == ["101", "102", "103"]


def test_a_models_wording_that_holds_all_the_readers_words_is_searched_alone() -> None:
    whole = "In children with asthma, what does the drug Zetamab do?"
    searcher = Searcher()
    assert found_for("And in children?", searcher, Rewriter(whole)).report.query == whole
    assert searcher.asked == [whole]


def test_without_a_model_or_when_it_failed_the_rules_wording_is_searched() -> None:
    for rewriter in (None, Rewriter("")):
        searcher = Searcher()
        found = found_for("And in children?", searcher, rewriter)
        assert searcher.asked == [BY_RULES]
        assert (found.report.query, found.report.rewritten_from) == (BY_RULES, "And in children?")


def test_a_question_that_stands_alone_is_searched_as_typed_and_no_model_is_asked() -> None:
    searcher, rewriter = Searcher(), Rewriter("Does Zetamab lower stroke?")
    found = found_for("Does aspirin lower stroke?", searcher, rewriter)
    assert (searcher.asked, rewriter.asked) == (["Does aspirin lower stroke?"], 0)
    assert found.report.rewritten_from == ""
