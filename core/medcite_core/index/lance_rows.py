"""How records lie in LanceDB: the table's columns, rows from records, and records and chunks from rows.

One row a chunk. The row of ordinal 0 is the record's head: it alone carries the record (`payload`), its whole text and
what decides which copy is newer. So a record and its chunks are published in one commit, and readers see one revision.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from medcite_core.codec import record_from_json, record_to_json
from medcite_core.errors import IndexBroken, IndexMismatch, InvalidInput
from medcite_core.index.filter_keys import folded, record_keys
from medcite_core.index.precedence import CopyState
from medcite_core.ports import EmbedderIdentity, IndexedRecord, IndexIdentity
from medcite_core.types import Chunk, Record, Span

FORMAT_VERSION = IndexIdentity(EmbedderIdentity("", "", "", "", 0), 0, 0).format_version
CHUNK_COLUMNS = ["id", "pmid", "ordinal", "section", "start", "end", "text"]
STATE_COLUMNS = ["pmid", "content_hash", "version", "date_revised", "release", "file_number"]
LIST_COLUMNS = ["title_stems", "keyword_keys", "journal_keys", "author_keys", "type_keys", "language_keys"]
_METADATA_KEY = b"medcite_index"


def chunk_schema(identity: IndexIdentity) -> Any:
    """The Arrow schema of the chunk table, with `identity` in its metadata."""
    import pyarrow as pa

    # The child must be called "item": with another name LanceDB does not use the list's index (a silent full scan).
    texts = pa.list_(pa.field("item", pa.string()))
    fields = [
        pa.field("id", pa.string(), nullable=False),
        pa.field("pmid", pa.int64(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("is_head", pa.bool_(), nullable=False),
        pa.field("section", pa.string()),
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        pa.field("text", pa.string()),
        pa.field("search_text", pa.string()),
        pa.field("vector", pa.list_(pa.float32(), identity.embedder.dimension)),
        pa.field("year", pa.int32()),
        *(pa.field(name, texts) for name in LIST_COLUMNS),
        pa.field("has_pmcid", pa.bool_()),
        pa.field("is_retracted", pa.bool_()),
        pa.field("record_text", pa.string()),
        pa.field("payload", pa.binary()),
        pa.field("content_hash", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("date_revised", pa.string()),
        pa.field("release", pa.int32()),
        pa.field("file_number", pa.int32()),
    ]
    metadata = {_METADATA_KEY: json.dumps(identity.to_dict(), ensure_ascii=True)}
    return pa.schema(fields, metadata=metadata)


def tombstone_schema() -> Any:
    """The Arrow schema of the table of withdrawals."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("pmid", pa.int64(), nullable=False),
            pa.field("version", pa.int32()),
            pa.field("release", pa.int32()),
            pa.field("file_number", pa.int32()),
        ]
    )


def stored_identity(schema: Any, place: str) -> IndexIdentity:
    """The identity in a chunk table's metadata; `place` names the index in errors.

    Raises:
        IndexMismatch: another format of medcite, older or newer.
        IndexBroken: not a table that medcite made.
    """
    raw = (schema.metadata or {}).get(_METADATA_KEY, b"")
    try:
        values = json.loads(raw)
        found = values["format_version"]
        if found == FORMAT_VERSION:
            identity = IndexIdentity.from_dict(values)
    except (TypeError, ValueError, KeyError):
        raise IndexBroken(
            f"{place} does not say how it was made", "It is not an index of medcite; choose another MEDCITE_DATA_DIR."
        ) from None
    if found != FORMAT_VERSION:
        newer = isinstance(found, int) and found > FORMAT_VERSION
        raise IndexMismatch(
            f"{place} has format {found!r}; this medcite reads and writes format {FORMAT_VERSION}",
            "Update medcite, or build a new index in another MEDCITE_DATA_DIR." if newer else _REBUILD,
        )
    expected = chunk_schema(identity)
    wrong = [f.name for f in expected if f.name not in schema.names or schema.field(f.name).type != f.type]
    if wrong:
        raise IndexMismatch(f"{place} lacks columns that this medcite needs: {', '.join(wrong)}", _REBUILD)
    return identity


_REBUILD = "Nothing in it was changed. Build a new one: `medcite ingest files PATH…` with another MEDCITE_DATA_DIR."


def pmid_number(pmid: str) -> int | None:
    """A PMID as the number it is stored as; None for what cannot be one."""
    if pmid.isascii() and pmid.isdigit() and len(pmid) <= 18 and str(int(pmid)) == pmid:
        return int(pmid)
    return None


