"""What can be read at once, what the service says of its state, and what its logs may hold."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from support.live_service import LiveService, serving, small_services
from support.run_events import error_of
from support.small_corpus import WordHashEmbedder

from medcite_core.errors import IndexBroken

OK_BODY = {"question": "Does aspirin lower recurrent stroke?"}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    services, settings = small_services(tmp_path_factory.mktemp("http"), server__max_body_bytes=100_000)
    with serving(services, settings) as service:
        yield service


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
        "/api/results",
        "/api/export",
        "/api/suggestions",
        "/api/corpus",
        "/api/records/{pmid}",
        "/api/records/{pmid}/citation",
        "/api/runs/{run_id}",
        "/api/runs/{run_id}/events",
        "/api/runs/{run_id}/report",
        "/healthz",
        "/readyz",
        "/server_status",
        "/retrieve_documents_dense",
        "/retrieve_documents_dense_f",
        "/retrieve_documents_sparse",
    }
    assert "ErrorBody" in described["components"]["schemas"]
    refused = described["paths"]["/api/ask"]["post"]["responses"]["422"]["content"]["application/json"]["schema"]
    assert refused["$ref"].endswith("ErrorBody")
    assert "text/event-stream" in described["paths"]["/api/ask"]["post"]["responses"]["200"]["content"]
