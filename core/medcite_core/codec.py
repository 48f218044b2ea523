"""Values to JSON and back, at the edges: storage, HTTP and files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from medcite_core.types import Provenance, Record


@cache
def _records() -> TypeAdapter[Record]:
    return TypeAdapter(Record)


def record_to_json(record: Record) -> bytes:
    """A record as JSON; `record_from_json` gives an equal one back."""
    return _records().dump_json(record)


def record_from_json(data: bytes | str) -> Record:
    """The inverse of `record_to_json`."""
    return _records().validate_json(data)


def content_hash(record: Record) -> str:
    """SHA-256 of what PubMed says of the citation, whichever file it came in."""
    return hashlib.sha256(record_to_json(replace(record, provenance=Provenance("", "", 0)))).hexdigest()
