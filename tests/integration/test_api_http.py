"""The HTTP manners of the service: errors in one shape, limits, hosts, headers, logs, readiness, records, searches."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from support.live_service import LiveService, serving, small_services
from support.small_corpus import WordHashEmbedder

from medcite_core.errors import IndexBroken
from medcite_core.settings import ServerSettings
from medcite_middleware.api.app import create_app

OK_BODY = {"question": "Does aspirin lower recurrent stroke?"}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    services, settings = small_services(tmp_path_factory.mktemp("http"), server__max_body_bytes=100_000)
    with serving(services, settings) as service:
        yield service


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


# ---------------------------------------------------------------- bad bodies


@pytest.mark.parametrize("path", ["/api/ask", "/api/answer"])
@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ({"question": ""}, "invalid_input", "question is empty"),
        ({"question": " \n\t "}, "invalid_input", "question is empty"),
        ({"question": "a" * 2001}, "invalid_input", "2,001 characters"),
        ({"question": "a" * 90_000}, "invalid_input", "90,000 characters"),
        ({"question": "aspirin\x00"}, "invalid_input", "U+0000"),
        ({"question": "aspirin\x1b[31m"}, "invalid_input", "U+001B"),
        ({"question": "aspirin\x85"}, "invalid_input", "U+0085"),
        ({"question": 7}, "invalid_input", "question must be text"),
        ({"question": None}, "invalid_input", "question must be text"),
        ({}, "invalid_input", "question is missing"),
        ({"qestion": "x"}, "unknown_key", "did you mean 'question'"),
        ({**OK_BODY, "filter": {}}, "unknown_key", "did you mean 'filters'"),
        ({**OK_BODY, "filters": {"yearfrom": 2000}}, "unknown_key", "did you mean 'year_from'"),
        ({**OK_BODY, "filters": {"year_from": 2020, "year_to": 2010}}, "invalid_input", "reversed"),
        ({**OK_BODY, "filters": {"year_from": 99999}}, "invalid_input", "year_from must be a year"),
        ({**OK_BODY, "filters": {"year_from": "soon"}}, "invalid_input", "year_from must be a year"),
        ({**OK_BODY, "filters": {"title": "a\x00b"}}, "invalid_input", "U+0000"),
        ({**OK_BODY, "filters": {"keywords": [1]}}, "invalid_input", "keywords must be a list of texts"),
        ({**OK_BODY, "filters": []}, "invalid_input", "filters must be an object"),
        ({**OK_BODY, "history": [{"role": "user", "text": "x"}] * 21}, "invalid_input", "history"),
        ({**OK_BODY, "history": [{"role": "system", "text": "obey"}]}, "invalid_input", "history.0.role"),
        ({**OK_BODY, "history": [{"role": "user", "text": "x" * 20_001}]}, "invalid_input", "history.0.text"),
        ({**OK_BODY, "history": "x"}, "invalid_input", "history"),
        ({**OK_BODY, "options": {"k": 51}}, "invalid_input", "options.k"),
        ({**OK_BODY, "options": {"k": 0}}, "invalid_input", "options.k"),
        ({**OK_BODY, "options": {"K": 5}}, "unknown_key", "'k'"),
    ],
)
def test_a_bad_body_is_told_what_is_wrong_with_it(
    live: LiveService, path: str, body: dict[str, Any], code: str, words: str
) -> None:
    error = error_of(live.client.post(path, json=body), 422, code)
    assert words in error["message"]


@pytest.mark.parametrize("raw", [b"", b"{", b"{'question': 1}", b"\xff\xfe", b'{"question": "a"} x', b"[" * 50_000])
def test_a_body_that_is_not_json_is_refused(live: LiveService, raw: bytes) -> None:
    response = live.client.post("/api/answer", content=raw, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)
    error_of(response, response.status_code, response.json()["error"]["code"])


@pytest.mark.parametrize("raw", [b"[]", b'"x"', b"1", b"null", b"[{}]"])
def test_a_body_that_is_no_object_is_refused(live: LiveService, raw: bytes) -> None:
    response = live.client.post("/api/answer", content=raw, headers={"Content-Type": "application/json"})
    assert "JSON object" in error_of(response, 422, "invalid_input")["message"]


def test_half_a_surrogate_pair_never_reaches_the_inside(live: LiveService) -> None:
    for body in (
        '{"question": "a \\ud800"}',
        '{"question": "aspirin", "filters": {"title": "\\udfff"}}',
        '{"question": "aspirin", "filters": {"\\udfff": 1}}',
        '{"question": "aspirin", "\\udfff": 1}',
        '{"question": "aspirin", "history": [{"role": "\\udfff", "text": "x"}]}',
    ):
        response = live.client.post("/api/answer", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 422, body


def test_an_earlier_answer_with_unusual_characters_is_taken_back_as_history(live: LiveService) -> None:
    history = [{"role": "user", "text": "first"}, {"role": "assistant", "text": "odd\x85 \u2028 \x07 text\nof a model"}]
    response = live.client.post("/api/answer", json={**OK_BODY, "history": history})
    assert response.status_code == 200


def test_a_question_is_trimmed_and_its_line_ends_are_made_one_kind(live: LiveService) -> None:
    body = {"question": "  Does aspirin\r\nlower recurrent stroke?\n"}
    assert live.client.post("/api/answer", json=body).json()["question"] == "Does aspirin\nlower recurrent stroke?"
    at_limit = {"question": " " + "stroke " * 285 + "aspir" + " "}
    assert live.client.post("/api/answer", json=at_limit).status_code == 200


@pytest.mark.parametrize("question", ["?!…", "— — —", "OR AND NOT", '"', "title:(x", "* ~ ^ \\", "''; --", "😀😀"])
def test_questions_made_of_signs_and_operators_never_break_the_service(live: LiveService, question: str) -> None:
    response = live.client.post("/api/answer", json={"question": question})
    assert response.status_code in (200, 422)
    if response.status_code == 200:
        assert response.json()["question"] == question


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_a_form_on_another_site_cannot_ask(live: LiveService, content_type: str) -> None:
    for path in ("/api/ask", "/api/answer", "/api/search", "/api/verify"):
        headers = {"Content-Type": content_type} if content_type else {}
        response = live.client.post(path, content=json.dumps(OK_BODY).encode(), headers=headers)
        error_of(response, 415, "unsupported_media_type")


def test_json_with_a_charset_is_json(live: LiveService) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    response = live.client.post("/api/answer", content=json.dumps(OK_BODY), headers=headers)
    assert response.status_code == 200


# ---------------------------------------------------------------- limits and addresses


def test_a_body_that_announces_too_much_is_refused(live: LiveService) -> None:
    response = live.client.post("/api/answer", json={"question": "a" * 100_000})
    assert "100,000 bytes" in error_of(response, 413, "too_large")["message"]


def test_a_body_that_grows_too_large_is_refused_before_it_has_ended(live: LiveService) -> None:
    host, port = live.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        sock.sendall(
            b"POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(11):
            sock.sendall(b"%x\r\n%s\r\n" % (10_000, b"a" * 10_000))
        assert sock.recv(65536).startswith(b"HTTP/1.1 413")
    assert live.client.get("/healthz").status_code == 200


def test_unknown_addresses_and_methods_have_the_same_shape(live: LiveService) -> None:
    for method, path in [
        ("GET", "/api/nope"),
        ("GET", "/api"),
        ("POST", "/nope"),
        ("GET", "/api/records"),
        ("PUT", "/"),
    ]:
        error_of(live.client.request(method, path), 404, "not_found")
    response = live.client.get("/api/ask")
    error_of(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize("pmid", ["7", "0", "abc", "1" * 10, "101%00", "10 1", "１０１", "..", "101;drop"])
def test_a_record_that_is_not_there_is_404(live: LiveService, pmid: str) -> None:
    error_of(live.client.get(f"/api/records/{pmid}"), 404, "not_found")


def test_a_record_is_returned_whole(live: LiveService) -> None:
    record = live.client.get("/api/records/101").json()["record"]
    assert record["pubmed_url"] == "https://pubmed.ncbi.nlm.nih.gov/101/"
    for section in record["sections"]:
        assert record["text"][section["span"]["start"] : section["span"]["end"]]
    assert record["doi_url"].endswith("10.5555/101")
    assert record["pmc_url"].endswith("PMC101/")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_a_host_name_that_is_not_loopback_gets_no_answer(live: LiveService, host: str) -> None:
    for path in ("/", "/api/corpus", "/server_status"):
        error_of(live.client.get(path, headers={"Host": host}), 400, "bad_host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LOCALHOST", "[::1]", "[::1]:8000"])
def test_loopback_names_are_answered(live: LiveService, host: str) -> None:
    assert live.client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("listens_on", "asked_as", "status"),
    [
        ("0.0.0.0", "medcite.example", 200),
        ("::", "medcite.example", 200),
        ("192.168.7.7", "medcite.example", 200),
        ("127.0.0.7", "127.0.0.7", 200),
        ("127.0.0.7", "evil.example", 400),
        ("localhost", "evil.example", 400),
        ("[::1]", "evil.example", 400),
    ],
)
def test_which_names_are_answered_depends_on_where_the_service_listens(
    live: LiveService, listens_on: str, asked_as: str, status: int
) -> None:
    app = create_app(live.services, ServerSettings(host=listens_on), None)

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{asked_as}") as client:
            return await client.get("/healthz")

    assert asyncio.run(get()).status_code == status


def test_every_reply_carries_the_security_headers_and_no_door_for_other_origins(live: LiveService) -> None:
    replies = [
        live.client.get("/"),
        live.client.get("/api/nope"),
        live.client.post("/api/answer", json=OK_BODY),
        live.client.get("/healthz", headers={"Origin": "https://evil.example"}),
        live.client.options(
            "/api/ask", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        ),
        live.client.get("/", headers={"Host": "evil.example"}),
    ]
    for reply in replies:
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "unsafe-inline" not in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in reply.headers
        assert "server" not in reply.headers


def test_a_request_id_is_taken_over_when_it_is_harmless_and_made_otherwise(live: LiveService) -> None:
    assert live.client.get("/healthz", headers={"X-Request-ID": "abc-123"}).headers["x-request-id"] == "abc-123"
    for bad in ("a b", "x" * 65, "<script>", "é".encode(), ""):
        made = live.client.get("/healthz", headers={"X-Request-ID": bad}).headers["x-request-id"]
        assert len(made) == 32


# ---------------------------------------------------------------- what a log may hold


def test_no_log_ever_holds_a_question_a_query_an_identifier_or_a_body(
    live: LiveService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as lines:
        live.client.post("/api/answer", json={"question": "Does Xyzzyoma kill aspirin?"})
        live.client.post("/api/answer", json={"question": "Xyzzyoma\x00"})
        live.client.post("/api/answer", content=b'{"Xyzzyoma', headers={"Content-Type": "application/json"})
        live.client.get("/api/corpus?q=Xyzzyoma")
        live.client.get("/Xyzzyoma?q=Xyzzyoma")
        live.client.get("/api/records/Xyzzyoma")
        live.ask("Does Xyzzyoma lower stroke?")
    requests = [line for line in lines if line["event"] == "request"]
    assert {line["path"] for line in requests} >= {"/api/answer", "/api/corpus", "/api/records/{pmid}", "/api/ask"}
    assert all(line["request_id"] and line["status"] and line["ms"] >= 0 for line in requests)
    assert "yzzyoma" not in repr(lines)
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert "yzzyoma" not in repr(ours)


def test_an_unforeseen_failure_is_logged_with_its_request_id_and_told_without_its_insides(
    live: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the secret question was " + "Xyzzy" + "oma")

    monkeypatch.setattr(type(live.services.records), "get", broken)
    with structlog.testing.capture_logs() as lines:
        response = live.client.get("/api/records/101")
    error = error_of(response, 500, "internal")
    assert "Xyzzyoma" not in response.text + repr(lines)
    failed = next(line for line in lines if line["event"] == "request_failed")
    assert failed["error"] == "RuntimeError"
    assert "in broken" in failed["where"]
    assert next(line for line in lines if line["event"] == "request")["request_id"] == error["request_id"]
    assert live.client.get("/healthz").status_code == 200


def test_an_unforeseen_failure_inside_a_run_ends_it_with_an_error_event(
    live: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the secret question was " + "Xyzzy" + "oma")

    monkeypatch.setattr("medcite_middleware.pipeline.ask.select_evidence", broken)
    with structlog.testing.capture_logs() as lines:
        messages = live.ask(OK_BODY["question"])
        whole = live.client.post("/api/answer", json=OK_BODY)
    assert messages[-1].event == "error"
    assert messages[-1].json["error"]["code"] == "internal"
    error_of(whole, 500, "internal")
    assert "Xyzzyoma" not in repr(lines) + repr(messages) + whole.text


# ---------------------------------------------------------------- state


def test_the_corpus_is_described(live: LiveService) -> None:
    corpus = live.client.get("/api/corpus").json()
    assert (corpus["name"], corpus["records"], corpus["mode"]) == ("Small corpus", 5, "hybrid")
    assert corpus["years"] == [{"year": year, "records": 1} for year in (2008, 2015, 2018, 2019)]
    assert corpus["chunks"] > 5
    assert corpus["chat_model"] == ""
    assert corpus["embedding_model"] == "word-hash"


def test_server_status_has_the_two_fields_of_the_original(live: LiveService) -> None:
    status = live.client.get("/server_status").json()
    assert list(status) == ["serverMessage", "serverStatus"]
    assert status["serverStatus"] == "OK"


def test_while_the_model_loads_searches_go_by_words_and_everything_says_so(tmp_path: Path) -> None:
    embedder = WordHashEmbedder()
    services, settings = small_services(tmp_path, embedder=embedder)
    embedder.state = "loading"
    with serving(services, settings) as loading:
        assert loading.client.get("/readyz").json()["mode"] == "lexical"
        assert "loading" in loading.client.get("/server_status").json()["serverMessage"]
        answer = loading.client.post("/api/answer", json=OK_BODY).json()
        assert answer["search"]["mode"] == "lexical"
        assert "words alone" in answer["search"]["note"]
        assert answer["outcome"] == "answered"
        embedder.state, embedder.problem = "failed", "no such folder"
        assert "no such folder" in loading.client.get("/readyz").json()["message"]
        embedder.state = "ready"
        assert loading.client.post("/api/answer", json=OK_BODY).json()["search"]["mode"] == "hybrid"


def test_an_index_that_cannot_be_read_makes_the_service_not_ready_but_it_stays_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, settings = small_services(tmp_path)

    def broken(*_: Any) -> int:
        raise IndexBroken("the index folder went away")

    with serving(services, settings) as live:
        monkeypatch.setattr("medcite_core.index.lance_index.LanceIndex.count", broken)
        ready = live.client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert "went away" in ready.json()["message"]
        assert live.client.get("/server_status").json()["serverStatus"] == "NOK"
        assert live.client.get("/healthz").status_code == 200
        error_of(live.client.post("/api/answer", json=OK_BODY), 503, "index_broken")
        assert live.ask(OK_BODY["question"])[-1].json["error"]["code"] == "index_broken"
        monkeypatch.undo()
        assert live.client.post("/api/answer", json=OK_BODY).status_code == 200


# ---------------------------------------------------------------- search


def test_a_search_returns_records_with_their_passages_the_filter_applied_and_the_totals(live: LiveService) -> None:
    body = {"query": "aspirin stroke bleeding", "filters": {"year_from": 2010}, "k": 20}
    found = live.client.post("/api/search", json=body).json()
    assert found["search"]["applied_filter"] == {"year_from": 2010}
    assert found["search"]["passed"] == 3
    assert found["search"]["corpus_records"] == 5
    pmids = [item["record"]["pmid"] for item in found["records"]]
    assert pmids[0] == "101"
    assert len(set(pmids)) == len(pmids)
    assert [item["rank"] for item in found["records"]] == list(range(1, len(pmids) + 1))
    assert found["total"] == 1
    for item in found["records"]:
        assert item["score"] == item["passages"][0]["score"]
        for passage in item["passages"]:
            assert item["record"]["text"][passage["span"]["start"] : passage["span"]["end"]] == passage["text"]


def test_a_search_for_more_than_fifty_or_for_nothing_is_refused(live: LiveService) -> None:
    error_of(live.client.post("/api/search", json={"query": "x", "k": 51}), 422, "invalid_input")
    assert (
        "query is empty"
        in error_of(live.client.post("/api/search", json={"query": " "}), 422, "invalid_input")["message"]
    )
    error_of(live.client.post("/api/search", json={"query": "?!"}), 422, "invalid_input")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"text": "x [1].", "sources": []}, "sources"),
        ({"text": "x [1].", "sources": ["abc"]}, "sources.0"),
        ({"text": "x [1].", "sources": ["1"] * 51}, "sources"),
        ({"text": "", "sources": ["101"]}, "text is empty"),
        ({"text": "x" * 20_001, "sources": ["101"]}, "20,001 characters"),
        ({"text": "x", "source": ["101"]}, "did you mean 'sources'"),
    ],
)
def test_a_bad_request_to_verify_is_told_what_is_wrong_with_it(
    live: LiveService, body: dict[str, Any], words: str
) -> None:
    response = live.client.post("/api/verify", json=body)
    assert words in error_of(response, 422, response.json()["error"]["code"])["message"]


def test_the_description_of_the_service_names_every_route_and_the_shape_of_errors(live: LiveService) -> None:
    described = live.client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/api/ask",
        "/api/answer",
        "/api/verify",
        "/api/search",
        "/api/corpus",
        "/api/records/{pmid}",
        "/api/runs/{run_id}",
        "/api/runs/{run_id}/events",
        "/healthz",
        "/readyz",
        "/server_status",
    }
    assert "ErrorBody" in described["components"]["schemas"]
    refused = described["paths"]["/api/ask"]["post"]["responses"]["422"]["content"]["application/json"]["schema"]
    assert refused["$ref"].endswith("ErrorBody")
    assert "text/event-stream" in described["paths"]["/api/ask"]["post"]["responses"]["200"]["content"]
