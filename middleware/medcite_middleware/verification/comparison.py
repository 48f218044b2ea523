"""How a claim differs from one sentence of a source, word by word, and whether the difference turns its meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Indel

from medcite_core.stemming import stem
from medcite_middleware.verification.vocabulary import (
    AUXILIARIES,
    HARMLESS,
    HEDGES,
    LABEL_NOUNS,
    NEGATIONS,
    OPENINGS,
    OPPOSITES,
    TIME_UNITS,
)
from medcite_middleware.verification.words import Word, meaning_words

Difference = Literal["none", "number", "negation", "direction", "hedge", "word", "left_out", "other"]

MIN_CONTENT_WORDS = 4
"""A sentence with fewer words in common is too general to confirm or to deny anything."""

MIN_NEGATED_WORDS = 2
"""A negated copy may be this short: "Deaths occurred." against "No deaths occurred."."""

MAX_OPENING_WORDS = 6


@dataclass(frozen=True, slots=True)
class Comparison:
    """One claim against one source sentence.

    `similarity` is 0..100 over the words of both (rapidfuzz, normalised Indel). `difference` names the one kind of
    difference there is; `other` when there are several, or one that these rules cannot read. `lines_up` says whether
    subject, measure, arm and time are the same, so that the difference is a contradiction. `claim_words` and
    `source_words` are what differs, as written in normal form.
    """

    similarity: float
    difference: Difference
    lines_up: bool
    common_words: int
    claim_words: tuple[str, ...] = ()
    source_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Edit:
    removed: tuple[Word, ...]  # source words that the claim lacks
    added: tuple[Word, ...]  # claim words that the source lacks
    at: int  # position in the source's words


def compare(claim_text: str, sentence: str) -> Comparison:
    """Compare a claim (without citation marks) with one sentence of a source."""
    claim = _without_opening(meaning_words(claim_text))
    source = _without_opening(meaning_words(sentence))
    claim_forms, source_forms = [w.form for w in claim], [w.form for w in source]
    similarity = 100 * Indel.normalized_similarity(claim_forms, source_forms)
    edits = [e for e in _edits(source, claim) if not _is_harmless(e, source)]
    common = sum(w.kind in ("word", "identifier") and w.form not in HARMLESS for w in claim) - sum(
        len(e.added) for e in edits
    )
    difference, lines_up = _read(edits, source)
    if common < (MIN_CONTENT_WORDS if difference != "negation" else MIN_NEGATED_WORDS):
        lines_up = False
    return Comparison(
        similarity,
        difference,
        lines_up,
        common,
        tuple(w.form for e in edits for w in e.added),
        tuple(w.form for e in edits for w in e.removed),
    )


def _without_opening(words: tuple[Word, ...]) -> tuple[Word, ...]:
    for length in range(min(MAX_OPENING_WORDS, len(words) - MIN_CONTENT_WORDS), 0, -1):
        if tuple(w.form for w in words[:length]) in OPENINGS:
            return _without_opening(words[length:])
    return words


def _edits(source: Sequence[Word], claim: Sequence[Word]) -> list[_Edit]:
    opcodes = Indel.opcodes([w.form for w in source], [w.form for w in claim])
    edits: list[_Edit] = []
    open_removed: list[Word] = []
    open_added: list[Word] = []
    at = 0
    for code in opcodes:
        if code.tag == "equal":
            if open_removed or open_added:
                edits.append(_Edit(tuple(open_removed), tuple(open_added), at))
            open_removed, open_added = [], []
            continue
        if not open_removed and not open_added:
            at = code.src_start
        open_removed.extend(source[code.src_start : code.src_end])
        open_added.extend(claim[code.dest_start : code.dest_end])
    if open_removed or open_added:
        edits.append(_Edit(tuple(open_removed), tuple(open_added), at))
    return edits


def _is_harmless(edit: _Edit, source: Sequence[Word]) -> bool:
    removed = [w for w in edit.removed if w.form not in HARMLESS]
    added = [w for w in edit.added if w.form not in HARMLESS]
    if not removed and not added:
        return True
    return not added and _is_whole_aside(edit, removed, source)


def _is_whole_aside(edit: _Edit, removed: Sequence[Word], source: Sequence[Word]) -> bool:
    """Whether what was left out is a whole bracket that holds a statistic or an abbreviation and turns no meaning."""
    if any(w.depth == 0 for w in removed):
        return False
    end = edit.at + len(edit.removed)
    is_whole = (edit.at == 0 or source[edit.at - 1].depth == 0) and (end >= len(source) or source[end].depth == 0)
    forms = [w.form for w in removed]
    if not is_whole or any(
        f in NEGATIONS or f in HEDGES or f in ("ns", "nonsignificant", "insignificant") for f in forms
    ):
        return False
    if _has_large_p(forms):
        return False
    return any(w.is_number for w in removed) or len(removed) == 1


def _has_large_p(forms: Sequence[str]) -> bool:
    """Whether a bracket holds a p-value that is not below 0.05: leaving it out would hide that."""
    for i, form in enumerate(forms[:-2]):
        if form != "p":
            continue
        sign, value = forms[i + 1], forms[i + 2]
        if not re.fullmatch(r"\d+(\.\d+)?", value):
            return True
        if sign not in ("=", "<", "≤") or float(value) > 0.05:
            return True
    return False


def _read(edits: Sequence[_Edit], source: Sequence[Word]) -> tuple[Difference, bool]:
    if not edits:
        return "none", True
    kinds = [_kind(e, source) for e in edits]
    names = {name for name, _ in kinds}
    if len(names) > 1:
        return "other", False
    name, _ = kinds[0]
    # Two directions or two negations turned may mean the same again; two numbers may be another arm or time.
    return name, name in ("number", "negation", "direction") and len(edits) == 1 and kinds[0][1]


def _kind(edit: _Edit, source: Sequence[Word]) -> tuple[Difference, bool]:
    """The kind of one edit, and whether it lines up."""
    removed = [w for w in edit.removed if w.form not in HARMLESS]
    added = [w for w in edit.added if w.form not in HARMLESS]
    if len(removed) != 1 or len(added) != 1:
        removed, added = _without_inflections(removed, added)
    removed_forms = {w.form for w in removed}
    added_forms = {w.form for w in added}
    if len(removed) == len(added) == 1 and removed[0].is_number and added[0].is_number:
        return "number", _is_measure(removed[0], source) and not _is_rounding(added[0].form, removed[0].form)
    if (removed_forms | added_forms) and (removed_forms & NEGATIONS or added_forms & NEGATIONS):
        rest = (removed_forms | added_forms) - NEGATIONS - AUXILIARIES
        is_one_sided = bool(removed_forms & NEGATIONS) != bool(added_forms & NEGATIONS)
        if is_one_sided and not rest:
            return "negation", _negates_the_verb(edit, source)
    if len(removed) == len(added) == 1 and (removed[0].form, added[0].form) in OPPOSITES:
        return "direction", _is_predicate(removed[0], source)
    if not added and removed_forms and removed_forms <= HEDGES | AUXILIARIES and removed_forms & HEDGES:
        return "hedge", False
    if removed_forms & HEDGES and added_forms <= AUXILIARIES and removed_forms <= HEDGES | AUXILIARIES:
        return "hedge", False
    if len(removed) == len(added) == 1:
        return "word", False
    return ("other", False) if added or not removed else ("left_out", False)


def _without_inflections(removed: list[Word], added: list[Word]) -> tuple[list[Word], list[Word]]:
    """Both without the words that stand in both in another form: `may improve` and `improves` differ in `may`."""
    stems = {stem(w.form) for w in removed} & {stem(w.form) for w in added}
    return [w for w in removed if stem(w.form) not in stems], [w for w in added if stem(w.form) not in stems]


def _is_measure(number: Word, source: Sequence[Word]) -> bool:
    """Whether a number is a measure: not the name of a group, a point in time or a year."""
    at = source.index(number)
    before = source[at - 1].form if at else ""
    after = source[at + 1].form if at + 1 < len(source) else ""
    if before in LABEL_NOUNS or after in TIME_UNITS:
        return False
    return not re.fullmatch(r"(1[89]|20)\d\d", number.form)


def _is_rounding(claimed: str, stated: str) -> bool:
    """Whether the claim's number is the source's, rounded to the claim's own precision."""
    digits = len(claimed.partition(".")[2])
    try:
        return len(stated.partition(".")[2]) > digits and round(float(stated), digits) == float(claimed)
    except ValueError:
        return False


def _negates_the_verb(edit: _Edit, source: Sequence[Word]) -> bool:
    """Whether the negation stands by the verb or opens a noun phrase as "no": another place may name another group."""
    changed = {w.form for w in (*edit.removed, *edit.added)} & NEGATIONS
    if changed <= {"no", "never"} or changed & {"fail", "fails", "failed"}:
        return True
    before = source[edit.at - 1].form if edit.at else ""
    touched = {w.form for w in (*edit.removed, *edit.added)}
    return changed == {"not"} and bool(before in AUXILIARIES or touched & AUXILIARIES)


def _is_predicate(word: Word, source: Sequence[Word]) -> bool:
    """Whether a direction word says what happened, and not which group it happened to ("patients with higher …")."""
    at = source.index(word)
    before = source[at - 1].form if at else ""
    earlier = source[at - 2].form if at > 1 else ""
    if before in ("with", "of", "among", "having") and earlier not in ("associated", "correlated", "linked", "related"):
        return False
    return at > 0
