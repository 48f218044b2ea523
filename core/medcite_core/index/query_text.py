"""Reads what a person typed as words and quoted phrases; there is no query language, so no text can be wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from medcite_core.errors import InvalidInput
from medcite_core.index.filter_keys import folded
from medcite_core.stemming import stem_words

STOP_WORDS = (
    "a an and are as at be but by for if in into is it of on or such that the their then there these they this to was "
    "will with"
).split()
"""Lucene's English stop words without `no` and `not`: a negation is a word that counts in a medical text."""

_QUOTED = re.compile(r'"([^"]+)"|“([^“”"]+)”')


@dataclass(frozen=True, slots=True)
class TextQuery:
    """`text` holds every word, for BM25; each of `phrases` must stand in a result word for word (up to endings).

    Both are `folded`, and are meant for text stored so.
    """

    text: str
    phrases: tuple[str, ...] = ()

    def holds_phrases(self, text: str) -> bool:
        """Whether every phrase stands in `text`. Engines drop stop words, so that they find too much."""
        stems = f" {' '.join(stem_words(text))} "
        return all(f" {' '.join(stem_words(phrase))} " in stems for phrase in self.phrases)


def read_query(query: str) -> TextQuery:
    """The words and phrases of `query`. A phrase made of stop words alone is read as words.

    Raises:
        InvalidInput: the query is blank.
    """
    if not query.strip():
        raise InvalidInput("the query is blank", "Type at least one word.")
    # A lone surrogate (half an emoji, cut by a browser) cannot be stored in UTF-8 and so matches nothing.
    text = folded(query.encode("utf-8", "replace").decode("utf-8"))
    quoted = (match.group(1) or match.group(2) for match in _QUOTED.finditer(text))
    phrases = dict.fromkeys(" ".join(phrase.split()) for phrase in quoted)
    return TextQuery(text, tuple(phrase for phrase in phrases if _has_index_word(phrase)))


def _has_index_word(phrase: str) -> bool:
    return any(word not in STOP_WORDS for word in re.findall(r"[^\W_]+", phrase.casefold()))
