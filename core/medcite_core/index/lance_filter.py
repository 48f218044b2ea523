"""A SearchFilter as a condition in LanceDB's SQL, and literals that no value can break out of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from medcite_core.filters import SearchFilter
from medcite_core.index.filter_keys import match_key, name_key, wanted_title_stems


def filter_sql(search_filter: SearchFilter | None) -> str:
    """The condition that a row of a passing record meets; empty when every record passes.

    Raises:
        InvalidInput: the title filter holds no word.
    """
    if search_filter is None:
        return ""
    parts: list[str] = []
    if search_filter.year_from is not None:
        parts.append(f"year >= {int(search_filter.year_from)}")
    if search_filter.year_to is not None:
        parts.append(f"year <= {int(search_filter.year_to)}")
    if stems := wanted_title_stems(search_filter):
        parts.append(f"array_has_all(title_stems, {_list(stems)})")
    for column, values in (
        ("keyword_keys", map(match_key, search_filter.keywords)),
        ("journal_keys", map(match_key, search_filter.journal)),
        ("author_keys", map(name_key, search_filter.author)),
        ("type_keys", map(match_key, search_filter.publication_types)),
        ("language_keys", map(match_key, search_filter.languages)),
    ):
        if wanted := list(values):
            parts.append(f"array_has_any({column}, {_list(wanted)})")
    if search_filter.has_pmcid:
        parts.append("has_pmcid")
    if search_filter.exclude_retracted:
        parts.append("NOT is_retracted")
    return all_of(parts)


def all_of(conditions: Iterable[str]) -> str:
    """Conditions joined by AND; empty ones count for nothing."""
    return " AND ".join(f"({condition})" for condition in conditions if condition)


def pmid_sql(pmids: Sequence[int]) -> str:
    """The condition that a row belongs to one of `pmids`, of which there is at least one."""
    return f"pmid IN ({', '.join(str(int(pmid)) for pmid in pmids)})"


def _list(values: Sequence[str]) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"


def _text(value: str) -> str:
    # Inside single quotes a doubled quote is the only escape there is; a backslash stands for itself.
    clean = value.encode("utf-8", "replace").decode("utf-8")
    return "'" + clean.replace("'", "''") + "'"
