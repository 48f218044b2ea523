"""Which sentences of an answer are claims, and where they stand."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_middleware.verification.claims import cited_numbers, split_claims, without_marks


@given(st.text(alphabet=st.sampled_from("Aab .?!\n[1],2”“*#-:é😀\u2028"), max_size=200))
def test_every_claim_is_cut_out_of_the_answer_by_its_span(text: str) -> None:
    claims = split_claims(text)
    assert all(c.span.of(text) == c.text for c in claims)
    assert [c.id for c in claims] == [f"c{i}" for i in range(1, len(claims) + 1)]
    assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(claims))


def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    claims = split_claims("Aspirin helps adults. [1] It harms children. [2][3] Nobody knows why.")
    assert [c.cited for c in claims] == [(1,), (2, 3), ()]
    assert claims[1].text == "It harms children. [2][3]"


def test_citations_are_read_in_all_their_forms_and_each_once() -> None:
    assert cited_numbers("It rose [2, 3], then fell [3; 1].") == (2, 3, 1)
    assert cited_numbers("In 2019 [see methods] it rose [x].") == ()
    assert without_marks("It rose [2, 3], then fell [1].") == "It rose, then fell."


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "What did the study show?",
        "## Findings",
        "**Findings:**",
        "Here is what the records say:",
        "The context does not contain the answer.",
        "Based on the abstracts, the provided sources do not mention children.",
        "…",
        "[1]",
    ],
)
def test_greetings_questions_headings_and_words_about_the_sources_are_no_claims(text: str) -> None:
    assert split_claims(text) == ()


def test_list_items_are_claims_without_their_bullets() -> None:
    claims = split_claims("Findings:\n- Mortality fell [1].\n2. Pain rose [2].")
    assert [c.text for c in claims] == ["Mortality fell [1].", "Pain rose [2]."]


def test_a_statement_that_a_finding_is_absent_is_a_claim() -> None:
    assert len(split_claims("The drug does not contain lactose [1].")) == 1
