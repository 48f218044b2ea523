"""Finding quoted words in a source: what is shown is always the source's own characters."""

from __future__ import annotations

import re

from medcite_core.types import Span
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.meaning_differences import meaning_differs
from medcite_middleware.verification.quote_alignment import Alignment, align_quote

__all__ = ["Alignment", "align_quote", "find_quote", "meaning_differs", "quoted_words"]


def quoted_words(claim_text: str) -> str:
    """The words between the first opening and the last closing quotation mark; the whole claim when there are none."""
    match = re.search(r"[“\"](.*)[”\"]", claim_text, re.DOTALL)
    return match.group(1).strip() if match else without_marks(claim_text)


def find_quote(words: str, source: str, threshold: float = 90.0) -> Span | None:
    """Where `words` stand in `source` and mean what they mean by themselves, or None; the first of several places.

    `align_quote` tells more: how they were found, what was repaired, and why they were not accepted.
    """
    alignment = align_quote(words, source, threshold)
    return alignment.span if alignment.stands else None
