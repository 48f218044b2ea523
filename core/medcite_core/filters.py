"""SearchFilter: the one shape of a filter, for page, URL, API, command line and both engines."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from medcite_core.errors import InvalidInput, UnknownKey

MAX_VALUES = 50
MAX_VALUE_CHARS = 300
FIRST_YEAR, LAST_YEAR = 1500, 2200


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which records a search may return. Empty fields do not filter; values OR within a field, fields AND together.

    `title`: all words required, stemmed. `keywords`: author keywords or MeSH headings, compared case-folded. A record
    without a year passes only when neither year is set. `has_pmcid`: only records that name a PMC article.
    """

    year_from: int | None = None
    year_to: int | None = None
    title: str = ""
    keywords: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    has_pmcid: bool = False
    exclude_retracted: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether every record passes."""
        return self == SearchFilter()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; lists for tuples."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    def applied(self) -> dict[str, Any]:
        """Only the fields that filter something."""
        empty = SearchFilter().to_dict()
        return {k: v for k, v in self.to_dict().items() if v != empty[k]}

    def only(self, name: str) -> SearchFilter:
        """A filter with just the field `name` of this one; `years` stands for both year fields."""
        if name == "years":
            return SearchFilter(year_from=self.year_from, year_to=self.year_to)
        return SearchFilter(**{name: getattr(self, name)})

    def active_fields(self) -> list[str]:
        """Names of the fields that filter; both year fields as `years`."""
        names = ["years" if n.startswith("year_") else n for n in self.applied()]
        return list(dict.fromkeys(names))

    @classmethod
    def from_mapping(cls, raw: Mapping[str, Any] | None) -> SearchFilter:
        """Read a filter from JSON, YAML or a query string's values.

        Raises:
            UnknownKey: a key that does not exist; names the nearest.
            InvalidInput: a value of the wrong type or out of range, or years reversed.
        """
        if raw is None:
            return cls()
        if not isinstance(raw, Mapping):
            raise InvalidInput(f"filters must be an object, not {type(raw).__name__}")
        known = {f.name for f in fields(cls)}
        for key in raw:
            if key not in known:
                near = difflib.get_close_matches(str(key), sorted(known), n=1, cutoff=0.4)
                raise UnknownKey(
                    f"filter key {str(key)[:60]!r} does not exist" + (f"; did you mean {near[0]!r}?" if near else ""),
                    f"Filter keys are: {', '.join(f.name for f in fields(cls))}.",
                )
        year_from, year_to = _year(raw, "year_from"), _year(raw, "year_to")
        if year_from is not None and year_to is not None and year_from > year_to:
            raise InvalidInput(
                f"the year range {year_from} to {year_to} is reversed", f"Did you mean {year_to} to {year_from}?"
            )
        return cls(
            year_from=year_from,
            year_to=year_to,
            title=_text(raw, "title"),
            keywords=_values(raw, "keywords"),
            journal=_values(raw, "journal"),
            author=_values(raw, "author"),
            publication_types=_values(raw, "publication_types"),
            languages=_values(raw, "languages"),
            has_pmcid=_flag(raw, "has_pmcid"),
            exclude_retracted=_flag(raw, "exclude_retracted"),
        )


def _year(raw: Mapping[str, Any], key: str) -> int | None:
    value = raw.get(key)
    if value is None or value == "":
        return None
    try:
        year = (
            int(value) if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)) else None
        )
    except ValueError:
        year = None
    if year is None or not FIRST_YEAR <= year <= LAST_YEAR:
        raise InvalidInput(
            f"{key} must be a year between {FIRST_YEAR} and {LAST_YEAR}, not {str(value)[:40]!r}",
            "Give a four-digit year, or leave it out.",
        )
    return year


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{key} must be text")
    if len(value) > MAX_VALUE_CHARS:
        raise InvalidInput(f"{key} is longer than {MAX_VALUE_CHARS} characters")
    return " ".join(value.split())


def _values(raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = raw.get(key)
    if value is None or value == "":
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(i, str) for i in items):
        raise InvalidInput(f"{key} must be a list of texts")
    if len(items) > MAX_VALUES or any(len(i) > MAX_VALUE_CHARS for i in items):
        raise InvalidInput(f"{key} takes at most {MAX_VALUES} values of {MAX_VALUE_CHARS} characters")
    return tuple(dict.fromkeys(" ".join(i.split()) for i in items if i.strip()))


def _flag(raw: Mapping[str, Any], key: str) -> bool:
    value = raw.get(key)
    if value is None or value == "":
        return False
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in ("true", "false", "1", "0"):
        return value.casefold() in ("true", "1")
    raise InvalidInput(f"{key} must be true or false")
