"""Checks a list of references against the corpus: is each paper there, is it the one named, is it named twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz import fuzz

from medcite_core.errors import InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex
from medcite_core.types import Record, RecordStatus

ReferenceState = Literal["verified", "differs", "another_paper", "not_found", "unreadable"]

MAX_REFERENCES = 2_000
MIN_TITLE = 88.0
"""Least rapidfuzz partial_ratio (0..100) of a record's title in a reference that names the same paper."""
MAX_SCANNED = 250_000
"""Records of a corpus in which DOIs are looked up: there is no index of them, so all are read once."""

_PMID = re.compile(r"\bPMID\b[\s:#]*(\d{1,9})\b|pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})|^\s*(\d{4,9})\s*$", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"“”<>]+", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d:./-])(?:19|20)\d{2}(?![\d/-])")
_NOT_A_WORD = re.compile(r"[\W_]+")
_CANDIDATES = 5
_MIN_WORDS = 4


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    """What became of the reference `text` in `row` (from 1).

    `verified`: the record is the paper that is named. `differs`: it is, but `differences` say what is named otherwise.
    `another_paper`: the identifier belongs to the record, whose title is another. `not_found`: the corpus does not hold
    it, which says nothing about whether it exists elsewhere. `same_as` is the row of an earlier reference to the same.
    """

    row: int
    text: str
    state: ReferenceState
    explanation: str
    pmid: str = ""
    title: str = ""
    differences: tuple[str, ...] = ()
    status: RecordStatus = "no_notice"
    same_as: int | None = None


def check_references(lines: Sequence[str], index: CorpusIndex) -> list[ReferenceCheck]:
    """Every reference that is not blank, checked, in order.

    Raises:
        InvalidInput: there are more than `MAX_REFERENCES`.
    """
    given = [(row, line.strip()) for row, line in enumerate(lines, start=1) if line.strip()]
    if len(given) > MAX_REFERENCES:
        raise InvalidInput(
            f"{len(given):,} references are too many at once", f"Check at most {MAX_REFERENCES:,} a time."
        )
    by_pmid = index.get([pmid for _, line in given if (pmid := pmid_in(line))])
    wanted = {doi for _, line in given if not pmid_in(line) and (doi := doi_in(line))}
    by_doi = _by_doi(index, wanted)
    return list(_with_repeats(_check(row, line, by_pmid, by_doi, index) for row, line in given))


def pmid_in(line: str) -> str:
    """The PMID that a reference names, without leading zeros; empty when it names none."""
    match = _PMID.search(line)
    return next(group for group in match.groups() if group).lstrip("0") if match else ""


def doi_in(line: str) -> str:
    """The DOI that a reference names, in lower case and without what only ends a sentence or an address."""
    match = _DOI.search(line)
    return match.group().rstrip(".,;:)]}/").lower() if match else ""


def _by_doi(index: CorpusIndex, wanted: set[str]) -> Mapping[str, Record] | None:
    """The records with these DOIs; None when the corpus is too large to be read for them."""
    if not wanted:
        return {}
    if index.count() > MAX_SCANNED:
        return None
    return {record.doi.lower(): record for record in index.scan() if record.doi.lower() in wanted}


def _check(
    row: int, line: str, by_pmid: Mapping[str, Record], by_doi: Mapping[str, Record] | None, index: CorpusIndex
) -> ReferenceCheck:
    pmid, doi = pmid_in(line), doi_in(line)
    if pmid:
        record = by_pmid.get(pmid)
        if record is None:
            return ReferenceCheck(row, line, "not_found", f"The corpus holds no PMID {pmid}.", pmid)
        return _compared(row, line, record, f"PMID {pmid}")
    if doi:
        if by_doi is None:
            told = "This corpus is too large to look DOIs up in; name the PMID."
            return ReferenceCheck(row, line, "unreadable", told)
        record = by_doi.get(doi)
        if record is None:
            return ReferenceCheck(row, line, "not_found", f"The corpus holds no record with the DOI {doi}.")
        return _compared(row, line, record, f"DOI {doi}")
    if len(_words(line).split()) < _MIN_WORDS:
        return ReferenceCheck(row, line, "unreadable", "It names neither a PMID nor a DOI, nor enough of a title.")
    record = _by_title(line, index)
    if record is None:
        return ReferenceCheck(row, line, "not_found", "The corpus holds no record with a title that stands in it.")
    return _compared(row, line, record, "")


