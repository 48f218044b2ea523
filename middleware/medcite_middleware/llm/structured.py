"""Asks a chat model for a JSON object: by schema, by a tool call, or by the prompt alone, whichever its server can."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

import structlog
from pydantic import BaseModel

from medcite_core.errors import ModelReplyCut
from medcite_core.settings import LLMSettings
from medcite_middleware.llm.failures import explain_failure, is_worth_retrying, retry_after_s, status_of
from medcite_middleware.llm.json_salvage import find_object, without_thoughts
from medcite_middleware.llm.schemas import reduced_schema
from medcite_middleware.llm.streaming import ReplyEnding, check_ending

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk, BaseMessage

log = structlog.get_logger(__name__)

Method = Literal["json_schema", "tool", "prompt"]
METHODS: tuple[Method, ...] = ("json_schema", "tool", "prompt")
MAX_BLANKS = 200
"""White space at the end of what has come: more is a loop that would run to the token limit (FR-153)."""
MAX_CALLS = 8
"""Requests for one object, all methods and attempts together."""
_MAX_CHARS_PER_TOKEN = 16
_LONGEST_PAUSE_S = 10.0
# Statuses by which servers say that they do not know a method; keys, names and limits have others.
_REFUSING_STATUSES = frozenset({400, 415, 422, 500, 501})

_known_methods: dict[tuple[str, str, str], Method] = {}
"""By provider, address and model: the method to begin with, learnt from a refusal. For the life of the process."""


@dataclass(frozen=True, slots=True)
class StructuredReply:
    """What came: `value` is the object, None when the reply held none; `text` is what the model wrote, without its
    reasoning. `calls` counts the requests; `method` is the one that brought it."""

    value: dict[str, Any] | None
    text: str
    calls: int
    method: Method


@dataclass
class _Attempt:
    """One reply, as far as it was read."""

    text: str = ""
    ending: ReplyEnding = field(default_factory=ReplyEnding)
    is_looping: bool = False
    is_cut: bool = False
    calls: int = 0


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked for, and how."""

    shape: type[BaseModel]
    name: str
    method: Method


class _Failed(Exception):
    """What a client library raised, after how many requests and how much of a reply."""

    def __init__(self, error: Exception, calls: int, chars: int) -> None:
        super().__init__(str(error))
        self.error, self.calls, self.chars = error, calls, chars


