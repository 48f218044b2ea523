"""Which words of a question count, what else an abstract may call them, and how much of them a sentence holds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from medcite_core.abbreviations import abbreviations
from medcite_core.stemming import stem_words

_FUNCTION_WORDS = frozenset(
    stem_words(
        "a about after all also am an and any are as at be because been before being between both but by can could did "
        "do does doing done during each exist explain for from give had has have having he her his how i if in into is "
        "it its just know known may me might more most much must my no nor not of on or other our out over per please "
        "say should show so some such tell than that the their them then there these they this those through to too "
        "under up upon us very was we were what when where whether which while who whom whose why will with within "
        "without would you your people patient patients "
        "evidence study studies trial trials research paper article authors conclude conclusion find finding findings "
        "result results report reported"
    )
)
# What people ask in plain words, and what abstracts say instead. One group a line; any member stands for the others.
_SAME_SENSE = (
    "side adverse toxicity toxic safety harm harmful harms complication complications tolerated",
    "treat treats treated treatment therapy therapeutic manage management",
    "cause causes caused causing cause due lead leads led induce induces induced etiology aetiology",
    "prevent prevents prevention protect protective protects avoid",
    "lower lowers reduce reduces reduced reduction decrease decreases decreased shrink shrinks slow slows fall fell "
    "less fewer retardation restriction",
    "raise raises raised increase increases increased elevated higher more greater",
    "help helps improve improves improved improvement better benefit benefits beneficial effective efficacy",
    "outcome outcomes prognosis survival mortality recurrence recovery",
    "death deaths die dies died mortality fatal",
    "link linked links associated association associations related relationship correlated",
    "child children pediatric paediatric infants adolescents",
    "old older elderly aged",
    "pregnancy pregnant gestation gestational maternal prenatal",
    "kidney kidneys renal",
    "liver hepatic",
    "heart cardiac",
    "cancer cancers carcinoma carcinomas tumor tumour tumors tumours neoplasm neoplasms",
    "high hypertension",
    "drug drugs medication medications",
    "symptom symptoms signs manifestations",
    "diagnose diagnosed diagnosis diagnostic detect detection",
)
_SENSES = [frozenset(stem_words(group)) for group in _SAME_SENSE]
_QUANTITY = re.compile(
    r"\bhow (?:many|much|often|long|large|high|common|likely)\b|\brates?\b|\bpercent|\bproportion\b|\bincidence\b|"
    r"\bprevalence\b|\bdoses?\b|\bratio\b|\bsurvival time\b",
    re.I,
)

_SAME_SENSE_CREDIT = 0.8
_TITLE_CREDIT = 0.7
_PASSAGE_CREDIT = 0.5
# A long stem is a more specific word; the factor is 1 at seven letters.
_TYPICAL_LETTERS = 7
_NAME_FACTOR = 2.0
# What no sentence found speaks of may well be what the question is about.
_ABSENT_FACTOR = 1.2


class QuestionWords:
    """The content words of one question, weighted by how specific they are among the sentences found.

    A question without any ("What did the study conclude?") is about whatever was found: every share is then 1.
    """

    def __init__(self, question: str, sentences: Sequence[frozenset[str]]) -> None:
        names = {stem for word in _names(question) for stem in stem_words(word)}
        words = frozenset(stem_words(question)) - _FUNCTION_WORDS
        self.asks_for_a_quantity = bool(_QUANTITY.search(question))
        self._senses = {word: frozenset().union(*(s for s in _SENSES if word in s)) - {word} for word in words}
        self._weights = {}
        for word in words:
            held = sum(self._direct(word, found) > 0 for found in sentences)
            rarity = 1.0 + math.log((len(sentences) + 1) / (held + 1))
            specific = _NAME_FACTOR if word in names else min(1.6, max(0.6, len(word) / _TYPICAL_LETTERS))
            self._weights[word] = rarity * specific * (1.0 if held else _ABSENT_FACTOR)
        self._total = sum(self._weights.values())

    def held_by(self, text: frozenset[str]) -> float:
        """0..1: how much of the question a whole text holds."""
        return self._share(lambda word: self._direct(word, text))

    def answered_by(self, sentence: frozenset[str], title: frozenset[str], passage: frozenset[str]) -> float:
        """0..1: how much of the question the sentence holds; what title or passage hold counts in part."""
        if self._weights and not any(self._direct(word, sentence) for word in self._weights):
            return 0.0
        return self._share(
            lambda word: max(
                self._direct(word, sentence),
                _TITLE_CREDIT * self._direct(word, title),
                _PASSAGE_CREDIT * self._direct(word, passage),
            )
        )

    def _direct(self, word: str, stems: frozenset[str]) -> float:
        if word in stems:
            return 1.0
        return _SAME_SENSE_CREDIT if self._senses[word] & stems else 0.0

    def _share(self, credit: Callable[[str], float]) -> float:
        return (
            sum(weight * credit(word) for word, weight in self._weights.items()) / self._total if self._total else 1.0
        )


def stems_of(text: str, short_forms: dict[str, frozenset[str]] | None = None) -> frozenset[str]:
    """The stems of `text`; a short form also counts as the words it stands for, and they as it."""
    own = stems = frozenset(stem_words(text))
    for short, long_stems in (short_forms or {}).items():
        if short in own:
            stems |= long_stems
        elif long_stems and long_stems <= own:
            stems |= {short}
    return stems


def short_forms_in(text: str) -> dict[str, frozenset[str]]:
    """Short forms that `text` introduces, "chronic subdural hematoma (CSDH)", with the stems of their words."""
    found: dict[str, frozenset[str]] = {}
    for definition in abbreviations(text):
        short = stem_words(definition.short)
        # "PD-L1" is two words, of which neither alone stands for the whole.
        if len(short) == 1:
            found.setdefault(short[0], frozenset(stem_words(definition.long)))
    return found


def _names(question: str) -> list[str]:
    """Words that are spelt as names: a capital or digit inside, or a capital not at the beginning."""
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", question)
    return [
        word
        for place, word in enumerate(words)
        if any(char.isupper() or char.isdigit() for char in word[1:]) or (place > 0 and word[0].isupper())
    ]
