"""What the chat model is given: the rules, as much evidence and history as its window holds, and the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from medcite_core.answers import Turn
from medcite_core.errors import InvalidSettings
from medcite_core.settings import LLMSettings
from medcite_core.types import Evidence

if TYPE_CHECKING:
    from langchain_core.prompts import ChatPromptTemplate

PROMPT_VERSION = "answer.v1"
"""Name of the prompt's file; a changed prompt is a new file."""
NO_ANSWER = "The passages do not hold the answer to this question."
"""What the model is told to reply when it cannot answer from the evidence."""
MAX_TURNS = 20

# Small models lose the rules over a long message; the last line is what they follow.
_REMINDER = (
    "Answer the question from the passages in a few plain sentences. "
    "After each sentence, give the number of its passage in square brackets."
)

_FENCE = "passage"
# Opening of our fence, or of a model's own control tokens (<|im_start|>, [INST], <<SYS>>, </s>), inside data.
_FENCE_LIKE = re.compile(
    rf"<(?=\s*/?\s*{_FENCE}\b)|<(?=[|｜])|<(?=<\s*/?\s*SYS)|(?<=<)<(?=SYS)|<(?=/?s>)|<(?=(?:start|end)_of_turn>)"
    r"|<(?=/?(?:bos|eos|unk|pad|think|thinking|thought|reasoning)>)",
    re.IGNORECASE,
)
_CONTROL_LIKE = re.compile(r"\[(?=/?(?:INST|SYSTEM)\b)", re.IGNORECASE)
_MESSAGE_TOKENS = 8
_RESERVE_TOKENS = 16
_TOKEN_PIECES = re.compile(r"[A-Za-z]+|[ \t]+|[^A-Za-z \t]")


@dataclass(frozen=True, slots=True)
class BudgetedEvidence:
    """What of the evidence and the history fits into the model's window.

    `used` is the beginning of the evidence found, so its numbers have no gaps; `found` is how many pieces there were.
    """

    used: tuple[Evidence, ...]
    found: int
    history: tuple[Turn, ...]
    prompt_tokens: int

    @property
    def dropped(self) -> int:
        """How many pieces of evidence, the weakest ones, the model does not see."""
        return self.found - len(self.used)


def budget_evidence(
    question: str, evidence: Sequence[Evidence], history: Sequence[Turn], settings: LLMSettings
) -> BudgetedEvidence:
    """Fit the prompt into `settings.context_tokens` less `settings.max_tokens` (FR-142).

    Rules and question always stay. Evidence goes before history: its last pieces are dropped first to fit, then the
    oldest turns of what room is left.

    Raises:
        InvalidSettings: not even the first piece of evidence fits.
    """
    room = settings.context_tokens - settings.max_tokens - _RESERVE_TOKENS
    room -= _message_cost(rules()) + _message_cost(user_message(question, ()))
    used: list[Evidence] = []
    for item in evidence:
        cost = count_tokens(fenced(item)) + 1
        if cost > room:
            break
        room -= cost
        used.append(item)
    if evidence and not used:
        raise InvalidSettings(
            f"a window of {settings.context_tokens} tokens, {settings.max_tokens} of them kept for the reply, "
            "does not hold the question and one passage",
            "Raise MEDCITE_LLM__CONTEXT_TOKENS to the model's real window, lower MEDCITE_LLM__MAX_TOKENS, "
            "or ask a shorter question.",
        )
    kept: list[Turn] = []
    for turn in reversed(history[-MAX_TURNS:]):
        cost = _message_cost(neutral(turn.text))
        if cost > room:
            break
        room -= cost
        kept.insert(0, turn)
    spent = settings.context_tokens - settings.max_tokens - _RESERVE_TOKENS - room
    return BudgetedEvidence(tuple(used), len(evidence), tuple(kept), spent)


def answer_prompt() -> ChatPromptTemplate:
    """System rules, earlier turns (`history`), and the user's message (`message`)."""
    from langchain_core.messages import SystemMessage
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

    # The rules are a message, not a template: braces in the file are then just braces.
    return ChatPromptTemplate.from_messages(
        [SystemMessage(rules()), MessagesPlaceholder("history"), ("human", "{message}")]
    )


def prompt_inputs(question: str, budget: BudgetedEvidence) -> dict[str, Any]:
    """The values that fill `answer_prompt`."""
    from langchain_core.messages import AIMessage, HumanMessage

    history = [
        HumanMessage(neutral(turn.text)) if turn.role == "user" else AIMessage(neutral(turn.text))
        for turn in budget.history
    ]
    return {"history": history, "message": user_message(question, budget.used)}


def user_message(question: str, evidence: Sequence[Evidence]) -> str:
    """The fenced evidence, then the question."""
    passages = "\n".join(fenced(item) for item in evidence)
    return f"Passages:\n{passages}\n\nQuestion: {neutral(question)}\n\n{_REMINDER}"


def fenced(item: Evidence) -> str:
    """One piece of evidence between its fences, with the words that tell a reader what it is."""
    record = item.record
    year = record.year if record.year is not None else "n.d."
    status = "" if record.is_usable_as_support else f"; status: {record.status.replace('_', ' ')}, not to be relied on"
    head = f"PMID {record.pmid}; {record.authors_short()}, {year}; title: {record.title}; part: {item.section}{status}"
    return f"<{_FENCE} {item.number}>\n{neutral(head)}\n{neutral(item.text)}\n</{_FENCE} {item.number}>"


def neutral(text: str) -> str:
    """`text` in which nothing reads as our fence or as a model's control token; comparisons such as p < 0.05 stay."""
    return _CONTROL_LIKE.sub("(", _FENCE_LIKE.sub("‹", text))


def says_no_answer(text: str) -> bool:
    """Whether a reply says that the evidence does not hold the answer, in the words the prompt asks for."""
    words = re.sub(r"\[[\d,; ]*\]|[^a-z ]", "", text.lower()).split()
    return words == re.sub(r"[^a-z ]", "", NO_ANSWER.lower()).split()


@cache
def rules() -> str:
    """The text of the prompt's file."""
    file = resources.files("medcite_middleware.answering") / "prompts" / f"{PROMPT_VERSION}.txt"
    return file.read_text(encoding="utf-8").replace("{no_answer}", NO_ANSWER).strip()


def count_tokens(text: str) -> int:
    """An upper estimate of the tokens of `text`, without any model's vocabulary.

    Four letters of a word are taken as one token, a digit or sign as one, a character beyond ASCII as its bytes.
    """
    total = 0
    for piece in _TOKEN_PIECES.findall(text):
        if piece[0] in " \t":
            total += len(piece) - 1
        elif piece.isascii():
            total += (len(piece) + 3) // 4 if piece.isalpha() else 1
        else:
            total += len(piece.encode("utf-8", "surrogatepass"))
    return total


def _message_cost(text: str) -> int:
    return count_tokens(text) + _MESSAGE_TOKENS
