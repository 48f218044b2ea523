"""Builds the wheel and tries it outside the checkout, without Node:  .venv/bin/python scripts/try_wheel.py

The trial environment sees the dependencies that .venv holds already (torch is not installed twice), not the checkout.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.request
import zipfile
from pathlib import Path

import checkout

EXPECTED = (
    "medcite/page/index.html",
    "medcite_ingestion/demo/README.md",
    "medcite_ingestion/demo/vectors.npz",
    "medcite_middleware/answering/prompts/",
    "licenses/LICENSE",
    "licenses/NOTICE",
)
START_WITHIN_S, READY_WITHIN_S = 180, 180


def build(folder: Path) -> Path:
    """The wheel, built from the checkout without a build environment of its own (hatchling is a test dependency)."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(checkout.ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def look_inside(wheel: Path) -> None:
    """Fail when something that belongs in the wheel is not there, or something is that does not."""
    names = zipfile.ZipFile(wheel).namelist()
    missing = [part for part in EXPECTED if not any(part in name for name in names)]
    stray = [name for name in names if re.search(r"node_modules|/tests?/|\.pyc$|\.svelte$|\.medcite-stamp", name)]
    if missing or stray:
        raise SystemExit(f"wheel: missing {missing}, stray {stray[:5]}")
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MB, {len(names)} files")


def install(wheel: Path, venv: Path) -> Path:
    """A fresh environment with the wheel, that also sees this environment's packages; the folder of its scripts."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    python = checkout.venv_python(venv)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", str(wheel)]
    subprocess.run(pip, check=True)
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    # A folder named in a .pth file is searched, but .pth files inside it (the editable install's) are not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python.parent


def fetch(url: str, body: dict[str, object] | None = None) -> tuple[str, str]:
    """Content type and text of a page."""
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310
        return reply.headers.get("Content-Type", ""), reply.read().decode()


def try_out(address: str) -> None:
    """The page loads with its scripts, and one demo question gets a cited answer whose claims have verdicts."""
    kind, page = fetch(address)
    assets = re.findall(r'(?:src|href)="\.?/?(assets/[^"]+)"', page)
    if "text/html" not in kind or not assets:
        raise SystemExit(f"the page did not load: {kind}, {len(assets)} assets")
    for asset in assets:
        fetch(address + asset)
    question = ask_for_example(address)
    _, text = fetch(f"{address}api/answer", {"question": question})
    answer = json.loads(text)
    if (
        not answer["claims"]
        or len(answer["claims"]) != len(answer["verdicts"])
        or not re.search(r"\[\d+\]", answer["text"])
    ):
        raise SystemExit(f"no cited answer to {question!r}: {text[:400]}")
    labels = sorted({verdict["label"] for verdict in answer["verdicts"]})
    print(f"asked {question!r}: {len(answer['claims'])} claims, {labels}, searched by {answer['search']['mode']}")


def ask_for_example(address: str) -> str:
    """The first example question of the demo corpus, as the installed package has it."""
    _, text = fetch(f"{address}api/corpus")
    return str(json.loads(text)["example_questions"][0]["question"])


def main() -> None:
    """Build, look, install, start, ask, stop."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        wheel = build(work)
        look_inside(wheel)
        scripts = install(wheel, work / "venv")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MEDCITE_", "PYTHON"))}
        environment["PATH"] = str(scripts)
        if shutil.which("node", path=environment["PATH"]):
            raise SystemExit("Node is on the trial's path")
        started = time.monotonic()
        server = subprocess.Popen(
            [str(scripts / "medcite"), "up", "--port", "0", "--no-open"],
            cwd=str(work),
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        killer = threading.Timer(START_WITHIN_S + READY_WITHIN_S, server.kill)
        killer.start()
        try:
            line = (server.stdout.readline() if server.stdout else "").strip()
            found = re.search(r"http://\S+", line)
            if not found:
                raise SystemExit(f"no address on standard output, but {line!r}")
            print(f"serving after {time.monotonic() - started:.1f} s: {line}")
            try_out(found.group())
        finally:
            killer.cancel()
            server.terminate()
            server.wait(timeout=30)
        print("1 wheel built, installed outside the checkout, asked and stopped")


if __name__ == "__main__":
    main()
