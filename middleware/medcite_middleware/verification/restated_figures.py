"""The figures of a claim and of one sentence of a source: the same in another form, or others in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from medcite_middleware.verification.chat_checks import directions
from medcite_middleware.verification.comparison import Comparison, compare
from medcite_middleware.verification.figure_frames import LIMIT_STEMS, content_of, without, without_brackets
from medcite_middleware.verification.matches import MIN_SIMILARITY
from medcite_middleware.verification.measures import Relation, allowance, as_share, converted, relation
from medcite_middleware.verification.quantities import Quantity, quantities

Outcome = Literal["supported", "contradicted", "inside", "ambiguous"]

LEAST_WORDS = 2
"""Content words that both texts must share beside their figures."""
_FIRST_MARK = 7711
_OTHER_MARK = 9937
_OF_AFTER = re.compile(r"\s+of(?:\s+(?:the|all))?(?=\s)")
_OF_FIRST = re.compile(
    r"^(?:Of|Among|Out\sof)\s(?:the\s|all\s)?(?P<whole>[^,]+?),\s(?P<part>[^\s(]+)(?:\s\([^)]*\))?\s(?P<rest>.+)$",
    re.DOTALL,
)
_WAYS = re.compile(r"\b(?:from|to|by|than|versus|vs|over|against|between|per)\b")
_HAIR, _THOUSAND = Decimal("1e-9"), Decimal(1000)
_FRAME = frozenset("proport percentag fraction share percent total overal altogeth in".split())
"""Stems that say that there is a figure, and nothing about what."""
_MEASURED = {"weigh": "mass", "weight": "mass", "durat": "last", "price": "cost"}
"""Stems for what a unit measures anyway: what weighs 0.9 kg has a mass of 0.9 kg."""
LABELS = frozenset(("label",))
"""Kinds that name something and measure nothing."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A figure worked out: `formula` over `operands` (name, value) gives `result`, `claimed` is within `tolerance`."""

    formula: str
    operands: tuple[tuple[str, Decimal], ...]
    result: Decimal
    claimed: Decimal
    tolerance: Decimal
    unit: str = ""


Read = tuple[Outcome, str, tuple[Computed, ...], int]


class Sides:
    """The quantities of a claim and of a sentence, each numeral read as the source writes numerals."""

    def __init__(self, claim: str, sentence: str, convention: Literal["point", "comma", ""]) -> None:
        self.claim, self.sentence = claim, sentence
        own = quantities(claim)
        # A claim that does not tell whether its point groups digits is read as its source is.
        self.ours = quantities(claim, convention) if any(q.is_ambiguous for q in own) and convention else own
        self.theirs = quantities(sentence, convention)


def part_first(sentence: str) -> str:
    """ "Of 104 patients, 47 (45%) responded" as "47 of 104 patients responded"; empty for another sentence."""
    match = _OF_FIRST.match(sentence)
    if not match or not any(q.kind == "number" for q in quantities(match["whole"])):
        return ""
    return f"{match['part']} of {match['whole']} {match['rest']}"


def restated(sides: Sides) -> Read | None:
    """The sentence says the claim's figures in another unit or form, rounded, or other figures in their place."""
    ours = [q for q in sides.ours if q.kind not in LABELS]
    theirs = [q for q in sides.theirs if q.kind not in LABELS]
    related = {
        (a, b): relation(ours[a], theirs[b], sides.claim, sides.sentence)
        for a in range(len(ours))
        for b in range(len(theirs))
    }
    partner = _partners(len(ours), len(theirs), related)
    open_ones = [a for a in range(len(ours)) if a not in partner]
    if not open_ones:
        comparison = _compared(sides, ours, theirs, partner)
        changed = [(ours[a], theirs[b]) for a, b in partner.items() if _is_other_form(ours[a], theirs[b], sides)]
        if comparison.difference != "none" or comparison.common_words < LEAST_WORDS or not changed:
            return None
        computed = tuple(c for pair in changed for c in _equalities(*pair, sides))
        told = "; ".join(_same_words(*pair, sides) for pair in changed)
        return "supported", f"The source says it in another form: {told}.", computed, comparison.common_words
    if len(open_ones) > 1:
        return None
    return _other_figure(sides, ours, theirs, partner, open_ones[0], related)


