"""What of a chat model's reply can be proved: quotes that stand in the evidence, figures that can be recomputed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from medcite_core.answers import ComputationProof, Operand, QuoteProof
from medcite_core.stemming import stem_words
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.chat_prompts import ShownCase, speaks_to_a_model
from medcite_middleware.verification.chat_replies import Judgement
from medcite_middleware.verification.proposed_formulas import Evaluate, why_idle, why_other_kind, why_unfit
from medcite_middleware.verification.quotes import align_quote, meaning_differs
from medcite_middleware.verification.sources import quote_proof, source_sentences, states

LEAST_SHARE = 0.4
"""Share of the claim's words that the quoted sentences must hold: a quote about something else proves nothing."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")
_WORD_LEAST = 4
_BOUND = re.compile(r"\b(?:more|less|fewer|greater|higher|lower) than (?=\W?\d)|\bmore or less\b", re.IGNORECASE)
_DIRECTIONS = {
    "up": re.compile(
        r"\b(?:increas\w+|rise\w*|rose|rising|rais\w+|higher|greater|more|elevat\w+|doubl\w+|tripl\w+|grew|grow\w*|"
        r"gain\w*|longer|larger|enhanc\w+|exceed\w*|prolong\w*|worse\w*)\b",
        re.IGNORECASE,
    ),
    "down": re.compile(
        r"\b(?:decreas\w+|reduc\w+|lower\w*|fall\w*|fell|less|fewer|declin\w+|drop\w*|halv\w+|diminish\w*|shrink\w*|"
        r"shrank|shorter|shorten\w*|smaller|attenuat\w+|lessen\w*)\b",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class CheckedQuote:
    """A quote that stands in the evidence, widened to whole sentences of its source."""

    proof: QuoteProof
    evidence: Evidence

    @property
    def text(self) -> str:
        """The sentences, in the source's own characters."""
        return self.proof.text


def checked_quotes(judgement: Judgement, shown: ShownCase, threshold: float) -> tuple[list[CheckedQuote], list[str]]:
    """The quotes of a reply that stand in the evidence, and a sentence for each that does not."""
    quotes: list[CheckedQuote] = []
    problems: list[str] = []
    for detail in judgement.details:
        found = find_in_evidence(detail.matching_text, detail.evidence_number, shown, threshold)
        if isinstance(found, str):
            problems.append(found)
        elif all(found.proof.span != q.proof.span or found.evidence is not q.evidence for q in quotes):
            quotes.append(found)
    return quotes, problems


def find_in_evidence(words: str, number: int, shown: ShownCase, threshold: float) -> CheckedQuote | str:
    """Where quoted words stand in the evidence of that number, exactly as it was sent; or what is wrong with them."""
    item = next((item for item in shown.items if item.number == number), None)
    if item is None:
        return f"There is no evidence {number}; the evidence is numbered from 1 to {len(shown.items)}."
    found = align_quote(words, item.text, threshold)
    if found.state == "ambiguous":
        return f"The text you quoted stands in several places of evidence {number}: quote more of it."
    if not found.stands or found.span is None:
        how = " as you quoted it" if found.state == "altered" else ""
        return f"The text you quoted does not stand in evidence {number}{how}: “{_short(words)}”"
    span = found.span
    if span.of(item.text) != span.of(item.evidence.text):  # fences and control tokens were taken out of it
        return f"The text you quoted from evidence {number} is no statement."
    source = item.evidence.source
    start = item.evidence.span.start
    whole = _whole_sentences(item.evidence, Span(start + span.start, start + span.end))
    proof = quote_proof(item.evidence, whole, "closest")
    if speaks_to_a_model(whole.of(source.text)) or not states(item.evidence, whole):
        return f"The text you quoted from evidence {number} states nothing about the claim."
    if found.state == "repaired":
        proof = replace(proof, alignment="repaired", difference=found.difference)
    return CheckedQuote(proof, item.evidence)


def why_not_borne_out(claim: str, text: str) -> str:
    """Why the sentences of a quote do not say what the claim says; empty when nothing can be seen against it."""
    if share_of_words(claim, text) < LEAST_SHARE:
        return "The quoted words are about something else than the claim."
    missing = directions(claim) - directions(text)
    if missing:
        return f"The claim tells of something going {min(missing)}, the quoted words do not."
    return meaning_differs(claim, text)


def directions(text: str) -> set[str]:
    """Which ways things go in a text, `up` or `down`, whatever the word: a paraphrase changes the word, not the way."""
    return {way for way, words in _DIRECTIONS.items() if words.search(_BOUND.sub(" ", text))}


def share_of_words(claim: str, text: str) -> float:
    """Share of the claim's longer words, by stem, that stand in `text`; 1 when it has none."""
    ours, theirs = _content(claim), _content(text)
    return len(ours & theirs) / len(ours) if ours else 1.0


def computed(
    claim: str, judgement: Judgement, shown: ShownCase, threshold: float, evaluate: Evaluate
) -> ComputationProof | str:
    """The claim's figure recomputed by the expression that the model proposed; or why it is not.

    All operands stand as figures in sentences of the evidence; what the claim says beside the figure must be borne out
    by those sentences together, and so must its other figures.
    """
    if len(judgement.operands) < 2:
        return "An expression needs at least two operands from the evidence."
    unfit = why_unfit(judgement.expression, [given.name for given in judgement.operands])
    if unfit:
        return unfit
    operands: list[Operand] = []
    for given in judgement.operands:
        found = find_in_evidence(given.matching_text, given.evidence_number, shown, threshold)
        if isinstance(found, str):
            return found
        if not any(_value(n) == given.value for n in _NUMBER.findall(given.matching_text)):
            return f"The figure {given.value:g} does not stand in the text that you quoted for it."
        operands.append(Operand(given.name, given.value, replace(found.proof, shows="supports")))
    values = {o.name: o.value for o in operands}
    try:
        result = evaluate(judgement.expression, values)
        idle = why_idle(evaluate, judgement.expression, values)
    except (ValueError, ArithmeticError, LookupError):
        return "The expression cannot be evaluated."
    if idle:
        return idle
    figures = [(n, _value(n), _tolerance(n)) for n in _NUMBER.findall(claim)]
    fitting = [f for f in figures if abs(f[1] - abs(result)) <= f[2]]
    if not fitting:
        return f"The expression gives {result:g}, which is no figure of the claim."
    other_kind = why_other_kind(claim, fitting[0][1], {o.name: (o.value, o.quote.text) for o in operands})
    if other_kind:
        return other_kind
    words = " ".join(dict.fromkeys(operand.quote.text for operand in operands))
    others = {f[1] for f in figures} - {fitting[0][1]}
    if not others <= {_value(n) for n in _NUMBER.findall(words)}:
        return "Not all other figures of the claim stand in the text that you quoted."
    problem = why_not_borne_out(_without_figures(claim), _without_figures(words))
    if problem:
        return problem
    return ComputationProof(
        judgement.expression, tuple(operands), abs(result), fitting[0][1], fitting[0][2], "supports"
    )


def instructed_by(shown: ShownCase) -> int | None:
    """The number of the first evidence that holds instructions to a program that reads it."""
    return next((item.number for item in shown.items if speaks_to_a_model(item.evidence.text)), None)


def numbered_as_shown(text: str, shown: ShownCase) -> str:
    """A model's words about "evidence 2", with the numbers that the reader sees."""
    numbers = {item.number: item.evidence.number for item in shown.items}
    return re.sub(r"\bevidence (\d+)", lambda m: f"[{numbers.get(int(m[1]), m[1])}]", text, flags=re.I)


def _whole_sentences(evidence: Evidence, span: Span) -> Span:
    touched = [s for s in source_sentences(evidence.source) if s.start < span.end and span.start < s.end]
    if not touched:
        return span
    return Span(min(touched[0].start, span.start), max(touched[-1].end, span.end))


def _content(text: str) -> set[str]:
    return {word for word in stem_words(text) if len(word) >= _WORD_LEAST or word[0].isdigit()}


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _tolerance(number: str) -> float:
    """Half of the last digit's place, and a hair for binary fractions."""
    _, _, decimals = number.partition(".")
    return 0.5 * 10.0 ** -len(decimals) * (1 + 1e-9)


def _without_figures(text: str) -> str:
    return re.sub(r"[([][^()[\]]*\d[^()[\]]*[)\]]|\d[\d.,]*\s*(?:%|percent)?", " ", text)


def _short(words: Sequence[str] | str) -> str:
    text = " ".join(str(words).split())
    return text if len(text) <= 120 else text[:119] + "…"
