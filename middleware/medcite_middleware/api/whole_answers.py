"""Whole answers over plain HTTP: the work is given up when the reader leaves."""

from __future__ import annotations

import asyncio

from fastapi import Request

from medcite_core.errors import Busy
from medcite_middleware.events import AnswerOut
from medcite_middleware.pipeline.ask import AskRequest
from medcite_middleware.services.asking import AskService


async def whole_answer(service: AskService, asked: AskRequest, request: Request) -> AnswerOut:
    """The finished answer. `request` must have been read to its end already.

    Raises:
        Busy: too many are being answered, or its reader left.
        MedciteError: there is no whole answer, whatever there was of it.
    """
    work = asyncio.ensure_future(service.answer(asked))
    leaving = asyncio.ensure_future(_reader_leaves(request))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not work.done():
            work.cancel()
    await asyncio.wait({work})
    if work.cancelled():
        raise Busy("the answer was given up: its reader left, or the service is going down")
    return work.result()


async def _reader_leaves(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
