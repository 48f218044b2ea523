"""Answers of a chat model, against a scripted server: what is streamed is final, and each failure has its words."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from support.llm_server import LLMServer, Reply
from support.records import a_record, evidence_of

from medcite_core.answers import Turn
from medcite_core.errors import ModelRefused, ModelReplyCut, ModelUnavailable
from medcite_core.settings import LLMSettings
from medcite_middleware.answering.generated import GeneratedAnswer
from medcite_middleware.answering.prompting import PROMPT_VERSION
from medcite_middleware.llm.chat_model import build_chat_model

GOLDEN = Path(__file__).parents[1] / "golden" / "answering"
EVIDENCE = evidence_of(a_record("100"), a_record("200", "Drug B in gout."))
KEY = "sk-very-secret"


@pytest.fixture(params=["openai", "huggingface"])
def provider(request: pytest.FixtureRequest) -> str:
    """Both ways to speak to a server."""
    return str(request.param)


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without their pauses."""
    monkeypatch.setattr("medcite_middleware.llm.streaming._FIRST_PAUSE_S", 0.0)


def a_writer(server: LLMServer, provider: str = "openai", **changes: object) -> GeneratedAnswer:
    values = {"base_url": server.base_url, "model": "stub-model", "api_key": KEY, "timeout_s": 20, "retries": 1}
    settings = LLMSettings.model_validate({"provider": provider, **values, **changes})
    model = build_chat_model(settings)
    assert model is not None
    return GeneratedAnswer(model, settings)


def ask(writer: GeneratedAnswer, history: tuple[Turn, ...] = ()) -> tuple[list[str], ModelUnavailable | None]:
    """The pieces of an answer, and the error it ended with."""

    async def collect() -> tuple[list[str], ModelUnavailable | None]:
        pieces: list[str] = []
        try:
            async for piece in writer.stream("Does drug A help?", EVIDENCE, history):
                pieces.append(piece)
        except ModelUnavailable as error:
            return pieces, error
        return pieces, None

    return asyncio.run(collect())


def test_an_answer_comes_in_pieces_and_the_model_got_rules_evidence_history_and_question(
    llm_server: LLMServer, provider: str
) -> None:
    llm_server.script(Reply(("Drug A ", "helps [1]. ", "It is ", "safe [1, 2].")))
    turns = (Turn("user", "Hello?"), Turn("assistant", "It was said [1]."))
    pieces, error = ask(a_writer(llm_server, provider), turns)
    assert error is None
    assert len(pieces) > 1
    assert "".join(pieces) == "Drug A helps [1]. It is safe [1, 2]."
    (request,) = llm_server.chats
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = request.body
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    assert (body["temperature"], body["max_tokens"], body["model"]) == (0.01, 500, "stub-model")
    assert "Drug A lowered blood pressure" in body["messages"][-1]["content"]
    assert a_writer(llm_server).prompt_version == PROMPT_VERSION == "answer.v1"


def test_fr_126_fr_128_unusual_characters_and_bytes_split_anywhere_arrive_unchanged(
    llm_server: LLMServer, provider: str
) -> None:
    tokens = tuple(json.loads((GOLDEN / "FR-128-tokens.json").read_text())["tokens"])
    text = (*tokens, " β-blocker ", "5 µg → 𝛃 [1].\r\n\nNext [2].")
    llm_server.script(Reply(text, bytes_per_write=3))
    pieces, error = ask(a_writer(llm_server, provider))
    assert error is None
    assert "".join(pieces) == "".join(text)


def test_reasoning_in_tags_or_in_a_field_of_its_own_is_not_shown(llm_server: LLMServer, provider: str) -> None:
    llm_server.script(Reply(("<th", "ink>PMID 9", " [2]</thi", "nk>It helps [1]."), reasoning=("Hm", "m")))
    pieces, error = ask(a_writer(llm_server, provider))
    assert ("".join(pieces), error) == ("It helps [1].", None)


