"""The searches of one question at the same time: chunks by words, records by words, chunks by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.index.filter_keys import folded
from medcite_core.index.lance_search import (
    best_chunks_by_vector,
    best_chunks_with_vectors,
    best_records_by_text,
    text_rows,
)
from medcite_core.index.query_text import TextQuery
from medcite_core.ports import HybridLists

_WORKERS = 16


@cache
def _workers() -> ThreadPoolExecutor:
    # The engine works in threads of its own: these only wait for it.
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix="medcite-search")


def search_together(
    chunks: Any, words: TextQuery, vector: npt.NDArray[np.float32] | None, where: str, k: int
) -> HybridLists:
    """The k best of each list; see `ports.SearchesTogether`."""
    by_words = _workers().submit(best_chunks_with_vectors, chunks, words, where, k)
    records = _workers().submit(best_records_by_text, chunks, words, where, k)
    try:
        near = [] if vector is None else best_chunks_by_vector(chunks, vector, where, k)
    finally:
        # Whatever happened here, nothing of this search goes on behind the caller's back.
        hits, vectors = by_words.result()
        record_hits = records.result()
    cosines: dict[str, float] = {}
    if vector is not None and hits:
        length = float(np.linalg.norm(vector))
        for hit, stored in zip(hits, vectors, strict=True):
            cosines[hit.chunk.id] = float(stored @ vector) / (float(np.linalg.norm(stored)) * length)
    return HybridLists(hits, record_hits, near, cosines)


def count_matches(chunks: Any, words: Sequence[str]) -> list[int]:
    """In how many records each of `words` stands, counted at the same time."""
    if not words:
        return []
    limit = int(chunks.count_rows("is_head")) + 1000
    found = [
        _workers().submit(text_rows, chunks, "record_text", TextQuery(folded(word)), "", ["pmid"], limit)
        for word in words
    ]
    return [int(rows.result().num_rows) for rows in found]
