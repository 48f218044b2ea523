"""Edits that turn a true sentence false, or that its source no longer bears out; each kind once where it can be.

Those of `checker_edits` (digit, unit, negation, direction, hedge …) and those that need the abstract: a subject, an arm
or a time of the same abstract in the place of the right one; an antonym; an association told as a cause; a part told as
the whole; a clause dropped that limits the statement.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from checker_edits import alterations

EDIT_KINDS = (
    "digit",
    "unit",
    "negation",
    "antonym",
    "subject swapped",
    "arm swapped",
    "time swapped",
    "hedge dropped",
    "direction",
    "clause dropped",
    "cause for association",
    "whole for part",
)

_UNITS = {
    "mg": "g",
    "g": "mg",
    "kg": "g",
    "ml": "l",
    "mL": "L",
    "μg": "mg",
    "µg": "mg",
    "ng": "mg",
    "mM": "μM",
    "μM": "mM",
    "nM": "μM",
    "days": "weeks",
    "day": "week",
    "weeks": "months",
    "week": "month",
    "months": "years",
    "month": "year",
    "years": "months",
    "year": "month",
    "hours": "minutes",
    "h": "min",
    "min": "h",
    "minutes": "hours",
    "mm": "cm",
    "cm": "mm",
    "%": " mg",
}
_UNIT = re.compile(
    r"(?<=\d)(?P<gap>[\s-]?)(?P<unit>" + "|".join(sorted(map(re.escape, _UNITS), key=len)[::-1]) + r")(?!\w)"
)

_ANTONYMS = [
    tuple(pair.split("/"))
    for pair in """women/men men/women male/female female/male children/adults adults/children mice/rats rats/mice
    mice/patients patients/mice human/murine murine/human benign/malignant malignant/benign early/late late/early
    acute/chronic chronic/acute before/after after/before safe/unsafe effective/ineffective common/rare rare/common
    positive/negative negative/positive present/absent sensitive/resistant resistant/sensitive systolic/diastolic
    diastolic/systolic maternal/paternal oral/intravenous intravenous/oral upper/lower anterior/posterior
    majority/minority mild/severe severe/mild high/low low/high primary/secondary secondary/primary similar/different
    dependent/independent necessary/unnecessary sufficient/insufficient essential/dispensable stable/unstable
    inhibitor/activator activator/inhibitor inhibitors/activators agonist/antagonist antagonist/agonist
    activation/inhibition inhibition/activation pro-inflammatory/anti-inflammatory anti-inflammatory/pro-inflammatory
    survival/mortality mortality/survival protective/harmful beneficial/harmful old/young older/younger younger/older
    first/last left/right right/left normal/abnormal loss/gain gain/loss proximal/distal within/outside""".split()
]
_NAME = re.compile(r"\b(?=\w*[A-Z0-9])(?:[A-Z][A-Za-z0-9]*[A-Z0-9][A-Za-z0-9-]*|[a-z]+[A-Z][A-Za-z0-9-]*)\b(?!\s*:)")
_NOT_A_NAME = frozenset("CI HR OR RR SD SE II III IV USA UK US NS WHO BMI DNA RNA".split())
_ARM = re.compile(
    r"\b([A-Za-z][\w-]{2,})(?=\s+(?:group|groups|arm|arms|cohort|cells|mice|patients|therapy|treatment)\b)"
)
_NOT_AN_ARM = frozenset(
    """the two three four both these those this each all other same study age many most some such further our their
    cancer of and with whose more fewer treatment control-group were for experimental different""".split()
)
_TIME = re.compile(r"\b\d+(?:\.\d+)?[\s-](?:day|week|month|year|hour)s?\b", re.IGNORECASE)
_HOURS = {"hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.5, "year": 8766.0}
_PHASES = (("baseline", "follow-up"), ("preoperative", "postoperative"), ("short-term", "long-term"), ("day", "night"))
_LIMIT = re.compile(
    r"(?:,?\s+but (?:not|only)\b|,?\s+except\b|,?\s+unless\b|,?\s+only (?:in|when|if|after)\b|,?\s+if\b|,?\s+when\b|"
    r"\s+without\b|,?\s+although\b|\s+(?:in|among) (?:patients|women|men|children|mice|rats|adults|people|individuals|"
    r"those|subjects|vitro|vivo|human|murine)\b|\s+compared (?:with|to)\b|\s+(?:after|following|during) )"
    r"(?:[^.;]|\.(?=\d))*"
)
_PART = re.compile(r"\b(?:[Ss]ome|[Mm]any|[Mm]ost|[Ss]everal|[Aa] minority of|[Aa] subset of|[Hh]alf of)\b")
_ASSOCIATION = re.compile(r"\b(is|are|was|were) (?:\w+ly )?(?:associated|correlated) with\b")
_NUMBERS_APART = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(%?)(?=[^.;]{1,60}\b(?:vs\.?|versus|and|compared)\b)")


def edits(sentence: str, abstract: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Each edit that the sentence allows, once: (kind, edited sentence); none that stands in the abstract."""
    seen = {sentence}
    for kind, text in _all(sentence, abstract, rng):
        # What is left of a sentence stands in its abstract, of course, and still says more than the whole of it.
        if text in seen or (kind != "clause dropped" and text.rstrip(".").lower() in abstract.lower()):
            continue
        seen.add(text)
        yield kind, text


