"""A chat model's verdicts are kept by their content: replayed for the same, asked for again for anything else."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from support.records import a_record, evidence_of

from medcite_core.answers import ComputationProof, Operand, QuoteProof, ScanProof, Verdict
from medcite_core.ports import Case
from medcite_core.settings import LLMSettings, VerifySettings
from medcite_core.types import Span
from medcite_middleware.verification.claims import claim_of
from medcite_middleware.verification.sources import quote_proof
from medcite_middleware.verification.verdict_store import VerdictStore, replayed, verdict_key, what_changed

CLAIM = "Drug A lowers pressure."
EVIDENCE = evidence_of(a_record("100"), a_record("200", "Drug A again.", year=2021))
CASE = Case(claim_of(CLAIM), CLAIM, EVIDENCE)


def key(case: Case = CASE, prompt: str = "judge.v1", **llm: object) -> str:
    return verdict_key(case, LLMSettings.model_validate({"model": "m", **llm}), VerifySettings(), prompt)


def a_verdict() -> Verdict:
    quote = quote_proof(EVIDENCE[0], Span(EVIDENCE[0].span.start, EVIDENCE[0].span.start + 10), "supports")
    sums = ComputationProof("a + b", (Operand("a", 2.0, quote),), 3.0, 3.0, 0.5, "supports")
    scan = ScanProof(("100",), 1, 2, ("x",), False, "nothing", unread_parts=("page 3",))
    return Verdict(
        "c1",
        "supported",
        "paraphrase",
        "It says so.",
        (quote, sums, scan),
        judge="chat",
        model="m",
        confidence=0.9,
        calls=2,
    )


def test_what_was_put_comes_back_equal_in_another_process(tmp_path: Path) -> None:
    VerdictStore(tmp_path / "data" / "verdicts.sqlite").put(key(), a_verdict())
    assert VerdictStore(tmp_path / "data" / "verdicts.sqlite").get(key()) == a_verdict()
    assert VerdictStore(tmp_path / "other.sqlite").get(key()) is None
    assert not (tmp_path / "other.sqlite").exists()


@pytest.mark.parametrize(
    "other",
    [
        key(replace(CASE, claim=claim_of("Drug A raises pressure."))),
        key(replace(CASE, question="Does drug A help?")),
        key(replace(CASE, evidence=EVIDENCE[:1])),
        key(replace(CASE, evidence=EVIDENCE[::-1])),
        key(prompt="judge.v2"),
        key(model="another"),
        key(temperature=1.0),
        key(structured_output="prompt"),
    ],
)
def test_anything_that_a_verdict_depends_on_changes_its_key(other: str) -> None:
    assert other != key()


def test_where_a_claim_stands_and_how_its_evidence_is_numbered_change_nothing() -> None:
    moved = replace(CASE, claim=replace(claim_of(CLAIM, "c9", 40), cited=(7,)), text="x" * 40 + CLAIM)
    renumbered = replace(moved, evidence=tuple(replace(e, number=e.number + 5) for e in EVIDENCE))
    assert key(renumbered) == key()
    again = replayed(a_verdict(), renumbered)
    quote, sums, _ = again.proofs
    assert isinstance(quote, QuoteProof)
    assert isinstance(sums, ComputationProof)
    assert (again.claim_id, again.calls, quote.evidence_number) == ("c9", 0, 6)
    assert sums.operands[0].quote.evidence_number == 6


def test_a_row_that_cannot_be_read_is_as_good_as_none(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    store.put("k", a_verdict())
    with sqlite3.connect(tmp_path / "v.sqlite") as database:
        database.execute('UPDATE verdicts SET verdict = \'{"claim_id": "c1", "label": "supported"}\'')
    assert store.get("k") is None


def test_many_threads_put_and_get_at_once(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    threads = [threading.Thread(target=store.put, args=(f"k{n}", a_verdict())) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(store.get(f"k{n}") == a_verdict() for n in range(20))


def test_asking_anew_shows_what_changed() -> None:
    before = a_verdict()
    fallen = replace(before, label="unchecked", proofs=())
    assert what_changed(before, before) == ""
    assert what_changed(before, fallen) == "Asked anew: unchecked, before supported."
    assert "other words" in what_changed(before, replace(before, proofs=before.proofs[:1]))
