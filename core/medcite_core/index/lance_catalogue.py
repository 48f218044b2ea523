"""What lists of records are sorted by, and what a filter can be completed with: read once a version of the table."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from medcite_core.errors import IndexBroken
from medcite_core.index.filter_keys import folded, match_key, name_key
from medcite_core.types import RecordOrder, SuggestField, ValueCount

MAX_VALUES = 200_000
"""Distinct values kept of each field. Above twice as many the rarest go, so their counts may be too low later on."""
NO_DATE = -1
_BATCH_ROWS = 2048
_ARTICLE = re.compile(r"^(?:the|an|a|le|la|les|der|die|das)\s+")
# In JSON a quotation mark inside a text has a backslash before it, so that this stands nowhere but between two members.
_AFTER_TEXT = b'","authors":['


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Sort keys of every record, by ascending pmid, and how many records hold each value of each field.

    `dates` are numbers like 20110228 (20110200 without a day), `NO_DATE` without a year. `journals` number the titles
    in alphabetical order without their articles; a record without a journal has the largest number of all.
    """

    version: int
    pmids: npt.NDArray[np.int64]
    dates: npt.NDArray[np.int32]
    journals: npt.NDArray[np.int32]
    values: dict[SuggestField, ValueTally]

    def keys_of(self, pmids: npt.NDArray[np.int64], order: RecordOrder) -> tuple[Any, npt.NDArray[np.bool_]]:
        """The sort keys of `pmids`, and which of them have none; those come last in either direction."""
        column = self.dates if order == "date" else self.journals
        nothing = NO_DATE if order == "date" else np.iinfo(np.int32).max
        if not len(self.pmids):
            return np.full(len(pmids), nothing, dtype=np.int32), np.ones(len(pmids), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self.pmids, pmids), len(self.pmids) - 1)
        # A record that came in since the catalogue was read is not known to it.
        keys = np.where(self.pmids[places] == pmids, column[places], nothing).astype(np.int32)
        return keys, keys == nothing


class ValueTally:
    """Counts records by value; spellings that a filter takes for equal are one, shown as the first one seen."""

    def __init__(self, is_name: bool = False) -> None:
        self._key_of = name_key if is_name else match_key
        self._counts: Counter[str] = Counter()
        self._shown: dict[str, str] = {}

    def add(self, values: Iterable[str]) -> None:
        """Count one record that holds `values`."""
        for key, value in {self._key_of(value): value for value in values if value.strip()}.items():
            self._counts[key] += 1
            self._shown.setdefault(key, value)
        if len(self._counts) > 2 * MAX_VALUES:
            self._counts = Counter(dict(self._counts.most_common(MAX_VALUES)))
            self._shown = {key: self._shown[key] for key in self._counts}

    def with_prefix(self, prefix: str, limit: int) -> list[ValueCount]:
        """The most frequent values in which a word begins with `prefix`; those that begin with it themselves first."""
        start = folded(self._key_of(prefix))
        found = []
        for key, count in self._counts.items():
            plain = folded(key)
            if plain.startswith(start) or f" {start}" in plain:
                found.append((not plain.startswith(start), -count, key))
        found.sort()
        return [ValueCount(self._shown[key], -count) for _, count, key in found[:limit]]


def read_catalogue(chunks: Any, version: int) -> Catalogue:
    """Read every record's head once, a few thousand at a time."""
    pmids: list[int] = []
    dates: list[int] = []
    journal_ids: dict[str, int] = {}
    journals: list[int] = []
    values = {field: ValueTally(is_name=field == "author") for field in get_args(SuggestField)}
    for pmid, citation in _citations(chunks):
        pmids.append(pmid)
        dates.append(_date_number(citation["date"]))
        key = _ARTICLE.sub("", match_key(citation["journal"] or citation["journal_abbreviation"]))
        journals.append(journal_ids.setdefault(key, len(journal_ids)) if key else -1)
        for field, tally in values.items():
            tally.add(_values(citation, field))
    # Numbers in the order of first appearance, turned into places in the alphabet; the last entry is for "none" (-1).
    alphabet = {key: place for place, key in enumerate(sorted(journal_ids))}
    places = np.array([*(alphabet[key] for key in journal_ids), np.iinfo(np.int32).max], dtype=np.int32)
    order = np.argsort(np.array(pmids, dtype=np.int64), kind="stable")
    return Catalogue(
        version=version,
        pmids=np.array(pmids, dtype=np.int64)[order],
        dates=np.array(dates, dtype=np.int32)[order],
        journals=places[np.array(journals, dtype=np.int64)][order],
        values=values,
    )


def _citations(chunks: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = chunks.search().where("is_head").select(["pmid", "payload"])
    for batch in rows.to_batches(_BATCH_ROWS):
        for row in batch.to_pylist():
            yield row["pmid"], _citation(row["payload"])


def _citation(payload: bytes) -> dict[str, Any]:
    """What a stored record says besides its text, without building the record: that takes ten times as long."""
    try:
        raw = zlib.decompress(payload)
        start = raw.find(_AFTER_TEXT)
        citation: dict[str, Any] = json.loads(raw if start < 0 else b'{"":"' + raw[start:])
    except (zlib.error, ValueError) as error:
        raise IndexBroken(f"a stored record cannot be read: {str(error)[:200]}") from error
    return citation


def _date_number(date: dict[str, Any]) -> int:
    if date["year"] is None:
        return NO_DATE
    return int(date["year"]) * 10_000 + int(date["month"] or 0) * 100 + int(date["day"] or 0)


def _values(citation: dict[str, Any], field: SuggestField) -> list[str]:
    if field == "keywords":
        return [*citation["keywords"], *(heading["descriptor"] for heading in citation["mesh_headings"])]
    if field == "journal":
        return [citation["journal"] or citation["journal_abbreviation"]]
    if field == "author":
        return [
            author["collective_name"] or f"{author['last_name']} {author['initials']}".strip()
            for author in citation["authors"]
        ]
    return list(citation[field])
