"""`medcite verify` and `medcite batch`: a text, or a file of claims, checked against the corpus or documents."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from medcite.assembly import Corpus, open_corpus, open_demo, verifier_of, wait_for_embedder
from medcite.batch_journal import Journal, fingerprint
from medcite.claims_files import read_claims
from medcite.progress import counted_progress, load_progress
from medcite.screen import messages, plain, print_report, results
from medcite_core.errors import InvalidInput, MedciteError
from medcite_core.plain_documents import text_document
from medcite_core.settings import Settings, load_settings
from medcite_core.types import Source
from medcite_ingestion.documents import FileReader, encoding_of
from medcite_middleware.export.verdicts.formats import VerdictFormat, write_report
from medcite_middleware.export.verdicts.report import (
    ReportEntry,
    VerificationReport,
    counts_of,
    groundedness_of,
    report_of_answer,
)
from medcite_middleware.services.verifying import Against, CheckInput, ClaimRow, OpenSources, VerifyService

DONE, FAILED, PARTIAL = 0, 1, 3
MAX_FILES = 10_000


@dataclass(frozen=True)
class Sources:
    """What `--against` names, read; `unreadable` says of each file that could not be read why."""

    against: Against
    corpus: Corpus | None
    unreadable: tuple[str, ...]


def read_sources(settings: Settings, names: Sequence[str], *, demo: bool) -> Sources:
    """The corpus, PMIDs, files and folders that a person named.

    Raises:
        InvalidInput: nothing is named, a path does not exist, or nothing in it can be read.
    """
    pmids = [name for name in names if name.isascii() and name.isdigit()]
    paths = [name for name in names if name != "corpus" and name not in pmids]
    documents, unreadable = _read_files(paths)
    if paths and not documents:
        raise InvalidInput(
            f"none of the files can be read: {unreadable[0] if unreadable else 'the folder is empty'}",
            "Give plain text, Markdown or PubMed XML.",
        )
    corpus = None
    if "corpus" in names or pmids or demo:
        corpus = _open(settings, demo=demo)
    is_corpus = "corpus" in names or (demo and not (pmids or documents))
    return Sources(Against(is_corpus, tuple(pmids), tuple(documents)), corpus, tuple(unreadable))


def _open(settings: Settings, *, demo: bool) -> Corpus:
    if demo:
        with load_progress("Loading the demo corpus") as on_progress:
            corpus = open_demo(settings, on_progress)
    else:
        corpus = open_corpus(settings, create=False)
    wait_for_embedder(corpus.embedder)
    return corpus


def _read_files(names: Sequence[str]) -> tuple[list[Source], list[str]]:
    files: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            files += sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
        elif path.is_file():
            files.append(path)
        else:
            hint = "Name a file, a folder, a PMID, or the word corpus."
            raise InvalidInput(f"there is no file or folder {name}", hint)
    if len(files) > MAX_FILES:
        raise InvalidInput(f"{len(files):,} files are named; at most {MAX_FILES:,} are taken", "Name fewer.")
    found: dict[str, Source] = {}
    unreadable: list[str] = []
    reader = FileReader()
    for path in files:
        try:
            for source in reader.read(path.name, path.read_bytes()):
                found.setdefault(source.source_id, source)
        except (MedciteError, OSError) as error:
            unreadable.append(f"{path}: {error.message if isinstance(error, MedciteError) else error.strerror}")
    return list(found.values()), unreadable


# ---------------------------------------------------------------- one text


def verify_text(
    settings: Settings,
    given: CheckInput,
    names: Sequence[str],
    *,
    demo: bool,
    form: VerdictFormat | None,
    out: Path | None,
    fail_on: Sequence[str],
) -> int:
    """Check a text, print or write the report, and return the exit code."""
    sources = read_sources(settings, names, demo=demo)
    report = asyncio.run(_verify(settings, given, sources))
    _deliver(report, form, out)
    return _exit_code(report, fail_on)


def verify_in_python(
    text: str, sources: str | Sequence[str | Path | tuple[str, str]], question: str, settings: Settings | None
) -> VerificationReport:
    """What `medcite.verify` does."""
    if settings is None:
        settings = load_settings().settings
    given = CheckInput(text.strip(), question=question.strip())
    if not given.text:
        raise InvalidInput("the text to check is empty", "Give something that states something.")
    items = [sources] if isinstance(sources, str) else list(sources)
    names = [str(item) for item in items if not isinstance(item, tuple)]
    texts = tuple(text_document(*item) for item in items if isinstance(item, tuple))
    read = read_sources(settings, names, demo=False)
    against = replace(read.against, documents=(*read.against.documents, *texts))
    return asyncio.run(_verify(settings, given, replace(read, against=against)))


async def _verify(settings: Settings, given: CheckInput, sources: Sources) -> VerificationReport:
    service = verifier_of(settings, sources.corpus)
    opened = await service.open(sources.against)
    with counted_progress("Checking", "claims") as on_progress:
        answer = await service.check(given, opened, lambda event: _told(event, on_progress))
    report = report_of_answer(answer, opened.listed, created=_now(), settings=_shown(settings))
    return report.model_copy(
        update={"unreadable_sources": list(sources.unreadable), "is_complete": not sources.unreadable}
    )


def _told(event: Any, on_progress: Any) -> None:
    if event.type == "stage":
        on_progress(event.done, event.total)


# ---------------------------------------------------------------- a file of claims


def check_batch(
    settings: Settings,
    claims_file: Path,
    names: Sequence[str],
    out: Path,
    *,
    demo: bool,
    form: VerdictFormat,
    fail_on: Sequence[str],
) -> int:
    """Check every claim of a file, write the report, and return the exit code. Run again, it goes on where it ended."""
    rows = read_claims(claims_file)
    if (encoding := encoding_of(claims_file.read_bytes())) not in ("utf-8-sig", "utf-16"):
        messages().print(f"{plain(claims_file.name)} is not UTF-8; it is read as {encoding}.")
    sources = read_sources(settings, names, demo=demo)
    report = asyncio.run(_batch(settings, rows, sources, out))
    _write(out, write_report(report, form))
    counts = report.counts
    if counts.failed:
        messages().print(f"{counts.failed:,} could not be checked. Run it again, and only those are tried again.")
    else:
        Journal.beside(out).delete()
    said = ", ".join(f"{number:,} {label.replace('_', ' ')}" for label, number in counts.verdicts.items())
    messages().print(f"{counts.asked:,} claims: {said}. {counts.repeated:,} repeated. Report: {plain(str(out))}")
    for problem in report.unreadable_sources[:10]:
        messages().print(f"  not read: {plain(problem)}")
    return _exit_code(report, fail_on)


async def _batch(settings: Settings, rows: Sequence[ClaimRow], sources: Sources, out: Path) -> VerificationReport:
    service = verifier_of(settings, sources.corpus)
    opened = await service.open(sources.against)
    first = first_rows(rows)
    todo = [row for row in rows if first[row.row] == row.row]
    journal = Journal.beside(out)
    done = journal.open(fingerprint(service.versions, _shown(settings), opened.listed), {r.row: r for r in todo})
    if done:
        messages().print(f"Going on: {len(done):,} of {len(todo):,} claims were checked before.")
    with counted_progress("Checking", "claims") as on_progress, journal:
        await _check_rows(
            service, opened, [r for r in todo if r.row not in done], done, journal, on_progress, len(todo)
        )
    entries = [_entry_for(row, done[first[row.row]], first[row.row]) for row in rows]
    counts = counts_of(entries)
    return VerificationReport(
        created=_now(),
        is_complete=not (counts.invalid or counts.failed or sources.unreadable),
        counts=counts,
        groundedness=groundedness_of(entries),
        sources=list(opened.listed),
        unreadable_sources=list(sources.unreadable),
        versions=service.versions,
        settings=_shown(settings),
        entries=entries,
    )


async def _check_rows(
    service: VerifyService,
    opened: OpenSources,
    rows: Sequence[ClaimRow],
    done: dict[int, ReportEntry],
    journal: Journal,
    on_progress: Any,
    total: int,
) -> None:
    waiting = iter(rows)

    async def work() -> None:
        for row in waiting:
            entry = await service.entry(row, opened)
            journal.add(row, entry)
            done[row.row] = entry
            on_progress(len(done), total)

    async with asyncio.TaskGroup() as group:
        for _ in range(service.concurrency):
            group.create_task(work())


def first_rows(rows: Sequence[ClaimRow]) -> dict[int, int]:
    """For each row the first one with the same claim, whatever its case and spaces, sources and question."""
    seen: dict[tuple[object, ...], int] = {}
    return {
        row.row: row.row
        if row.problem
        else seen.setdefault((row.claim.casefold(), row.question.casefold(), row.pmids), row.row)
        for row in rows
    }


def _entry_for(row: ClaimRow, entry: ReportEntry, first: int) -> ReportEntry:
    if row.row == first:
        return entry
    return entry.model_copy(update={"row": row.row, "id": row.id, "claim": row.claim, "same_as": first})


# ---------------------------------------------------------------- reports


def _deliver(report: VerificationReport, form: VerdictFormat | None, out: Path | None) -> None:
    if out is not None:
        _write(out, write_report(report, form or "json"))
        messages().print(f"Report: {plain(str(out))}")
    elif form is not None:
        sys.stdout.write(write_report(report, form))
    else:
        print_report(report, results())


def _write(path: Path, text: str) -> None:
    """Write whole or not at all."""
    partial = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(path)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}", "Choose another --out.") from None


def _exit_code(report: VerificationReport, fail_on: Sequence[str]) -> int:
    labels = {part.verdict.label for entry in report.entries for part in entry.parts}
    if labels & set(fail_on):
        return FAILED
    return DONE if report.is_complete else PARTIAL


def _shown(settings: Settings) -> dict[str, Any]:
    """The settings that decide verdicts, for the report."""
    return {"verify": settings.verify.model_dump(mode="json"), "llm": {"model": settings.llm.model}}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
