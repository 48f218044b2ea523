"""The start page's worked example, through the service: of real sentences the altered one is caught, and only that."""

from __future__ import annotations

from pathlib import Path

from support.live_service import serving, small_services

from medcite_ingestion.demo import demo_records, worked_example


def test_the_altered_sentence_of_the_worked_example_is_caught_and_no_other(tmp_path: Path) -> None:
    example = worked_example()
    records = [record for record in demo_records() if record.pmid in example["pmids"]]
    services, settings = small_services(tmp_path, records=records)
    with serving(services, settings) as live:
        messages = live.stream("/api/verify", {"text": example["answer"], "sources": example["pmids"]})
    answer = messages[-1].json["answer"]
    labels = {claim["text"]: v["label"] for claim, v in zip(answer["claims"], answer["verdicts"], strict=True)}
    altered = [text for text in labels if text.startswith(example["altered"]["sentence"])]
    assert len(altered) == 1
    assert labels.pop(altered[0]) == "contradicted"
    assert set(labels.values()) == {"supported"}
    proof = next(v["proofs"][0] for v in answer["verdicts"] if v["label"] == "contradicted")
    assert proof["pmid"] == example["altered"]["source"]
    assert proof["text"].startswith(example["altered"]["original"])