def test_fr_158_leaked_reasoning_is_an_error_once_and_held_back_from_then_on(llm_server: LLMServer) -> None:
    reply = Reply(("I weigh it. " * 60, "More. ", "</think>", "It helps [1]."))
    llm_server.script(reply, reply)
    writer = a_writer(llm_server)
    _, error = ask(writer)
    assert isinstance(error, ModelReplyCut)
    assert ("".join(ask(writer)[0])) == "It helps [1]."


def test_fr_111_identifiers_that_the_model_made_up_are_marked_in_the_stream(llm_server: LLMServer) -> None:
    llm_server.script(Reply(("See PMID: 912", "34567 and PMID 100 [1].")))
    pieces, _ = ask(a_writer(llm_server))
    assert "".join(pieces) == "See PMID: 91234567 (not verified) and PMID 100 [1]."


@pytest.mark.parametrize("cut", ["reset", "clean"])
def test_fr_125_a_reply_that_breaks_off_keeps_its_text_and_is_not_taken_for_whole(
    llm_server: LLMServer, provider: str, cut: str
) -> None:
    llm_server.script(Reply(("It helps", " a lo"), cut=cut))  # type: ignore[arg-type]
    pieces, error = ask(a_writer(llm_server, provider))
    assert "".join(pieces) == "It helps a lo"
    assert isinstance(error, ModelReplyCut)
    assert len(llm_server.chats) == 1


def test_a_reply_that_falls_silent_half_way_is_cut_after_the_time_limit(llm_server: LLMServer, provider: str) -> None:
    llm_server.script(Reply(("It helps",), hang=True))
    since = time.monotonic()
    pieces, error = ask(a_writer(llm_server, provider, timeout_s=1))
    assert time.monotonic() - since < 10
    assert pieces == ["It helps"]
    assert isinstance(error, ModelReplyCut)
    assert "stopped sending" in error.message


def test_a_reply_that_reaches_the_token_limit_says_so_and_keeps_its_text(llm_server: LLMServer, provider: str) -> None:
    llm_server.script(Reply(("It helps and",), finish_reason="length"))
    pieces, error = ask(a_writer(llm_server, provider))
    assert pieces == ["It helps and"]
    assert isinstance(error, ModelReplyCut)
    assert "500 tokens" in error.message
    assert "MEDCITE_LLM__MAX_TOKENS" in error.hint


def test_fr_157_all_tokens_spent_on_reasoning_is_named(llm_server: LLMServer) -> None:
    llm_server.script(Reply(("<think>Step 1 ... ",), finish_reason="length"))
    pieces, error = ask(a_writer(llm_server))
    assert pieces == []
    assert error is not None
    assert "reasoning" in error.message


def test_reasoning_that_begins_in_the_middle_and_never_ends_leaves_an_incomplete_answer(llm_server: LLMServer) -> None:
    llm_server.script(Reply(("Aspirin helps [1]. In mice it <thought> of harm. ", "It raised bleeding [2].")))
    pieces, error = ask(a_writer(llm_server))
    assert "".join(pieces).strip() == "Aspirin helps [1]. In mice it"
    assert isinstance(error, ModelReplyCut)


FAILURES = [
    (Reply(status=401), ModelRefused, "refuses the key"),
    (Reply(status=404), ModelRefused, "does not know the model"),
    (Reply(status=422), ModelRefused, "does not accept the request"),
    (Reply(body="<html>Log in</html>", content_type="text/html; charset=utf-8"), ModelRefused, "web page"),
    (Reply(body='{"x": 1}'), ModelUnavailable, "not like a chat model"),
    (Reply(()), ModelUnavailable, "empty"),
    (Reply((" ", "\n")), ModelUnavailable, "empty"),
    (Reply(("<think>no</think>",)), ModelUnavailable, "wrote no answer"),
    (Reply(error_event={"message": "out of memory"}), ModelUnavailable, "out of memory"),
]


