"""Plain text and Markdown as documents: headings, paragraphs, list items, table rows and code, with their places."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from medcite_core.documents import Block, BlockKind, Document
from medcite_core.errors import InvalidInput
from medcite_core.types import Span

MAX_DOCUMENT_CHARS = 5_000_000
_MARKDOWN_NAME = re.compile(r"\.(?:md|markdown|mdown)$", re.IGNORECASE)
_MARKDOWN_SIGNS = re.compile(r"^(?:#{1,6} \S|\|.*\|\s*$|\s*[-*+] \S|```)", re.MULTILINE)
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "tr_open": "table_row",
    "fence": "code",
    "code_block": "code",
    "html_block": "paragraph",
}
_CELL_SIGNS = "\t;|,"
_MIN_ROWS = 2
_FIGURE = re.compile(r"[-+]?[\d.,'\u00a0\u202f]*\d\s?%?")
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|\d{1,9}[.)]\s+|>\s?)+")


@dataclass(frozen=True, slots=True)
class _Found:
    kind: BlockKind
    first: int  # line, from 0
    last: int  # line after the last


def text_document(name: str, text: str, sha256: str = "") -> Document:
    """A document of `text`. Line breaks inside a paragraph count as spaces: they are where a line was full.

    `sha256` is that of the file's bytes; without one, that of the text in UTF-8.

    Raises:
        InvalidInput: there is no word in it, or it is too long.
    """
    if len(text) > MAX_DOCUMENT_CHARS:
        raise InvalidInput(f"{name} has more than {MAX_DOCUMENT_CHARS:,} characters", "Split it into several files.")
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    if not re.search(r"\w", plain):
        raise InvalidInput(f"{name} holds no word", "Give a file with text in it.")
    digest = sha256 or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    is_markdown = bool(_MARKDOWN_NAME.search(name) or _MARKDOWN_SIGNS.search(plain))
    lines = plain.split("\n")
    found = list(_markdown_blocks(plain) if is_markdown else _paragraphs(lines))
    found += _left_out(lines, found)
    canonical, blocks = _located(lines, sorted(found, key=lambda f: f.first))
    return Document(f"doc:{digest[:16]}", name, canonical, blocks, digest)


def _paragraphs(lines: list[str]) -> Iterator[_Found]:
    start: int | None = None
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            start = at if start is None else start
        elif start is not None:
            if _is_table(lines[start:at]):
                yield from (_Found("table_row", row, row + 1) for row in range(start, at))
            else:
                yield _Found("paragraph", start, at)
            start = None


def _is_table(lines: list[str]) -> bool:
    """Whether lines are rows of a table of figures: cells by one sign, a first line of names, figures below it."""
    head, *rows = lines
    for sign in _CELL_SIGNS:
        cells = head.count(sign)
        if cells and len(rows) >= _MIN_ROWS and all(row.count(sign) == cells for row in rows):
            names, *parts = ([cell.strip() for cell in line.split(sign)] for line in lines)
            are_names = all(names) and not any(_FIGURE.fullmatch(name) for name in names)
            return are_names and all(any(_FIGURE.fullmatch(cell) for cell in row) for row in parts)
    return False


def _left_out(lines: list[str], found: list[_Found]) -> list[_Found]:
    """The lines with words that are in no block, as paragraphs: Markdown drops definitions ("[1]: …") and bare "1."."""
    covered = {at for block in found for at in range(block.first, block.last)}
    bare = ["" if at in covered or not re.search(r"\w", line) else line for at, line in enumerate(lines)]
    return list(_paragraphs(bare))


def _markdown_blocks(text: str) -> Iterator[_Found]:
    from markdown_it import MarkdownIt

    inside_item = 0
    done: set[int] = set()
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type in ("list_item_open", "list_item_close"):
            inside_item += 1 if token.type == "list_item_open" else -1
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.map[0] in done:
            continue
        done.add(token.map[0])
        yield _Found("list_item" if kind == "paragraph" and inside_item else kind, *token.map)


def _located(lines: list[str], found: list[_Found]) -> tuple[str, tuple[Block, ...]]:
    """The canonical text (the lines, with breaks inside a block as spaces), and the blocks in it."""
    joined = list(lines)
    breaks = ["\n"] * len(lines)
    for block in found:
        if block.kind != "code":
            for at in range(block.first, block.last - 1):
                breaks[at] = " "
    starts = [0]
    for line in joined:
        starts.append(starts[-1] + len(line) + 1)
    text = "".join(line + end for line, end in zip(joined, breaks, strict=True))[:-1]
    blocks: list[Block] = []
    heading, end = "", 0
    for block in found:
        span = _trimmed(text, max(starts[block.first], end), min(starts[block.last] - 1, len(text)), block.kind)
        if span is None:
            continue
        blocks.append(Block(block.kind, span, heading))
        end = span.end
        if block.kind == "heading":
            heading = span.of(text)
    return text, tuple(blocks)


def _trimmed(text: str, start: int, end: int, kind: BlockKind) -> Span | None:
    """The span without white space and without the signs of Markdown before it."""
    piece = text[start:end]
    if kind != "code" and (marks := _MARKS.match(piece)):
        start += marks.end()
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if kind == "heading":
        while end > start and text[end - 1] in "# ":
            end -= 1
    return Span(start, end) if end > start else None
