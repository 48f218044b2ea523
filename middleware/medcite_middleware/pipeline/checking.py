"""Checks the claims of a text one after another, as events: every claim gets exactly one verdict."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

import structlog

from medcite_core.answers import Claim, Verdict
from medcite_core.errors import MedciteError
from medcite_core.ports import Case, Judge
from medcite_core.types import Evidence
from medcite_middleware.events import ClaimEvent, Event, StageEvent, VerdictEvent
from medcite_middleware.shaping import claim_out, verdict_out

log = structlog.get_logger(__name__)
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


@dataclass
class Checked:
    """What a check has found so far."""

    claims: tuple[Claim, ...] = ()
    verdicts: list[Verdict] = field(default_factory=list)


async def check_claims(
    judge: Judge,
    text: str,
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    checked: Checked,
    *,
    needs_citation: bool = True,
) -> AsyncGenerator[Event]:
    """All claims, then a verdict for each in the same order; `checked` is filled on the way."""
    checked.claims = tuple(claims)
    for claim in claims:
        yield ClaimEvent(claim=claim_out(claim))
    for done, claim in enumerate(claims):
        yield StageEvent(name="check", done=done, total=len(claims))
        case = Case(claim, text, tuple(evidence), needs_citation=needs_citation)
        verdict = await in_thread(_verdict_of, judge, case)
        checked.verdicts.append(verdict)
        yield VerdictEvent(verdict=verdict_out(verdict))
    if claims:
        yield StageEvent(name="check", done=len(claims), total=len(claims))


def _verdict_of(judge: Judge, case: Case) -> Verdict:
    try:
        return judge.judge(case)
    except (MedciteError, ValueError, ArithmeticError, LookupError) as error:
        # One claim that breaks the judge must not cost the reader the answer; it never counts as supported.
        log.error("judge_failed", error=type(error).__name__, claim_id=case.claim.id)
        return Verdict(case.claim.id, "unchecked", "judge_failed", "The check of this sentence failed inside medcite.")
