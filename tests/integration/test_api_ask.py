"""Questions over HTTP, through real connections, a real index, the real pipeline and a scripted chat server."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.live_service import ASPIRIN_ANSWER as ANSWER
from support.live_service import ASPIRIN_QUESTION as QUESTION
from support.live_service import LiveService, small_service
from support.llm_server import LLMServer, Reply
from support.run_events import answer_of, assert_law, types


def test_an_answer_without_a_chat_model_is_made_of_checked_quotations_without_a_groundedness_figure(
    quoting: LiveService,
) -> None:
    messages = quoting.ask(QUESTION)
    assert_law(messages)
    answer = answer_of(messages)
    assert (answer["mode"], answer["outcome"], answer["groundedness"]) == ("quotations", "answered", None)
    assert "from 18.4% to 12.1% in 2,431 patients" in answer["text"]
    assert {v["label"] for v in answer["verdicts"]} == {"supported"}
    assert all(c["is_quotation"] for c in answer["claims"])


def test_fr_110_every_source_has_pmid_chunk_offsets_and_passage_and_each_number_leads_to_the_sentence(
    quoting: LiveService,
) -> None:
    answer = answer_of(quoting.ask(QUESTION))
    for claim, verdict in zip(answer["claims"], answer["verdicts"], strict=True):
        cited = {e["number"]: e for e in answer["evidence"]}[claim["cited"][0]]
        assert cited["pmid"] == "101"
        assert cited["chunk_id"].startswith("101:")
        assert verdict["proofs"][0]["text"] in cited["record"]["text"]


def test_a_generated_answer_is_streamed_checked_and_equal_to_its_events(generating: LiveService) -> None:
    messages = generating.ask(QUESTION)
    assert_law(messages)
    answer = answer_of(messages)
    assert answer["mode"] == "generated"
    assert answer["text"] == "".join(ANSWER)
    assert [v["label"] for v in answer["verdicts"]] == ["supported", "unchecked"]
    assert (answer["groundedness"], answer["checked"], answer["total"]) == (0.5, 1, 2)
    versions = {"medcite", "embedding_model", "chat_model", "prompt", "rewrite_prompt", "judge"}
    assert set(answer["versions"]) == versions | {"entailment_model", "reranker_model"}
    assert answer["versions"]["chat_model"] == "stub-model"
    assert all(answer["timings_ms"][name] >= 0 for name in ("search", "first_text", "write", "check", "total"))
    assert types(messages).count("text") >= 2
    assert types(messages).index("text") < types(messages).index("claim")


def test_fr_108_number_one_in_an_answer_is_the_source_that_the_model_saw_as_number_one(
    generating: LiveService, llm_server: LLMServer
) -> None:
    answer = answer_of(generating.ask(QUESTION))
    first = answer["evidence"][0]
    prompt = llm_server.chats[0].prompt  # of the answer; what follows judges its claims
    opening = re.search(r"<(\w+) 1>", prompt)
    assert opening
    seen_as_one = prompt[opening.end() : prompt.index(f"</{opening.group(1)} 1>")]
    assert f"PMID {first['pmid']}" in seen_as_one
    assert first["text"] in seen_as_one
    assert answer["verdicts"][0]["proofs"][0]["evidence_number"] == 1
    assert answer["verdicts"][0]["proofs"][0]["pmid"] == first["pmid"] == "101"


def test_the_chat_model_judges_what_the_rules_leave_open_and_not_when_it_may_not(
    tmp_path: Path, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=ANSWER)
    for use in (True, False):
        with small_service(tmp_path / str(use), llm_server.base_url, verify__use_chat_model=use) as live:
            before = len(llm_server.chats)
            labels = [v["label"] for v in answer_of(live.ask(QUESTION))["verdicts"]]
        judging = [c for c in llm_server.chats[before:] if "Judge the claim" in c.prompt]
        assert bool(judging) is use
        assert all("cures everything" in chat.prompt for chat in judging)
        assert labels == ["supported", "unchecked"]  # a reply that is no judgement decides nothing


def test_white_space_around_a_reply_is_not_part_of_the_answer(generating: LiveService, llm_server: LLMServer) -> None:
    llm_server.script(Reply(pieces=("\n ", "\n Aspirin ", " ", "\n", "helps [1].", " ", "\n\n")))
    messages = generating.ask(QUESTION)
    assert_law(messages)
    assert answer_of(messages)["text"] == "Aspirin  \nhelps [1]."


def test_fr_128_unusual_line_ends_in_a_reply_survive(generating: LiveService, llm_server: LLMServer) -> None:
    tokens = json.loads((Path(__file__).parent.parent / "golden/sse/FR-128-tokens.json").read_text("utf-8"))["tokens"]
    llm_server.script(Reply(pieces=tuple(tokens)))
    assert answer_of(generating.ask(QUESTION))["text"] == "First line\u2028second part\u0085third a\nb"


# ---------------------------------------------------------------- nothing to answer from


def test_fr_140_a_question_the_corpus_does_not_hold_is_refused_in_words_with_numbers_and_no_model_is_asked(
    generating: LiveService, llm_server: LLMServer
) -> None:
    messages = generating.ask("What is the capital of Australia?")
    assert_law(messages)
    answer = answer_of(messages)
    assert answer["outcome"] == "nothing_relevant"
    assert answer["text"].startswith("The corpus holds 5 records; none was relevant enough")
    assert "at least 0.20 is needed" in answer["text"]
    assert answer["claims"] == answer["evidence"] == []
    assert answer["groundedness"] is None
    assert llm_server.chats == []


def test_a_filter_that_lets_nothing_pass_is_told_apart_with_the_numbers_of_its_parts(quoting: LiveService) -> None:
    answer = answer_of(quoting.ask(QUESTION, filters={"year_from": 1950, "year_to": 1960, "keywords": ["aspirin"]}))
    assert answer["outcome"] == "nothing_relevant"
    assert "none passes the filter" in answer["text"]
    assert "years: 0" in answer["text"]
    assert "keywords: 1" in answer["text"]
    assert answer["search"]["applied_filter"] == {"year_from": 1950, "year_to": 1960, "keywords": ["aspirin"]}


def test_fr_141_an_empty_corpus_says_so_and_how_to_fill_it(tmp_path: Path) -> None:
    with small_service(tmp_path, records=()) as live:
        messages = live.ask(QUESTION)
        assert_law(messages)
        answer = answer_of(messages)
        assert answer["outcome"] == "corpus_empty"
        assert "medcite ingest" in answer["text"]
        assert live.client.get("/server_status").json()["serverStatus"] == "NOK"


def test_a_retracted_record_is_found_and_marked_but_not_quoted(quoting: LiveService) -> None:
    answer = answer_of(quoting.ask("Does zetamab cure severe asthma?"))
    assert answer["claims"] == []
    assert "retracted" in answer["text"]
    assert answer["evidence"][0]["record"]["status"] == "retracted"


# ---------------------------------------------------------------- the model fails


def test_fr_125_a_reply_cut_half_way_is_incomplete_and_never_finished(
    generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=("Aspirin lowered ",), cut="reset"))
    messages = generating.ask(QUESTION)
    assert messages[-1].event == "incomplete"
    assert "finished" not in types(messages)
    assert messages[-1].json["text"] == "".join(m.json["delta"] for m in messages if m.event == "text")
    assert messages[-1].json["text"].startswith("Aspirin lowered")
    assert messages[-1].json["error"]["code"] == "model_reply_cut"
    llm_server.script(Reply(pieces=("Aspirin lowered ",), cut="reset"))
    cut = generating.client.post("/api/answer", json={"question": QUESTION})
    assert (cut.status_code, cut.json()["error"]["code"]) == (502, "model_reply_cut")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=401),
        Reply(body="<html><body>It works!</body></html>", content_type="text/html"),
        Reply(hang=True),
        Reply(pieces=()),
    ],
    ids=["500", "401", "html", "silent", "empty"],
)
def test_a_model_that_fails_before_any_text_gives_an_error_with_a_hint_and_the_service_stays_up(
    generating: LiveService, llm_server: LLMServer, reply: Reply
) -> None:
    llm_server.script(reply)
    messages = generating.ask(QUESTION)
    assert messages[-1].event == "error"
    assert "text" not in types(messages)
    error = messages[-1].json["error"]
    assert error["code"].startswith("model_")
    assert len(error["message"]) > 10
    assert len(error["hint"]) > 10
    assert error["request_id"]
    assert generating.client.get("/healthz").status_code == 200
    llm_server.script(reply)
    assert generating.client.post("/api/answer", json={"question": QUESTION}).json()["error"]["code"] == error["code"]


def test_a_model_server_that_is_down_gives_an_error_and_the_service_stays_up(tmp_path: Path) -> None:
    with small_service(tmp_path, "http://127.0.0.1:9/v1", llm__timeout_s=2.0, llm__retries=0) as live:
        messages = live.ask(QUESTION)
        assert messages[-1].event == "error"
        assert messages[-1].json["error"]["code"] == "model_unavailable"
        assert messages[-1].json["error"]["retryable"] is True
        assert live.client.get("/readyz").status_code == 200


# ---------------------------------------------------------------- two at once


def test_users_at_once_never_see_each_others_filter_question_or_records(quoting: LiveService) -> None:
    cases = [
        ("Does aspirin lower recurrent stroke?", {"year_from": 2015, "year_to": 2015}, {"101"}),
        ("Does warfarin increase bleeding?", {"year_from": 2008, "year_to": 2008}, {"102"}),
        ("Does metformin reduce body weight?", {"keywords": ["metformin"]}, {"103"}),
    ]
    barrier = threading.Barrier(6)

    def one(number: int) -> None:
        barrier.wait()
        question, filters, pmids = cases[number % 3]
        for _ in range(4):
            answer = answer_of(quoting.ask(question, filters=filters))
            assert answer["question"] == question
            assert answer["search"]["applied_filter"] == filters
            assert {e["pmid"] for e in answer["evidence"]} == pmids
            found = quoting.client.post("/api/search", json={"query": question, "filters": filters}).json()
            assert {r["record"]["pmid"] for r in found["records"]} == pmids
            assert found["search"]["applied_filter"] == filters

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, range(6)))


# ---------------------------------------------------------------- a given text


def test_a_given_text_is_checked_against_the_records_it_cites_and_the_altered_sentence_is_caught(
    quoting: LiveService,
) -> None:
    text = (
        "Aspirin lowered recurrent stroke from 18.4% to 12.1% in 2,431 patients [1]. "
        "Warfarin reduced major bleeding in elderly patients with atrial fibrillation [2]."
    )
    messages = quoting.stream("/api/verify", {"text": text, "sources": ["101", "102"]})
    assert_law(messages)
    answer = answer_of(messages)
    assert answer["text"] == text
    assert answer["mode"] == "given"
    assert [(e["number"], e["pmid"]) for e in answer["evidence"]] == [(1, "101"), (2, "102")]
    assert [v["label"] for v in answer["verdicts"]] == ["supported", "contradicted"]
    assert answer["groundedness"] == 0.5


def test_a_text_cannot_be_checked_against_a_record_that_is_not_there(quoting: LiveService) -> None:
    response = quoting.client.post("/api/verify", json={"text": "It helps [1].", "sources": ["101", "77"]})
    assert response.status_code == 404
    assert "77" in response.json()["error"]["message"]
