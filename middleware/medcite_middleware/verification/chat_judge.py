"""Judges claims by a chat model that sees the evidence alone; what it says counts as far as it can be proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from medcite_core.answers import Proof, Verdict, VerdictLabel
from medcite_core.ports import Case, CheckedReply, JudgeReply
from medcite_core.settings import LLMSettings, VerifySettings
from medcite_middleware.llm.structured import StructuredModel
from medcite_middleware.verification.chat_checks import (
    LEAST_SHARE,
    CheckedQuote,
    checked_quotes,
    computed,
    instructed_by,
    numbered_as_shown,
    share_of_words,
    why_not_borne_out,
)
from medcite_middleware.verification.chat_prompts import JUDGE_PROMPT, ShownCase, again, prompt_text, shown_case
from medcite_middleware.verification.chat_replies import Judgement, as_text, read_judgement, stance_of
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.proposed_formulas import Evaluate

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_RULES_TOKENS = 1000
"""Of the window, for the rules and for what is said when the model is asked again."""
_REASON_CHARS = 300
_EARLIER_CHARS = 2000


class ChatJudge:
    """Asks one chat model, once a claim. Holds nothing of a case; any number may be judged at a time."""

    def __init__(
        self, chat_model: BaseChatModel, llm: LLMSettings, verify: VerifySettings, evaluate: Evaluate | None = None
    ) -> None:
        """`evaluate` computes the formulas that the model proposes; without it they count for nothing."""
        self._model = StructuredModel(chat_model, llm)
        self._llm = llm
        self._verify = verify
        self._evaluate = evaluate

    @property
    def name(self) -> str:
        """`chat`."""
        return "chat"

    @property
    def model(self) -> str:
        """The model's name at its endpoint."""
        return self._llm.model or self._llm.provider

    @property
    def prompt_version(self) -> str:
        """The file of its rules."""
        return JUDGE_PROMPT

    async def ask(self, case: Case, earlier: JudgeReply | None = None, problems: Sequence[str] = ()) -> JudgeReply:
        """The model's reply; asked again when an `earlier` one had `problems`. Without evidence nobody is asked.

        Raises:
            ModelUnavailable: the model's server cannot be reached, or its reply is cut.
        """
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        shown = self._shown(case)
        if not shown.items:
            return JudgeReply("", 0)
        messages = [SystemMessage(prompt_text(JUDGE_PROMPT)), HumanMessage(shown.message)]
        if earlier is not None:
            messages += [AIMessage(earlier.text[:_EARLIER_CHARS] or "{}"), HumanMessage(again(problems))]
        reply = await self._model.ask(messages, Judgement, "judgement")
        return JudgeReply(as_text(reply.value) if reply.value is not None else reply.text, reply.calls)

    def check(self, case: Case, reply: JudgeReply) -> CheckedReply:
        """What the reply is worth. A label without words that bear it out is `unchecked`."""
        shown = self._shown(case)
        if not shown.items:
            return CheckedReply(
                self._verdict(case, shown, "unchecked", "source_unreadable", "There is no evidence to read.")
            )
        judgement, problem = read_judgement(reply.text)
        if judgement is None:
            told = "The chat model's reply could not be read."
            return CheckedReply(self._verdict(case, shown, "unchecked", "judge_failed", told), (problem,))
        quotes, problems = checked_quotes(judgement, shown, self._verify.quote_threshold)
        stance = stance_of(judgement.reasoning)
        if stance is not None and judgement.label != "conflicting" and stance != judgement.label:
            problems.append(f"Your explanation says {stance}, your verdict says {judgement.label}.")
            return self._unproved(case, shown, judgement, quotes, problems)
        instructed = instructed_by(shown)
        if instructed is not None:
            return self._instructed(case, shown, quotes, instructed)
        if judgement.label == "unsupported":
            told = "The evidence that was read does not say this."
            return CheckedReply(self._said(case, shown, judgement, "unsupported", "not_in_sources", told))
        return self._proved(case, shown, judgement, quotes, problems)

    # ------------------------------------------------------------ proofs

    def _proved(
        self, case: Case, shown: ShownCase, judgement: Judgement, quotes: list[CheckedQuote], problems: list[str]
    ) -> CheckedReply:
        claim = without_marks(case.claim.standalone)
        if judgement.label == "supported" and judgement.expression.strip() and self._evaluate is not None:
            proof = computed(claim, judgement, shown, self._verify.quote_threshold, self._evaluate)
            if not isinstance(proof, str):
                told = f"It follows from figures of the source: {proof.formula} = {proof.result:g}."
                return CheckedReply(self._said(case, shown, judgement, "supported", "computed", told, (proof,)))
            problems.append(proof)
        reasons = [why_not_borne_out(claim, quote.text) for quote in quotes]
        says = [quote for quote, reason in zip(quotes, reasons, strict=True) if not reason]
        denies = [quote for quote in quotes if _may_deny(claim, quote)]
        proofs: list[Proof] = []
        if judgement.label in ("supported", "conflicting"):
            proofs += [replace(quote.proof, shows="supports") for quote in says]
        if judgement.label in ("contradicted", "conflicting"):
            denying = [quote for quote in denies if judgement.label == "contradicted" or quote not in says]
            proofs += [replace(quote.proof, shows="contradicts") for quote in denying]
        needed = {"supported": 1, "contradicted": 1, "conflicting": 2}[judgement.label]
        if len({proof.shows for proof in proofs}) < needed:
            if not judgement.details:
                problems.append(f"You quoted nothing for the verdict {judgement.label}.")
            problems += _not_bearing(judgement, quotes, reasons)
            return self._unproved(case, shown, judgement, quotes, problems)
        reason = "sources_disagree" if judgement.label == "conflicting" else "paraphrase"
        told = {
            "supported": "The source says this in other words.",
            "contradicted": "The source says the opposite in other words.",
            "conflicting": "One passage says this, another the opposite.",
        }[judgement.label]
        # A quote that failed beside these is asked for again, and dropped if it fails for good.
        verdict = self._said(case, shown, judgement, judgement.label, reason, told, tuple(proofs))
        return CheckedReply(verdict, tuple(dict.fromkeys(problems)))

    def _unproved(
        self, case: Case, shown: ShownCase, judgement: Judgement, quotes: list[CheckedQuote], problems: list[str]
    ) -> CheckedReply:
        told = f"The chat model said {judgement.label}, but showed no words that prove it."
        proofs = tuple(quote.proof for quote in quotes)
        verdict = self._verdict(case, shown, "unchecked", "no_valid_proof", told, proofs)
        return CheckedReply(verdict, tuple(dict.fromkeys(problems)))

    def _instructed(self, case: Case, shown: ShownCase, quotes: list[CheckedQuote], number: int) -> CheckedReply:
        seen = shown.items[number - 1].evidence.number
        told = f"Source [{seen}] holds instructions to a program that reads it, so no chat model's verdict is taken."
        proofs = tuple(quote.proof for quote in quotes)
        verdict = self._verdict(case, shown, "unchecked", "instructions_in_source", told, proofs)
        return CheckedReply(replace(verdict, review=f"Source [{seen}] tries to instruct the checker."))

    # ------------------------------------------------------------ shaping

    def _shown(self, case: Case) -> ShownCase:
        budget = self._llm.context_tokens - self._model.first_limit - _RULES_TOKENS
        return shown_case(case, budget)

    def _said(
        self,
        case: Case,
        shown: ShownCase,
        judgement: Judgement,
        label: VerdictLabel,
        reason: str,
        told: str,
        proofs: tuple[Proof, ...] = (),
    ) -> Verdict:
        said = " ".join(numbered_as_shown(judgement.reasoning, shown).split())
        said = said if len(said) <= _REASON_CHARS else said[: _REASON_CHARS - 1] + "…"
        explanation = f"{told} The model's reason: {said}" if said else told
        verdict = self._verdict(case, shown, label, reason, explanation, proofs)
        return replace(verdict, confidence=judgement.confidence)

    def _verdict(
        self,
        case: Case,
        shown: ShownCase,
        label: VerdictLabel,
        reason: str,
        explanation: str,
        proofs: tuple[Proof, ...] = (),
    ) -> Verdict:
        left = f"; {shown.left_out} did not fit into its window." if shown.left_out else "."
        return Verdict(
            case.claim.id,
            label,
            reason,
            explanation,
            proofs,
            judge=self.name,
            model=self.model,
            prompt_version=JUDGE_PROMPT,
            thresholds=(("quote_threshold", self._verify.quote_threshold),),
            searched=f"The chat model read {len(shown.items)} pieces of evidence{left}",
        )


def _may_deny(claim: str, quote: CheckedQuote) -> bool:
    """Whether a quote can deny the claim: it speaks of the same things, and not in the claim's own words."""
    share = share_of_words(claim, quote.text)
    return bool(why_not_borne_out(claim, quote.text)) or share < 1 if share >= LEAST_SHARE else False


def _not_bearing(judgement: Judgement, quotes: Sequence[CheckedQuote], reasons: Sequence[str]) -> list[str]:
    if judgement.label == "contradicted":
        return ["The words you quoted do not deny the claim."] if quotes else []
    return [f"The words you quoted do not say what the claim says: {reason}" for reason in reasons if reason]
