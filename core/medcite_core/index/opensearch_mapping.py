"""How records and chunks are laid out in an OpenSearch index.

Three kinds of documents share it. A *chunk* carries text and vector under the original project's field names (`pmid`,
`chunk_id`, `year`, `month`, `title`, `chunk`, `embedding`, alias `vector_field`) and the revision of its record. A
*record* carries the whole citation and says which revision is the current one: a chunk of another revision is never
shown, so switching a record over is one write of one document. A *withdrawal* keeps older copies out.
"""

from __future__ import annotations

import base64
import re
import zlib
from typing import Any

from medcite_core.codec import record_to_json
from medcite_core.errors import IndexBroken, IndexMismatch
from medcite_core.index.filter_keys import folded, match_key, name_key, record_keys
from medcite_core.index.lance_rows import LIST_COLUMNS, record_of
from medcite_core.index.precedence import CopyState, Withdrawal
from medcite_core.index.query_text import STOP_WORDS
from medcite_core.ports import IndexedRecord, IndexIdentity
from medcite_core.settings import OpenSearchSettings
from medcite_core.types import Chunk, Record, Span, SuggestField

MAPPING_VERSION = 1
MAX_KEY_CHARS = 2000
"""Longer values of a filter field are cut: OpenSearch refuses a document whose key has more than 32,766 bytes."""

STATE_FIELDS = ["content_hash", "version", "date_revised", "release", "file_number"]
SUGGEST_FIELDS: tuple[SuggestField, ...] = ("keywords", "journal", "author", "publication_types", "languages")
CHUNK_FIELDS = ["pmid", "chunk_key", "chunk_id", "section", "start", "end", "chunk", "revision"]
SEPARATOR = "\u0001"
_ARTICLE = re.compile(r"^(?:the|an|a|le|la|les|der|die|das)\s+")


_ANALYSIS: dict[str, Any] = {
    "filter": {
        "medcite_stop": {"type": "stop", "stopwords": STOP_WORDS},
        "medcite_stemmer": {"type": "stemmer", "language": "english"},
    },
    # Letters and digits make a word, as in the embedded index: "title:zeta" and "0.05" are two words each.
    "tokenizer": {"medcite_words": {"type": "pattern", "pattern": "[^\\p{L}\\p{N}]+"}},
    "analyzer": {
        "medcite_english": {
            "tokenizer": "medcite_words",
            "filter": ["lowercase", "asciifolding", "medcite_stop", "medcite_stemmer"],
        },
        "medcite_exact": {"tokenizer": "medcite_words", "filter": ["lowercase", "asciifolding"]},
    },
}
_KEYWORD = {"type": "keyword", "ignore_above": MAX_KEY_CHARS}
_STORED_ONLY = {"type": "keyword", "index": False, "doc_values": False}
_WORDS = {"type": "text", "analyzer": "medcite_english"}
_WORDS_AND_EXACT = {**_WORDS, "fields": {"exact": {"type": "text", "analyzer": "medcite_exact"}}}


def index_body(identity: IndexIdentity, settings: OpenSearchSettings) -> dict[str, Any]:
    """Settings and mapping of a new index, with `identity` and the mapping's version in its `_meta`."""
    index = {
        "knn": True,
        "number_of_shards": settings.shards,
        "number_of_replicas": settings.replicas,
        # Every write refreshes what it wrote; this is for one that was killed before it did.
        "refresh_interval": "30s",
        "max_result_window": 10_000,
    }
    return {
        "settings": {"index": index, "analysis": _ANALYSIS},
        "mappings": {
            "dynamic": "strict",
            "_meta": {"medcite": {"mapping_version": MAPPING_VERSION, "identity": identity.to_dict()}},
            "properties": {**_chunk_properties(identity, settings), **_record_properties()},
        },
    }


