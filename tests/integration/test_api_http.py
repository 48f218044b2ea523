"""The HTTP manners of the service: errors in one shape, limits, hosts, headers, logs, readiness, records, searches."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.live_service import LiveService, serving, small_services
from support.run_events import error_of

from medcite_core.settings import ServerSettings
from medcite_middleware.api.app import create_app

OK_BODY = {"question": "Does aspirin lower recurrent stroke?"}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    services, settings = small_services(tmp_path_factory.mktemp("http"), server__max_body_bytes=100_000)
    with serving(services, settings) as service:
        yield service


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
