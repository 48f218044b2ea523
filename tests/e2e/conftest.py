"""A browser, and services for its pages: the demo corpus, and a small one with a scripted chat server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import chromium
from support.live_service import LiveService, serving, small_services
from support.llm_server import LLMServer, Reply
from support.page_talk import ANSWER, MIXED_ANSWER, PAGE_DIR, PAYLOADS
from support.small_corpus import RECORDS, make_record

from medcite.assembly import open_demo, services_of, wait_for_embedder
from medcite_core.settings import load_settings
from medcite_core.types import Notice, Record

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = make_record(
    "106",
    f"Hostile markup {PAYLOADS[0]} in titles.",
    f"Hostile markup {PAYLOADS[1]} and {PAYLOADS[4]} was harmless in 12 pages.",
    year=2020,
    journal=PAYLOADS[3],
    notices=(Notice("corrected", "9990", PAYLOADS[5]),),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, and a page that is built."""
    assert (PAGE_DIR / "index.html").is_file(), "the page is not built: `npm ci && npm run build` in frontend/"
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """medcite on its demo corpus, with the packaged model, answering by quotation."""
    settings = load_settings({"data_dir": tmp_path_factory.mktemp("demo")}, environ={}, env_file=None).settings
    corpus = open_demo(settings, lambda *_, **__: None)
    assert wait_for_embedder(corpus.embedder) == ""
    with serving(services_of(corpus), corpus.settings, PAGE_DIR) as served:
        yield served


def _with_chat(
    folder: Path, llm_server: LLMServer, pieces: tuple[str, ...], records: tuple[Record, ...]
) -> Iterator[LiveService]:
    llm_server.default = Reply(pieces=pieces)
    services, settings = small_services(
        folder,
        llm_server.base_url,
        records,
        server__heartbeat_s=0.2,
        llm__timeout_s=20.0,
        llm__retries=0,
        # These tests script what the model writes; what it says as a judge is another suite's matter.
        verify__use_chat_model=False,
    )
    with serving(services, settings, PAGE_DIR) as served:
        yield served


@pytest.fixture
def live(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A small corpus with a chat server whose answer is right."""
    yield from _with_chat(tmp_path, llm_server, ANSWER, RECORDS)


@pytest.fixture
def generating(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A small corpus, with a hostile record, and a chat server whose sentences are of all kinds."""
    yield from _with_chat(tmp_path, llm_server, MIXED_ANSWER, (*RECORDS, HOSTILE))
