"""Latency and recall of lexical, vector and hybrid queries, without a filter and with ones that leave 30 % and 1 %.

Peers, in the same run and on the same table: LanceDB's own calls for words, vectors and both (its RRF reranker,
prefilter, 50 rows; its vector call as it comes, without our choice of lists). Ours gives whole records and the number
of all that match besides; `lists` is the search without those, which compares with what LanceDB gives. What the HTTP
API adds is measured by `first_answer.py installed`. Vectors are compared with an exact scan in numpy under the same
filter (recall@10). Synthetic corpus; the numbers say how the engine and our planner behave at a size, nothing about
the quality of answers.

    .venv/bin/python benchmarks/query_latency.py [--chunks 10000 100000] [--queries 50]
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_corpus import CHUNKS_A_RECORD, IDENTITY, SyntheticCorpus

from medcite_core.filters import SearchFilter
from medcite_core.index.lance_filter import filter_sql
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import EmbedderIdentity, Vectors
from medcite_core.settings import RetrievalSettings
from medcite_middleware.retrieval.hybrid import Retriever

RESULTS = Path(__file__).parent / "results"
FILTERS = {
    "none": SearchFilter(),
    "30 %": SearchFilter(year_from=2000, year_to=2009),
    "1 %": SearchFilter(keywords=("planted",)),
}
ROWS = 50
WARM_UP = 5


class GivenVector:
    """An embedder that hands out the vector it was told, so that only the search is timed."""

    identity = EmbedderIdentity("synthetic", "1", "mean", "", IDENTITY.embedder.dimension)
    state = "ready"
    problem = ""
    vector: np.ndarray

    def embed_query(self, text: str) -> np.ndarray:  # noqa: ARG002 - of the port
        return self.vector

    def embed_passages(self, texts: Any) -> Vectors:
        raise NotImplementedError("queries only")


@dataclass(frozen=True)
class Built:
    """An index, and what an exact scan needs of its chunks, row by row."""

    index: LanceIndex
    vectors: np.ndarray
    years: np.ndarray
    planted: np.ndarray
    ids: list[str]
    times: dict[str, float]

    def mask(self, name: str) -> np.ndarray:
        """Which chunks pass the filter called `name`."""
        in_range = (self.years >= 2000) & (self.years <= 2009)
        return {"none": np.ones(len(self.ids), bool), "30 %": in_range, "1 %": self.planted}[name]


def build(folder: Path, corpus: SyntheticCorpus) -> Built:
    """Make and load an index."""
    index = LanceIndex(folder, IDENTITY)
    vectors, years, planted, ids = [], [], [], []
    written = 0.0
    for batch in corpus.batches():
        started = time.perf_counter()
        index.replace(batch)
        written += time.perf_counter() - started
        for entry in batch:
            vectors.append(entry.vectors)
            years.extend([entry.record.date.year] * len(entry.chunks))
            planted.extend(["planted" in entry.record.keywords] * len(entry.chunks))
            ids.extend(chunk.id for chunk in entry.chunks)
    started = time.perf_counter()
    index.finish_load()
    times = {"write_s": round(written, 1), "finish_load_s": round(time.perf_counter() - started, 1)}
    return Built(index, np.concatenate(vectors), np.array(years), np.array(planted), ids, times)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - started) * 1000


def percentiles(values: list[float]) -> dict[str, float]:
    return {"p50_ms": round(float(np.percentile(values, 50)), 1), "p95_ms": round(float(np.percentile(values, 95)), 1)}


def measure(folder: Path, chunks: int, queries: int) -> dict[str, Any]:
    """All cells of one size."""
    corpus = SyntheticCorpus(chunks)
    built = build(folder, corpus)
    cells = {name: measure_filter(folder, corpus, built, name, queries) for name in FILTERS}
    return {
        "chunks": len(built.ids),
        "records": len(built.ids) // CHUNKS_A_RECORD,
        **built.times,
        "cells": cells,
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def measure_filter(folder: Path, corpus: SyntheticCorpus, built: Built, name: str, queries: int) -> dict[str, Any]:
    """One filter; the peer's call follows each of ours, so that both see the same machine."""
    import lancedb
    from lancedb.rerankers import RRFReranker

    embedder = GivenVector()
    index, search_filter = built.index, FILTERS[name]
    retriever = Retriever(index, embedder, RetrievalSettings(k=ROWS, candidates=100))
    table = lancedb.connect(str(folder)).open_table("chunks")
    where = filter_sql(search_filter)
    places = np.flatnonzero(built.mask(name))
    rng = np.random.default_rng(99)
    kinds = ("lexical", "vector", "lists", "hybrid")
    took: dict[str, list[float]] = {name: [] for name in (*kinds, "peer lexical", "peer vector", "peer hybrid")}
    recalls = []

    def peer(vector: np.ndarray, text: str) -> Any:
        query = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="search_text")
        query = query.vector(vector).text(text).rerank(RRFReranker()).limit(ROWS)
        return (query.where(where, prefilter=True) if where else query).to_arrow()

    def filtered(query: Any) -> Any:
        return (query.where(where, prefilter=True) if where else query).limit(ROWS).to_arrow()

    def peer_lexical(text: str) -> Any:
        return filtered(table.search(text, query_type="fts", fts_columns="search_text"))

    def peer_vector(vector: np.ndarray) -> Any:
        query = table.search(vector, query_type="vector", vector_column_name="vector").distance_type("cosine")
        return filtered(query)

    for number in range(queries + WARM_UP):
        vector = embedder.vector = corpus.vector(rng)
        text = " ".join(f"w{int(i)}" for i in rng.integers(20, 5000, size=4))
        calls = (
            partial(index.lexical_chunks, text, search_filter, ROWS),
            partial(index.vector_chunks, vector, search_filter, ROWS),
            partial(index.hybrid_lists, text, vector, search_filter, ROWS),
            partial(retriever.find, text, search_filter),
            partial(peer_lexical, text),
            partial(peer_vector, vector),
            partial(peer, vector, text),
        )
        outcomes = [timed(call) for call in calls]
        if number < WARM_UP:
            continue
        for key, (_, milliseconds) in zip(took, outcomes, strict=True):
            took[key].append(milliseconds)
        near = outcomes[1][0]
        exact = places[np.argsort(-(built.vectors[places] @ vector))[:10]]
        recalls.append(len({built.ids[i] for i in exact} & {h.chunk.id for h in near[:10]}) / min(10, len(exact)))
    cell: dict[str, Any] = {key: percentiles(values) for key, values in took.items()}
    cell["recall_at_10"] = round(float(np.mean(recalls)), 4)
    for ours in ("lexical", "vector", "hybrid", "lists"):
        theirs = f"peer {'hybrid' if ours == 'lists' else ours}"
        # Of pairs that follow each other: a machine that is busy for a while is busy for both.
        ratios = np.array(took[ours]) / np.array(took[theirs])
        cell[f"{ours}_to_{theirs.replace(' ', '_')}"] = round(float(np.median(ratios)), 2)
    print(f"{len(built.ids):>9,} chunks, filter {name:>5}: {json.dumps(cell)}", flush=True)
    return cell


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000], help="1000000 takes half an hour")
    parser.add_argument("--queries", type=int, default=50)
    arguments = parser.parse_args()
    sizes = []
    for chunks in arguments.chunks:
        folder = Path(tempfile.mkdtemp(prefix="medcite-bench-"))
        try:
            sizes.append(measure(folder, chunks, arguments.queries))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "query_latency.json"
    path.write_text(json.dumps({"rows": ROWS, "queries": arguments.queries, "sizes": sizes}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
