"""How a claim differs from one sentence of a source, word by word, and whether the difference turns its meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Indel

from medcite_core.stemming import stem
from medcite_middleware.verification.asides import is_droppable
from medcite_middleware.verification.lining_up import is_finding, is_measure, is_rounding, negates_the_finding
from medcite_middleware.verification.vocabulary import (
    ASSOCIATION_FRAME,
    ASSOCIATIONS,
    AUXILIARIES,
    CAUSES,
    FILLERS,
    HARMLESS,
    HEDGE_FRAME,
    HEDGES,
    MEASURE_VERBS,
    NEGATIONS,
    OPENINGS,
    OPPOSITES,
    PARTS,
    WHOLES,
)
from medcite_middleware.verification.words import Word, is_balanced, strict_words

Difference = Literal[
    "none", "number", "negation", "direction", "hedge", "association", "quantifier", "word", "left_out", "other"
]

OVERSTATEMENTS: frozenset[Difference] = frozenset(("hedge", "association", "quantifier"))
"""The claim says more than the source: surer, a cause for an association, all for some."""

MIN_CONTENT_WORDS = 4
"""A sentence with fewer words in common is too general to confirm or to deny anything."""

MIN_NEGATED_WORDS = 2
"""A negated copy may be this short: "Deaths occurred." against "No deaths occurred.\"."""

MIN_MEASURED_WORDS = 3
"""A measured copy may be this short: "The filter weighs 1.8 kg." against "The filter weighs 2.6 kg."."""

MAX_OPENING_WORDS = 6

_FAILURES = frozenset("fail fails failed".split())


@dataclass(frozen=True, slots=True)
class Comparison:
    """One claim against one source sentence.

    `similarity` is 0..100 over the words of both (Indel distance, aligned by rapidfuzz; harmless edits left out).
    `difference` names the one kind of difference there is; `other` when there are several, or one that these rules
    cannot read. `lines_up` says whether subject, measure, arm and time are the same, so that the difference is a
    contradiction. `claim_words` and `source_words` are what differs, as written in normal form.
    """

    similarity: float
    difference: Difference
    lines_up: bool
    common_words: int
    claim_words: tuple[str, ...] = ()
    source_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """One place where a source and a claim differ; `at` is its position in the source's words."""

    removed: tuple[Word, ...]
    added: tuple[Word, ...]
    at: int


def compare(claim_text: str, sentence: str) -> Comparison:
    """Compare a claim (without citation marks) with one sentence of a source."""
    claim = _without_opening(strict_words(claim_text))
    source = _without_opening(strict_words(sentence))
    brackets_hold = is_balanced(source)
    found = _edits(source, claim)
    edits = [e for e in found if not _is_harmless(e, source, brackets_hold)]
    similarity = _similarity(len(source) + len(claim), found, edits)
    content = sum(w.kind in ("word", "identifier") and w.form not in FILLERS for w in claim)
    common = content - sum(w.kind in ("word", "identifier") for e in edits for w in e.added)
    if not edits:
        return Comparison(similarity, "none", True, common)
    difference, lines_up = _read(edits, source)
    if common < _least_common(difference, edits, source):
        lines_up = False
    if _opens_with_yes_or_no(claim_text) or _opens_with_yes_or_no(sentence):
        lines_up = False
    return Comparison(
        similarity,
        difference,
        lines_up,
        common,
        tuple(w.form for e in edits for w in e.added),
        tuple(w.form for e in edits for w in e.removed),
    )


def _least_common(difference: Difference, edits: Sequence[Edit], source: Sequence[Word]) -> int:
    """Words that must be shared for a difference to line up: few where the whole sentence tells one figure."""
    if difference == "negation":
        return MIN_NEGATED_WORDS
    is_measured = difference == "number" and all(e.at and source[e.at - 1].form in MEASURE_VERBS for e in edits)
    return MIN_MEASURED_WORDS if is_measured else MIN_CONTENT_WORDS


def _similarity(words: int, found: Sequence[Edit], counted: Sequence[Edit]) -> float:
    """Indel similarity (0..100) of two texts of `words` words together, without the edits that do not count."""
    dropped = sum(len(e.removed) + len(e.added) for e in found if e not in counted)
    differing = sum(len(e.removed) + len(e.added) for e in counted)
    return 100 * (1 - differing / max(1, words - dropped))


def _is_harmless(edit: Edit, source: Sequence[Word], brackets_hold: bool) -> bool:
    """Whether an edit never turns a meaning: an article "the", or a bracket with a statistic or an abbreviation."""
    if all(w.form in HARMLESS for w in (*edit.removed, *edit.added)):
        return True
    return not edit.added and brackets_hold and is_droppable(edit.removed, source[: edit.at])


