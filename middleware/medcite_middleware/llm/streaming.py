"""Streams a chat model's reply: bounded waits, retries before the first piece only, and a known ending."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Any, cast

import structlog

from medcite_core.errors import MedciteError, ModelReplyCut
from medcite_core.settings import LLMSettings
from medcite_middleware.llm.failures import explain_failure, is_worth_retrying, retry_after_s, status_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.prompt_values import PromptValue
    from langchain_core.prompts import ChatPromptTemplate

_log = structlog.get_logger(__name__)
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0
# What the models medcite builds report at the end of every whole reply; others, such as LangChain's fakes, may not.
_REPORTING_MODELS = ("openai-chat", "huggingface-chat-wrapper")
_COMPLETE = ("stop", "eos_token", "stop_sequence", "end_turn")


class ReplyEnding:
    """How a reply ended, known once its stream is over: the server's finish reason, empty when it gave none."""

    def __init__(self) -> None:
        self.finish_reason = ""


async def stream_reply(
    prompt: ChatPromptTemplate,
    model: BaseChatModel,
    inputs: dict[str, Any],
    settings: LLMSettings,
    ending: ReplyEnding,
) -> AsyncGenerator[str, None]:
    """The pieces of the reply to `prompt` filled with `inputs`, as they come. Empty pieces are left out.

    Closing the iterator, or cancelling the task that reads it, closes the HTTP stream. The caller looks at `ending`
    when the stream is over; `check_ending` turns a reply that was cut short into an error.

    Raises:
        ModelUnavailable, ModelRefused: before the first piece, after `settings.retries` more attempts where another
            attempt makes sense.
        ModelReplyCut: the reply broke off, or nothing came for `settings.timeout_s`.
    """
    chars = 0
    for attempt in range(settings.retries + 1):
        pieces = _pieces(prompt, model, inputs, ending)
        try:
            async with contextlib.aclosing(pieces):
                while True:
                    async with asyncio.timeout(settings.timeout_s):
                        piece = await anext(pieces, None)
                    if piece is None:
                        return
                    chars += len(piece)
                    yield piece
        except MedciteError:
            raise
        # The boundary to three client libraries with an error tree each; what they raise is told apart inside.
        except Exception as error:
            if chars or attempt == settings.retries or not is_worth_retrying(error):
                raise explain_failure(error, settings, chars_so_far=chars) from error
            pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S * 2**attempt, retry_after_s(error)))
            _log.warning("model_retry", attempt=attempt + 1, status=status_of(error), pause_s=pause_s)
        await asyncio.sleep(pause_s)


def check_ending(ending: ReplyEnding, model: BaseChatModel, settings: LLMSettings) -> None:
    """Raise `ModelReplyCut` unless the reply came to its own end."""
    reason = ending.finish_reason
    if reason in _COMPLETE:
        return
    if reason in ("length", "max_tokens", "model_length"):
        raise ModelReplyCut(f"the model reached its limit of {settings.max_tokens} tokens before it was done")
    if reason == "content_filter":
        raise ModelReplyCut(
            "the provider's content filter stopped the reply", "Word the question differently, or use another model."
        )
    if not reason and model._llm_type in _REPORTING_MODELS:
        raise ModelReplyCut(
            "the model's reply ended without saying that it was complete",
            "A proxy or the server may have closed the connection. Ask again.",
        )


async def _pieces(
    prompt: ChatPromptTemplate, model: BaseChatModel, inputs: dict[str, Any], ending: ReplyEnding
) -> AsyncGenerator[str, None]:
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.runnables import RunnableGenerator

    replies: list[AsyncGenerator[AIMessage, None]] = []

    async def call_model(prompts: AsyncIterator[PromptValue]) -> AsyncIterator[AIMessage]:
        async for value in prompts:
            reply = cast("AsyncGenerator[AIMessage, None]", model.astream(value))
            replies.append(reply)
            async for chunk in reply:
                if reason := chunk.response_metadata.get("finish_reason"):
                    ending.finish_reason = str(reason)
                yield chunk

    calling: RunnableGenerator[PromptValue, AIMessage] = RunnableGenerator(call_model)
    chain = prompt | calling | StrOutputParser()
    try:
        # LangChain declares an iterator; it is a generator.
        async with contextlib.aclosing(cast("AsyncGenerator[str, None]", chain.astream(inputs))) as stream:
            async for piece in stream:
                if piece:
                    yield piece
    finally:
        # A chain that is cancelled just when a piece arrives leaves the model's own stream, and with it the
        # connection, open: LangChain's copies of the stream keep it. So it is closed here by name.
        for reply in replies:
            await reply.aclose()
