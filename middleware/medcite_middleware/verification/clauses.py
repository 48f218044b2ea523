"""The clauses of a sentence that stand alone: each says, by itself, what the whole sentence says of it.

In doubt a sentence stays whole. What stands before or after both halves ("In adults, …", "… at 12 months"), what denies
or weakens both ("It is not true that …"), and words that point back ("this", "the latter") would be lost or misread.
"""

from __future__ import annotations

import re

from medcite_core.types import Span
from medcite_middleware.verification.marks import citation_marks
from medcite_middleware.verification.vocabulary import AUXILIARIES, FINDING_VERBS

_JOINTS = re.compile(
    r"(?P<end>\s*;\s*(?:and\s+|whereas\s+|in contrast,\s+|conversely,\s+)?|,\s+(?:whereas|and)\s+)(?=\S)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_REMARK = re.compile(r"\([^()]*[a-z]{3,}[^()]*\)", re.IGNORECASE)
_MIN_WORDS = 3
# Any of these ties its clause to something outside it, or spreads over both halves.
_TIES = frozenset(
    """that which who whom whose whether if unless because since although though while when where until so but
    however nevertheless nonetheless yet except only both either neither nor or respectively not-only each all
    this these those such same latter former other others another it they he she we its their his her them him
    one ones also too there here then likewise similarly conversely instead alone together overall total latter
    rest remaining remainder than hypothesised hypothesized assumed suppose supposed claimed claims claim
    believed believe thought think said say says suggest suggests suggested expected""".split()
)
_OPENERS = frozenset(
    """in among amongst during after before at for with without by on of from to under over between within despite
    compared according based using following given regarding concerning as per via through throughout across
    upon beyond against unlike like no not never""".split()
)
# What happened before is meant by "the …", so that the clause needs its neighbour.
_BACKWARD = frozenset(
    """difference differences effect effects change changes reduction increase decrease result results finding
    findings response association rate rates value values risk benefit improvement drug drugs treatment therapy
    intervention agent compound dose trial outcome outcomes event events""".split()
)
_SCOPES = frozenset(
    """in among amongst at after during within over under until for from throughout across per with before by
    between without""".split()
)
_DETERMINERS = frozenset("the a an".split())


def clause_spans(sentence: str) -> tuple[Span, ...]:
    """The clauses of `sentence` that can be read alone, as spans of it; the whole sentence when it must stay whole.

    The words that join two clauses ("; and", ", whereas") belong to neither.
    """
    whole = (Span(0, len(sentence)),)
    bare = _blotted(sentence)
    joints = [m for m in _JOINTS.finditer(bare) if _is_joint(bare, m)]
    if not joints:
        return whole
    starts = [0, *(m.end() for m in joints)]
    ends = [*(m.start() for m in joints), len(sentence)]
    clauses = [Span(a, b) for a, b in zip(starts, ends, strict=True)]
    # "A fell; B rose (not significant)": what the last bracket says may be said of both.
    remarks = [bool(_REMARK.search(c.of(sentence))) for c in clauses]
    if remarks[-1] and not all(remarks):
        return whole
    return tuple(clauses) if _all_stand_alone([c.of(bare) for c in clauses]) else whole


def _blotted(sentence: str) -> str:
    """`sentence` with citation marks, brackets and quotations blotted out, so that no joint is found inside them."""
    characters = list(sentence)
    inside = [m.span() for m in citation_marks(sentence)]
    inside += [m.span() for m in re.finditer(r"\([^()]*\)|\[[^\[\]]*\]|[“\"][^”\"]*[”\"]", sentence)]
    for start, end in inside:
        characters[start:end] = "\x00" * (end - start)
    return "".join(characters)


def _is_joint(text: str, joint: re.Match[str]) -> bool:
    """A semicolon always is one; a comma only where a full clause stands on either side of it."""
    if joint.group().lstrip().startswith(";"):
        return True
    left = re.split(r";\s*", text[: joint.start()])[-1]
    right = re.split(r";\s*", text[joint.end() :])[0]
    return _is_clause(left) and _is_clause(right)


def _all_stand_alone(clauses: list[str]) -> bool:
    words = [[w.casefold() for w in _WORD.findall(c)] for c in clauses]
    if not all(_is_clause(c) for c in clauses) or any(_TIES & set(w) for w in words):
        return False
    if any(w[0] in _DETERMINERS and _BACKWARD & set(w[1:3]) for w in words[1:]):
        return False
    scopes = [_SCOPES.intersection(w) for w in words]
    return len(set(scopes)) == 1


def _is_clause(text: str) -> bool:
    """Whether `text` opens with a subject and has a verb that states something."""
    words = [w.casefold() for w in _WORD.findall(text)]
    if len(words) < _MIN_WORDS or words[0] in _OPENERS or _is_verb(words[0]) or words[0].endswith("ing"):
        return False
    return any(_is_verb(w) for w in words[1:])


def _is_verb(word: str) -> bool:
    return word in AUXILIARIES or word in FINDING_VERBS
