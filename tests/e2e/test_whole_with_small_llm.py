"""The whole of medcite with a real small language model: demo corpus, hybrid search, HTTP, events, verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.live_service import serving
from support.small_llm import SmallLLM

from medcite.assembly import demo_settings
from medcite_core.embedding.factory import build_embedder
from medcite_core.index.factory import open_index
from medcite_core.settings import Settings
from medcite_ingestion.demo import load_demo
from medcite_middleware.llm.chat_model import build_chat_model
from medcite_middleware.services import build_services

pytestmark = [pytest.mark.llm, pytest.mark.slow]


def test_a_question_is_searched_answered_by_the_model_and_checked(small_llm: SmallLLM, tmp_path: Path) -> None:
    llm = {
        "provider": "openai",
        "base_url": small_llm.base_url,
        "model": small_llm.model,
        "context_tokens": 2048,
        "max_tokens": 200,
        "timeout_s": 120,
    }
    # A window of 2,048 tokens keeps the small model's reading of the prompt short; the weakest passages are left out.
    settings = Settings.model_validate({"data_dir": tmp_path, "llm": llm})
    demo = demo_settings(settings)
    embedder = build_embedder(demo.embedding)
    index = open_index(demo, embedder.identity, create=True)
    load_demo(index, demo.index)
    embedder.embed_query("ready")
    services = build_services(settings, index, embedder, build_chat_model(settings.llm), corpus_name="Demo")

    with serving(services, settings) as live:
        live.client.timeout = 180
        messages = live.ask("Does atorvastatin shrink chronic subdural hematomas?")

    events = [json.loads(m.data) for m in messages]
    assert events[0]["type"] == "run"
    evidence = next(e for e in events if e["type"] == "evidence")
    assert "30073290" in {e["pmid"] for e in evidence["evidence"]}
    assert evidence["search"]["mode"] == "hybrid"
    text = "".join(e["delta"] for e in events if e["type"] == "text")
    assert text
    last = events[-1]
    assert last["type"] in ("finished", "incomplete"), last
    if last["type"] == "incomplete":  # it may not come to an end in 200 tokens; then it must not pass for an answer
        assert last["error"]["code"] == "model_reply_cut"
        assert last["text"].strip() == text.strip()
        return
    answer = last["answer"]
    assert answer["text"] == text
    assert answer["mode"] == "generated"
    assert [c["id"] for c in answer["claims"]] == [v["claim_id"] for v in answer["verdicts"]]
    records = {e["number"]: e["record"] for e in answer["evidence"]}
    for claim, verdict in zip(answer["claims"], answer["verdicts"], strict=True):
        assert text[claim["span"]["start"] : claim["span"]["end"]] == claim["text"]
        if not claim["cited"]:
            assert verdict["label"] != "supported"
        for proof in verdict["proofs"]:
            source = records[proof["evidence_number"]]["text"]
            assert source[proof["span"]["start"] : proof["span"]["end"]] == proof["text"]
