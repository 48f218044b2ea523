"""The installed commands verify and batch: processes, files, a kill in the middle, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"
COMMAND = [sys.executable, "-m", "medcite"]
DOCUMENT = """Zetamab in asthma

Among 120 adults with severe asthma, zetamab reduced annual exacerbations by 34% compared with placebo.
No deaths occurred. Drug A was not superior to placebo for mortality at 12 months.
"""


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEDCITE_")}
    return {**kept, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}


def medcite(folder: Path, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        input=text,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "doc.txt").write_text(DOCUMENT, encoding="utf-8")
    return tmp_path


def test_a_text_is_checked_against_a_document_and_each_verdict_shows_its_words(folder: Path) -> None:
    text = "No deaths occurred. Drug A was superior to placebo for mortality at 12 months. Is it cheap?"
    done = medcite(folder, "verify", "--text", text, "--against", "doc.txt")
    assert done.returncode == 0, done.stderr
    assert "✓ supported  No deaths occurred." in done.stdout
    assert "✗ contradicted  Drug A was superior" in done.stdout
    assert "“Drug A was not superior to placebo for mortality at 12 months.” (doc.txt)" in done.stdout
    assert "not checkable  Is it cheap?" in done.stdout
    assert "2 of 2 claims could be checked; 50% of all are supported." in done.stdout
    failing = medcite(folder, "verify", "--text", text, "--against", "doc.txt", "--fail-on", "contradicted")
    assert failing.returncode == 1


def test_a_report_as_json_slices_the_document(folder: Path) -> None:
    done = medcite(folder, "verify", "--file", "-", "--against", ".", "--json", text="No deaths occurred.")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (entry,) = report["entries"]
    proof = entry["parts"][0]["verdict"]["proofs"][0]
    source = entry["evidence"][0]["record"]
    assert source["text"][proof["span"]["start"] : proof["span"]["end"]] == proof["text"] == "No deaths occurred."
    assert source["title"] == "doc.txt"
    assert report["sources"][0]["sha256"]


def test_an_unreadable_file_among_others_is_named_and_the_rest_goes_on(folder: Path) -> None:
    (folder / "scan.pdf").write_bytes(b"%PDF-1.7 x")
    done = medcite(folder, "verify", "--text", "No deaths occurred.", "--against", ".")
    assert done.returncode == 3
    assert "✓ supported" in done.stdout
    assert "scan.pdf is a PDF file, which cannot be read yet" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify", "--text", "x y z.", "--against", "nowhere"], "there is no file or folder nowhere"),
        (["verify", "--text", "x y z."], "nothing to check against"),
        (["verify", "--against", "doc.txt"], "either --text or --file"),
        (["verify", "--text", "x.", "--file", "doc.txt", "--against", "doc.txt"], "either --text or --file"),
        (["verify", "--text", " ", "--against", "doc.txt"], "is empty"),
        (["verify", "--text", "x y.", "--against", "doc.txt", "--fail-on", "wrong"], "'wrong' is no verdict"),
        (["batch", "none.csv", "--against", "doc.txt", "--out", "r.json"], "cannot read none.csv"),
        (["verify", "--text", "x y.", "--against", "corpus"], "there is no index"),
    ],
)
def test_wrong_use_is_said_in_words(folder: Path, arguments: list[str], words: str) -> None:
    done = medcite(folder, *arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_rows_keep_their_order_and_a_repeated_claim_is_judged_once(folder: Path) -> None:
    """FR-258, FR-260."""
    rows = ["id,claim,pmid", "a,No deaths occurred.,", "b,,", "c,no  DEATHS occurred.,", "d,Cites one.,99", "e,Zinc.,x"]
    (folder / "claims.csv").write_text("\n".join(rows), encoding="utf-8")
    done = medcite(folder, "batch", "claims.csv", "--against", "doc.txt", "--out", "out/report.json")
    assert done.returncode == 3, done.stderr
    report = json.loads((folder / "out/report.json").read_text(encoding="utf-8"))
    entries = [(e["row"], e["id"], e["verdict"], e["state"], e["same_as"]) for e in report["entries"]]
    assert entries == [
        (1, "a", "supported", "judged", None),
        (2, "b", "invalid", "invalid", None),
        (3, "c", "supported", "judged", 1),
        (4, "d", "unchecked", "failed", None),
        (5, "e", "invalid", "invalid", None),
    ]
    assert report["is_complete"] is False
    assert "5 claims: 2 invalid, 2 supported, 1 unchecked. 1 repeated." in done.stderr
    assert sorted(p.name for p in (folder / "out").iterdir()) == [".report.json.journal", "report.json"]
    again = medcite(folder, "batch", "claims.csv", "--against", "doc.txt", "--out", "out/report.json")
    assert again.returncode == 3
    assert "Going on: 3 of 4 claims were checked before." in again.stderr
    assert json.loads((folder / "out/report.json").read_text(encoding="utf-8"))["entries"] == report["entries"]


def test_ten_rows_of_which_one_has_no_record_and_one_no_claim(folder: Path) -> None:
    """FR-258, in full: eight judged, one that could not be checked, one invalid, in input order; then only the one."""
    article = (
        '<PubmedArticle><MedlineCitation><PMID Version="1">9000000{n}</PMID><Article><Journal><Title>J</Title>'
        "<JournalIssue><PubDate><Year>2020</Year></PubDate></JournalIssue></Journal><ArticleTitle>Trial {n}"
        "</ArticleTitle><Abstract><AbstractText>Claim {n} says value {n}.</AbstractText></Abstract></Article>"
        "</MedlineCitation></PubmedArticle>"
    )
    articles = "".join(article.format(n=n) for n in range(1, 10))
    (folder / "set.xml").write_text(f"<PubmedArticleSet>{articles}</PubmedArticleSet>", encoding="utf-8")
    loaded = medcite(folder, "ingest", "files", "set.xml")
    assert loaded.returncode == 0, loaded.stderr
    claims = str(GOLDEN / "FR-258-claims.csv")
    done = medcite(folder, "batch", claims, "--against", "corpus", "--out", "report.json")
    assert done.returncode == 3, done.stderr
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    states = [entry["state"] for entry in report["entries"]]
    assert states == ["judged"] * 3 + ["failed"] + ["judged"] * 5 + ["invalid"]
    assert [e["verdict"] for e in report["entries"] if e["state"] == "judged"] == ["supported"] * 8
    assert "999999999" in report["entries"][3]["explanation"]
    again = medcite(folder, "batch", claims, "--against", "corpus", "--out", "report.json")
    assert again.returncode == 3
    assert "Going on: 9 of 10" in again.stderr


def test_a_file_with_a_repeated_claim_and_two_bad_rows_keeps_its_rows(folder: Path) -> None:
    """FR-260, and FR-179: a file that is not UTF-8 is said to be read as what."""
    done = medcite(folder, "batch", str(GOLDEN / "FR-260-claims.csv"), "--against", "doc.txt", "--out", "r.json")
    assert done.returncode == 3
    entries = json.loads((folder / "r.json").read_text(encoding="utf-8"))["entries"]
    assert [(e["row"], e["state"], e["same_as"]) for e in entries] == [
        (1, "judged", None),
        (2, "judged", 1),
        (3, "invalid", None),
        (4, "invalid", None),
        (5, "judged", None),
    ]
    assert not (folder / ".r.json.journal").exists()
    other = medcite(folder, "batch", str(GOLDEN / "FR-179-cp1252.csv"), "--against", "doc.txt", "--out", "s.json")
    assert "is not UTF-8; it is read as cp1252" in " ".join(other.stderr.split())


def test_a_batch_killed_in_the_middle_goes_on_and_ends_as_an_undisturbed_one(folder: Path) -> None:
    claims = [{"claim": f"Zetamab reduced annual exacerbations by {n}% compared with placebo."} for n in range(2000)]
    (folder / "claims.json").write_text(json.dumps({"claims": claims}), encoding="utf-8")
    arguments = ["batch", "claims.json", "--against", "doc.txt"]
    whole = medcite(folder, *arguments, "--out", "whole.json")
    assert whole.returncode == 0, whole.stderr

    process = subprocess.Popen(
        [*COMMAND, *arguments, "--out", "cut.json"], cwd=folder, env=environment(), stderr=subprocess.DEVNULL
    )
    journal = folder / ".cut.json.journal"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size > 200_000):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "cut.json").exists()
    done_before = len(journal.read_text(encoding="utf-8").splitlines())
    assert 1 < done_before < 2001
    # A line that was cut in the middle is no verdict.
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"key": ["x"')
    again = medcite(folder, *arguments, "--out", "cut.json")
    assert again.returncode == 0, again.stderr
    assert "Going on:" in again.stderr
    first, second = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("whole.json", "cut.json"))
    assert {**first, "created": ""} == {**second, "created": ""}
    assert not journal.exists()


def test_other_sources_begin_anew(folder: Path) -> None:
    (folder / "claims.txt").write_text("No deaths occurred.\n", encoding="utf-8")
    arguments = ["batch", "claims.txt", "--against", "doc.txt", "--out", "r.md"]
    assert medcite(folder, *arguments).returncode == 0
    assert "supported" in (folder / "r.md").read_text(encoding="utf-8")
    (folder / "doc.txt").write_text("One death occurred in the zetamab group.\n", encoding="utf-8")
    assert medcite(folder, *arguments).returncode == 0
    assert "contradicted" in (folder / "r.md").read_text(encoding="utf-8")


def test_the_python_function_gives_the_same_report(folder: Path) -> None:
    code = (
        "import medcite; r = medcite.verify('No deaths occurred.', ['doc.txt', ('note', 'Zinc helps.')]);"
        "print(r.entries[0].verdict, len(r.sources))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["supported", "2"], done.stderr
