"""Splits a text into claims: by a chat model where one is set up, else, and whenever it fails, by the rules."""

from __future__ import annotations

from typing import Protocol

from medcite_middleware.pipeline.threads import in_thread
from medcite_middleware.verification.claims import SplitText, split_text


class Splitter(Protocol):
    """Splits a text with a chat model."""

    async def split(self, text: str, question: str = "") -> SplitText | None:
        """The claims and statements of `text`; None when they cannot be relied on."""
        ...


async def split_claims(text: str, question: str, splitter: Splitter | None) -> SplitText:
    """The claims and statements of `text`; `question` is what it answers. One call of the model at most."""
    if splitter is not None:
        found = await splitter.split(text, question)
        if found is not None:
            return found
    return await in_thread(split_text, text, question)