def _partners(ours: int, theirs: int, related: Mapping[tuple[int, int], Relation | None]) -> dict[int, int]:
    """For each figure of the claim the first equal one of the sentence that no other has taken, in order."""
    partner: dict[int, int] = {}
    for a in range(ours):
        free = [b for b in range(theirs) if related[a, b] == "equal" and b not in partner.values()]
        if free:
            partner[a] = free[0]
    return partner


def _other_figure(
    sides: Sides,
    ours: Sequence[Quantity],
    theirs: Sequence[Quantity],
    partner: dict[int, int],
    at: int,
    related: Mapping[tuple[int, int], Relation | None],
) -> Read | None:
    """The one figure of the claim that the sentence does not have: is there another in its place?"""
    claimed = ours[at]
    places = [
        b
        for b in range(len(theirs))
        if b not in partner.values()
        and (related[at, b] is not None or (claimed.is_ambiguous or theirs[b].is_ambiguous))
        and _compared(sides, ours, theirs, {**partner, at: b}).difference == "none"
    ]
    if len(places) != 1:
        return None
    there = theirs[places[0]]
    says, claims = there.span.of(sides.sentence).strip(), claimed.span.of(sides.claim).strip()
    common = _compared(sides, ours, theirs, {**partner, at: places[0]}).common_words
    if claimed.is_ambiguous or there.is_ambiguous:
        which = claims if claimed.is_ambiguous else says
        told = f"“{which}” may be a whole number with its digits grouped, or a decimal; it is not guessed."
        return "ambiguous", told, (), common
    state = related[at, places[0]]
    if state == "inside":
        told = f"The source gives a range, {says}; {claims} is within the stated range, not what it states."
        return "inside", told, (), common
    if state != "differs" or not _is_other_form(claimed, there, sides):
        return None
    turned = _compared(sides, ours, theirs, {**partner, at: places[0]}, differing=at)
    if turned.difference != "number" or not turned.lines_up or turned.similarity < MIN_SIMILARITY:
        return None
    computed = _equalities(claimed, there, sides)
    return "contradicted", f"The source says {says} where the answer says {claims}.", computed, common


def _compared(
    sides: Sides,
    ours: Sequence[Quantity],
    theirs: Sequence[Quantity],
    partner: dict[int, int],
    differing: int | None = None,
) -> Comparison:
    """Both texts with the paired figures replaced by marks, compared; the pair of `differing` gets unequal ones."""
    units = {a: _unit_mark(ours[a], sides.claim) for a in partner}
    mine = [(ours[a], f"{_FIRST_MARK + a}{units[a]}") for a in partner]
    other = [(theirs[b], f"{_OTHER_MARK if a == differing else _FIRST_MARK + a}{units[a]}") for a, b in partner.items()]
    return compare(_marked(sides.claim, mine), _marked(sides.sentence, other))


def _unit_mark(quantity: Quantity, text: str) -> str:
    """What stands behind a mark for a unit, the same on both sides."""
    if as_share(quantity, text):
        return "%"
    written = quantity.span.of(text)
    unit = re.search(r"[^\d\s.,'’×⁰-⁹⁻-][^\d]*$", written)
    return f" {unit.group().strip()}" if quantity.kind == "measure" and unit else ""


def _marked(text: str, marks: Sequence[tuple[Quantity, str]]) -> str:
    for quantity, mark in sorted(marks, key=lambda pair: -pair[0].span.start):
        start, end = quantity.span.start, quantity.span.end
        if mark.endswith("%") and (of := _OF_AFTER.match(text, end)):
            end = of.end()
        text = f"{text[:start]}{mark}{text[end:]}"
    return text


def _is_other_form(claimed: Quantity, there: Quantity, sides: Sides) -> bool:
    """Whether the rules that compare words would take the two for different, or not know what they are."""
    one, two = claimed.span.of(sides.claim), there.span.of(sides.sentence)
    return "".join(one.split()).casefold() != "".join(two.split()).casefold()


