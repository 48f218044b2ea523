"""Quotes found whatever the typography, and never when a word that matters differs."""

from __future__ import annotations

import pytest

from medcite_middleware.verification.quotes import find_quote, normalised, quoted_words

SOURCE = (
    "Background text. The eﬃcacy of β‑blockers in\nheart failure – with 10⁶ cells/mL – was “clear”: "
    "mortal-\nity did not rise (p < 0.05) in 47 of 104 patients. More text follows here."
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("The eﬃcacy of β‑blockers", "The eﬃcacy of β‑blockers"),
        ("the efficacy of β-blockers in heart failure", "The eﬃcacy of β‑blockers in\nheart failure"),
        ('was "clear": mortality did not rise', "was “clear”: mortal-\nity did not rise"),
        ("did  not\trise (p < 0.05) in 47 of 104 patients.", "did not rise (p < 0.05) in 47 of 104 patients."),
    ],
)
def test_a_quote_is_found_across_typography_and_shown_as_the_source_has_it(words: str, found: str) -> None:
    span = find_quote(words, SOURCE)
    assert span is not None
    assert span.of(SOURCE) == found


@pytest.mark.parametrize(
    "words",
    [
        "did rise (p < 0.05) in 47 of 104 patients.",
        "did not rise (p < 0.05) in 74 of 104 patients.",
        "did not rise (p > 0.05) in 47 of 104 patients.",
        "did not fall (p < 0.05) in 47 of 104 patients.",
        "heart failure - with 106 cells/mL",
        "patients of 104 in 47 (p < 0.05) rise not did",
        "",
        "Nothing of this stands there at all, in any form whatever.",
    ],
)
def test_a_quote_with_another_meaning_is_not_found(words: str) -> None:
    assert find_quote(words, SOURCE) is None


def test_each_normalised_character_knows_its_place() -> None:
    plain, places = normalised(SOURCE)
    assert len(plain) == len(places)
    assert places == sorted(places)
    assert "efficacy" in plain
    assert "mortality" in plain
    assert "10⁶" in plain


def test_the_words_of_a_quotation_are_those_between_its_marks() -> None:
    assert quoted_words("“It rose by 3 %.” — Doe A, 2019 [1]") == "It rose by 3 %."
    assert quoted_words("It rose [1].") == "It rose."
