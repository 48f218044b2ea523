"""The normal form in which words are compared."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_middleware.verification.words import meaning_words, plain_number, words_of


def forms(text: str) -> list[str]:
    return [w.form for w in meaning_words(text)]


@given(st.text(max_size=120))
def test_every_word_is_cut_out_of_the_text_by_its_span_and_none_overlaps(text: str) -> None:
    words = words_of(text)
    assert all(0 <= w.span.start < w.span.end <= len(text) for w in words)
    assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(words))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,312 patients", "1312 patients"),
        ("p = .050", "p = 0.05"),
        ("5.0 %", "5 percent"),
        ("IL‑6", "IL-6"),
        ("two arms", "2 arms"),
        ("3 × 10⁶", "3 × 10^6"),
        ("wasn’t", "was not"),
        ("dose-dependent", "dose dependent"),
        ("3·5 mg", "3.5 mg"),
        ("±2", "+/-2"),
    ],
)
def test_typography_makes_no_difference(one: str, other: str) -> None:
    assert forms(one) == forms(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10⁶", "106"),
        ("-5 points", "5 points"),
        ("−0.45", "0.45"),
        ("p < 0.05", "p > 0.05"),
        ("5 mg", "5 %"),
        ("IL-6", "IL-8"),
        ("was", "was not"),
        ("can", "cannot"),
        ("10⁻³", "10³"),
        ("p = 5E-8", "p = 5E8"),
        ("2x10⁶", "2x106"),
        ("5 mM", "5 mm"),
        ("200 MBq", "200 mBq"),
        ("AIDS", "aids"),
        ("vitamin A intake", "vitamin intake"),
        ("10 000", "10 00000"),
    ],
)
def test_meaning_makes_a_difference(one: str, other: str) -> None:
    assert forms(one) != forms(other)


def test_a_dash_between_letters_is_a_hyphen_and_any_other_means_something() -> None:
    assert forms("5-10 days") == ["5", "-", "10", "days"]
    assert forms("dose-dependent") == ["dose", "dependent"]
    assert forms("CD8- cells") == ["CD8", "-", "cells"]
    assert forms("r = - 0.42") == ["r", "=", "-", "0.42"]
    assert forms("T1-2") != forms("T12")


def test_numbers_have_one_plain_form() -> None:
    assert [plain_number(n) for n in ("1,312", ".050", "5.0", "100", "0.0")] == ["1312", "0.05", "5", "100", "0"]
