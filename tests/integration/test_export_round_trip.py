"""Five hundred real records, exported and read back by readers that are not ours, compared field by field."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import bibtexparser
import nbib
import pytest
import rispy
from Bio import Medline
from pylatexenc.latex2text import LatexNodes2Text

from medcite_core.types import Record
from medcite_ingestion.demo import demo_records
from medcite_middleware.export.fields import full_pages, reference_title
from medcite_middleware.export.formats import FORMATS

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()ni0123456789+-=()")


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """500 records of the demo corpus, all that are unusual among them."""

    def is_usual(record: Record) -> bool:
        persons_only = record.authors and not any(author.collective_name for author in record.authors)
        return bool(persons_only and record.status == "no_notice" and not record.is_book and record.authors_complete)

    chosen = sorted(demo_records(), key=is_usual)[:500]
    assert sum(record.status == "retracted" for record in chosen) == 3
    assert any(record.is_book for record in chosen)
    assert any(not record.authors for record in chosen)
    return chosen


def written(records: list[Record], name: str) -> str:
    return "".join(FORMATS[name].pieces(records))


def line(text: str) -> str:
    """A value as a format of lines can hold it."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) != "Cc")


def people(record: Record) -> list[str]:
    return [
        a.collective_name or ", ".join(filter(None, (a.last_name, a.fore_name or a.initials))) for a in record.authors
    ]


def abstract(record: Record) -> str:
    parts = [f"{s.label}: {s.text}" if s.label else s.text for s in record.sections if s.kind == "abstract"]
    return line(" ".join(parts))


def is_marked(record: Record, title: str) -> bool:
    return record.status != "retracted" or title.upper().startswith(("[RETRACTED]", "RETRACTED"))


def test_ris_read_by_rispy(records):
    entries = rispy.loads(written(records, "ris"))
    assert [entry["accession_number"] for entry in entries] == [record.pmid for record in records]
    for record, entry in zip(records, entries, strict=True):
        assert line(record.title).rstrip(".") in entry["title"], record.pmid
        assert is_marked(record, entry["title"])
        assert entry.get("authors", []) == [line(name) for name in people(record)], record.pmid
        assert entry.get("secondary_title", "") == line(record.journal)
        assert entry.get("alternate_title1", "") == line(record.journal_abbreviation)
        assert entry.get("year", "") == str(record.year or "")
        assert (entry.get("volume", ""), entry.get("number", "")) == (record.volume, record.issue)
        assert (entry.get("start_page", ""), entry.get("end_page", "")) == (
            full_pages(record).first,
            full_pages(record).last,
        )
        assert (entry.get("doi", ""), entry.get("custom2", "")) == (record.doi, record.pmcid)
        assert entry.get("issn", "") == record.issn
        assert entry.get("language", "") == ", ".join(record.languages)
        assert entry.get("abstract", "") == abstract(record), record.pmid
        assert set(map(line, record.keywords)) <= set(entry.get("keywords", []))
        assert {line(h.descriptor) for h in record.mesh_headings} <= set(entry.get("keywords", []))
        assert f"PMID: {record.pmid}" in entry["notes"]
        if record.status == "retracted":
            assert any(note.startswith("Retracted") for note in entry["notes"])
        for kind in record.publication_types:
            assert any(kind in note for note in entry["notes"])


def test_nbib_read_by_nbib(records):
    entries = nbib.read(written(records, "nbib"))
    assert [str(entry["pubmed_id"]) for entry in entries] == [record.pmid for record in records]
    for record, entry in zip(records, entries, strict=True):
        if not record.is_book:
            assert line(record.title) in entry["title"]
            assert is_marked(record, entry["title"])
        assert entry.get("pages", "") == line(record.pages)
        assert entry.get("doi", "") == record.doi
        assert entry.get("abstract", "") == abstract(record), record.pmid
        named = [author["author"] for author in entry.get("authors", [])]
        assert named == [line(p) for p, a in zip(people(record), record.authors, strict=True) if not a.collective_name]


