"""Reads PubMed XML, one citation at a time: efetch sets, baseline and update files, books and deletions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError, XMLParser

import structlog

from medcite_core.types import ParseProblem, Provenance, Record, Tombstone
from medcite_ingestion.citation import UnreadableCitation, read_article, read_book, read_pmid, unknown_elements
from medcite_ingestion.inline_text import local_name
from medcite_ingestion.pubmed_file import FileFacts, examine, published_md5, seekable, unpacked
from medcite_ingestion.pubmed_scan import SETS, CitationCutter, Piece, closes_set, leftover, root_of

log = structlog.get_logger(__name__)

Parsed = Record | Tombstone | ParseProblem

_FLAWS = {
    "unclosed": "the citation has no end tag",
    "cut": "the file ends inside this citation",
    "too_long": "the citation does not end within 32 MB",
}
_MATHML = b' xmlns:mml="http://www.w3.org/1998/Math/MathML"'
_ANY_PMID = re.compile(rb"<PMID[^>]*>\s*(\d{1,9})\s*<")
_MEDLINE_TEXT = re.compile(rb"^\s*PMID\s*- ?\d", re.MULTILINE)
_ERROR = re.compile(rb"<ERROR>(.*?)</ERROR>", re.DOTALL)


def parse_pubmed_xml(
    source: Path | BinaryIO, file_name: str | None = None, *, seen_unknown: set[str] | None = None
) -> Iterator[Parsed]:
    """Every citation of a PubMed XML file, in order, in constant memory; gzip is recognised by its content.

    Records, tombstones and problems together are the citations of the file. A broken citation is a `ParseProblem` and
    the next one is read. A file that is cut short gives its whole citations and one problem with `is_file_cut` for the
    rest. What is not PubMed XML, or an archive whose checksum fails, gives one problem and nothing else. Nothing is
    fetched and no entity is expanded. An element that NLM has added since is logged once for each `seen_unknown`.

    Raises:
        OSError: the file cannot be opened or read.
    """
    name = file_name or (source.name if isinstance(source, Path) else str(getattr(source, "name", "stream")))
    checksum = published_md5(source) if isinstance(source, Path) else ""
    with seekable(source) as stream:
        facts = examine(stream, name, checksum)
        if facts.damage:
            yield ParseProblem(name, 0, "", facts.damage, is_file_cut=True)
            return
        with unpacked(stream, facts) as xml:
            yield from _FileReader(facts, set() if seen_unknown is None else seen_unknown).read(xml)


class _FileReader:
    """The walk through one file; `_position` counts its citations from 0."""

    def __init__(self, facts: FileFacts, seen_unknown: set[str]) -> None:
        self._facts = facts
        self._position = 0
        self._seen_unknown = seen_unknown
        self._open_tag = b"<set" + _MATHML + b">"

    def read(self, xml: BinaryIO) -> Iterator[Parsed]:
        cutter = CitationCutter(xml)
        is_in_set, is_first, skips_junk = False, True, False
        pending: tuple[str, Piece] | None = None
        for piece in cutter.pieces():
            if piece.kind == "citation":
                if pending is not None:
                    yield self._problem(pending[0], pending[1].line, pending[1].column)
                pending = None
                yield from self._citation(piece, cutter.position)
                skips_junk = piece.flaw == "too_long"
                is_in_set = is_in_set and piece.flaw != "cut"
            else:
                change = closes_set(piece.data)
                is_in_set = is_in_set if change is None else not change
                reason = self._open(piece.data) if is_first else _junk(piece.data)
                if reason and not skips_junk and pending is None:
                    pending = reason, piece
            is_first = False
        line, column = cutter.position
        if is_first:
            yield self._problem("the file is empty", line, column, is_file_cut=True)
        elif is_in_set:  # what is pending is then the beginning of a tag that the cut took
            yield self._problem("the file ends before its set of citations does", line, column, is_file_cut=True)
        elif pending is not None:
            yield self._problem(pending[0], pending[1].line, pending[1].column)

    def _open(self, head: bytes) -> str:
        """Learn the namespaces from the root element; says why the file is none of PubMed's, empty if it is."""
        root, declared = root_of(head)
        if root in SETS:
            mathml = b"" if b"xmlns:mml" in declared else _MATHML
            self._open_tag = b"<set" + declared + mathml + b">"
            return _junk(head)
        if _MEDLINE_TEXT.search(head[:2000]):
            return "this is MEDLINE text (.nbib), not PubMed XML"
        if root:
            error = _ERROR.search(head)
            said = f"; it says: {_excerpt(error[1])}" if error else ""
            return f"this is not PubMed XML: its root element is <{root[:60]}>{said}"
        if leftover(head):
            return f"this is not PubMed XML: it begins with {_excerpt(head)}"
        return ""

    def _citation(self, piece: Piece, end: tuple[int, int]) -> Iterator[Parsed]:
        found = _ANY_PMID.search(piece.data)
        pmid = found[1].decode("ascii") if found else ""
        if piece.flaw:
            line, column = end if piece.flaw == "cut" else (piece.line, piece.column)
            yield self._problem(_FLAWS[piece.flaw], line, column, pmid, is_file_cut=piece.flaw == "cut")
            return
        parser = XMLParser()  # noqa: S314  # never sees a DOCTYPE: no entity can be declared, nothing is fetched
        try:
            parser.feed(self._open_tag + piece.data + b"</set>")
            element: Element = parser.close()[0]
        except ParseError as error:
            line, column = self._place(piece, *error.position)
            yield self._problem(f"not well-formed XML: {str(error).partition(': line')[0]}", line, column, pmid)
            return
        if local_name(element) in ("DeleteCitation", "DeleteDocument"):
            yield from self._tombstones(element, piece)
            return
        try:
            record = self._record(element)
        except UnreadableCitation as error:
            yield self._problem(str(error), piece.line, piece.column, pmid)
        except RecursionError:
            yield self._problem("its elements are nested too deeply", piece.line, piece.column, pmid)
        else:
            self._position += 1
            yield record

    def _record(self, element: Element) -> Record:
        name = local_name(element)
        for unknown in unknown_elements(element) - self._seen_unknown:
            self._seen_unknown.add(unknown)
            log.warning("unknown_pubmed_element", element=unknown, file=self._facts.name, position=self._position)
        provenance = self._provenance()
        return read_book(element, provenance) if name == "PubmedBookArticle" else read_article(element, provenance)

    def _tombstones(self, element: Element, piece: Piece) -> Iterator[Parsed]:
        for entry in element.iter("PMID"):
            try:
                pmid, version = read_pmid(entry)
            except UnreadableCitation as error:
                yield self._problem(str(error), piece.line, piece.column)
            else:
                tombstone = Tombstone(pmid, version, self._provenance())
                self._position += 1
                yield tombstone

    def _provenance(self) -> Provenance:
        facts = self._facts
        return Provenance(facts.name, facts.sha256, self._position, facts.release, facts.file_number)

    def _problem(
        self, reason: str, line: int, column: int, pmid: str = "", *, is_file_cut: bool = False
    ) -> ParseProblem:
        problem = ParseProblem(self._facts.name, self._position, pmid, reason, line, column, is_file_cut)
        self._position += 1
        return problem

    def _place(self, piece: Piece, line: int, column: int) -> tuple[int, int]:
        """Expat's place within the wrapped piece as a place in the file, from 1."""
        if line == 1:
            return piece.line, piece.column + max(0, column - len(self._open_tag))
        return piece.line + line - 1, column + 1


def _junk(between: bytes) -> str:
    junk = leftover(between)
    return f"not a citation: {_excerpt(junk)}" if junk else ""


def _excerpt(data: bytes) -> str:
    text = " ".join(data[:200].decode("utf-8", "replace").split())
    return repr(text[:60])
