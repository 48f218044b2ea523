"""The command `references`: a reference list against the corpus."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from medcite import options as o
from medcite.invocation import invocation
from medcite_core.errors import InvalidInput

if TYPE_CHECKING:
    from medcite_middleware.citation.references import ReferenceCheck

MAX_BYTES = 5_000_000
PARTIAL = 3
STATES = {
    "verified": "verified",
    "differs": "exists, differs",
    "another_paper": "different paper",
    "not_found": "not found",
    "unreadable": "not looked up",
}


def references(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A reference on each line; - reads standard input.")],
    demo: o.Demo = False,
    as_json: o.Json = False,
) -> None:
    """Check a reference list: is each paper in the corpus, is it the one named, is it named twice, is it retracted.

    A reference is looked up by its PMID, else its DOI, else its title. Ends with 3 when one could not be looked up.
    """
    from medcite.asking import corpus_to_ask
    from medcite_middleware.citation.references import check_references

    checks = check_references(_lines(file), corpus_to_ask(invocation(ctx).load().settings, demo=demo).index)
    if as_json:
        body = {"schema_version": 1, "references": [asdict(check) for check in checks]}
        typer.echo(json.dumps(body, ensure_ascii=False, indent=2))
    else:
        _print(checks)
    if any(check.state == "unreadable" for check in checks):
        raise typer.Exit(PARTIAL)


def _lines(file: Path) -> list[str]:
    try:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1) if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror or error}", "Check the path.") from None
    if len(raw) > MAX_BYTES:
        raise InvalidInput(f"{file} is larger than {MAX_BYTES:,} bytes", "Check the list in parts.")
    try:
        return raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not UTF-8 text", "Save it as UTF-8.") from None


def _print(checks: list[ReferenceCheck]) -> None:
    from medcite.screen import plain, results

    out = results()
    for check in checks:
        out.print(f"{check.row}. {STATES[check.state]}: {plain(check.text)}")
        out.print(f"   {plain(check.explanation)}")
        if check.status in ("retracted", "partially_retracted", "expression_of_concern", "retraction_notice"):
            out.print(f"   PubMed's notice: {check.status.replace('_', ' ')}")
        if check.same_as is not None:
            out.print(f"   the same paper as reference {check.same_as}")
    counts = {state: sum(check.state == state for check in checks) for state in STATES}
    out.print(f"{len(checks)} references: " + ", ".join(f"{n} {STATES[state]}" for state, n in counts.items() if n))
