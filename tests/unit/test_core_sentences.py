"""Sentence boundaries with exact spans, on the prose of abstracts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_core.sentences import sentence_spans
from medcite_core.stemming import stem_words


def sentences(text: str) -> list[str]:
    return [span.of(text) for span in sentence_spans(text)]


@given(st.text(alphabet=st.sampled_from('ABab .,;:!?()[]"”“\n\r\t\u00a0\u200b1234é😀-%'), max_size=150))
def test_every_character_but_white_space_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentence_spans(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    covered = {i for span in spans for i in range(span.start, span.end)}
    assert all(character.isspace() for i, character in enumerate(text) if i not in covered)
    assert all(span.of(text) == span.of(text).strip() != "" for span in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dr. Smith et al. found 3.5 vs. 4.1 (p < 0.05; Fig. 2) in E. coli. No. 5 was given.",
            ["Dr. Smith et al. found 3.5 vs. 4.1 (p < 0.05; Fig. 2) in E. coli.", "No. 5 was given."],
        ),
        ("Mean age was 24.0 +/- 3.1 years. Rates fell.", ["Mean age was 24.0 +/- 3.1 years.", "Rates fell."]),
        ("It rose in 45 of 46 patients (98 %). One died.", ["It rose in 45 of 46 patients (98 %).", "One died."]),
        ("First line\nsecond line.", ["First line", "second line."]),
        ("He said “it rose.” It fell.", ["He said “it rose.”", "It fell."]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_abbreviations_decimals_and_brackets_end_no_sentence(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_stems_join_inflections_and_keep_numbers() -> None:
    assert stem_words("Reduced reducing REDUCES 10.5 don't") == ["reduc", "reduc", "reduc", "10.5", "don't"]
