"""The formats by name: what a file is called, what it begins and ends with, and how a record is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from medcite_core.types import Record
from medcite_middleware.export.bibtex import bibtex_text
from medcite_middleware.export.csl import csl_text
from medcite_middleware.export.nbib import nbib_text
from medcite_middleware.export.ris import ris_text
from medcite_middleware.export.table import csv_head, csv_text

ExportFormat = Literal["ris", "nbib", "bibtex", "csl-json", "csv"]


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one format are made."""

    suffix: str
    media_type: str
    write: Callable[[Record], str]
    head: str = ""
    between: str = ""
    tail: str = ""

    def pieces(self, records: Iterable[Record]) -> Iterator[str]:
        """The file, record by record."""
        yield self.head
        for number, record in enumerate(records):
            yield (self.between if number else "") + self.write(record)
        yield self.tail


FORMATS: dict[ExportFormat, Format] = {
    "ris": Format("ris", "application/x-research-info-systems; charset=utf-8", ris_text),
    "nbib": Format("nbib", "application/nbib; charset=utf-8", nbib_text),
    "bibtex": Format("bib", "application/x-bibtex; charset=utf-8", bibtex_text),
    "csl-json": Format("json", "application/vnd.citationstyles.csl+json", csl_text, "[\n", ",\n", "\n]\n"),
    "csv": Format("csv", "text/csv; charset=utf-8", csv_text, csv_head()),
}
assert set(FORMATS) == set(get_args(ExportFormat))