def _all(sentence: str, abstract: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    names = {
        "digit": "digit",
        "negation dropped": "negation",
        "negation added": "negation",
        "hedge dropped": "hedge dropped",
        "direction": "direction",
        "comparison sign": "direction",
        "power flattened": "digit",
        "minus dropped": "digit",
    }
    for kind, text in alterations(sentence, rng):
        if kind in names:
            yield names[kind], text
    yield from _with_other_unit(sentence, rng)
    yield from _with_antonym(sentence, rng)
    yield from _swapped("subject swapped", _NAME, sentence, abstract, _NOT_A_NAME, rng)
    yield from _swapped("arm swapped", _ARM, sentence, abstract, _NOT_AN_ARM, rng)
    yield from _figures_swapped(sentence)
    yield from _swapped("time swapped", _TIME, sentence, abstract, frozenset(), rng)
    for one, other in _PHASES:
        for word, instead in ((one, other), (other, one)):
            if re.search(rf"\b{word}\b", sentence):
                yield "time swapped", re.sub(rf"\b{word}\b", instead, sentence, count=1)
    limits = [m for m in _LIMIT.finditer(sentence) if len(sentence[: m.start()].split()) > 3]
    if limits:
        match = rng.choice(limits)
        yield "clause dropped", sentence[: match.start()] + sentence[match.end() :]
    yield "cause for association", _ASSOCIATION.sub(r"\1 caused by", sentence, count=1)
    yield "whole for part", _PART.sub(lambda m: "All" if m.group()[0].isupper() else "all", sentence, count=1)


def _with_other_unit(sentence: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    found = list(_UNIT.finditer(sentence))
    if found:
        match = rng.choice(found)
        other = match.group("gap") + _UNITS[match.group("unit")]
        yield "unit", sentence[: match.start()] + other + sentence[match.end() :]


def _with_antonym(sentence: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    found = [(m, other) for word, other in _ANTONYMS for m in re.finditer(rf"\b{word}\b", sentence)]
    if found:
        match, other = rng.choice(found)
        yield "antonym", sentence[: match.start()] + other + sentence[match.end() :]


def _swapped(
    kind: str, pattern: re.Pattern[str], sentence: str, abstract: str, stop: frozenset[str], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """One thing of the sentence, and another one of the same kind in the abstract in its place."""
    here = [m for m in pattern.finditer(sentence) if m.group().lower() not in stop and m.group() not in stop]
    there = {m.group() for m in pattern.finditer(abstract)}
    # A name that is part of one in the sentence, or its plural, may mean the same.
    others = sorted(
        o
        for o in there
        if o not in stop
        and o.lower() not in stop
        and not any(
            o.lower()[:4] == m.group().lower()[:4] or _is_same_time(o, m.group()) for m in pattern.finditer(sentence)
        )
    )
    if here and others:
        match = rng.choice(here)
        yield kind, sentence[: match.start()] + rng.choice(others) + sentence[match.end() :]


def _is_same_time(one: str, other: str) -> bool:
    """Whether two times are as long: "48 hours" and "2 days", "2-week" and "2 weeks"."""
    times = [re.match(r"([\d.]+)[\s-](hour|day|week|month|year)", text.lower()) for text in (one, other)]
    lengths = {float(m[1]) * _HOURS[m[2]] for m in times if m}
    return None not in times and len(lengths) == 1


def _figures_swapped(sentence: str) -> Iterator[tuple[str, str]]:
    """Two figures that are compared, the other way round: each then belongs to the wrong arm."""
    first = _NUMBERS_APART.search(sentence)
    if first is None:
        return
    rest = re.compile(
        rf"\b(?:vs\.?|versus|and|compared)\b[^.;]*?(?<![\w.])(\d+(?:\.\d+)?){re.escape(first.group(2))}(?![\w.])"
    )
    second = rest.search(sentence, first.end())
    if second is None or float(second.group(1)) == float(first.group(1)):
        return
    a, b = first.span(1), second.span(1)
    yield (
        "arm swapped",
        sentence[: a[0]] + second.group(1) + sentence[a[1] : b[0]] + first.group(1) + sentence[b[1] :],
    )
