"""Reports of checked claims: counts that add up, formats that read back, the published schema."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest
from support.records import a_record, evidence_of

from medcite_core.answers import (
    Claim,
    ComputationProof,
    Operand,
    ScanProof,
    Verdict,
)
from medcite_core.types import Span
from medcite_middleware.export.verdicts.formats import write_report
from medcite_middleware.export.verdicts.report import (
    ReportEntry,
    ReportSource,
    VerificationReport,
    counts_of,
    entry_of,
    groundedness_of,
)
from medcite_middleware.verification.labels import worst_label
from medcite_middleware.verification.sources import quote_proof

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "verification-1.json"
RECORD = a_record("100", parts=[("RESULTS", "", "Drug A lowered pressure by 5 mmHg. Of 104 patients 47 improved.")])
EVIDENCE = evidence_of(RECORD)


def claim(number: int, text: str) -> Claim:
    return Claim(f"c{number}", Span(0, len(text)), text)


def quote(shows: str, words: str):
    start = RECORD.text.index(words)
    return quote_proof(EVIDENCE[0], Span(start, start + len(words)), shows)


@pytest.fixture
def report() -> VerificationReport:
    said = quote("supports", "Drug A lowered pressure by 5 mmHg.")
    denied = quote("contradicts", "Drug A lowered pressure by 5 mmHg.")
    operands = (Operand("a", 47, quote("supports", "47")), Operand("b", 104, quote("supports", "104")))
    computed = ComputationProof("a / b * 100", operands, 45.19, 45, 0.5, "supports", "%")
    scan = ScanProof(("100",), 3, 3, ("aspirin",), is_complete=True, shows="supports")
    verdicts = [
        ("Drug A lowered pressure.", Verdict("c1", "supported", "verbatim", "Said.", (said,))),
        ("=Drug A raised pressure.", Verdict("c1", "contradicted", "direction_differs", "Denied.", (denied,))),
        ("45% improved.", Verdict("c1", "supported", "computed", "47 / 104.", (computed,))),
        ("It does not mention aspirin.", Verdict("c1", "supported", "absence_scan", "Not there.", (scan,))),
        ("Drug A is _cheap_.", Verdict("c1", "unchecked", "no_judge_for_paraphrase", "No judge.", review="Look.")),
    ]
    entries = [
        entry_of(row, text, [claim(1, text)], [verdict], EVIDENCE, entry_id=str(row))
        for row, (text, verdict) in enumerate(verdicts, start=1)
    ]
    entries.append(ReportEntry(row=6, claim="", verdict="invalid", state="invalid", explanation="its claim is empty"))
    return VerificationReport(
        created="2026-12-01T00:00:00+00:00",
        is_complete=False,
        counts=counts_of(entries),
        groundedness=groundedness_of(entries),
        sources=[ReportSource(kind="record", id="100", name=RECORD.title)],
        versions={"medcite": "0.1.0"},
        entries=entries,
    )


def test_counts_add_up_and_groundedness_counts_unchecked_claims_against_it(report: VerificationReport) -> None:
    counts = report.counts
    assert counts.asked == counts.judged + counts.not_checkable + counts.invalid + counts.failed == 6
    assert sum(counts.verdicts.values()) == counts.asked
    assert (counts.claims, counts.claims_checked, counts.needs_review) == (5, 4, 1)
    assert report.groundedness == pytest.approx(3 / 5)


def test_the_json_is_what_the_published_schema_says_and_the_schema_is_what_the_models_say(
    report: VerificationReport,
) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert schema == VerificationReport.model_json_schema(mode="serialization"), "run scripts/export_event_types.py"
    body = json.loads(write_report(report, "json"))
    jsonschema.validate(body, schema)
    assert all(isinstance(entry["claim"], str) and isinstance(entry["verdict"], str) for entry in body["entries"])
    assert VerificationReport.model_validate(body) == report
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**body, "entries": [{"claim": 5}]}, schema)


def test_every_quote_of_a_report_is_cut_from_the_source_that_stands_in_it(report: VerificationReport) -> None:
    for entry in report.entries:
        texts = {e.number: e.record.text for e in entry.evidence}
        for proof in (p for part in entry.parts for p in part.verdict.proofs if p.kind == "quote"):
            assert texts[proof.evidence_number][proof.span.start : proof.span.end] == proof.text


def test_the_original_shape_names_the_text_and_the_document_of_each_detail(report: VerificationReport) -> None:
    first = json.loads(write_report(report, "original"))["claims"][0]
    assert first["claim"] == "Drug A lowered pressure."
    assert first["details"] == [{"matching_text": "Drug A lowered pressure by 5 mmHg.", "document_name": "PMID 100"}]


def test_the_words_a_computation_rests_on_are_in_every_format(report: VerificationReport) -> None:
    details = json.loads(write_report(report, "original"))["claims"][2]["details"]
    assert [d["matching_text"] for d in details] == ["47", "104"]
    answer = json.loads(write_report(report, "trec-biogen"))["answer"]
    assert (answer[2]["supported_citations"], answer[2]["contradicted_citations"]) == (["100"], [])
    assert json.loads(write_report(report, "scifact").splitlines()[2])["evidence"]["100"]["label"] == "SUPPORT"
    rows = list(csv.DictReader(io.StringIO(write_report(report, "csv").removeprefix("\ufeff"))))
    assert (rows[2]["quote"], rows[2]["shows"], rows[2]["source"]) == ("47", "supports", "PMID 100")


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(report: VerificationReport) -> None:
    rows = list(csv.DictReader(io.StringIO(write_report(report, "csv").removeprefix("\ufeff"))))
    assert [row["verdict"] for row in rows] == [e.verdict for e in report.entries]
    assert rows[1]["claim"] == "'=Drug A raised pressure."
    assert "a / b * 100 = 45.19 %" in rows[2]["computation"]
    assert "aspirin" in rows[3]["scan"]


def test_markdown_shows_a_text_as_it_is(report: VerificationReport) -> None:
    text = write_report(report, "markdown")
    assert "Drug A is \\_cheap\\_." in text
    assert "This report is not complete" in text
    assert "To be looked at by a person: Look." in text


def test_trec_and_scifact_hold_the_documents_of_each_side(report: VerificationReport) -> None:
    answer = json.loads(write_report(report, "trec-biogen"))["answer"]
    assert answer[0]["supported_citations"] == ["100"]
    assert answer[1]["contradicted_citations"] == ["100"]
    lines = [json.loads(line) for line in write_report(report, "scifact").splitlines()]
    assert lines[0] == {"id": "1", "evidence": {"100": {"sentences": [0], "label": "SUPPORT"}}}
    assert lines[1]["evidence"]["100"]["label"] == "CONTRADICT"
    assert lines[4]["evidence"] == {}


@pytest.mark.parametrize(
    ("labels", "worst"),
    [
        (["supported", "supported"], "supported"),
        (["supported", "contradicted", "unchecked"], "contradicted"),
        (["supported", "conflicting"], "conflicting"),
        (["supported", "unchecked"], "partly_supported"),
        (["unsupported", "unchecked"], "unsupported"),
        (["unchecked"], "unchecked"),
    ],
)
def test_a_sentence_shows_the_worst_of_its_claims(labels, worst) -> None:
    assert worst_label(labels) == worst
