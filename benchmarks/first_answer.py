"""How long until the first page and the first answer; what our API adds; memory of serving.

`installed` (half a minute): all packages are there. The process is the real one, started as a user starts it, in an
empty folder (first start, which loads the demo corpus) and again (second start). The API's own part is the time of a
search over HTTP less the same search in process.

`clone-cold` and `clone-warm` (minutes): from `git clone` of this checkout's last commit over `python3 scripts/up.py` to
the page. Cold, pip and npm get empty cache folders, so that everything is downloaded; warm, they use those they always
use. Nothing outside the temporary folder is changed, but that a warm run may add to those caches.

    .venv/bin/python benchmarks/first_answer.py [installed] [clone-cold] [clone-warm] [--pip OPTION …]
"""

from __future__ import annotations

import argparse
import json
import os
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

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
ANSWERS_AT = "medcite answers at "
QUESTION = "Does atorvastatin shrink chronic subdural hematomas?"
WORDS = ["nasopharyngeal carcinoma smoking", "air embolism lung biopsy", "pancreatic cancer gemcitabine survival"]


def start(command: list[str], folder: Path, environ: dict[str, str]) -> tuple[subprocess.Popen[str], str]:
    """Run a command that ends in serving, and wait for the address it tells.

    Raises:
        RuntimeError: it ended without one.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder, env={**os.environ, **environ}
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(ANSWERS_AT):
            return process, line.removeprefix(ANSWERS_AT).strip().rstrip("/")
    raise RuntimeError(f"{command} ended with {process.wait()} and served nothing")


def installed_start(data_dir: Path) -> tuple[dict[str, Any], subprocess.Popen[str], str]:
    """`medcite up` of the packages that are installed here."""
    command = [sys.executable, "-m", "medcite", "--data-dir", str(data_dir), "up", "--port", "0"]
    return one_start(command, data_dir, {}, time.perf_counter())


def clone_start(pip_options: list[str], *, is_cold: bool) -> dict[str, Any]:
    """From nothing to a first answer in a fresh clone."""
    with tempfile.TemporaryDirectory(prefix="medcite-bench-") as name:
        clone, caches = Path(name) / "medcite", Path(name) / "caches"
        environ = {"PIP_CACHE_DIR": str(caches / "pip"), "npm_config_cache": str(caches / "npm")} if is_cold else {}
        began = time.perf_counter()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        cloned = time.perf_counter() - began
        command = ["python3", "scripts/up.py", *(["--pip", *pip_options] if pip_options else []), "--", "--port", "0"]
        report, process, _ = one_start(command, clone, environ, began)
        process.terminate()
        process.wait(30)
        return {"cloned_s": round(cloned, 1), **report}


def one_start(
    command: list[str], folder: Path, environ: dict[str, str], began: float
) -> tuple[dict[str, Any], subprocess.Popen[str], str]:
    """Seconds since `began` to the page, to the first answer, and to searches by meaning."""
    process, address = start(command, folder, environ)
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
            retriever.find(text, SearchFilter(), 10)
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


def installed() -> dict[str, Any]:
    """First and second start of what is installed, the API's part, and memory."""
    with tempfile.TemporaryDirectory(prefix="medcite-bench-") as name:
        data_dir = Path(name)
        report: dict[str, Any] = {}
        for kind in ("first_start", "second_start"):
            report[kind], process, address = installed_start(data_dir)
            if kind == "second_start":
                report["api"] = api_overhead(address, data_dir)
                report["serving_peak_memory_mib"] = peak_mib(process)
            process.terminate()
            process.wait(30)
        return report


def main() -> int:
    """Run what was asked for; results of other modes stay in the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", nargs="*", default=["installed"], help="installed, clone-cold, clone-warm")
    parser.add_argument("--pip", nargs=argparse.REMAINDER, default=[], help="options for pip, as for scripts/up.py")
    arguments = parser.parse_args()
    run = {
        "installed": installed,
        "clone-cold": lambda: clone_start(arguments.pip, is_cold=True),
        "clone-warm": lambda: clone_start(arguments.pip, is_cold=False),
    }
    unknown = [mode for mode in arguments.modes if mode not in run]
    if unknown:
        parser.error(f"{unknown[0]} is no mode; modes are: {', '.join(run)}")
    path = RESULTS / "first_answer.json"
    report = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    report |= {mode: run[mode]() for mode in arguments.modes}
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
