"""Claims that deny a whole statement ("It is not true that X", "No evidence shows that X"), and what they deny."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THAT = r",?\s+that\s+(?P<inner>.+)$"
_FALSE = re.compile(
    r"(?:it\s+(?:is|was)\s+(?:simply\s+|just\s+)?(?:not|never)\s+(?:true|the\s+case|correct|so)|it\s+(?:isn['’]t|wasn['’]t)\s+"
    r"(?:true|the\s+case|correct|so)|it\s+(?:is|was)\s+(?:simply\s+)?(?:false|untrue|incorrect|wrong|a\s+myth|a\s+misconception|"
    rf"a\s+falsehood)(?:\s+to\s+say)?){_THAT}",
    re.IGNORECASE | re.DOTALL,
)
_UNSHOWN = re.compile(
    r"(?:there\s+(?:is|was)\s+no\s+(?:\w+\s+)?(?:evidence|proof|indication)(?:\s+to\s+(?:show|suggest|indicate))?|"
    r"no\s+(?:\w+\s+)?(?:evidence|proof|study|trial|data)\s+(?:has\s+|have\s+)?"
    rf"(?:shows?|showed|shown|suggests?|suggested|indicates?|indicated|proves?|proved|found|demonstrates?|demonstrated)){_THAT}",
    re.IGNORECASE | re.DOTALL,
)
_SAMPLE = re.compile(
    r"\s+(?:in|among|amongst)\s+(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+"
    r"(?:adults|patients|participants|people|subjects|volunteers|individuals|cases)\s*[.]?\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Denial:
    """`inner` is what is denied. `is_outright` when it is called false, not only unshown."""

    inner: str
    is_outright: bool


def read_denial(text: str) -> Denial | None:
    """What `text` denies, if it is a denial of a whole statement."""
    for form, is_outright in ((_FALSE, True), (_UNSHOWN, False)):
        found = form.match(text.strip())
        if found:
            return Denial(found["inner"].strip(), is_outright)
    return None


def without_sample(sentence: str) -> str:
    """A finding without the number of people it was made in, "… in 30 adults": denying the finding denies it still."""
    return _SAMPLE.sub("", sentence)
