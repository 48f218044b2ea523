"""A scripted OpenAI-compatible embedding endpoint on loopback: vectors that depend on the text, or any misbehaviour."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSION = 48


@dataclass
class Scripted:
    """One reply; `body` a JSON value or text. Without any in the queue the endpoint embeds."""

    status: int = 200
    body: Any = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass
class EmbeddingServer:
    """`base_url` to give to the settings; `requests` are the bodies received; `queue` is answered first."""

    base_url: str
    queue: list[Scripted] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Not of unit length, the same for the same text; words in common bring texts closer."""
    total = np.zeros(dimension)
    for word in text.casefold().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).normal(size=dimension)
    return [float(x) for x in total * 3]


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A running endpoint on a free loopback port."""
    state: EmbeddingServer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            state.authorizations.append(self.headers.get("Authorization", ""))
            reply = state.queue.pop(0) if state.queue else Scripted(body=_embed(body))
            time.sleep(reply.delay_s)
            content = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content.encode())
            except OSError:  # the client gave up waiting
                return

        def log_message(self, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = EmbeddingServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _embed(body: dict[str, Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": i, "embedding": vector_of(t)} for i, t in enumerate(body["input"])]
    # Out of order, as the protocol allows: the index says which text a vector belongs to.
    return {"object": "list", "model": body["model"], "data": data[::-1]}
