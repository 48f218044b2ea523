"""A chat model's rewriting of a follow-up is taken only when it is that, and never holds up or breaks an answer."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from support.llm_server import LLMServer, Reply

from medcite_core.answers import Turn
from medcite_core.settings import LLMSettings
from medcite_middleware.answering.rewriting import QuestionRewriter, first_line, is_faithful, rewrite_message
from medcite_middleware.llm.chat_model import build_chat_model

GOLDEN = Path(__file__).parent.parent / "golden/follow_up"
HISTORY = (Turn("user", "What does drug Zetamab do in asthma?"), Turn("assistant", "It halved attacks [1]."))
FOLLOW_UP = "And in children?"
GOOD = "What does drug Zetamab do in children with asthma?"


def rewritten_by(server: LLMServer, **settings: object) -> str:
    llm = LLMSettings(provider="openai", base_url=server.base_url, model="stub-model", **settings)  # type: ignore[arg-type]
    model = build_chat_model(llm)
    assert model is not None
    return asyncio.run(QuestionRewriter(model, llm).rewrite(FOLLOW_UP, HISTORY))


@pytest.mark.parametrize(
    "pieces",
    [
        (GOOD,),
        ("<think>The reader means asthma.</think>\n", GOOD),
        (f'"{GOOD}"\n\nI kept the topic.',),
        ("Rewritten question: ", GOOD),
        (f"**{GOOD}**",),
    ],
)
def test_the_question_in_a_reply_is_taken_whatever_stands_around_it(
    llm_server: LLMServer, pieces: tuple[str, ...]
) -> None:
    llm_server.script(Reply(pieces=pieces))
    assert rewritten_by(llm_server) == GOOD
    prompt = llm_server.chats[-1].prompt
    assert "Zetamab" in prompt
    assert "Last message: And in children?" in prompt


@pytest.mark.parametrize(
    "reply",
    [
        (GOLDEN / "FR-118-stub-rewrite.txt").read_text("utf-8"),
        "Does Zetamab cause liver failure in children with asthma?",
        "What does drug Zetamab do in asthma?",
        "And in children?",
        "I cannot help with that.",
        "Zetamab children asthma",
        "What does drug Zetamab do in children with asthma? " + "And in asthma? " * 40,
        "{}",
    ],
)
def test_fr_118_what_answers_invents_or_drops_the_readers_words_is_not_taken(llm_server: LLMServer, reply: str) -> None:
    llm_server.script(Reply(pieces=(reply,)))
    assert rewritten_by(llm_server) == ""


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=401),
        Reply(body="<html></html>", content_type="text/html"),
        Reply(pieces=("What does",), cut="reset"),
        Reply(pieces=()),
    ],
)
def test_a_model_that_fails_costs_nothing_but_its_wording(llm_server: LLMServer, reply: Reply) -> None:
    llm_server.script(reply)
    assert rewritten_by(llm_server) == ""
    assert len(llm_server.chats) == 1


def test_a_model_that_hangs_is_given_up_in_time(llm_server: LLMServer) -> None:
    llm_server.script(Reply(pieces=("What",), hang=True))
    started = time.monotonic()
    assert rewritten_by(llm_server, timeout_s=0.3) == ""
    assert time.monotonic() - started < 5
    assert llm_server.client_left.wait(5)


def test_a_model_that_goes_on_for_ever_is_read_no_further_than_a_question_is_long() -> None:
    read = 0

    def endless():
        nonlocal read
        for _ in range(20_000):
            read += 1
            yield AIMessage("word " * 10)

    model = GenericFakeChatModel(messages=endless())
    long = GenericFakeChatModel(messages=iter([AIMessage("word " * 20_000)]))
    llm = LLMSettings(provider="openai", base_url="http://127.0.0.1:1/v1", model="m")
    assert asyncio.run(QuestionRewriter(model, llm).rewrite(FOLLOW_UP, HISTORY)) == ""
    assert asyncio.run(QuestionRewriter(long, llm).rewrite(FOLLOW_UP, HISTORY)) == ""
    assert read == 1


def test_only_the_last_turns_are_shown_to_the_model_and_they_are_shortened() -> None:
    history = (Turn("user", "the very first"), *(Turn("assistant", "long " * 500) for _ in range(6)))
    message = rewrite_message(FOLLOW_UP, history)
    assert "the very first" not in message
    assert len(message) < 2_200


def test_a_reply_without_words_holds_no_question() -> None:
    assert first_line("\n ** \n") == ""
    assert not is_faithful("", FOLLOW_UP, HISTORY)
