"""What is left of a query, which of its words carry meaning, and how lists are fused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_core.errors import InvalidInput
from medcite_core.types import Chunk, Hit, RecordHit, Span
from medcite_middleware.retrieval.fusion import weighted_fusion
from medcite_middleware.retrieval.query import MAX_QUERY_CHARS, clean_query, content_words


@pytest.mark.parametrize(
    ("typed", "cleaned"),
    [
        ("  Does\taspirin\n help? ", "Does aspirin help?"),
        ("asp\u00adirin\u200b", "aspirin"),
        ("a\x00b", "a b"),
        ("\u202eevil\u202c dose", "evil dose"),
        ("β-blockers ≥ 10 mg/m²", "β-blockers ≥ 10 mg/m²"),
        ("e\u0301tude", "\u00e9tude"),
        ("糖尿病", "糖尿病"),
        ("5", "5"),
    ],
)
def test_a_query_keeps_its_words_and_signs_and_loses_what_cannot_be_seen(typed: str, cleaned: str) -> None:
    assert clean_query(typed) == cleaned


@given(st.text(max_size=200))
def test_any_text_is_either_refused_or_cleaned_once_and_for_all(text: str) -> None:
    try:
        cleaned = clean_query(text)
    except InvalidInput:
        return
    assert clean_query(cleaned) == cleaned
    assert any(character.isalnum() for character in cleaned)
    cleaned.encode("utf-8")


def test_the_length_limit_is_exact() -> None:
    assert clean_query("a" * MAX_QUERY_CHARS)
    with pytest.raises(InvalidInput, match="2,001 characters"):
        clean_query("a" * (MAX_QUERY_CHARS + 1))


def test_content_words_leave_out_what_asks_and_keep_what_names() -> None:
    words = content_words("What is the effect of COX-2 inhibitors on the kidneys, and why?")
    assert list(words) == ["effect", "cox", "2", "inhibitor", "kidney"]


def test_a_query_of_function_words_keeps_them_all() -> None:
    assert list(content_words("who is it")) == ["who", "is", "it"]


def chunk(pmid: str, ordinal: int = 0) -> Chunk:
    return Chunk(f"{pmid}:{ordinal}-{ordinal + 1}", pmid, ordinal, "abstract", Span(ordinal, ordinal + 1), "x")


def hits(*scored: tuple[str, float]) -> list[Hit]:
    return [Hit(chunk(pmid), score, rank) for rank, (pmid, score) in enumerate(scored, start=1)]


def test_first_in_both_lists_scores_one_and_last_in_one_scores_nothing() -> None:
    records = [RecordHit("1", 9.0, 1), RecordHit("2", 4.5, 2)]
    fused = weighted_fusion(hits(("1", 8.0), ("2", 4.0)), records, hits(("1", 0.9), ("3", 0.1)), 0.5)
    assert [(item.chunk.pmid, item.score) for item in fused] == [("1", 1.0), ("2", 0.25), ("3", 0.0)]


def test_a_record_that_matches_as_a_whole_lifts_each_of_its_chunks() -> None:
    records = [RecordHit("3", 12.0, 1)]
    fused = weighted_fusion(hits(("1", 8.0), ("2", 4.0)), records, hits(("2", 0.9), ("3", 0.9)), 0.5)
    assert {item.chunk.pmid: item.score for item in fused} == {"1": 0.25, "2": 0.625, "3": 0.75}


def test_a_chunk_that_only_the_words_found_counts_with_its_own_cosine() -> None:
    fused = weighted_fusion(hits(("1", 8.0)), [], hits(("2", 0.9), ("3", 0.7)), 0.0, {"1:0-1": 0.5})
    assert [(item.chunk.pmid, item.cosine) for item in fused] == [("2", 0.9), ("3", 0.7), ("1", 0.5)]
    assert [item.score for item in fused] == pytest.approx([1.0, 0.5, 0.0])


def test_fr_079_a_cosine_beyond_one_is_shown_as_one_and_does_not_disturb_the_order() -> None:
    fused = weighted_fusion([], [], hits(("1", 1.31), ("2", 0.5), ("3", -1.2)), 0.5)
    assert [item.cosine for item in fused] == [1.0, 0.5, -1.0]
    assert [item.chunk.pmid for item in fused] == ["1", "2", "3"]


def test_ties_are_broken_by_the_number_of_the_record_then_by_place() -> None:
    same = [Hit(chunk(pmid, ordinal), 1.0, 1) for pmid, ordinal in (("10", 1), ("9", 0), ("10", 0))]
    fused = weighted_fusion(same, [], [], 1.0)
    assert [(item.chunk.pmid, item.chunk.ordinal) for item in fused] == [("9", 0), ("10", 0), ("10", 1)]


def test_words_alone_and_vectors_alone_are_the_two_ends() -> None:
    words, vectors = hits(("1", 9.0), ("2", 3.0)), hits(("2", 0.8), ("1", 0.2))
    assert [item.chunk.pmid for item in weighted_fusion(words, [], vectors, 1.0)] == ["1", "2"]
    assert [item.chunk.pmid for item in weighted_fusion(words, [], vectors, 0.0)] == ["2", "1"]


def test_no_hits_fuse_to_none() -> None:
    assert weighted_fusion([], [], [], 0.5) == []
