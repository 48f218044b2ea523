"""The worker threads of the process: blocking work goes there, and there are never more of them than a limit."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
MAX_THREADS = 32
"""Searches, checks and readings that go on at the same time in the whole process."""


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking `work` in one of at most `MAX_THREADS` worker threads.

    When the caller is cancelled it does not wait for the thread, whose result is then dropped; but the thread counts
    until it has ended, so that work which hangs cannot pile up.
    """
    call = functools.partial(contextvars.copy_context().run, functools.partial(work, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, "medcite")
