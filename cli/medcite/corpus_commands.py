"""The command `corpus`: what the corpus holds, and where it came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from medcite import options as o
from medcite.invocation import invocation

if TYPE_CHECKING:
    from medcite_core.ports import CorpusIndex

WIDEST_BAR = 40


def corpus(ctx: typer.Context, demo: o.Demo = False, as_json: o.Json = False) -> None:
    """Show what the corpus holds: records, chunks, years, model, and the PubMed searches that were loaded into it."""
    from medcite.asking import corpus_to_ask

    opened = corpus_to_ask(invocation(ctx).load().settings, demo=demo)
    found = described(opened.index, opened.settings.data_dir / "pubmed")
    if as_json:
        typer.echo(json.dumps({"schema_version": 1, "name": opened.name, **found}, ensure_ascii=False, indent=2))
        return
    _print(opened.name, found)


def described(index: CorpusIndex, folder: Path) -> dict[str, Any]:
    """Counts, years, identity and searches; `without_year` records are in no year's count."""
    from medcite_core.filters import SearchFilter

    records, years = index.count(), index.years()
    identity = index.identity
    return {
        "records": records,
        "chunks": index.count_chunks(),
        "retracted": records - index.count(SearchFilter(exclude_retracted=True)),
        "years": {str(year): count for year, count in years.items()},
        "without_year": records - sum(years.values()),
        "embedding": {"model": identity.embedder.model, "dimension": identity.embedder.dimension},
        "chunk_size": identity.chunk_size,
        "chunk_overlap": identity.chunk_overlap,
        "searches": searches_in(folder),
    }


def searches_in(folder: Path) -> list[dict[str, Any]]:
    """The searches that `ingest query` kept, the oldest first; one that cannot be read is named with its problem."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*/search.json")):
        try:
            search = json.loads(path.read_text(encoding="utf-8"))
            found.append(
                {name: search[name] for name in ("term", "translation", "count", "listed", "run_at", "is_sample")}
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            found.append({"term": str(path), "problem": f"cannot be read: {error}", "run_at": ""})
    return sorted(found, key=lambda search: str(search["run_at"]))


def _print(name: str, found: dict[str, Any]) -> None:
    from medcite.screen import plain, results

    out = results()
    out.print(
        f"{plain(name)}: {found['records']:,} records, {found['chunks']:,} chunks, {found['retracted']:,} retracted"
    )
    embedding = found["embedding"]
    out.print(
        f"chunks of {found['chunk_size']} characters, {found['chunk_overlap']} overlap; vectors by "
        f"{plain(embedding['model'])}, {embedding['dimension']} dimensions"
    )
    most = max(found["years"].values(), default=1)
    for year, count in found["years"].items():
        out.print(f"  {year}  {count:>9,}  {'▪' * max(1, round(WIDEST_BAR * count / most))}")
    if found["without_year"]:
        out.print(f"  no year {found['without_year']:,}")
    for search in found["searches"]:
        if "problem" in search:
            out.print(f"search {plain(search['term'])}: {plain(search['problem'])}")
            continue
        sample = ", a sample" if search["is_sample"] else ""
        out.print(f"PubMed, {search['run_at'][:10]}: {plain(search['term'])}")
        out.print(f"  {search['listed']:,} of {search['count']:,} matching records listed{sample}")
    if not found["searches"]:
        out.print("No search of PubMed was loaded by `medcite ingest query`.")
