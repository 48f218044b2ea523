"""Options that several commands share, as typer annotations."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

PANEL = "Filter"

YearFrom = Annotated[int | None, typer.Option("--year-from", help="First year of publication.", rich_help_panel=PANEL)]
YearTo = Annotated[int | None, typer.Option("--year-to", help="Last year of publication.", rich_help_panel=PANEL)]
Title = Annotated[str, typer.Option("--title", help="Words the title must hold.", rich_help_panel=PANEL)]
Keyword = Annotated[
    list[str] | None,
    typer.Option("--keyword", help="Author keyword or MeSH heading; repeat for any of several.", rich_help_panel=PANEL),
]
Journal = Annotated[list[str] | None, typer.Option("--journal", help="Journal; repeatable.", rich_help_panel=PANEL)]
Author = Annotated[list[str] | None, typer.Option("--author", help="Author; repeatable.", rich_help_panel=PANEL)]
PublicationType = Annotated[
    list[str] | None, typer.Option("--type", help="Publication type; repeatable.", rich_help_panel=PANEL)
]
Language = Annotated[
    list[str] | None, typer.Option("--language", help="Language, such as eng; repeatable.", rich_help_panel=PANEL)
]
Pmc = Annotated[bool, typer.Option("--pmc", help="Only records with free full text in PMC.", rich_help_panel=PANEL)]
ExcludeRetracted = Annotated[
    bool, typer.Option("--exclude-retracted", help="Leave retracted records out.", rich_help_panel=PANEL)
]
PassageCount = Annotated[int | None, typer.Option("--k", min=1, max=50, help="Passages to find.")]
Demo = Annotated[bool, typer.Option("--demo", help="Use the demo corpus (loaded first if it is not yet).")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Port = Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes any free one.")]
Host = Annotated[str | None, typer.Option("--host", help="Address to listen on; loopback unless given.")]
AgainstOption = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        help="The word corpus, a PMID, a file or a folder (a folder called corpus is ./corpus); repeatable.",
    ),
]
ReportFormat = Annotated[
    Literal["json", "original", "csv", "markdown", "trec-biogen", "scifact"] | None,
    typer.Option("--format", help="Format of the report."),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on", metavar="contradicted|unsupported", help="End with 1 when a claim has this verdict; repeatable."
    ),
]
