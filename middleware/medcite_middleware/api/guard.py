"""The outermost layer of the service: request ids, host check, body limit, headers, access log, last-resort errors."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
import traceback
import uuid
from collections.abc import Collection

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from medcite_middleware.api.errors import error_response

log = structlog.get_logger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
POLLED = frozenset({"/healthz", "/readyz", "/server_status"})
# How long a refused body is read on, so that the refusal arrives.
_READ_OFF_S = 2.0
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Wraps the application. `hosts` are the names it answers to; None means any.

    A page of another site can point its own host name at 127.0.0.1 (DNS rebinding) and then read answers; it cannot
    change the Host header that the browser sends, so that is checked.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None, max_body_bytes: int) -> None:
        self.app = app
        self.hosts = hosts
        self.max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; other kinds of traffic pass through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.monotonic()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                out = MutableHeaders(scope=message)
                out["X-Request-ID"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    out.setdefault(name, value)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._answer(scope, headers, receive, send_guarded)
            except Exception as error:  # noqa: BLE001 - the boundary of a request
                # The message of an unforeseen error may hold what the person typed; its place in the code does not.
                where = "".join(traceback.format_tb(error.__traceback__))
                log.error("request_failed", error=type(error).__name__, where=where)
                if status:
                    raise _Broken from None
                response = error_response(500, "internal", "something went wrong inside medcite", request_id=request_id)
                await response(scope, receive, send_guarded)
            finally:
                self._log(scope, status, time.monotonic() - started, request_id)

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        request_id = scope["state"]["request_id"]
        if self.hosts is not None and host_name(headers.get("host", "")) not in self.hosts:
            response = error_response(
                400,
                "bad_host",
                "medcite does not answer to this host name",
                "Open it at http://127.0.0.1 or http://localhost, or set MEDCITE_SERVER__HOST.",
                request_id=request_id,
            )
            await response(scope, receive, send)
            return
        body = await self._body(headers, receive)
        if body is None:
            response = error_response(
                413,
                "too_large",
                f"the request is larger than {self.max_body_bytes:,} bytes",
                "Send less, or raise MEDCITE_SERVER__MAX_BODY_BYTES.",
                request_id=request_id,
            )
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    async def _body(self, headers: Headers, receive: Receive) -> list[Message] | None:
        """The messages of the body, or None when it is too large, which is noticed while it comes in."""
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self.max_body_bytes:
            await self._read_off(receive)
            return None
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self.max_body_bytes:
                return None
            if message["type"] != "http.request" or not message.get("more_body", False):
                return messages

    async def _read_off(self, receive: Receive) -> None:
        """Read what a client goes on sending, as far as that is bearable: closing on it would reset the connection,
        and the client would never see why."""
        left = 8 * self.max_body_bytes
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READ_OFF_S):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if message["type"] != "http.request" or not message.get("more_body", False):
                        return

    def _log(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        # The template of the path, not the path: no query, identifier or body is ever logged.
        path = getattr(scope.get("route"), "path", "(page or unknown)")
        write = log.debug if path in POLLED else log.info
        write(
            "request",
            method=scope["method"],
            path=path,
            status=status,
            ms=round(seconds * 1000, 1),
            request_id=request_id,
        )


class _Broken(Exception):
    """The reply had begun when something failed: the connection must be cut, so that nobody takes it for whole."""


def _replay(messages: list[Message], receive: Receive) -> Receive:
    remaining = list(reversed(messages))

    async def replayed() -> Message:
        return remaining.pop() if remaining else await receive()

    return replayed


def host_name(header: str) -> str:
    """The name in a Host header, without its port; `[::1]:8000` gives `::1`."""
    host = header.strip().casefold()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host
