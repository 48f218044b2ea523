"""Questions over HTTP, through real connections, a real index, the real pipeline and a scripted chat server."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.live_service import LiveService, small_service
from support.llm_server import LLMServer, Reply
from support.sse_reader import Message, Reader

QUESTION = "Does aspirin lower recurrent stroke?"
ANSWER = (
    "Aspirin lowered recurrent stroke ",
    "from 18.4% to 12.1% in 2,431 patients [1].",
    " It cures everything [1].",
)


@pytest.fixture(scope="module")
def quoting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service without a chat model."""
    with small_service(tmp_path_factory.mktemp("quoting"), server__run_grace_s=5.0) as live:
        yield live


@pytest.fixture
def generating(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A service with the scripted chat server."""
    llm_server.default = Reply(pieces=ANSWER)
    with small_service(
        tmp_path,
        llm_server.base_url,
        server__heartbeat_s=0.1,
        server__run_grace_s=2.0,
        llm__timeout_s=1.5,
        llm__retries=0,
    ) as live:
        yield live


def types(messages: list[Message]) -> list[str]:
    return [m.event for m in messages]


def answer_of(messages: list[Message]) -> dict[str, Any]:
    assert messages[-1].event == "finished", messages[-1]
    return messages[-1].json["answer"]


def assert_law(messages: list[Message]) -> None:
    """The finished answer equals what the earlier events built up, and its parts fit together."""
    answer = answer_of(messages)
    by_type: dict[str, list[Any]] = {}
    for message in messages:
        by_type.setdefault(message.event, []).append(message.json)
    assert [m.id for m in messages] == [str(n) for n in range(1, len(messages) + 1)]
    assert messages[0].event == "run"
    assert answer["text"] == "".join(event["delta"] for event in by_type["text"])
    assert [answer["evidence"], answer["search"]] == [by_type["evidence"][0][key] for key in ("evidence", "search")]
    assert answer["claims"] == [event["claim"] for event in by_type.get("claim", [])]
    assert answer["verdicts"] == [event["verdict"] for event in by_type.get("verdict", [])]
    assert [v["claim_id"] for v in answer["verdicts"]] == [c["id"] for c in answer["claims"]]
    assert [e["number"] for e in answer["evidence"]] == list(range(1, len(answer["evidence"]) + 1))
    for claim in answer["claims"]:
        assert answer["text"][claim["span"]["start"] : claim["span"]["end"]] == claim["text"]
    for item in answer["evidence"]:
        assert item["record"]["text"][item["span"]["start"] : item["span"]["end"]] == item["text"]
    texts = {item["pmid"]: item["record"]["text"] for item in answer["evidence"]}
    for proof in (proof for verdict in answer["verdicts"] for proof in verdict["proofs"]):
        assert texts[proof["pmid"]][proof["span"]["start"] : proof["span"]["end"]] == proof["text"]


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
    assert set(answer["versions"]) == {"medcite", "embedding_model", "chat_model", "prompt", "judge"}
    assert answer["versions"]["chat_model"] == "stub-model"
    assert all(answer["timings_ms"][name] >= 0 for name in ("search", "first_text", "write", "check", "total"))
    assert types(messages).count("text") >= 2
    assert types(messages).index("text") < types(messages).index("claim")


def test_fr_108_number_one_in_an_answer_is_the_source_that_the_model_saw_as_number_one(
    generating: LiveService, llm_server: LLMServer
) -> None:
    answer = answer_of(generating.ask(QUESTION))
    first = answer["evidence"][0]
    prompt = llm_server.chats[-1].prompt
    opening = re.search(r"<(\w+) 1>", prompt)
    assert opening
    seen_as_one = prompt[opening.end() : prompt.index(f"</{opening.group(1)} 1>")]
    assert f"PMID {first['pmid']}" in seen_as_one
    assert first["text"] in seen_as_one
    assert answer["verdicts"][0]["proofs"][0]["evidence_number"] == 1
    assert answer["verdicts"][0]["proofs"][0]["pmid"] == first["pmid"] == "101"


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


# ---------------------------------------------------------------- connections


def test_fr_123_heartbeats_keep_a_stream_alive_while_the_model_is_slow(
    generating: LiveService, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=ANSWER, delay_s=0.6, gap_s=0.3))
    reader, messages, gaps, last = Reader(), [], [], time.monotonic()
    body = {"question": QUESTION}
    with generating.client.stream("POST", "/api/ask", json=body) as response:
        for chunk in response.iter_raw():
            gaps.append(time.monotonic() - last)
            last = time.monotonic()
            messages += reader.feed(chunk)
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        assert "no-cache" in response.headers["cache-control"]
        assert "content-encoding" not in response.headers
    assert len(reader.comments) >= 5
    assert max(gaps[1:]) < 0.6
    assert_law(messages)


def test_a_stream_dropped_at_any_event_is_resumed_to_the_identical_sequence(quoting: LiveService) -> None:
    whole = quoting.ask(QUESTION)
    for cut in range(1, len(whole)):
        with quoting.watching("/api/ask", {"question": QUESTION}) as messages:
            head = [next(messages) for _ in range(cut)]
        tail = quoting.resume(head[0].json["run_id"], head[-1].id)
        both = head + tail
        assert_law(both)
        assert [m.id for m in both] == [m.id for m in whole]
        assert types(both) == types(whole)
        assert answer_of(both)["verdicts"] == answer_of(whole)["verdicts"]
    again = quoting.resume(head[0].json["run_id"], "")
    assert again == both


def test_a_stream_dropped_while_the_model_writes_goes_on_and_loses_nothing(
    generating: LiveService, llm_server: LLMServer
) -> None:
    pieces = (*(f"Word{n} " for n in range(20)), "end [1].")
    llm_server.script(Reply(pieces=pieces, gap_s=0.03))
    with generating.watching("/api/ask", {"question": QUESTION}) as messages:
        head = []
        for message in messages:
            head.append(message)
            if message.event == "text":
                break
    time.sleep(0.2)
    tail = generating.resume(head[0].json["run_id"], head[-1].id)
    assert_law(head + tail)
    assert answer_of(tail)["text"] == "".join(pieces)
    assert len(llm_server.chats) == 1


def test_a_run_nobody_watches_is_cancelled_and_the_model_connection_closed(
    tmp_path: Path, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=("Aspirin ",), hang=True)
    with small_service(tmp_path, llm_server.base_url, server__run_grace_s=0.2, llm__timeout_s=60.0) as live:
        with live.watching("/api/ask", {"question": QUESTION}) as messages:
            run_id = next(messages).json["run_id"]
            assert llm_server.piece_sent.wait(10)
        assert llm_server.client_left.wait(5)
        time.sleep(0.05)
        assert live.services.runs.active == 0
        time.sleep(0.5)
        assert live.client.get(f"/api/runs/{run_id}/events").status_code == 404


def test_delete_cancels_at_once_and_closes_the_model_connection_whenever_it_comes(
    tmp_path: Path, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=("Aspirin ", "lowers ", "it "), hang=True)
    with small_service(tmp_path, llm_server.base_url, llm__timeout_s=60.0) as live:
        for wait_ms in range(0, 24, 2):
            llm_server.piece_sent.clear()
            llm_server.client_left.clear()
            with live.watching("/api/ask", {"question": QUESTION}) as messages:
                run_id = next(messages).json["run_id"]
                assert llm_server.piece_sent.wait(10)
                time.sleep(wait_ms / 1000)
                started = time.monotonic()
                assert live.client.delete(f"/api/runs/{run_id}").status_code == 204
                rest = list(messages)
                assert time.monotonic() - started < 2
                assert rest[-1].event == "cancelled"
                assert "finished" not in types(rest)
                assert live.client.delete(f"/api/runs/{run_id}").status_code == 204
            assert llm_server.client_left.wait(2), f"still open after {wait_ms} ms"


def test_leaving_while_a_whole_answer_is_made_closes_the_model_connection(
    tmp_path: Path, llm_server: LLMServer
) -> None:
    llm_server.default = Reply(pieces=("Aspirin ",), hang=True)
    with small_service(tmp_path, llm_server.base_url, llm__timeout_s=60.0) as live:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{live.base_url}/api/answer", json={"question": QUESTION}, timeout=httpx.Timeout(5, read=1.5))
        assert llm_server.client_left.wait(3)
        deadline = time.monotonic() + 3
        while live.services.runs.active and time.monotonic() < deadline:
            time.sleep(0.02)
        assert live.services.runs.active == 0


def test_more_questions_than_places_are_refused_with_429_and_places_come_back(
    tmp_path: Path, llm_server: LLMServer
) -> None:
    llm_server.script(Reply(pieces=("Aspirin ",), hang=True))
    llm_server.default = Reply(pieces=ANSWER)
    with small_service(tmp_path, llm_server.base_url, server__max_runs=1, llm__timeout_s=60.0) as live:
        with live.watching("/api/ask", {"question": QUESTION}) as messages:
            run_id = next(messages).json["run_id"]
            assert llm_server.piece_sent.wait(10)
            for path in ("/api/ask", "/api/answer"):
                refused = live.client.post(path, json={"question": QUESTION})
                assert refused.status_code == 429
                assert refused.json()["error"]["code"] == "busy"
                assert refused.json()["error"]["retryable"] is True
                assert "retry-after" in refused.headers
            live.client.delete(f"/api/runs/{run_id}")
        assert answer_of(live.ask(QUESTION))["outcome"] == "answered"


@pytest.mark.parametrize("last_id", ["x", "-1", "1.5", "9" * 30, "²"])
def test_a_last_event_id_that_is_no_number_of_an_event_is_refused(quoting: LiveService, last_id: str) -> None:
    run_id = quoting.ask(QUESTION)[0].json["run_id"]
    headers = {"Last-Event-ID": last_id.encode("utf-8")}
    response = quoting.client.get(f"/api/runs/{run_id}/events", headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_input")


def test_a_run_that_does_not_exist_is_404_for_all_that_can_be_done_with_it(quoting: LiveService) -> None:
    for response in (quoting.client.get("/api/runs/nope/events"), quoting.client.delete("/api/runs/nope")):
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


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