class StructuredModel:
    """A chat model that is asked for objects. Holds nothing of a question; any number may be asked at a time."""

    def __init__(self, chat_model: BaseChatModel, settings: LLMSettings) -> None:
        self._model = chat_model
        self._settings = settings
        self._key = (settings.provider, settings.base_url, settings.model)

    @property
    def settings(self) -> LLMSettings:
        """The settings it was made with."""
        return self._settings

    @property
    def first_limit(self) -> int:
        """Tokens of a reply at the first attempt, at most."""
        return min(self._settings.max_tokens, self.last_limit)

    @property
    def last_limit(self) -> int:
        """Tokens of a reply that was cut and asked for again, at most: half of the window is for what is sent."""
        return max(16, min(self._settings.structured_max_tokens, self._settings.context_tokens // 2))

    async def ask(self, messages: Sequence[BaseMessage], shape: type[BaseModel], name: str) -> StructuredReply:
        """The object that the model answers with. It is not checked against `shape`: the caller does that.

        A server that refuses a method is asked by the next one, and so it is from then on. A reply cut at its limit is
        asked for again with twice the limit; one that loops on white space is stopped, asked for once more, then by
        the next method; so is one that holds no object.

        Raises:
            ModelUnavailable, ModelRefused: the server cannot be reached, or takes no method.
            ModelReplyCut: the reply is still cut at the last limit, or broke off.
        """
        calls, was_refused = 0, False
        method = self._first_method()
        while True:
            following = self._after(method)
            try:
                attempt = await self._whole(messages, _Request(shape, name, method), MAX_CALLS - calls)
            except _Failed as failed:
                calls += failed.calls
                salvaged = _failed_generation(failed.error)
                if salvaged is not None:
                    return StructuredReply(salvaged, json.dumps(salvaged), calls, method)
                if following is None or status_of(failed.error) not in _REFUSING_STATUSES or calls >= MAX_CALLS:
                    raise explain_failure(failed.error, self._settings, chars_so_far=failed.chars) from failed.error
                log.info("structured_output_refused", method=method, status=status_of(failed.error))
                method, was_refused = following, True
                continue
            calls += attempt.calls
            value = None if attempt.is_looping else find_object(attempt.text)
            if value is not None or following is None or calls >= MAX_CALLS:
                if was_refused:
                    _known_methods[self._key] = method
                return StructuredReply(value, without_thoughts(attempt.text).strip(), calls, method)
            method = following

    def _first_method(self) -> Method:
        chosen = self._settings.structured_output
        return _known_methods.get(self._key, METHODS[0]) if chosen == "auto" else chosen

    def _after(self, method: Method) -> Method | None:
        if self._settings.structured_output != "auto" or method == METHODS[-1]:
            return None
        return METHODS[METHODS.index(method) + 1]

    async def _whole(self, messages: Sequence[BaseMessage], request: _Request, calls_left: int) -> _Attempt:
        """A reply that came to its end, or that loops; asked for again while it is cut or loops."""
        limit, calls, has_looped = self.first_limit, 0, False
        while True:
            attempt = await self._once(messages, request, limit, calls)
            calls = attempt.calls
            if attempt.is_looping:
                if has_looped or calls >= calls_left:
                    return attempt
                has_looped = True
            elif attempt.is_cut:
                if limit >= self.last_limit or calls >= calls_left:
                    raise _cut(attempt, limit)
                limit = min(2 * limit, self.last_limit)
            else:
                return attempt

    async def _once(self, messages: Sequence[BaseMessage], request: _Request, limit: int, calls: int) -> _Attempt:
        """One reply; requests that failed before its first piece are repeated as often as the settings allow."""
        for retry in range(self._settings.retries + 1):
            calls += 1
            attempt = _Attempt(calls=calls)
            try:
                await self._read(messages, request, limit, attempt)
            # The boundary to three client libraries with an error tree each; what they raise is told apart above.
            except Exception as error:
                if attempt.text or retry == self._settings.retries or not is_worth_retrying(error):
                    raise _Failed(error, calls, len(attempt.text)) from error
                pause_s = min(_LONGEST_PAUSE_S, max(0.5 * 2**retry, retry_after_s(error)))
                log.warning("model_retry", attempt=retry + 1, status=status_of(error), pause_s=pause_s)
            else:
                if not attempt.is_cut and not attempt.is_looping:
                    check_ending(attempt.ending, self._model, self._settings)
                return attempt
            await asyncio.sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    async def _read(self, messages: Sequence[BaseMessage], request: _Request, limit: int, attempt: _Attempt) -> None:
        model = self._model.bind(**self._options(request, limit))
        # LangChain declares an iterator; it is a generator.
        stream = cast("AsyncGenerator[AIMessageChunk, None]", model.astream(list(messages)))
        async with contextlib.aclosing(stream):
            while True:
                async with asyncio.timeout(self._settings.timeout_s):
                    chunk = await anext(stream, None)
                if chunk is None:
                    break
                attempt.text += _text_of(chunk)
                if reason := chunk.response_metadata.get("finish_reason"):
                    attempt.ending.finish_reason = str(reason)
                blanks = len(attempt.text) - len(attempt.text.rstrip())
                if blanks > MAX_BLANKS:
                    attempt.is_looping = True
                    return
                if len(attempt.text) > limit * _MAX_CHARS_PER_TOKEN:  # a server that knows no limit
                    attempt.is_cut = True
                    return
        attempt.is_cut = attempt.ending.finish_reason in ("length", "max_tokens", "model_length")

    def _options(self, request: _Request, limit: int) -> dict[str, Any]:
        """What is bound to the model: the limit, and the schema by the chosen method."""
        options: dict[str, Any] = {}
        if request.method == "json_schema":
            schema = {"name": request.name, "strict": True, "schema": reduced_schema(request.shape)}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.method == "tool":
            function = {"name": request.name, "description": "Hand over the result."}
            options["tools"] = [
                {"type": "function", "function": {**function, "parameters": reduced_schema(request.shape)}}
            ]
            options["tool_choice"] = {"type": "function", "function": {"name": request.name}}
        if self._model._llm_type != "openai-chat":
            return {**options, "max_tokens": limit}
        is_openai = (urlsplit(self._settings.base_url).hostname or "").endswith("openai.com")
        named = "max_completion_tokens" if is_openai else "max_tokens"
        # As plain fields of the request: with `response_format` of its own LangChain parses the reply, and raises for
        # a cut one before we can look at it.
        return {"extra_body": {**options, named: limit}}


def _text_of(chunk: AIMessageChunk) -> str:
    """What a piece adds: to the reply, or to the arguments of a tool call."""
    words = chunk.content if isinstance(chunk.content, str) else ""
    return words + "".join(call.get("args") or "" for call in chunk.tool_call_chunks)


def _failed_generation(error: Exception) -> dict[str, Any] | None:
    """The object in what Groq calls `failed_generation`: a tool call that it would not take, whole (FR-149)."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    text = inner.get("failed_generation") if isinstance(inner, dict) else None
    return find_object(text) if isinstance(text, str) else None


def _cut(attempt: _Attempt, limit: int) -> ModelReplyCut:
    if not without_thoughts(attempt.text).strip():
        return ModelReplyCut(
            f"the model spent its {limit} tokens on reasoning and wrote no answer",
            "Switch its reasoning off, give it a smaller budget for it, or raise MEDCITE_LLM__STRUCTURED_MAX_TOKENS.",
        )
    return ModelReplyCut(
        f"the model reached its limit of {limit} tokens before its answer was whole",
        "Raise MEDCITE_LLM__STRUCTURED_MAX_TOKENS, and MEDCITE_LLM__CONTEXT_TOKENS with it.",
    )
