"""Words and their English stems, the same for both engines and the checker."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

from medcite_core.types import Span

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")


class _Stemmers(threading.local):
    """A stemmer keeps the word it is at in itself: two threads with one would get each other's stems, or an error."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_stemmers = _Stemmers()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball English stem of one word, lower case. Safe to call from several threads."""
    return str(_stemmers.english.stemWord(word.casefold()))


def stem_words(text: str) -> list[str]:
    """Every word of `text`, stemmed, in order. Words are runs of letters and digits; `10.5` and `don't` are one."""
    return [stem(word) for word in _WORD.findall(text)]


def stems_with_spans(text: str) -> Iterator[tuple[str, Span]]:
    """Every word of `text` as its stem and its place, in order; the stems are those of `stem_words`."""
    for match in _WORD.finditer(text):
        yield stem(match.group()), Span(match.start(), match.end())
