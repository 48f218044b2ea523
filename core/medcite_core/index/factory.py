"""Opens the index that the settings name."""

from __future__ import annotations

from pathlib import Path

from medcite_core.ports import CorpusIndex, EmbedderIdentity, IndexIdentity
from medcite_core.settings import Settings


def index_folder(settings: Settings) -> Path:
    """The folder of the embedded index."""
    return settings.data_dir / "index"


def open_index(settings: Settings, embedder_identity: EmbedderIdentity, *, create: bool) -> CorpusIndex:
    """The index of the data folder or of the cluster; an empty one is made when there is none and `create` is true.

    Raises:
        IndexMissing: there is none and `create` is false.
        IndexMismatch: it was made with another model or chunking than the settings name.
        IndexUnreachable: the cluster does not answer.
        IndexBroken: it cannot be read or created.
    """
    identity = IndexIdentity(embedder_identity, settings.index.chunk_size, settings.index.chunk_overlap)
    if settings.index.backend == "opensearch":
        from medcite_core.index.opensearch_index import OpenSearchIndex

        return OpenSearchIndex(settings.opensearch, identity, create=create)
    from medcite_core.index.lance_index import LanceIndex

    return LanceIndex(index_folder(settings), identity, create=create)
