"""An HTTP proxy in front of a real node that fails as told: refusals, delays, TLS, passwords, closed connections."""

from __future__ import annotations

import base64
import http.client
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Fault:
    """A reply instead of the node's: `status` and `body`; 0 closes the connection. `delay_s` waits first."""

    status: int = 0
    body: str = "{}"
    delay_s: float = 0.0


@dataclass
class Rules:
    """What the proxy does. `decide(method, path, body)` gives a fault, or None to pass the request on."""

    decide: Callable[[str, str, bytes], Fault | None] = lambda method, path, body: None
    username: str = ""
    password: str = ""
    seen: list[tuple[str, str, int]] = field(default_factory=list)


@contextmanager
def node_proxy(node_url: str, rules: Rules, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a proxy to the node at `node_url`; with `context` it speaks TLS."""
    target = urlsplit(node_url)
    wanted = base64.b64encode(f"{rules.username}:{rules.password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            rules.seen.append((self.command, self.path, len(body)))
            if rules.username and self.headers.get("authorization") != f"Basic {wanted}":
                self._reply(401, b'{"error": "Unauthorized"}')
                return
            fault = rules.decide(self.command, self.path, body)
            if fault is not None:
                time.sleep(fault.delay_s)
                if fault.status:
                    self._reply(fault.status, fault.body.encode())
                    return
                if not fault.delay_s:
                    self.close_connection = True
                    return
            try:
                upstream = http.client.HTTPConnection(target.hostname or "", target.port or 80, timeout=60)
                kind = self.headers.get("content-type")
                upstream.request(self.command, self.path, body, {"content-type": kind} if kind else {})
                answer = upstream.getresponse()
                self._reply(answer.status, answer.read(), answer.getheader("content-type", ""))
            except OSError:
                self._reply(502, b'{"error": "no node"}')

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _handle  # noqa: N815 - the library's names

        def _reply(self, status: int, body: bytes, kind: str = "") -> None:
            self.send_response(status)
            self.send_header("content-type", kind or "application/json; charset=UTF-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
