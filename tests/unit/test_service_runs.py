"""Runs: watched, resumed, cancelled, abandoned, kept for a while and dropped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import pytest

from medcite_core.errors import Busy, NotFound
from medcite_middleware.events import ErrorEvent, ErrorOut, Event, TextEvent
from medcite_middleware.services import runs as runs_module
from medcite_middleware.services.runs import KEPT_PER_SLOT, Run, RunRegistry

END = ErrorEvent(error=ErrorOut(code="x", message="", hint="", retryable=False, request_id=""))


def run_async(work: Callable[[], Awaitable[None]]) -> None:
    """Run one async test body, with a limit so that a bug cannot hang the suite."""

    async def limited() -> None:
        await asyncio.wait_for(work(), 20)

    asyncio.run(limited())


@pytest.fixture(autouse=True)
def _short_first_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "FIRST_WATCH_S", 0.05)


async def words(*deltas: str, pause_s: float = 0.0) -> AsyncGenerator[Event]:
    for delta in deltas:
        await asyncio.sleep(pause_s)
        yield TextEvent(delta=delta)
    yield END


class Endless:
    """A source that never ends by itself, and notes when it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    async def events(self) -> AsyncGenerator[Event]:
        try:
            yield TextEvent(delta="begun")
            await asyncio.Event().wait()
        finally:
            self.is_closed = True


async def collect(run: Run, after: int = 0, limit: int = 10_000) -> list[tuple[int, Event]]:
    seen: list[tuple[int, Event]] = []
    async with aclosing(run.watch(after)) as watching:
        async for numbered in watching:
            assert numbered is not None
            seen.append(numbered)
            if len(seen) == limit:
                break
    return seen


def test_events_are_numbered_from_one_and_begin_with_the_id_of_the_run() -> None:
    async def body() -> None:
        run = RunRegistry(2, 1).start(words("a", "b"))
        events = await collect(run)
        assert [n for n, _ in events] == [1, 2, 3, 4]
        assert [e.type for _, e in events] == ["run", "text", "text", "error"]
        assert events[0][1].model_dump()["run_id"] == run.id

    run_async(body)


def test_a_run_resumed_at_any_event_gives_exactly_the_rest() -> None:
    async def body() -> None:
        registry = RunRegistry(50, 5)
        whole = await collect(registry.start(words(*"abcdef", pause_s=0.001)))
        for cut in range(1, len(whole)):
            run = registry.start(words(*"abcdef", pause_s=0.001))
            head = await collect(run, limit=cut)
            await asyncio.sleep(0.003)
            tail = await collect(registry.get(run.id), after=head[-1][0])
            assert [n for n, _ in head + tail] == [n for n, _ in whole]
            assert [e for _, e in (head + tail)[1:]] == [e for _, e in whole[1:]]

    run_async(body)


def test_several_watchers_see_the_same_events() -> None:
    async def body() -> None:
        run = RunRegistry(2, 1).start(words(*"abcdef", pause_s=0.002))
        seen = await asyncio.gather(*(collect(run) for _ in range(5)))
        assert all(events == seen[0] for events in seen)
        assert len(seen[0]) == 8

    run_async(body)


def test_silence_is_told_so_that_a_heartbeat_can_be_sent_and_no_event_is_lost_by_it() -> None:
    async def body() -> None:
        run = RunRegistry(2, 1).start(words("a", "b", pause_s=0.08))
        seen = [numbered async for numbered in run.watch(0, silence_s=0.02)]
        assert seen.count(None) >= 4
        assert [n for n, _ in filter(None, seen)] == [1, 2, 3, 4]

    run_async(body)


def test_a_cancelled_run_stops_its_source_at_once_and_says_so_to_its_watchers() -> None:
    async def body() -> None:
        source = Endless()
        registry = RunRegistry(1, 5)
        run = registry.start(source.events())
        watching = asyncio.create_task(collect(run))
        await asyncio.sleep(0.01)
        await run.cancel()
        assert source.is_closed
        assert [e.type for _, e in await watching] == ["run", "text", "cancelled"]
        assert registry.active == 0
        await run.cancel()
        assert [e.type for e in run.events] == ["run", "text", "cancelled"]

    run_async(body)


