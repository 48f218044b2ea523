"""MEDLINE text as records to check against: nothing lost, nothing merged, notices kept."""

from __future__ import annotations

from pathlib import Path

from support.records import a_record

from medcite_core.types import Author, MeshHeading, Notice, Record
from medcite_ingestion.documents import FileReader
from medcite_middleware.export.nbib import nbib_text

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"


def read(content: bytes) -> list[Record]:
    records = FileReader().read("set.nbib", content)
    assert all(isinstance(record, Record) for record in records)
    return [record for record in records if isinstance(record, Record)]


def test_a_blank_line_in_an_abstract_loses_no_word_and_records_without_one_stay_apart() -> None:
    """FR-047."""
    records = read((GOLDEN / "FR-047-in.nbib").read_bytes())
    assert [(r.pmid, r.title) for r in records] == [
        ("90000001", "A test book chapter."),
        ("90000002", "Second record."),
        ("90000003", "Third record without a blank line before it."),
    ]
    assert records[0].sections[1].text == "First line of the abstract second line. third line after a blank one."
    assert (records[0].date.year, records[0].date.month) == (2023, 1)


def test_a_heading_that_wraps_is_one_heading() -> None:
    """FR-048."""
    (record,) = read((GOLDEN / "FR-048-in.nbib").read_bytes())
    assert record.mesh_headings == (
        MeshHeading("Ultrasonic Therapy", qualifiers=("adverse effects", "methods")),
        MeshHeading("Humans"),
    )


def test_a_retraction_is_known_by_its_notice_and_authors_by_their_names() -> None:
    lines = [
        "PMID- 77",
        "TI  - Zinc helps.",
        "FAU - van den Berg, Jan P",
        "AU  - van den Berg JP",
        "CN  - Zinc Study Group",
        "RIN - J Zinc. 2021 Jan;3(1):9. PMID: 78",
        "MH  - *Zinc/therapeutic use",
        "LID - 10.1000/zinc [doi]",
    ]
    (record,) = read("\r\n".join(lines).encode())
    assert record.status == "retracted"
    assert not record.is_usable_as_support
    assert record.notices == (Notice("retracted", "78", "J Zinc. 2021 Jan;3(1):9."),)
    assert record.authors == (
        Author(last_name="van den Berg", fore_name="Jan P", initials="JP"),
        Author(collective_name="Zinc Study Group"),
    )
    assert (record.doi, record.mesh_headings[0].is_major) == ("10.1000/zinc", True)


def test_what_medcite_exports_is_read_back_with_the_same_words() -> None:
    words = "Drug A lowered pressure by 5 mmHg in 104 patients who were followed for twelve months or longer. " * 5
    record = a_record("100", parts=[("", "", words.strip())])
    (back,) = read((nbib_text(record) * 1).encode())
    assert (back.text, back.pmid) == (record.text, "100")
    assert [s.span.of(back.text) for s in back.sections] == [s.text for s in record.sections]
