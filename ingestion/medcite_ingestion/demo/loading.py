"""Loads the demo corpus into an index, with the vectors that ship with it where they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from medcite_core.errors import IndexMismatch
from medcite_core.ports import CorpusIndex, Embedder, Vectors
from medcite_core.settings import IndexSettings
from medcite_ingestion.demo.corpus import CORPUS_FILE, DEMO_DIR
from medcite_ingestion.demo.shipped_vectors import VECTORS_FILE, ShippedVectors
from medcite_ingestion.load import FileLoader, OnProgress, Prepared, load_files, split_rows
from medcite_ingestion.load_report import LoadReport


def load_demo(
    store: CorpusIndex,
    settings: IndexSettings,
    on_progress: OnProgress | None = None,
    *,
    embedder: Embedder | None = None,
) -> LoadReport:
    """Load the demo corpus; loading again changes nothing.

    The shipped vectors are used when the index and the chunk sizes are those they were made with; then no model is
    needed. Otherwise `embedder` makes new ones.

    Raises:
        IndexMismatch: the shipped vectors do not fit and there is no `embedder`, or it does not fit the index.
        SourceUnreadable: the installed corpus or its vectors are damaged.
    """
    shipped = ShippedVectors.read(DEMO_DIR / VECTORS_FILE)
    sizes = (settings.chunk_size, settings.chunk_overlap, settings.min_chunk_chars)
    made_with = shipped.identity
    fits = store.identity == made_with and sizes == (
        made_with.chunk_size,
        made_with.chunk_overlap,
        shipped.min_chunk_chars,
    )
    corpus = [DEMO_DIR / CORPUS_FILE]
    if fits:
        return FileLoader(store, settings, _taken_from(shipped), on_progress).load(corpus)
    if embedder is None:
        raise IndexMismatch(
            f"the demo's vectors were made with {made_with.embedder.model} and chunks of {made_with.chunk_size} "
            "characters; this index wants others",
            "Give the load an embedder, or use the default embedding and chunk settings for the demo.",
        )
    return load_files(corpus, store, embedder, settings, on_progress)


def _taken_from(shipped: ShippedVectors) -> Callable[[Sequence[Prepared], Callable[[int], None]], list[Vectors]]:
    def vectors_of(prepared: Sequence[Prepared], told: Callable[[int], None]) -> list[Vectors]:
        chunk_ids = [chunk.id for _, chunks in prepared for chunk in chunks]
        rows = shipped.unit_rows(chunk_ids)
        told(len(chunk_ids))
        return split_rows(rows, prepared)

    return vectors_of
