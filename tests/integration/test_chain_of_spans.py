"""The chain that is the product: from the words highlighted on the page back to the checksum of the source file."""

from __future__ import annotations

import asyncio
import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from isal import igzip

from medcite.assembly import demo_settings
from medcite_core.embedding.factory import build_embedder
from medcite_core.index.factory import open_index
from medcite_core.ports import CorpusIndex
from medcite_core.settings import Settings
from medcite_ingestion.demo import CORPUS_FILE, DEMO_DIR, demo_questions, load_demo, worked_example
from medcite_middleware.events import AnswerOut, FinishedEvent
from medcite_middleware.pipeline.ask import AskRequest
from medcite_middleware.services import Services, build_services
from medcite_middleware.services.verifying import Against, CheckInput


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    settings = demo_settings(Settings(data_dir=tmp_path_factory.mktemp("chain")))
    opened = open_index(settings, build_embedder(settings.embedding).identity, create=True)
    report = load_demo(opened, settings.index)
    assert not report.is_partial
    return opened


@pytest.fixture(scope="module")
def services(index: CorpusIndex, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("chain"))
    embedder = build_embedder(settings.embedding)
    embedder.embed_query("ready")
    built = build_services(settings, index, embedder, None, corpus_name="Demo")
    yield built
    asyncio.run(built.close())


def pmids_in_file_order(path: Path) -> list[str]:
    """Read with another parser than ours, which only looks at the element that holds a citation's own PMID."""
    with igzip.open(path, "rb") as stream:
        root = ET.fromstring(stream.read())
    pmids = []
    for citation in root:
        element = citation.find("./MedlineCitation/PMID")
        if element is None:
            element = citation.find("./BookDocument/PMID")
        assert element is not None
        pmids.append(element.text or "")
    return pmids


@pytest.mark.parametrize("question", [q["question"] for q in demo_questions()])
def test_highlighted_words_lead_back_to_the_checksum_of_the_file(
    question: str, services: Services, index: CorpusIndex
) -> None:
    answer = asyncio.run(services.ask.answer(AskRequest(question)))
    path = DEMO_DIR / CORPUS_FILE
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    order = pmids_in_file_order(path)

    assert answer.outcome == "answered"
    assert answer.mode == "quotations"
    assert answer.groundedness is None
    assert answer.claims
    evidence = {e.number: e for e in answer.evidence}
    for claim, verdict in zip(answer.claims, answer.verdicts, strict=True):
        assert answer.text[claim.span.start : claim.span.end] == claim.text  # the sentence on the page
        assert verdict.label == "supported"
        for proof in verdict.proofs:
            assert proof.kind == "quote"
            assert proof.span is not None
            shown = evidence[proof.evidence_number or 0]
            assert shown.record.text[proof.span.start : proof.span.end] == proof.text  # the highlighted words
            assert proof.text in claim.text
            assert shown.record.text[shown.span.start : shown.span.end] == shown.text  # the passage
            pmid, _, place = shown.chunk_id.partition(":")
            start, end = (int(n) for n in place.split("-"))
            stored = index.get([pmid])[pmid]
            assert stored.text == shown.record.text  # the record
            assert stored.text[start:end] in stored.text[shown.span.start : shown.span.end]  # the chunk
            assert stored.provenance.file_name == path.name
            assert order[stored.provenance.position] == pmid  # its place in the file
            assert stored.provenance.sha256 == checksum  # the file


def test_each_example_question_is_answered_from_the_record_that_holds_the_answer(services: Services) -> None:
    for example in demo_questions():
        answer = asyncio.run(services.ask.answer(AskRequest(example["question"])))
        quoted = {p.pmid for v in answer.verdicts for p in v.proofs}
        assert example["pmid"] in quoted, example["question"]


def test_the_altered_sentence_of_the_worked_example_is_caught_and_no_other(services: Services) -> None:
    example = worked_example()
    answer = asyncio.run(checked(services, example["answer"], example["pmids"]))
    labels = {c.text: v.label for c, v in zip(answer.claims, answer.verdicts, strict=True)}
    altered = [text for text in labels if example["altered"]["sentence"] in text]
    assert len(altered) == 1
    assert labels.pop(altered[0]) == "contradicted"
    assert set(labels.values()) == {"supported"}


async def checked(services: Services, text: str, pmids: list[str]) -> AnswerOut:
    run = await services.verify.start(CheckInput(text), Against(pmids=tuple(pmids)))
    async with aclosing(run.watch()) as events:
        async for item in events:
            if item is not None and isinstance(item[1], FinishedEvent):
                return item[1].answer
    raise AssertionError("the check did not finish")
