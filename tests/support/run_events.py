"""What the events of a run and the errors of the service must be like, whatever was asked."""

from __future__ import annotations

from typing import Any

import httpx
from support.sse_reader import Message


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
    (shown,) = by_type["evidence"]
    added = [item for event in by_type.get("evidence_added", []) for item in event["evidence"]]
    assert [answer["evidence"], answer["search"]] == [shown["evidence"] + added, shown["search"]]
    assert answer["claims"] == [event["claim"] for event in by_type.get("claim", [])]
    # Claims are checked side by side: verdicts come as they are reached.
    reached = {event["verdict"]["claim_id"]: event["verdict"] for event in by_type.get("verdict", [])}
    assert answer["verdicts"] == [reached[claim["id"]] for claim in answer["claims"]]
    assert [v["claim_id"] for v in answer["verdicts"]] == [c["id"] for c in answer["claims"]]
    assert [e["number"] for e in answer["evidence"]] == list(range(1, len(answer["evidence"]) + 1))
    for claim in answer["claims"]:
        assert answer["text"][claim["span"]["start"] : claim["span"]["end"]] == claim["text"]
    for item in answer["evidence"]:
        assert item["record"]["text"][item["span"]["start"] : item["span"]["end"]] == item["text"]
    texts = {item["pmid"] or item["record"]["document"]: item["record"]["text"] for item in answer["evidence"]}
    for proof in (proof for verdict in answer["verdicts"] for proof in verdict["proofs"] if proof["kind"] == "quote"):
        text = texts[proof["pmid"] or proof["document"]]
        assert text[proof["span"]["start"] : proof["span"]["end"]] == proof["text"]


def error_of(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error of a reply, after its shape was checked."""
    assert response.status_code == status, response.text
    body = response.json()
    assert list(body) == ["error"]
    error = body["error"]
    assert set(error) == {"code", "message", "hint", "retryable", "request_id"}
    assert error["code"] == code, error
    assert error["request_id"] == response.headers["x-request-id"]
    assert len(error["message"]) > 5
    assert len(error["hint"]) > 5
    assert "Traceback" not in response.text
    assert ".py" not in response.text
    return error
