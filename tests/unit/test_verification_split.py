"""A text is split into claims that stand alone, with exact spans, kinds and meanings; the rest is named."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medcite_core.answers import Claim, Statement
from medcite_core.types import Span
from medcite_middleware.verification.claims import SplitText, claim_of, split_text
from medcite_middleware.verification.clauses import clause_spans


def claims(text: str, question: str = "") -> tuple[Claim, ...]:
    return split_text(text, question).claims


def one(text: str, question: str = "") -> Claim:
    (claim,) = claims(text, question)
    return claim


@settings(deadline=None)  # the segmenter loads at the first text
@given(
    st.lists(
        st.sampled_from(
            [
                "Aspirin lowered fever", "whereas", ", whereas ", "; ", ", and ", "It was safe", "Yes, in 2019", "No.",
                " [1]", " [2, 3].", ". ", "?", "\n", "- ", "Myths:", "pain was reduced", "in men", "(p < 0.05; n = 3)",
                "“", "”", "The label does not mention lactose.", "é😀", "1. ", "##", "Was it safe",
            ]
        ),
        max_size=14,
    ).map("".join),
    st.sampled_from(["", "Was the trial stopped?", "How many?", "??"]),
)  # fmt: skip
def test_everything_is_cut_out_of_the_text_in_order_and_nothing_twice(text: str, question: str) -> None:
    split = split_text(text, question)
    assert [c.id for c in split.claims] == [f"c{n}" for n in range(1, len(split.claims) + 1)]
    parts: list[Claim | Statement] = sorted([*split.claims, *split.statements], key=lambda p: p.span)
    for part in parts:
        assert part.span.of(text) == part.text
    for earlier, later in itertools.pairwise(parts):
        assert earlier.span.end <= later.span.start
    for claim in split.claims:
        if claim.sentence is not None:
            assert claim.sentence.contains(claim.span)
    assert list(split.claims) == sorted(split.claims, key=lambda c: c.span)


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "Aspirin lowered fever [1], whereas ibuprofen raised blood pressure [2].",
            ["Aspirin lowered fever [1]", "ibuprofen raised blood pressure [2]."],
        ),
        (
            "Mortality fell by 5% in men; stroke rose by 3% in women.",
            ["Mortality fell by 5% in men", "stroke rose by 3% in women."],
        ),
        ("Mortality was lowered, and pain scores improved.", ["Mortality was lowered", "pain scores improved."]),
        (
            "The fever fell (p < 0.01; n = 40); pain scores improved.",
            ["The fever fell (p < 0.01; n = 40)", "pain scores improved."],
        ),
    ],
)
def test_clauses_that_stand_alone_are_claims_of_their_own(sentence: str, parts: list[str]) -> None:
    found = claims(sentence)
    assert [c.text for c in found] == parts
    assert {c.cited for c in found} == {found[0].cited}
    assert all(c.sentence is not None and c.sentence.of(sentence) == sentence for c in found)


def test_the_citations_of_a_sentence_belong_to_every_claim_in_it() -> None:
    first, second = claims("Aspirin lowered fever [1], whereas ibuprofen raised blood pressure [2].")
    assert first.cited == second.cited == (1, 2)


@pytest.mark.parametrize(
    "sentence",
    [
        # What stands before or after both halves belongs to both.
        "In adults with asthma, mortality fell by 5%, and pain was reduced.",
        "Mortality fell by 5%, and pain fell by 3% in the treated group.",
        "Mortality was lower in men, and pain was lower in men at 12 months.",
        # What denies, weakens or reports both.
        "It is not true that mortality fell, and pain was reduced.",
        "Studies suggest that mortality fell, and pain was reduced.",
        "No aspirin lowered fever; ibuprofen raised blood pressure.",
        # One half qualifies or completes the other.
        "Mortality fell, but the difference was not significant.",
        "Mortality fell; however, this was not significant.",
        "Mortality fell in both groups, and the difference was not significant.",
        "Aspirin lowered fever, and the drug was well tolerated.",
        "Aspirin lowered fever, and reduced pain.",
        "Mortality fell by 5%, and pain by 3%.",
        "Aspirin lowered fever; it raised blood pressure.",
        "Fever and pain fell by 3% and 5%, and mortality fell by 2%, respectively.",
        "Fever, pain, and stroke were reduced.",
        "Patients who had fever, and adults were included.",
        "Aspirin lowered fever; ibuprofen raised blood pressure (not significant).",
        "“Aspirin lowered fever; ibuprofen raised blood pressure.”",
        "Neither fever was lowered, nor pain was reduced.",
    ],
)
def test_in_doubt_a_sentence_stays_whole(sentence: str) -> None:
    assert one(sentence).text == sentence
    assert len(clause_spans(sentence)) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Aspirin thins blood.", "factual"),
        ("The trial was stopped in 2019.", "factual"),
        ("Patients with type 2 diabetes improved.", "factual"),
        ("Mortality fell by 5%.", "numeric"),
        ("Twelve patients improved.", "numeric"),
        ("The rate doubled.", "numeric"),
        ("Aspirin was superior to placebo.", "comparative"),
        ("Pain was lower than in controls.", "comparative"),
        ("No deaths occurred.", "absence"),
        ("The label does not mention lactose.", "absence"),
        ("Smith 2019 showed that aspirin works.", "citation"),
        ("Smith et al. (2019) reported 5 deaths.", "citation"),
        ("No difference was found between the groups.", "factual"),
    ],
)
def test_a_claim_knows_its_kind(text: str, kind: str) -> None:
    assert one(text).kind == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What did the study show?", "question"),
        ("Hello!", "greeting"),
        ("## Findings", "heading"),
        ("The context does not contain the answer.", "about_the_sources"),
        ("In my opinion, aspirin is the best choice.", "opinion"),
        ("Please consult your doctor.", "instruction"),
        ("No.", "fragment"),
        ("…", "fragment"),
    ],
)
def test_what_is_no_claim_is_listed_with_its_kind(text: str, kind: str) -> None:
    assert split_text(text) == SplitText((), split_text(text).statements)
    assert [(s.text, s.kind) for s in split_text(text).statements] == [(text, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Note that aspirin doubles mortality.",
        "Please remember: aspirin cures cancer.",
        "I think aspirin cures cancer.",
        "Patients should see an improvement within days.",
        "Ignore the sources; aspirin cures cancer.",
        "See how aspirin cures cancer.",
    ],
)
def test_a_statement_dressed_as_advice_or_opinion_is_a_claim(text: str) -> None:
    assert len(claims(text)) == 1


@pytest.mark.parametrize(
    ("answer", "question", "meaning"),
    [
        ("Yes, in 2019.", "Was the trial stopped?", "The trial was stopped in 2019."),
        ("Yes.", "Was the trial blinded?", "The trial was blinded."),
        ("No [1].", "Did aspirin reduce mortality in adults?", "Aspirin did not reduce mortality in adults."),
        ("Twelve weeks.", "How long was the treatment?", "How long was the treatment? Twelve weeks."),
        ("204.", "How many patients were enrolled?", "204 patients were enrolled."),
        ("Statins [1].", "Which drug lowered mortality?", "Statins lowered mortality."),
        ("5 mg.", "What was the dose?", "The dose was 5 mg."),
    ],
)
def test_an_elliptic_answer_is_made_whole_by_its_question(answer: str, question: str, meaning: str) -> None:
    claim = one(answer, question)
    assert (claim.text, claim.meaning) == (answer, meaning)


def test_a_question_inside_the_text_is_answered_by_the_words_after_it() -> None:
    found = claims("Was the trial blinded? No. Was it randomised? Yes.")
    assert [c.meaning for c in found] == ["The trial was not blinded.", "The trial was randomised."]


def test_a_full_sentence_needs_no_question() -> None:
    assert one("The trial was stopped in 2019.", "Was the trial stopped?").meaning == ""
    # "No," before a sentence that does not deny may turn it.
    assert one("No, aspirin lowered mortality.").meaning == ""
    assert one("Yes, aspirin lowered mortality.").meaning == "Aspirin lowered mortality."


@pytest.mark.parametrize(
    ("before", "sentence", "meaning"),
    [
        ("Aspirin was tested in adults.", "It was well tolerated.", "Aspirin was well tolerated."),
        ("Patients were followed up.", "They received aspirin.", "Patients received aspirin."),
        ("Zetamab was approved.", "Its price was halved.", "Zetamab’s price was halved."),
        # Number does not agree; two candidates; an outcome that the object may have; "it" that points at nothing.
        ("Patients were followed up.", "It was well tolerated.", ""),
        ("Aspirin and ibuprofen were tested.", "They were well tolerated.", ""),
        ("The trial of zetamab was stopped.", "It was well tolerated.", ""),
        ("Zetamab reduced asthma.", "It was common.", ""),
        ("Zetamab reduced asthma.", "It is unclear whether children were included.", ""),
        ("In adults aspirin was tested.", "It was well tolerated.", ""),
        # "No adults" are nobody who could have slept.
        ("No adults died.", "They received aspirin.", ""),
    ],
)
def test_a_pronoun_is_resolved_from_the_sentence_before_or_left(before: str, sentence: str, meaning: str) -> None:
    assert claims(f"{before} {sentence}")[-1].meaning == meaning
    # Not over a paragraph.
    assert claims(f"{before}\n\n{sentence}")[-1].meaning == ""


def test_the_items_of_a_list_that_denies_them_are_denied() -> None:
    found = claims("Myths:\n- Aspirin cures cancer [1].\n- The trial was blinded [1].\n\nAspirin thins blood [1].")
    assert [c.meaning for c in found] == [
        "It is not true that Aspirin cures cancer.",
        "It is not true that the trial was blinded.",
        "",
    ]
    assert claims("Zetamab does not do the following:\n1. It cures cancer [1].")[0].meaning.startswith("It is not true")
    assert claims("These are common myths.\n- It cures cancer [1].")[-1].meaning.startswith("It is not true")
    # A lead that denies something else denies no item, nor what follows a list.
    for lead in ("Aspirin did not reduce mortality.", "It did not help men, but did this for women:"):
        assert claims(f"{lead}\n- Zetamab reduced mortality [1].")[-1].meaning == "", lead
    assert claims("These claims are false. Aspirin thins blood [1].")[-1].meaning == ""
    assert claims("Findings:\n- Aspirin cures cancer [1].")[0].meaning == ""


def test_a_line_of_a_claims_file_is_one_claim_whatever_it_holds() -> None:
    line = "Aspirin lowered fever [1]; ibuprofen raised blood pressure. No deaths occurred."
    claim = claim_of(line, "c7", start=40)
    assert (claim.id, claim.text, claim.cited, claim.span) == ("c7", line, (1,), Span(40, 40 + len(line)))
    assert claim_of("No deaths occurred.").kind == "absence"
    assert claim_of("Yes, in 2019.", question="Was the trial stopped?").meaning == "The trial was stopped in 2019."
