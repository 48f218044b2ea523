"""What a sentence of an answer is: a claim of one kind or another, or a statement that cannot be checked."""

from __future__ import annotations

import re

from medcite_core.answers import ClaimKind, StatementKind
from medcite_middleware.verification.absence_claims import read_absence
from medcite_middleware.verification.marks import cited_numbers, without_marks
from medcite_middleware.verification.vocabulary import AUXILIARIES, FINDING_VERBS, LABEL_NOUNS, OPPOSITES
from medcite_middleware.verification.words import meaning_words

_HEADING = re.compile(r"#{1,6}\s|[*_]{2}[^*_]+[*_]{2}:?$")
_MAX_HEADING_WORDS = 6
_MIN_LISTED = 4
_GREETING = re.compile(
    r"(?:hi|hello|hey|thanks?(?: you)?|sure|certainly|of course|great question|you'?re welcome|i hope this helps)"
    r"(?: (?:there|again|so|very|much|for|your|asking|the|question|happy|glad|to|help)){0,6}[,.! ]*$",
    re.IGNORECASE,
)
_ABOUT_THE_SOURCES = re.compile(
    r"(?:unfortunately, )?(?:based on [^,]+, )?"
    r"(?:(?:the |these |this )?(?:given |provided |supplied |available |retrieved )"
    r"(?:context|sources?|evidence|abstracts?|passages?|records?|documents?|corpus)"
    r"|(?:the |these |this )?(?:context|sources|evidence|abstracts|passages|records|corpus))\s(?:provided\s|given\s)?"
    r"(?:does|do|did)(?:\snot|n['’]t)\s"
    r"(?:contain|hold|say|provide|answer|mention|give|state|include|address|discuss|report)\b[^,;:]*$",
    re.IGNORECASE,
)
_HOLDS_NO_ANSWER = re.compile(
    r"(?:unfortunately, )?(?:the |this |that |these )?(?:\w+ )?"
    r"(?:abstract|record|source|passage|document|paper|article)s?\s"
    r"(?:does|do|did)(?:\snot|n['’]t)\s(?:contain|hold|provide|give|include)\s"
    r"(?:the |an |any |enough |sufficient )(?:answer|information|details?)\b[^,;:]*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:but|so|therefore|hence|however|thus|because|since|although|while|which means)\b", re.IGNORECASE
)
_OPINION = re.compile(
    r"(?:in my (?:own |humble |personal )?(?:opinion|view)|i (?:personally )?(?:think|believe|feel|guess|hope|"
    r"would argue)|personally,|it seems to me|to my mind|we hope)\b",
    re.IGNORECASE,
)
_EVALUATION = re.compile(
    r"\b(?:should|best|good|bad|better|great|interesting|promising|important|worth|recommend|hope|prefer|impressive|wise|"
    r"helpful|useful|reasonable)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?:please|let me|feel free|"
    r"(?:always |do not |don['’]t |never )?(?:ignore|disregard|refer|check|read|note|remember))\b|"
    r"(?:(?:you|patients?|people) should |always |do not |don['’]t |never )?(?:also )?"
    r"(?:consult|ask|see|talk|speak|contact|seek)\b.*"
    r"\b(?:doctors?|physicians?|pharmacists?|providers?|professionals?|specialists?|clinicians?|advice|help|care|labels?|"
    r"leaflets?)\b",
    re.IGNORECASE,
)
# "Note that aspirin cures cancer" states what follows.
_STATES_SOMETHING = re.compile(
    r"\bthat\b|[:;–—]|\b(?:because|since|as|for) \w+ (?:is|was|are|were|has|have)\b", re.IGNORECASE
)
_CITATION_CLAIM = re.compile(
    r"\b[A-Z][\w'’-]+(?: et al\.?|(?: and| &) [A-Z][\w'’-]+| and (?:colleagues|co-?workers))?,? "
    r"\(?(?:18|19|20)\d\d[a-z]?\)?,? (?:\w+ly )?(?:showed?|shows|found|finds|reported?|reports|demonstrated?|observed?|"
    r"concluded?|suggested?|described?|noted?|argued?|proposed?|stated?|studied|investigated|measured|estimated|reviewed)\b|"
    r"\b[A-Z][\w'’-]+(?: et al\.?| and (?:colleagues|co-?workers))(?: \[[\d, ]+\])? (?:showed?|found|reported?|"
    r"demonstrated?|observed?|concluded?|described?)\b|"
    r"\b(?:PMID:? ?\d{5,9}|doi:? ?10\.\d{4,})"
)
_NAMES_NO_AUTHOR = frozenset(
    """in since until before after by from during the of and between january february march april may june july august
    september october november december spring summer autumn winter fall""".split()
)
_COMPARATIVE = re.compile(
    r"\b(?:than|compared (?:with|to)|in comparison (?:with|to)|versus|vs\.?|relative to|superior|inferior|"
    r"non-?inferior|outperform\w*|as \w+ as|equivalent to|similar to|differ(?:s|ed)? from|exceed(?:s|ed)?)\b",
    re.IGNORECASE,
)
_DIRECTIONS = frozenset(word for pair in OPPOSITES for word in pair)