@pytest.mark.parametrize(("reply", "kind", "words"), FAILURES, ids=lambda value: str(value)[:40])
def test_each_failure_is_told_in_words_at_the_first_attempt_and_without_the_key(
    llm_server: LLMServer, provider: str, reply: Reply, kind: type[ModelUnavailable], words: str
) -> None:
    llm_server.script(reply)
    pieces, error = ask(a_writer(llm_server, provider))
    assert "".join(pieces).strip() == ""
    assert type(error) is kind
    assert words in error.message
    assert error.hint
    assert KEY not in f"{error.message} {error.hint}"
    assert len(llm_server.chats) == 1


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize(("status", "words"), [(429, "no more requests"), (500, "HTTP 500"), (503, "HTTP 503")])
def test_a_server_in_trouble_is_asked_again_as_often_as_set_and_then_named(
    llm_server: LLMServer, provider: str, status: int, words: str
) -> None:
    llm_server.default = Reply(status=status)
    pieces, error = ask(a_writer(llm_server, provider, retries=2))
    assert pieces == []
    assert type(error) is ModelUnavailable
    assert error.retryable
    assert words in error.message
    assert len(llm_server.chats) == 3


@pytest.mark.usefixtures("_no_pauses")
def test_a_server_that_recovers_gives_a_whole_answer(llm_server: LLMServer, provider: str) -> None:
    llm_server.script(Reply(status=503), Reply(("It helps [1].",)))
    pieces, error = ask(a_writer(llm_server, provider))
    assert ("".join(pieces), error) == ("It helps [1].", None)


def test_the_server_s_own_words_come_without_the_key(llm_server: LLMServer, provider: str) -> None:
    body = json.dumps({"error": {"message": f"context length exceeded for\n {KEY}"}})
    llm_server.script(Reply(status=400, body=body))
    _, error = ask(a_writer(llm_server, provider))
    assert error is not None
    assert "context length exceeded for ***" in error.message
    assert "MEDCITE_LLM__CONTEXT_TOKENS" in error.hint


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(delay_s=5)], ids=["headers only", "nothing"])
def test_a_server_that_sends_nothing_is_given_up_after_the_time_limit(
    llm_server: LLMServer, provider: str, reply: Reply
) -> None:
    llm_server.script(reply)
    pieces, error = ask(a_writer(llm_server, provider, timeout_s=0.7))
    assert pieces == []
    assert type(error) is ModelUnavailable
    assert "sent nothing for 0.7 s" in error.message
    assert len(llm_server.chats) == 1


@pytest.mark.usefixtures("_no_pauses")
def test_a_server_that_is_down_is_named_with_its_address(provider: str) -> None:
    server = LLMServer()
    server.stop()
    pieces, error = ask(a_writer(server, provider))
    assert pieces == []
    assert type(error) is ModelUnavailable
    assert f"{server.base_url} cannot be reached (connection refused)" in error.message


@pytest.mark.parametrize("way", ["close", "cancel"])
def test_stopping_an_answer_closes_the_stream_at_the_server(llm_server: LLMServer, provider: str, way: str) -> None:
    llm_server.script(Reply(("It helps [1]. ", "And"), hang=True))
    writer = a_writer(llm_server, provider)

    async def stop() -> float:
        stream = writer.stream("Does it?", EVIDENCE)

        async def read_all() -> None:
            async for _ in stream:
                if way == "close":
                    return

        task = asyncio.create_task(read_all())
        await asyncio.to_thread(llm_server.piece_sent.wait, 10)
        if way == "cancel":
            await asyncio.sleep(0.2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        else:
            await task
            await stream.aclose()
        since = time.monotonic()
        assert await asyncio.to_thread(llm_server.client_left.wait, 5)
        return time.monotonic() - since

    assert asyncio.run(stop()) < 1.0


def test_two_answers_at_once_do_not_mix(llm_server: LLMServer) -> None:
    def echo(seen: object) -> Reply:
        question = seen.prompt.partition("Question: ")[2].splitlines()[0]  # type: ignore[attr-defined]
        return Reply((f"About {question}", " [1]. ", f"Yes {question} [2]."), gap_s=0.02)

    llm_server.default = echo
    writer = a_writer(llm_server)

    async def one(question: str) -> str:
        return "".join([piece async for piece in writer.stream(question, EVIDENCE)])

    async def both() -> list[str]:
        return await asyncio.gather(*[one(f"q{n}") for n in range(6)])

    assert asyncio.run(both()) == [f"About q{n} [1]. Yes q{n} [2]." for n in range(6)]
