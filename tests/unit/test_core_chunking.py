"""Chunks: exact offsets, full cover, no section crossed, no dangling tail."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medcite_core.chunking import chunk_record, chunk_spans, embedding_texts
from medcite_core.settings import IndexSettings
from medcite_core.types import Record, assemble_text

GOLDEN = Path(__file__).parents[1] / "golden" / "chunking"
DEFAULT = IndexSettings()


def record_of(title: str, *parts: tuple[str, str]) -> Record:
    text, sections = assemble_text(title, [(label, "", body) for label, body in parts])
    return Record(pmid="7", version=1, title=title, sections=sections, text=text)


def assert_laws(text: str, wanted: IndexSettings) -> None:
    spans = chunk_spans(text, wanted)
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert {place for place, char in enumerate(text) if not char.isspace()} <= covered
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(span.of(text) == span.of(text).strip() for span in spans)
    assert all(span.end - span.start <= wanted.chunk_size + wanted.min_chunk_chars for span in spans)
    assert [span.start for span in spans] == sorted({span.start for span in spans})
    assert [span.end for span in spans] == sorted({span.end for span in spans})
    for before, after in pairwise(spans):
        assert not text[before.end : after.start].strip()


TEXTS = st.one_of(
    st.text(alphabet="ab. \n\t", max_size=900),
    st.text(max_size=300),
    st.lists(st.sampled_from(["No difference was seen. ", "x" * 130, "\n\n", "  ", "N = 5."]), max_size=40).map(
        "".join
    ),
)
SETTINGS = st.builds(
    lambda size, overlap, least: IndexSettings(
        chunk_size=size, chunk_overlap=min(overlap, size - 1), min_chunk_chars=least
    ),
    st.integers(100, 300),
    st.integers(0, 200),
    st.integers(0, 60),
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SETTINGS)
def test_any_text_is_covered_by_exact_chunks_of_bounded_length(text: str, wanted: IndexSettings) -> None:
    assert_laws(text, wanted)


@pytest.mark.parametrize(
    "name", ["FR-065-b.txt", "FR-066-doc.txt", "FR-067-doc.txt", "FR-068-long.txt", "FR-069-doc.txt"]
)
@pytest.mark.parametrize("wanted", [DEFAULT, IndexSettings(chunk_size=100, chunk_overlap=60, min_chunk_chars=20)])
def test_fr065_to_fr069_the_reported_texts_keep_every_law(name: str, wanted: IndexSettings) -> None:
    assert_laws((GOLDEN / name).read_text(encoding="utf-8"), wanted)


def test_fr065_in_a_text_that_repeats_itself_each_chunk_stands_at_its_own_place() -> None:
    text = "No difference was seen. " * 40
    spans = chunk_spans(text.strip(), IndexSettings(chunk_size=100, chunk_overlap=50, min_chunk_chars=0))
    steps = [after.start - before.start for before, after in pairwise(spans)]
    assert min(steps) > 0
    assert spans[-1].end == len(text.strip())


def test_fr066_the_last_chunk_lands_on_the_last_words() -> None:
    text = (GOLDEN / "FR-066-doc.txt").read_text(encoding="utf-8")
    spans = chunk_spans(text, IndexSettings(chunk_size=100, chunk_overlap=40))
    assert spans[-1].of(text).endswith("Sentence number 20 reports a value of 60 units.")


def test_fr068_a_run_without_spaces_is_cut_at_known_offsets() -> None:
    text = (GOLDEN / "FR-068-long.txt").read_text(encoding="utf-8")
    assert all(len(span.of(text)) <= 540 for span in chunk_spans(text, DEFAULT))
    row = "x" * 3000
    assert [span.start for span in chunk_spans(row, DEFAULT)][:3] == [0, 300, 600]


def test_fr069_a_dangling_tail_is_merged_into_the_chunk_before_it() -> None:
    text = ("Survival was measured in every arm. " * 14) + "N = 5."
    without = chunk_spans(text, IndexSettings(chunk_size=505, chunk_overlap=0, min_chunk_chars=0))
    assert len(without[-1].of(text)) < 10
    merged = chunk_spans(text, IndexSettings(chunk_size=505, chunk_overlap=0))
    assert len(merged) == len(without) - 1
    assert merged[-1].of(text).endswith("every arm. N = 5.")


def test_the_cuts_are_those_of_langchains_splitter() -> None:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    text = " ".join(f"Word{i} stands here, in sentence {i}." for i in range(60))
    splitter = RecursiveCharacterTextSplitter(chunk_size=500, chunk_overlap=200, separators=["\n\n", "\n", " ", ""])
    spans = chunk_spans(text, IndexSettings(min_chunk_chars=0))
    assert [span.of(text) for span in spans] == splitter.split_text(text)


def test_chunks_of_a_record_slice_its_text_and_stay_in_their_section() -> None:
    record = record_of("A title.", ("METHODS", "We looked. " * 80), ("", "It held. " * 3), ("RESULTS", "Yes."))
    chunks = chunk_record(record, DEFAULT)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert (chunks[0].text, chunks[0].section, chunks[0].id) == ("A title.", "title", "7:0-8")
    for chunk in chunks:
        assert chunk.span.of(record.text) == chunk.text
        assert chunk.id == f"7:{chunk.span.start}-{chunk.span.end}"
        assert sum(section.span.contains(chunk.span) for section in record.sections) == 1
    assert {chunk.section for chunk in chunks} == {"title", "METHODS", "abstract", "RESULTS"}
    assert chunk_record(record, DEFAULT) == chunks


def test_what_is_embedded_is_the_title_before_each_chunk_and_the_title_alone_once() -> None:
    record = record_of("A title.", ("RESULTS", "Yes."))
    assert embedding_texts(record, chunk_record(record, DEFAULT)) == ["A title.", "A title.\nYes."]


def test_a_long_title_comes_first_in_pieces_that_are_embedded_alone() -> None:
    record = record_of("Long title words " * 50, ("", "Text."))
    chunks = chunk_record(record, DEFAULT)
    texts = embedding_texts(record, chunks)
    assert len(chunks) == 4
    assert texts[:3] == [chunk.text for chunk in chunks[:3]]
    assert texts[3].endswith("\nText.")
