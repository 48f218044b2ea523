"""Embeds every chunk of the demo corpus with the default settings and writes the vectors that ship with medcite.

    python scripts/build_demo_vectors.py

Run it after scripts/cut_demo_corpus.py, and whenever chunking, template or the packaged model change.
"""

from __future__ import annotations

import time

import numpy as np

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.factory import build_embedder
from medcite_core.ports import IndexIdentity
from medcite_core.settings import Settings
from medcite_ingestion.demo import DEMO_DIR
from medcite_ingestion.demo.corpus import demo_records
from medcite_ingestion.demo.shipped_vectors import VECTORS_FILE, ShippedVectors

SLICE = 256


def main() -> None:
    """Write `vectors.npz`."""
    settings = Settings(_env_file=None)
    embedder = build_embedder(settings.embedding)
    prepared = [(record, chunk_record(record, settings.index)) for record in demo_records()]
    chunk_ids = [chunk.id for _, chunks in prepared for chunk in chunks]
    texts = [text for record, chunks in prepared for text in embedding_texts(record, chunks)]
    started = time.monotonic()
    parts = []
    for start in range(0, len(texts), SLICE):
        parts.append(embedder.embed_passages(texts[start : start + SLICE]))
        print(f"{start + len(parts[-1])} of {len(texts)} chunks, {time.monotonic() - started:.0f} s", flush=True)
    identity = IndexIdentity(embedder.identity, settings.index.chunk_size, settings.index.chunk_overlap)
    shipped = ShippedVectors(
        identity=identity,
        min_chunk_chars=settings.index.min_chunk_chars,
        chunk_ids=tuple(chunk_ids),
        rows=np.concatenate(parts).astype(np.float16),
    )
    shipped.write(DEMO_DIR / VECTORS_FILE)


if __name__ == "__main__":
    main()
