"""Progress of a load on the terminal, and its report."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from medcite.screen import many, messages, plain, results
from medcite_ingestion.load_report import LoadProgress, LoadReport

LINE_EVERY_S = 15.0
SHOWN_PROBLEMS = 20
STAGES = {
    "parse": "reading",
    "embed": "embedding",
    "store": "storing",
    "index": "bringing the search index up to date",
    "done": "done",
}


@contextmanager
def load_progress(title: str) -> Iterator[Callable[[LoadProgress], None]]:
    """A live line on a terminal; elsewhere one line now and then. Goes to standard error."""
    if sys.stderr.isatty():
        yield from _live(title)
    else:
        yield from _lines(title)


def _live(title: str) -> Iterator[Callable[[LoadProgress], None]]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    started = time.monotonic()
    with Progress(*columns, console=messages(), transient=True) as bar:
        task = bar.add_task(title, total=None, rate="")

        def show(progress: LoadProgress) -> None:
            bar.update(
                task,
                description=f"{title}: {plain(describe(progress))}",
                completed=progress.chunks_done if progress.stage == "embed" else progress.files_done,
                total=(progress.chunks_total if progress.stage == "embed" else progress.files_total) or None,
                rate=rate(progress.citations, time.monotonic() - started),
            )

        yield show


def _lines(title: str) -> Iterator[Callable[[LoadProgress], None]]:
    started = last = time.monotonic()
    out = messages()

    def show(progress: LoadProgress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_EVERY_S:
            last = now
            passages = (
                f" ({progress.chunks_done:,} of {progress.chunks_total:,} passages)" if progress.chunks_total else ""
            )
            out.print(f"{title}: {plain(describe(progress))}{passages}, {rate(progress.citations, now - started)}")

    yield show


def describe(progress: LoadProgress) -> str:
    """What the load does now, in a few words."""
    where = f"file {progress.files_done + 1} of {progress.files_total}" if progress.files_total > 1 else ""
    name = progress.file_name if len(progress.file_name) <= 40 else "…" + progress.file_name[-39:]
    return " ".join(part for part in (STAGES[progress.stage], name if progress.stage != "index" else "", where) if part)


def rate(citations: int, seconds: float) -> str:
    """Citations so far and per second."""
    if not citations or seconds < 1:
        return many(citations, "record")
    per_second = citations / seconds
    return (
        f"{many(citations, 'record')}, {per_second:,.0f}/s"
        if per_second >= 10
        else f"{many(citations, 'record')}, {per_second:.1f}/s"
    )


def print_load_report(report: LoadReport) -> None:
    """The counts on standard output, what could not be read on standard error."""
    out, err = results(), messages()
    out.print(
        f"{many(report.files, 'file')}: {many(report.citations, 'citation')} = {many(report.records, 'record')}"
        f" + {many(report.tombstones, 'withdrawal')} + {report.problems:,} not readable"
    )
    out.print(
        f"{many(report.records, 'record')} = {report.inserted:,} new + {report.replaced:,} replaced"
        f" + {report.unchanged:,} unchanged + {report.outdated:,} outdated"
    )
    if report.files_failed:
        out.print(f"{many(len(report.files_failed), 'file')} of these gave no record")
    if report.duplicates_in_input:
        out.print(f"{many(report.duplicates_in_input, 'record')} had a PMID that came before in this load")
    if report.removed:
        out.print(f"{many(report.removed, 'record')} withdrawn from the corpus")
    per_second = f" ({report.citations / report.elapsed_s:,.0f} citations/s)" if report.elapsed_s >= 1 else ""
    out.print(f"{many(report.chunks, 'passage')} embedded in {report.elapsed_s:,.1f} s{per_second}")
    for problem in report.problem_list[:SHOWN_PROBLEMS]:
        place = f", line {problem.line}, column {problem.column}" if problem.line else ""
        pmid = f", PMID {problem.pmid}" if problem.pmid else ""
        is_whole_file = problem.file_name in report.files_failed and not problem.pmid
        which = "" if is_whole_file else f", citation {problem.position + 1}"
        err.print(f"not read: {plain(problem.file_name)}{which}{pmid}{place}: {plain(problem.reason)}")
    if report.problems > SHOWN_PROBLEMS:
        err.print(
            f"… and {report.problems - SHOWN_PROBLEMS:,} more; --json names up to {len(report.problem_list):,} of them"
        )


@contextmanager
def counted_progress(title: str, things: str) -> Iterator[Callable[[int, int], None]]:
    """Progress as (done, of how many `things`): a live line with the time left, elsewhere a line now and then."""
    if not sys.stderr.isatty():
        said = [time.monotonic()]

        def line(done: int, total: int) -> None:
            if time.monotonic() - said[0] >= LINE_EVERY_S:
                said[0] = time.monotonic()
                messages().print(f"{title}: {done:,} of {total:,} {things}")

        yield line
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    started = time.monotonic()
    with Progress(*columns, console=messages(), transient=True) as bar:
        task = bar.add_task(title, total=None, rate="")

        def show(done: int, total: int) -> None:
            per_s = done / max(0.001, time.monotonic() - started)
            bar.update(task, completed=done, total=total or None, rate=f"{per_s:,.1f} {things}/s")

        yield show
