"""Splits a text into claims by one call of a chat model; what it gives back counts only if nothing is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import structlog
from pydantic import BeforeValidator, Field, ValidationError

from medcite_core.answers import Claim, ClaimKind, Statement, StatementKind
from medcite_core.errors import ModelUnavailable
from medcite_core.settings import LLMSettings
from medcite_core.types import Span
from medcite_middleware.llm.structured import StructuredModel
from medcite_middleware.verification.chat_prompts import SPLIT_PROMPT, as_data, prompt_text
from medcite_middleware.verification.chat_replies import Strict
from medcite_middleware.verification.claims import SplitText, split_text
from medcite_middleware.verification.marks import cited_numbers, without_marks

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

log = structlog.get_logger(__name__)

_CLAIM_KINDS = frozenset(get_args(ClaimKind))
_WORD = re.compile(r"\w+")
_CHARS_PER_TOKEN = 3


def _kind(value: object) -> object:
    return re.sub(r"[\s-]+", "_", value).casefold() if isinstance(value, str) else value


class Part(Strict):
    """A piece of the text, as it stands there."""

    text: str = Field(max_length=4000)
    kind: Annotated[
        Literal[
            "factual",
            "numeric",
            "comparative",
            "absence",
            "citation",
            "question",
            "greeting",
            "heading",
            "opinion",
            "instruction",
        ],
        BeforeValidator(_kind),
    ]


class Parts(Strict):
    """The whole text, part by part."""

    parts: list[Part] = Field(max_length=400)


class ModelClaimSplitter:
    """Asks one chat model, once a text. Holds nothing of a text."""

    def __init__(self, chat_model: BaseChatModel, settings: LLMSettings) -> None:
        self._model = StructuredModel(chat_model, settings)
        self._settings = settings

    @property
    def prompt_version(self) -> str:
        """The file of its rules."""
        return SPLIT_PROMPT

    async def split(self, text: str, question: str = "") -> SplitText | None:
        """The claims and statements of `text`; None when the model failed or its parts are not the text's.

        Then the rules split it. It never raises for what the model does.
        """
        from langchain_core.messages import HumanMessage, SystemMessage

        if not text.strip() or len(text) > self._model.last_limit * _CHARS_PER_TOKEN:
            return None
        asked = f"<question>\n{as_data(question)}\n</question>\n" if question else ""
        message = f"{asked}<text>\n{as_data(text)}\n</text>"
        try:
            reply = await self._model.ask(
                [SystemMessage(prompt_text(SPLIT_PROMPT)), HumanMessage(message)], Parts, "parts"
            )
            parts = Parts.model_validate(reply.value)
        except (ModelUnavailable, ValidationError) as error:
            log.warning("split_failed", error=type(error).__name__)
            return None
        split = located(text, parts, split_text(text, question))
        if split is None:
            log.info("split_refused")
        return split


def located(text: str, parts: Parts, by_rules: SplitText) -> SplitText | None:
    """The parts at their places in `text`, in order; None if one does not stand there, or if something is lost.

    Nothing that `by_rules` takes for a claim may be left out or called a question or greeting, and no claim may begin
    or end inside a word, or reach over two sentences. A part that is a claim by the rules, whole, keeps their meaning
    (its pronouns are resolved) and kind of absence.
    """
    spans = _places(text, parts)
    if spans is None:
        return None
    claims: list[Claim] = []
    statements: list[Statement] = []
    for part, span in zip(parts.parts, spans, strict=True):
        sentence = _sentence_at(span, by_rules)
        if part.kind not in _CLAIM_KINDS:
            statements.append(Statement(span, span.of(text), cast("StatementKind", part.kind)))
        elif sentence is None:
            return None
        else:
            claims.append(_claim(text, span, cast("ClaimKind", part.kind), sentence, by_rules, len(claims) + 1))
    covered = [claim.span for claim in claims]
    if any(_uncovered(text, claim.span, covered) for claim in by_rules.claims):
        return None
    return SplitText(tuple(claims), tuple(statements))


def _places(text: str, parts: Parts) -> list[Span] | None:
    spans: list[Span] = []
    at = 0
    for part in parts.parts:
        words = part.text.strip()
        start = text.find(words, at) if words else -1
        while start >= 0 and _cuts_word(text, Span(start, start + len(words))):
            start = text.find(words, start + 1)
        if start < 0:
            return None
        at = start + len(words)
        spans.append(Span(start, at))
    return spans


def _cuts_word(text: str, span: Span) -> bool:
    before, after = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    return (before.isalnum() and text[span.start].isalnum()) or (after.isalnum() and text[span.end - 1].isalnum())


def _sentence_at(span: Span, by_rules: SplitText) -> Span | None:
    """The sentence of the rules that holds `span`."""
    held = (claim.sentence or claim.span for claim in by_rules.claims)
    others = (statement.span for statement in by_rules.statements)
    return next((s for s in (*held, *others) if s.start <= span.start and span.end <= s.end), None)


def _claim(text: str, span: Span, kind: ClaimKind, sentence: Span, by_rules: SplitText, number: int) -> Claim:
    words = span.of(text)
    cited = cited_numbers(sentence.of(text))
    same = next((claim for claim in by_rules.claims if _bare(claim.span, text) == _bare(span, text)), None)
    if same is not None:
        # Absence is judged by rules of its own, which only they may call.
        kind = same.kind if "absence" in (same.kind, kind) else kind
        return Claim(f"c{number}", span, words, cited, False, kind, same.sentence, same.meaning)
    if kind == "absence":
        kind = "factual"
    within = None if _bare(span, text) == _bare(sentence, text) else sentence
    # Part of a sentence that the rules would not have cut is judged as the sentence it belongs to.
    whole = next((c for c in by_rules.claims if c.span.start <= span.start and span.end <= c.span.end), None)
    meaning = (whole.meaning or without_marks(whole.text)) if whole is not None and within is not None else ""
    return Claim(f"c{number}", span, words, cited, False, kind, within, meaning)


def _bare(span: Span, text: str) -> tuple[int, int]:
    """Where the words of a span begin and end, without its citation marks and stops."""
    words = without_marks(span.of(text)).rstrip(" .;:,")
    return span.start, span.start + len(words)


def _uncovered(text: str, claim: Span, covered: list[Span]) -> bool:
    """Whether words of a claim stand in no part: more than one, as "and" between two, or one that bears a meaning."""
    bare = Span(*_bare(claim, text))
    lost = [
        match.group()
        for match in _WORD.finditer(text, bare.start, bare.end)
        if not any(span.start <= match.start() and match.end() <= span.end for span in covered)
        and match.group().casefold() not in _JOINTS
        and not re.fullmatch(r"\d+", match.group())
    ]
    figures = [
        match.group()
        for match in re.finditer(r"(?<!\[)\b\d+\b(?!\])", text[bare.start : bare.end])
        if not any(
            span.start <= bare.start + match.start() and bare.start + match.end() <= span.end for span in covered
        )
    ]
    return bool(lost or figures)


_JOINTS = frozenset("and but or while whereas also then".split())