def test_nbib_read_by_biopython(records):
    entries = list(Medline.parse(io.StringIO(written(records, "nbib"))))
    assert [entry["PMID"] for entry in entries] == [record.pmid for record in records]
    for record, entry in zip(records, entries, strict=True):
        assert entry.get("CN", []) == [line(a.collective_name) for a in record.authors if a.collective_name]
        assert entry.get("AU", []) == [line(a.display()) for a in record.authors if not a.collective_name]
        assert (entry.get("VI", ""), entry.get("IP", "")) == (record.volume, record.issue)
        assert entry.get("PMC", "") == record.pmcid
        assert entry.get("LA", []) == list(record.languages)
        assert set(record.publication_types) <= set(entry.get("PT", []))
        assert entry.get("OT", []) == [line(word) for word in record.keywords]
        assert [term.lstrip("*").split("/")[0] for term in entry.get("MH", [])] == [
            line(h.descriptor).split("/")[0] for h in record.mesh_headings
        ]
        if record.status == "retracted":
            assert "Retracted Publication" in entry["PT"]
            assert entry.get("RIN")


def test_no_nbib_line_is_without_its_columns(records):
    for number, text in enumerate(written(records, "nbib").split("\n")):
        assert re.fullmatch(r"(?:[A-Z]{2,4} *- .*| {6}\S.*|)", text), number
        assert not re.fullmatch(r"[A-Z]{2,4} *", text[:4]) or text[4:6] == "- "


def test_bibtex_read_by_bibtexparser(records):
    parser = bibtexparser.bparser.BibTexParser(common_strings=True, ignore_nonstandard_types=False)
    entries = parser.parse(written(records, "bibtex")).entries
    assert [entry["pmid"] for entry in entries] == [record.pmid for record in records]
    assert len({entry["ID"] for entry in entries}) == 500
    plain = LatexNodes2Text(keep_comments=False)

    def shown(text: str) -> str:
        return line(plain.latex_to_text(text).replace("ˆ", "^"))

    for record, entry in zip(records, entries, strict=True):
        title = reference_title(record)
        assert shown(entry["title"]) == title.translate(RAISED), record.pmid
        assert is_marked(record, entry["title"])
        assert shown(entry.get("abstract", "")) == abstract(record).translate(RAISED), record.pmid
        names = [shown(name) for name in re.split(r" and (?![^{]*\})", entry.get("author", "")) if name]
        expected = [line(name) for name in people(record)] + ([] if record.authors_complete else ["others"])
        assert names == expected, record.pmid
        assert shown(entry.get("journal", entry.get("booktitle", ""))) == line(record.journal)
        assert entry.get("year", "") == str(record.year or "")
        assert (entry.get("volume", ""), entry.get("number", "")) == (record.volume, record.issue)
        assert entry.get("pages", "").replace("--", "-") == full_pages(record).joined("-")
        assert (entry.get("doi", ""), entry.get("pmcid", "")) == (record.doi, record.pmcid)
        if record.status == "retracted":
            assert "Retracted" in entry["note"]


def test_csl_json_read_as_json(records):
    items = json.loads(written(records, "csl-json"))
    assert [item["PMID"] for item in items] == [record.pmid for record in records]
    for record, item in zip(records, items, strict=True):
        assert line(record.title).rstrip(".") in item["title"]
        assert is_marked(record, item["title"])
        names = [n.get("literal") or f"{n['family']}, {n['given']}" for n in item.get("author", [])]
        assert names == [line(name) for name in people(record)]
        assert item.get("issued", {}).get("date-parts", [[None]])[0][0] == record.year
        assert (item.get("DOI", ""), item.get("PMCID", "")) == (record.doi, record.pmcid)
        assert item.get("page", "") == full_pages(record).joined("-")
        assert item.get("abstract", "") == abstract(record)
        if record.status == "retracted":
            assert "Retracted" in item["note"]


def test_csv_read_as_csv(records):
    text = written(records, "csv")
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text[1:])))
    assert [row["pmid"] for row in rows] == [record.pmid for record in records]
    for record, row in zip(records, rows, strict=True):
        assert row["title"].removeprefix("'") == line(record.title)
        assert row["authors"].removeprefix("'") == "; ".join(a.display() for a in record.authors)
        assert (row["doi"], row["pmcid"], row["status"]) == (record.doi, record.pmcid, record.status)
        assert (row["year"], row["date"]) == (str(record.year or ""), record.date.iso())
        assert row["abstract"].removeprefix("'") == abstract(record)
        assert row["mesh_headings"].removeprefix("'") == "; ".join(h.descriptor for h in record.mesh_headings)
        if record.status == "retracted":
            assert "Retracted" in row["notices"]