def _chunk_properties(identity: IndexIdentity, settings: OpenSearchSettings) -> dict[str, Any]:
    # The engine is named: the default may be one that this version or this node does not have.
    method = {
        "name": "hnsw",
        "engine": settings.engine,
        "space_type": "cosinesimil",
        "parameters": {"m": settings.m, "ef_construction": settings.ef_construction},
    }
    return {
        "kind": {"type": "keyword"},
        "pmid": {"type": "long"},
        "chunk_id": {"type": "integer"},
        "chunk_key": {"type": "keyword"},
        "revision": {"type": "keyword"},
        "section": _STORED_ONLY,
        "start": {"type": "integer", "index": False},
        "end": {"type": "integer", "index": False},
        "title": _WORDS_AND_EXACT,
        "chunk": _WORDS_AND_EXACT,
        "search_text": _WORDS,
        "embedding": {"type": "knn_vector", "dimension": identity.embedder.dimension, "method": method},
        "vector_field": {"type": "alias", "path": "embedding"},
        "year": {"type": "integer"},
        "month": {"type": "integer"},
        **dict.fromkeys(LIST_COLUMNS, _KEYWORD),
        "has_pmcid": {"type": "boolean"},
        "is_retracted": {"type": "boolean"},
    }


def _record_properties() -> dict[str, Any]:
    """Of records, withdrawals and tickets, beside what they share with chunks."""
    return {
        "record_text": _WORDS,
        "date_sort": {"type": "integer"},
        "journal_sort": _KEYWORD,
        **{f"suggest_{name}": {"type": "keyword"} for name in SUGGEST_FIELDS},
        "payload": {"type": "binary"},
        "chunk_count": {"type": "integer"},
        "chunk_docs": _STORED_ONLY,
        "content_hash": _STORED_ONLY,
        "version": {"type": "integer"},
        "date_revised": _STORED_ONLY,
        "release": {"type": "integer"},
        "file_number": {"type": "integer"},
        "pmids": _STORED_ONLY,
        "at": {"type": "long"},
    }


def stored_identity(mapping: dict[str, Any], place: str) -> IndexIdentity:
    """The identity in an index's mapping; `place` names the index in errors.

    Raises:
        IndexMismatch: made by another version of medcite, older or newer.
        IndexBroken: not an index that medcite made.
    """
    meta = mapping.get("_meta", {}).get("medcite")
    if not isinstance(meta, dict):
        raise IndexBroken(
            f"{place} does not say how it was made",
            "It is not an index of medcite; choose another MEDCITE_OPENSEARCH__INDEX.",
        )
    version = meta.get("mapping_version")
    if version != MAPPING_VERSION:
        raise IndexMismatch(
            f"{place} has mapping version {version!r}; this medcite reads and writes version {MAPPING_VERSION}",
            "Nothing in it was changed. Update medcite, or build a new index under another MEDCITE_OPENSEARCH__INDEX.",
        )
    try:
        return IndexIdentity.from_dict(meta["identity"])
    except (KeyError, TypeError) as error:
        raise IndexBroken(f"{place} does not say how it was made: {error}", "Build it anew.") from None


def record_doc_id(pmid: int | str) -> str:
    """The document of a record."""
    return f"record:{pmid}"


def withdrawal_doc_id(pmid: int | str) -> str:
    """The document of a withdrawal."""
    return f"withdrawal:{pmid}"


def revision_of(record: Record) -> str:
    """What a record's chunks carry: the first 16 digits of its content's hash, and its version."""
    state = CopyState.of(record)
    return f"{state.content_hash[:16]}.{state.version}"


