"""GET /api/runs/{id}/report: a finished check as a file, in each format; clear errors for what has none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.live_service import LiveService

from medcite_middleware.services.report_shelf import ReportShelf

NOTE = {"name": "=note.md", "text": "Zetamab reduced exacerbations by 34% in adults.\n\nNo deaths occurred."}
CLAIMS = ["No deaths occurred.", "Zetamab reduced exacerbations by 43% in adults."]
SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "verification-1.json"


def run_of(live: LiveService, path: str = "/api/verify", **body: Any) -> str:
    """The id of a run that has ended."""
    with live.watching(path, body) as events:
        messages = list(events)
    return str(messages[0].json["run_id"])


@pytest.fixture(scope="module")
def run_id(quoting: LiveService) -> str:
    return run_of(quoting, claims=CLAIMS, sources=[NOTE])


def test_the_report_holds_every_claim_once_by_the_published_schema(quoting: LiveService, run_id: str) -> None:
    reply = quoting.client.get(f"/api/runs/{run_id}/report")
    assert reply.status_code == 200
    assert f'filename="medcite-check-{run_id[:8]}.json"' in reply.headers["content-disposition"]
    report = reply.json()
    jsonschema.validate(report, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [(entry["claim"], entry["verdict"]) for entry in report["entries"]] == [
        (CLAIMS[0], "supported"),
        (CLAIMS[1], "contradicted"),
    ]
    assert report["groundedness"] == 0.5
    assert [source["name"] for source in report["sources"]] == ["=note.md"]
    assert report["settings"]["verify"]["quote_threshold"]


def test_the_report_as_a_table_is_harmless_to_a_spreadsheet(quoting: LiveService, run_id: str) -> None:
    reply = quoting.client.get(f"/api/runs/{run_id}/report", params={"format": "csv"})
    assert reply.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))
    assert [row["verdict"] for row in rows] == ["supported", "contradicted"]
    assert rows[0]["source"] == "'=note.md"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("markdown", "## 2. contradicted"),
        ("original", '"reasoning"'),
        ("trec-biogen", '"answer"'),
        ("scifact", '"evidence"'),
    ],
)
def test_other_formats_come_by_name(quoting: LiveService, run_id: str, form: str, words: str) -> None:
    reply = quoting.client.get(f"/api/runs/{run_id}/report", params={"format": form})
    assert (reply.status_code, words in reply.text) == (200, True)


def test_what_has_no_report_is_said_in_words(quoting: LiveService, run_id: str) -> None:
    unknown = quoting.client.get("/api/runs/0000/report")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    wrong = quoting.client.get(f"/api/runs/{run_id}/report", params={"format": "docx"})
    assert wrong.status_code == 422
    asked = run_of(quoting, "/api/ask", question="Does aspirin prevent stroke?")
    of_an_answer = quoting.client.get(f"/api/runs/{asked}/report").json()["error"]
    assert (of_an_answer["code"], "no report" in of_an_answer["message"]) == ("not_found", True)


def test_the_shelf_keeps_the_last_reports_and_none_too_long() -> None:
    clock = [0.0]
    shelf = ReportShelf(most=2, kept_s=10, now=lambda: clock[0])
    for name in "abc":
        shelf.put(name, name)  # type: ignore[arg-type]
    assert [shelf.get(name) for name in "abc"] == [None, "b", "c"]
    clock[0] = 10.5
    assert shelf.get("c") is None
