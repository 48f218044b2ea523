"""Server-sent events: how an event is written, and a response that keeps the connection alive and notices its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from medcite_middleware.events import Event
from medcite_middleware.services.runs import Run

MEDIA_TYPE = "text/event-stream"
RUN_ID_HEADER = "X-Run-Id"
"""The run whose events a reply holds: a reader whose connection breaks before the first event can still go on."""
HEARTBEAT = b": still here\n\n"
# Readers that split lines the Unicode way would break an event at these (FR-128). In JSON they stand in strings only.
_LINE_ENDS = {ord(c): f"\\u{ord(c):04x}" for c in "\u0085\u2028\u2029"}


def encode_event(event_id: int, event: Event) -> bytes:
    """One event as it goes over the wire: `id`, `event` and one `data` line of JSON."""
    data = event.model_dump_json().translate(_LINE_ENDS)
    return f"id: {event_id}\nevent: {event.type}\ndata: {data}\n\n".encode()


class EventStream(Response):
    """Streams a run's events after `after`; a comment goes out when there was nothing for `heartbeat_s`.

    A reader that goes away is noticed at once, so that the run knows that nobody watches it.
    """

    def __init__(self, run: Run, after: int, heartbeat_s: float) -> None:
        # Nothing between here and the reader may hold the events back or pack them (FR-123, FR-124).
        headers = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", RUN_ID_HEADER: run.id}
        super().__init__(None, 200, headers, MEDIA_TYPE)
        del self.headers["content-length"]
        self._run = run
        self._after = after
        self._heartbeat_s = heartbeat_s

    async def _frames(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._run.watch(self._after, self._heartbeat_s)) as events:
            async for numbered in events:
                yield HEARTBEAT if numbered is None else encode_event(*numbered)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; ends when the run ends or the reader leaves."""
        del scope

        async def until_reader_leaves() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(until_reader_leaves)
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with aclosing(self._frames()) as frames:
                async for frame in frames:
                    await send({"type": "http.response.body", "body": frame, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            group.cancel_scope.cancel()
