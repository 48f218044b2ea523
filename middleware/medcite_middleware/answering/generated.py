"""An answer written by a chat model over numbered evidence, streamed as it comes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from medcite_core.answers import Turn
from medcite_core.errors import ModelReplyCut, ModelUnavailable
from medcite_core.settings import LLMSettings
from medcite_core.types import Evidence
from medcite_middleware.answering.identifiers import IdentifierFilter
from medcite_middleware.answering.prompting import (
    PROMPT_VERSION,
    BudgetedEvidence,
    answer_prompt,
    budget_evidence,
    prompt_inputs,
)
from medcite_middleware.answering.thoughts import LeakedThoughts, ThoughtFilter
from medcite_middleware.llm.streaming import ReplyEnding, check_ending, stream_reply

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class GeneratedAnswer:
    """Writes answers with one chat model; any number at the same time.

    It keeps nothing of a question. It does remember that the model's template opens its reasoning itself, once a reply
    has shown that.
    """

    prompt_version = PROMPT_VERSION

    def __init__(self, chat_model: BaseChatModel, settings: LLMSettings) -> None:
        self._model = chat_model
        self._settings = settings
        self._opens_in_thought = False

    def budget(self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn] = ()) -> BudgetedEvidence:
        """What of `evidence` and `history` the model will see.

        Raises:
            InvalidSettings: the model's window does not hold the rules, the question and one piece of evidence.
        """
        return budget_evidence(question, evidence, history, self._settings)

    def fit(self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn] = ()) -> tuple[Evidence, ...]:
        """The evidence that the model will see: the strongest pieces that its window holds.

        Raises:
            InvalidSettings: as `budget`.
        """
        return self.budget(question, evidence, history).used

    async def stream(
        self, question: str, evidence: Sequence[Evidence], history: Sequence[Turn] = ()
    ) -> AsyncGenerator[str, None]:
        """The answer's text in pieces, final as they come: without reasoning, unknown identifiers marked.

        The text keeps what the model wrote, line ends and unusual characters included. Close the iterator to stop: the
        model's HTTP stream is closed at once.

        Raises:
            ModelUnavailable: no answer came (`ModelRefused` where trying again does not help).
            ModelReplyCut: the answer broke off; what was passed on before is not a whole one.
        """
        budget = self.budget(question, evidence, history)
        ending = ReplyEnding()
        thoughts = ThoughtFilter(opens_in_thought=self._opens_in_thought)
        identifiers = IdentifierFilter(budget.used)
        has_text = False
        reply = stream_reply(answer_prompt(), self._model, prompt_inputs(question, budget), self._settings, ending)
        try:
            async with contextlib.aclosing(reply):
                async for piece in reply:
                    text = identifiers.feed(thoughts.feed(piece))
                    if text:
                        has_text = has_text or not text.isspace()
                        yield text
        except ModelReplyCut:
            # What came belongs to the reader, marked as incomplete by the error that follows.
            if rest := identifiers.feed(thoughts.close()) + identifiers.close():
                yield rest
            raise
        except LeakedThoughts:
            self._opens_in_thought = True
            raise ModelReplyCut(
                "what came was the model's private reasoning, and its end was marked too late to keep it back",
                "Ask again: from now on the reasoning of this model is held back.",
            ) from None
        rest = identifiers.feed(thoughts.close()) + identifiers.close()
        is_cut = thoughts.ended_in_thought
        if rest:
            has_text = has_text or not rest.isspace()
            yield rest
        if not has_text:
            self._raise_empty(thoughts, ending)
        if is_cut:
            raise ModelReplyCut("the model began to reason in the middle of its answer and never came back to it")
        check_ending(ending, self._model, self._settings)

    def _raise_empty(self, thoughts: ThoughtFilter, ending: ReplyEnding) -> None:
        if ending.finish_reason == "length":
            raise ModelReplyCut(
                f"the model spent all of its {self._settings.max_tokens} tokens on reasoning and wrote no answer",
                "Raise MEDCITE_LLM__MAX_TOKENS, or switch the model's reasoning off at its server.",
            )
        if thoughts.has_thoughts:
            raise ModelUnavailable("the model reasoned but wrote no answer", "Ask again, or use another model.")
        check_ending(ending, self._model, self._settings)
        raise ModelUnavailable("the model's reply is empty", "Ask again, or use another model.")
