"""The three lists of a hybrid search, from any index: at the same time where it can, one after the other elsewhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex, HybridLists, SearchesTogether


def hybrid_lists(
    index: CorpusIndex, query: str, vector: npt.NDArray[np.float32] | None, search_filter: SearchFilter, k: int
) -> HybridLists:
    """The k best chunks and records by words, and the k nearest chunks; none near without a vector."""
    if isinstance(index, SearchesTogether):
        return index.hybrid_lists(query, vector, search_filter, k)
    records, _ = index.lexical_records(query, search_filter, 0, k)
    chunks = index.lexical_chunks(query, search_filter, k)
    if vector is None:
        return HybridLists(chunks, records, [], {})
    near = index.vector_chunks(vector, search_filter, k)
    # A rare name may stand in a chunk that is not near: its own similarity counts all the same.
    known = {hit.chunk.id for hit in near}
    stored = index.chunk_vectors([hit.chunk.id for hit in chunks if hit.chunk.id not in known])
    length = float(np.linalg.norm(vector))
    cosines = {
        chunk_id: float(other @ vector) / (float(np.linalg.norm(other)) * length) for chunk_id, other in stored.items()
    }
    return HybridLists(chunks, records, near, cosines)
