"""Understands a follow-up by rules, from the turns before it: "And in children?" becomes a question of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from medcite_core.answers import Turn
from medcite_middleware.answering.follow_up_words import (
    AUXILIARIES,
    CONTRASTS,
    INTERROGATIVES,
    PREPOSITIONS,
    SUBJECT_VERBS,
    content_words,
    specific_words,
    words_of,
)

MAX_EARLIER_CHARS = 400
"""A longer earlier question is carried on by its content words only."""
MAX_TOPIC_WORDS = 30

_OPENER = re.compile(
    r"(?:(?:and|but|or|so|also|then|ok(?:ay)?|well)\b[\s,]*)*"
    r"(?:(?:what|how) about\b|what if\b|(?:is|are) (?:it|that|this|they) (?:also )?the same\b|(?:the )?same\b)?[\s,]*",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"(?:(?:no|nope|wrong|sorry|actually|not (?:that|those|these)|that(?:'s| is) (?:wrong|not it))\b[\s,.;:!-]+)*"
    r"(?P<meant>(?:but )?i (?:meant|mean|was asking(?: about)?|am asking(?: about)?|want(?:ed)?)\b[\s,:]*"
    r"(?:to (?:know|ask)(?: about)?\b)?[\s,:]*|(?:i )?(?:rather|instead)\b[\s,:]*)?",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"(?:yes|yeah|yep|sure|ok(?:ay)?|please|certainly|of course|absolutely|go (?:on|ahead)|do(?: so| that| it)?|"
    r"i(?:'d| would) (?:like|love) (?:that|to)|thanks?|thank you|\W)+",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:would you like|do you want|shall i|should i|can i|may i|want (?:me|to)|interested in)\b[^?.!]*?"
    r"(?:about|details (?:on|of)|information on|more on|summari[sz]e|explain|describe|list|tell you|show you|in)\s+"
    r"(?:(?:more )?about\s+)?(?P<topic>[^?]+)\?\s*$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|it's|they|them|their|theirs|he|she|him)\b"
    r"|\b(?:this|these|those)\b"
    r"|\b(?:is|was|does|did|why|about|of|with|for|than|like) that\b"
    r"|\bthe (?:same|latter|former|other)\b|\bsuch\b",
    re.IGNORECASE,
)
# "Is it true that …", "Is it safe to take aspirin …", "How long does it take for …": it points at nothing.
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|does|did|will|can) it "
    r"(?:take\b[^?]*? for|(?:be )?[a-z]+ (?:that|if|whether|(?:for\b[^?]*? )?to))\b"
    r"(?! (?:take|use|give|combine|stop) (?:with|in|during|while|together|at)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(rf"\s*(?:{INTERROGATIVES}|{AUXILIARIES})\b", re.IGNORECASE)
_CLAUSE_INSIDE = re.compile(rf"\b(?:{INTERROGATIVES}|{AUXILIARIES})\b", re.IGNORECASE)
_FRAGMENT = re.compile(rf"\s*(?:only |just |specifically )?(?:{PREPOSITIONS})\b", re.IGNORECASE)
_JOINED = re.compile(rf"\w\s+(?:{PREPOSITIONS})\s+\w", re.IGNORECASE)
_SUBJECT = re.compile(
    rf"^\s*(?P<head>(?:(?:{INTERROGATIVES})\s+)?(?:(?:effects?|dose)\s+)?(?:{AUXILIARIES})\s+)"
    rf"(?P<subject>(?:[^\s?,]+\s+){{1,5}}?)(?P<rest>(?:also\s+)?(?:{SUBJECT_VERBS})\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_OF_WHAT = re.compile(r"\bof (?:the )?(?P<what>[^\s?,]+)", re.IGNORECASE)
_BARE_WHY = re.compile(r"\W*(?:but |and |so )?why(?: (?:not|so|is that))?\W*", re.IGNORECASE)


def stand_alone(question: str, history: Sequence[Turn]) -> str:
    """`question` made whole from the turns before it; itself, letter by letter, when it stands alone already.

    Earlier follow-ups are understood the same way first, so a chain of them keeps its topic.
    """
    earlier, said = "", ""
    for turn in history:
        if turn.role == "assistant":
            said = turn.text
        else:
            earlier = _understood(turn.text, earlier, said)
            said = ""
    return _understood(question, earlier, said)


def is_follow_up(question: str) -> bool:
    """Whether `question` needs the turns before it to be understood."""
    rest, is_correction = _without_correction(question)
    rest = rest.strip()
    specific = specific_words(rest)
    if _ASSENT.fullmatch(question) or not content_words(rest):
        return True
    bare = _behind_opener(rest)
    has_opener = len(bare) < len(rest)
    if not has_opener and not is_correction and _points_back(rest):
        return True
    if has_opener or is_correction:
        return _points_back(bare) or not _stands_alone_behind_opener(bare, specific)
    if _FRAGMENT.match(rest) and not _CLAUSE_INSIDE.search(rest) and len(specific) <= 2:
        return True
    return not specific


def topic_of(question: str) -> str:
    """What a question that stands alone is about, in its own words."""
    subject = _SUBJECT.match(question)
    if subject and specific_words(subject["subject"]):
        named = content_words(subject["subject"])
    else:
        named = specific_words(question) or content_words(question)
    return " ".join(named[:MAX_TOPIC_WORDS])


def offered_topic(answer: str) -> str:
    """X of an answer that ends with "Would you like to know more about X?"; empty without such an offer."""
    offer = _OFFER.search(answer)
    return offer["topic"].strip() if offer else ""


def _understood(question: str, earlier: str, said: str) -> str:
    if _ASSENT.fullmatch(question) and (offered := offered_topic(said)):
        return offered if specific_words(offered) or not earlier else f"{offered} ({topic_of(earlier)})"
    if not earlier or not is_follow_up(question):
        return question
    return _combined(question, _shortened(earlier))


def _combined(question: str, earlier: str) -> str:
    rest, is_correction = _without_correction(question)
    if _BARE_WHY.fullmatch(question):
        return _asking_why(earlier)
    bare = _behind_opener(rest).strip()
    if not content_words(bare):
        return earlier
    added = _without_mark(bare)
    points_back = _points_back(bare)
    if points_back and not is_correction:
        return f"{added} ({_topic_without(earlier, bare, topic_of)})?"
    if contrasted := _contrasted(earlier, added):
        return contrasted
    if replaced := _replaced(earlier, added):
        return replaced
    if _is_group_alone(added):
        return f"{_without_mark(earlier)}, in {added}?"
    if _CLAUSE.match(bare) or not (specific_words(added) or _FRAGMENT.match(added)):
        return f"{added} ({_topic_without(earlier, bare, _whole_topic)})?"
    return f"{_without_mark(earlier)}, {added}?"


def _behind_opener(text: str) -> str:
    """`text` without an opening such as "And what about"."""
    opener = _OPENER.match(text)
    return text[opener.end() :] if opener else text


def _stands_alone_behind_opener(bare: str, specific: Sequence[str]) -> bool:
    if len(specific) >= 3:
        return True
    return len(specific) == 2 and bool(_CLAUSE.match(bare) or (not _FRAGMENT.match(bare) and _JOINED.search(bare)))


def _points_back(question: str) -> bool:
    """Whether a pronoun in it has nothing in the question itself to stand for."""
    expletive = _EXPLETIVE.search(question)
    if expletive and specific_words(question[expletive.end() :]):
        question = question[: expletive.start()] + question[expletive.end() :]
    for pronoun in _PRONOUN.finditer(question):
        if specific_words(question[: pronoun.start()]):
            continue
        named = words_of(question[pronoun.end() :])[:2]
        # "these statins" names what it points at; "these patients" does not.
        if pronoun.group().lower() in ("this", "these", "those", "such") and named and specific_words(named[0]):
            continue
        return True
    return False


def _without_correction(question: str) -> tuple[str, bool]:
    """The question behind "No, I meant …", and whether there was such a beginning."""
    found = _CORRECTION.match(question.strip())
    if found is None or not found.group() or not (found["meant"] or re.search(r"[,.;:!-]", found.group())):
        return question, False
    return question.strip()[found.end() :], True


def _contrasted(earlier: str, added: str) -> str:
    """`earlier` with its group of people, sex, or time replaced by the one that `added` names; empty if it has none."""
    text, was_replaced = earlier, False
    for members in CONTRASTS:
        new = members.search(added)
        old = list(members.finditer(text))
        if new and old and new.group().lower() not in {o.group().lower() for o in old}:
            last = old[-1]
            text = f"{text[: last.start()]}{new.group()}{text[last.end() :]}"
            added = f"{added[: new.start()]}{added[new.end() :]}"
            was_replaced = True
    if not was_replaced:
        return ""
    left = content_words(added)
    return f"{_without_mark(text)}, {' '.join(left)}?" if left else f"{_without_mark(text)}?"


def _replaced(earlier: str, added: str) -> str:
    """`earlier` about another subject: "Does aspirin help …" and "warfarin", "… of statins" and "of metformin"."""
    if not specific_words(added) or any(members.search(added) for members in CONTRASTS):
        return ""
    *_, last_word = words_of(added)
    if len(words_of(added)) > 1 and last_word.lower() in (word.lower() for word in specific_words(earlier)):
        # "haemorrhagic stroke", after a question about stroke, narrows that word.
        return re.sub(rf"\b{re.escape(last_word)}\b", lambda _: added, earlier, count=1, flags=re.IGNORECASE)
    of_what, of_earlier = _OF_WHAT.match(added), list(_OF_WHAT.finditer(earlier))
    if of_earlier and (of_what or not _FRAGMENT.match(added)):
        last = of_earlier[-1]
        what = added[of_what.start("what") :] if of_what else added
        return f"{earlier[: last.start('what')]}{what}{earlier[last.end('what') :]}"
    subject = _SUBJECT.match(earlier)
    if subject and not _FRAGMENT.match(added):
        return f"{subject['head']}{added} {subject['rest']}"
    return ""


def _is_group_alone(added: str) -> bool:
    """Whether a group of people is all that `added` says, with no preposition before it."""
    found = CONTRASTS[0].search(added) or CONTRASTS[1].search(added)
    if found is None or _FRAGMENT.match(added):
        return False
    return content_words(added) == content_words(found.group())


def _whole_topic(question: str) -> str:
    return " ".join((specific_words(question) or content_words(question))[:MAX_TOPIC_WORDS])


def _topic_without(earlier: str, question: str, topic: Callable[[str], str]) -> str:
    """The topic, without the words that the question itself has."""
    own = {word.lower() for word in words_of(question)}
    return " ".join(word for word in topic(earlier).split() if word.lower() not in own) or topic(earlier)


def _asking_why(earlier: str) -> str:
    if re.match(rf"\s*(?:{AUXILIARIES})\b", earlier, re.IGNORECASE):
        return f"Why {earlier[:1].lower()}{earlier[1:]}"
    return f"{_without_mark(earlier)}, and why?"


def _shortened(earlier: str) -> str:
    if len(earlier) <= MAX_EARLIER_CHARS:
        return earlier
    return " ".join(content_words(earlier)[:MAX_TOPIC_WORDS])[:MAX_EARLIER_CHARS]


def _without_mark(text: str) -> str:
    return text.strip().rstrip("?.!… ").rstrip()