def check_batch(batch: Sequence[IndexedRecord], dimension: int) -> None:
    """Refuse what may not be stored, before anything is.

    Raises:
        InvalidInput: a PMID that is no number; chunks that are not the record's; vectors of another number or
            dimension, or without a direction.
    """
    for entry in batch:
        record, chunks, vectors = entry.record, entry.chunks, entry.vectors
        if pmid_number(record.pmid) is None:
            raise InvalidInput(f"{record.pmid[:40]!r} is not a PMID", "A PMID is a number without leading zeros.")
        if not chunks or [chunk.ordinal for chunk in chunks] != list(range(len(chunks))):
            raise InvalidInput(f"the chunks of record {record.pmid} are not numbered 0, 1, 2, …")
        if len({chunk.id for chunk in chunks}) != len(chunks):
            raise InvalidInput(f"two chunks of record {record.pmid} have the same id")
        for chunk in chunks:
            if chunk.pmid != record.pmid or not chunk.id.startswith(f"{record.pmid}:"):
                raise InvalidInput(f"chunk {chunk.id!r} does not belong to record {record.pmid}")
            if chunk.span.of(record.text) != chunk.text:
                raise InvalidInput(f"chunk {chunk.id!r} is not what its span cuts out of the record")
        if vectors.shape != (len(chunks), dimension):
            raise InvalidInput(
                f"record {record.pmid} has {len(chunks)} chunks and vectors of shape {vectors.shape}; "
                f"the index holds {dimension} dimensions",
                "Embed it with the model the index was made with.",
            )
        lengths = np.linalg.norm(np.asarray(vectors, dtype=np.float64), axis=1)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise InvalidInput(f"record {record.pmid} has a vector with no direction (zero, or not a number)")


def rows_of(batch: Sequence[IndexedRecord], identity: IndexIdentity) -> Any:
    """An Arrow table with a row for every chunk of `batch`, which `check_batch` has passed."""
    import pyarrow as pa

    schema = chunk_schema(identity)
    columns: dict[str, list[Any]] = {name: [] for name in schema.names if name != "vector"}
    for entry in batch:
        shared = _record_columns(entry.record)
        head = _head_columns(entry.record)
        nothing = dict.fromkeys(head)
        title = entry.record.title
        # Folded here, because the engine folds accents after it has stemmed, and stems a word with one differently.
        plain_title = folded(title)
        for chunk in entry.chunks:
            row = {
                "id": chunk.id,
                "ordinal": chunk.ordinal,
                "is_head": chunk.ordinal == 0,
                "section": chunk.section,
                "start": chunk.span.start,
                "end": chunk.span.end,
                "text": chunk.text,
                "search_text": plain_title if chunk.text == title else f"{plain_title}\n{folded(chunk.text)}",
                **shared,
                **(head if chunk.ordinal == 0 else nothing),
            }
            for name, values in columns.items():
                values.append(row[name])
    flat = np.concatenate([np.asarray(entry.vectors, dtype=np.float32).ravel() for entry in batch])
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat), identity.embedder.dimension)
    arrays = [
        vectors.cast(field.type) if field.name == "vector" else pa.array(columns[field.name], type=field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _record_columns(record: Record) -> dict[str, Any]:
    keys = record_keys(record)
    return {
        "pmid": int(record.pmid),
        "year": keys.year,
        **{name: getattr(keys, name) for name in LIST_COLUMNS},
        "has_pmcid": keys.has_pmcid,
        "is_retracted": keys.is_retracted,
    }


def _head_columns(record: Record) -> dict[str, Any]:
    state = CopyState.of(record)
    return {
        "record_text": folded(record.text),
        "payload": zlib.compress(record_to_json(record)),
        **{name: getattr(state, name) for name in STATE_COLUMNS if name != "pmid"},
    }


def record_of(payload: bytes) -> Record:
    """The record that a head row carries.

    Raises:
        IndexBroken: the bytes are damaged.
    """
    try:
        return record_from_json(zlib.decompress(payload))
    except (zlib.error, ValueError) as error:
        raise IndexBroken(f"a stored record cannot be read: {str(error)[:200]}") from error


def chunk_of(row: dict[str, Any]) -> Chunk:
    """The chunk of a row with `CHUNK_COLUMNS`."""
    span = Span(row["start"], row["end"])
    return Chunk(row["id"], str(row["pmid"]), row["ordinal"], row["section"], span, row["text"])


def state_of(row: dict[str, Any]) -> CopyState:
    """The copy state of a row with `STATE_COLUMNS`."""
    return CopyState(**{name: row[name] for name in STATE_COLUMNS if name != "pmid"})
