"""The installed command on the demo corpus: processes, standard output, a port, signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from medcite_ingestion.demo import demo_questions

COMMAND = [sys.executable, "-m", "medcite"]
QUESTION = demo_questions()[0]


def environment() -> dict[str, str]:
    """The machine's, without settings of medcite and without a network for models."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEDCITE_")}
    return {**kept, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}


def medcite(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`medcite ARGUMENTS` in `folder`."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=environment(), capture_output=True, text=True, timeout=240, check=False
    )


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str], list[str]]]:
    """A running server: its address, its process, and its standard error, line by line."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stderr
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, errors
        yield found.group(), process, errors
    finally:
        process.kill()
        process.wait()
        reader.join(timeout=10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demo is loaded once for all tests here, by the first command."""
    home = tmp_path_factory.mktemp("home")
    done = medcite(home, "search", "aspirin", "--demo", "--json")
    assert done.returncode == 0, done.stderr
    return home


@pytest.mark.slow
def test_a_question_gets_a_whole_cited_and_checked_answer_as_json(folder: Path) -> None:
    done = medcite(folder, "ask", QUESTION["question"], "--demo", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema_version"] == 1
    assert answer["outcome"] == "answered"
    assert answer["search"]["mode"] == "hybrid"
    assert str(QUESTION["pmid"]) in {one["pmid"] for one in answer["evidence"]}
    assert [claim["id"] for claim in answer["claims"]] == [verdict["claim_id"] for verdict in answer["verdicts"]]
    texts = {one["pmid"]: one["record"]["text"] for one in answer["evidence"]}
    quotes = [proof for verdict in answer["verdicts"] for proof in verdict["proofs"]]
    assert quotes
    for proof in quotes:
        assert texts[proof["pmid"]][proof["span"]["start"] : proof["span"]["end"]] == proof["text"]


@pytest.mark.slow
def test_on_the_terminal_the_answer_comes_with_marks_quotes_and_sources(folder: Path) -> None:
    done = medcite(folder, "ask", QUESTION["question"], "--demo")
    assert done.returncode == 0, done.stderr
    answer, checked, sources = re.split(r"^Checked sentence by sentence$|^Sources$", done.stdout, flags=re.MULTILINE)
    assert re.search(r"\[\d+\]", answer)
    assert "✓ supported" in checked
    assert "PMID" in checked
    assert "https://pubmed.ncbi.nlm.nih.gov/" in sources
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_search_keeps_to_its_filter_and_says_which(folder: Path) -> None:
    done = medcite(folder, "search", "randomized trial", "--demo", "--json", "--year-from", "2010", "--year-to", "2012")
    found = json.loads(done.stdout)
    years = {item["record"]["year"] for item in found["records"]}
    assert years
    assert years <= {2010, 2011, 2012}
    assert found["search"]["applied_filter"] == {"year_from": 2010, "year_to": 2012}
    assert 0 < found["search"]["passed"] < found["search"]["corpus_records"]


@pytest.mark.slow
def test_up_prints_one_address_answers_while_the_model_loads_and_stops_on_a_signal(folder: Path) -> None:
    begun = time.monotonic()
    with serving(folder, "up", "--port", "0") as (address, process, errors):
        started = time.monotonic() - begun
        # Asked at once: a model takes seconds to load, words do not.
        found = httpx.post(f"{address}api/search", json={"query": "aspirin"}, timeout=30)
        assert found.status_code == 200
        assert found.json()["search"]["mode"] in ("lexical", "hybrid")
        assert found.json()["records"]
        corpus = httpx.get(f"{address}api/corpus", timeout=30).json()
        assert len(corpus["example_questions"]) == 5
        assert set(corpus["worked_example"]) >= {"text", "sources"}
        assert httpx.get(address, timeout=30).headers["content-type"].startswith("text/html")
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
        assert process.stdout
        assert process.stdout.read() == ""
    assert started < 60
    assert not [line for line in errors if "Traceback" in line or "aspirin" in line]


@pytest.mark.slow
def test_up_takes_the_next_port_where_serve_refuses(folder: Path) -> None:
    with serving(folder, "up", "--port", "0") as (address, _, _):
        port = address.rstrip("/").rpartition(":")[2]
        refused = medcite(folder, "serve", "--port", port)
        assert refused.returncode == 1
        assert f"port {port}" in refused.stderr
        assert refused.stdout == ""
        with serving(folder, "up", "--port", port) as (other, _, errors):
            assert other != address
            assert httpx.get(f"{other}healthz", timeout=30).json() == {"status": "ok"}
        assert any(f"Port {port} is taken" in line for line in errors)


@pytest.mark.slow
def test_own_files_are_loaded_counted_and_asked_and_a_broken_one_is_named(tmp_path: Path) -> None:
    """FR-034: a good file, one cut in the middle of a tag and an empty one in one folder."""
    files = tmp_path / "files"
    files.mkdir()
    golden = Path(__file__).parents[1] / "golden" / "command_line"
    for path in golden.glob("FR-034-*"):
        (files / path.name).write_bytes(path.read_bytes())
    loaded = medcite(tmp_path, "ingest", "files", "files", "--json")
    assert loaded.returncode == 3
    report = json.loads(loaded.stdout)
    # The empty file holds no citation: it is a file that failed.
    assert report["records"] + report["tombstones"] + report["problems"] == report["citations"] == 2
    assert set(report["files_failed"]) == {"FR-034-cut.xml", "FR-034-empty.xml"}
    again = medcite(tmp_path, "ingest", "files", "files/FR-034-good.xml")
    assert again.returncode == 0
    assert "1 record = 0 new + 0 replaced + 1 unchanged + 0 outdated" in again.stdout
    found = medcite(tmp_path, "search", "test abstract")
    assert found.returncode == 0
    assert "https://pubmed.ncbi.nlm.nih.gov/90000001/" in found.stdout
