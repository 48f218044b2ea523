"""Checks a given text or given claims against sources, with the checker and the events of an answer of our own."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from medcite_core.answers import Answer, Claim, SearchReport, Statement
from medcite_core.ports import EvidenceFinder
from medcite_core.types import Evidence, Source, Span
from medcite_middleware.events import Event, EvidenceEvent, FinishedEvent, TextEvent
from medcite_middleware.pipeline.claim_check import Checked, CheckTask, ClaimChecker
from medcite_middleware.pipeline.failures import as_events
from medcite_middleware.pipeline.splitting import Splitter, split_claims
from medcite_middleware.shaping import answer_out, evidence_out, search_out


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """A text, and the evidence that its `[n]` cite.

    `claims`, when given, are checked as they are; otherwise the text is split. `finder` looks for more evidence.
    `question` explains an elliptic text and is never evidence. `request_id` goes into errors.
    """

    text: str
    evidence: tuple[Evidence, ...]
    corpus_records: int
    question: str = ""
    claims: tuple[Claim, ...] | None = None
    finder: EvidenceFinder | None = None
    ask_anew: bool = False
    request_id: str = ""


class VerifyPipeline:
    """Split a text into claims, check each, finish."""

    def __init__(self, checker: ClaimChecker, *, versions: Mapping[str, str], splitter: Splitter | None = None) -> None:
        self._checker = checker
        self._splitter = splitter
        self._versions = versions

    def run(self, request: VerifyRequest, on_answer: Callable[[Answer], object] | None = None) -> AsyncGenerator[Event]:
        """The events of a run, without the first `run`; the last is `finished`, `incomplete` or `error`.

        `on_answer` is told the finished check before its event.
        """
        return as_events(self.steps(request, on_answer), request.request_id)

    async def steps(
        self, request: VerifyRequest, on_answer: Callable[[Answer], object] | None = None
    ) -> AsyncGenerator[Event]:
        """The events up to `finished`."""
        started = time.monotonic()
        report = search_report(request)
        yield EvidenceEvent(evidence=[evidence_out(e) for e in request.evidence], search=search_out(report))
        yield TextEvent(delta=request.text)
        statements: tuple[Statement, ...] = ()
        claims = request.claims or ()
        if request.claims is None:
            split = await split_claims(request.text, request.question, self._splitter)
            claims, statements = split.claims, split.statements
        checked = Checked()
        async with aclosing(self._checker.run(check_task(request, claims), checked)) as checking:
            async for event in checking:
                yield event
        answer = self._answer(request, checked, statements, report, started)
        if on_answer is not None:
            on_answer(answer)
        yield FinishedEvent(answer=answer_out(answer), outcome=answer.outcome)

    async def answer(self, request: VerifyRequest, on_event: Callable[[Event], object] | None = None) -> Answer:
        """The finished check; `on_event` is told every step."""
        started = time.monotonic()
        statements: tuple[Statement, ...] = ()
        claims = request.claims or ()
        if request.claims is None:
            split = await split_claims(request.text, request.question, self._splitter)
            claims, statements = split.claims, split.statements
        checked = Checked()
        async with aclosing(self._checker.run(check_task(request, claims), checked)) as checking:
            async for event in checking:
                if on_event is not None:
                    on_event(event)
        return self._answer(request, checked, statements, search_report(request), started)

    def _answer(
        self,
        request: VerifyRequest,
        checked: Checked,
        statements: tuple[Statement, ...],
        report: SearchReport,
        started: float,
    ) -> Answer:
        return Answer(
            question=request.question,
            text=request.text,
            mode="given",
            outcome="answered",
            claims=checked.claims,
            verdicts=tuple(checked.verdicts),
            evidence=checked.evidence,
            search=report,
            evidence_found=len(checked.evidence),
            versions=tuple(self._versions.items()),
            timings_ms=(("total", round((time.monotonic() - started) * 1000, 1)),),
            statements=statements,
        )


def check_task(request: VerifyRequest, claims: tuple[Claim, ...]) -> CheckTask:
    """What a request asks of the checker: a pasted text needs no citations, but those it has are judged."""
    given = frozenset(e.source.source_id for e in request.evidence)
    return CheckTask(
        request.text,
        claims,
        request.evidence,
        given,
        request.question,
        needs_citation=False,
        finder=request.finder,
        ask_anew=request.ask_anew,
    )


def search_report(request: VerifyRequest) -> SearchReport:
    """What was searched, for a check."""
    note = "The sources were given; nothing was searched." if request.finder is None else ""
    return SearchReport(
        mode="lexical" if request.finder is None else "hybrid",
        applied_filter={},
        passed=len({e.source.source_id for e in request.evidence}),
        passed_by={},
        corpus_records=request.corpus_records,
        query="",
        note=note,
    )


def whole_sources(sources: Sequence[Source]) -> tuple[Evidence, ...]:
    """Each source as one piece of evidence: its abstract or its whole text; `[n]` names the n-th."""
    return tuple(_whole(number, source) for number, source in enumerate(sources, start=1))


def _whole(number: int, source: Source) -> Evidence:
    body = [section for section in source.sections if section.kind == "abstract"]
    parts = body or list(source.sections)
    span = Span(parts[0].span.start, parts[-1].span.end) if parts else Span(0, len(source.text))
    return Evidence(number, source, "", "abstract" if body else "title", span, span.of(source.text), 1.0)
