"""Plain words find the words of abstracts: short forms, words of the same sense, and names weigh as they should."""

from __future__ import annotations

import pytest
from support.records import a_record

from medcite_core.types import Section
from medcite_middleware.answering.question_words import QuestionWords, short_forms_in, stems_of
from medcite_middleware.answering.sentence_kinds import part_of, statement_weight


def held(question: str, text: str) -> float:
    return QuestionWords(question, [stems_of(text)]).held_by(stems_of(text))


def test_a_short_form_counts_as_the_words_it_stands_for() -> None:
    forms = short_forms_in(
        "Chronic subdural hematoma (CSDH) and non-small cell lung cancer (NSCLC) (see below) (n=40)."
    )
    assert set(forms) == {"csdh", "nsclc"}
    assert stems_of("CSDH recurred.", forms) >= stems_of("chronic subdural hematoma")
    assert not stems_of("It recurred.", forms) & stems_of("hematoma")


def test_a_question_that_uses_the_short_form_is_held_by_a_sentence_that_spells_it_out() -> None:
    forms = short_forms_in("Hematoma volume (HV) was measured.")
    assert "hv" in stems_of("The volume of the hematoma fell.", forms)
    assert "hv" not in stems_of("The volume of the blood fell.", forms)


@pytest.mark.parametrize("text", ["", "(", "(AB)", "a (XYZ)", "(AB) (CD) (E)"])
def test_brackets_that_introduce_nothing_are_no_short_forms(text: str) -> None:
    assert short_forms_in(text) == {}


def test_words_of_the_same_sense_count_almost_in_full() -> None:
    assert held("Side effects of ipilimumab?", "Adverse effects of ipilimumab") > 0.8
    assert held("Does it shrink hematomas?", "It reduced hematomas") > 0.8
    assert held("Does it shrink hematomas?", "It helped hematomas") < held(
        "Does it shrink hematomas?", "It shrinks hematomas"
    )


def test_a_name_that_is_missing_weighs_most() -> None:
    with_name = held("Which mutations cause Lynch syndrome?", "Lynch syndrome")
    without_name = held("Which mutations cause Lynch syndrome?", "Mutations cause a syndrome")
    assert with_name > without_name
    assert without_name < 0.5


def test_a_question_without_content_words_is_about_what_was_found() -> None:
    words = QuestionWords("What did the study conclude?", [stems_of("Drug A helped.")])
    assert words.held_by(stems_of("Drug A helped.")) == 1.0


def the_abstract(text: str, label: str = "", category: str = "") -> Section:
    return a_record(parts=[(label, category, text)]).sections[1]


def test_headings_inside_an_unlabelled_abstract_tell_its_parts() -> None:
    text = "Purpose To see. Patients and Methods We gave it. Results At 12 months ORR was 55%. Conclusion It helps."
    section = the_abstract(text)
    parts = [part_of(section, text.index(word)) for word in ("Purpose", "Patients", "Results", "Conclusion")]
    assert parts == ["OBJECTIVE", "METHODS", "RESULTS", "CONCLUSIONS"]
    assert part_of(the_abstract("The results were good. Results vary."), 0) == ""


@pytest.mark.parametrize(
    ("label", "category", "part"),
    [
        ("FINDINGS", "", "RESULTS"),
        ("INTERPRETATION", "", "CONCLUSIONS"),
        ("Main Outcomes and Measures", "UNASSIGNED", "METHODS"),
        ("Importance", "UNASSIGNED", "BACKGROUND"),
        ("WHATEVER", "CONCLUSIONS", "CONCLUSIONS"),
        ("WHATEVER", "", ""),
    ],
)
def test_category_or_label_tells_the_part(label: str, category: str, part: str) -> None:
    assert part_of(the_abstract("It helped.", label, category)) == part


def test_a_title_is_quoted_only_when_it_states_something() -> None:
    def weight(title: str) -> float:
        return statement_weight(title, a_record(title=title).sections[0], 0)

    assert weight("Drug A improves survival in adults with asthma.") > 0
    assert weight("Risk factors for asthma in adults: a case-control study.") == 0
    assert weight("Does drug A improve survival in adults?") < weight("Drug A does improve survival in adults.")
