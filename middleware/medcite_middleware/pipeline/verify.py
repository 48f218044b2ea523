"""Checks a given text against given records, with the same judge and the same events as an answer of our own."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from medcite_core.answers import Answer, SearchReport
from medcite_core.errors import NotFound
from medcite_core.ports import Judge, RecordStore
from medcite_core.types import Evidence, Record, Span
from medcite_middleware.events import Event, EvidenceEvent, FinishedEvent, TextEvent
from medcite_middleware.pipeline.checking import Checked, check_claims, in_thread
from medcite_middleware.pipeline.failures import as_events
from medcite_middleware.shaping import answer_out, evidence_out, search_out
from medcite_middleware.verification.claims import split_claims


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """A text, and the evidence that its `[n]` cite; `request_id` goes into errors."""

    text: str
    evidence: tuple[Evidence, ...]
    corpus_records: int
    request_id: str = ""


class VerifyPipeline:
    """Split a text into claims, judge each, finish."""

    def __init__(self, store: RecordStore, judge: Judge, *, versions: Mapping[str, str]) -> None:
        self._store = store
        self._judge = judge
        self._versions = versions

    async def prepare(self, text: str, pmids: Sequence[str], request_id: str = "") -> VerifyRequest:
        """Read the sources of a request; `[n]` in `text` cites the n-th PMID.

        Raises:
            NotFound: a source is not in the corpus.
        """
        records = await in_thread(self._store.get, list(pmids))
        missing = [pmid for pmid in pmids if pmid not in records]
        if missing:
            raise NotFound(f"not in the corpus: PMID {', '.join(missing)}", "Name records that the corpus holds.")
        evidence = tuple(_whole(number, records[pmid]) for number, pmid in enumerate(pmids, start=1))
        return VerifyRequest(text, evidence, await in_thread(self._store.count), request_id)

    def run(self, request: VerifyRequest) -> AsyncGenerator[Event]:
        """The events of a run, without the first `run`; the last is `finished`, `incomplete` or `error`."""
        return as_events(self.steps(request), request.request_id)

    async def steps(self, request: VerifyRequest) -> AsyncGenerator[Event]:
        """The events up to `finished`."""
        started = time.monotonic()
        evidence = request.evidence
        report = SearchReport(
            mode="lexical",
            applied_filter={},
            passed=len(evidence),
            passed_by={},
            corpus_records=request.corpus_records,
            query="",
            note="The sources were given; nothing was searched.",
        )
        yield EvidenceEvent(evidence=[evidence_out(e) for e in evidence], search=search_out(report))
        yield TextEvent(delta=request.text)
        claims = await in_thread(split_claims, request.text)
        checked = Checked()
        async with aclosing(check_claims(self._judge, request.text, claims, evidence, checked)) as checking:
            async for event in checking:
                yield event
        answer = Answer(
            question="",
            text=request.text,
            mode="given",
            outcome="answered",
            claims=checked.claims,
            verdicts=tuple(checked.verdicts),
            evidence=evidence,
            search=report,
            evidence_found=len(evidence),
            versions=tuple(self._versions.items()),
            timings_ms=(("total", round((time.monotonic() - started) * 1000, 1)),),
        )
        yield FinishedEvent(answer=answer_out(answer), outcome=answer.outcome)


def _whole(number: int, record: Record) -> Evidence:
    """A record's abstract as one piece of evidence; its title when it has no abstract."""
    abstract = [section for section in record.sections if section.kind == "abstract"]
    parts = abstract or list(record.sections)
    span = Span(parts[0].span.start, parts[-1].span.end) if parts else Span(0, len(record.text))
    return Evidence(number, record, "", "abstract" if abstract else "title", span, span.of(record.text), 1.0)
