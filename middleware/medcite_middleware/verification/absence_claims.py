"""Reading a claim of absence: that a text does not mention something, or that something did not happen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from medcite_middleware.verification.vocabulary import FINDING_VERBS, NUMBER_WORDS, OPENINGS


@dataclass(frozen=True, slots=True)
class TextAbsence:
    """ "The label does not mention X": none of `terms` stands in the text.

    `document` is the kind of text that is named ("label"). `is_report` when the verb is "report", by which a text that
    reports that there was none may be meant too. `needs_all` when the terms are joined by "and".
    """

    terms: tuple[str, ...]
    document: str
    is_report: bool = False
    needs_all: bool = False


@dataclass(frozen=True, slots=True)
class EventAbsence:
    """ "No deaths occurred in the first year": none of `events` happened; `scope` is where, when and to whom."""

    events: tuple[str, ...]
    scope: str = ""


_TEXTS = (
    r"documents?|labels?|labell?ing|papers?|articles?|reports?|texts?|files?|leaflets?|abstracts?|records?|protocols?|"
    r"guidelines?|guidance|publications?|manuscripts?|pages?|sections?|chapters?|summary|summaries|letters?|notes?|"
    r"monographs?|inserts?|prescribing information|forms?|source|sources|minutes|appendix|supplement|contract|policy"
)
_STUDIES = r"study|studies|trials?|reviews?|authors?|investigators?"
_NAMED = r"(?:(?:the|this|that|these|those|its|their|both|all)\s+)?(?:[\w'’-]+\s+){0,3}?"
_OF = r"(?:\s+(?:of|for|on|from|by)\s+(?:[\w'’-]+\s*){1,5}?)?(?:\s+(?:itself|themselves))?"
_TEXT = rf"{_NAMED}(?P<text>{_TEXTS}){_OF}"
_TEXT_OR_STUDY = rf"{_NAMED}(?P<text>{_TEXTS}|{_STUDIES}){_OF}"
_MENTION = r"(?:mention|discuss|describe|refer\s+to|speak\s+of|touch\s+(?:up)?on|allude\s+to|say\s+anything\s+about)"
_HOLD = r"(?:contain|include|list|cover|name|cite|address|specify|warn\s+(?:of|about|against))"
_MATTER = (
    r"(?:mention|references?|information|data|details?|statements?|warnings?|anything|words?)\s+"
    r"(?:of|to|on|about|regarding|concerning)"
)
_NOT = r"(?:(?:does|do|did)\s+not|(?:does|do|did)n['’]t|never)"
_TERM = r"(?P<term>[^;:]+?)"
_AT_ALL = r"(?:\s+(?:at\s+all|anywhere|in\s+any\s+way))?"
_IN_TEXT = rf"(?:\s+(?:anywhere\s+)?(?:in|by|on)\s+{_NAMED}(?P<text>{_TEXTS}|{_STUDIES}){_OF})"

_TEXT_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_TEXT_OR_STUDY}\s+{_NOT}\s+(?:even\s+)?{_MENTION}e?s?d?\s+{_TERM}{_AT_ALL}",
        rf"{_TEXT}\s+{_NOT}\s+{_HOLD}s?\s+(?:any\s+)?(?:{_MATTER}\s+)?{_TERM}{_AT_ALL}",
        rf"{_TEXT}\s+{_NOT}\s+(?P<report>report)\s+(?:on\s+)?{_TERM}{_AT_ALL}",
        rf"{_TEXT_OR_STUDY}\s+{_NOT}\s+(?:make|makes|give|provide|contain|have)\s+(?:any\s+)?{_MATTER}\s+{_TERM}{_AT_ALL}",
        rf"{_TEXT_OR_STUDY}\s+(?:makes?|made|contains?|contained|gives?|gave|has|have|had|provides?|provided)\s+no\s+"
        rf"{_MATTER}\s+{_TERM}{_AT_ALL}",
        rf"{_TEXT_OR_STUDY}\s+(?:is|are|was|were)\s+silent\s+(?:on|about)\s+{_TERM}",
        rf"there\s+(?:is|was)\s+no\s+(?:mention|discussion|description)\s+of\s+{_TERM}{_IN_TEXT}",
        rf"no\s+(?:mention|discussion)\s+of\s+{_TERM}\s+(?:is|was)\s+made{_IN_TEXT}",
        rf"nothing\s+in\s+{_TEXT_OR_STUDY}\s+(?:mentions|discusses|describes|refers\s+to)\s+{_TERM}",
        rf"(?:(?:the\s+)?(?:word|words|term|terms|phrase|name)\s+)?{_TERM}\s+(?:is|are|was|were)\s+(?:not|never)\s+"
        rf"(?:mentioned|discussed|described|named|listed){_AT_ALL}{_IN_TEXT}",
        rf"(?:the\s+)?(?:word|words|term|terms|phrase|name)\s+{_TERM}\s+(?:does|do)\s+not\s+(?:appear|occur|stand){_IN_TEXT}",
        rf"{_TERM}\s+(?:goes|go|went)\s+unmentioned{_IN_TEXT}",
    )
)
_NO_TERM = re.compile(
    r"(?:that|whether|if|how|why|what|when|where|who|which|it|them|this|these|those|anything)\b", re.I
)
_TERM_DRESSING = re.compile(
    rf"^(?:any\s+|the\s+|an?\s+|either\s+|{_MATTER}\s+)+|\s+(?:at\s+all|anywhere|as\s+such)$|^[“\"‘']|[”\"’']$",
    re.IGNORECASE,
)
_MAX_TERM_WORDS = 8

_HAPPEN = r"(?:occurred|happened|developed|arose|emerged|ensued|took\s+place)"
_BE = r"(?:was|were|is|are|has\s+been|have\s+been|had\s+been)"
_SEEN = r"(?:reported|observed|recorded|seen|noted|found|documented|detected|identified|encountered|registered)"
_PEOPLE = (
    r"(?:patients?|participants?|subjects?|adults?|child|children|infants?|women|woman|men|man|volunteers?|people|person|"
    r"individuals?|mice|mouse|rats?|animals?|recipients?|cases?)"
)
_NOBODY = (
    rf"(?:no\s+one|nobody|none\s+of\s+(?:the|these|our)\s+(?:[\w-]+\s+){{0,3}}?{_PEOPLE}|"
    rf"no\s+(?:[\w-]+\s+){{0,2}}?{_PEOPLE})"
)
_ANYBODY = frozenset(
    """no one nobody none of the these our patient patients participant participants subject subjects volunteer
    volunteers person people individual individuals""".split()
)
_NONE = r"(?:no|zero)"
_EVENT = r"(?P<event>[^,;:]+?)"
_EVENTS = r"(?P<event>[^,;:]+(?:(?:,\s[^,;:]+)*,?\s(?:or|nor)\s[^,;:]+)?)"
_SCOPE = r"(?P<scope>(?:\s+.+)?)"
_EVENT_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<people>{_NOBODY})\s+(?P<event>died){_SCOPE}",
        rf"(?P<people>{_NOBODY})\s+(?:experienced|developed|suffered(?:\s+from)?)\s+(?:an?\s+|any\s+)?{_EVENTS}",
        rf"{_NONE}\s+{_EVENT}\s+(?:{_HAPPEN}|{_BE}\s+{_SEEN}){_SCOPE}",
        rf"there\s+{_BE}\s+{_NONE}\s+{_EVENTS}",
        rf"{_EVENT}\s+(?:(?:did\s+not|didn['’]t)\s+(?:occur|happen|develop|arise)|never\s+{_HAPPEN}){_SCOPE}",
        rf"{_EVENT}\s+(?:{_BE}\s+not|wasn['’]t|weren['’]t)\s+(?:observed|seen|detected|recorded|encountered){_SCOPE}",
        rf"(?:{_TEXT_OR_STUDY}|they|we)\s+(?:reports?|reported|records?|recorded|observed?|documents?|documented|describes?|"
        rf"described|saw|noted|found)\s+{_NONE}\s+{_EVENTS}",
        rf"{_NONE}\s+{_EVENT}",
    )
)
_SCOPE_START = re.compile(
    r"\s+(?=(?:in|among|amongst|during|at|after|within|before|with|over|until|for|from|between|on|under|by|throughout|"
    r"following|related|due|attributable|attributed|that|which|who|when|where|while|requiring|leading|except|other|besides|"
    r"apart|beyond|to|up|compared|versus|than|across|per|as)\b)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"(?:that|which|who|where|when)\b", re.IGNORECASE)
_LEAD = re.compile(r"(?P<lead>[^\W\d_][\w'’-]*(?:\s[^\W\d_][\w'’-]*){0,7}),\s+(?=\S)")
_CASES_OF = re.compile(
    r"^(?:(?:further|new|confirmed|additional)\s+)?(?:cases?|instances?|episodes?|incidents?|occurrences?|incidences?)\s+of\s+",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s*,\s*(?:or|and|nor)\s+(?:no\s+|any\s+)?|\s+(?:or|and|nor)\s+(?:no\s+|any\s+)?|\s*,\s*(?:no\s+)?", re.I
)
# "No difference was found" is a result, not the absence of an event.
_NO_EVENTS = frozenset(
    """difference differences evidence association associations correlation correlations relationship relation
    change changes benefit benefits improvement improvements interaction interactions increase increases
    decrease decreases reduction trend link impact influence doubt study studies trial trials data information
    report reports consensus need reason conclusion superiority inferiority treatment treatments therapy
    therapies drug drugs way more less such one longer other others group groups method methods test tests model
    models gene genes effect effects advantage limit limits question""".split()
)
_EFFECTS = frozenset("adverse side toxic harmful unwanted undesirable untoward ill".split())
_VERBS = frozenset(
    "was were is are had has have did does do be been being would could should may might will can".split()
)
_MAX_EVENT_WORDS = 7


@lru_cache(maxsize=2048)
def read_absence(text: str) -> TextAbsence | EventAbsence | None:
    """What `text` (a claim without citation marks) says is absent; None when it is no claim of absence."""
    bare = re.sub(r"\s+", " ", text).strip().rstrip(".!").strip()
    return _text_absence(_without_opening(bare)) or _event_absence(bare)


def _without_opening(text: str) -> str:
    lead = _LEAD.match(text)
    if lead and tuple(lead["lead"].casefold().split()) in OPENINGS:
        return text[lead.end() :]
    return text


def _text_absence(text: str) -> TextAbsence | None:
    for form in _TEXT_FORMS:
        found = form.fullmatch(text)
        if not found or _NO_TERM.match(found["term"]):
            continue
        needs_all = bool(re.search(r"\band\b", found["term"])) and not re.search(r"\bor\b", found["term"])
        terms = tuple(t for t in (_bare_term(t) for t in _items(found["term"])) if t)
        if terms and all(len(t.split()) <= _MAX_TERM_WORDS for t in terms):
            is_report = bool(found.groupdict().get("report"))
            return TextAbsence(terms, _singular(found["text"]), is_report, needs_all and len(terms) > 1)
    return None


def _event_absence(text: str) -> EventAbsence | None:
    text = _without_opening(text)
    lead = _LEAD.match(text)
    lead_scope = lead["lead"] if lead else ""
    body = text[lead.end() :] if lead else text
    for form in _EVENT_FORMS:
        found = form.fullmatch(body)
        if not found:
            continue
        event, *rest = _SCOPE_START.split(found["event"], maxsplit=1)
        if rest and _RELATIVE.match(rest[0]):  # "no measurements that alerted": a result, told of something else
            continue
        people = _subgroup(found.groupdict().get("people") or "")
        scope = " ".join(filter(None, (lead_scope, people, *rest, (found.groupdict().get("scope") or "").strip())))
        events = tuple(e for e in (_bare_event(e) for e in _items(event)) if e)
        if events and all(_is_event(e) for e in events):
            return EventAbsence(events, scope)
    return None


def _subgroup(people: str) -> str:
    """What sets "no treated women" apart from "no patients": it belongs to the scope."""
    return " ".join(w for w in people.split() if w.casefold() not in _ANYBODY)


def _items(text: str) -> list[str]:
    return [part for part in _JOINED.split(text) if part.strip()]


def _bare_term(term: str) -> str:
    term = re.sub(r"\s*\([^()]*\)", "", term)
    earlier = ""
    while term != earlier:
        earlier, term = term, _TERM_DRESSING.sub("", term).strip()
    return term


def _bare_event(event: str) -> str:
    return _CASES_OF.sub("", re.sub(r"^(?:any|the|an?)\s+", "", event.strip(), flags=re.IGNORECASE)).strip()


def _is_event(event: str) -> bool:
    words = event.casefold().split()
    if not words or len(words) > _MAX_EVENT_WORDS or (_VERBS | (FINDING_VERBS - {"died"})) & set(words):
        return False
    if words[-1] in ("effect", "effects"):
        return bool(_EFFECTS & set(words))
    is_counted = words[0][0].isdigit() or words[0] in NUMBER_WORDS or words[0] in ("some", "several", "many", "few")
    return not is_counted and words[-1] not in _NO_EVENTS and words[0] not in _NO_EVENTS


def _singular(noun: str) -> str:
    noun = noun.casefold()
    irregular = {"studies": "study", "summaries": "summary"}
    return irregular.get(noun, noun.removesuffix("s") if not noun.endswith("ss") else noun)
