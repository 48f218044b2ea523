"""How a question becomes a checked answer: the one place that states the order in which things happen."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from medcite_core.answers import Answer, Claim, Statement, Turn
from medcite_core.errors import ModelReplyCut, ModelUnavailable
from medcite_core.filters import SearchFilter
from medcite_core.ports import EvidenceFinder
from medcite_core.types import Evidence, Passage, Record
from medcite_middleware.answering.evidence import select_evidence
from medcite_middleware.answering.prompting import says_no_answer
from medcite_middleware.answering.quotations import quote_answer
from medcite_middleware.events import Event, EvidenceEvent, FinishedEvent, StageEvent, TextEvent
from medcite_middleware.pipeline.claim_check import Checked, CheckTask, ClaimChecker
from medcite_middleware.pipeline.failures import as_events
from medcite_middleware.pipeline.refusals import Refusal, nothing_to_quote, refusal
from medcite_middleware.pipeline.splitting import Splitter, split_claims
from medcite_middleware.pipeline.threads import in_thread
from medcite_middleware.pipeline.understanding import Found, Rewriter, Searcher, search, understand
from medcite_middleware.shaping import answer_out, evidence_out, search_out

MAX_ANSWER_CHARS = 20_000
"""A reply that goes on longer is cut: a model server may never stop. As long as a turn of a history may be."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """One question. `k` is the number of passages, None for the setting; `request_id` goes into errors."""

    question: str
    search_filter: SearchFilter = field(default_factory=SearchFilter)
    history: tuple[Turn, ...] = ()
    k: int | None = None
    request_id: str = ""


class Writer(Protocol):
    """Writes an answer with a chat model."""

    def fit(self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn]) -> tuple[Evidence, ...]:
        """The strongest of `evidence` that the model's window holds beside the rules and the question."""
        ...

    def stream(self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn]) -> AsyncGenerator[str, None]:
        """The answer piece by piece."""
        ...


@dataclass
class _State:
    """What one run has built so far."""

    mode: Literal["generated", "quotations"]
    started: float = field(default_factory=time.monotonic)
    timings: dict[str, float] = field(default_factory=dict)
    meant: str = ""  # the question, made to stand alone
    text: str = ""
    found: int = 0  # pieces of evidence before the model's window cut them
    claims: tuple[Claim, ...] = ()
    statements: tuple[Statement, ...] = ()
    refused: Refusal | None = None
    checked: Checked = field(default_factory=Checked)

    def note(self, name: str, since: float) -> None:
        """Keep the time of a step, in milliseconds."""
        self.timings[name] = round((time.monotonic() - since) * 1000, 1)


