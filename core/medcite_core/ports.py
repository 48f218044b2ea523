"""Ports with more than one adapter. Each has one contract suite in tests/contract, run against every adapter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from medcite_core.answers import Claim, Verdict
from medcite_core.filters import SearchFilter
from medcite_core.types import (
    Chunk,
    Evidence,
    Hit,
    Passage,
    Record,
    RecordHit,
    RecordOrder,
    Source,
    SuggestField,
    Tombstone,
    ValueCount,
)

Vectors = npt.NDArray[np.float32]
"""Shape (n, dimension), float32, each row of length 1."""

EMBEDDING_TEMPLATE = "{title}\n{chunk}"
"""What is embedded for a chunk: its record's title, a line break, the chunk. A title chunk is embedded alone."""


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What two vectors must agree on to be comparable. `query_prompt` has one `{text}`, or is empty."""

    model: str
    revision: str
    pooling: str
    query_prompt: str
    dimension: int


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """How an index was made. An index refuses to be opened with another identity (`IndexMismatch`)."""

    embedder: EmbedderIdentity
    chunk_size: int
    chunk_overlap: int
    template: str = EMBEDDING_TEMPLATE
    format_version: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, for storage beside the index."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> IndexIdentity:
        """The inverse of `to_dict`."""
        return cls(**{**raw, "embedder": EmbedderIdentity(**raw["embedder"])})


class Embedder(Protocol):
    """Turns text into unit vectors. Safe to call from several threads."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors must agree on; known without loading the model, except the dimension of unknown models."""
        ...

    @property
    def state(self) -> Literal["ready", "loading", "failed"]:
        """Whether it can embed now. While it is not ready, searches are lexical and say so."""
        ...

    @property
    def problem(self) -> str:
        """Why it failed, in one line; empty otherwise."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension). No text may be blank (`InvalidInput`)."""
        ...

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Shape (dimension,), with the model's query prompt applied."""
        ...


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """A record, its chunks, and one vector a chunk, in the same order. Every record has at least its title chunk."""

    record: Record
    chunks: tuple[Chunk, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """What one write did; the four add up to the records given.

    `unchanged` were stored already in this very state; `outdated` are older than what is stored, or withdrawn.
    """

    inserted: int = 0
    replaced: int = 0
    unchanged: int = 0
    outdated: int = 0

    def __add__(self, other: WriteCounts) -> WriteCounts:
        return WriteCounts(
            self.inserted + other.inserted,
            self.replaced + other.replaced,
            self.unchanged + other.unchanged,
            self.outdated + other.outdated,
        )

    @property
    def total(self) -> int:
        """Records that were given."""
        return self.inserted + self.replaced + self.unchanged + self.outdated


class ChunkIndex(Protocol):
    """Search over chunks. The filter is applied inside the engine, before the k best are taken.

    Order is total and repeatable: by score, then by pmid and ordinal.
    """

    @property
    def identity(self) -> IndexIdentity:
        """How it was made."""
        ...

    def lexical_chunks(self, query: str, search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k best chunks by BM25 over chunk text and title. Any text is a query: operators and quotes are words."""
        ...

    def vector_chunks(self, vector: npt.NDArray[np.float32], search_filter: SearchFilter, k: int) -> list[Hit]:
        """The k nearest chunks; scores are cosine similarities, -1..1."""
        ...

    def chunk_vectors(self, chunk_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors of the chunks that exist, by chunk id; each of shape (dimension,)."""
        ...


class RecordStore(Protocol):
    """Whole records, published together with their chunks: both always show the same revision."""

    def plan_writes(self, records: Sequence[Record]) -> tuple[list[Record], WriteCounts]:
        """Which of `records` are new or newer than what is stored, and counts for the rest (unchanged, outdated).

        Lets a loader skip the embedding of what would not be written. A pmid may repeat; the newest wins.
        """
        ...

    def replace(self, batch: Sequence[IndexedRecord]) -> WriteCounts:
        """Store records in one commit: all old chunks of a replaced record go in the same step."""
        ...

    def remove(self, tombstones: Sequence[Tombstone]) -> int:
        """Apply withdrawals; returns how many records went. Older records of the same pmid stay out from then on."""
        ...

    def count(self, search_filter: SearchFilter | None = None) -> int:
        """Records that pass the filter."""
        ...

    def count_chunks(self) -> int:
        """Chunks of all records."""
        ...

    def get(self, pmids: Sequence[str]) -> dict[str, Record]:
        """The records that exist, by pmid."""
        ...

    def lexical_records(
        self, query: str, search_filter: SearchFilter, offset: int, limit: int
    ) -> tuple[list[RecordHit], int]:
        """A page of all records that match any word of the query, by BM25 over their whole text, and their number."""
        ...

    def listed_records(
        self,
        query: str,
        search_filter: SearchFilter,
        order: RecordOrder,
        offset: int,
        limit: int,
        *,
        descending: bool,
    ) -> tuple[list[RecordHit], int]:
        """A page of all records that match any word of the query and pass, in `order`, and their number.

        A blank query matches every record, with score 0. The order is total and repeatable: ties go by score, then by
        pmid; records without a date or journal come last either way. All pages together are all records, each once.
        """
        ...

    def suggest(self, field: SuggestField, prefix: str, limit: int) -> list[ValueCount]:
        """Values of a filter field in which a word begins with `prefix` (accents and case do not count).

        Those that begin with it themselves come first, then the more frequent. Counts may lag behind a running load.
        """
        ...

    def years(self) -> dict[int, int]:
        """Records per publication year."""
        ...

    def scan(self, search_filter: SearchFilter | None = None) -> Iterator[Record]:
        """Every record that passes, in pmid order, in bounded memory."""
        ...

    def finish_load(self) -> None:
        """After a load: bring the search indexes up to date and compact."""
        ...


@dataclass(frozen=True, slots=True)
class HybridLists:
    """What a hybrid search takes from an index, each list the best first.

    `cosines` are, by chunk id, the similarities of the chunks that the words found.
    """

    chunks: list[Hit]
    records: list[RecordHit]
    near: list[Hit]
    cosines: dict[str, float]


@runtime_checkable
class SearchesTogether(Protocol):
    """An index that can do the searches of one question at the same time; others are asked one after the other."""

    def hybrid_lists(
        self, query: str, vector: npt.NDArray[np.float32] | None, search_filter: SearchFilter, k: int
    ) -> HybridLists:
        """The k best of `lexical_chunks`, `lexical_records` and `vector_chunks`; none near without a vector."""
        ...


@runtime_checkable
class CountsWords(Protocol):
    """An index that counts records by word for less than a search; of others `lexical_records` gives the number."""

    def records_holding(self, words: Sequence[str]) -> list[int]:
        """For each of `words`, in how many records it stands; 0 for a stop word."""
        ...


class CorpusIndex(ChunkIndex, RecordStore, Protocol):
    """An index that is both; the embedded and the cluster adapter are."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a judge is asked: one claim of `text`, and everything it may read.

    `evidence` holds what the claim cites and what was found for and against it; judges of rules read the whole sources
    of it, models its passages. `given` are the ids of the sources that a reader named to check against: a claim without
    citations is read as if it cited them. `question` explains an elliptic text; it is never evidence. With
    `needs_citation` (an answer of the chat) a claim that names no source is never supported.
    """

    claim: Claim
    text: str
    evidence: tuple[Evidence, ...]
    given: frozenset[str] = frozenset()
    question: str = ""
    needs_citation: bool = False

    @property
    def cited(self) -> tuple[Evidence, ...]:
        """The evidence that the claim names."""
        return tuple(e for e in self.evidence if e.number in self.claim.cited)


class Judge(Protocol):
    """Decides claims against evidence, on this machine; what it cannot decide it leaves `unchecked`.

    The same case always gets the same verdict. Safe to call from several threads.
    """

    @property
    def name(self) -> str:
        """`rules`, `entailment`."""
        ...

    def judge(self, case: Case) -> Verdict:
        """The verdict of one claim."""
        ...


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a chat model said of a case, as it came. `calls` counts the requests it took."""

    text: str
    calls: int


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """What a reply is worth: the verdict that can be proved, and its `problems`, a sentence each, for asking again."""

    verdict: Verdict
    problems: tuple[str, ...] = ()


class ModelJudge(Protocol):
    """Decides claims by asking a chat model; a reply without a valid proof leaves the claim `unchecked`."""

    @property
    def name(self) -> str:
        """`chat`."""
        ...

    async def ask(self, case: Case, earlier: JudgeReply | None = None, problems: Sequence[str] = ()) -> JudgeReply:
        """The model's reply; asked again when an `earlier` one had `problems`.

        Raises:
            ModelUnavailable: the model's server cannot be reached.
        """
        ...

    def check(self, case: Case, reply: JudgeReply) -> CheckedReply:
        """The verdict that `reply` proves, from the sources' own words."""
        ...


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """What was found for one claim, the strongest first. `note` says what was searched and what was left out."""

    evidence: tuple[Evidence, ...]
    note: str = ""


class EvidenceFinder(Protocol):
    """Finds passages that may speak for or against a claim; blocking."""

    def find(self, claim: Claim, known: Sequence[Evidence]) -> FoundEvidence:
        """Evidence beside `known`, numbered on from it."""
        ...


class Reranker(Protocol):
    """Narrows n passages to the k that fit a query best."""

    @property
    def name(self) -> str:
        """Model and revision."""
        ...

    def rerank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """The k best, the best first. The order is total and repeatable."""
        ...


class DocumentReader(Protocol):
    """Reads a file that was given to check against."""

    def read(self, name: str, content: bytes) -> Sequence[Source]:
        """One document, or the PubMed records that a file of citations holds. Told by content, not by name.

        Raises:
            InvalidInput: it cannot be read; message and hint name the file.
        """
        ...
