"""Words before a list that deny its items: "Myths:", "These are false.", "Zetamab does not do the following:"."""

from __future__ import annotations

import re

DENIAL = "It is not true that "
"""What a denied item means begins with it."""

_DENIED = (
    r"(?:myths?|misconceptions?|falsehoods?|false (?:claims|statements|beliefs)|misbeliefs|untrue|not true|false|wrong|"
    r"incorrect|debunked|disproved|disproven|unproven|not proven|unsupported|not supported|rejected|refuted)"
)
_HEADING = re.compile(
    r"[#*_\s]*(?:(?:common|popular|some|frequent|widespread|other|the following)\s+)*(?:are\s+)?"
    rf"{_DENIED}(?:\s+(?:claims?|statements?|beliefs?|about [^:\n]{{1,60}}))?[*_\s]*:?[*_\s]*$",
    re.IGNORECASE,
)
_OPEN_SENTENCE = re.compile(
    rf".{{0,80}}\b(?:(?:are|is) (?:all )?{_DENIED}|(?:did|does|do|could|was|were|is|are) not[^.:]{{0,60}}|"
    r"no evidence[^.:]{0,60}|(?:fails?|failed) to[^.:]{0,60}|except[^.:]{0,30})\s*:[*_\s]*$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(rf".{{0,80}}\b(?:are|is) (?:all )?(?:common |popular )?{_DENIED}\.$", re.IGNORECASE)


def denying_lead(text: str) -> str:
    """`text` if it denies the list that follows it, else empty. A heading or an open sentence ends in a colon."""
    plain = text.rstrip(" *_")
    if _SENTENCE.match(plain):
        return plain
    is_lead = (_HEADING.match(plain) or _OPEN_SENTENCE.match(plain)) and not re.search(r"\bbut\b", plain, re.IGNORECASE)
    return plain.rstrip(":") + ":" if is_lead else ""
