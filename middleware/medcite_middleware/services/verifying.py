"""Checks given texts and claims: against the corpus, against records of it, or against documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from medcite_core.answers import Answer, Claim, Verdict
from medcite_core.errors import IndexMissing, InvalidInput, NotFound, NotReady
from medcite_core.ports import CorpusIndex, Embedder, EvidenceFinder
from medcite_core.settings import VerifySettings
from medcite_core.types import Evidence, Source
from medcite_middleware.events import Event
from medcite_middleware.export.verdicts.report import (
    ReportEntry,
    ReportSource,
    VerificationReport,
    entry_of,
    report_of_answer,
)
from medcite_middleware.pipeline.claim_check import ClaimChecker
from medcite_middleware.pipeline.evidence_finding import DocumentFinder
from medcite_middleware.pipeline.splitting import Splitter
from medcite_middleware.pipeline.threads import in_thread
from medcite_middleware.pipeline.verify import VerifyPipeline, VerifyRequest, check_task, whole_sources
from medcite_middleware.services.report_shelf import ReportShelf
from medcite_middleware.services.runs import Run, RunRegistry
from medcite_middleware.verification.claims import claim_of

SMALL_CHARS = 6_000
"""Sources of fewer characters together are read whole by every judge; of larger ones models read the best passages."""


@dataclass(frozen=True, slots=True)
class Against:
    """What to check against: the corpus, records of it by PMID, and documents; any of them together."""

    corpus: bool = False
    pmids: tuple[str, ...] = ()
    documents: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckInput:
    """A text, or claims one by one; `question` is what they answer."""

    text: str = ""
    claims: tuple[str, ...] = ()
    question: str = ""
    ask_anew: bool = False
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A line of a claims file. `pmids` are the records that it cites; `problem` says why it cannot be checked."""

    row: int
    claim: str
    id: str = ""
    question: str = ""
    pmids: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class OpenSources:
    """Sources made ready once for any number of claims."""

    against: Against
    evidence: tuple[Evidence, ...]
    finder: EvidenceFinder | None
    listed: tuple[ReportSource, ...] = field(default=())

    @property
    def given(self) -> frozenset[str]:
        """Ids of the sources that were named one by one."""
        return frozenset(e.source.source_id for e in self.evidence)


