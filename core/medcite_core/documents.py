"""Texts to check against beside PubMed records: files as located blocks, each sliced out of one canonical text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from medcite_core.types import Section, Span

BlockKind = Literal["heading", "paragraph", "list_item", "table_row", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A located piece of a document: `document.text[span]` are its words.

    `label` is the heading it stands under, empty before the first. `page` counts from 1; None where a format has none.
    """

    kind: BlockKind
    span: Span
    label: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was given to check against. `id` is `doc:` and the first 16 digits of `sha256`, of its bytes.

    Blocks stand in the order of the text and do not overlap. `unread` names the parts that hold no readable text
    ("page 3: a picture"): a scan of a document with such parts is never complete.
    """

    id: str
    name: str
    text: str
    blocks: tuple[Block, ...]
    sha256: str
    pages: int | None = None
    unread: tuple[str, ...] = ()

    @property
    def source_id(self) -> str:
        """What proofs and evidence name it by."""
        return self.id

    @property
    def title(self) -> str:
        """The file's name."""
        return self.name

    @property
    def is_usable_as_support(self) -> bool:
        """A file that a reader gave is taken at its word."""
        return True

    @property
    def sections(self) -> tuple[Section, ...]:
        """Its blocks as sections, so that what reads records reads documents; headings count as titles."""
        return tuple(
            Section("title" if b.kind == "heading" else "abstract", b.label, "", b.span.of(self.text), b.span)
            for b in self.blocks
        )

    def section_at(self, offset: int) -> Section | None:
        """The block that holds `offset`, if any."""
        return next((s for s in self.sections if s.span.start <= offset < s.span.end), None)

    def page_at(self, offset: int) -> int | None:
        """The page on which `offset` stands, if the format has pages."""
        return next((b.page for b in self.blocks if b.span.start <= offset < b.span.end), None)
