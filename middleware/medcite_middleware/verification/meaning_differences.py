"""What makes two texts say different things: figure, unit, negation, direction, comparison, certainty, order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rapidfuzz.distance import Indel

from medcite_core.stemming import stem
from medcite_middleware.verification.vocabulary import (
    ASSOCIATIONS,
    AUXILIARIES,
    CAUSES,
    FILLERS,
    HEDGES,
    NEGATIONS,
    NUMBER_WORDS,
    OPPOSITES,
    UNITS,
    WHOLES,
)
from medcite_middleware.verification.words import Word, meaning_words

_SIGNS = frozenset("< > ≤ ≥ = ± ~".split())
_UNIT_SIGNS = frozenset("% ‰ ° / ^".split())
_MORE = re.compile(
    r">|≥|\b(?:more|greater|higher|larger|longer|older|over|above|at\s+least|exceed\w*|no\s+fewer)\b", re.I
)
_LESS = re.compile(
    r"<|≤|\b(?:less|fewer|lower|smaller|shorter|younger|under|below|at\s+most|up\s+to|no\s+more)\b", re.I
)
_OPPOSITES_OF: dict[str, set[str]] = {}
for _left, _right in OPPOSITES:
    _OPPOSITES_OF.setdefault(_left, set()).add(_right)

_DIRECTION_PREFIXES = tuple(
    pair
    for one, other in (("hyper", "hypo"), ("up", "down"), ("en", "dis"), ("pre", "post"), ("in", "ex"))
    for pair in ((one, other), (other, one))
)
# Words that name another group, time or kind; swapping them changes what a sentence is about.
_GROUPS = """
men man male males boys | women woman female females girls
children child paediatric pediatric infants neonates adolescents | adults adult elderly
rats rat mice mouse dogs rabbits animals animal | humans human patients volunteers
benign | malignant
early earlier | late later
majority | minority
acute | chronic
before preoperative preoperatively baseline | after postoperative postoperatively
systolic | diastolic
maternal mothers | paternal fathers
left | right
primary | secondary
intravenous intravenously | oral orally
oral orally | topical topically
placebo | active
inpatients hospitalised hospitalized | outpatients
smokers | nonsmokers
upper | lower
anterior | posterior
proximal | distal
"""
_OTHER_GROUPS: dict[str, set[str]] = {}
for _row in _GROUPS.strip().splitlines():
    _one, _two = (side.split() for side in _row.split("|"))
    for _word in _one:
        _OTHER_GROUPS.setdefault(_word, set()).update(_two)
    for _word in _two:
        _OTHER_GROUPS.setdefault(_word, set()).update(_one)

_DIGIT = re.compile(r"\d")
_LIMITS = frozenset(
    "only except unless if but without although though mice mouse rats rat murine vitro animals animal".split()
)
_GREEK = str.maketrans({"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "ω": "omega"})
_COMPARING = frozenset("than versus vs compared superior inferior over exceeded exceeds".split())
# Words that deny by themselves, whatever the other text has.
_NEGATIVE = frozenset(
    "ineffective unsafe insignificant nonsignificant unable unaffected unchanged unsuccessful".split()
)
_NEAR_COPY = 0.8
_LONG_COPY = 0.88
_HEDGES = HEDGES | {"could", "would"}
_NAME = re.compile(r"(?=\w*[A-Z0-9])(?=\w*[^\W\d_])[\w-]{2,}")
_COMMON_CAPITALS = frozenset("DNA RNA CI OR RR HR US USA UK EU WHO II III IV".split())
_PASSIVE = frozenset("by".split())
_STRONGER = frozenset("proves proved prove definitely certainly clearly always never all every cures cured".split())
_NEGATION_WORDS = (NEGATIONS - {"absence", "absent", "n't"}) | {"without"}


def meaning_differs(a: str, b: str) -> str:
    """What keeps `a` from saying what `b` says, one sentence about it; empty when nothing that these rules can see.

    `a` is the claim, `b` the words it rests on; it may say less, but every figure of it must stand there with its unit,
    and its negations, directions, comparisons and certainty must be those of `b`. A veto, never a proof: that nothing
    differs here does not make two texts the same.
    """
    a, b = a.translate(_GREEK), b.translate(_GREEK)
    ours, theirs = meaning_words(a), meaning_words(b)
    for check in (
        _numbers,
        _names,
        _negation,
        _direction,
        _comparison,
        _certainty,
        _group,
        _order,
        _left_out,
        _one_word,
    ):
        told = check(ours, theirs, a, b)
        if told:
            return told
    return ""


def what_differs(edits: Iterable[tuple[Sequence[str], Sequence[str]]]) -> str:
    """The kind of a list of edits, each (words of the source, words instead): the one that weighs most."""
    kinds = {_kind_of(removed, added) for removed, added in edits}
    for kind in ("number", "unit", "negation", "comparison", "direction", "certainty", "word", "left out", "added"):
        if kind in kinds:
            return kind
    return "punctuation"


def _kind_of(removed: Sequence[str], added: Sequence[str]) -> str:
    gone, new = {w.lower() for w in removed}, {w.lower() for w in added}
    changed = gone ^ new
    if _DIGIT.search(" ".join(changed)) or not changed.isdisjoint(NUMBER_WORDS):
        return "number"
    if changed & _NEGATION_WORDS or _is_negated_copy(gone, new):
        return "negation"
    if changed & (_SIGNS | {"than", "least", "most"}) or ("-" in changed and not (gone | new) - {"-"}):
        return "comparison"
    if changed & _UNIT_SIGNS or (changed <= UNITS | {"percent"} and changed):
        return "unit"
    if any(_OPPOSITES_OF.get(w, set()) & gone for w in new) or _turned_prefix(gone, new):
        return "direction"
    if changed & HEDGES:
        return "certainty"
    if not any(c.isalnum() for w in changed for c in w):
        return "punctuation"
    if gone and new:
        return "word"
    return "left out" if gone else "added"


def _numbers(ours: Sequence[Word], theirs: Sequence[Word], a: str, b: str) -> str:
    stated = Counter(_figures(theirs, b))
    for figure, unit in _figures(ours, a):
        units = {u for f, u in stated if f == figure}
        if not units:
            return f"number: {figure} does not stand there"
        if unit and unit not in units:
            there = ", ".join(f"{figure} {u}".strip() for u in sorted(units))
            return f"unit: {figure} {unit} where it stands as {there}"
    return ""


def _is_minus(words: Sequence[Word], at: int, text: str) -> bool:
    """Whether the dash before a number is its sign, and not that of a range."""
    return at < 2 or not words[at - 2].is_number or text[words[at - 1].span.start - 1] in "( "


def _names(ours: Sequence[Word], theirs: Sequence[Word], a: str, b: str) -> str:
    """Whether names with figures or in capitals stand there: IL-6, CD45, mTOR, BDNF, or what they are short for."""
    known = re.sub(r"[\W_]+", "", b).casefold()
    for word in ours:
        if not _NAME.fullmatch(word.form) or word.form in _COMMON_CAPITALS:
            continue
        plain_name = re.sub(r"[\W_]+", "", word.form).casefold()
        if plain_name.removesuffix("s") in known:
            continue
        letters = re.sub(r"[\d]", "", plain_name).removesuffix("s")
        figures = re.findall(r"\d+", word.form)
        if len(letters) > 1 and _stands_for(letters, theirs) and all(f in re.findall(r"\d+", b) for f in figures):
            continue
        if figures and _written_out(letters, figures[0], b):
            continue
        return f"name: {word.span.of(a)} does not stand there"
    return ""


def _written_out(letters: str, figure: str, text: str) -> bool:
    """Whether a long word that the letters stand for bears the figure: IL-2 is "interleukin 2"."""
    pattern = r"\b" + r"[a-z]*".join(letters) + rf"[a-z]{{3,}}[\s-]*{figure}\b"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _stands_for(letters: str, words: Sequence[Word]) -> bool:
    """Whether letters are the initials of words in a row."""
    initials = "".join(w.form[0].casefold() for w in words if w.kind in ("word", "identifier"))
    return letters in initials


def _figures(words: Sequence[Word], text: str) -> list[tuple[str, str]]:
    found = []
    for at, word in enumerate(words):
        if not word.is_number:
            continue
        before = words[at - 1] if at else None
        is_negative = before is not None and before.form == "-" and _is_minus(words, at, text)
        after = words[at + 1].form if at + 1 < len(words) else ""
        power = after if after.startswith("^") else ""
        unit = after if after in _UNIT_SIGNS | UNITS and after not in ("/",) else ""
        found.append(
            (
                ("-" if is_negative else "") + word.form + power,
                stem(unit) if unit.isalpha() and unit.islower() else unit,
            )
        )
    return found


def _negation(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    left, right = _negations(ours, theirs), _negations(theirs, ours)
    if left % 2 == right % 2:
        return ""
    return "negation: denied there, and not here" if right > left else "negation: denied here, and not there"


def _negations(words: Sequence[Word], others: Sequence[Word]) -> int:
    """How often a text denies: "not", "without", "failed", and "unsafe" where the other text has "safe"."""
    forms = [w.form.casefold() for w in words]
    other_forms = {w.form.casefold() for w in others}
    stems = {stem(f) for f in other_forms}
    count = sum(f in _NEGATION_WORDS for f in forms)
    for form in set(forms):
        if form in other_forms:
            continue
        if form in _NEGATIVE:
            count += 1
            continue
        for prefix in ("un", "in", "im", "ir", "non", "dis"):
            rest = form.removeprefix(prefix).lstrip("-")
            if rest != form and len(rest) > 3 and stem(rest) in stems:
                count += 1
                break
    return count


def _is_negated_copy(gone: set[str], new: set[str]) -> bool:
    return any(
        left == prefix + right or right == prefix + left
        for left in gone
        for right in new
        for prefix in ("un", "in", "im", "ir", "non", "dis", "il")
    )


def _turned_prefix(gone: set[str], new: set[str]) -> bool:
    return any(left.startswith(a) and b + left[len(a) :] in new for left in gone for a, b in _DIRECTION_PREFIXES)


def _direction(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    here, there = {w.form.casefold() for w in ours}, {w.form.casefold() for w in theirs}
    stems_here, stems_there = {stem(w) for w in here}, {stem(w) for w in there}
    for word in sorted(here - there):
        against = sorted(_OPPOSITES_OF.get(word, set()) & there)
        if not against or word.endswith(against[0]) or against[0].endswith(word):  # "unsafe" is counted as a negation
            continue
        if stem(word) not in stems_there and stem(against[0]) not in stems_here:
            return f"direction: “{word}” here, “{against[0]}” there"
    if _turned_prefix(there - here, here - there):
        return "direction: a word with the opposite prefix"
    return ""


def _comparison(ours: Sequence[Word], theirs: Sequence[Word], a: str, b: str) -> str:
    for word in (w for w in ours if w.is_number):
        here = _bound(a, word)
        there = {_bound(b, other) for other in theirs if other.form == word.form}
        if there and here not in there and (here or "" not in there):
            return f"comparison: {word.form} is bounded otherwise"
    return ""


def _bound(text: str, number: Word) -> str:
    """Whether a number is a lower bound (`>`), an upper one (`<`) or none; the words directly before it tell."""
    before = text[max(0, number.span.start - 18) : number.span.start]
    near = re.search(
        r"(?:[<>≤≥]|\b(?:[a-z]+\s+than|at\s+(?:least|most)|up\s+to|over|under|above|below|exceed\w*))\s*$", before, re.I
    )
    if near is None:
        return ""
    return ">" if _MORE.search(near.group()) else "<" if _LESS.search(near.group()) else ""


def _certainty(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    here, there = {w.form.casefold() for w in ours}, {w.form.casefold() for w in theirs}
    hedges = (there & _HEDGES) - {"indicate", "indicates", "likely", "potential"}
    if hedges and not here & _HEDGES:
        return f"certainty: “{sorted(hedges)[0]}” there, nothing like it here"
    both_deny = bool(here & _NEGATION_WORDS) and bool(there & _NEGATION_WORDS)
    if there & ASSOCIATIONS and not here & ASSOCIATIONS and (here & CAUSES) - there and not both_deny:
        return f"certainty: a cause here (“{sorted((here & CAUSES) - there)[0]}”), an association there"
    wholes = here & (WHOLES | _STRONGER) - there
    if wholes:
        return f"certainty: “{sorted(wholes)[0]}” here, not there"
    return ""


def _group(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    here, there = {w.form.casefold() for w in ours}, {w.form.casefold() for w in theirs}
    for word in sorted(here - there):
        against = sorted((_OTHER_GROUPS.get(word, set()) & there) - here)
        if against and not _OTHER_GROUPS[against[0]] & there:
            return f"group: “{word}” here, “{against[0]}” there"
    return ""


def _left_out(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    """Whether a claim in the quote's own words leaves out what limits it: "only", "unless", "in mice"."""
    left, right = [w.form.casefold() for w in ours], [w.form.casefold() for w in theirs]
    codes = Indel.opcodes(right, left)
    added = sum(code.dest_end - code.dest_start for code in codes if code.tag == "insert")
    if added > 1 or len(left) - added < 3:
        return ""
    gone = [w for code in codes if code.tag == "delete" for w in right[code.src_start : code.src_end]]
    limits = [w for w in gone if w in _LIMITS and w not in left]
    return f"left out: “{limits[0]}” there, not here" if limits else ""