def _without_opening(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`words` without an opening such as "We found that"; one of a single word only before a comma or colon."""
    for length in range(min(MAX_OPENING_WORDS, len(words) - MIN_NEGATED_WORDS), 0, -1):
        if tuple(w.form.casefold() for w in words[:length]) not in OPENINGS:
            continue
        if length == 1 and words[length].form not in (",", ":"):
            continue
        rest = words[length:]
        return _without_opening(rest[1:] if rest[0].form in (",", ":") else rest)
    return words


def _opens_with_yes_or_no(text: str) -> bool:
    words = strict_words(text)
    return len(words) > 1 and words[0].form in ("no", "yes") and words[1].kind == "punctuation"


def _edits(source: Sequence[Word], claim: Sequence[Word]) -> list[Edit]:
    opcodes = Indel.opcodes([w.form for w in source], [w.form for w in claim])
    edits: list[Edit] = []
    removed: list[Word] = []
    added: list[Word] = []
    at = 0
    for code in opcodes:
        if code.tag == "equal":
            if removed or added:
                edits.append(Edit(tuple(removed), tuple(added), at))
            removed, added = [], []
            continue
        if not removed and not added:
            at = code.src_start
        removed.extend(source[code.src_start : code.src_end])
        added.extend(claim[code.dest_start : code.dest_end])
    if removed or added:
        edits.append(Edit(tuple(removed), tuple(added), at))
    return edits


def _read(edits: Sequence[Edit], source: Sequence[Word]) -> tuple[Difference, bool]:
    gone, new = Counter(w.form for e in edits for w in e.removed), Counter(w.form for e in edits for w in e.added)
    if gone == new:  # the same words in other places: "zetamab beat placebo", "placebo beat zetamab"
        return "word", False
    kinds = [_kind(e, source) for e in edits]
    names = {name for name, _ in kinds}
    strong = [name for name, _ in kinds if name in OVERSTATEMENTS]
    if strong and all(n in OVERSTATEMENTS or _is_filler(e) for (n, _), e in zip(kinds, edits, strict=True)):
        return strong[0], False
    if len(names) > 1:
        return "other", False
    name, lines_up = kinds[0]
    # Two directions or two negations turned may mean the same again; two numbers may be another arm or time.
    return name, lines_up and len(edits) == 1


def _is_filler(edit: Edit) -> bool:
    return all(w.form in FILLERS for w in (*edit.removed, *edit.added))


def _kind(edit: Edit, source: Sequence[Word]) -> tuple[Difference, bool]:
    """The kind of one edit, and whether it lines up."""
    removed = [w for w in edit.removed if w.form not in FILLERS]
    added = [w for w in edit.added if w.form not in FILLERS]
    if not removed and not added:  # an article, or the like, that may matter
        return "other", False
    if len(removed) != 1 or len(added) != 1:
        removed, added = _without_inflections(removed, added)
    rules: tuple[Callable[[], tuple[Difference, bool] | None], ...] = (
        lambda: _as_number(removed, added, source),
        lambda: _as_negation(edit, removed, added, source),
        lambda: _as_direction(removed, added, source),
        lambda: _as_hedge(removed, added),
        lambda: _as_association(removed, added),
        lambda: _as_quantifier(removed, added),
    )
    for rule in rules:
        found = rule()
        if found is not None:
            return found
    if len(removed) == len(added) == 1:
        return "word", False
    return ("other", False) if added or not removed else ("left_out", False)


def _as_number(
    removed: Sequence[Word], added: Sequence[Word], source: Sequence[Word]
) -> tuple[Difference, bool] | None:
    if len(removed) != 1 or len(added) != 1 or not (removed[0].is_number and added[0].is_number):
        return None
    return "number", is_measure(removed[0], source) and not is_rounding(added[0].form, removed[0].form)


def _as_negation(
    edit: Edit, removed: Sequence[Word], added: Sequence[Word], source: Sequence[Word]
) -> tuple[Difference, bool] | None:
    gone, new = {w.form for w in removed}, {w.form for w in added}
    is_one_sided = bool(gone & NEGATIONS) != bool(new & NEGATIONS)
    allowed = NEGATIONS | AUXILIARIES
    if (gone | new) & _FAILURES:
        allowed = allowed | {"to"}
    if not is_one_sided or (gone | new) - allowed:
        return None
    return "negation", negates_the_finding((gone | new) & NEGATIONS, gone | new, edit.at, source)


def _as_direction(
    removed: Sequence[Word], added: Sequence[Word], source: Sequence[Word]
) -> tuple[Difference, bool] | None:
    if len(removed) != 1 or len(added) != 1 or (removed[0].form, added[0].form) not in OPPOSITES:
        return None
    return "direction", not added[0].is_compound and is_finding(removed[0], source)


def _as_hedge(removed: Sequence[Word], added: Sequence[Word]) -> tuple[Difference, bool] | None:
    gone, new = {w.form for w in removed}, {w.form for w in added}
    if gone & HEDGES and gone <= HEDGES | AUXILIARIES | HEDGE_FRAME and new <= AUXILIARIES:
        return "hedge", False
    return None


def _as_association(removed: Sequence[Word], added: Sequence[Word]) -> tuple[Difference, bool] | None:
    """A cause told where the source tells an association: "is associated with" against "causes"."""
    gone, new = {w.form for w in removed}, {w.form for w in added}
    if not gone & ASSOCIATIONS or new & ASSOCIATIONS:
        return None
    if gone <= ASSOCIATIONS | ASSOCIATION_FRAME | CAUSES and new <= CAUSES | AUXILIARIES | ASSOCIATION_FRAME:
        return "association", False
    return None


def _as_quantifier(removed: Sequence[Word], added: Sequence[Word]) -> tuple[Difference, bool] | None:
    """All told where the source tells of a part, or the part left out."""
    gone, new = {w.form for w in removed}, {w.form for w in added}
    if gone & PARTS and gone <= PARTS | {"of"} and new <= WHOLES | {"of"}:
        return "quantifier", False
    return None


def _without_inflections(removed: list[Word], added: list[Word]) -> tuple[list[Word], list[Word]]:
    """Both without the words that stand in both in another form: `may improve` and `improves` differ in `may`."""
    stems = {stem(w.form) for w in removed} & {stem(w.form) for w in added}
    return [w for w in removed if stem(w.form) not in stems], [w for w in added if stem(w.form) not in stems]
