"""Brackets that a claim may leave out: a statistic that bears out its sentence, or a short form of the words before it.

Any other bracket may turn the meaning ("(only in men)", "(p = 0.4)", "(OR 0.96, 95% CI 0.70-1.31)") and must stay.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from medcite_middleware.verification.words import Word

_STATISTIC_WORDS = frozenset(
    """n ci or rr hr aor ahr arr irr smd md wmd sd se sem iqr cri mean median range p to vs versus confidence
    interval intervals odds ratio hazard relative risk rate standard deviation error adjusted credible""".split()
)
_RATIOS = frozenset("or rr hr aor ahr irr ratio ratios".split())
_MARKS = frozenset("% < ≤ > ≥ = ± - / ~ × , ; : . ( ) [ ] + κ".split())
_MAX_P = 0.05
# Capitals that say something: not significant, not reached, in the United States, by mouth.
_STATEMENTS = frozenset("NS NR ND NA NE US USA UK EU IV PO IM SC KO WT".split())


def is_droppable(words: Sequence[Word], before: Sequence[Word]) -> bool:
    """Whether a bracket may be left out. `words` are its tokens, from the opening to the closing one, punctuation
    included; `before` is what stands before it."""
    if len(words) < 3 or words[0].form not in ("(", "[") or words[-1].form not in (")", "]"):
        return False
    inner = list(words[1:-1])
    if len(inner) == 1 and inner[0].kind in ("word", "identifier"):
        return _abbreviates(inner[0].form, before)
    if not any(w.is_number for w in inner):
        return False
    if not all(w.is_number or w.form in _MARKS or w.form.casefold() in _STATISTIC_WORDS for w in inner):
        return False
    forms = [w.form.casefold() for w in inner]
    if not {"%", "/", "n", "p", "ci", "interval", "intervals", "sd", "se", "range", "iqr"} & set(forms):
        return False
    return not (_has_large_p(forms) or _includes_no_effect(forms) or _spans_one_unnamed(forms))


def _abbreviates(form: str, before: Sequence[Word]) -> bool:
    """Whether `form` is in capitals, and its letters stand in order in the words before it (HBO, IL-18r)."""
    letters = [c for c in form.casefold() if c.isalpha()]
    if form in _STATEMENTS:
        return False
    if not 2 <= len(form) <= 10 or not re.search(r"[A-Z].*[A-Z0-9]|[A-Z0-9].*[A-Z]", form) or len(letters) < 2:
        return False
    words = [w.form.casefold() for w in before if w.kind in ("word", "identifier")][-2 * len(letters) - 2 :]
    return any(word[:1] == letters[0] and _in_order(letters, "".join(words[at:])) for at, word in enumerate(words))


def _in_order(letters: Sequence[str], text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _has_large_p(forms: Sequence[str]) -> bool:
    """Whether a p-value in it is not below 0.05, or cannot be read: leaving it out would hide that."""
    for at, form in enumerate(forms):
        if form == "p":
            value = forms[at + 2] if at + 2 < len(forms) else ""
            if forms[at + 1 : at + 2] not in (["="], ["<"], ["≤"]) or not re.fullmatch(r"\d+(\.\d+)?", value):
                return True
            if float(value) > _MAX_P or (float(value) == _MAX_P and forms[at + 1] != "<"):
                return True
    return False


def _includes_no_effect(forms: Sequence[str]) -> bool:
    """Whether an interval holds the value of no effect: 1 for a ratio, else 0; or cannot be read."""
    is_ratio = bool(_RATIOS & set(forms))
    for at, form in enumerate(forms):
        if form not in ("ci", "interval", "intervals", "cri"):
            continue
        bounds = _bounds(forms[at + 1 :])
        if bounds is None:
            return True
        low, high = bounds
        if low <= (1.0 if is_ratio else 0.0) <= high or (not is_ratio and low <= 1.0 <= high and low > 0 and high < 5):
            return True
    return False


def _spans_one_unnamed(forms: Sequence[str]) -> bool:
    """Whether a range without a name ("RR 0.8 [0.7-1.1]") may be the interval of a ratio that holds 1."""
    if {"range", "iqr", "median"} & set(forms):
        return False
    for low, sign, high in zip(forms, forms[1:], forms[2:], strict=False):
        is_range = sign in ("-", "to") and all(re.fullmatch(r"\d+(\.\d+)?", form) for form in (low, high))
        if is_range and float(low) <= 1 <= float(high):
            return True
    return False


def _bounds(forms: Sequence[str]) -> tuple[float, float] | None:
    """The two ends of an interval after its name: `0.7 - 1.3`, `0.7 , 1.3`, `- 0.5 - - 0.1`, `20 to 46`."""
    values: list[float] = []
    pairs = itertools.pairwise(["", *forms])
    earlier = ""
    for before, form in pairs:
        if re.fullmatch(r"\d+(\.\d+)?", form):
            is_minus = before == "-" and (not values or earlier in ("-", "to", ",", ";", "and"))
            values.append(-float(form) if is_minus else float(form))
            if len(values) == 2:
                return (values[0], values[1]) if values[0] <= values[1] else None
        earlier = before
    return None
