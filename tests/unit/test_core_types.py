"""The laws of records, spans and answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_core.answers import Answer, Claim, QuoteProof, SearchReport, Verdict
from medcite_core.codec import content_hash, record_from_json, record_to_json
from medcite_core.types import Author, Notice, PartialDate, Provenance, Record, Span, assemble_text

texts = st.text(min_size=0, max_size=60)


def record(**fields: object) -> Record:
    text, sections = assemble_text("A title.", [("RESULTS", "RESULTS", "It rose.")])
    return replace(Record("9000001", 1, "A title.", sections, text), **fields)  # type: ignore[arg-type]


@given(texts, st.lists(st.tuples(texts, texts, texts), max_size=5))
def test_each_section_is_cut_out_of_the_text_by_its_span_and_empty_ones_are_left_out(
    title: str, parts: list[tuple[str, str, str]]
) -> None:
    text, sections = assemble_text(title, parts)
    assert all(s.span.of(text) == s.text for s in sections)
    assert [s.text for s in sections] == [t for t in (title, *(p[2] for p in parts)) if t]
    for section in sections:
        if section.label:
            assert text[: section.span.start].endswith(f"{section.label}: ")


def test_the_text_is_the_title_then_each_section_with_its_label() -> None:
    text, _ = assemble_text("T.", [("", "", "One."), ("RESULTS", "RESULTS", "Two.")])
    assert text == "T.\n\nOne.\n\nRESULTS: Two."


def test_a_record_survives_storage_whole() -> None:
    full = record(
        authors=(Author("Doe", "Ann", "A"), Author(collective_name="Study Group")),
        date=PartialDate(2016, None, None, "Winter 2016-2017"),
        notices=(Notice("corrected", "9", "X"),),
        provenance=Provenance("a.xml", "00", 3, 21, 1016),
    )
    assert record_from_json(record_to_json(full)) == full


def test_the_content_hash_does_not_depend_on_the_file_a_record_came_in() -> None:
    assert content_hash(record(provenance=Provenance("a.xml", "00", 3))) == content_hash(record())
    assert content_hash(record(doi="10.5555/x")) != content_hash(record())


@pytest.mark.parametrize(
    ("kinds", "status"),
    [
        ((), "no_notice"),
        (("corrected",), "corrected"),
        (("corrected", "retracted"), "retracted"),
        (("expression_of_concern", "retracted"), "retracted"),
        (("expression_of_concern", "corrected"), "expression_of_concern"),
        (("retraction_notice",), "retraction_notice"),
        (("comment_on", "updated"), "no_notice"),
    ],
)
def test_the_gravest_notice_is_the_display_state(kinds: tuple[str, ...], status: str) -> None:
    notices = tuple(Notice(kind) for kind in kinds)  # type: ignore[arg-type]
    assert record(notices=notices).status == status
    assert record(notices=notices).is_usable_as_support == (status not in ("retracted", "retraction_notice"))


def test_dates_are_shown_as_far_as_they_are_known() -> None:
    dates = [PartialDate(), PartialDate(2011), PartialDate(2011, 2), PartialDate(2011, 2, 8)]
    assert [d.iso() for d in dates] == ["", "2011", "2011-02", "2011-02-08"]


def test_authors_are_shortened_for_a_citation_line() -> None:
    doe, group = Author("Doe", "Ann", "A"), Author(collective_name="Study Group")
    assert record().authors_short() == "[No authors listed]"
    assert record(authors=(doe, group)).authors_short() == "Doe A, Study Group"
    assert record(authors=(doe, group, doe)).authors_short() == "Doe A et al."


def test_a_span_cannot_run_backwards() -> None:
    with pytest.raises(ValueError, match="not a span"):
        Span(3, 2)


def answer(labels: list[str], mode: str = "generated") -> Answer:
    claims = tuple(Claim(f"c{i}", Span(0, 1), "x") for i, _ in enumerate(labels))
    proofs = {
        "supported": (QuoteProof("9", Span(0, 1), "A", "", "supports"),),
        "contradicted": (QuoteProof("9", Span(0, 1), "A", "", "contradicts"),),
    }
    verdicts = tuple(
        Verdict(f"c{i}", label, "", "", proofs.get(label, ()))  # type: ignore[arg-type]
        for i, label in enumerate(labels)
    )
    report = SearchReport("hybrid", {}, 1, {}, 1, "q")
    return Answer("q", "x", mode, "answered", claims, verdicts, (), report)  # type: ignore[arg-type]


def test_groundedness_counts_unchecked_claims_against_it() -> None:
    mixed = answer(["supported", "unchecked", "contradicted", "unsupported"])
    assert mixed.groundedness == 0.25
    assert mixed.checked == 3


def test_there_is_no_groundedness_without_claims_nor_of_quotations() -> None:
    assert answer([]).groundedness is None
    assert answer(["supported"], "quotations").groundedness is None


def test_an_answer_with_a_claim_and_no_verdict_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="exactly one verdict"):
        replace(answer(["supported"]), verdicts=())
