"""Takes a model's private reasoning out of its stream: <think>…</think>, whatever the pieces it comes in."""

from __future__ import annotations

import re

_NAMES = r"(?:think|thinking|thought|reasoning)"
_TAG = re.compile(rf"<(?P<slash>/?){_NAMES}>", re.IGNORECASE)
_PARTIAL_TAG = re.compile(r"<(?:/?[A-Za-z]{0,9})\Z")
# Where the first sentence ends by the prompt's rules: with a citation.
_FIRST_SENTENCE = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\][.!?]?\s")
_MAX_HELD_CHARS = 200


class LeakedThoughts(Exception):
    """A closing tag came after text had been passed on: what was shown was reasoning, not answer."""


class ThoughtFilter:
    """Passes on what is answer and drops what is reasoning. `feed` it each piece, then `close` it once.

    Some chat templates open the reasoning themselves, so that a reply holds only the closing tag (FR-158). Therefore
    the first sentence is held until its citation has come; with `opens_in_thought`, all is held up to a closing tag.
    """

    def __init__(self, *, opens_in_thought: bool = False) -> None:
        self._opens_in_thought = opens_in_thought
        self._unread = ""
        self._held = ""
        self._has_begun = False
        self._is_thinking = False
        self.has_thoughts = False

    def feed(self, piece: str) -> str:
        """What can be passed on now.

        Raises:
            LeakedThoughts: a closing tag came too late to keep back what stands before it.
        """
        self._unread += piece
        return self._release(self._read())

    @property
    def ended_in_thought(self) -> bool:
        """Whether a reasoning tag was opened after text had been passed on, and not closed (yet): the rest is lost."""
        return self._is_thinking and self._has_begun

    def close(self) -> str:
        """What was held back and turns out to be answer."""
        rest = "" if self._is_thinking else self._unread
        rest, self._unread, self._held = self._held + rest, "", ""
        return rest if self._has_begun else rest.lstrip()

    def _read(self) -> str:
        """The answer's text in what has come, as far as it cannot be the beginning of a tag."""
        text = ""
        while tag := _TAG.search(self._unread):
            before, self._unread = self._unread[: tag.start()], self._unread[tag.end() :]
            is_closing = bool(tag["slash"])
            if self._is_thinking:
                self._is_thinking = not is_closing
            elif is_closing:
                if self._has_begun:
                    raise LeakedThoughts
                text = self._held = ""
            else:
                text += before
                self._is_thinking = True
            self.has_thoughts, self._opens_in_thought = True, False
        partial = _PARTIAL_TAG.search(self._unread)
        cut = partial.start() if partial else len(self._unread)
        complete, self._unread = self._unread[:cut], self._unread[cut:]
        return text if self._is_thinking else text + complete

    def _release(self, text: str) -> str:
        if self._has_begun:
            return text
        self._held = (self._held + text).lstrip()
        is_sure = self.has_thoughts or len(self._held) > _MAX_HELD_CHARS or _FIRST_SENTENCE.search(self._held)
        if not self._held or self._opens_in_thought or not is_sure:
            return ""
        self._has_begun = True
        text, self._held = self._held, ""
        return text
