"""What a chat model may answer when it judges a claim, and how its words for verdicts are read."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from medcite_core.answers import VerdictLabel
from medcite_middleware.llm.json_salvage import find_object

_SYNONYMS: dict[VerdictLabel, tuple[str, ...]] = {
    "supported": ("supported", "supports", "support", "true", "confirmed", "entailed", "entailment"),
    "contradicted": (
        "contradicted",
        "contradicts",
        "contradict",
        "contradiction",
        "refuted",
        "refutes",
        "refute",
        "false",
    ),
    "unsupported": (
        "unsupported",
        "not supported",
        "not mentioned",
        "not enough information",
        "not enough info",
        "nei",
        "no evidence",
        "neutral",
        "unverifiable",
    ),
    "conflicting": ("conflicting", "conflicting evidence", "sources conflict"),
}
LABELS: dict[str, VerdictLabel] = {word: label for label, words in _SYNONYMS.items() for word in words}
"""Every word for a verdict that is understood. Anything else ("Mostly true") is no verdict."""


def _label(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("a verdict is a word")
    known = LABELS.get(re.sub(r"[\s_-]+", " ", value).strip(" .").casefold())
    if known is None:
        raise ValueError(f"{value[:40]!r} is no verdict")
    return known


def _share(value: object) -> object:
    """A confidence of another scale (87) is none."""
    is_share = (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1
    )
    return value if is_share else None


class Strict(BaseModel):
    """No key but those named."""

    model_config = ConfigDict(extra="forbid")


class Detail(Strict):
    """Words of the evidence that decide."""

    evidence_number: int
    matching_text: str = Field(max_length=4000)
    document_name: str = Field("", max_length=1000)


class ProposedOperand(Strict):
    """A figure of the evidence, for the expression."""

    name: str = Field(max_length=40)
    value: float = Field(allow_inf_nan=False)
    evidence_number: int
    matching_text: str = Field(max_length=4000)


class Judgement(Strict):
    """A reply in full; the order of the fields is the order in which the model thinks."""

    reasoning: str = Field(max_length=20_000)
    details: list[Detail] = Field(max_length=40)
    expression: str = Field("", max_length=300)
    operands: list[ProposedOperand] = Field(default=[], max_length=20)
    confidence: Annotated[float | None, BeforeValidator(_share)] = None
    verdict: Annotated[str, BeforeValidator(_label)]

    @property
    def label(self) -> VerdictLabel:
        """The verdict by its name in contracts."""
        return cast("VerdictLabel", self.verdict)


def read_judgement(reply: str) -> tuple[Judgement | None, str]:
    """The judgement in a reply; or None and, in a sentence, what is wrong with it."""
    found = find_object(reply)
    if found is None:
        return None, "Your reply was not one JSON object."
    try:
        return Judgement.model_validate(found), ""
    except ValidationError as error:
        return None, _what_is_wrong(error.errors()[0])


def as_text(value: dict[str, Any]) -> str:
    """An object as a reply's text."""
    return json.dumps(value, ensure_ascii=False)


def _what_is_wrong(first: Any) -> str:
    place = ".".join(str(part) for part in first["loc"])
    if place == "verdict":
        return "Your verdict was none of: supported, contradicted, conflicting, unsupported."
    said = {"missing": "is missing", "extra_forbidden": "is not asked for"}.get(first["type"], "is not as asked for")
    return f"In your JSON object the key {place!r} {said}."


_CLAIM = r"(?:the|this) (?:claim|statement)"
_STANCES: tuple[tuple[VerdictLabel, re.Pattern[str]], ...] = (
    (
        "unsupported",
        re.compile(
            rf"\b(?:{_CLAIM} (?:is|was) (?:not|never|n't) (?:\w+ )?(?:supported|confirmed|stated|mentioned|backed)"
            rf"|{_CLAIM} is unsupported|(?:not|n't|cannot|neither|no evidence (?:to|that)) (?:\w+ )?"
            rf"(?:support|confirm|state|mention)\w* {_CLAIM}|says? nothing (?:about|of)|overstates?)\b",
            re.I,
        ),
    ),
    (
        "contradicted",
        re.compile(
            rf"(?<!not )(?<!n't )\b(?:(?:contradicts?|refutes?|disproves?) {_CLAIM}"
            rf"|{_CLAIM} (?:is|was) (?:\w+ )?"
            rf"(?:contradicted|refuted|false|wrong|incorrect|untrue|not (?:true|correct)))\b",
            re.I,
        ),
    ),
    (
        "supported",
        re.compile(
            rf"(?<!not )(?<!n't )(?<!cannot )\b(?:(?:supports?|confirms?|backs?) {_CLAIM}"
            rf"|{_CLAIM} (?:is|was) (?:fully |directly |clearly )?(?:supported|confirmed|true|correct))\b",
            re.I,
        ),
    ),
)


def stance_of(reasoning: str) -> VerdictLabel | None:
    """What an explanation itself says of the claim, by its last words about it; None when it does not say so."""
    said = [(match.end(), label) for label, pattern in _STANCES for match in pattern.finditer(reasoning)]
    return max(said)[1] if said else None
