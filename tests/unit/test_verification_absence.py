"""Absence of words in a text needs a complete scan, absence of an event an explicit statement."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from medcite_core.answers import QuoteProof, ScanProof, Verdict
from medcite_core.documents import Block, Document
from medcite_core.ports import Case
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Notice, Record, Source, Span, assemble_text
from medcite_middleware.verification.absence import absence_verdict
from medcite_middleware.verification.claims import split_text
from medcite_middleware.verification.policy import is_open
from medcite_middleware.verification.rules import RulesJudge

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"
TEXT_PAIRS = json.loads((GOLDEN / "absence_of_text.json").read_text("utf-8"))
EVENT_PAIRS = json.loads((GOLDEN / "absence_of_event.json").read_text("utf-8"))


def document(text: str, pages: int | None = None, read: int | None = None, unread: tuple[str, ...] = ()) -> Document:
    """A document whose paragraphs are blocks, one on each page where it has any."""
    blocks = []
    start = 0
    for number, part in enumerate(text.split("\n\n"), 1):
        blocks.append(Block("paragraph", Span(start, start + len(part)), page=number if pages else None))
        start += len(part) + 2
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Document(f"doc:{digest[:16]}", "leaflet.txt", text, tuple(blocks[:read]), digest, pages, unread)


def record(body: str, title: str = "A trial.", **fields: object) -> Record:
    text, sections = assemble_text(title, [("RESULTS", "RESULTS", body)])
    return replace(Record("9", 1, title, sections, text), **fields)  # type: ignore[arg-type]


def judge(claim_text: str, *sources: Source, given: bool = True, others: tuple[str, ...] = ()) -> Verdict:
    (claim,) = split_text(claim_text).claims
    evidence = tuple(
        Evidence(n, s, f"{s.source_id}:0-1", "", Span(0, len(s.text)), s.text, 1.0) for n, s in enumerate(sources, 1)
    )
    ids = frozenset([*(s.source_id for s in sources), *others]) if given else frozenset[str]()
    verdict = RulesJudge(VerifySettings()).judge(Case(claim, claim_text, evidence, ids))
    by_id = {s.source_id: s for s in sources}
    for proof in verdict.proofs:
        if isinstance(proof, QuoteProof):
            assert proof.span.of(by_id[proof.document or proof.pmid].text) == proof.text
    return verdict


def scan_of(verdict: Verdict) -> ScanProof:
    (scan,) = [p for p in verdict.proofs if isinstance(p, ScanProof)]
    return scan


def test_there_are_forty_pairs_of_each_kind_at_least() -> None:
    assert len(TEXT_PAIRS) >= 40
    assert len(EVENT_PAIRS) >= 40


@pytest.mark.parametrize(("claim", "text", "label"), TEXT_PAIRS)
def test_words_are_absent_only_when_no_form_of_them_is_found(claim: str, text: str, label: str) -> None:
    assert split_text(claim).claims[0].kind == "absence"
    verdict = judge(claim, document(text))
    assert verdict.label == label, verdict
    if label == "supported":
        scan = scan_of(verdict)
        assert (verdict.reason, scan.shows, scan.is_complete) == ("absence_scan", "supports", True)
        assert scan.blocks_scanned == scan.blocks_total == 1
    if label == "contradicted":
        assert [p.shows for p in verdict.proofs] == ["contradicts", "contradicts"]


@pytest.mark.parametrize(("claim", "text", "label"), EVENT_PAIRS)
def test_an_event_is_absent_only_when_the_source_says_so(claim: str, text: str, label: str) -> None:
    assert split_text(claim).claims[0].kind == "absence"
    for source in (document(text), record(text)):
        verdict = judge(claim, source)
        assert verdict.label == label, verdict
        if label == "unsupported":
            assert verdict.reason == "silence"
            assert scan_of(verdict).forms_tried


def test_a_receipt_names_what_was_read_and_the_forms_tried() -> None:
    text = "First page.\n\nSecond page on starch.\n\nThird page."
    verdict = judge("The label does not mention haemorrhage.", document(text, pages=3))
    scan = scan_of(verdict)
    assert (scan.pages_scanned, scan.pages_total, scan.blocks_scanned) == (3, 3, 3)
    assert {"haemorrhage", "bleeding"} <= set(scan.forms_tried)
    assert "leaflet.txt" in verdict.explanation


def test_fr_229_an_incomplete_scan_supports_no_absence_and_says_how_far_it_got() -> None:
    claim = (GOLDEN / "FR-229-claim.txt").read_text("utf-8").strip()
    text = "\n\n".join(f"Page {n} is about bandages." for n in range(1, 401))
    whole = judge(claim, document(text, pages=400))
    assert whole.label == "supported"
    part = judge(claim, document(text, pages=400, read=120))
    assert (part.label, part.reason, part.searched) == ("unchecked", "scan_incomplete", "searched 120 of 400 pages")
    assert "searched 120 of 400 pages" in part.explanation
    assert (scan_of(part).shows, scan_of(part).is_complete) == ("nothing", False)
    # What was found in the part that was read is found, whatever was not read.
    found = judge(claim, document(text.replace("Page 7 is", "Adverse events are"), pages=400, read=120))
    assert found.label == "contradicted"


def test_a_part_without_text_leaves_an_absence_open_and_is_named() -> None:
    verdict = judge("The document does not mention lactose.", document("Starch.", unread=("page 2: a picture",)))
    assert (verdict.label, verdict.reason) == ("unchecked", "scan_incomplete")
    assert "page 2: a picture" in verdict.searched


def test_sources_that_nobody_gave_support_no_absence() -> None:
    claim = "The document does not mention lactose [1]."
    assert judge(claim, document("Starch.")).label == "supported"
    assert judge(claim, document("Starch."), given=False).label == "unchecked"
    # One of the sources given has not been read at all.
    uncited = "The document does not mention lactose."
    assert judge(uncited, document("Starch."), others=("doc:0000000000000000",)).label == "unchecked"


@pytest.mark.parametrize(
    "text",
    [
        "Die Tabletten enthalten Laktose und werden mit Wasser eingenommen. Das ist nicht für Kinder.",
        "Таблетки содержат лактозу и принимаются с водой каждое утро.",
    ],
)
def test_a_text_in_another_language_or_script_leaves_an_absence_open(text: str) -> None:
    verdict = judge("The leaflet does not mention lactose.", document(text))
    assert (verdict.label, verdict.reason) == ("unchecked", "scan_incomplete")
    assert "English" in verdict.searched


def test_of_a_paper_a_record_holds_only_the_abstract() -> None:
    assert judge("The paper does not mention lactose.", record("Starch was given.")).label == "unchecked"
    verdict = judge("The abstract does not mention lactose.", record("Starch was given."))
    assert verdict.label == "supported"
    empty = replace(record("x"), sections=record("x").sections[:1], text="A trial.")
    assert judge("The abstract does not mention lactose.", empty).label == "unchecked"


def test_found_in_one_of_several_documents_is_left_to_a_person() -> None:
    one, other = document("Starch."), document("Lactose.")
    assert judge("The label does not mention lactose.", one, other).label == "unchecked"
    assert judge("The label does not mention maize.", one, other).label == "supported"
    assert judge("The label does not mention lactose [2].", one, other).label == "contradicted"


def test_a_retracted_record_supports_no_absence() -> None:
    withdrawn = record("No deaths occurred. Starch was given.", notices=(Notice("retracted", "8", "Lancet. 2020"),))
    assert judge("No deaths occurred [1].", withdrawn).label == "unsupported"
    assert judge("The abstract does not mention lactose.", withdrawn).label == "unsupported"


def test_silence_of_a_record_without_abstract_is_not_read_as_silence() -> None:
    empty = replace(record("x"), sections=record("x").sections[:1], text="A trial.")
    verdict = judge("No deaths occurred [1].", empty)
    assert (verdict.label, verdict.reason) == ("unchecked", "scan_incomplete")


@pytest.mark.parametrize(
    "variant",
    ["", "one death occurred", "mortality was 2%", "two patients died", "one fatal outcome occurred", "Deaths 1"],
)
def test_fr_230_a_death_anywhere_in_the_text_denies_that_there_were_none(variant: str) -> None:
    claim = (GOLDEN / "FR-230-claim.txt").read_text("utf-8").strip()
    text = (GOLDEN / "FR-230-with.txt").read_text("utf-8").strip()
    if variant:
        text = text.replace("One participant died of sepsis", variant)
    verdict = judge(claim, document(text))
    assert verdict.label == "contradicted"
    (proof,) = verdict.proofs
    assert isinstance(proof, QuoteProof)
    assert (variant or "one participant died").casefold() in proof.text.casefold()


def test_fr_230_an_explicit_statement_supports_it() -> None:
    claim = (GOLDEN / "FR-230-claim.txt").read_text("utf-8").strip()
    assert judge(claim, document((GOLDEN / "FR-230-without.txt").read_text("utf-8"))).label == "supported"


def test_a_claim_of_another_kind_or_without_a_source_is_left_to_the_other_rules() -> None:
    (claim,) = split_text("Aspirin thins blood.").claims
    assert absence_verdict(Case(claim, "Aspirin thins blood.", ())) is None
    (absent,) = split_text("No deaths occurred.").claims
    assert absence_verdict(Case(absent, "No deaths occurred.", ())) is None


def test_words_that_a_search_did_not_find_are_not_shown_to_be_absent() -> None:
    text = "The label does not mention lactose."
    (claim,) = split_text(text).claims
    source = document("Starch.")
    found = (Evidence(1, source, "", "", Span(0, 7), "Starch.", 1.0),)
    verdict = RulesJudge(VerifySettings()).judge(Case(claim, text, found))
    # A reason that leaves it open for no other judge.
    assert (verdict.label, verdict.reason) == ("unchecked", "scan_incomplete")
    assert not is_open(Case(claim, text, found), verdict)


def test_fr_228_what_a_document_does_not_treat_is_neither_true_nor_false() -> None:
    text = (GOLDEN / "FR-228-doc.txt").read_text("utf-8").strip()
    for row in csv.DictReader((GOLDEN / "FR-228-claims.csv").open(encoding="utf-8")):
        assert judge(row["claim"], document(text)).label in ("unchecked", "unsupported")
        topic = row["claim"].split()[0]
        assert judge(f"The document does not mention {topic}.", document(text)).label == "supported"
