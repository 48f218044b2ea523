"""Records, chunks and vectors made up for benchmarks of size: words drawn by Zipf's law, vectors in clusters.

A record has a title and three chunks of 80 words. A range of ten years holds 30 % of the records, and the keyword
`planted` 1 %, both independent of words and vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from medcite_core.ports import EmbedderIdentity, IndexedRecord, IndexIdentity
from medcite_core.types import Chunk, PartialDate, Provenance, Record, assemble_text

DIMENSION = 384
IDENTITY = IndexIdentity(EmbedderIdentity("synthetic", "1", "mean", "", DIMENSION), 800, 0)
CHUNKS_A_RECORD = 4
WORDS_A_CHUNK = 80
VOCABULARY = 50_000
TOPICS = 500


@dataclass
class SyntheticCorpus:
    """Makes the same records for the same seed. `vectors` has one row a chunk, in the order they are stored."""

    chunks: int
    seed: int = 1

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self._topics = unit(rng.standard_normal((TOPICS, DIMENSION), dtype=np.float32))
        weights = 1 / np.arange(1, VOCABULARY + 1)
        self._cumulative = np.cumsum(weights / weights.sum())

    def words(self, count: int, rng: np.random.Generator) -> list[str]:
        """Words by Zipf's law; `w0` is the most frequent."""
        return [f"w{i}" for i in np.searchsorted(self._cumulative, rng.random(count))]

    def vector(self, rng: np.random.Generator) -> np.ndarray:
        """A unit vector near one of the topics."""
        topic = self._topics[rng.integers(TOPICS)]
        return unit(topic + 0.06 * rng.standard_normal(DIMENSION, dtype=np.float32)).astype(np.float32)

    def batches(self, records_a_batch: int = 2_000) -> Iterator[list[IndexedRecord]]:
        """All records, in batches."""
        rng = np.random.default_rng(self.seed + 1)
        batch: list[IndexedRecord] = []
        for number in range(self.chunks // CHUNKS_A_RECORD):
            batch.append(self._record(9_000_000 + number, rng))
            if len(batch) == records_a_batch:
                yield batch
                batch = []
        if batch:
            yield batch

    def _record(self, pmid: int, rng: np.random.Generator) -> IndexedRecord:
        title = " ".join(self.words(10, rng))
        parts = [("", "", " ".join(self.words(WORDS_A_CHUNK, rng))) for _ in range(CHUNKS_A_RECORD - 1)]
        text, sections = assemble_text(title, parts)
        # Ten of 33 equally likely years are 30 %.
        year = 1990 + int(rng.integers(33))
        keywords = ("planted",) if rng.random() < 0.01 else (f"k{rng.integers(1000)}",)
        record = Record(
            pmid=str(pmid),
            version=1,
            title=title,
            sections=sections,
            text=text,
            date=PartialDate(year),
            keywords=keywords,
            provenance=Provenance("synthetic", "0" * 64, pmid),
        )
        chunks = tuple(
            Chunk(f"{pmid}:{s.span.start}-{s.span.end}", str(pmid), i, s.kind, s.span, s.text)
            for i, s in enumerate(sections)
        )
        return IndexedRecord(record, chunks, np.stack([self.vector(rng) for _ in chunks]))


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)
