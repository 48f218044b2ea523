"""Checks claims: finds evidence for and against each, asks the judges, and gives every claim exactly one verdict.

The loop of one claim is a LangGraph: retrieve → judge → (replay | ask → check → revise …) → decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import structlog
from langgraph.graph import END, START, StateGraph

from medcite_core.answers import Claim, Verdict
from medcite_core.errors import MedciteError
from medcite_core.ports import Case, CheckedReply, EvidenceFinder, Judge, JudgeReply, ModelJudge
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence
from medcite_middleware.events import ClaimEvent, ClaimStepEvent, Event, EvidenceAddedEvent, StageEvent, VerdictEvent
from medcite_middleware.pipeline.threads import in_thread
from medcite_middleware.shaping import claim_out, evidence_out, verdict_out
from medcite_middleware.verification.policy import Veto, combine, is_open
from medcite_middleware.verification.verdict_store import VerdictMemory, what_changed

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckTask:
    """What is checked: the claims of `text`, against `evidence` and what `finder` finds beside it.

    `given` are the ids of the sources that a reader named; `needs_citation` is set for an answer of the chat; with
    `ask_anew` a stored verdict of a chat model is not replayed.
    """

    text: str
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...] = ()
    given: frozenset[str] = frozenset()
    question: str = ""
    needs_citation: bool = False
    finder: EvidenceFinder | None = None
    ask_anew: bool = False


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim's verdict, and all the evidence that it was judged by."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


@dataclass
class Checked:
    """What a check has found so far; `evidence` beyond what was given is numbered on from it."""

    claims: tuple[Claim, ...] = ()
    verdicts: list[Verdict] = field(default_factory=list)
    evidence: tuple[Evidence, ...] = ()


class _State(TypedDict, total=False):
    """What the graph carries of one claim."""

    task: CheckTask
    pool: _Pool
    case: Case
    note: str
    votes: list[Verdict]
    kept: Verdict | None
    reply: JudgeReply
    checked: CheckedReply
    revisions: int
    calls: int
    verdict: Verdict


class _Pool:
    """The evidence that the claims of one text share, numbered without gaps; the same passage has one number."""

    def __init__(self, evidence: Sequence[Evidence], tell: Callable[[Event], object] | None = None) -> None:
        self.items = list(evidence)
        self._tell = tell
        self._numbers = {(e.source.source_id, e.span): e for e in evidence}

    def add(self, found: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """`found` with the numbers of this pool."""
        numbered = []
        known = len(self.items)
        for one in found:
            key = (one.source.source_id, one.span)
            if key not in self._numbers:
                self._numbers[key] = replace(one, number=len(self.items) + 1)
                self.items.append(self._numbers[key])
            numbered.append(self._numbers[key])
        if self._tell is not None and len(self.items) > known:
            self._tell(EvidenceAddedEvent(evidence=[evidence_out(e) for e in self.items[known:]]))
        return tuple(numbered)


class ClaimChecker:
    """Checks claims with the judges at hand. It holds no state of a check: any number can go on at the same time."""

    def __init__(
        self,
        judges: Sequence[Judge],
        model_judge: ModelJudge | None,
        settings: VerifySettings,
        *,
        figures_hold: Veto | None = None,
        memory: VerdictMemory | None = None,
    ) -> None:
        """`judges` are asked in order; the first is the rules. `memory` keeps what the chat model said."""
        self._judges = tuple(judges)
        self._model = model_judge
        self._settings = settings
        self._figures_hold = figures_hold
        self._memory = memory
        self._graph = self._build()

    @property
    def reads_passages(self) -> bool:
        """Whether a judge reads single passages: rules read whole sources, models do not."""
        return self._model is not None or len(self._judges) > 1

    # ------------------------------------------------------------ many claims

    async def run(self, task: CheckTask, checked: Checked) -> AsyncGenerator[Event]:
        """All claims, then their verdicts as they come; in the end `checked` holds them in the order of the claims."""
        checked.claims = task.claims
        for claim in task.claims:
            yield ClaimEvent(claim=claim_out(claim))
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        pool = _Pool(task.evidence, events.put_nowait)
        verdicts: dict[str, Verdict] = {}
        gate = asyncio.Semaphore(self._settings.concurrency)

        async def one(claim: Claim) -> None:
            async with gate:
                verdict = await self._verdict(claim, task, pool, events.put_nowait)
                verdicts[claim.id] = verdict
                events.put_nowait(VerdictEvent(verdict=verdict_out(verdict)))
                events.put_nowait(StageEvent(name="check", done=len(verdicts), total=len(task.claims)))

        async def all_of_them() -> None:
            try:
                async with asyncio.TaskGroup() as group:
                    for claim in task.claims:
                        group.create_task(one(claim))
            finally:
                events.put_nowait(None)

        if task.claims:
            yield StageEvent(name="check", done=0, total=len(task.claims))
        work = asyncio.create_task(all_of_them())
        try:
            while (event := await events.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
        checked.verdicts = [verdicts[claim.id] for claim in task.claims]
        checked.evidence = tuple(pool.items)

    async def verdict(self, claim: Claim, task: CheckTask) -> ClaimResult:
        """One claim by itself; what is found for it is numbered on from the task's evidence."""
        pool = _Pool(task.evidence)
        verdict = await self._verdict(claim, task, pool, None)
        return ClaimResult(verdict, tuple(pool.items))

    async def _verdict(
        self, claim: Claim, task: CheckTask, pool: _Pool, tell: Callable[[Event], object] | None
    ) -> Verdict:
        case = Case(claim, task.text, task.evidence, task.given, task.question, task.needs_citation)
        state: dict[str, Any] = {"task": task, "pool": pool, "case": case, "revisions": 0, "calls": 0, "note": ""}
        try:
            async for update in self._graph.astream(state, stream_mode="updates"):
                for step, change in update.items():
                    if tell is not None and step != "decide":
                        tell(ClaimStepEvent(claim_id=claim.id, step=step))
                    state.update(change or {})
        except (MedciteError, ValueError, ArithmeticError, LookupError) as error:
            # One claim that breaks a judge must not cost the reader the others; it never counts as supported.
            log.error("judge_failed", error=type(error).__name__, claim_id=claim.id)
            said = (
                error.message if isinstance(error, MedciteError) else "the check of this sentence failed inside medcite"
            )
            return Verdict(claim.id, "unchecked", "judge_failed", f"It could not be checked: {said}.", judge="policy")
        verdict: Verdict = state["verdict"]
        return verdict

    # ------------------------------------------------------------ the graph of one claim

    def _build(self) -> Any:
        graph = StateGraph(_State)
        graph.add_node("retrieve", self._retrieve)
        graph.add_node("judge", self._judge)
        graph.add_node("ask", self._ask)
        graph.add_node("check", self._check)
        graph.add_node("revise", self._revise)
        graph.add_node("decide", self._decide)
        graph.add_edge(START, "retrieve")
        graph.add_edge("retrieve", "judge")
        graph.add_node("replay", self._replay)
        graph.add_edge("replay", "decide")
        after_judge: dict[Hashable, str] = {"ask": "ask", "replay": "replay", "decide": "decide"}
        graph.add_conditional_edges("judge", self._after_judge, after_judge)
        graph.add_edge("ask", "check")
        after_check: dict[Hashable, str] = {"revise": "revise", "decide": "decide"}
        graph.add_conditional_edges("check", self._after_check, after_check)
        graph.add_edge("revise", "check")
        graph.add_edge("decide", END)
        return graph.compile()

    async def _retrieve(self, state: _State) -> dict[str, Any]:
        task, case = state["task"], state["case"]
        if task.finder is None or case.claim.is_quotation:
            return {}
        found = await in_thread(task.finder.find, case.claim, task.evidence)
        added = state["pool"].add(found.evidence)
        have = {e.number for e in case.evidence}
        more = tuple(e for e in added if e.number not in have)
        return {"case": replace(case, evidence=(*case.evidence, *more)), "note": found.note}

    async def _judge(self, state: _State) -> dict[str, Any]:
        case = state["case"]
        votes = [await in_thread(self._judges[0].judge, case)]
        if is_open(case, votes[0]):
            for judge in self._judges[1:]:
                votes.append(await in_thread(judge.judge, case))
        kept = None
        if self._memory is not None and is_open(case, votes[0]):
            kept = await in_thread(self._memory.get, case)
        return {"votes": votes, "kept": kept}

    def _after_judge(self, state: _State) -> str:
        if self._model is None or not is_open(state["case"], state["votes"][0]):
            return "decide"
        return "replay" if state["kept"] is not None and not state["task"].ask_anew else "ask"

    async def _replay(self, state: _State) -> dict[str, Any]:
        assert state["kept"] is not None
        return {"checked": CheckedReply(state["kept"])}

    async def _ask(self, state: _State) -> dict[str, Any]:
        assert self._model is not None
        reply = await self._model.ask(state["case"])
        return {"reply": reply, "calls": reply.calls}

    async def _check(self, state: _State) -> dict[str, Any]:
        assert self._model is not None
        return {"checked": self._model.check(state["case"], state["reply"])}

    def _after_check(self, state: _State) -> str:
        is_done = not state["checked"].problems or state["revisions"] >= self._settings.max_revisions
        return "decide" if is_done else "revise"

    async def _revise(self, state: _State) -> dict[str, Any]:
        assert self._model is not None
        reply = await self._model.ask(state["case"], state["reply"], state["checked"].problems)
        return {"reply": reply, "revisions": state["revisions"] + 1, "calls": state["calls"] + reply.calls}

    async def _decide(self, state: _State) -> dict[str, Any]:
        votes = list(state["votes"])
        changed = ""
        if "checked" in state:
            said = replace(state["checked"].verdict, calls=state["calls"])
            votes.append(said)
            # What could not be decided is not kept: the next time it may be.
            if self._memory is not None and "reply" in state and said.label != "unchecked":
                await in_thread(self._memory.put, state["case"], said)
                changed = what_changed(state["kept"], said) if state["kept"] is not None else ""
        verdict = combine(state["case"], votes, self._settings, self._figures_hold)
        searched = " ".join(part for part in (verdict.searched, state["note"], changed) if part)
        return {"verdict": replace(verdict, searched=searched)}
