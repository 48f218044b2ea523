"""Identifiers that stand in no evidence are marked, in the stream as in the whole text."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import a_record, evidence_of

from medcite_middleware.answering.identifiers import IdentifierFilter, bare_doi, mark_unknown_identifiers

GOLDEN = Path(__file__).parents[1] / "golden" / "answering"
EVIDENCE = evidence_of(
    a_record("100", doi="10.5555/abc.123", pmcid="PMC77777"),
    a_record("200", parts=[("", "", "As in PMID 300 and 10.5555/S9999-0001(03)12345-6, it helped.")]),
)


def test_fr_111_invented_identifiers_are_marked_as_not_verified() -> None:
    answer = (GOLDEN / "FR-111-stub-answer.txt").read_text()
    marked = mark_unknown_identifiers(answer, EVIDENCE)
    assert "PMID: 91234567 (not verified);" in marked
    assert "doi:10.5555/fake.1 (not verified))." in marked
    assert marked.replace(" (not verified)", "") == answer


@pytest.mark.parametrize(
    "text",
    [
        "See PMID 100, 200 and 300.",
        "In PMID 100 and 12 patients of PMID:200.",
        "https://pubmed.ncbi.nlm.nih.gov/100/ and PMC77777.",
        "(doi:10.5555/ABC.123), https://doi.org/10.5555/abc.123; 10.5555/S9999-0001(03)12345-6.",
        "It fell to 91234567 cells, 10.5 of them [1].",
    ],
)
def test_what_the_evidence_holds_and_plain_numbers_are_left_alone(text: str) -> None:
    assert mark_unknown_identifiers(text, EVIDENCE) == text


def test_only_the_unknown_members_of_a_list_are_marked() -> None:
    marked = mark_unknown_identifiers("PMIDs: 100, 9990001 and 2000002 in 12000 patients; PMC1234567", EVIDENCE)
    assert marked == (
        "PMIDs: 100, 9990001 (not verified) and 2000002 (not verified) in 12000 patients; PMC1234567 (not verified)"
    )


def test_fr_115_a_doi_keeps_its_own_brackets_and_loses_the_sentence_s_punctuation() -> None:
    words = (GOLDEN / "FR-115-text.txt").read_text().split()
    dois = [bare_doi(word[word.index("10.") :]) for word in words if "10." in word]
    assert dois == [
        "10.5555/S9999-0001(03)12345-6",
        "10.5555/abc.123",
        "10.5555/ABC.123",
        "10.5555/0000-1111(20010203)11:2<33::AID-T4>3.0.CO;2-Q",
    ]


TEXT = "See PMID: 100 and 91234567, 50505; then 10.5555/fake(1). (PMC123456) a pubmed.ncbi.nlm.nih.gov/7 PMID 9"


@given(st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_the_stream_gives_the_same_text_wherever_it_is_cut(cuts: list[int]) -> None:
    places = sorted({0, len(TEXT), *cuts})
    marker = IdentifierFilter(EVIDENCE)
    streamed = "".join(marker.feed(TEXT[a:b]) for a, b in itertools.pairwise(places)) + marker.close()
    assert streamed == mark_unknown_identifiers(TEXT, EVIDENCE)
    assert streamed.count("(not verified)") == 6


@given(st.text(alphabet="aPMID :,1and\u2028\n", max_size=80))
def test_nothing_of_the_text_is_lost(text: str) -> None:
    marker = IdentifierFilter(())
    streamed = "".join(marker.feed(char) for char in text) + marker.close()
    assert streamed.replace(" (not verified)", "") == text


def test_long_lists_do_not_hold_the_stream_back_for_ever() -> None:
    marker = IdentifierFilter(())
    held = "".join(marker.feed(f"{word} ") for word in ["PMID", *["12,"] * 200])
    assert len(held) > 300
