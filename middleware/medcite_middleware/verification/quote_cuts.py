"""Whether words are cut out of a sentence where its meaning turns: after "no evidence that", before "but not in"."""

from __future__ import annotations

import re

from medcite_core.types import Span
from medcite_middleware.verification.asides import is_droppable
from medcite_middleware.verification.vocabulary import HEDGES, NEGATIONS
from medcite_middleware.verification.words import strict_words

_REACH = 600
"""Characters looked at on either side, at most; no sentence needs more."""

_SENTENCE_END = re.compile(r"(?:[.!?][\"'”’)\]]*\s+(?=[A-Z0-9“\"'(\[])|\n\s*\n)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:vs|al|e\.g|i\.e|fig|figs|dr|cf|approx|no|ref|eq|st|sp|spp|ca)|\b[A-Za-z])\.$", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[;:]\s|,\s+(?:and|but|whereas|while|yet|so)\s|\s(?:whereas|but)\s|,\s+(?:which|who)\s|\.\s*$", re.IGNORECASE
)
_NEXT_SENTENCE = re.compile(r"[.!?](?:\s+[A-Z]|\s*$)")
_OPENING, _CLOSING = " \t\r\n\"'“”‘’([", " \t\r\n\"'“”‘’.;:!?)]"
# What may follow directly where a quotation ends; any other word goes on with the phrase: "death | anxiety".
_GOES_ON = frozenset(
    """a an the and or of in on at to for from by with within among during after before between through via per as than
    versus vs that which who whom whose where when since because so thus then this these those there it they we he she
    both either also using following against over under upon across along around towards toward into onto throughout
    despite compared relative due is are was were be been has have had do does did can could may might will would shall
    should must not no if unless except but although though while whereas until like such i.e e.g et""".split()
)
_NEVER_LAST = frozenset(
    """a an the and or of in on at to for from by with within among during between through via per as than versus vs
    that which whose when because is are was were be been has have had do does did can could may might will would shall
    should must more most less least very""".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_TURNS_BEFORE = (
    NEGATIONS
    | (HEDGES - {"indicate", "indicates", "probable"})
    | frozenset(
        """if whether unless except instead rather than contrary despite unlikely doubt doubtful unclear unknown
        uncertain
        hypothesis hypothesised hypothesized hypothesise hypothesize hypothesizing assume assumed assuming claim claimed
        claims believed belief speculated question questioned deny denied denies refute refuted refutes disproved
        disprove reject rejected rejects exclude excluded rule ruled against would could should little few only either
        aim aimed aims investigate investigated determine evaluate evaluated assess examine test tested purpose
        objective prevent prevented prevents preventing avoid avoided avoids stop stopped withdrawn retracted
        myth myths misconception doubts dispute disputed false falsely wrong wrongly erroneous erroneously rarely seldom
        supposedly allegedly purportedly""".split()
    )
)
_TURNS_AFTER = NEGATIONS | frozenset(
    """if unless except only rather than although though however but while whereas until provided depending
    insignificant nonsignificant unlikely unclear uncertain questionable doubtful ns
    disproved refuted disputed retracted false falsely wrong erroneous untrue inconclusive myth rarely seldom""".split()
)
_VALUE_GOES_ON = re.compile(
    r"\s?(?:[%‰°×/±·^]|[-–−]?\s?fold\b|percent|per\s+cent|percentage|[kmµμn]?(?:g|l|mol|m|iu|u|pa)\b|mm\s?hg|"
    r"(?:of|to|or|and|in|out\s+of|vs\.?)\s+\d+|times\b|(?:hour|day|week|month|year|minute|second)s?\b|[eE][-+]?\d|[.,]\d|\d|"
    r"[-–−]\s?\d|\s\d{3}\b|million\b|billion\b|thousand\b|hundred\b|⁻|[⁰¹²³⁴⁵⁶⁷⁸⁹])",
    re.IGNORECASE,
)
_VALUE_BEGAN = re.compile(
    r"(?:[-–−+±<>≤≥~≈×/^]\s?|\d[.,·]?\s?|\d\s+(?:to|or|of|and)\s+|\b(?:than|least|most|about|approximately|nearly|almost|around|"
    r"over|under|below|above|up\s+to|exceeding|exceeded|between|from|within|minus|every|each)\s+)$",
    re.IGNORECASE,
)
_WHOLE_P_VALUE = re.compile(r"\bp\s?[=>]\s?(0?[.·]\d+)", re.IGNORECASE)


def cut_meaning(source: str, span: Span) -> str:
    """What a quotation at `span` of `source` leaves out that turns its meaning; empty when nothing does.

    Looks at the rest of the sentences in which it begins and ends: the clause before it, and what follows it.
    """
    before = "" if _begins_sentence(source, span.start) else _before(source, span)
    after = "" if _ends_sentence(source, span.end) else _after(source, span)
    if source[span.end + len(after) : span.end + len(after) + 1] == "?":
        return "cut before “?”"
    if not before.strip(_OPENING) and not after.strip(_CLOSING):
        return ""
    words = span.of(source)
    return _cut_token(words, before, after) or _turned_before(before) or _turned_after(after) or _no_effect(after)


def _begins_sentence(source: str, start: int) -> bool:
    """Whether a sentence certainly begins there: after a stop that ends no abbreviation, before a capital."""
    before = source[max(0, start - 12) : start].rstrip()
    if not before:
        return not source[:start].strip()
    return (
        before[-1] in ".!?" and source[start].isupper() and not _ABBREVIATED.search(before) and before != source[:start]
    )


def _ends_sentence(source: str, end: int) -> bool:
    """Whether a sentence certainly ends there: behind its stop, or directly before it and a space and a capital."""
    if source[end - 1] in ".!?":
        return not source[end : end + 1].isalnum()
    return source[end : end + 1] in (".", "!", "?") and bool(_NEXT_SENTENCE.match(source, end))


def _before(source: str, span: Span) -> str:
    start = max(0, span.start - _REACH)
    text = source[start : span.start]
    for match in reversed(list(_SENTENCE_END.finditer(source, start, min(len(source), span.start + 1)))):
        if match.end() <= span.start and not _ABBREVIATED.search(source[start : match.start() + 1]):
            return source[match.end() : span.start]
    return text


def _after(source: str, span: Span) -> str:
    end = min(len(source), span.end + _REACH)
    for match in _SENTENCE_END.finditer(source, span.end, end):
        if not _ABBREVIATED.search(source[span.end : match.start() + 1]):
            return source[span.end : match.start()]
    return source[span.end : end]


def _cut_token(words: str, before: str, after: str) -> str:
    """A figure without its sign, unit or other half; a word without the rest of its compound."""
    if words[:1].isdigit() and (found := _VALUE_BEGAN.search(before)):
        return f"cut after “{found.group().strip()}”"
    if words[-1:].isdigit() and (going := _VALUE_GOES_ON.match(after)):
        return f"cut before “{going.group().strip()}”"
    if re.search(r"\ba\s+$", before, re.IGNORECASE) and re.match(r"(?:few|little|bit|lot|number)\b", words):
        return "cut after “a”"
    if words[:1].isalnum() and re.search(r"[^\W_][-‐‑/]$|[^\W_]$", before):
        return "cut inside a word"
    if words[-1:].isalnum() and re.match(r"[-‐‑/][^\W_]|[^\W_]|[⁻⁺+](?!\s?\d)", after):
        return "cut inside a word"
    following = re.match(r"\s+(\w+)", after)
    if following and words[-1:].isalnum():
        last = _WORD.findall(words[-30:])
        if not _may_follow(following.group(1).lower()) or (last and last[-1].lower() in _NEVER_LAST):
            return f"cut before “{following.group(1)}”"
    return ""


def _may_follow(word: str) -> bool:
    return word in _GOES_ON or word.endswith(("ly", "ed", "ing"))


def _no_effect(after: str) -> str:
    """A statistic in brackets directly behind the words that takes them back: "(95% CI −2 to 12)"."""
    bracket = re.match(r"\s*(\([^()]*\)|\[[^\[\]]*\])", after)
    if bracket is None or not re.search(r"\b(?:CI|interval|p)\b", bracket.group(1), re.IGNORECASE):
        return ""
    return "" if is_droppable(strict_words(bracket.group(1)), ()) else f"cut before “{bracket.group(1)}”"


def _turned_before(before: str) -> str:
    clause = before
    for boundary in _CLAUSE.finditer(before):
        clause = before[boundary.end() :]
        if not clause.strip():  # "…, but" itself stands directly before the words
            return ""
    turning = [w for w in _WORD.findall(clause) if w.lower() in _TURNS_BEFORE or w.lower().endswith(("n't", "n’t"))]
    return f"cut after “{turning[-1]}”" if turning else ""


def _turned_after(after: str) -> str:
    rest = re.split(r"[;:]\s|,\s+and\s|\sand\s+(?=(?:did|was|were|had|has|is|are)\b)", after, maxsplit=1)[0]
    for match in _WORD.finditer(rest):
        if match.group().lower() in _TURNS_AFTER or match.group().lower().endswith(("n't", "n’t")):
            return f"cut before “{match.group()}”"
    for value in _WHOLE_P_VALUE.finditer(rest):
        if float(value.group(1).replace("·", ".")) >= 0.05:
            return f"cut before “{value.group()}”"
    return ""
