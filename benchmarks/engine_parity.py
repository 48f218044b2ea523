"""Whether the two engines give the same: SciFact's abstracts in the embedded index and in a real OpenSearch node.

For each claim (dev): the ten nearest chunks of each engine against an exact scan in numpy and against each other, the
ten best chunks by words of both, and nDCG@10 of the whole hybrid search. Skipped without SciFact, a JDK 21 or Maven.

    .venv/bin/python benchmarks/engine_parity.py [--data FOLDER] [--cache FOLDER]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from real_node import node, opensearch_node
from retrieval_scifact import (
    ROOT,
    by_retriever,
    cached_vectors,
    measure,
    paired_bootstrap,
    read_claims,
    read_corpus,
    scifact_index,
)

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.factory import build_embedder
from medcite_core.filters import SearchFilter
from medcite_core.index import opensearch_search
from medcite_core.index.opensearch_index import OpenSearchIndex
from medcite_core.ports import CorpusIndex, Embedder, IndexedRecord
from medcite_core.settings import EmbeddingSettings, IndexSettings, OpenSearchSettings, RetrievalSettings
from medcite_middleware.retrieval.hybrid import Retriever

EVERYTHING = SearchFilter()
K = 10


def entries(data: Path, cache: Path, embedder: Embedder) -> list[IndexedRecord]:
    """All records with their chunks and vectors, as a load makes them."""
    chunked = [(record, chunk_record(record, IndexSettings())) for record in read_corpus(data)]
    texts = [text for record, chunks in chunked for text in embedding_texts(record, chunks)]
    rows = iter(cached_vectors(texts, cache / "scifact-vectors", embedder))
    return [IndexedRecord(record, chunks, np.stack([next(rows) for _ in chunks])) for record, chunks in chunked]


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of the ten best that both have."""
    return len(set(one[:K]) & set(other[:K])) / K


def vector_agreement(
    engines: dict[str, CorpusIndex], vectors: dict[str, np.ndarray], all_entries: list[IndexedRecord]
) -> dict[str, float]:
    """Mean overlap@10 of each engine with the exact ten nearest, and of the engines with each other."""
    ids = [chunk.id for entry in all_entries for chunk in entry.chunks]
    matrix = np.concatenate([entry.vectors for entry in all_entries])
    found: dict[str, list[float]] = {}
    for vector in vectors.values():
        exact = [ids[i] for i in np.argsort(-(matrix @ vector), kind="stable")[:K]]
        lists = {
            name: [h.chunk.id for h in index.vector_chunks(vector, EVERYTHING, K)] for name, index in engines.items()
        }
        for name, chunks in lists.items():
            found.setdefault(f"{name} to exact", []).append(overlap(chunks, exact))
        found.setdefault("between the engines", []).append(overlap(*lists.values()))
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def main() -> int:
    """Measure and write results; 0 also when what it needs is not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/scifact")
    parser.add_argument("--cache", type=Path, default=ROOT / "data/benchmarks")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    options = parser.parse_args()
    if not (options.data / "corpus.jsonl.gz").is_file():
        print(f"skipped: no SciFact in {options.data}; name its folder with --data", file=sys.stderr)
        return 0
    embedder = build_embedder(EmbeddingSettings())
    claims, relevant = read_claims(options.data)
    embedded = scifact_index(options.data, options.cache, embedder)
    everything = entries(options.data, options.cache, embedder)
    try:
        with opensearch_node() as running:
            cluster = OpenSearchIndex(OpenSearchSettings(hosts=(running.url,)), embedded.identity)
            for start in range(0, len(everything), 250):
                cluster.replace(everything[start : start + 250])
            cluster.finish_load()
            result = compare(
                {"lancedb": embedded, "opensearch": cluster}, embedder, claims["dev"], relevant, everything
            )
    except node.NodeError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "engine_parity.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))
    return 0


def compare(
    engines: dict[str, CorpusIndex],
    embedder: Embedder,
    claims: dict[str, str],
    relevant: dict[str, dict[str, int]],
    everything: list[IndexedRecord],
) -> dict[str, Any]:
    """All figures of both engines over the same records and claims."""
    vectors = {qid: embedder.embed_query(text) for qid, text in claims.items()}
    through_the_graph = vector_agreement(engines, vectors, everything)
    limit, opensearch_search.EXACT_ROWS = opensearch_search.EXACT_ROWS, 10**9
    one_by_one = vector_agreement(engines, vectors, everything)
    opensearch_search.EXACT_ROWS = limit
    words = [
        overlap(*([h.chunk.id for h in index.lexical_chunks(text, EVERYTHING, K)] for index in engines.values()))
        for text in claims.values()
    ]
    settings = RetrievalSettings()
    ndcg = {}
    for name, index in engines.items():
        retriever = Retriever(index, embedder, settings)
        run = {qid: by_retriever(retriever, text, settings.candidates // 2) for qid, text in claims.items()}
        ndcg[name] = measure(run, relevant)["nDCG@10"]
    means = {name: round(float(np.mean(list(values.values()))), 4) for name, values in ndcg.items()}
    ours, theirs = ndcg.values()
    return {
        "schema_version": 1,
        "benchmark": "SciFact's abstracts in both engines; dev claims as queries",
        "claims": len(claims),
        "records": {name: index.count() for name, index in engines.items()},
        "chunks": {name: index.count_chunks() for name, index in engines.items()},
        "vector_overlap_at_10_as_shipped": through_the_graph,
        "vector_overlap_at_10_opensearch_compared_one_by_one": one_by_one,
        "lexical_overlap_at_10": round(float(np.mean(words)), 4),
        "hybrid_ndcg_at_10": means,
        "hybrid_ndcg_difference_95": paired_bootstrap(ours, theirs),
    }


if __name__ == "__main__":
    sys.exit(main())