def _equalities(claimed: Quantity, there: Quantity, sides: Sides) -> tuple[Computed, ...]:
    """How the source's figure becomes the claim's: one computation for a value, two for the ends of a range."""
    if claimed.comparator or there.comparator:
        return ()  # a bound is met or not, it is no result
    allowed = allowance(claimed)
    unit = "%" if as_share(claimed, sides.claim) else claimed.unit
    if there.kind == "fraction" and claimed.kind != "fraction":
        scale, formula = (1, "a / b") if claimed.kind == "number" else (100, "a / b * 100")
        result = there.parts[0] / there.parts[1] * scale
        return (Computed(formula, (("a", there.parts[0]), ("b", there.parts[1])), result, claimed.low, allowed, unit),)
    measured = converted(there, claimed, sides.sentence, sides.claim)
    if measured is None or there.parts:
        return ()
    times = measured.low / there.low if there.low else Decimal(1)
    formula = "a" if times == 1 else f"a * {times.normalize():f}"
    pairs = [(there.low, measured.low, claimed.low)]
    if there.is_range or claimed.is_range:
        pairs.append((there.high, measured.high, claimed.high))
    return tuple(Computed(formula, (("a", raw),), value, said, allowed, unit) for raw, value, said in pairs)


def _same_words(claimed: Quantity, there: Quantity, sides: Sides) -> str:
    says, claims = there.span.of(sides.sentence).strip(), claimed.span.of(sides.claim).strip()
    if claimed.comparator:
        return f"{says} is {claims}"
    (first, *_) = _equalities(claimed, there, sides) or (None,)
    if first is not None and abs(first.result - first.claimed) > abs(first.claimed) * _HAIR:
        worked_out = _shown(first.result) + (first.unit if first.unit == "%" else "")
        is_as_written = worked_out.rstrip("%") == says.rstrip("%")
        return f"{says} is rounded to {claims}" if is_as_written else f"{says} is {worked_out}, rounded to {claims}"
    return f"{says} is {claims}"


def _shown(value: Decimal) -> str:
    if value == value.to_integral_value():
        return f"{float(value):,.10g}"
    return f"{float(value):,.2f}" if abs(value) >= _THOUSAND else f"{float(value):.4g}"


# ---------------------------------------------------------------- the same words in another order of speech


def same_subject(sides: Sides) -> Read | None:
    """One figure each about the same words in the same order: "12% relapsed", "the share with relapse was 0.12"."""
    ours = [q for q in sides.ours if q.kind not in LABELS]
    bracket_free = without_brackets(sides.sentence)
    theirs = [q for q in sides.theirs if q.kind not in LABELS and bracket_free[q.span.start : q.span.end].strip()]
    if len(ours) != 1 or len(theirs) != 1 or _limits_in_brackets(sides.sentence):
        return None
    claimed, there = ours[0], theirs[0]
    mine, other = without(sides.claim, [claimed.span]), without(bracket_free, [there.span])
    said, told = subject(mine), subject(other)
    if not said or said != told or directions(sides.claim) or directions(sides.sentence):
        return None
    if _WAYS.findall(mine.casefold()) != _WAYS.findall(other.casefold()):
        return None  # "from A to B" is not "to A from B"
    state = relation(claimed, there, sides.claim, sides.sentence)
    if not _is_other_form(claimed, there, sides) or state not in ("equal", "differs"):
        return None
    computed = _equalities(claimed, there, sides)
    if state == "equal":
        return (
            "supported",
            f"The source says it in another form: {_same_words(claimed, there, sides)}.",
            computed,
            len(said),
        )
    is_result = as_share(claimed, sides.claim) or claimed.kind == "money" or (claimed.is_range and there.is_range)
    if not is_result:
        return None  # another time, dose or size is another statement
    says, claims = there.span.of(sides.sentence).strip(), claimed.span.of(sides.claim).strip()
    return "contradicted", f"The source says {says} where the answer says {claims}.", computed, len(said)


def subject(text: str) -> tuple[str, ...]:
    """Stems of what a text is about, without those that say that there is a figure; one name for what is measured."""
    return tuple(_MEASURED.get(stem, stem) for stem in content_of(text) if stem not in _FRAME)


def _limits_in_brackets(sentence: str) -> bool:
    """Whether a bracket may bound what the sentence says: it holds such a word, or no figure."""
    inside = re.findall(r"\(([^()]*)\)|\[([^\[\]]*)\]", sentence)
    texts = [one or two for one, two in inside]
    return any(not quantities(text) or set(content_of(text)) & LIMIT_STEMS for text in texts)