class AskPipeline:
    """Understand, search, refuse or select evidence, write, split into claims, judge each, finish.

    Without a `writer` the answer is made of quotations; without a `rewriter` follow-ups are understood, and without a
    `splitter` texts are split, by rules.
    What is found for a claim beside the answer's own evidence comes from `finder`; quotations need none.
    `min_cosine` is the threshold that the searcher applies, for the words of a refusal; `allow_retracted` lets
    retracted records be quoted. It holds no state of a question: any number of runs can go on at the same time.
    """

    def __init__(
        self,
        searcher: Searcher,
        writer: Writer | None,
        checker: ClaimChecker,
        *,
        finder: EvidenceFinder | None = None,
        min_cosine: float,
        allow_retracted: bool,
        versions: Mapping[str, str],
        rewriter: Rewriter | None = None,
        splitter: Splitter | None = None,
    ) -> None:
        self._searcher = searcher
        self._rewriter = rewriter
        self._writer = writer
        self._splitter = splitter
        self._checker = checker
        self._finder = finder
        self._min_cosine = min_cosine
        self._allow_retracted = allow_retracted
        self._versions = versions

    def run(self, request: AskRequest) -> AsyncGenerator[Event]:
        """The events of a run, without the first `run`; the last is `finished`, `incomplete` or `error`."""
        return as_events(self.steps(request), request.request_id)

    async def steps(self, request: AskRequest) -> AsyncGenerator[Event]:
        """The events up to `finished`.

        Raises:
            MedciteError: the run could not go on; what the text events held is then no answer.
        """
        state = _State("generated" if self._writer else "quotations")
        since = time.monotonic()
        if request.history:
            yield StageEvent(name="understand")
        understood = await understand(request.question, request.history, self._rewriter)
        state.meant = understood.question
        if request.history:
            state.note("understand", since)
            since = time.monotonic()
        yield StageEvent(name="search")
        found = await search(self._searcher, understood, request.search_filter, request.k)
        state.note("search", since)
        state.refused = refusal(found.report, found.passages, found.relevant, self._min_cosine)
        evidence: tuple[Evidence, ...] = ()
        if state.refused is None:
            yield StageEvent(name="read", total=len(found.relevant))
            evidence = await in_thread(self._select, request, found.relevant, state)
        yield EvidenceEvent(evidence=[evidence_out(e) for e in evidence], search=search_out(found.report))
        if state.refused is None:
            yield StageEvent(name="write")
            since = time.monotonic()
            async with aclosing(self._write(request, evidence, state)) as writing:
                async for event in writing:
                    yield event
            state.note("write", since)
        if state.refused is not None and not state.text:
            state.text = state.refused.text
            yield TextEvent(delta=state.text)
        since = time.monotonic()
        task = CheckTask(
            state.text,
            state.claims,
            evidence,
            question=state.meant,
            needs_citation=True,
            finder=self._finder if state.mode == "generated" else None,
        )
        async with aclosing(self._checker.run(task, state.checked)) as checking:
            async for event in checking:
                yield event
        state.note("check", since)
        yield self._finish(request, state, found, evidence)

    def _select(self, request: AskRequest, relevant: Sequence[Passage], state: _State) -> tuple[Evidence, ...]:
        """Numbered evidence. What may support nothing comes last: it is shown, and the model never sees it."""
        evidence = select_evidence(sorted(relevant, key=lambda p: not self._may_support(p.record)))
        state.found = len(evidence)
        if self._writer is None:
            return evidence
        fitting = self._writer.fit(state.meant, self._for_model(evidence), request.history)
        shown = (*fitting, *(e for e in evidence if not self._may_support(e.record)))
        return tuple(replace(e, number=number) for number, e in enumerate(shown, start=1))

    def _may_support(self, record: Record) -> bool:
        return record.is_usable_as_support or self._allow_retracted

    def _for_model(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(e for e in evidence if self._may_support(e.record))

    async def _write(self, request: AskRequest, evidence: tuple[Evidence, ...], state: _State) -> AsyncGenerator[Event]:
        allow = self._allow_retracted
        if not self._for_model(evidence):
            state.refused = nothing_to_quote(evidence, allow_retracted=allow)
            return
        if self._writer is None:
            draft = await in_thread(quote_answer, state.meant, evidence, allow_retracted=allow)
            state.text, state.claims = draft.text, draft.claims
            if draft.claims:
                yield TextEvent(delta=draft.text)
            else:
                state.refused = nothing_to_quote(evidence, allow_retracted=allow)
            return
        since = time.monotonic()
        async with (
            aclosing(self._writer.stream(state.meant, self._for_model(evidence), request.history)) as pieces,
            aclosing(trimmed(pieces)) as text,
        ):
            async for piece in text:
                if not state.text:
                    state.note("first_text", since)
                state.text += piece
                yield TextEvent(delta=piece)
                if len(state.text) > MAX_ANSWER_CHARS:
                    raise ModelReplyCut(
                        f"the chat model's reply did not end within {MAX_ANSWER_CHARS:,} characters",
                        "Lower MEDCITE_LLM__MAX_TOKENS, or use a model that keeps to it.",
                    )
        if not state.text:
            raise ModelUnavailable("the chat model's reply is empty", "Ask again, or try another model.")
        if says_no_answer(state.text):
            state.refused = Refusal("nothing_relevant", state.text)
            return
        since = time.monotonic()
        split = await split_claims(state.text, state.meant, self._splitter)
        state.note("split", since)
        state.claims, state.statements = split.claims, split.statements

    def _finish(
        self, request: AskRequest, state: _State, found: Found, evidence: tuple[Evidence, ...]
    ) -> FinishedEvent:
        state.note("total", state.started)
        answer = Answer(
            question=request.question,
            text=state.text,
            mode=state.mode,
            outcome=state.refused.outcome if state.refused else "answered",
            claims=state.checked.claims,
            verdicts=tuple(state.checked.verdicts),
            evidence=state.checked.evidence or evidence,
            search=found.report,
            evidence_found=state.found,
            versions=tuple(self._versions.items()),
            timings_ms=tuple(state.timings.items()),
            statements=state.statements,
        )
        return FinishedEvent(answer=answer_out(answer), outcome=answer.outcome)


async def trimmed(pieces: AsyncIterator[str]) -> AsyncGenerator[str]:
    """`pieces` without white space at the very start and the very end, so that their sum is the answer's text."""
    held = ""
    has_begun = False
    async for piece in pieces:
        held += piece
        if not has_begun:
            held = held.lstrip()
        body = held.rstrip()
        if body:
            has_begun = True
            yield body
            held = held[len(body) :]
