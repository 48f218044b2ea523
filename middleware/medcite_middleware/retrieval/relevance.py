"""Whether a passage bears on a question: how near it is, and how many of the question's words it holds.

Nearness alone lets through what is only of the same kind: another drug in the same disease. So the words count too,
each by how rare it is in the corpus, and the rarest of them, mostly the name of what is asked about, once more.
Measured by `benchmarks/relevance.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from medcite_core.abbreviations import abbreviations
from medcite_core.filters import SearchFilter
from medcite_core.ports import CorpusIndex, CountsWords
from medcite_core.settings import RetrievalSettings
from medcite_core.stemming import stem_words
from medcite_core.types import Passage, Record
from medcite_middleware.retrieval.query import content_words

COVERAGE_WEIGHT = 0.3
"""What all of a question's words are worth, on the scale of a cosine."""
RAREST_WEIGHT = 0.15
"""What its rarest word is worth besides."""
NEAR_ENOUGH = 0.6
"""A passage as near as that may say it in other words altogether."""


def word_weights(index: CorpusIndex, query: str, corpus_records: int) -> dict[str, float]:
    """The stems of the query's content words, each weighted by rarity; a word that no record holds weighs most."""
    words = content_words(query)
    if isinstance(index, CountsWords):
        holding = index.records_holding(list(words.values()))
    else:
        holding = [index.lexical_records(word, SearchFilter(), 0, 0)[1] for word in words.values()]
    return {
        stem: math.log(1 + (corpus_records + 1) / (records + 0.5)) for stem, records in zip(words, holding, strict=True)
    }


class Relevance:
    """The rule for one question, from the weights of its words.

    Near enough (`min_cosine`) and, with its words, above `min_relevance`; without a cosine, its words above
    `min_coverage`. At that 0.6, of 500 BioASQ questions 87 % reach it with one of their own snippets, and 10 % of
    questions on no medical matter with the best of 2,000 abstracts.
    """

    def __init__(self, weights: Mapping[str, float], settings: RetrievalSettings) -> None:
        self._weights = weights
        self._total = sum(weights.values())
        self._rarest = max(weights.values(), default=0.0)
        self._settings = settings

    @property
    def least_cosine(self) -> float:
        """No passage farther away can pass, whatever it holds."""
        return max(self._settings.min_cosine, self._settings.min_relevance - COVERAGE_WEIGHT - RAREST_WEIGHT)

    def holds_for(self, passage: Passage) -> bool:
        """Whether the passage bears on the question."""
        covered = self._covered(passage)
        coverage = sum(self._weights[stem] for stem in covered) / self._total if self._total else 1.0
        if passage.cosine is None:
            return coverage >= self._settings.min_coverage
        has_rarest = any(self._weights[stem] == self._rarest for stem in covered) or not self._weights
        score = passage.cosine + COVERAGE_WEIGHT * coverage + RAREST_WEIGHT * has_rarest
        least = self._settings.min_relevance
        is_near = passage.cosine >= max(NEAR_ENOUGH, least - RAREST_WEIGHT)
        return passage.cosine >= self._settings.min_cosine and (score >= least or is_near)

    def _covered(self, passage: Passage) -> set[str]:
        stems = spelt_out(set(stem_words(f"{passage.record.title}\n{passage.chunk.text}")), passage.record)
        return {stem for stem in self._weights if stem in stems}


def spelt_out(stems: set[str], record: Record) -> set[str]:
    """`stems` with the words that their short forms stand for in `record`, and the short forms of their words."""
    found = set(stems)
    for definition in abbreviations(record.text):
        short, long = set(stem_words(definition.short)), set(stem_words(definition.long))
        if short <= stems or long <= stems:
            found |= short | long
    return found
