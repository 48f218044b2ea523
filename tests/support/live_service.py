"""medcite served on a free loopback port by a real server in a thread, for tests that need real connections."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support.small_corpus import RECORDS, WordHashEmbedder, small_index, small_settings
from support.sse_reader import Message, read_all, read_lines

from medcite_core.settings import Settings
from medcite_core.types import Record
from medcite_middleware.api.app import create_app
from medcite_middleware.api.serve import Server
from medcite_middleware.services import Services, build_services

ASPIRIN_QUESTION = "Does aspirin lower recurrent stroke?"
ASPIRIN_ANSWER = (
    "Aspirin lowered recurrent stroke ",
    "from 18.4% to 12.1% in 2,431 patients [1].",
    " It cures everything [1].",
)
"""What the scripted chat server says to it; its last sentence stands in no record."""


@dataclass
class LiveService:
    """A running service and a client of it."""

    base_url: str
    client: httpx.Client
    services: Services
    server: Server

    def ask(self, question: str, **body: Any) -> list[Message]:
        """All events of one question."""
        return self.stream("/api/ask", {"question": question, **body})

    def stream(self, path: str, body: dict[str, Any]) -> list[Message]:
        """All events of one posted run."""
        with self.client.stream("POST", path, json=body) as response:
            assert response.status_code == 200, response.read()
            return read_all(response.iter_bytes())

    @contextlib.contextmanager
    def watching(self, path: str, body: dict[str, Any]) -> Iterator[Iterator[Message]]:
        """The events of a run as they come; leaving the block drops the connection."""
        with (
            httpx.Client(base_url=self.base_url, timeout=20) as client,
            client.stream("POST", path, json=body) as response,
        ):
            assert response.status_code == 200, response.read()
            yield read_lines(response.iter_bytes())

    def resume(self, run_id: str, last_event_id: str) -> list[Message]:
        """The events of a run after `last_event_id`."""
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        with self.client.stream("GET", f"/api/runs/{run_id}/events", headers=headers) as response:
            assert response.status_code == 200, response.read()
            return read_all(response.iter_bytes())


def small_services(
    data_dir: Path,
    llm_url: str = "",
    records: Sequence[Record] = RECORDS,
    embedder: WordHashEmbedder | None = None,
    **overrides: Any,
) -> tuple[Services, Settings]:
    """Services over a small corpus; `llm_url` names a chat server."""
    chat_model = None
    if llm_url:
        # The scripted server answers in the order of its replies; splitting by the model has tests of its own.
        fixed = {"llm__provider": "openai", "llm__model": "stub-model", "verify__split_with_chat_model": False}
        overrides = {**fixed, "llm__base_url": llm_url, **overrides}
    settings = small_settings(data_dir, **overrides)
    if llm_url:
        from medcite_middleware.llm.chat_model import build_chat_model

        chat_model = build_chat_model(settings.llm)
    embedder = embedder or WordHashEmbedder()
    index = small_index(settings, embedder, records)
    return build_services(settings, index, embedder, chat_model, corpus_name="Small corpus"), settings


@contextlib.contextmanager
def serving(services: Services, settings: Settings, page_dir: Path | None = None) -> Iterator[LiveService]:
    """Serve until the block ends."""
    sock = socket.create_server(("127.0.0.1", 0))
    started = threading.Event()
    server = Server(create_app(services, settings.server, page_dir), started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    assert started.wait(20)
    base_url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    try:
        with httpx.Client(base_url=base_url, timeout=20) as client:
            yield LiveService(base_url, client, services, server)
    finally:
        server.should_exit = True
        thread.join(15)
        assert not thread.is_alive(), "the server did not stop"


@contextlib.contextmanager
def small_service(data_dir: Path, llm_url: str = "", **overrides: Any) -> Iterator[LiveService]:
    """A running service over a small corpus."""
    services, settings = small_services(data_dir, llm_url, **overrides)
    with serving(services, settings) as live:
        yield live
