"""A filter that lets nothing pass because no record has its value: which value there is that may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import get_args

from medcite_core.filters import SearchFilter
from medcite_core.index.filter_keys import match_key
from medcite_core.ports import RecordStore
from medcite_core.types import SuggestField

_WORDS: dict[SuggestField, str] = {
    "keywords": "keyword",
    "journal": "journal",
    "author": "author",
    "publication_types": "publication type",
    "languages": "language",
}
_LOOKED_AT = 500
_SHORTEST_PREFIX = 1


def values_note(store: RecordStore, search_filter: SearchFilter, passed_by: Mapping[str, int]) -> str:
    """One sentence for each field whose values no record has, naming the nearest that exists; mostly empty."""
    notes = []
    for field in get_args(SuggestField):
        wanted: tuple[str, ...] = getattr(search_filter, field)
        if wanted and passed_by.get(field) == 0:
            named = " or ".join(f"“{value[:60]}”" for value in wanted[:3])
            near = next(filter(None, (_nearest(store, field, value) for value in wanted[:3])), "")
            meant = f"; did you mean “{near}”?" if near else "."
            notes.append(f"No record has the {_WORDS[field]} {named}{meant}")
    return " ".join(notes)


def _nearest(store: RecordStore, field: SuggestField, value: str) -> str:
    """The value of `field` that is spelt most like `value`, empty when none is.

    PubMed's codes of languages are mostly the first three letters of their English names: "English" is `eng`.
    """
    key = match_key(value)
    for length in range(min(3, len(key)), _SHORTEST_PREFIX - 1, -1):
        found = [item.value for item in store.suggest(field, key[:length], _LOOKED_AT)]
        if field == "languages" and length == 3 and found:
            return found[0]
        near = _closest(key, found)
        if near:
            return near
    return ""


def _closest(key: str, values: Sequence[str]) -> str:
    by_key = {match_key(value): value for value in reversed(values)}
    near = difflib.get_close_matches(key, by_key, n=1, cutoff=0.6)
    return by_key[near[0]] if near else ""