def chunk_docs(entry: IndexedRecord) -> dict[str, dict[str, Any]]:
    """The documents of a record's chunks, by document id. An id holds the revision: none overwrites an older one."""
    record, revision = entry.record, revision_of(entry.record)
    title, plain_title = record.title, folded(record.title)
    shared = {
        "kind": "chunk",
        "pmid": int(record.pmid),
        "revision": revision,
        "title": title,
        "year": record.date.year,
        "month": record.date.month,
        **_filter_fields(record),
    }
    docs = {}
    for chunk, vector in zip(entry.chunks, entry.vectors, strict=True):
        docs[f"{chunk.id}@{revision}"] = {
            **shared,
            "chunk_id": chunk.ordinal,
            "chunk_key": chunk.id,
            "section": chunk.section,
            "start": chunk.span.start,
            "end": chunk.span.end,
            "chunk": chunk.text,
            "search_text": plain_title if chunk.text == title else f"{plain_title}\n{folded(chunk.text)}",
            "embedding": [float(f"{value:.8g}") for value in vector],
        }
    return docs


def record_doc(entry: IndexedRecord, chunk_ids: list[str]) -> dict[str, Any]:
    """The document of a record, whose current chunks are the documents `chunk_ids`."""
    record = entry.record
    state = CopyState.of(record)
    date = record.date
    journal = _ARTICLE.sub("", match_key(record.journal or record.journal_abbreviation))
    return {
        "kind": "record",
        "pmid": int(record.pmid),
        "revision": revision_of(record),
        "year": date.year,
        **_filter_fields(record),
        "record_text": folded(record.text),
        "payload": base64.b64encode(zlib.compress(record_to_json(record))).decode("ascii"),
        "chunk_count": len(chunk_ids),
        "chunk_docs": chunk_ids,
        "date_sort": None if date.year is None else date.year * 10_000 + (date.month or 0) * 100 + (date.day or 0),
        "journal_sort": journal[:MAX_KEY_CHARS] or None,
        **{f"suggest_{name}": _suggestions(record, name) for name in SUGGEST_FIELDS},
        **{name: getattr(state, name) for name in STATE_FIELDS},
    }


def withdrawal_doc(pmid: str, withdrawal: Withdrawal) -> dict[str, Any]:
    """The document of a withdrawal."""
    return {
        "kind": "withdrawal",
        "pmid": int(pmid),
        "version": withdrawal.version,
        "release": withdrawal.release,
        "file_number": withdrawal.file_number,
    }


def _filter_fields(record: Record) -> dict[str, Any]:
    keys = record_keys(record)
    lists = {name: [key[:MAX_KEY_CHARS] for key in getattr(keys, name)] for name in LIST_COLUMNS}
    return {**lists, "has_pmcid": keys.has_pmcid, "is_retracted": keys.is_retracted}


def _suggestions(record: Record, field: SuggestField) -> list[str]:
    """`folded key, key, value as written`, once a key: found by the first, counted by the second, shown as the last."""
    key_of = name_key if field == "author" else match_key
    shown = {key_of(value): value for value in _values(record, field) if value.strip()}
    items = (SEPARATOR.join((folded(key), key, value)) for key, value in shown.items() if SEPARATOR not in key + value)
    return [item for item in items if len(item) <= MAX_KEY_CHARS]


def _values(record: Record, field: SuggestField) -> list[str]:
    if field == "keywords":
        return [*record.keywords, *(heading.descriptor for heading in record.mesh_headings)]
    if field == "journal":
        return [record.journal or record.journal_abbreviation]
    if field == "author":
        return [author.display() for author in record.authors]
    return list(record.publication_types if field == "publication_types" else record.languages)


def chunk_of(source: dict[str, Any]) -> Chunk:
    """The chunk of a document with `CHUNK_FIELDS`."""
    span = Span(source["start"], source["end"])
    text = source["chunk"]
    return Chunk(source["chunk_key"], str(source["pmid"]), source["chunk_id"], source["section"], span, text)


def stored_record(source: dict[str, Any]) -> Record:
    """The record of a record document with its `payload`.

    Raises:
        IndexBroken: it is damaged.
    """
    return record_of(base64.b64decode(source["payload"]))


def state_of(source: dict[str, Any]) -> CopyState:
    """The copy state of a record document with `STATE_FIELDS`."""
    return CopyState(**{name: source.get(name) for name in STATE_FIELDS})  # type: ignore[arg-type]
