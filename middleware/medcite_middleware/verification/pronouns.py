"""A sentence that opens with a pronoun, made to stand alone by the subject of the sentence before, or left as it is."""

from __future__ import annotations

import re

from medcite_middleware.verification.vocabulary import AUXILIARIES, FINDING_VERBS

_PRONOUN = re.compile(r"(?P<pronoun>It|They|Its|Their|He|She|His|Her)\b(?P<rest>\s+.+)", re.DOTALL)
# "It is known that …", "It is unclear whether …", "It remains to be seen" point at nothing before them.
_EMPTY_IT = re.compile(
    r"\s+(?:(?:is|was|has been|may be|might be|could be|can be|remains?|seems?|appears?)\s+(?:\w+\s+){0,3}?"
    r"(?:that|whether|if|to|how|why|likely|unlikely|unclear|unknown|possible)\b|follows that)",
    re.IGNORECASE,
)
# Of what happens, the object of the sentence before may be meant: "Zetamab reduced asthma. It was common."
_OF_OUTCOMES = frozenset(
    """occurred occur occurs developed common rare frequent uncommon observed measured reported reduced increased
    decreased lowered fell rose declined higher lower remained seen found recorded improved worsened persisted
    resolved recurred unchanged similar greater less more assessed defined present absent detected significant
    caused led""".split()
)
_DEPENDENT = re.compile(
    r"(?:it|they|he|she|its|their|his|her|these|those|such|the (?:latter|former|same)|"
    r"this(?! (?:study|trial|review|report|paper|article|analysis|meta-analysis|work|cohort|case|survey|experiment)\b)|"
    r"both)\b",
    re.IGNORECASE,
)
_NAMED_AGAIN = re.compile(
    r"(?:the|this|that) (?:drug|treatment|therapy|intervention|agent|compound|medication|medicine|vaccine|device|"
    r"procedure|variant|gene|protein|enzyme|receptor|disease|disorder|condition|virus|substance|supplement|product|regimen|molecule|"
    r"antibody|inhibitor|hormone|vitamin|operation|test|method|technique)\s",
    re.IGNORECASE,
)
_SUBJECT_STOPS = frozenset("of in on at with for by from to and or that which who than as , ; : ( [".split())
_PLURALS = frozenset("patients children women men mice people data criteria authors rats they".split())
_PRONOUNS = frozenset("it they this these those he she we i you there one both such who what".split())
# "No adults died. They slept." is not about no adults.
_QUANTIFIERS = frozenset(
    """no none few some most many all only half neither either each every several both another other others any two
    three four five six seven eight nine ten nobody everyone someone""".split()
)
_MAX_SUBJECT_WORDS = 5


def with_subject(sentence: str, before: str) -> str:
    """`sentence` with its opening pronoun replaced by the subject of `before`; empty when that is not certain."""
    found = _PRONOUN.match(sentence)
    if found is None:
        return ""
    pronoun, rest = found["pronoun"], found["rest"]
    subject = subject_of(before)
    if not subject or pronoun in ("He", "She", "His", "Her") or (pronoun == "It" and _EMPTY_IT.match(rest)):
        return ""
    if (pronoun in ("They", "Their")) != is_plural(subject):
        return ""
    first_words = {w.casefold() for w in re.findall(r"[^\W\d_]+", rest)[:3]}
    if _OF_OUTCOMES & first_words:
        return ""
    owner = subject + ("’" if subject.endswith("s") else "’s") if pronoun in ("Its", "Their") else subject
    return owner + rest


def points_back(sentence: str) -> bool:
    """Whether `sentence` opens with a word that stands for something said before it."""
    if not _DEPENDENT.match(sentence):
        return False
    return not (sentence[:2].casefold() == "it" and _EMPTY_IT.match(sentence[2:]))


def names_again(sentence: str) -> bool:
    """Whether `sentence` opens with a noun that stands for something named before it: "The drug lowered fever"."""
    return bool(_NAMED_AGAIN.match(sentence))


def subject_of(sentence: str) -> str:
    """The noun phrase that opens a sentence, directly before its verb; empty when it is not a plain one."""
    tokens = list(re.finditer(r"[^\W_]+(?:[-.'’][^\W_]+)*|[^\w\s]", sentence))
    for at, token in enumerate(tokens[: _MAX_SUBJECT_WORDS + 1]):
        word = token.group().casefold()
        if at == 0 and (word in _QUANTIFIERS or word[0].isdigit()):
            return ""
        if word in _SUBJECT_STOPS or word in _PRONOUNS or word.endswith("ly"):
            return ""
        if at and (word in AUXILIARIES or word in FINDING_VERBS):
            return sentence[: tokens[at - 1].end()].strip()
        if not token.group()[0].isalnum():
            return ""
    return ""


def is_plural(subject: str) -> bool:
    """Whether a noun phrase is plural, by its last word."""
    last = subject.split()[-1].casefold()
    return last in _PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is", "as", "os")))