def _by_title(line: str, index: CorpusIndex) -> Record | None:
    words = _words(line)
    hits, _ = index.lexical_records(words, SearchFilter(), 0, _CANDIDATES)
    found = index.get([hit.pmid for hit in hits])
    best = max(found.values(), key=lambda record: _title_in(record, line), default=None)
    return best if best is not None and _title_in(best, line) >= MIN_TITLE else None


def _title_in(record: Record, line: str) -> float:
    """How much of the record's title (0..100) stands in the reference; a short one must stand there whole."""
    title, words = _words(record.title), _words(line)
    if len(title.split()) < _MIN_WORDS:
        return 100.0 if f" {title} " in f" {words} " else 0.0
    return fuzz.partial_ratio(title, words) if len(words) >= len(title) // 2 else 0.0


def _compared(row: int, line: str, record: Record, named_by: str) -> ReferenceCheck:
    check = ReferenceCheck(
        row, line, "verified", "It is the paper that is named.", record.pmid, record.title, status=record.status
    )
    rest = _words(_DOI.sub(" ", _PMID.sub(" ", line)))
    if len([word for word in rest.split() if word not in ("https", "doi", "org", "pmid")]) < 2:
        return replace(check, explanation="It is there; nothing but its number is named.")
    if named_by and _title_in(record, line) < MIN_TITLE:
        told = f"{named_by} is there, but it is a different paper: {record.title}"
        return replace(check, state="another_paper", explanation=told)
    differences = tuple(_differences(line, record))
    if differences:
        told = f"It is there, but not all is as PubMed has it: {'; '.join(differences)}."
        return replace(check, state="differs", explanation=told, differences=differences)
    return check


def _differences(line: str, record: Record) -> Iterator[str]:
    without_title = _words(_DOI.sub(" ", line)).replace(_words(record.title), " ")
    years = {int(year) for year in _YEAR.findall(_DOI.sub(" ", line))}
    if years and record.date.year and record.date.year not in years:
        yield f"year {', '.join(map(str, sorted(years)))}, in PubMed {record.date.year}"
    others = [word for word in without_title.split() if not word.isdigit() and len(word) > 1 and word != "pmid"]
    if not others:
        return  # the title, and at most numbers
    names = [name for name in (record.journal, record.journal_abbreviation) if name]
    is_named = any(f" {_words(name)} " in f" {without_title} " for name in names)
    authors = _words(_authors(record)).split()
    if names and not is_named and len([word for word in others if word not in authors]) >= 2:
        yield f"journal, in PubMed {record.journal or record.journal_abbreviation}"
    first = next((author for author in record.authors), None)
    if first is not None and _words(first.display()).split()[0] not in without_title.split():
        yield f"first author, in PubMed {first.display()}"


def _authors(record: Record) -> str:
    return " ".join(author.display() for author in record.authors)


def _words(text: str) -> str:
    """Words in lower case with single spaces between them."""
    return _NOT_A_WORD.sub(" ", text).strip().casefold()


def _with_repeats(checks: Iterator[ReferenceCheck]) -> Iterator[ReferenceCheck]:
    """References to a paper that was named before say where."""
    first: dict[str, int] = {}
    for check in checks:
        if not check.title or check.state == "another_paper":
            yield check
            continue
        row = first.setdefault(check.pmid, check.row)
        yield check if row == check.row else replace(check, same_as=row)
