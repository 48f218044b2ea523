"""The commands `verify`, `batch` and `calibrate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from medcite import options as o
from medcite.invocation import invocation
from medcite_core.errors import InvalidInput

VERDICTS = ("contradicted", "unsupported", "conflicting", "unchecked")


def verify(
    ctx: typer.Context,
    text: Annotated[str | None, typer.Option("--text", help="The text to check.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file that holds it; - reads standard input.")] = None,
    against: o.AgainstOption = None,
    question: Annotated[str, typer.Option("--question", help="What the text answers; it is never evidence.")] = "",
    form: o.ReportFormat = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the report here.")] = None,
    fail_on: o.FailOn = None,
    demo: o.Demo = False,
    as_json: o.Json = False,
) -> None:
    """Check a text claim by claim against the corpus, records of it, or documents."""
    from medcite.checking import verify_text
    from medcite_middleware.services.verifying import CheckInput

    if (text is None) == (file is None):
        raise InvalidInput("give either --text or --file", 'For example: medcite verify --text "…" --against corpus')
    words = text if text is not None else _read_text(file)
    settings = invocation(ctx).load().settings
    given = CheckInput(words.strip(), question=question.strip())
    if not given.text:
        raise InvalidInput("the text to check is empty", "Give something that states something.")
    chosen = "json" if as_json else form
    code = verify_text(
        settings, given, _named(against, demo), demo=demo, form=chosen, out=out, fail_on=_labels(fail_on)
    )
    if code:
        raise typer.Exit(code)


def batch(
    ctx: typer.Context,
    claims: Annotated[Path, typer.Argument(help="Claims: JSON, JSON Lines, CSV, or a claim on each line.")],
    out: Annotated[Path, typer.Option("--out", help="Where the report goes; run again, a cut run goes on.")],
    against: o.AgainstOption = None,
    form: o.ReportFormat = None,
    fail_on: o.FailOn = None,
    demo: o.Demo = False,
) -> None:
    """Check every claim of a file, with a report. Ends with 3 when some could not be checked."""
    from medcite.checking import check_batch
    from medcite_middleware.export.verdicts.formats import SUFFIXES

    settings = invocation(ctx).load().settings
    chosen = form or SUFFIXES.get(out.suffix.lower(), "json")
    code = check_batch(settings, claims, _named(against, demo), out, demo=demo, form=chosen, fail_on=_labels(fail_on))
    if code:
        raise typer.Exit(code)


def calibrate(
    ctx: typer.Context,
    items: Annotated[Path, typer.Argument(help='JSON Lines: {"claim", "evidence", "label"}, label supported or not.')],
    as_json: o.Json = False,
) -> None:
    """Measure the entailment model on labelled items, and keep the threshold that it can be trusted at."""
    from medcite import calibrating

    calibrating.calibrate(invocation(ctx).load().settings, items, as_json=as_json)


def _labels(fail_on: list[str] | None) -> list[str]:
    for label in fail_on or ():
        if label not in VERDICTS:
            raise InvalidInput(f"{label!r} is no verdict", f"--fail-on takes {', '.join(VERDICTS)}.")
    return fail_on or []


def _named(against: list[str] | None, demo: bool) -> list[str]:
    if not against and not demo:
        raise InvalidInput(
            "nothing to check against", "Add --against corpus, --against PMID, or --against with a file or folder."
        )
    return against or ["corpus"]


def _read_text(file: Path | None) -> str:
    from medcite_ingestion.documents import decoded

    assert file is not None
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}", "Check the path given to --file.") from None
    return decoded(file.name, content)
