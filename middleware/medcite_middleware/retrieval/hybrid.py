"""Finds the passages for a question: words and vectors, filtered inside the engine, fused into one total order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from medcite_core.errors import EmbedderUnavailable, InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex, Embedder
from medcite_core.settings import RetrievalSettings
from medcite_core.types import Hit, Passage, SearchReport
from medcite_middleware.retrieval.fusion import Fused, weighted_fusion
from medcite_middleware.retrieval.query import clean_query
from medcite_middleware.retrieval.relevance import LexicalCoverage

MAX_K = 1000
MAX_CHUNKS_OF_A_RECORD = 3
"""Of one record among the relevant passages, so that one long abstract does not crowd out the others."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The k best passages, and those of them fit for an answer.

    `relevant` truly bear on the question, at most three of a record. `matched_records` is the number of records that
    hold any word of the query and pass the filter: the total to page through.
    """

    passages: tuple[Passage, ...]
    relevant: tuple[Passage, ...]
    report: SearchReport
    matched_records: int

    @property
    def outcome(self) -> Literal["found", "corpus_empty", "nothing_passed", "nothing_relevant"]:
        """Why there is nothing for an answer, or `found`."""
        if self.report.corpus_records == 0:
            return "corpus_empty"
        if self.report.passed == 0:
            return "nothing_passed"
        return "found" if self.relevant else "nothing_relevant"


class Retriever:
    """Hybrid search over one index. Holds no state of a request: any number may run at once."""

    def __init__(self, index: CorpusIndex, embedder: Embedder, settings: RetrievalSettings) -> None:
        self._index = index
        self._embedder = embedder
        self._settings = settings

    def search(self, query: str, search_filter: SearchFilter, k: int | None = None) -> SearchResult:
        """The `k` best passages (by default the setting's) among the records that pass the filter.

        While the embedder is not ready the search goes by words alone, and the report says so.

        Raises:
            InvalidInput: the query is blank, has no words, or is too long; or `k` is out of range.
        """
        wanted = self._settings.k if k is None else k
        if not 1 <= wanted <= MAX_K:
            raise InvalidInput(f"k must be between 1 and {MAX_K}, not {wanted}")
        cleaned = clean_query(query)
        corpus_records = self._index.count()
        passed = corpus_records if search_filter.is_empty else self._index.count(search_filter)
        passed_by = {name: self._index.count(search_filter.only(name)) for name in search_filter.active_fields()}
        candidates = max(self._settings.candidates, 2 * wanted)

        vector_hits, note = self._vector_hits(cleaned, search_filter, candidates) if passed else ([], "")
        is_lexical = bool(note)
        fused: list[Fused] = []
        matched = 0
        if passed:
            record_hits, matched = self._index.lexical_records(cleaned, search_filter, 0, candidates)
            chunk_hits = self._index.lexical_chunks(cleaned, search_filter, candidates)
            weight = 1.0 if is_lexical else self._settings.lexical_weight
            fused = weighted_fusion(chunk_hits, record_hits, vector_hits, weight)
        passages = self._passages(fused)
        report = SearchReport(
            mode="lexical" if is_lexical else "hybrid",
            applied_filter=search_filter.applied(),
            passed=passed,
            passed_by=passed_by,
            corpus_records=corpus_records,
            query=cleaned,
            note=note,
        )
        relevant = self._relevant(cleaned, passages, wanted, corpus_records, is_lexical=is_lexical)
        return SearchResult(tuple(passages[:wanted]), relevant, report, matched)

    def _vector_hits(self, query: str, search_filter: SearchFilter, limit: int) -> tuple[list[Hit], str]:
        """Hits, or none and the reason why the search goes by words alone."""
        state = self._embedder.state
        if state == "loading":
            return [], "The embedding model is still loading, so this search went by words alone."
        if state == "failed":
            return [], f"This search went by words alone: {self._embedder.problem.rstrip('.')}."
        try:
            vector = self._embedder.embed_query(query)
        except EmbedderUnavailable as error:
            return [], f"This search went by words alone: {error.message.rstrip('.')}."
        return self._index.vector_chunks(vector, search_filter, limit), ""

    def _passages(self, fused: Sequence[Fused]) -> list[Passage]:
        records = self._index.get(list(dict.fromkeys(item.chunk.pmid for item in fused)))
        passages = []
        for item in fused:
            record = records.get(item.chunk.pmid)
            # A load may have replaced or withdrawn the record since the chunk was found; then its words are not shown.
            if record is None or item.chunk.span.of(record.text) != item.chunk.text:
                continue
            passages.append(
                Passage(
                    chunk=item.chunk,
                    record=record,
                    score=item.score,
                    cosine=item.cosine,
                    bm25=item.bm25,
                    lexical_rank=item.lexical_rank,
                    vector_rank=item.vector_rank,
                )
            )
        return passages

    def _relevant(
        self, query: str, passages: Sequence[Passage], limit: int, corpus_records: int, *, is_lexical: bool
    ) -> tuple[Passage, ...]:
        coverage = LexicalCoverage(self._index, query, corpus_records) if is_lexical else None
        chosen: list[Passage] = []
        of_record: dict[str, int] = {}
        for passage in passages:
            if len(chosen) == limit:
                break
            pmid = passage.record.pmid
            if of_record.get(pmid, 0) == MAX_CHUNKS_OF_A_RECORD:
                continue
            if coverage is not None:
                bears = coverage.is_relevant(passage)
            else:
                bears = passage.cosine is not None and passage.cosine >= self._settings.min_cosine
            if bears:
                chosen.append(passage)
                of_record[pmid] = of_record.get(pmid, 0) + 1
        return tuple(chosen)