def test_a_run_cancelled_before_its_first_step_still_ends_with_cancelled() -> None:
    async def body() -> None:
        registry = RunRegistry(1, 5)
        run = registry.start(Endless().events())
        await run.cancel()
        assert [e.type for _, e in await collect(run)] == ["run", "cancelled"]
        assert registry.active == 0

    run_async(body)


def test_a_run_nobody_watches_any_more_is_cancelled_after_the_grace_time_and_not_before() -> None:
    async def body() -> None:
        source = Endless()
        run = RunRegistry(1, 0.15).start(source.events())
        await collect(run, limit=2)
        await asyncio.sleep(0.05)
        assert not source.is_closed
        await collect_for(run, 0.2)  # watched again: the clock starts anew
        assert not source.is_closed
        await asyncio.sleep(0.25)
        assert source.is_closed
        assert run.events[-1].type == "cancelled"

    async def collect_for(run: Run, seconds: float) -> None:
        task = asyncio.create_task(collect(run))
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.wait({task})

    run_async(body)


def test_a_run_nobody_ever_watches_is_cancelled() -> None:
    async def body() -> None:
        source = Endless()
        registry = RunRegistry(1, 0.0)
        registry.start(source.events())
        await asyncio.sleep(0.2)
        assert source.is_closed
        assert registry.active == 0

    run_async(body)


def test_more_runs_than_there_are_places_are_refused_and_a_place_is_free_again_after_the_end() -> None:
    async def body() -> None:
        registry = RunRegistry(2, 5)
        first, second = registry.start(Endless().events()), registry.start(Endless().events())
        with pytest.raises(Busy, match="2 questions"):
            registry.start(words("x"))
        await first.cancel()
        third = registry.start(words("x"))
        await collect(third)
        await asyncio.sleep(0)
        assert registry.active == 1
        await second.cancel()

    run_async(body)


def test_a_finished_run_can_be_read_for_the_grace_time_and_is_then_forgotten() -> None:
    async def body() -> None:
        registry = RunRegistry(2, 0.1)
        run = registry.start(words("a"))
        first = await collect(run)
        assert await collect(registry.get(run.id)) == first
        await asyncio.sleep(0.2)
        with pytest.raises(NotFound):
            registry.get(run.id)
        assert registry.kept == 0

    run_async(body)


def test_the_number_of_finished_runs_kept_is_bounded_and_the_newest_stay() -> None:
    async def body() -> None:
        registry = RunRegistry(3, 60)
        for _ in range(50):
            run = registry.start(words("a"))
            await collect(run)
            await asyncio.sleep(0)
        assert registry.kept <= 3 * KEPT_PER_SLOT + 1
        assert registry.get(run.id) is run

    run_async(body)


def test_a_closed_registry_cancels_everything_and_takes_nothing_new() -> None:
    async def body() -> None:
        sources = [Endless() for _ in range(3)]
        registry = RunRegistry(5, 60)
        for source in sources:
            registry.start(source.events())
        await asyncio.sleep(0.01)
        await registry.close()
        assert all(source.is_closed for source in sources)
        with pytest.raises(Busy):
            registry.start(words("a"))

    run_async(body)


def test_work_done_whole_takes_a_place_and_is_cancelled_when_the_registry_closes() -> None:
    async def body() -> None:
        registry = RunRegistry(1, 60)

        async def work() -> None:
            with registry.whole():
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        with pytest.raises(Busy), registry.whole():
            raise AssertionError("there was no place")
        await registry.close()
        await asyncio.wait({task})
        assert task.cancelled()
        assert registry.active == 0

    run_async(body)


def test_a_source_that_breaks_the_law_still_ends_its_run() -> None:
    async def broken() -> AsyncGenerator[Event]:
        yield TextEvent(delta="a")
        raise RuntimeError("a bug")

    async def body() -> None:
        registry = RunRegistry(1, 5)
        events = await collect(registry.start(broken()))
        assert events[-1][1].type == "cancelled"
        assert registry.active == 0

    run_async(body)
