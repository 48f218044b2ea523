"""The `medcite` command. Imports happen when a command is chosen, so that `--help` is instant.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 finished with skipped items. Results go to standard output, the rest to
standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from medcite import check_commands, corpus_commands, index_commands, pubmed_commands, reference_commands
from medcite import options as o
from medcite.invocation import Invocation, invocation
from medcite_core.errors import InvalidInput, InvalidSettings, MedciteError

if TYPE_CHECKING:
    from medcite_core.filters import SearchFilter

DONE, FAILED, WRONG_USE, PARTIAL = 0, 1, 2, 3
BEFORE_THE_COMMAND = ("--config", "--data-dir", "--verbose", "--debug")

app = typer.Typer(
    name="medcite",
    help="Chat with a PubMed corpus and trust what you read.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ingest_app = typer.Typer(help="Load records into the corpus.", no_args_is_help=True)
app.add_typer(ingest_app, name="ingest")
app.add_typer(index_commands.app, name="index")


def _version(wanted: bool) -> None:
    if wanted:
        from medcite import __version__

        typer.echo(f"medcite {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    ctx: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings file (see medcite.example.yaml).")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", metavar="FOLDER", help="Folder that holds all state; ./data by default."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log everything.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by run()
    version: Annotated[  # noqa: ARG001 - its callback acts
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    ctx.obj = Invocation(config, data_dir, verbose)


# ---------------------------------------------------------------- serving


@app.command()
def up(
    ctx: typer.Context,
    port: o.Port = None,
    host: o.Host = None,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
) -> None:
    """Set up the demo corpus and serve it, on port 8000 or the next free one."""
    from medcite.assembly import demo_differences, open_demo, services_of
    from medcite.progress import load_progress
    from medcite.serving import listen_near

    loaded = invocation(ctx).load({"server.port": port, "server.host": host}, is_server=True)
    settings = loaded.settings
    for name in demo_differences(settings):
        _note(f"The demo comes with its own vectors: {name} is not used here (it is by `serve`).")
    with load_progress("Loading the demo corpus") as on_progress:
        corpus = open_demo(settings, on_progress)
    corpus.embedder.start()
    sock = listen_near(settings.server.host, settings.server.port)
    if settings.server.port and sock.getsockname()[1] != settings.server.port:
        _note(f"Port {settings.server.port} is taken; taking the next free one.")
    _serve(services_of(corpus), settings, sock, open_page=open_page)


@app.command()
def serve(ctx: typer.Context, port: o.Port = None, host: o.Host = None) -> None:
    """Serve what the data folder holds, on exactly the port asked for."""
    from medcite.assembly import open_corpus, services_of
    from medcite.serving import listen

    loaded = invocation(ctx).load({"server.port": port, "server.host": host}, is_server=True)
    settings = loaded.settings
    sock = listen(settings.server.host, settings.server.port)
    corpus = open_corpus(settings, create=True)
    corpus.embedder.start()
    if corpus.index.count() == 0:
        _note(
            f"No records in {settings.data_dir} yet: `medcite ingest files PATH…` loads some, `medcite up` has a demo."
        )
    _serve(services_of(corpus), settings, sock, open_page=False)


def _serve(services: Any, settings: Any, sock: Any, *, open_page: bool) -> None:
    from medcite.serving import address_of, page_dir
    from medcite_middleware.api.app import create_app
    from medcite_middleware.api.serve import serve as serve_app

    page = page_dir()
    if page is None:
        _note("The page is not built, so only the API is served. Build it: python3 scripts/up.py --no-serve")

    address = address_of(sock)

    def announce() -> None:
        typer.echo(f"medcite answers at {address}")
        sys.stdout.flush()
        _note("Stop it with Ctrl-C.")
        if open_page:
            typer.launch(address)

    serve_app(create_app(services, settings.server, page), sock, announce)


# ---------------------------------------------------------------- loading


@ingest_app.command("files")
def ingest_files(
    ctx: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="PubMed files (.xml, .xml.gz, .nbib) or folders.")
    ],
    as_json: o.Json = False,
) -> None:
    """Load PubMed XML or MEDLINE text. Loading a file again changes nothing; newer revisions replace older ones."""
    from medcite.assembly import open_corpus
    from medcite.progress import load_progress, print_load_report
    from medcite_ingestion.load import load_files

    settings = invocation(ctx).load().settings
    corpus = open_corpus(settings, create=True)
    with load_progress("Loading") as on_progress:
        report = load_files(paths, corpus.index, corpus.embedder, settings.index, on_progress)
    if as_json:
        _print_json({"schema_version": 1, **report.to_dict()})
    else:
        print_load_report(report)
    if report.is_partial:
        raise typer.Exit(PARTIAL)


ingest_app.command()(pubmed_commands.query)
ingest_app.command()(pubmed_commands.pmids)


# ---------------------------------------------------------------- asking


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a question.")],
    year_from: o.YearFrom = None,
    year_to: o.YearTo = None,
    title: o.Title = "",
    keyword: o.Keyword = None,
    journal: o.Journal = None,
    author: o.Author = None,
    publication_type: o.PublicationType = None,
    language: o.Language = None,
    pmc: o.Pmc = False,
    exclude_retracted: o.ExcludeRetracted = False,
    k: o.PassageCount = None,
    demo: o.Demo = False,
    as_json: o.Json = False,
) -> None:
    """Find records by words and meaning."""
    from medcite.asking import search_records

    chosen = _filter(
        year_from, year_to, title, keyword, journal, author, publication_type, language, pmc, exclude_retracted
    )
    search_records(invocation(ctx).load().settings, query, chosen, k, demo=demo, as_json=as_json)


@app.command()
def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="A question in words.")],
    year_from: o.YearFrom = None,
    year_to: o.YearTo = None,
    title: o.Title = "",
    keyword: o.Keyword = None,
    journal: o.Journal = None,
    author: o.Author = None,
    publication_type: o.PublicationType = None,
    language: o.Language = None,
    pmc: o.Pmc = False,
    exclude_retracted: o.ExcludeRetracted = False,
    k: o.PassageCount = None,
    demo: o.Demo = False,
    as_json: o.Json = False,
) -> None:
    """Answer a question from the corpus, each sentence cited and checked."""
    from medcite.asking import ask_question

    chosen = _filter(
        year_from, year_to, title, keyword, journal, author, publication_type, language, pmc, exclude_retracted
    )
    settings = invocation(ctx).load().settings
    if code := ask_question(settings, question, chosen, k, demo=demo, as_json=as_json):
        raise typer.Exit(code)


app.command()(check_commands.verify)
app.command()(check_commands.batch)
app.command()(check_commands.calibrate)
app.command()(reference_commands.references)
app.command()(corpus_commands.corpus)


def _filter(
    year_from: int | None,
    year_to: int | None,
    title: str,
    keyword: list[str] | None,
    journal: list[str] | None,
    author: list[str] | None,
    publication_type: list[str] | None,
    language: list[str] | None,
    pmc: bool,
    exclude_retracted: bool,
) -> SearchFilter:
    from medcite_core.filters import SearchFilter

    return SearchFilter.from_mapping(
        {
            "year_from": year_from,
            "year_to": year_to,
            "title": title,
            "keywords": keyword,
            "journal": journal,
            "author": author,
            "publication_types": publication_type,
            "languages": language,
            "has_pmcid": pmc,
            "exclude_retracted": exclude_retracted,
        }
    )


# ---------------------------------------------------------------- looking


@app.command()
def doctor(ctx: typer.Context, as_json: o.Json = False) -> None:
    """Check everything medcite needs, and say what to do about what is wrong."""
    from medcite.doctor import run_checks
    from medcite.screen import print_checks, results

    settings = invocation(ctx).load().settings
    checks = []
    if as_json:
        checks = list(run_checks(settings))
        _print_json({"schema_version": 1, "checks": [check.to_dict() for check in checks]})
    else:
        out = results()
        for check in run_checks(settings):
            checks.append(check)
            print_checks([check], out)
    if any(check.state == "fail" for check in checks):
        raise typer.Exit(FAILED)


@app.command()
def config(ctx: typer.Context, as_json: o.Json = False) -> None:
    """Show every setting, its value and where it came from; secrets are masked."""
    rows = invocation(ctx).load().rows()
    if as_json:
        _print_json({"schema_version": 1, "settings": rows})
        return
    from medcite.screen import print_settings, results

    print_settings(rows, results())


# ---------------------------------------------------------------- the door


def run() -> NoReturn:
    """Entry point: runs the command and turns errors into one line, a hint and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark instead of a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    arguments = sys.argv[1:]
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    try:
        app()
    except SystemExit as stop:
        misplaced = [option for option in options if option.partition("=")[0] in BEFORE_THE_COMMAND]
        if stop.code == WRONG_USE and misplaced:
            _note(f"{misplaced[-1].partition('=')[0]} stands before the command: medcite {misplaced[-1]} … COMMAND …")
        raise
    except MedciteError as error:
        if "--debug" in options:
            raise
        _fail(error, as_json="--json" in options)
        code = WRONG_USE if isinstance(error, InvalidInput | InvalidSettings) else FAILED
        raise SystemExit(code) from None
    except Exception as error:
        if "--debug" in options:
            raise
        _note(f"medcite: unexpected error: {type(error).__name__}: {str(error)[:300]}")
        _note("Run the same command with --debug (before its name) for details; `medcite doctor` may find the cause.")
        raise SystemExit(FAILED) from None
    raise SystemExit(DONE)


def _fail(error: MedciteError, *, as_json: bool) -> None:
    if as_json:
        body = {"code": error.code, "message": error.message, "hint": error.hint, "retryable": error.retryable}
        _print_json({"schema_version": 1, "error": {**body, "request_id": ""}})
    _note(f"medcite: {error.message}")
    _note(f"  {error.hint}")


def _note(text: str) -> None:
    typer.echo(text, err=True)


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
