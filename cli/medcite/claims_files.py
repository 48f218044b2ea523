"""Reads claims files: JSON, JSON Lines, CSV or plain lines. A line that cannot be read is a row that says so."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medcite_core.errors import InvalidInput
from medcite_ingestion.documents import decoded
from medcite_middleware.services.verifying import ClaimRow

MAX_CLAIMS = 100_000
MAX_CLAIM_CHARS = 2_000
MAX_BYTES = 100_000_000
_CLAIM_KEYS = ("claim", "text", "statement", "sentence")
_PMID_KEYS = ("pmids", "pmid", "citations", "sources")
_ID_KEYS = ("id", "claim_id", "qid")


def read_claims(path: Path) -> list[ClaimRow]:
    """The rows of a claims file, in its order; rows count from 1.

    Taken are `{"claims": [{"claim": …}]}`, a list of such objects or of texts, one JSON object a line, and CSV with a
    column `claim` (also `id`, `pmid` or `pmids`, `question`); of any other text every line is a claim.

    Raises:
        InvalidInput: it cannot be read, holds no claim, or has no column of claims.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "Check the path.") from None
    if len(content) > MAX_BYTES:
        raise InvalidInput(f"{path.name} is larger than {MAX_BYTES:,} bytes", "Split it.")
    text = decoded(path.name, content)
    rows = [_row(number, item) for number, item in enumerate(_items(path, text), start=1)]
    if not rows:
        raise InvalidInput(f"{path.name} holds no claim", 'Give {"claims": [{"claim": "…"}]}, JSON Lines or CSV.')
    if len(rows) > MAX_CLAIMS:
        raise InvalidInput(f"{path.name} holds {len(rows):,} claims; at most {MAX_CLAIMS:,} are taken", "Split it.")
    return rows


def _items(path: Path, text: str) -> Iterator[Any]:
    stripped = text.lstrip()
    if path.suffix.lower() in (".csv", ".tsv"):
        yield from _csv_rows(path, text)
    elif stripped.startswith(("{", "[")):
        yield from _json_items(path, text)
    else:
        yield from (line for line in text.splitlines() if line.strip())


def _json_items(path: Path, text: str) -> Iterator[Any]:
    try:
        whole = json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 and path.suffix.lower() != ".jsonl":
            raise InvalidInput(f"{path.name} is not valid JSON: {error}", "Check its brackets and commas.") from None
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError as line_error:
                yield ValueError(f"not valid JSON: {line_error}")
        return
    if isinstance(whole, Mapping) and "claims" in whole:
        whole = whole["claims"]
    if isinstance(whole, Mapping):
        whole = [whole]
    if not isinstance(whole, list):
        raise InvalidInput(f"{path.name} holds no list of claims", 'Give {"claims": [{"claim": "…"}]} or a list.')
    yield from whole


def _csv_rows(path: Path, text: str) -> Iterator[Any]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(text)
    records = _csv_records(list(io.StringIO(text.strip("\r\n"), newline="")), delimiter)
    header = next(records, [])
    columns = [] if isinstance(header, ValueError) else [name.strip().casefold() for name in header]
    if not any(key in columns for key in _CLAIM_KEYS):
        raise InvalidInput(
            f"{path.name} has no column of claims; its columns are {', '.join(filter(None, columns)) or 'none'}",
            "Name the column `claim`.",
        )
    for fields in records:
        if isinstance(fields, ValueError):
            yield fields
        elif any(field.strip() for field in fields[len(columns) :]):
            # A comma in a claim without quotation marks would silently cut the claim in two.
            yield ValueError(f"it has {len(fields)} fields where the first line has {len(columns)}; put it in quotes")
        else:
            yield {name: value for name, value in zip(columns, fields, strict=False) if name}


def _csv_records(lines: list[str], delimiter: str) -> Iterator[list[str] | ValueError]:
    """The fields of each record. A quote that never closes costs its own line, not the rest of the file (FR-260)."""
    at = 0
    while at < len(lines):
        start = at
        reader = csv.reader(lines[start:], delimiter=delimiter, strict=True)
        try:
            for fields in reader:
                yield fields
                at = start + reader.line_num
        except csv.Error as error:
            yield ValueError(f"line {at + 1} of the CSV cannot be read: {error}")
            at += 1


def _delimiter(text: str) -> str:
    first = text.lstrip().split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _row(number: int, item: Any) -> ClaimRow:
    if isinstance(item, ValueError):
        return ClaimRow(number, "", problem=str(item))
    if isinstance(item, str):
        item = {"claim": item}
    if not isinstance(item, Mapping):
        return ClaimRow(number, "", problem="it is neither a text nor an object with a claim")
    claim = next((item[key] for key in _CLAIM_KEYS if item.get(key)), "")
    identity = next((item[key] for key in _ID_KEYS if item.get(key) not in (None, "")), "")
    question = item.get("question") or ""
    pmids, problem = _pmids(next((item[key] for key in _PMID_KEYS if item.get(key)), ()))
    if not isinstance(claim, str) or not isinstance(question, str):
        return ClaimRow(number, str(claim)[:200], str(identity), problem="its claim or question is not a text")
    claim = " ".join(claim.split())
    if not claim:
        problem = "its claim is empty"
    elif "\ufffd" in claim:
        problem = "its claim holds a character that could not be read; save the file as UTF-8"
    elif len(claim) > MAX_CLAIM_CHARS:
        problem = f"its claim has {len(claim):,} characters; at most {MAX_CLAIM_CHARS:,} are taken"
    return ClaimRow(number, claim, str(identity), " ".join(question.split())[:MAX_CLAIM_CHARS], pmids, problem)


def _pmids(given: Any) -> tuple[tuple[str, ...], str]:
    items = re.split(r"[\s,;|]+", given) if isinstance(given, str) else given if isinstance(given, list) else [given]
    found: list[str] = []
    for item in items:
        text = str(item).strip().removeprefix("PMID").strip(" :")
        if not text or item == ():
            continue
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            return (), f"{text[:40]!r} is not a PMID"
        found.append(text)
    return tuple(dict.fromkeys(found)), ""