def statement_kind(text: str) -> StatementKind | None:
    """What a sentence that cannot be checked is; None for a claim.

    What carries a citation states something, whatever it looks like, unless it asks.
    """
    bare = without_marks(text).strip(" *_#\"“”'")
    if not re.search(r"[^\W\d_]{2}", bare):
        return "fragment"
    if bare.endswith("?"):
        return "question"
    if cited_numbers(text):
        return None
    is_heading = bool(_HEADING.match(text)) or (bare.endswith(":") and len(bare) < 120)
    if is_heading and (len(bare.split()) <= _MAX_HEADING_WORDS or bare.endswith(":")):
        return "heading"
    if _GREETING.match(bare):
        return "greeting"
    if _INSTRUCTION.match(bare) and not _STATES_SOMETHING.search(bare):
        return "instruction"
    if _OPINION.match(bare) and _EVALUATION.search(bare):
        return "opinion"
    if (_ABOUT_THE_SOURCES.match(bare) or _HOLDS_NO_ANSWER.match(bare)) and not _GOES_ON.search(bare):
        return "about_the_sources"
    if is_fragment(bare) and not _lists_figures(bare) and read_absence(bare) is None:
        return "fragment"
    return None


def is_fragment(text: str) -> bool:
    """Whether `text` is an answer that needs its question: "No.", "Yes, in 2019", "Twelve weeks."."""
    words = [w for w in meaning_words(without_marks(text)) if w.kind != "sign"]
    if not words:
        return True
    forms = [w.form.casefold() for w in words]
    if forms[0] in ("yes", "no") and (len(forms) == 1 or re.match(r"\W*(?:yes|no)\s*[,.;:!–—-]", text, re.IGNORECASE)):
        return not _has_subject_and_verb(forms[1:])
    return len(forms) == 1 or (len(forms) <= _MAX_HEADING_WORDS and not any(_may_be_verb(form) for form in forms))


def _lists_figures(text: str) -> bool:
    """Whether words without a verb state a result: "HR 0.86 (95% CI 0.74-0.99)"."""
    words = [w for w in meaning_words(text) if w.kind != "sign"]
    return len(words) >= _MIN_LISTED and sum(w.is_number for w in words) > 1


def claim_kind(text: str) -> ClaimKind:
    """The kind of a claim; the one that needs the most care when it is of several."""
    bare = without_marks(text)
    if read_absence(bare) is not None:
        return "absence"
    cites = _CITATION_CLAIM.search(bare)
    if cites and cites.group().split()[0].casefold().strip("(,") not in _NAMES_NO_AUTHOR:
        return "citation"
    if _has_figure(bare):
        return "numeric"
    return "comparative" if _COMPARATIVE.search(bare) else "factual"


def _has_figure(text: str) -> bool:
    """Whether a measure stands in it: no year, no name such as "type 2", no single "one"."""
    words = meaning_words(text)
    for at, word in enumerate(words):
        if not word.is_number or re.fullmatch(r"(?:1[89]|20)\d\d", word.form):
            continue
        before = words[at - 1].form.casefold() if at else ""
        is_label = before in LABEL_NOUNS and not words[at - 1].is_compound and word.span.of(text).isdigit()
        is_word_one = word.form == "1" and word.span.of(text).isalpha()
        if not is_label and not is_word_one:
            return True
    return bool(re.search(r"\b(?:half|thirds?|quarters?|doubl\w+|tripl\w+|twice|halved)\b", text, re.IGNORECASE))


def _has_subject_and_verb(forms: list[str]) -> bool:
    return len(forms) > 1 and any(_may_be_verb(form) for form in forms[1:])


def _may_be_verb(form: str) -> bool:
    if form in AUXILIARIES | FINDING_VERBS | _DIRECTIONS | _IRREGULAR_PASTS:
        return True
    # Without a tagger any third person or past may be one: what might be a claim is checked as one.
    return len(form) > 3 and form.endswith(_VERB_ENDINGS) and form not in _NO_VERBS


_IRREGULAR_PASTS = frozenset(
    """got ran sat drank ate made went gave took came began became knew saw won met held left lost built told sold fed
    bled led cut hit put set let do help work cure cause""".split()
)
_VERB_ENDINGS = ("s", "ed", "ew", "ade", "ave", "ook", "ent", "ung", "ept", "ought", "elt", "ote", "ood")
_NO_VERBS = frozenset(
    """days weeks months years hours minutes patients adults children women participants percent units doses times
    cases treatment placebo patient different present""".split()
)
