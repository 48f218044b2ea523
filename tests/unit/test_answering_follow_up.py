"""Follow-ups become questions that stand alone; questions that stand alone stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_core.answers import Turn
from medcite_middleware.answering.follow_up import (
    MAX_EARLIER_CHARS,
    is_follow_up,
    offered_topic,
    stand_alone,
)

ZETAMAB = "What does drug Zetamab do in asthma?"
ASPIRIN = "Does aspirin lower recurrent stroke?"
METFORMIN = "Does metformin reduce weight in adults with diabetes?"
STATINS = "What are the side effects of statins?"


def turns(*texts: str) -> tuple[Turn, ...]:
    """Reader and answer in turn, the reader first."""
    return tuple(Turn("assistant" if place % 2 else "user", text) for place, text in enumerate(texts))


@pytest.mark.parametrize(
    ("earlier", "follow_up", "meant"),
    [
        # FR-117: a fragment takes its topic from before
        (ZETAMAB, "And in children?", "What does drug Zetamab do in asthma, in children?"),
        (ZETAMAB, "in children", "What does drug Zetamab do in asthma, in children?"),
        (ZETAMAB, "What about women?", "What does drug Zetamab do in asthma, in women?"),
        (ASPIRIN, "And compared with warfarin?", "Does aspirin lower recurrent stroke, compared with warfarin?"),
        # a group, a sex or a time that is contrasted replaces the one before
        (METFORMIN, "And in children?", "Does metformin reduce weight in children with diabetes?"),
        (METFORMIN, "In children with asthma?", "Does metformin reduce weight in children with diabetes, asthma?"),
        ("Is aspirin safe for women?", "And for men?", "Is aspirin safe for men?"),
        ("Does aspirin help in the short term?", "And in the long term?", "Does aspirin help in the long term?"),
        # FR-121: a correction is not searched word for word
        (METFORMIN, "No, I meant the children.", "Does metformin reduce weight in children with diabetes?"),
        (ASPIRIN, "Sorry, I mean haemorrhagic stroke", "Does aspirin lower recurrent haemorrhagic stroke?"),
        (ASPIRIN, "Wrong, those belong to another group.", ASPIRIN),
        (METFORMIN, "No, I meant aspirin.", "Does aspirin reduce weight in adults with diabetes?"),
        # another subject
        (METFORMIN, "What about aspirin?", "Does aspirin reduce weight in adults with diabetes?"),
        ("Does vitamin D prevent fractures?", "What about calcium?", "Does calcium prevent fractures?"),
        (STATINS, "And of metformin?", "What are the side effects of metformin?"),
        # bare questions
        (ASPIRIN, "Why?", "Why does aspirin lower recurrent stroke?"),
        (ZETAMAB, "But why?", "What does drug Zetamab do in asthma, and why?"),
        (ASPIRIN, "Tell me more.", ASPIRIN),
        (ASPIRIN, "yes", ASPIRIN),
        # pronouns and questions that fit any topic
        (ASPIRIN, "Is it safe in pregnancy?", "Is it safe in pregnancy (aspirin)?"),
        (ASPIRIN, "How does it work?", "How does it work (aspirin)?"),
        (ASPIRIN, "Do these patients bleed more?", "Do these patients bleed more (aspirin)?"),
        (ASPIRIN, "Is it safe to take with warfarin?", "Is it safe to take with warfarin (aspirin)?"),
        (ASPIRIN, "Side effects?", "Side effects (aspirin recurrent stroke)?"),
        (ASPIRIN, "What is the dose?", "What is the dose (aspirin recurrent stroke)?"),
    ],
)
def test_a_follow_up_is_understood_from_the_question_before_it(earlier: str, follow_up: str, meant: str) -> None:
    assert stand_alone(follow_up, turns(earlier, "It does [1].")) == meant


@pytest.mark.parametrize(
    "question",
    [
        METFORMIN,
        ZETAMAB,
        "What is the dose of metformin?",
        "What is asthma?",
        "Metformin",
        "aspirin stroke",
        "Is it true that statins prevent dementia?",
        "Is it safe to take ibuprofen while pregnant?",
        "How long does it take for antidepressants to work?",
        "Does vitamin D prevent fractures and is it safe?",
        "In children, does paracetamol reduce fever?",
        "And does warfarin increase bleeding in atrial fibrillation?",
        "But why does warfarin cause bleeding?",
        "What about metformin in diabetes?",
        "Is there evidence that yoga helps?",
        "No benefit of zinc in colds?",
        "Do these statins cause myopathy?",
        "Which antibiotics treat cellulitis in adults?",
    ],
)
def test_a_new_question_stays_untouched_and_takes_nothing_of_the_old_topic(question: str) -> None:
    assert stand_alone(question, turns(ASPIRIN, "It does [1].")) == question
    assert not is_follow_up(question)


@pytest.mark.parametrize("question", ["And in children?", "Why?", "Is it safe?", "yes"])
def test_the_first_question_stays_as_it_is(question: str) -> None:
    assert stand_alone(question, ()) == question


def test_a_chain_of_follow_ups_keeps_its_topic() -> None:
    history = turns(ZETAMAB, "It halved attacks [1].", "And in children?", "No effect [1].")
    assert stand_alone("No, I meant the adults.", history) == "What does drug Zetamab do in asthma, in adults?"
    assert "Zetamab" in stand_alone("Why?", history)


def test_after_a_new_question_follow_ups_are_about_it() -> None:
    history = turns(ZETAMAB, "a", "And in children?", "b", ASPIRIN, "c")
    assert stand_alone("And in women?", history) == "Does aspirin lower recurrent stroke, in women?"


@pytest.mark.parametrize("reply", ["yes", "Yes, please!", "sure", "OK"])
def test_fr_120_yes_to_an_offer_asks_about_what_was_offered(reply: str) -> None:
    offer = "It halved attacks [1]. Would you like to know more about Zetamab in children?"
    assert stand_alone(reply, turns(ZETAMAB, offer)) == "Zetamab in children"
    vague = "It halved attacks [1]. Shall I tell you about its side effects?"
    assert stand_alone(reply, turns(ZETAMAB, vague)) == "its side effects (drug Zetamab)"


def test_fr_120_an_offer_is_one_only_at_the_end_of_an_answer() -> None:
    assert offered_topic("Would you like to know more about X? No. It halved attacks [1].") == ""


def test_a_very_long_earlier_question_is_carried_on_by_its_content_words() -> None:
    long = "Does aspirin lower recurrent stroke " + "in patients with a history of very many things " * 30 + "?"
    meant = stand_alone("And in women?", turns(long, "It does [1]."))
    assert len(meant) < MAX_EARLIER_CHARS + 50
    assert "aspirin" in meant
    assert "women" in meant


TEXT = st.text(max_size=80) | st.lists(
    st.sampled_from("and in children it what about no i meant women why is aspirin stroke ? , . yes of than".split()),
    max_size=8,
).map(" ".join)


@given(TEXT, TEXT, TEXT)
def test_whatever_is_typed_there_is_a_question_and_it_is_never_longer_than_its_parts_allow(
    first: str, answer: str, second: str
) -> None:
    meant = stand_alone(second, turns(first, answer))
    assert len(meant) <= len(first) + len(answer) + len(second) + MAX_EARLIER_CHARS + 20
    assert meant.strip() or not second.strip() or not first.strip()
