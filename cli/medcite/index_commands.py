"""The commands `index list`, `index rebuild`, `index drop-old` and `index original`: indexes in a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medcite import options as o
from medcite.invocation import invocation
from medcite_core.errors import InvalidInput

if TYPE_CHECKING:
    from medcite_core.index.opensearch_original import OriginalSummary
    from medcite_core.settings import Settings

PARTIAL = 3
app = typer.Typer(help="Look at and rebuild indexes in an OpenSearch cluster.", no_args_is_help=True)


@app.command("list")
def list_(ctx: typer.Context, as_json: o.Json = False) -> None:
    """List the indexes that medcite made in the cluster, and say which one serves."""
    from medcite_core.index.opensearch_rebuild import list_indexes

    found = list_indexes(_cluster(ctx).opensearch)
    if as_json:
        indexes = [
            {"name": i.name, "serving": i.is_serving, "records": i.records, "size_bytes": i.size_bytes} for i in found
        ]
        _print_json({"schema_version": 1, "indexes": indexes})
        return
    if not found:
        typer.echo("There is none yet: `medcite ingest files PATH…` makes the first.")
    for i in found:
        typer.echo(
            f"{i.name}  {i.records:,} records  {i.size_bytes / 1e6:,.0f} MB{'  serving' if i.is_serving else ''}"
        )


@app.command()
def rebuild(
    ctx: typer.Context,
    should_drop_old: Annotated[bool, typer.Option("--drop-old", help="Delete the old index afterwards.")] = False,
    as_json: o.Json = False,
) -> None:
    """Build the index anew with the model, chunk sizes and layout that are set now; the old one serves meanwhile.

    Nothing is fetched again: the records come from the serving index. A rebuild that was cut off goes on when it is
    run again. Restart the services afterwards when the model or the chunk sizes have changed.
    """
    from medcite.assembly import wait_for_embedder
    from medcite.progress import counted_progress
    from medcite_core.embedding.factory import build_embedder
    from medcite_core.errors import EmbedderUnavailable
    from medcite_core.index.opensearch_rebuild import ClusterRebuild, drop_old
    from medcite_core.ports import IndexIdentity
    from medcite_ingestion.rebuild import rebuild as run

    settings = _cluster(ctx)
    embedder = build_embedder(settings.embedding)
    if problem := wait_for_embedder(embedder):
        raise EmbedderUnavailable(problem)
    sizes = settings.index
    identity = IndexIdentity(embedder.identity, sizes.chunk_size, sizes.chunk_overlap)
    job = ClusterRebuild(settings.opensearch, identity)
    verb = "Going on with" if job.is_resumed else "Building"
    typer.echo(f"{verb} {job.new_name} from {job.old_name}, which serves until it is done.", err=True)
    with counted_progress("Rebuilding", "records") as on_progress:
        report = run(job, embedder, sizes, on_progress)
    dropped = drop_old(settings.opensearch) if should_drop_old and not report.may_lack_writes else 0
    if as_json:
        body = {"index": job.new_name, "records": report.records, "chunks": report.chunks, "written": report.written}
        _print_json({"schema_version": 1, **body, "dropped": dropped, "may_lack_writes": report.may_lack_writes})
    else:
        typer.echo(f"{job.new_name} serves now: {report.records:,} records, {report.chunks:,} chunks.")
        if not dropped:
            typer.echo(f"{job.old_name} is kept; `medcite index drop-old` deletes it.")
    if report.may_lack_writes:
        typer.echo(f"A load still writes to {job.old_name}; run that load again once it has ended.", err=True)
        raise typer.Exit(PARTIAL)


@app.command("drop-old")
def drop_old_(ctx: typer.Context) -> None:
    """Delete the indexes that a rebuild has replaced."""
    from medcite_core.index.opensearch_rebuild import drop_old

    count = drop_old(_cluster(ctx).opensearch, lambda index: typer.echo(f"{index.name} is deleted."))
    if not count:
        typer.echo("There is no old index.")


@app.command()
def original(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the index.")],
    pmids: Annotated[
        Path | None, typer.Option("--pmids", metavar="FILE", help="Write the PMIDs of its records here, one a line.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Look at an index that the original project made: counts, dimension, metric; and which records it is of.

    It holds chunks without the rest of their records, so it cannot serve. `--pmids` writes the list to load them by.
    """
    from medcite_core.index.opensearch_original import OriginalIndex

    index = OriginalIndex(_cluster(ctx).opensearch, name)
    summary = index.summary()
    found: list[str] | None = None
    if pmids is not None:
        found = index.pmids()
        partial = pmids.with_name(f"{pmids.name}.part")
        partial.write_text("".join(f"{pmid}\n" for pmid in found), encoding="utf-8")
        partial.replace(pmids)
    if as_json:
        _print_json({"schema_version": 1, **_summary_json(summary), **({} if found is None else {"pmids": len(found)})})
        return
    for line in _summary_lines(summary):
        typer.echo(line)
    if found is not None:
        typer.echo(f"{len(found):,} PMIDs written to {pmids}.")


def _summary_json(summary: OriginalSummary) -> dict[str, Any]:
    names = ("name", "chunks", "without_pmid", "dimension", "vector_field", "engine", "metric", "is_metric_written")
    values = {name: getattr(summary, name) for name in (*names, "norms", "missing_fields")}
    return {**values, "ranks_by_cosine": summary.ranks_by_cosine}


def _summary_lines(summary: OriginalSummary) -> list[str]:
    low, high = summary.norms
    written = "" if summary.is_metric_written else " (not written in the mapping: the engine's default)"
    order = "the same as by cosine" if summary.ranks_by_cosine else "NOT the order by cosine"
    lines = [
        f"{summary.name}: {summary.chunks:,} chunks, {summary.without_pmid:,} of them without a PMID",
        f"vectors: {summary.dimension} dimensions in {summary.vector_field}, lengths {low:.3f} to {high:.3f}",
        f"engine: {summary.engine}; metric: {summary.metric}{written}; its own search orders {order}",
    ]
    if summary.missing_fields:
        lines.append(f"fields it lacks: {', '.join(summary.missing_fields)}")
    return lines


def _cluster(ctx: typer.Context) -> Settings:
    """The settings, of a medcite whose index is in a cluster.

    Raises:
        InvalidInput: it is not.
    """
    settings: Settings = invocation(ctx).load().settings
    if settings.index.backend != "opensearch":
        raise InvalidInput(
            "the index is a folder of this machine (MEDCITE_INDEX__BACKEND=lancedb), not one in a cluster",
            "To change its model or chunk sizes, load the records into another MEDCITE_DATA_DIR.",
        )
    return settings


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
