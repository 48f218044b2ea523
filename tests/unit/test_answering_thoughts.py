"""A model's private reasoning never reaches the reader, however it is tagged and cut."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medcite_middleware.answering.thoughts import LeakedThoughts, ThoughtFilter

GOLDEN = Path(__file__).parents[1] / "golden" / "answering"


def shown(pieces: list[str], *, opens_in_thought: bool = False) -> str:
    """All that a reader sees of these pieces."""
    thoughts = ThoughtFilter(opens_in_thought=opens_in_thought)
    return "".join(thoughts.feed(piece) for piece in pieces) + thoughts.close()


@given(st.lists(st.integers(1, 70), max_size=8), st.sampled_from(["think", "THINK", "Thinking", "reasoning"]))
def test_tags_are_found_wherever_the_pieces_are_cut(cuts: list[int], name: str) -> None:
    first, second = f"<{name}>Passage [1] says no.</{name}>", f"<{name}>Hm.</{name}Done></{name}>"
    reply = f"{first}\n\nIt fell by < 5% [1]. {second}So it helps [2]."
    places = sorted({0, len(reply), *(min(c, len(reply)) for c in cuts)})
    pieces = [reply[a:b] for a, b in itertools.pairwise(places)]
    assert shown(pieces) == "It fell by < 5% [1]. So it helps [2]."


def test_fr_158_reasoning_that_the_template_opened_is_held_back() -> None:
    reply = (GOLDEN / "FR-158-reply.txt").read_text().rstrip("\n")
    assert shown(list(reply)) == "The answer is 5 mg [1]."


def test_fr_158_long_reasoning_without_an_opening_tag_is_an_error_not_an_answer() -> None:
    with pytest.raises(LeakedThoughts):
        shown(["I weigh it. " * 60, "</think>", "It helps [1]."])


def test_fr_158_a_model_known_to_open_in_thought_is_held_until_it_closes() -> None:
    assert shown(["I weigh [1]. " * 60, "</think>", "It helps [1]."], opens_in_thought=True) == "It helps [1]."


def test_a_model_known_to_open_in_thought_may_still_answer_without_any() -> None:
    assert shown(["It helps [1]. ", "It harms [2]."], opens_in_thought=True) == "It helps [1]. It harms [2]."


def test_fr_154_the_answer_is_the_same_with_and_without_reasoning() -> None:
    replies = (GOLDEN / "FR-154-replies.txt").read_text()
    assert shown([replies.splitlines()[0]]) == '{"verdict":"supported"}'
    assert shown(["\n".join(replies.splitlines()[1:3])]) == '{"verdict":"supported"}'


def test_fr_157_reasoning_that_never_ends_is_no_answer() -> None:
    reply = json.loads((GOLDEN / "FR-157-reply.json").read_text())["choices"][0]["message"]["content"]
    assert shown(list(reply)) == ""


@pytest.mark.parametrize("text", ["p < 0.05 and <b", "a <thinker> b", "x </ y", "<", "4 <think", "PaO2 <60 mmHg"])
def test_what_only_looks_like_a_tag_stays(text: str) -> None:
    assert shown(list(text)) == text


@given(st.lists(st.text(alphabet="ab <>/[1].\n\u2028\u0085é", max_size=6), max_size=30))
def test_text_without_tags_passes_unchanged_but_for_space_at_its_beginning(pieces: list[str]) -> None:
    assert shown(pieces) == "".join(pieces).lstrip()


def test_after_the_first_sentence_each_piece_passes_at_once() -> None:
    thoughts = ThoughtFilter()
    assert thoughts.feed("It helps") == ""
    assert thoughts.feed(" [1]. It") == "It helps [1]. It"
    assert thoughts.feed(" harms") == " harms"
