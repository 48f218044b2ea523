"""A scripted stand-in for an OpenAI-compatible chat server on loopback: pieces, pauses, cuts, statuses, HTML."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import pytest


@dataclass(frozen=True)
class Reply:
    """What the server does with one chat request.

    `pieces` are streamed as deltas, `reasoning` before them in a field of its own. `body` replaces all of it by
    a whole body of `content_type`. `cut` ends the connection after the pieces: `reset` in the middle of the transfer
    encoding, `clean` as if the reply were over but without finish reason or `[DONE]`. `hang` sends nothing after the
    pieces until the client leaves. `bytes_per_write` splits the byte stream, through characters and events alike.
    `tool_arguments` are the pieces of the arguments of one call of the tool that was asked for.
    """

    pieces: tuple[str, ...] = ()
    finish_reason: str | None = "stop"
    status: int = 200
    body: str | None = None
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    gap_s: float = 0.0
    cut: Literal["", "reset", "clean"] = ""
    hang: bool = False
    bytes_per_write: int | None = None
    reasoning: tuple[str, ...] = ()
    tool_arguments: tuple[str, ...] = ()
    error_event: dict[str, Any] | None = None


@dataclass
class SeenRequest:
    """One request as it arrived; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """All message contents, in order, with a line break between them."""
        return "\n".join(str(message.get("content", "")) for message in self.body.get("messages", []))


class LLMServer:
    """Answers `POST /v1/chat/completions` by script and `GET /v1/models` with `models`.

    Replies given to `script` are used up in order; when there are none left, `default` answers, which may be a
    function of the request.
    """

    def __init__(self, default: Reply | Callable[[SeenRequest], Reply] | None = None) -> None:
        self.default: Reply | Callable[[SeenRequest], Reply] = default or Reply(pieces=("It is known [1].",))
        self.models: list[str] = ["stub-model"]
        self.models_status = 200
        self.requests: list[SeenRequest] = []
        self.client_left = threading.Event()
        self.piece_sent = threading.Event()
        self._stopped = threading.Event()
        self._script: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._http = _QuietServer(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """Ends in /v1."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def chats(self) -> list[SeenRequest]:
        """The chat requests so far."""
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]

    def script(self, *replies: Reply) -> None:
        """Queue replies for the next chat requests."""
        with self._lock:
            self._script.extend(replies)

    def next_reply(self, seen: SeenRequest) -> Reply:
        """The reply to one chat request."""
        with self._lock:
            if self._script:
                return self._script.popleft()
        return self.default(seen) if callable(self.default) else self.default

    @property
    def is_stopped(self) -> bool:
        """Whether the server is going down."""
        return self._stopped.is_set()

    def wait(self, seconds: float) -> None:
        """Pause, but no longer than the server lives."""
        self._stopped.wait(seconds)

    def stop(self) -> None:
        """End all replies and free the port."""
        self._stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


def _handler_for(server: LLMServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Keep test output quiet."""

        def do_GET(self) -> None:
            server.requests.append(SeenRequest("GET", self.path, _lower(self.headers)))
            if self.path.endswith("/models"):
                listing = {"object": "list", "data": [{"id": m, "object": "model"} for m in server.models]}
                self._send_whole(server.models_status, "application/json", json.dumps(listing))
            else:
                self._send_whole(404, "application/json", json.dumps({"error": {"message": "no such path"}}))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen = SeenRequest("POST", self.path, _lower(self.headers), json.loads(raw or b"{}"))
            server.requests.append(seen)
            if not self.path.endswith("/chat/completions"):
                self._send_whole(404, "application/json", json.dumps({"error": {"message": "no such path"}}))
                return
            reply = server.next_reply(seen)
            try:
                server.wait(reply.delay_s)
                self._answer(reply, seen)
            except (BrokenPipeError, ConnectionResetError):
                server.client_left.set()
                self.close_connection = True

        def _answer(self, reply: Reply, seen: SeenRequest) -> None:
            if reply.body is not None or reply.status != 200:
                body = reply.body if reply.body is not None else json.dumps({"error": {"message": "scripted"}})
                self._send_whole(reply.status, reply.content_type, body, reply.headers)
            elif seen.body.get("stream"):
                self._stream(reply, str(seen.body.get("model", "")))
            else:
                self._send_whole(200, "application/json", json.dumps(_whole(reply, str(seen.body.get("model", "")))))

        def _send_whole(
            self, status: int, content_type: str, body: str, headers: tuple[tuple[str, str], ...] = ()
        ) -> None:
            data = body.encode("utf-8")
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, reply: Reply, model: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            if reply.cut == "clean":
                self.send_header("Connection", "close")
            else:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            for event in _events(reply, model):
                server.wait(reply.gap_s)
                if server.is_stopped:
                    self.close_connection = True
                    return
                self._write(event, reply)
                server.piece_sent.set()
            if reply.hang:
                self._hang()
            if reply.cut or reply.hang:
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def _write(self, data: bytes, reply: Reply) -> None:
            size = reply.bytes_per_write or len(data)
            for start in range(0, len(data), size):
                part = data[start : start + size]
                self.wfile.write(part if reply.cut == "clean" else b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
                if reply.bytes_per_write:
                    time.sleep(0.0005)

        def _hang(self) -> None:
            self.connection.settimeout(0.05)
            while not server.is_stopped:
                try:
                    if self.connection.recv(1) == b"":
                        server.client_left.set()
                        return
                except TimeoutError:
                    continue
                except OSError:
                    server.client_left.set()
                    return

    return Handler


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _chunk(model: str, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    event = {"id": "stub", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [choice]}
    # Like most servers: characters such as U+2028 travel unescaped.
    return b"data: " + json.dumps(event, ensure_ascii=False).encode("utf-8") + b"\n\n"


def _events(reply: Reply, model: str) -> Iterator[bytes]:
    yield _chunk(model, {"role": "assistant", "content": ""})
    for thought in reply.reasoning:
        yield _chunk(model, {"reasoning_content": thought})
    for piece in reply.pieces:
        yield _chunk(model, {"content": piece})
    for number, piece in enumerate(reply.tool_arguments):
        named = {"id": "call-1", "type": "function"} if number == 0 else {}
        function = {"name": "judgement", "arguments": piece} if number == 0 else {"arguments": piece}
        yield _chunk(model, {"tool_calls": [{"index": 0, **named, "function": function}]})
    if reply.error_event is not None:
        yield b"data: " + json.dumps({"error": reply.error_event}).encode("utf-8") + b"\n\n"
    if reply.cut or reply.hang:
        return
    if reply.finish_reason is not None:
        yield _chunk(model, {}, reply.finish_reason)
    yield b"data: [DONE]\n\n"


def _whole(reply: Reply, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(reply.pieces)}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


@pytest.fixture
def llm_server() -> Iterator[LLMServer]:
    """A fresh scripted chat server."""
    server = LLMServer()
    yield server
    server.stop()
