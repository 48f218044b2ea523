"""Finds the passages for a question: words and vectors, filtered inside the engine, fused into one total order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from medcite_core.answers import SearchReport
from medcite_core.errors import EmbedderUnavailable, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex, Embedder
from medcite_core.settings import RetrievalSettings
from medcite_core.types import Passage
from medcite_middleware.retrieval.filter_hints import values_note
from medcite_middleware.retrieval.fusion import Fused, weighted_fusion
from medcite_middleware.retrieval.lists import hybrid_lists
from medcite_middleware.retrieval.query import clean_query
from medcite_middleware.retrieval.relevance import Relevance, word_weights

MAX_K = 1000
CHUNKS_OF_A_RECORD = 3
"""Of one record among the relevant passages while others wait, so that one long abstract does not crowd them out."""
# Parts of structured abstracts that are found for their record's title and say nothing of its matter.
_SAYS_NOTHING = re.compile(r"registration|registry|funding|conflict|disclosure|copyright", re.IGNORECASE)
# What a study asked and how it was made: found as easily as what it found, and no answer.
_ASKS_OR_PLANS = re.compile(
    r"objective|aim|purpose|goal|hypothes|method|design|setting|participant|patient|subject|intervention|measure|"
    r"data source|selection|background|introduction|context|importance",
    re.IGNORECASE,
)
_FINDS = re.compile(r"result|finding|conclu|relevance|implication|interpret", re.IGNORECASE)
_AIM_OR_METHOD = 0.85
_READ_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The k best passages, and the number of records that hold any word of the query and pass the filter."""

    passages: tuple[Passage, ...]
    report: SearchReport
    matched_records: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The k best passages, and those of them fit for an answer.

    `relevant` truly bear on the question, at most three of a record while other records wait; words of an abstract
    stand in the place of its title, and findings before aims and methods.
    """

    passages: tuple[Passage, ...]
    relevant: tuple[Passage, ...]
    report: SearchReport

    @property
    def outcome(self) -> Literal["found", "corpus_empty", "nothing_passed", "nothing_relevant"]:
        """Why there is nothing for an answer, or `found`."""
        if self.report.corpus_records == 0:
            return "corpus_empty"
        if self.report.passed == 0:
            return "nothing_passed"
        return "found" if self.relevant else "nothing_relevant"


@cache
def _counting() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4, thread_name_prefix="medcite-count")


class Retriever:
    """Hybrid search over one index. Holds no state of a request: any number may run at once."""

    def __init__(self, index: CorpusIndex, embedder: Embedder, settings: RetrievalSettings) -> None:
        self._index = index
        self._embedder = embedder
        self._settings = settings

    def find(self, query: str, search_filter: SearchFilter, k: int | None = None) -> FoundPassages:
        """The `k` best passages (by default the setting's) among the records that pass the filter, for a list.

        While the embedder is not ready the search goes by words alone, and the report says so.

        Raises:
            InvalidInput: the query is blank, has no words, or is too long; or `k` is out of range.
        """
        cleaned = clean_query(query)
        matched = _counting().submit(self._index.lexical_records, cleaned, search_filter, 0, 0)
        try:
            wanted, report, fused = self._fused(cleaned, search_filter, k)
            passages = tuple(islice(self._passages(fused, wanted), wanted))
        finally:
            # Whatever happened here, the count does not go on behind the caller's back.
            wait((matched,))
        return FoundPassages(passages, report, matched.result()[1])

    def search(self, query: str, search_filter: SearchFilter, k: int | None = None) -> SearchResult:
        """The passages of `find`, and those that bear on the question, for an answer.

        Raises:
            InvalidInput: as in `find`.
        """
        wanted, report, fused = self._fused(query, search_filter, k)
        return SearchResult(
            tuple(islice(self._passages(fused, wanted), wanted)), self._relevant(fused, report, wanted), report
        )

    def _fused(self, query: str, search_filter: SearchFilter, k: int | None) -> tuple[int, SearchReport, list[Fused]]:
        wanted = self._settings.k if k is None else k
        if not 1 <= wanted <= MAX_K:
            raise InvalidInput(f"k must be between 1 and {MAX_K}, not {wanted}", "Ask for fewer passages.")
        cleaned = clean_query(query)
        vector, note = self._query_vector(cleaned)
        report = self._report(cleaned, search_filter, note)
        if report.passed == 0:
            return wanted, report, []
        candidates = max(self._settings.candidates, 2 * wanted)
        lists = hybrid_lists(self._index, cleaned, vector, search_filter, candidates)
        weight = 1.0 if vector is None else self._settings.lexical_weight
        return wanted, report, weighted_fusion(lists.chunks, lists.records, lists.near, weight, lists.cosines)

    def _query_vector(self, query: str) -> tuple[npt.NDArray[np.float32] | None, str]:
        """The query's vector; or none, and the reason why the search goes by words alone."""
        state = self._embedder.state
        if state == "ready":
            try:
                return self._embedder.embed_query(query), ""
            except EmbedderUnavailable as error:
                problem = error.message
        elif state == "loading":
            problem = "the embedding model is still loading"
        else:
            problem = self._embedder.problem
        return None, f"Searched by words alone: {problem.rstrip('.')}."

    def _report(self, query: str, search_filter: SearchFilter, note: str) -> SearchReport:
        corpus_records = self._index.count()
        passed_by = {name: self._index.count(search_filter.only(name)) for name in search_filter.active_fields()}
        hint = values_note(self._index, search_filter, passed_by)
        return SearchReport(
            mode="lexical" if note else "hybrid",
            applied_filter=search_filter.applied(),
            passed=corpus_records if search_filter.is_empty else self._index.count(search_filter),
            passed_by=passed_by,
            corpus_records=corpus_records,
            query=query,
            note=" ".join(filter(None, (note, hint))),
        )

    def _passages(self, fused: Sequence[Fused], at_once: int = _READ_AT_ONCE) -> Iterator[Passage]:
        """The chunks with their records, read in portions: mostly the first few are all that is needed."""
        for start in range(0, len(fused), at_once):
            portion = fused[start : start + at_once]
            records = self._index.get(list(dict.fromkeys(item.chunk.pmid for item in portion)))
            for item in portion:
                record = records.get(item.chunk.pmid)
                # A load may have replaced or withdrawn the record since the chunk was found: its words are not shown.
                if record is not None and item.chunk.span.of(record.text) == item.chunk.text:
                    yield Passage(
                        chunk=item.chunk,
                        record=record,
                        score=item.score,
                        cosine=item.cosine,
                        bm25=item.bm25,
                        lexical_rank=item.lexical_rank,
                        vector_rank=item.vector_rank,
                    )

    def _relevant(self, fused: Sequence[Fused], report: SearchReport, limit: int) -> tuple[Passage, ...]:
        telling = [item for item in fused if not _SAYS_NOTHING.search(item.chunk.section)]
        # Within a place or two a finding answers better than an aim or a method that has the same words.
        telling.sort(key=lambda item: -item.score * (_AIM_OR_METHOD if _is_aim_or_method(item.chunk.section) else 1))
        rule = Relevance(word_weights(self._index, report.query, report.corpus_records), self._settings)
        if report.mode == "hybrid":
            # Nothing farther away can pass: its record need not be read.
            telling = [item for item in telling if item.cosine is not None and item.cosine >= rule.least_cosine]
        return _spread((p for p in self._passages(_body_for_title(telling)) if rule.holds_for(p)), limit)


def _is_aim_or_method(section: str) -> bool:
    return bool(_ASKS_OR_PLANS.search(section)) and not _FINDS.search(section)


def _body_for_title(fused: Sequence[Fused]) -> list[Fused]:
    """In the place of a title, the best chunk of its record's abstract: a title is often nearest, and says least."""
    bodies: dict[str, Fused] = {}
    for item in fused:
        if item.chunk.section != "title":
            bodies.setdefault(item.chunk.pmid, item)
    chosen = (bodies.get(item.chunk.pmid, item) if item.chunk.section == "title" else item for item in fused)
    return list({item.chunk.id: item for item in chosen}.values())


def _spread(passages: Iterator[Passage], limit: int) -> tuple[Passage, ...]:
    """The first of them, without more than a few of one record while other records are there to take the places."""
    ordered: list[tuple[bool, Passage]] = []
    of_record: Counter[str] = Counter()
    within = 0
    for passage in passages:
        of_record[passage.record.pmid] += 1
        is_within = of_record[passage.record.pmid] <= CHUNKS_OF_A_RECORD
        ordered.append((is_within, passage))
        within += is_within
        if within == limit:
            break
    spare = limit - within
    chosen: list[Passage] = []
    for is_within, passage in ordered:
        if is_within or spare > 0:
            spare -= not is_within
            chosen.append(passage)
    return tuple(chosen)