def _one_word(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    """Whether a copy has another word in one place, which then names something else: a copy is no paraphrase."""
    left, right = [w.form.casefold() for w in ours], [w.form.casefold() for w in theirs]
    if min(len(left), len(right)) < 3:
        return ""
    edits = list(_edits_between(right, left))
    is_same_but_one = len(left) == len(right) and len(edits) == 1 and len(edits[0][0]) == len(edits[0][1]) == 1
    if not is_same_but_one and Indel.normalized_similarity(left, right) < _LONG_COPY:
        return ""
    for gone, new in edits:
        stems = {stem(w) for w in gone}
        others = [w for w in new if stem(w) not in stems and w not in FILLERS | AUXILIARIES and w.isalnum()]
        if gone and others:
            return f"word: “{others[0]}” here, “{' '.join(gone)}” there"
        hedges = [w for w in gone if w in _HEDGES and w not in new]
        if hedges:
            return f"certainty: “{hedges[0]}” there, nothing like it here"
    return ""


def _edits_between(old: list[str], new: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Runs of words in which `new` differs from `old`: (left out, put in)."""
    gone: list[str] = []
    put: list[str] = []
    for code in Indel.opcodes(old, new):
        if code.tag == "equal":
            if gone or put:
                yield gone, put
            gone, put = [], []
        else:
            gone, put = gone + old[code.src_start : code.src_end], put + new[code.dest_start : code.dest_end]
    if gone or put:
        yield gone, put


def _order(ours: Sequence[Word], theirs: Sequence[Word], _a: str, _b: str) -> str:
    """Whether nearly the same words stand in another order, which swaps who did what to whom."""
    left, right = _content(ours), _content(theirs)
    if _is_passive(ours) != _is_passive(theirs) or len(left) < 2:
        return ""
    common = Counter(left) & Counter(right)
    shared = sum(common.values())
    if shared < len(left) - 1 or shared < 3:
        return ""
    kept_left = [w for w in left if w in common]
    kept_right = [w for w in right if w in common]
    in_order = Indel.distance(kept_left, kept_right)
    spare = abs(len(kept_left) - len(kept_right))
    if in_order <= spare + 1:
        return ""
    compares = any(w.form in _COMPARING for w in (*ours, *theirs))
    is_copy = Counter(left) == Counter(right) or 2 * shared >= _NEAR_COPY * (len(left) + len(right))
    return "order: the same words in another order" if compares or is_copy else ""


def _content(words: Sequence[Word]) -> list[str]:
    """Stems of the words that carry a sentence, in order; two that "and" or "or" joins stand in one order."""
    found = [
        stem(w.form)
        for w in words
        if w.kind in ("word", "identifier", "number") and w.form not in FILLERS | AUXILIARIES
        if len(w.form) > 2 or w.form == "or" or w.is_number or w.form[0].isupper()
    ]
    for at in range(1, len(found) - 1):
        is_pair = found[at] in ("and", "or") and not (found[at - 1] + found[at + 1]).isdigit()
        if is_pair and found[at - 1] > found[at + 1]:
            found[at - 1], found[at + 1] = found[at + 1], found[at - 1]
    return found


def _is_passive(words: Sequence[Word]) -> bool:
    return any(w.form.casefold() in _PASSIVE for w in words)
