"""From `medcite up` in an empty folder to the first page and first answer; what our API adds; memory of serving.

The process is the real one, started as a user starts it, with all packages installed: setting up a fresh checkout is a
download, and is timed by `.ci/run` (stage "tests"). Cold is the first start, which loads the demo corpus; warm is the
second. The API's own part is the time of a search over HTTP less the same search in process.

    .venv/bin/python benchmarks/first_answer.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from medcite_core.filters import SearchFilter
from medcite_core.settings import Settings

RESULTS = Path(__file__).parent / "results"
QUESTION = "Does atorvastatin shrink chronic subdural hematomas?"
WORDS = ["nasopharyngeal carcinoma smoking", "air embolism lung biopsy", "pancreatic cancer gemcitabine survival"]


def start(data_dir: Path) -> tuple[subprocess.Popen[str], str]:
    """Start `medcite up` and wait for its address."""
    command = [sys.executable, "-m", "medcite", "--data-dir", str(data_dir), "up", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    return process, line.split()[-1].rstrip("/")


def one_start(data_dir: Path) -> tuple[dict[str, Any], subprocess.Popen[str], str]:
    """Seconds from the command to the page, to the first answer, and to searches by meaning."""
    began = time.perf_counter()
    process, address = start(data_dir)
    with httpx.Client(base_url=address, timeout=120) as client:
        client.get("/").raise_for_status()
        page = time.perf_counter() - began
        answer = client.post("/api/answer", json={"question": QUESTION}).json()
        answered = time.perf_counter() - began
        assert answer["outcome"] == "answered", answer
        while "still loading" in client.get("/server_status").json()["serverMessage"]:
            time.sleep(0.1)
        ready = time.perf_counter() - began
    seconds = {"first_page_s": page, "first_answer_s": answered, "model_loaded_s": ready}
    return (
        {k: round(v, 1) for k, v in seconds.items()} | {"first_answer_mode": answer["search"]["mode"]},
        process,
        address,
    )


def peak_mib(process: subprocess.Popen[str]) -> int:
    """Largest resident memory of the process so far (Linux)."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) // 1024


def api_overhead(address: str, data_dir: Path) -> dict[str, Any]:
    """Median milliseconds of a search in process and over HTTP, in turn, on the same index."""
    from medcite.assembly import demo_settings
    from medcite_core.embedding.factory import build_embedder
    from medcite_core.index.factory import open_index
    from medcite_middleware.retrieval.hybrid import Retriever

    settings = demo_settings(Settings(data_dir=data_dir))
    embedder = build_embedder(settings.embedding)
    index = open_index(settings, embedder.identity, create=False)
    embedder.embed_query("ready")
    retriever = Retriever(index, embedder, settings.retrieval)
    inside, outside, empty = [], [], []
    with httpx.Client(base_url=address, timeout=60) as client:
        for number in range(33):
            text = WORDS[number % len(WORDS)]
            began = time.perf_counter()
            retriever.search(text, SearchFilter(), 10)
            middle = time.perf_counter()
            client.post("/api/search", json={"query": text, "k": 10}).raise_for_status()
            after = time.perf_counter()
            client.get("/healthz").raise_for_status()
            if number >= 3:
                inside.append(1000 * (middle - began))
                outside.append(1000 * (after - middle))
                empty.append(1000 * (time.perf_counter() - after))
    return {
        "search_in_process_p50_ms": round(float(np.median(inside)), 1),
        "search_over_http_p50_ms": round(float(np.median(outside)), 1),
        "difference_of_medians_ms": round(float(np.median(outside) - np.median(inside)), 1),
        "bare_request_p50_ms": round(float(np.median(empty)), 2),
    }


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="medcite-bench-") as name:
        data_dir = Path(name)
        report: dict[str, Any] = {}
        for kind in ("cold", "warm"):
            report[kind], process, address = one_start(data_dir)
            if kind == "warm":
                report["api"] = api_overhead(address, data_dir)
                report["serving_peak_memory_mib"] = peak_mib(process)
            process.terminate()
            process.wait(30)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "first_answer.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
