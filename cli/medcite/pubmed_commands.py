"""The commands `ingest query` and `ingest pmids`: records straight from PubMed."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medcite import options as o
from medcite.invocation import invocation
from medcite_core.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medcite_core.settings import Settings
    from medcite_ingestion.pubmed_download import Downloaded
    from medcite_ingestion.pubmed_search import SearchPlan

PARTIAL = 3
Year = Annotated[int | None, typer.Option(min=1500, max=2200, help="By publication date, the year that is stored.")]


def query(
    ctx: typer.Context,
    term: Annotated[str, typer.Argument(metavar="QUERY", help="A search as PubMed takes it.")],
    since: Year = None,
    until: Year = None,
    most: Annotated[int | None, typer.Option("--max", min=1, help="At most so many, the newest; a sample.")] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only say how many match, and how it is understood.")
    ] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Go on although PubMed did not understand some words.")
    ] = False,
    as_json: o.Json = False,
) -> None:
    """Load what a PubMed search finds: all of it, or an error that says what is missing."""
    from medcite.progress import counted_progress
    from medcite_ingestion import pubmed_search
    from medcite_ingestion.eutils import EutilsClient

    settings = invocation(ctx).load().settings
    with closing(EutilsClient(settings.ncbi)) as client:
        first = pubmed_search.preview(client, term, since, until)
        _say_understood(first)
        if preview:
            _finish({"search": _shown(first)}, as_json=as_json)
            return
        if first.not_understood and not anyway:
            words = ", ".join(f"“{word}”" for word in first.not_understood)
            raise InvalidInput(
                f"PubMed does not know {words} and searched for the rest", "Mend the query, or add --anyway."
            )
        if first.count == 0:
            raise InvalidInput("no record of PubMed matches", "Search for other words.")
        with counted_progress("Listing", "PMIDs") as on_progress:
            plan = pubmed_search.plan_search(
                client, term, since, until, most=most, at_once=settings.ncbi.max_ids, on_progress=on_progress
            )
        _ingest(settings, client, plan.pmids, plan, as_json=as_json)


def pmids(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="PMIDs, one on each line, or a CSV with them first.")],
    as_json: o.Json = False,
) -> None:
    """Load the records of a list of PMIDs from PubMed."""
    from medcite_ingestion.eutils import EutilsClient
    from medcite_ingestion.pubmed_download import read_pmids

    settings = invocation(ctx).load().settings
    wanted, repeated = read_pmids(file)
    if repeated:
        typer.echo(f"{repeated:,} PMIDs of the file are repeated; each is fetched once.", err=True)
    with closing(EutilsClient(settings.ncbi)) as client:
        _ingest(settings, client, wanted, None, as_json=as_json)


def _say_understood(plan: SearchPlan) -> None:
    typer.echo(f"{plan.count:,} records match. PubMed searched for: {plan.translation or plan.term}", err=True)
    for word in plan.not_understood:
        typer.echo(f"“{word}” was not understood by PubMed and was left out.", err=True)
    for warning in plan.warnings:
        typer.echo(f"PubMed warns: {warning}", err=True)


def _ingest(settings: Settings, client: Any, wanted: Sequence[str], plan: SearchPlan | None, *, as_json: bool) -> None:
    from medcite.assembly import open_corpus
    from medcite.progress import counted_progress, load_progress, print_load_report
    from medcite_ingestion.load import load_files
    from medcite_ingestion.pubmed_download import download, folder_of

    folder = folder_of(settings.data_dir / "pubmed", wanted)
    corpus = open_corpus(settings, create=True)
    with counted_progress("Fetching", "records") as on_progress:
        fetched = download(client, wanted, folder, settings.ncbi.batch, on_progress)
    _write(folder / "articles_ids.csv", "pmid\n" + "".join(f"{pmid}\n" for pmid in wanted))
    if plan is not None:
        _write(folder / "search.json", json.dumps(_shown(plan), ensure_ascii=False, indent=2) + "\n")
    failed_list = folder / "failed_pmids.csv"
    if fetched.failed:
        _write(failed_list, "pmid\n" + "".join(f"{pmid}\n" for pmid in fetched.failed))
    else:
        failed_list.unlink(missing_ok=True)
    with load_progress("Loading") as on_load:
        report = load_files(fetched.files, corpus.index, corpus.embedder, settings.index, on_load)
    if not as_json:
        print_load_report(report)
    _say_fetched(fetched, plan, failed_list)
    body: dict[str, Any] = {
        "fetched": {**asdict(fetched), "files": [str(path) for path in fetched.files]},
        **report.to_dict(),
    }
    if plan is not None:
        body["search"] = _shown(plan)
    _finish(body, as_json=as_json)
    if fetched.is_partial or report.is_partial or (plan is not None and not plan.is_complete):
        raise typer.Exit(PARTIAL)


def _say_fetched(fetched: Downloaded, plan: SearchPlan | None, failed_list: Path) -> None:
    if plan is not None:
        sample = f" (a sample: the newest by {plan.sampled_by})" if plan.is_sample else ""
        listed = f"{len(plan.pmids):,} of {plan.count:,} matching records listed{sample}"
        typer.echo(listed + (f"; {plan.repeated:,} came twice" if plan.repeated else ""), err=True)
        if not plan.is_complete:
            typer.echo(f"partial: {plan.wanted:,} were to be listed, {len(plan.pmids):,} were. Run it again.", err=True)
    typer.echo(
        f"{fetched.asked:,} asked = {fetched.fetched:,} fetched + {len(fetched.missing):,} not in PubMed "
        f"+ {len(fetched.failed):,} failed",
        err=True,
    )
    if fetched.missing:
        typer.echo(
            f"not in PubMed: {', '.join(fetched.missing[:20])}{' …' if len(fetched.missing) > 20 else ''}", err=True
        )
    if fetched.failed:
        typer.echo(f"failed: {failed_list}; give it back:  medcite ingest pmids {failed_list}", err=True)


def _shown(plan: SearchPlan) -> dict[str, Any]:
    """The search for its record: what was run, how it was understood, how many there are and were listed."""
    facts = asdict(replace(plan, pmids=()))
    return {**facts, "is_sample": plan.is_sample, "listed": len(plan.pmids), "database": "PubMed (E-utilities)"}


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _finish(body: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"schema_version": 1, **body}, ensure_ascii=False, indent=2))
