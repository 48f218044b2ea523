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
    lexical: float
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

    The lexical part of a chunk is the larger of its own and its record's BM25, each divided by the best of its list: a
    record may hold the words of a question in several chunks. Cosines are stretched so that the last of the list is 0
    and the first is 1; a chunk that the list lacks is at best as near as its last. `other_cosines` tells, by chunk id,
    the similarity of such chunks.
    """
    further = other_cosines or {}
    chunk_bm25 = _by_best(lexical_chunks)
    record_bm25 = _records_by_best(lexical_records)
    cosines = _stretched(vector_chunks)
    in_words = {hit.chunk.id: hit for hit in lexical_chunks}
    in_vectors = {hit.chunk.id: hit for hit in vector_chunks}
    fused = []
    for chunk_id, hit in {**in_vectors, **in_words}.items():
        by_words, by_vector = in_words.get(chunk_id), in_vectors.get(chunk_id)
        lexical = max(chunk_bm25.get(chunk_id, 0.0), record_bm25.get(hit.chunk.pmid, 0.0))
        fused.append(
            Fused(
                chunk=hit.chunk,
                score=lexical_weight * lexical + (1 - lexical_weight) * cosines.get(chunk_id, 0.0),
                lexical=lexical,
                cosine=_clipped(by_vector.score if by_vector else further.get(chunk_id)),
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


def _stretched(hits: Sequence[Hit]) -> dict[str, float]:
    if not hits:
        return {}
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    if high <= low:
        return {hit.chunk.id: 1.0 for hit in hits}
    return {hit.chunk.id: (hit.score - low) / (high - low) for hit in hits}
