"""Fuses ranked lists of words and of vectors into one total order of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medcite_core.types import Chunk, Hit, RecordHit


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its fused score (0..1) and what each list said of it; None where a list did not have it."""

    chunk: Chunk
    score: float
    cosine: float | None
    bm25: float | None
    lexical_rank: int | None
    vector_rank: int | None


def weighted_fusion(
    lexical_chunks: Sequence[Hit],
    lexical_records: Sequence[RecordHit],
    vector_chunks: Sequence[Hit],
    lexical_weight: float,
    other_cosines: Mapping[str, float] | None = None,
) -> list[Fused]:
    """Weighted sum of normalised scores, best first; ties by pmid and ordinal.

    The lexical part of a chunk is the mean of its own and its record's BM25, each divided by the best of its list: a
    record may hold the words of a question in several chunks. `other_cosines` are, by chunk id, the similarities of
    chunks that only the words found. Cosines are stretched so that the least of all is 0 and the greatest 1.
    """
    chunk_bm25 = _by_best(lexical_chunks)
    record_bm25 = _records_by_best(lexical_records)
    cosines = {**(other_cosines or {}), **{hit.chunk.id: hit.score for hit in vector_chunks}}
    nearness = _stretched(cosines)
    in_words = {hit.chunk.id: hit for hit in lexical_chunks}
    in_vectors = {hit.chunk.id: hit for hit in vector_chunks}
    fused = []
    for chunk_id, hit in {**in_vectors, **in_words}.items():
        by_words, by_vector = in_words.get(chunk_id), in_vectors.get(chunk_id)
        lexical = (chunk_bm25.get(chunk_id, 0.0) + record_bm25.get(hit.chunk.pmid, 0.0)) / 2
        fused.append(
            Fused(
                chunk=hit.chunk,
                score=lexical_weight * lexical + (1 - lexical_weight) * nearness.get(chunk_id, 0.0),
                cosine=_clipped(cosines.get(chunk_id)),
                bm25=by_words.score if by_words else None,
                lexical_rank=by_words.rank if by_words else None,
                vector_rank=by_vector.rank if by_vector else None,
            )
        )
    # PMIDs are numbers: the longer one is the larger one.
    return sorted(fused, key=lambda f: (-f.score, len(f.chunk.pmid), f.chunk.pmid, f.chunk.ordinal))


def _clipped(cosine: float | None) -> float | None:
    # Engines round, so a cosine may leave its range by a hair.
    return None if cosine is None else max(-1.0, min(1.0, cosine))


def _by_best(hits: Sequence[Hit]) -> dict[str, float]:
    best = max((hit.score for hit in hits), default=0.0)
    return {hit.chunk.id: hit.score / best for hit in hits} if best > 0 else {}


def _records_by_best(hits: Sequence[RecordHit]) -> dict[str, float]:
    best = max((hit.score for hit in hits), default=0.0)
    return {hit.pmid: hit.score / best for hit in hits} if best > 0 else {}


def _stretched(cosines: Mapping[str, float]) -> dict[str, float]:
    if not cosines:
        return {}
    low, high = min(cosines.values()), max(cosines.values())
    if high <= low:
        return dict.fromkeys(cosines, 1.0)
    return {chunk_id: (cosine - low) / (high - low) for chunk_id, cosine in cosines.items()}
