"""Whether what differs is the finding itself: only then is a changed figure, negation or direction a contradiction.

The same word elsewhere names another group, dose or time ("patients older than 65", "high-dose aspirin", "with no prior
treatment"), and the sentence is then about something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation

from medcite_middleware.verification.vocabulary import (
    AUXILIARIES,
    FINDING_VERBS,
    LABEL_NOUNS,
    MEASURE_VERBS,
    THRESHOLDS,
    UNITS,
)
from medcite_middleware.verification.words import Word

_ARTICLES = frozenset("a an the".split())
_GROUP_WORDS = frozenset(
    """with of among having in for without receiving given taking at after before during under on by to from fed
    exposed than per""".split()
)
_CONDITIONS = frozenset("when if unless because although while whether only".split())
_PARTS = frozenset("half some many most several few".split())
_LINKS = frozenset("associated correlated linked related".split())
_RELATIVE = frozenset("who whom whose which that".split())


def is_measure(number: Word, source: Sequence[Word]) -> bool:
    """Whether a number is a result: after the verb, and no dose, threshold, point in time, year or name of a group."""
    at = source.index(number)
    before = source[at - 1].form.casefold() if at else ""
    after = source[at + 1].form.casefold() if at + 1 < len(source) else ""
    if before in MEASURE_VERBS and not number.is_compound:
        return not _RELATIVE & {w.form.casefold() for w in source[max(0, at - 3) : at]}
    if before in LABEL_NOUNS | THRESHOLDS or after in UNITS or number.is_compound or _ends_a_range(at, source):
        return False
    return not re.fullmatch(r"(1[89]|20)\d\d", number.form) and _is_after_the_verb(at, source)


def _ends_a_range(at: int, source: Sequence[Word]) -> bool:
    """Whether a number is the end of "20 to 46"; "rose to 46" and "from 20% to 46%" say what was found."""
    earlier = [w for w in source[max(0, at - 4) : at] if w.form != "%"]
    if len(earlier) < 2 or earlier[-1].form != "to" or not earlier[-2].is_number:
        return False
    return len(earlier) < 3 or earlier[-3].form.casefold() != "from"


def is_rounding(claimed: str, stated: str) -> bool:
    """Whether the claim's number is the source's, rounded to the claim's own precision (halves either way)."""
    try:
        ours, theirs = Decimal(claimed), Decimal(stated)
    except InvalidOperation:
        return False
    zeros = len(claimed) - len(claimed.rstrip("0")) if "." not in claimed else 0
    step = Decimal(1).scaleb(zeros if zeros else -len(claimed.partition(".")[2]))
    if theirs == ours or theirs % step == 0:
        return False
    return any((theirs / step).quantize(Decimal(1), way) * step == ours for way in (ROUND_HALF_UP, ROUND_HALF_EVEN))


def negates_the_finding(negations: set[str], touched: set[str], at: int, source: Sequence[Word]) -> bool:
    """Whether a negation at position `at` turns the main statement."""
    near = [w.form.casefold() for w in source[max(0, at - 4) : at]]
    earlier = {w.form.casefold() for w in source[:at]}
    if _RELATIVE & set(near) or (_CONDITIONS | _PARTS) & earlier or any(w.is_number for w in source[:at]):
        return False
    before = near[-1] if near else ""
    if negations <= {"no", "never"}:
        return not near or before in AUXILIARIES or before in FINDING_VERBS or before == "there"
    if negations & {"fail", "fails", "failed"}:
        return True
    return negations == {"not"} and bool(before in AUXILIARIES or touched & AUXILIARIES)


def is_finding(word: Word, source: Sequence[Word]) -> bool:
    """Whether a direction word says what happened, and not which group it happened to ("patients with higher …")."""
    if word.is_compound:
        return False
    at = source.index(word)
    earlier = [w.form.casefold() for w in source[:at]]
    while earlier and earlier[-1] in _ARTICLES:
        earlier.pop()
    before = earlier[-1] if earlier else ""
    if before in _GROUP_WORDS and (len(earlier) < 2 or earlier[-2] not in _LINKS):
        return False
    is_verb = word.form in FINDING_VERBS
    if is_verb:
        return bool(earlier) and not _RELATIVE & set(earlier[-2:])
    return _is_after_the_verb(at, source)


def _is_after_the_verb(at: int, source: Sequence[Word]) -> bool:
    """Whether a verb that states a finding stands before position `at`, outside a relative clause."""
    forms = [w.form.casefold() for w in source[:at]]
    return any(
        (form in AUXILIARIES or form in FINDING_VERBS) and not _RELATIVE & set(forms[max(0, i - 2) : i])
        for i, form in enumerate(forms)
    )
