"""Answers made of quotations: word for word, dated, cited, from the part of the abstract that answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import a_record, evidence_of

from medcite_core.types import Evidence, Notice
from medcite_ingestion.pubmed_xml import parse_pubmed_xml
from medcite_middleware.answering.quotations import Draft, best_quotes, quote_answer

GOLDEN = Path(__file__).parents[1] / "golden" / "answering"
RETRACTED = (Notice("retracted", "999"),)


def answer(question: str, *parts: tuple[str, str, str], title: str = "Drug B in asthma.") -> str:
    return quote_answer(question, evidence_of(a_record(title=title, parts=parts))).text


@pytest.mark.parametrize("question", ["What did the study conclude?", "Does drug B reduce attacks?"])
def test_fr_042_the_conclusion_is_quoted_before_what_was_believed_before(question: str) -> None:
    (record,) = parse_pubmed_xml(GOLDEN / "FR-042-in.xml")
    draft = quote_answer(question, evidence_of(record))  # type: ignore[arg-type]
    assert draft.text.splitlines()[0] == "“Drug B did not reduce attacks.” — Doe A, 2019 [2]"


def test_each_line_is_a_verbatim_sentence_with_author_year_and_number() -> None:
    evidence = evidence_of(a_record("1"), a_record("2", year=None, author="Roe"))
    draft = quote_answer("Does drug A lower blood pressure?", evidence)
    assert "“Drug A lowered blood pressure by 5 mmHg.” — Doe A, 2019 [1]" in draft.text.splitlines()
    assert draft.mode == "quotations"
    assert_laws(draft, evidence)


def assert_laws(draft: Draft, evidence: tuple[Evidence, ...]) -> None:
    by_number = {item.number: item for item in evidence}
    lines = draft.text.split("\n") if draft.text else []
    assert [claim.text for claim in draft.claims] == lines
    assert [claim.id for claim in draft.claims] == [f"c{n + 1}" for n in range(len(lines))]
    assert len(lines) <= 5
    for claim in draft.claims:
        assert claim.span.of(draft.text) == claim.text
        assert claim.is_quotation
        (number,) = claim.cited
        quote = claim.text[1 : claim.text.rindex("” — ")]
        assert quote in by_number[number].text


def test_a_record_without_a_year_is_dated_n_d() -> None:
    draft = quote_answer("Does drug A lower blood pressure?", evidence_of(a_record(year=None)))
    assert "— Doe A, n.d. [1]" in draft.text


def test_retracted_records_and_retraction_notices_are_not_quoted() -> None:
    evidence = evidence_of(a_record("1", notices=RETRACTED), a_record("2", notices=(Notice("retraction_notice", "1"),)))
    assert quote_answer("Does drug A lower blood pressure?", evidence) == Draft("", ())
    kept = evidence_of(a_record("1", notices=RETRACTED), a_record("3"))
    draft = quote_answer("Does drug A lower blood pressure?", kept)
    assert {claim.cited for claim in draft.claims} == {(2,)}


def test_when_asked_for_retracted_records_are_quoted_and_marked() -> None:
    evidence = evidence_of(a_record(notices=RETRACTED))
    draft = quote_answer("Does drug A lower blood pressure?", evidence, allow_retracted=True)
    assert "— Doe A, 2019, retracted [1]" in draft.text


def test_a_corrected_record_is_quoted() -> None:
    evidence = evidence_of(a_record(notices=(Notice("corrected", "5"),)))
    assert quote_answer("Does drug A lower blood pressure?", evidence).text


@pytest.mark.parametrize("question", ["How do bees find their way home?", "What is the capital of France?"])
def test_what_does_not_bear_on_the_question_is_not_quoted(question: str) -> None:
    assert quote_answer(question, evidence_of(a_record())) == Draft("", ())


def test_no_evidence_is_no_answer() -> None:
    assert quote_answer("Does drug A help?", ()) == Draft("", ())


FINDING = "Drug B reduced asthma attacks by 30%."


@pytest.mark.parametrize(
    "weak",
    [
        "Does drug B reduce asthma attacks in adults?",
        "The aim of this study was to see if drug B reduces asthma attacks.",
        "We investigated whether drug B reduces asthma attacks.",
        "Further studies are needed on drug B and asthma attacks.",
    ],
)
def test_questions_aims_and_cut_off_sentences_do_not_come_before_a_finding(weak: str) -> None:
    for text in (f"{weak} {FINDING}", f"{FINDING} {weak}"):
        assert answer("Does drug B reduce asthma attacks?", ("", "", text)).startswith(f"“{FINDING}”")


@pytest.mark.parametrize(
    "end",
    ["Drug B reduced asthma attacks in the (ABSTRACT TRUNCATED AT 250 WORDS)", "Asthma attacks on drug B, reduced in"],
)
def test_the_cut_off_end_of_an_abstract_is_not_quoted(end: str) -> None:
    assert answer("Does drug B reduce asthma attacks?", ("", "", f"{FINDING} {end}")).count("“") == 1


@pytest.mark.parametrize(
    "text", ["Asthma attacks fell with drug B in", "Trial registration: ClinicalTrials.gov drug B asthma."]
)
def test_a_sentence_that_is_cut_off_or_no_content_is_never_quoted(text: str) -> None:
    assert answer("Does drug B reduce asthma attacks?", ("", "", text)) == ""


def test_the_same_sentence_is_quoted_once() -> None:
    evidence = evidence_of(*[a_record(str(n), parts=[("", "", FINDING)]) for n in range(3)])
    assert len(quote_answer("Does drug B reduce asthma attacks?", evidence).claims) == 1


@pytest.mark.parametrize(
    "other", ["Drug B reduced asthma attacks by 3%.", "Drug B did not reduce asthma attacks by 30%."]
)
def test_sentences_that_differ_in_a_number_or_a_negation_are_both_quoted(other: str) -> None:
    evidence = evidence_of(*[a_record(str(n), parts=[("", "", t)]) for n, t in enumerate([FINDING, other])])
    assert len(quote_answer("Does drug B reduce asthma attacks?", evidence).claims) == 2


def test_several_records_speak_when_they_answer_equally_well() -> None:
    first = "Drug B reduced asthma attacks in adults. Drug B reduced asthma attacks in children of school age. "
    first += "Asthma attacks at night fell with drug B too."
    second = "In a trial of 400 people, drug B reduced asthma attacks."
    evidence = evidence_of(a_record("1", parts=[("", "", first)]), a_record("2", parts=[("", "", second)]))
    quotes = best_quotes("Does drug B reduce asthma attacks?", evidence)
    assert {quote.evidence.record.pmid for quote in quotes[:2]} == {"1", "2"}


def test_a_question_for_a_figure_is_answered_with_one() -> None:
    text = "Drug B gave a high response rate in asthma. The response rate was 55% in asthma on drug B."
    assert answer("What response rate did drug B reach in asthma?", ("", "", text)).startswith(
        "“The response rate was 55%"
    )


def test_a_heading_inside_an_abstract_is_not_part_of_the_quotation() -> None:
    text = "Purpose To see. Results Drug B reduced asthma attacks by 30%."
    assert answer("Does drug B reduce asthma attacks?", ("", "", text)).startswith("“Drug B reduced")


SENTENCES = st.sampled_from(
    [
        "Drug B reduced asthma attacks by 30%.",
        "Asthma is common.",
        "Is drug B safe?",
        "We measured attacks.",
        "He said “drug B” works [3].",
        "Drug B — asthma, 2019 [1].",
        "β-blockers and drug B: 5 µg\u2028daily.",
    ]
)


@given(
    st.text(max_size=60) | st.just("Does drug B reduce asthma attacks?"),
    st.lists(st.lists(SENTENCES, min_size=1, max_size=6), max_size=4),
)
def test_whatever_is_asked_the_laws_of_a_quotation_hold(question: str, abstracts: list[list[str]]) -> None:
    records = [a_record(str(n), parts=[("", "", " ".join(sentences))]) for n, sentences in enumerate(abstracts)]
    evidence = evidence_of(*records)
    draft = quote_answer(question, evidence)
    assert_laws(draft, evidence)
    assert quote_answer(question, evidence) == draft
