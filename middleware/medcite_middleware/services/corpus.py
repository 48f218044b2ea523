"""Searches and reads the corpus, and says what state the service is in."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from medcite_core.answers import SearchReport
from medcite_core.errors import MedciteError, NotFound
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex, Embedder
from medcite_core.types import Passage, Record
from medcite_middleware.citation.styles import CitationStyle, cite
from medcite_middleware.pipeline.threads import in_thread

FRESH_S = 1.0
"""Counts of the corpus are read again after this time; pages poll once a second."""
_PMID = re.compile(r"[1-9]\d{0,8}")


class FoundRecords(Protocol):
    """What a search returns; `matched_records` hold any word of the query and pass the filter."""

    @property
    def passages(self) -> tuple[Passage, ...]: ...
    @property
    def report(self) -> SearchReport: ...
    @property
    def matched_records(self) -> int: ...


class RecordSearcher(Protocol):
    """Finds passages for a query."""

    def find(self, query: str, search_filter: SearchFilter, k: int | None = None) -> FoundRecords:
        """The `k` best passages that pass the filter."""
        ...


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record with the passages that were found in it, best first."""

    record: Record
    passages: tuple[Passage, ...]

    @property
    def score(self) -> float:
        """That of its best passage."""
        return self.passages[0].score


@dataclass(frozen=True, slots=True)
class Found:
    """Records in the order of their best passages. `total` is the number of records that match lexically."""

    records: tuple[FoundRecord, ...]
    report: SearchReport
    total: int


class SearchService:
    """Searches for records."""

    def __init__(self, searcher: RecordSearcher) -> None:
        self._searcher = searcher

    async def search(self, query: str, search_filter: SearchFilter, k: int) -> Found:
        """The records of the `k` best passages.

        Raises:
            InvalidInput: the query has no words.
        """
        result = await in_thread(self._searcher.find, query, search_filter, k)
        by_pmid: dict[str, list[Passage]] = {}
        for passage in result.passages:
            by_pmid.setdefault(passage.record.pmid, []).append(passage)
        records = tuple(FoundRecord(passages[0].record, tuple(passages)) for passages in by_pmid.values())
        return Found(records, result.report, result.matched_records)


class RecordService:
    """Reads whole records."""

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index

    async def get(self, pmid: str) -> Record:
        """The record with that PMID.

        Raises:
            NotFound: the corpus does not hold it, or it is no PMID.
        """
        if not _PMID.fullmatch(pmid):
            raise NotFound("a PMID is a number of up to nine digits", "Take it from pubmed.ncbi.nlm.nih.gov.")
        records = await in_thread(self._index.get, [pmid])
        if pmid not in records:
            raise NotFound(f"PMID {pmid} is not in this corpus", "The corpus may hold only a part of PubMed.")
        return records[pmid]

    async def citation(self, pmid: str, style: CitationStyle) -> str:
        """The record as one line of a reference list.

        Raises:
            NotFound: as in `get`.
        """
        return await in_thread(cite, await self.get(pmid), style)


@dataclass(frozen=True, slots=True)
class CorpusState:
    """What there is to ask, and with what. `problem` is empty when the index can be read."""

    name: str
    records: int
    chunks: int
    years: Mapping[int, int]
    embedding_model: str
    embedding_revision: str
    embedder_state: str
    embedder_problem: str
    chat_model: str
    example_questions: Sequence[Mapping[str, Any]]
    worked_example: Mapping[str, Any] | None
    versions: Mapping[str, str]
    problem: str = ""

    @property
    def mode(self) -> str:
        """How a search goes now: `hybrid`, or `lexical` while the model is not ready."""
        return "hybrid" if self.embedder_state == "ready" else "lexical"

    @property
    def is_ready(self) -> bool:
        """Whether questions can be answered, be it by words alone or with "there are no records yet"."""
        return not self.problem

    def message(self) -> str:
        """The state in one sentence."""
        if self.problem:
            return f"The index cannot be read: {self.problem}."
        if self.records == 0:
            return "Ready, but the corpus holds no records yet."
        text = f"Ready: {self.records:,} records."
        if self.embedder_state == "loading":
            text += " The embedding model is still loading; searches go by words alone."
        elif self.embedder_state == "failed":
            text += f" Searches go by words alone: {self.embedder_problem}."
        return text


class StatusService:
    """Says what state the service is in, cheaply enough to be polled every second by many pages."""

    def __init__(
        self,
        index: CorpusIndex,
        embedder: Embedder,
        *,
        corpus_name: str,
        chat_model: str,
        example_questions: Sequence[Mapping[str, Any]],
        worked_example: Mapping[str, Any] | None,
        versions: Mapping[str, str],
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._corpus_name = corpus_name
        self._chat_model = chat_model
        self._example_questions = tuple(example_questions)
        self._worked_example = worked_example
        self._versions = versions
        self._counts: tuple[int, int, dict[int, int]] = (0, 0, {})
        self._problem = ""
        self._read_at = float("-inf")
        self._lock = asyncio.Lock()

    async def state(self) -> CorpusState:
        """The state now; counts may be a second old."""
        async with self._lock:
            if time.monotonic() - self._read_at > FRESH_S:
                await in_thread(self._read)
                self._read_at = time.monotonic()
        identity = self._embedder.identity
        return CorpusState(
            name=self._corpus_name,
            records=self._counts[0],
            chunks=self._counts[1],
            years=self._counts[2],
            embedding_model=identity.model,
            embedding_revision=identity.revision,
            embedder_state=self._embedder.state,
            embedder_problem=self._embedder.problem,
            chat_model=self._chat_model,
            example_questions=self._example_questions,
            worked_example=self._worked_example,
            versions=self._versions,
            problem=self._problem,
        )

    def _read(self) -> None:
        try:
            self._counts = (self._index.count(), self._index.count_chunks(), self._index.years())
            self._problem = ""
        except MedciteError as error:
            self._problem = error.message.rstrip(".")
        except (OSError, ValueError, RuntimeError) as error:
            self._problem = type(error).__name__
