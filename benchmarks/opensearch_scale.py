"""What a vector costs in OpenSearch, by setting: recall against an exact scan, latency, disk, load time; Lucene engine.

Synthetic vectors of 384 dimensions in clusters (`synthetic_corpus.py`), one real node with a heap of 1 GiB, one client,
one query at a time. Peer in the same run: the first row, fp32 with the shipped settings. faiss needs native code that
this node does not have: its settings stand in docs/scale.md, not measured.

    .venv/bin/python benchmarks/opensearch_scale.py [--chunks 100000] [--queries 100]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from real_node import node, opensearch_node
from synthetic_corpus import DIMENSION, TOPICS, unit

RESULTS = Path(__file__).parent / "results"
K = 10
BULK = 2_000
WARM_UP = 10
M16 = {"m": 16, "ef_construction": 100}
VARIANTS: dict[str, dict[str, Any]] = {
    "fp32, m 16 (as shipped)": {"parameters": M16},
    "fp32, m 32": {"parameters": {"m": 32, "ef_construction": 200}},
    "fp32, m 16, 2 shards": {"parameters": M16, "shards": 2},
    "byte vectors": {"parameters": M16, "field": {"data_type": "byte"}},
    "7 bits (4x compression)": {"parameters": {**M16, "encoder": {"name": "sq", "parameters": {"bits": 7}}}},
    "7 bits, 3x oversampling, rescored": {"same_as": "7 bits (4x compression)", "rescore": 3.0},
}


def vectors(count: int, seed: int) -> np.ndarray:
    """Unit vectors near one of the topics; the same for the same seed."""
    topics = unit(np.random.default_rng(1).standard_normal((TOPICS, DIMENSION), dtype=np.float32))
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    return unit(topics[rng.integers(TOPICS, size=count)] + 0.06 * noise).astype(np.float32)


def stored(rows: np.ndarray, variant: dict[str, Any]) -> list[list[float]]:
    """Rows as they are sent: whole numbers for byte vectors, whose scale does not touch the cosine."""
    if variant.get("field", {}).get("data_type") == "byte":
        scale = 127 / float(np.abs(rows).max())
        return [[int(x) for x in row] for row in np.rint(rows * scale).clip(-128, 127)]
    return [[float(f"{x:.8g}") for x in row] for row in rows]


def build(client: Any, name: str, variant: dict[str, Any], rows: np.ndarray) -> dict[str, float]:
    """Make and load an index, one segment a shard; returns seconds and bytes."""
    method = {
        "name": "hnsw",
        "engine": "lucene",
        "space_type": "cosinesimil",
        "parameters": variant["parameters"],
    }
    embedding = {"type": "knn_vector", "dimension": DIMENSION, "method": method, **variant.get("field", {})}
    index = {"knn": True, "number_of_shards": variant.get("shards", 1), "number_of_replicas": 0, "refresh_interval": -1}
    body = {
        "settings": {"index": index},
        "mappings": {"properties": {"n": {"type": "integer"}, "embedding": embedding}},
    }
    client.indices.create(index=name, body=body)
    started = time.perf_counter()
    for start in range(0, len(rows), BULK):
        lines = []
        for at, row in enumerate(stored(rows[start : start + BULK], variant), start=start):
            lines += ['{"index":{}}', json.dumps({"n": at, "embedding": row}, separators=(",", ":"))]
        reply = client.bulk(body="\n".join(lines) + "\n", index=name, request_timeout=300)
        assert not reply["errors"], "the node refused some of the vectors"
    loaded = time.perf_counter() - started
    client.indices.forcemerge(index=name, params={"max_num_segments": 1, "request_timeout": 1800})
    client.indices.refresh(index=name)
    merged = time.perf_counter() - started - loaded
    stats = client.indices.stats(index=name, metric="store")["indices"][name]["primaries"]["store"]
    return {"load_s": round(loaded, 1), "merge_s": round(merged, 1), "disk_mb": round(stats["size_in_bytes"] / 1e6, 1)}


def measure(client: Any, name: str, variant: dict[str, Any], rows: np.ndarray, queries: np.ndarray) -> dict[str, float]:
    """Recall@10 and latency, one query at a time."""
    took, recalls = [], []
    for number, (query, wanted) in enumerate(zip(queries, stored(queries, variant), strict=True)):
        near: dict[str, Any] = {"vector": wanted, "k": K}
        if "rescore" in variant:
            near["rescore"] = {"oversample_factor": variant["rescore"]}
        body = {"size": K, "_source": False, "docvalue_fields": ["n"], "query": {"knn": {"embedding": near}}}
        started = time.perf_counter()
        hits = client.search(index=name, body=body)["hits"]["hits"]
        elapsed = (time.perf_counter() - started) * 1000
        if number < WARM_UP:
            continue
        exact = np.argsort(-(rows @ query))[:K]
        recalls.append(len({hit["fields"]["n"][0] for hit in hits} & set(exact.tolist())) / K)
        took.append(elapsed)
    return {
        "recall_at_10": round(float(np.mean(recalls)), 4),
        "p50_ms": round(float(np.percentile(took, 50)), 1),
        "p95_ms": round(float(np.percentile(took, 95)), 1),
    }


def main() -> int:
    """Measure and write results; 0 also when no node can be started."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000, help="1000000 takes hours and a larger heap")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--heap", default="1g")
    options = parser.parse_args()
    from opensearchpy import OpenSearch

    rows, queries = vectors(options.chunks, 2), vectors(options.queries + WARM_UP, 3)
    measured: dict[str, Any] = {}
    try:
        with opensearch_node(options.heap) as running:
            client = OpenSearch([running.url], timeout=120)
            for number, (label, variant) in enumerate(VARIANTS.items()):
                base = variant.get("same_as", label)
                name = f"v{list(VARIANTS).index(base)}"
                cost = build(client, name, variant, rows) if base == label else {}
                settings = {**VARIANTS[base], **variant}
                measured[label] = {**cost, **measure(client, name, settings, rows, queries)}
                print(f"{label}: {json.dumps(measured[label])}", flush=True)
                following = list(VARIANTS.values())[number + 1 : number + 2]
                if not following or following[0].get("same_as") != label:
                    client.indices.delete(index=name)
    except node.NodeError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 0
    first = next(iter(measured.values()))
    for cell in measured.values():
        cell["p50_to_first"] = round(cell["p50_ms"] / first["p50_ms"], 2)
    result = {"schema_version": 1, "engine": "OpenSearch 3.5.0, Lucene HNSW", "heap": options.heap}
    result |= {"chunks": options.chunks, "dimension": DIMENSION, "queries": options.queries, "variants": measured}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"opensearch_scale_{options.chunks}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