class VerifyService:
    """Checks texts and claims. Without an index it checks against documents only; `finder` searches the corpus."""

    def __init__(
        self,
        checker: ClaimChecker,
        runs: RunRegistry,
        settings: VerifySettings,
        *,
        index: CorpusIndex | None,
        finder: EvidenceFinder | None,
        embedder: Embedder | None,
        versions: Mapping[str, str],
        splitter: Splitter | None = None,
    ) -> None:
        self._checker = checker
        self._runs = runs
        self._settings = settings
        self._index = index
        self._finder = finder
        self._embedder = embedder
        self._versions = dict(versions)
        self._pipeline = VerifyPipeline(checker, versions=versions, splitter=splitter)
        self._reports = ReportShelf()

    @property
    def versions(self) -> dict[str, str]:
        """Of medcite, models, prompts and rules; they stand in every report."""
        return dict(self._versions)

    @property
    def concurrency(self) -> int:
        """Claims that are checked at the same time."""
        return self._settings.concurrency

    async def open(self, against: Against) -> OpenSources:
        """Read the sources.

        Raises:
            NotFound: a record is not in the corpus.
            IndexMissing: there is no corpus.
            InvalidInput: nothing is named.
        """
        if not (against.corpus or against.pmids or against.documents):
            raise InvalidInput("nothing to check against", "Name the corpus, PMIDs, or documents.")
        records = await self._records(against.pmids)
        sources = [*records, *against.documents]
        listed = [ReportSource(kind="record", id=r.source_id, name=r.title) for r in records]
        if against.corpus:
            index = self._corpus()
            listed.insert(0, ReportSource(kind="corpus", id="corpus", name=f"the corpus ({index.count():,} records)"))
        listed += [_listed(document) for document in against.documents]
        finder: EvidenceFinder | None = None
        if against.corpus:
            finder = self._finder
        elif self._checker.reads_passages and sum(len(source.text) for source in sources) > SMALL_CHARS:
            finder = await in_thread(DocumentFinder, sources, self._embedder, self._settings)
        return OpenSources(against, whole_sources(sources), finder, tuple(listed))

    async def request(self, given: CheckInput, sources: OpenSources) -> VerifyRequest:
        """What the pipeline is asked."""
        text, claims = given.text, None
        if given.claims:
            text, claims = joined_claims(given.claims, given.question)
        return VerifyRequest(
            text,
            sources.evidence,
            await in_thread(self._index.count) if self._index is not None else 0,
            question=given.question,
            claims=claims,
            finder=sources.finder,
            ask_anew=given.ask_anew,
            request_id=given.request_id,
        )

    async def start(self, given: CheckInput, against: Against) -> Run:
        """Begin to check; the run's events tell the rest.

        Raises:
            NotFound: a record is not in the corpus.
            Busy: too many runs are going on.
        """
        opened = await self.open(against)
        request = await self.request(given, opened)
        run_id = ""

        def keep(answer: Answer) -> None:
            self._reports.put(run_id, self._report(answer, opened.listed))

        run = self._runs.start(self._pipeline.run(request, keep))
        run_id = run.id  # known before the run's first step, which comes after this one
        return run

    def report(self, run_id: str) -> VerificationReport:
        """The report of a finished check, kept for a while.

        Raises:
            NotReady: the check is still going on.
            NotFound: it never was, did not finish, or its report is not kept any more.
        """
        found = self._reports.get(run_id)
        if found is None and not self._runs.get(run_id).is_finished:
            raise NotReady("this check has not finished yet", "Wait for its end; the report comes with it.")
        if found is None:
            raise NotFound("there is no report of this run", "Only a check that ran to its end has one.")
        return found

    def _report(self, answer: Answer, sources: Sequence[ReportSource]) -> VerificationReport:
        created = datetime.now(UTC).isoformat(timespec="seconds")
        settings = {
            "verify": self._settings.model_dump(mode="json"),
            "llm": {"model": self._versions.get("chat_model", "")},
        }
        return report_of_answer(answer, sources, created=created, settings=settings)

    async def check(
        self, given: CheckInput, sources: OpenSources, on_event: Callable[[Event], object] | None = None
    ) -> Answer:
        """The finished check of a text, as an answer of mode `given`; `on_event` is told every step."""
        return await self._pipeline.answer(await self.request(given, sources), on_event)

    async def entry(self, row: ClaimRow, sources: OpenSources) -> ReportEntry:
        """One line of a claims file, checked by itself. A record that is missing makes that one line fail."""
        if row.problem:
            return ReportEntry(
                row=row.row,
                id=row.id,
                claim=row.claim,
                verdict="invalid",
                state="invalid",
                explanation=row.problem,
                question=row.question,
                pmids=list(row.pmids),
            )
        claim = replace(claim_of(row.claim, question=row.question), cited=())
        evidence = sources.evidence
        if row.pmids:
            try:
                cited = await self._records(row.pmids)
            except (NotFound, IndexMissing) as error:
                verdict = Verdict(
                    claim.id,
                    "unchecked",
                    "source_missing",
                    f"It could not be checked: {error.message}.",
                    judge="policy",
                )
                return self._entry(row, claim, verdict, ())
            evidence = (*whole_sources(cited), *_renumbered(sources.evidence, len(cited)))
            claim = replace(claim, cited=tuple(range(1, len(cited) + 1)))
        request = VerifyRequest(row.claim, evidence, 0, question=row.question, finder=sources.finder)
        result = await self._checker.verdict(claim, check_task(request, (claim,)))
        return self._entry(row, claim, result.verdict, result.evidence)

    def _entry(self, row: ClaimRow, claim: Claim, verdict: Verdict, evidence: Sequence[Evidence]) -> ReportEntry:
        return entry_of(
            row.row,
            row.claim,
            [claim],
            [verdict],
            evidence,
            entry_id=row.id,
            question=row.question,
            pmids=row.pmids,
        )

    async def _records(self, pmids: Sequence[str]) -> list[Source]:
        if not pmids:
            return []
        found = await in_thread(self._corpus().get, list(pmids))
        missing = [pmid for pmid in pmids if pmid not in found]
        if missing:
            raise NotFound(f"not in the corpus: PMID {', '.join(missing)}", "Name records that the corpus holds.")
        return [found[pmid] for pmid in pmids]

    def _corpus(self) -> CorpusIndex:
        if self._index is None:
            raise IndexMissing("there is no corpus to check against")
        return self._index


def joined_claims(claims: Sequence[str], question: str = "") -> tuple[str, tuple[Claim, ...]]:
    """Claims as one text, a line each, and where each stands in it."""
    made: list[Claim] = []
    start = 0
    for number, claim in enumerate(claims, start=1):
        made.append(claim_of(claim, f"c{number}", start, question))
        start += len(claim) + 1
    return "\n".join(claims), tuple(made)


def _renumbered(evidence: Sequence[Evidence], known: int) -> tuple[Evidence, ...]:
    return tuple(replace(one, number=known + at) for at, one in enumerate(evidence, start=1))


def _listed(source: Source) -> ReportSource:
    return ReportSource(
        kind="document" if source.source_id.startswith("doc:") else "record",
        id=source.source_id,
        name=source.title,
        sha256=getattr(source, "sha256", ""),
        unread=list(getattr(source, "unread", ())),
    )
