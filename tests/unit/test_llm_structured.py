"""Objects asked of a chat model: by schema, tool call or prompt, and whatever servers do with it (FR-146 to FR-158)."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field
from support.llm_server import LLMServer, Reply, SeenRequest

from medcite_core.errors import ModelRefused, ModelReplyCut
from medcite_core.settings import LLMSettings
from medcite_middleware.llm.chat_model import build_chat_model
from medcite_middleware.llm.json_salvage import find_object, without_thoughts
from medcite_middleware.llm.schemas import reduced_schema
from medcite_middleware.llm.structured import StructuredModel, StructuredReply

GOLDEN = Path(__file__).parents[1] / "golden" / "verification"
SUPPORTED = '{"verdict": "supported"}'


class Quote(BaseModel):
    text: str = Field(pattern=r"\S", max_length=900)


class Shape(BaseModel):
    verdict: str = Field(min_length=1)
    quotes: list[Quote] = Field(default=[], min_length=0, max_length=8)
    confidence: float | None = Field(None, ge=0, le=1)


def ask(server: LLMServer, **values: Any) -> StructuredReply:
    given = {"provider": "openai", "model": "stub-model", "base_url": server.base_url, "retries": 0, **values}
    settings = LLMSettings.model_validate(given)
    model = build_chat_model(settings)
    assert model is not None
    return asyncio.run(StructuredModel(model, settings).ask([HumanMessage("Judge.")], Shape, "judgement"))


def method_of(seen: SeenRequest) -> str:
    if "response_format" in seen.body:
        return "json_schema"
    return "tool" if "tools" in seen.body else "prompt"


def test_a_schema_is_sent_in_the_form_that_every_server_takes() -> None:
    text = json.dumps(reduced_schema(Shape))
    assert not any(
        word in text for word in ("minItems", "maxItems", "pattern", "minimum", "maxLength", "$ref", "anyOf")
    )
    assert reduced_schema(Shape)["required"] == ["verdict", "quotes", "confidence"]
    assert reduced_schema(Shape)["properties"]["quotes"]["items"]["properties"]["text"] == {"type": "string"}


def test_fr_146_a_server_that_refuses_schemas_with_limits_gets_none(llm_server: LLMServer) -> None:
    error = (GOLDEN / "FR-146-error.json").read_text()

    def strict(seen: SeenRequest) -> Reply:
        sent = json.dumps(seen.body)
        refused = any(f'"{word}"' in sent for word in ("minItems", "maxItems", "pattern", "format", "minimum"))
        return Reply(status=400, body=error) if refused else Reply(pieces=(SUPPORTED,))

    llm_server.default = strict
    assert ask(llm_server) == StructuredReply({"verdict": "supported"}, SUPPORTED, 1, "json_schema")


def test_a_server_that_knows_no_schemas_is_asked_by_the_next_method_and_so_from_then_on(llm_server: LLMServer) -> None:
    def old(seen: SeenRequest) -> Reply:
        return Reply(pieces=(SUPPORTED,)) if method_of(seen) == "prompt" else Reply(status=400)

    llm_server.default = old
    assert ask(llm_server).calls == 3
    assert ask(llm_server).calls == 1
    assert [method_of(seen) for seen in llm_server.chats] == ["json_schema", "tool", "prompt", "prompt"]


def test_a_method_that_was_chosen_is_kept_to(llm_server: LLMServer) -> None:
    llm_server.default = Reply(status=400)
    with pytest.raises(ModelRefused):
        ask(llm_server, structured_output="tool")
    assert [method_of(seen) for seen in llm_server.chats] == ["tool"]


def test_a_wrong_key_is_no_reason_to_ask_three_times(llm_server: LLMServer) -> None:
    llm_server.default = Reply(status=401)
    with pytest.raises(ModelRefused, match="key"):
        ask(llm_server)
    assert len(llm_server.chats) == 1


def test_the_arguments_of_a_tool_call_are_the_object(llm_server: LLMServer) -> None:
    llm_server.default = Reply(tool_arguments=('{"verdict": "supp', 'orted"}'), finish_reason="tool_calls")
    assert ask(llm_server, structured_output="tool").value == {"verdict": "supported"}


def test_fr_149_a_tool_call_that_the_server_would_not_take_is_read_all_the_same(llm_server: LLMServer) -> None:
    llm_server.default = Reply(status=400, body=(GOLDEN / "FR-149-error.json").read_text())
    assert ask(llm_server, structured_output="tool").value == {"verdict": "supported"}


def test_fr_150_an_object_between_remarks_is_found(llm_server: LLMServer) -> None:
    llm_server.default = Reply(pieces=((GOLDEN / "FR-150-reply.txt").read_text(),))
    assert ask(llm_server).value == {"verdict": "refuted", "quote": "no effect"}


def test_fr_150_a_reply_without_an_object_has_none(llm_server: LLMServer) -> None:
    llm_server.default = Reply(pieces=("Sure! It is supported.",))
    reply = ask(llm_server)
    assert (reply.value, reply.text, reply.calls) == (None, "Sure! It is supported.", 3)


def test_fr_152_a_reply_cut_at_its_limit_is_asked_for_with_twice_the_room(llm_server: LLMServer) -> None:
    half = json.loads((GOLDEN / "FR-152-reply.json").read_text())["choices"][0]["message"]["content"]
    llm_server.script(Reply(pieces=(half,), finish_reason="length"))
    llm_server.default = Reply(pieces=(SUPPORTED,))
    assert ask(llm_server, max_tokens=500).calls == 2
    assert [seen.body["max_tokens"] for seen in llm_server.chats] == [500, 1000]


def test_fr_152_a_reply_that_is_always_cut_is_reported_and_no_half_is_used(llm_server: LLMServer) -> None:
    llm_server.default = Reply(pieces=('{"verdict": "supported"} {"verdict": "contra',), finish_reason="length")
    with pytest.raises(ModelReplyCut, match="2000 tokens"):
        ask(llm_server, max_tokens=500)
    assert [seen.body["max_tokens"] for seen in llm_server.chats] == [500, 1000, 2000]


def test_fr_153_a_loop_on_white_space_is_stopped_asked_once_more_and_then_otherwise(llm_server: LLMServer) -> None:
    loop = (GOLDEN / "FR-153-reply.txt").read_text()

    def looping(seen: SeenRequest) -> Reply:
        if method_of(seen) != "json_schema":
            return Reply(pieces=(SUPPORTED,))
        return Reply(pieces=(loop[:11], *loop[11:]), gap_s=0.005)

    llm_server.default = looping
    begun = time.monotonic()
    assert ask(llm_server).value == {"verdict": "supported"}
    assert time.monotonic() - begun < 15  # unstopped, one loop alone takes 20 s
    assert [method_of(seen) for seen in llm_server.chats] == ["json_schema", "json_schema", "tool"]


def test_fr_154_reasoning_before_the_object_changes_nothing() -> None:
    text = (GOLDEN / "FR-154-replies.txt").read_text()
    replies = [text.splitlines()[0], "\n".join(text.splitlines()[1:3]), text.splitlines()[3]]
    assert [find_object(reply) for reply in replies] == [{"verdict": "supported"}] * 3


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('<think>{"verdict": "supported"}</think>{"verdict": "contradicted"}', {"verdict": "contradicted"}),
        ('{"verdict": "supported"} No, wait. {"verdict": "unsupported"}', {"verdict": "unsupported"}),
        ('draft {"a": 1} </think> {"a": 2}', {"a": 2}),
        ('<think>still at it {"a": 1}', None),
        ('{"a": "</think>{b}"}', {"a": "</think>{b}"}),
        ('{"a": "one } brace"} and {"b": ', {"a": "one } brace"}),
        ('[{"verdict": "supported"}]', None),
        ('Here: [{"verdict": "supported"}]', None),
        ('{"verdict": "supported", "verdict": "contradicted"}', None),
        ('{"confidence": NaN}', None),
        ('See [1]. {"a": "two\nlines"}', {"a": "two\nlines"}),
        ("{" * 5000, None),
        ("null", None),
        ("", None),
    ],
)
def test_the_last_whole_object_wins_and_drafts_do_not_count(reply: str, found: dict[str, Any] | None) -> None:
    assert find_object(reply) == found


def test_fr_157_reasoning_that_eats_all_tokens_is_named(llm_server: LLMServer) -> None:
    thoughts = json.loads((GOLDEN / "FR-157-reply.json").read_text())["choices"][0]["message"]["content"]
    llm_server.script(Reply(reasoning=("Step 1",), finish_reason="length"))
    llm_server.default = Reply(pieces=(thoughts,), finish_reason="length")
    with pytest.raises(ModelReplyCut, match="reasoning") as caught:
        ask(llm_server, max_tokens=1000)
    assert "reasoning" in caught.value.hint
    assert [seen.body["max_tokens"] for seen in llm_server.chats] == [1000, 2000]


def test_fr_158_reasoning_whose_opening_tag_the_template_wrote_is_not_text() -> None:
    reply = (GOLDEN / "FR-158-reply.txt").read_text()
    assert without_thoughts(reply).strip() == "The answer is 5 mg [1]."


def test_a_reply_that_breaks_off_is_no_reply(llm_server: LLMServer) -> None:
    for cut in ("reset", "clean"):
        llm_server.default = Reply(pieces=(SUPPORTED,), cut=cut)  # type: ignore[arg-type]
        with pytest.raises(ModelReplyCut):
            ask(llm_server)
