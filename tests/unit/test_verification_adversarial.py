"""True sentences and human paraphrases of real abstracts, edited to say something else: none passes, whoever judges."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from medcite_core.answers import Claim
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Record, Span, assemble_text
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.quotes import align_quote
from medcite_middleware.verification.rules import RulesJudge

GOLDEN = Path(__file__).parent.parent / "golden" / "verification" / "adversarial.json"
JUDGE = RulesJudge(VerifySettings())
SUITE: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
ROWS: list[dict[str, str]] = SUITE["rows"]
EDITED = [row for row in ROWS if not row["kind"].startswith("untouched")]
UNTOUCHED = [row for row in ROWS if row["half"] == "verbatim" and row["kind"].startswith("untouched")]


@cache
def record_of(record_id: str) -> Record:
    held = SUITE["abstracts"][record_id]
    text, sections = assemble_text(held["title"], [tuple(part) for part in held["parts"]])
    return Record(record_id, 1, held["title"], sections, text)


def labels(row: dict[str, str]) -> list[str]:
    record, text = record_of(row["record"]), row["text"]
    evidence = (Evidence(1, record, "", "", Span(0, len(record.text)), record.text, 1.0),)
    claims = split_text(text).claims or (Claim("c1", Span(0, len(text)), text),)
    cases = [Case(replace(claim, cited=(1,)), text, evidence, needs_citation=True) for claim in claims]
    return [JUDGE.judge(case).label for case in cases]


def test_the_suite_holds_every_kind_of_edit_on_sentences_and_on_paraphrases() -> None:
    kinds = {(row["half"], row["kind"]) for row in EDITED}
    for kind in ("digit", "unit", "negation", "antonym", "subject swapped", "arm swapped", "time swapped", "direction"):
        assert {("verbatim", kind), ("paraphrase", kind)} <= kinds
    assert {("verbatim", "hedge dropped"), ("verbatim", "clause dropped"), ("paraphrase", "clause dropped")} <= kinds
    assert len(EDITED) >= 100


@pytest.mark.parametrize("row", EDITED, ids=lambda row: f"{row['half']}-{row['kind']}-{row['record']}")
def test_no_edited_text_is_supported(row: dict[str, str]) -> None:
    assert set(labels(row)) != {"supported"}


@pytest.mark.parametrize("row", UNTOUCHED, ids=lambda row: f"{row['kind']}-{row['record']}")
def test_a_sentence_of_the_abstract_is_supported_in_any_typography(row: dict[str, str]) -> None:
    assert set(labels(row)) == {"supported"}


@pytest.mark.parametrize("row", EDITED, ids=lambda row: f"{row['half']}-{row['kind']}-{row['record']}")
def test_no_edited_text_passes_for_a_quotation_of_its_abstract(row: dict[str, str]) -> None:
    alignment = align_quote(row["text"], record_of(row["record"]).text, 75)
    # What a dropped clause leaves are the source's own words; that they say more is for the judges to see.
    assert not alignment.stands or row["kind"] == "clause dropped"
