"""Answers questions, as runs that can be watched, resumed and cancelled."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from medcite_middleware.events import AnswerOut, Event, FinishedEvent
from medcite_middleware.pipeline.ask import AskPipeline, AskRequest
from medcite_middleware.services.runs import Run, RunRegistry


class AskService:
    """Asks the corpus."""

    def __init__(self, pipeline: AskPipeline, runs: RunRegistry) -> None:
        self._pipeline = pipeline
        self._runs = runs

    def start(self, request: AskRequest) -> Run:
        """Begin to answer; the run's events tell the rest.

        Raises:
            Busy: too many are being answered.
        """
        return self._runs.start(self._pipeline.run(request))

    async def answer(self, request: AskRequest) -> AnswerOut:
        """The finished answer, whole. Cancelling the caller cancels the work.

        Raises:
            Busy: too many are being answered.
            MedciteError: there is no whole answer, whatever there was of it.
        """
        with self._runs.whole():
            return await _finished(self._pipeline.steps(request))


async def _finished(steps: AsyncGenerator[Event]) -> AnswerOut:
    async with aclosing(steps):
        async for event in steps:
            if isinstance(event, FinishedEvent):
                return event.answer
    raise AssertionError("a run without an error ends with a finished event")
