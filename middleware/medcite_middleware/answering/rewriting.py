"""Asks the chat model to make a follow-up whole, and takes its words only when they are that and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import structlog

from medcite_core.answers import Turn
from medcite_core.errors import MedciteError
from medcite_core.settings import LLMSettings
from medcite_core.stemming import stem_words
from medcite_middleware.answering.follow_up_words import (
    AUXILIARIES,
    CONVERSATION_STEMS,
    FUNCTION_STEMS,
    GENERIC_STEMS,
    INTERROGATIVES,
)
from medcite_middleware.answering.prompting import neutral
from medcite_middleware.answering.thoughts import LeakedThoughts, ThoughtFilter
from medcite_middleware.llm.streaming import ReplyEnding, stream_reply

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.prompts import ChatPromptTemplate

log = structlog.get_logger(__name__)
REWRITE_PROMPT_VERSION = "rewrite.v1"
"""Name of the prompt's file; a changed prompt is a new file."""
MAX_REWRITE_CHARS = 400
"""A reply is read no further: what is longer is no question made whole."""
LONGEST_WAIT_S = 8.0
"""Then the rules' wording is searched: a slow model must not hold up the answer."""
_MAX_READ_CHARS = 4000
_TURNS_SHOWN = 6
_CHARS_OF_A_TURN = 300
_QUESTION = re.compile(rf"\s*(?:(?:in|for|among|with|compared)\b[^?]*\b)?(?:{INTERROGATIVES}|{AUXILIARIES})\b", re.I)
_LABEL = re.compile(
    r"^\W*(?:(?:rewritten|standalone|full|new|last) )?(?:question|message|rewrite|rewritten)\s*:\s*", re.I
)


class QuestionRewriter:
    """Rewrites follow-ups with one chat model. Holds nothing of a question."""

    def __init__(self, chat_model: BaseChatModel, settings: LLMSettings) -> None:
        self._model = chat_model
        self._settings = settings.model_copy(update={"retries": 0})

    async def rewrite(self, question: str, history: Sequence[Turn]) -> str:
        """`question` made whole by the model; empty when it failed, was slow, or wrote something else.

        It never raises for what the model does, and costs at most `LONGEST_WAIT_S`.
        """
        try:
            async with asyncio.timeout(min(LONGEST_WAIT_S, self._settings.timeout_s)):
                reply = await self._ask(question, history)
        except (MedciteError, TimeoutError, LeakedThoughts) as error:
            log.warning("rewrite_failed", error=type(error).__name__)
            return ""
        rewritten = first_line(reply)
        if not is_faithful(rewritten, question, history):
            log.info("rewrite_refused")
            return ""
        return rewritten

    async def _ask(self, question: str, history: Sequence[Turn]) -> str:
        thoughts = ThoughtFilter()
        text, read = "", 0
        inputs = {"message": rewrite_message(question, history)}
        reply = stream_reply(_prompt(), self._model, inputs, self._settings, ReplyEnding())
        async with contextlib.aclosing(reply):
            async for piece in reply:
                read += len(piece)
                text += thoughts.feed(piece)
                if len(text) > MAX_REWRITE_CHARS or read > _MAX_READ_CHARS:
                    break
        return text + thoughts.close()


def rewrite_message(question: str, history: Sequence[Turn]) -> str:
    """The last turns, shortened, and the message to rewrite."""
    lines = [
        f"{'Reader' if turn.role == 'user' else 'Answer'}: {neutral(' '.join(turn.text.split())[:_CHARS_OF_A_TURN])}"
        for turn in history[-_TURNS_SHOWN:]
    ]
    return "\n".join(["Conversation:", *lines, "", f"Last message: {neutral(question)}", "", "The question in full:"])


def first_line(reply: str) -> str:
    """The question in a reply: its first line with words, without label, quotation marks or emphasis."""
    for line in reply.splitlines():
        bare = _LABEL.sub("", line.strip()).strip(" \t\"'“”‘’*_`")
        if any(char.isalnum() for char in bare):
            return bare
    return ""


def is_faithful(rewritten: str, question: str, history: Sequence[Turn]) -> bool:
    """Whether `rewritten` is `question` made whole, and no answer (FR-118).

    It is a question; it keeps the words of the follow-up; it adds some of what the reader said before; and all it
    says stands in the conversation.
    """
    if not rewritten or len(rewritten) > MAX_REWRITE_CHARS or not _QUESTION.match(rewritten):
        return False
    said, own = _stems(rewritten), _stems(question)
    before = frozenset[str]().union(*(_stems(turn.text) for turn in history if turn.role == "user"))
    known = own | before.union(*(_stems(turn.text) for turn in history))
    added = said - own
    return own <= said and bool(added & before) and added <= known | GENERIC_STEMS


@cache
def _rules() -> str:
    file = resources.files("medcite_middleware.answering") / "prompts" / f"{REWRITE_PROMPT_VERSION}.txt"
    return file.read_text(encoding="utf-8").strip()


def _prompt() -> ChatPromptTemplate:
    from langchain_core.messages import SystemMessage
    from langchain_core.prompts import ChatPromptTemplate

    return ChatPromptTemplate.from_messages([SystemMessage(_rules()), ("human", "{message}")])


def _stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(stem_words(text)) - FUNCTION_STEMS - CONVERSATION_STEMS
