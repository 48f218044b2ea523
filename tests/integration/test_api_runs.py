"""Runs over real connections: heartbeats, resuming wherever a stream was dropped, cancelling, too many at once."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest
from support.live_service import ASPIRIN_ANSWER as ANSWER
from support.live_service import ASPIRIN_QUESTION as QUESTION
from support.live_service import LiveService, small_service
from support.llm_server import LLMServer, Reply
from support.run_events import answer_of, assert_law, types
from support.sse_reader import Reader


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


@pytest.mark.parametrize("path", ["/api/ask", "/api/verify"])
def test_a_reply_names_its_run_before_its_first_event_so_that_a_reader_who_got_none_can_go_on(
    quoting: LiveService, path: str
) -> None:
    body = {"question": QUESTION} if path == "/api/ask" else {"text": "Aspirin helped [1].", "sources": ["101"]}
    with quoting.client.stream("POST", path, json=body) as response:
        run_id = response.headers["x-run-id"]
    messages = quoting.resume(run_id, "")
    assert_law(messages)
    assert messages[0].json["run_id"] == run_id


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
    assert len([chat for chat in llm_server.chats if "Judge the claim" not in chat.prompt]) == 1


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
