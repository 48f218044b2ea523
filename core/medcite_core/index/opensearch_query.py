"""Filters, words and completions as OpenSearch queries. Every value is JSON data: none can break out of its place."""

from __future__ import annotations

import re
from typing import Any

from medcite_core.filters import SearchFilter
from medcite_core.index.filter_keys import folded, match_key, name_key, wanted_title_stems
from medcite_core.index.opensearch_mapping import MAX_KEY_CHARS, SEPARATOR
from medcite_core.index.query_text import TextQuery
from medcite_core.types import RecordOrder, SuggestField, ValueCount

MAX_WORDS = 400
"""Different words of a query that are searched for; an engine allows about a thousand terms."""
_REGEX_SIGNS = re.compile(r'[.?+*|{}\[\]()"\\#@&<>~^$-]')

Query = dict[str, Any]


def clauses(search_filter: SearchFilter | None, kind: str) -> list[Query]:
    """What a document of `kind` must meet for its record to pass.

    Raises:
        InvalidInput: the title filter holds no word.
    """
    parts: list[Query] = [{"term": {"kind": kind}}]
    if search_filter is None:
        return parts
    years = {"gte": search_filter.year_from, "lte": search_filter.year_to}
    if wanted := {bound: year for bound, year in years.items() if year is not None}:
        parts.append({"range": {"year": wanted}})
    parts += [{"term": {"title_stems": stem[:MAX_KEY_CHARS]}} for stem in wanted_title_stems(search_filter)]
    for field, values in (
        ("keyword_keys", map(match_key, search_filter.keywords)),
        ("journal_keys", map(match_key, search_filter.journal)),
        ("author_keys", map(name_key, search_filter.author)),
        ("type_keys", map(match_key, search_filter.publication_types)),
        ("language_keys", map(match_key, search_filter.languages)),
    ):
        if keys := [clean(value)[:MAX_KEY_CHARS] for value in values]:
            parts.append({"terms": {field: keys}})
    if search_filter.has_pmcid:
        parts.append({"term": {"has_pmcid": True}})
    if search_filter.exclude_retracted:
        parts.append({"term": {"is_retracted": False}})
    return parts


def clean(text: str) -> str:
    """`text` without lone surrogates, which JSON cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def text_query(words: TextQuery | None, field: str, filters: list[Query]) -> Query:
    """Any word of `words` in `field` (BM25), each phrase in it, among what passes; without words all that passes."""
    if words is None:
        return {"bool": {"filter": filters}}
    phrases = [{"match_phrase": {field: phrase}} for phrase in words.phrases]
    distinct = " ".join(list(dict.fromkeys(words.text.split()))[:MAX_WORDS])
    match = {"match": {field: {"query": distinct}}}
    must = {"must": phrases, "should": [match]} if phrases else {"must": [match]}
    return {"bool": {**must, "filter": filters}}


def exact_vector_query(vector: list[float], filters: list[Query]) -> Query:
    """Every passing chunk, scored (1 + cosine) / 2: right whatever the graph holds, and quick while few pass."""
    return {
        "script_score": {
            "query": {"bool": {"filter": filters}},
            "script": {
                "lang": "knn",
                "source": "knn_score",
                "params": {"field": "embedding", "query_value": vector, "space_type": "cosinesimil"},
            },
        }
    }


def vector_query(vector: list[float], filters: list[Query], k: int) -> Query:
    """The k nearest through the graph, with the filter inside it."""
    return {"knn": {"embedding": {"vector": vector, "k": k, "filter": {"bool": {"filter": filters}}}}}


def chunk_order() -> list[Query]:
    """Score, then pmid and ordinal: total and repeatable."""
    return [{"_score": "desc"}, {"pmid": "asc"}, {"chunk_id": "asc"}]


def record_order(order: RecordOrder, *, descending: bool) -> list[Query]:
    """The sort of a list of records; those without the key come last in either direction; ties by score, then pmid."""
    way = "desc" if descending else "asc"
    if order == "relevance":
        return [{"_score": way}, {"pmid": "asc"}]
    field = "date_sort" if order == "date" else "journal_sort"
    return [{field: {"order": way, "missing": "_last"}}, {"_score": "desc"}, {"pmid": "asc"}]


def suggestion_aggregations(field: SuggestField, prefix: str, size: int) -> dict[str, Any]:
    """Two lists of values: those that begin with `prefix`, and those in which another word does."""
    key_of = name_key if field == "author" else match_key
    start = _REGEX_SIGNS.sub(lambda sign: "\\" + sign.group(), folded(key_of(clean(prefix))))
    rest = "(.|\n)*"
    order = [{"_count": "desc"}, {"_key": "asc"}]
    terms = {"field": f"suggest_{field}", "size": size, "order": order}
    return {
        "begins": {"terms": {**terms, "include": f"{start}{rest}"}},
        "within": {"terms": {**terms, "include": f"[^{SEPARATOR}]* {start}{rest}"}},
    }


def suggestions(aggregations: dict[str, Any], limit: int) -> list[ValueCount]:
    """The values of `suggestion_aggregations`, spellings of one value together, the most frequent first."""
    found: dict[str, tuple[bool, int, str]] = {}
    for is_within, name in ((False, "begins"), (True, "within")):
        mine: dict[str, list[tuple[int, str]]] = {}
        for bucket in aggregations[name]["buckets"]:
            _, key, shown = bucket["key"].split(SEPARATOR)
            mine.setdefault(key, []).append((bucket["doc_count"], shown))
        for key, spellings in mine.items():
            most = max(spellings, key=lambda spelling: spelling[0])[1]
            found.setdefault(key, (is_within, -sum(count for count, _ in spellings), most))
    ranked = sorted((is_within, count, key, shown) for key, (is_within, count, shown) in found.items())
    return [ValueCount(shown, -count) for _, count, _, shown in ranked[:limit]]
