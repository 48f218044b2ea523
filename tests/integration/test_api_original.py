"""The doors of the original medcite, used the way its page and its evaluation script use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import pytest
from support.live_service import ASPIRIN_QUESTION as QUESTION
from support.live_service import LiveService, serving, small_service, small_services
from support.llm_server import LLMServer, Reply
from support.run_events import error_of
from support.small_corpus import WordHashEmbedder

PAGE = "http://localhost:5173"


@dataclass
class NotingEmbedder(WordHashEmbedder):
    """Remembers what it embedded."""

    asked: list[str] = field(default_factory=list)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        self.asked.append(text)
        return super().embed_query(text)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with small_service(
        tmp_path_factory.mktemp("original"), server__cors_origins=f"{PAGE}, https://medcite.example"
    ) as it:
        yield it


def taken_apart(message: str) -> tuple[str, list[str]]:
    """Answer and addresses as the original page gets them: the first underscore, then each `|`, the first dropped."""
    answer, _, references = message.partition("_")
    return answer, references.split("|")[1:]


def message_of(response: httpx.Response) -> tuple[str, list[str]]:
    assert response.status_code == 200, response.text
    assert set(response.json()) == {"message"}
    return taken_apart(response.json()["message"])


def filtered(live: LiveService, chosen: Any, query: str = QUESTION) -> httpx.Response:
    return live.client.post("/retrieve_documents_dense_f", json={"filter": chosen, "query_str": query})


@pytest.mark.parametrize("door", ["dense", "sparse"])
def test_an_answer_comes_apart_into_its_text_and_the_addresses_of_its_records(live: LiveService, door: str) -> None:
    answer, addresses = message_of(live.client.get(f"/retrieve_documents_{door}", params={"query_str": QUESTION}))
    assert "Aspirin lowered recurrent stroke from 18.4% to 12.1%" in answer
    assert addresses[0] == "https://pubmed.ncbi.nlm.nih.gov/101/"
    assert len(set(addresses)) == len(addresses)


def test_the_number_behind_a_sentence_is_that_of_its_address(live: LiveService) -> None:
    answer = live.client.post(
        "/api/answer", json={"question": "Is aspirin given after ischaemic stroke, and does it lower recurrent stroke?"}
    ).json()
    text, addresses = message_of(
        live.client.get(
            "/retrieve_documents_dense",
            params={"query_str": "Is aspirin given after ischaemic stroke, and does it lower recurrent stroke?"},
        )
    )
    assert len(answer["evidence"]) > len(addresses)  # so numbers of passages and of records differ
    pmid_of = {item["number"]: item["pmid"] for item in answer["evidence"]}
    for claim in answer["claims"]:
        place = text.index(claim["text"][:40])
        shown = int(re.findall(r"\[(\d+)", text[place:])[0])
        assert addresses[shown - 1].split("/")[-2] == pmid_of[claim["cited"][0]]


def test_underscores_and_bars_in_an_answer_break_nothing(tmp_path: Path, llm_server: LLMServer) -> None:
    llm_server.default = Reply(pieces=("Gene A_b | and c_d matter [1].",))
    with small_service(tmp_path, llm_server.base_url) as live:
        reply = live.client.get("/retrieve_documents_dense", params={"query_str": QUESTION})
        answer, addresses = message_of(reply)
        assert answer == "Gene A\uff3fb | and c\uff3fd matter [1]."
        assert addresses[0] == "https://pubmed.ncbi.nlm.nih.gov/101/"
        assert all(address.startswith("https://pubmed.ncbi.nlm.nih.gov/") for address in addresses)


def test_the_sparse_door_searches_by_words_alone(tmp_path: Path) -> None:
    embedder = NotingEmbedder()
    services, settings = small_services(tmp_path, embedder=embedder)
    embedder.asked.clear()
    with serving(services, settings) as live:
        live.client.get("/retrieve_documents_sparse", params={"query_str": QUESTION})
        assert embedder.asked == []
        live.client.get("/retrieve_documents_dense", params={"query_str": QUESTION})
        assert embedder.asked == [QUESTION]


@pytest.mark.parametrize("door", ["dense", "sparse"])
def test_without_an_answer_there_are_words_and_no_addresses(live: LiveService, door: str) -> None:
    reply = live.client.get(f"/retrieve_documents_{door}", params={"query_str": "What is the capital of Australia?"})
    answer, addresses = message_of(reply)
    assert "none was relevant enough" in answer
    assert addresses == []


# ---------------------------------------------------------------- the filter


@pytest.mark.parametrize(
    "chosen",
    [
        None,
        {},
        {"title": None, "year_range": None, "keywords": None},
        {"title": "", "year_range": [], "keywords": []},
        {"title": " ", "year_range": ["", ""], "keywords": ""},
        {"title": None, "year_range": [None, None], "keywords": [""]},
        {"title": "", "year_range": "", "keywords": " , "},
    ],
)
def test_an_empty_filter_is_none(live: LiveService, chosen: Any) -> None:
    unfiltered = live.client.get("/retrieve_documents_dense", params={"query_str": QUESTION}).json()
    assert filtered(live, chosen).json() == unfiltered
    assert live.client.post("/retrieve_documents_dense_f", json={"query_str": QUESTION}).json() == unfiltered


@pytest.mark.parametrize(
    ("chosen", "passes"),
    [
        ({"year_range": ["2014", "2016"]}, True),
        ({"year_range": [2014, 2016]}, True),
        ({"year_range": [2016.0, "2014"]}, True),  # smallest to largest
        ({"year_range": ["2019", "2008", "2010"]}, True),
        ({"year_range": ["2015"]}, True),
        ({"year_range": 2015}, True),
        ({"year_range": ["2014", ""]}, True),
        ({"year_range": [None, "2014"]}, False),
        ({"year_range": ["2016", "2020"]}, False),
        ({"year_range": ["2008", "2010", "2012"]}, False),
        ({"title": "aspirin stroke"}, True),
        ({"title": "warfarin"}, False),
        ({"keywords": ["Stroke"]}, True),
        ({"keywords": "warfarin, aspirin"}, True),
        ({"keywords": ["warfarin", "metformin"]}, False),
        ({"keywords": "warfarin"}, False),
        ({"title": "aspirin", "year_range": ["2015", "2015"], "keywords": ["Aspirin"]}, True),
        ({"title": "aspirin", "year_range": ["2015", "2015"], "keywords": ["Warfarin"]}, False),
    ],
)
def test_the_old_filter_means_what_it_meant(live: LiveService, chosen: dict[str, Any], passes: bool) -> None:
    answer, addresses = message_of(filtered(live, chosen))
    assert ("https://pubmed.ncbi.nlm.nih.gov/101/" in addresses) == passes
    assert ("18.4%" in answer) == passes


@pytest.mark.parametrize(
    "chosen",
    [
        {"year_range": ["soon"]},
        {"year_range": [True]},
        {"year_range": [20.5]},
        {"year_range": ["99", "2015"]},
        {"year_range": {"from": 2015}},
        {"year_range": ["2015-2016"]},
        {"year_range": [10**400]},
        {"year_range": ["2015"] * 2000},
        {"title": 5},
        {"title": "x" * 400},
        {"keywords": 5},
        {"keywords": [5]},
        {"keywords": {"a": 1}},
        {"keywords": ["a"] * 60 + ["b" * 400]},
        {"yearrange": ["2015"]},
        {"title": "\x00"},
        "aspirin",
        [],
    ],
)
def test_nonsense_in_the_filter_is_refused_in_our_shape(live: LiveService, chosen: Any) -> None:
    error = filtered(live, chosen).json()["error"]
    response = filtered(live, chosen)
    assert 400 <= response.status_code < 500
    assert error["message"]
    assert error["hint"]


@pytest.mark.parametrize("query", ["", "  ", "x" * 2001, "a\x00b"])
def test_a_question_that_cannot_be_asked_is_refused_at_every_door(live: LiveService, query: str) -> None:
    for door in ("dense", "sparse"):
        error_of(live.client.get(f"/retrieve_documents_{door}", params={"query_str": query}), 422, "invalid_input")
    error_of(filtered(live, None, query), 422, "invalid_input")
    error_of(live.client.get("/retrieve_documents_dense"), 422, "invalid_input")
    error_of(live.client.post("/retrieve_documents_dense_f", json={"query_str": 5}), 422, "invalid_input")


def test_the_status_is_what_the_old_page_polls(live: LiveService) -> None:
    status = live.client.get("/server_status").json()
    assert set(status) == {"serverMessage", "serverStatus"}
    assert status["serverStatus"] == "OK"


# ---------------------------------------------------------------- pages of other sites


def preflight(live: LiveService, origin: str, path: str = "/retrieve_documents_dense_f") -> httpx.Response:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    return live.client.options(path, headers={"Origin": origin, **asked})


@pytest.mark.parametrize("path", ["/retrieve_documents_dense_f", "/api/ask", "/api/results"])
def test_a_page_of_an_allowed_site_may_call_and_read(live: LiveService, path: str) -> None:
    for origin in (PAGE, "https://medcite.example"):
        answer = preflight(live, origin, path)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert "POST" in answer.headers["access-control-allow-methods"]
        assert "content-type" in answer.headers["access-control-allow-headers"].lower()
        assert "access-control-allow-credentials" not in answer.headers
        assert "Origin" in answer.headers["vary"]
    headers = {"Origin": PAGE, "Sec-Fetch-Site": "same-site"}
    for reply in (
        live.client.get("/retrieve_documents_dense", params={"query_str": QUESTION}, headers=headers),
        live.client.get("/retrieve_documents_dense", headers=headers),  # an error, which it may read as well
        live.client.get("/server_status", headers={**headers, "Host": "evil.example"}),  # refused by the guard
    ):
        assert reply.headers["access-control-allow-origin"] == PAGE


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:5174",
        "https://localhost:5173",
        "http://localhost:5173.evil.example",
        "null",
        "http://evil.example",
    ],
)
def test_a_page_of_any_other_site_may_not(live: LiveService, origin: str) -> None:
    assert "access-control-allow-origin" not in preflight(live, origin).headers
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    reply = live.client.get("/retrieve_documents_dense", params={"query_str": QUESTION}, headers=headers)
    error_of(reply, 403, "other_site")
    assert "access-control-allow-origin" not in reply.headers


def test_a_picture_on_another_site_makes_nobody_work(live: LiveService) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    for door in ("dense", "sparse"):
        reply = live.client.get(f"/retrieve_documents_{door}", params={"query_str": QUESTION}, headers=headers)
        error_of(reply, 403, "other_site")


@pytest.mark.parametrize("header", ["Origin", "Referer"])
def test_a_page_of_another_site_is_known_by_its_address_where_the_browser_says_no_more(
    live: LiveService, header: str
) -> None:
    asked = {"query_str": QUESTION}
    foreign = live.client.get("/retrieve_documents_dense", params=asked, headers={header: "http://evil.example/page"})
    error_of(foreign, 403, "other_site")
    own = str(live.client.base_url).rstrip("/")
    assert live.client.get("/retrieve_documents_dense", params=asked, headers={header: own}).status_code == 200
    if header == "Origin":
        assert live.client.get("/retrieve_documents_dense", params=asked, headers={header: PAGE}).status_code == 200


def test_without_the_setting_every_other_site_is_kept_out(quoting: LiveService) -> None:
    answer = preflight(quoting, PAGE)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers
    reply = quoting.client.get("/server_status", headers={"Origin": PAGE})
    assert "access-control-allow-origin" not in reply.headers
