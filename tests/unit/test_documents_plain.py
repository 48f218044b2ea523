"""Plain text, Markdown and PubMed files as documents to check against: blocks, offsets, encodings, refusals."""

from __future__ import annotations

import gzip
import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from medcite_core.documents import Document
from medcite_core.errors import InvalidInput
from medcite_core.plain_documents import text_document
from medcite_core.types import Record
from medcite_ingestion.documents import FileReader

MARKDOWN = """# Zetamab

Zetamab lowers
exacerbations. It is given weekly.

- Adults: 34%
- Children: may help,
  it is unclear

| arm | deaths |
|-----|--------|
| zetamab | 0 |

## Costs ##

They rose.
"""


def blocks(document: Document) -> list[tuple[str, str, str]]:
    return [(b.kind, b.span.of(document.text), b.label) for b in document.blocks]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_lines_of_cells_stay_rows_of_a_table(sign: str) -> None:
    text = f"arm{sign}deaths\nzetamab{sign}0\nplacebo{sign}1.5\n"
    found = blocks(text_document("a.csv", text))
    assert found == [("table_row", line, "") for line in text.splitlines()]


@pytest.mark.parametrize(
    "text",
    [
        "Of the adults, 12\nof the children, 14\n",  # too short for a table
        "We saw adults, 12,\nand children, some of them ill,\nand many more, as said,\n",
        "In the first arm, 12 died\nin the second arm, 14 died\nin the third arm, 15 died\n",
    ],
)
def test_lines_of_a_sentence_with_commas_are_a_paragraph(text: str) -> None:
    assert [kind for kind, _, _ in blocks(text_document("a.txt", text))] == ["paragraph"]


def test_markdown_is_read_as_headings_paragraphs_items_and_rows_under_their_headings() -> None:
    assert blocks(text_document("a.md", MARKDOWN)) == [
        ("heading", "Zetamab", ""),
        ("paragraph", "Zetamab lowers exacerbations. It is given weekly.", "Zetamab"),
        ("list_item", "Adults: 34%", "Zetamab"),
        ("list_item", "Children: may help,   it is unclear", "Zetamab"),
        ("table_row", "| arm | deaths |", "Zetamab"),
        ("table_row", "| zetamab | 0 |", "Zetamab"),
        ("heading", "Costs", "Zetamab"),
        ("paragraph", "They rose.", "Costs"),
    ]


def test_a_line_break_inside_a_paragraph_of_plain_text_ends_no_sentence() -> None:
    document = text_document("a.txt", "One line\r\nwrapped on.\r\n\r\nTwo.\r\n")
    assert blocks(document) == [("paragraph", "One line wrapped on.", ""), ("paragraph", "Two.", "")]
    assert document.section_at(document.text.index("Two")).text == "Two."


@settings(max_examples=200, deadline=None)
@example("1.")
@example("[a]: b")
@given(st.text(alphabet=st.sampled_from("ab .\n#-|`*1>[]()β:\t"), max_size=120))
def test_blocks_slice_the_text_in_order_without_overlap_whatever_it_holds(text: str) -> None:
    try:
        document = text_document("x.md", text)
    except InvalidInput:
        assert not any(c.isalnum() for c in text)
        return
    assert len(document.text) == len(text)
    end = 0
    for block in document.blocks:
        assert end <= block.span.start < block.span.end <= len(document.text)
        assert block.span.of(document.text).strip()
        end = block.span.end
    covered = Counter(c for b in document.blocks for c in b.span.of(document.text) if c.isalnum())
    # The numbers of a list's items are signs of Markdown, as its dashes are.
    words = Counter(
        c for line in text.split("\n") for c in re.sub(r"^[\s>*-]*(?:\d+[.)]\s+)+", "", line) if c.isalnum()
    )
    assert words <= covered <= Counter(c for c in text if c.isalnum())


def test_lines_that_markdown_takes_for_its_own_signs_are_read_too() -> None:
    document = text_document("a.md", "# Doses\n\n12.\n\n[note]: 40 mg in adults\n\n1. first\n2.\n")
    assert blocks(document) == [
        ("heading", "Doses", ""),
        ("paragraph", "12.", "Doses"),
        ("paragraph", "[note]: 40 mg in adults", "Doses"),
        ("list_item", "first", "Doses"),
        ("paragraph", "2.", "Doses"),
    ]


def test_the_same_bytes_have_the_same_id_and_other_bytes_another() -> None:
    reader = FileReader()
    (one,), (same,), (other,) = (
        reader.read("a.txt", b"Words."),
        reader.read("b.txt", b"Words."),
        reader.read("a", b"W."),
    )
    assert one.source_id == same.source_id != other.source_id
    assert one.source_id.startswith("doc:")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Ménière’s disease".encode(), "Ménière’s disease"),
        (b"\xef\xbb\xbf" + "Ménière’s".encode(), "Ménière’s"),
        ("Ménière’s disease".encode("utf-16"), "Ménière’s disease"),
        ("Die Behandlung mit Acetylsalicylsäure führte zu weniger Blutungen.".encode("cp1252"), "Acetylsalicylsäure"),
    ],
)
def test_a_text_is_read_in_the_encoding_it_was_written_in(content: bytes, expected: str) -> None:
    (document,) = FileReader().read("a.txt", content)
    assert expected in document.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"%PDF-1.7 x", "a PDF file"),
        (b"PK\x03\x04xxxx", "Word"),
        (b"\x00\x01\x02\x03" * 100, "not a text file"),
        (b"   \n\n  ", "holds no word"),
        (b"", "holds no word"),
        (b"x" * 20_000_001, "larger than"),
        (b"\x1f\x8b\x08broken", "damaged gzip"),
        (b"PMID- 123\nTI  - A title\nstray words\n", "1 of its citations cannot be used .line 3 belongs to no field"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words_with_a_hint(content: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        FileReader().read("file.x", content)
    assert "file.x" in caught.value.message
    assert caught.value.hint


def test_a_pubmed_file_is_told_by_its_content_and_gives_records() -> None:
    xml = (
        b'<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">77</PMID>'
        b"<Article><Journal><Title>J</Title><JournalIssue><PubDate><Year>2020</Year></PubDate></JournalIssue></Journal>"
        b"<ArticleTitle>Zinc</ArticleTitle><Abstract><AbstractText>It helps.</AbstractText></Abstract></Article>"
        b"</MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )
    for data in (xml, gzip.compress(xml)):
        (record,) = FileReader().read("export.txt", data)
        assert isinstance(record, Record)
        assert (record.pmid, record.title) == ("77", "Zinc")
    with pytest.raises(InvalidInput, match="cannot be used"):
        FileReader().read("cut.xml", xml[:-60])
