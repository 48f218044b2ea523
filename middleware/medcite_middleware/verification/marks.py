"""Citation marks in an answer: `[3]`, `[1, 4]`."""

from __future__ import annotations

import re

from medcite_core.answers import CITATION_MARK


def citation_marks(text: str) -> list[re.Match[str]]:
    """The citations in `text`: `[3]`, `[1, 4]`. A bracket between a number and a word ("5 [3, 8] days") is none."""
    return [
        mark
        for mark in CITATION_MARK.finditer(text)
        if not (re.search(r"\d\s*$", text[: mark.start()]) and re.match(r"\s*[^\W_]", text[mark.end() :]))
    ]


def cited_numbers(text: str) -> tuple[int, ...]:
    """The evidence numbers cited in `text`, each once, in order: `[2, 3] … [2]` gives (2, 3)."""
    found = [int(n) for mark in citation_marks(text) for n in re.findall(r"\d+", mark.group(1))]
    return tuple(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """`text` with its citation marks taken out, and the space before them."""
    kept, end = [], 0
    for mark in citation_marks(text):
        kept.append(text[end : mark.start()].rstrip())
        end = mark.end()
    return "".join([*kept, text[end:]]).strip()
