"""Turns the failure of a run into its last event, so that a half answer is never taken for a whole one."""

from __future__ import annotations

import traceback
from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog

from medcite_core.errors import MedciteError
from medcite_middleware.events import ErrorEvent, ErrorOut, Event, IncompleteEvent, TextEvent

log = structlog.get_logger(__name__)


def error_out(error: MedciteError, request_id: str) -> ErrorOut:
    """Shape an error for the wire."""
    return ErrorOut(
        code=error.code, message=error.message, hint=error.hint, retryable=error.retryable, request_id=request_id
    )


async def as_events(steps: AsyncGenerator[Event], request_id: str) -> AsyncGenerator[Event]:
    """`steps`, and when they fail a last event: `error` before there was any text, `incomplete` with the text after."""
    text: list[str] = []
    try:
        async with aclosing(steps):
            async for event in steps:
                if isinstance(event, TextEvent):
                    text.append(event.delta)
                yield event
        return
    except MedciteError as error:
        failure = error
        log.warning("run_failed", code=error.code)
    except Exception as error:  # noqa: BLE001 - the boundary of a run
        # The message of an unforeseen error may hold what the person typed; its place in the code does not.
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error("run_failed", error=type(error).__name__, where=where)
        failure = MedciteError("something went wrong inside medcite")
    shaped = error_out(failure, request_id)
    if text:
        yield IncompleteEvent(reason=failure.code, text="".join(text), error=shaped)
    else:
        yield ErrorEvent(error=shaped)
