"""Runs: work that goes on while its events are watched, survives a dropped connection, and can be cancelled."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

import structlog

from medcite_core.errors import Busy, NotFound
from medcite_middleware.events import FINAL_TYPES, CancelledEvent, Event, RunEvent

log = structlog.get_logger(__name__)

KEPT_PER_SLOT = 4
"""Finished runs that are kept for late readers, for each run that may be active: this bounds the memory."""
FIRST_WATCH_S = 1.0
"""A run always has this long to be watched for the first time, however short the grace is."""
STOP_S = 5.0
"""How long a cancellation may take."""


class Run:
    """One piece of work and the events it has produced so far; event n has the id n, from 1."""

    def __init__(self, run_id: str, grace_s: float) -> None:
        self.id = run_id
        self.events: list[Event] = [RunEvent(run_id=run_id)]
        self.is_finished = False
        self._grace_s = grace_s
        self._watchers = 0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, source: AsyncGenerator[Event, None]) -> asyncio.Task[None]:
        """Start the work in a task of its own."""
        self._task = asyncio.create_task(self._work(source))
        self._task.add_done_callback(self._ended)
        self._leave_alone_for(max(self._grace_s, FIRST_WATCH_S))
        return self._task

    async def watch(self, after: int = 0, silence_s: float | None = None) -> AsyncGenerator[tuple[int, Event] | None]:
        """The events with ids above `after`, old ones first, until the run ends.

        None whenever nothing has happened for `silence_s`, so that the connection can be kept alive.
        """
        self._watchers += 1
        self._stop_timer()
        try:
            position = max(after, 0)
            while True:
                changed = self._changed
                while position < len(self.events):
                    position += 1
                    yield position, self.events[position - 1]
                if self.is_finished:
                    return
                if changed is self._changed:
                    try:
                        await asyncio.wait_for(changed.wait(), silence_s)
                    except TimeoutError:
                        yield None
        finally:
            self._watchers -= 1
            if self._watchers == 0 and not self.is_finished:
                self._leave_alone_for(self._grace_s)

    async def cancel(self) -> None:
        """Stop the work at once; returns when it has stopped. Nothing happens to a finished run."""
        task = self._task
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.wait({task}, timeout=STOP_S)

    async def _work(self, source: AsyncGenerator[Event, None]) -> None:
        async with aclosing(source):
            async for event in source:
                self._add(event)

    def _ended(self, task: asyncio.Task[None]) -> None:
        # A task that is cancelled before its first step never enters its own code: so the end is written here.
        if self.events[-1].type not in FINAL_TYPES:
            self.events.append(CancelledEvent())
        self.is_finished = True
        self._stop_timer()
        self._tell()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("run_broken", run_id=self.id, error=type(error).__name__)

    def _add(self, event: Event) -> None:
        self.events.append(event)
        self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _leave_alone_for(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._abandon)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _abandon(self) -> None:
        if self._watchers == 0 and self._task is not None and not self._task.done():
            log.info("run_abandoned", run_id=self.id)
            self._task.cancel()


class RunRegistry:
    """All runs of a service. At most `max_runs` are active; a finished one can be read for `grace_s` more."""

    def __init__(self, max_runs: int, grace_s: float) -> None:
        self.max_runs = max_runs
        self.grace_s = grace_s
        self._runs: dict[str, Run] = {}
        self._active = 0
        self._whole: set[asyncio.Task[object]] = set()
        self._is_closed = False

    @property
    def active(self) -> int:
        """Runs that are going on."""
        return self._active

    @property
    def kept(self) -> int:
        """Runs that can be read, finished or not."""
        return len(self._runs)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """A place for work that the calling task does itself, unwatched; the task is cancelled by `close`.

        Raises:
            Busy: see `start`.
        """
        self._take_place()
        task = asyncio.current_task()
        if task is not None:
            self._whole.add(task)
        try:
            yield
        finally:
            self._active -= 1
            if task is not None:
                self._whole.discard(task)

    def _take_place(self) -> None:
        if self._is_closed:
            raise Busy("the service is going down", "Ask again when it is back.")
        if self._active >= self.max_runs:
            raise Busy(f"{self._active} questions are being answered already, which is the most at a time")
        self._active += 1

    def start(self, source: AsyncGenerator[Event, None]) -> Run:
        """Begin a run whose events come from `source`.

        Raises:
            Busy: all places are taken, or the service is going down.
        """
        self._take_place()
        run = Run(uuid.uuid4().hex, self.grace_s)
        self._runs[run.id] = run
        run.begin(source).add_done_callback(lambda _: self._ended(run))
        return run

    def get(self, run_id: str) -> Run:
        """The run of that id.

        Raises:
            NotFound: it never existed, or ended longer ago than the grace time.
        """
        run = self._runs.get(run_id)
        if run is None:
            raise NotFound("this run does not exist, or ended a while ago", "Ask the question again.")
        return run

    async def close(self) -> None:
        """Cancel everything and take nothing new."""
        self._is_closed = True
        for task in self._whole:
            task.cancel()
        await asyncio.gather(*(run.cancel() for run in list(self._runs.values())))

    def _ended(self, run: Run) -> None:
        self._active -= 1
        asyncio.get_running_loop().call_later(self.grace_s, self._runs.pop, run.id, None)
        finished = [r for r in self._runs.values() if r.is_finished]
        for old in finished[: max(0, len(finished) - KEPT_PER_SLOT * self.max_runs)]:
            del self._runs[old.id]
