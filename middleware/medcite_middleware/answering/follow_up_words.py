"""The vocabulary that tells a follow-up from a question that stands alone."""

from __future__ import annotations

import re

from medcite_core.stemming import stem_words

_FUNCTION_WORDS = (
    "a about above after again against all also am an and any are as at be because been before being below "
    "between both but by can cannot could did do does doing down during each either else ever few for from "
    "further had has have having he her here him his how however i if in into is it its itself just me might mine "
    "more most much must my no nor not of off on once one ones only or other others our out over own per please "
    "same shall she should so some such than that the their them then there these they this those through to too "
    "toward under until up upon us very via was we were what whats when where whether which while who whom whose "
    "why will with within without would you your"
)
# What is said about a conversation, not about its subject.
_CONVERSATION = (
    "actually again another answer anything ask asked asking belong belongs certain clarify correct detail "
    "details different elaborate example examples exactly explain explanation give given group groups instead "
    "know known let like list look mean meant more ok okay point question rather really say show something "
    "specific specifically still summarise summarize sure tell thank thanks thing things true want whole word "
    "words wrong yes yet"
)
# Words that fit any topic: on their own they do not name one.
_GENERIC = (
    "absolute action advantage adverse advice affect affected alone alternative alternatives amount appropriate "
    "arm arms author authors bad benefit benefits best better care case cases cause caused causes causing change "
    "changes common compare compared comparison complication complications conclude concluded conclusion "
    "condition conditions contraindication contraindications cost costs danger dangerous data difference "
    "differences differ disadvantage disease diseases dosage dose doses dosing drug drugs duration early effect "
    "effective effectiveness effects efficacy evidence fast finding findings first follow found frequency "
    "frequent frequently good great group guideline guidelines happen happens harm harmful harms help helped "
    "helps high higher impact important improve improved improves increase increased increases influence interact "
    "interaction interactions kind large last late later less level long longer low lower lowered lowers main "
    "many matter measure mechanism medication medications medicine medicines mortality need negative number occur "
    "often option options outcome outcomes paper papers patient patients people percent percentage person persons "
    "population populations positive possible prevent prevented prevents problem problems prognosis quality quick "
    "raise raised raises rare rate rates ratio reason reasons recommend recommended reduce reduced reduces "
    "relative report reported result results risk risks safe safety serious severe severity short side "
    "significant similar sign size slow small start stop strong studies study subject subjects subgroup success "
    "suggest suitable survival symptom symptoms take taken taking test therapies therapy time times tolerate "
    "tolerated toxicity treat treated treatment treatments treats trial trials type types typical use used useful "
    "uses using usual weak well work worked works worse worst year years month months week weeks day days term"
)
FUNCTION_STEMS = frozenset(stem_words(_FUNCTION_WORDS))
CONVERSATION_STEMS = frozenset(stem_words(_CONVERSATION))
GENERIC_STEMS = frozenset(stem_words(_GENERIC))

# One class a line; members of a class exclude each other in a question, so that naming one replaces another.
_CONTRASTS = (
    r"(?:young |older |elderly )?(?:children|child|kids|pa?ediatric(?: patients)?|infants?|babies|neonates?|"
    r"newborns?|adolescents?|teenagers?|toddlers?|adults?|elderly(?: (?:people|patients|adults))?|"
    r"(?:older|old|young|younger) (?:people|patients|persons|groups?|ones)|seniors?|the old|the young)",
    r"(?:pregnant )?(?:women|woman|females?)|men|man|males?|girls?|boys?",
    r"(?:the )?(?:short|long|medium)[- ]?term|(?:over|after|within|at) (?:\d+|one|two|three|five|six|ten|twelve) "
    r"(?:day|week|month|year)s?",
    r"(?:before|after|since|until|in) (?:19|20)\d\d",
    r"(?:in |on )?(?:mice|mouse|rats?|animals?|humans?)",
)
CONTRASTS = tuple(re.compile(rf"\b(?:{members})\b", re.IGNORECASE) for members in _CONTRASTS)

AUXILIARIES = (
    "am|is|are|was|were|do|does|did|can|could|may|might|will|would|should|shall|must|has|have|had|isn't|aren't|"
    "doesn't|don't"
)
INTERROGATIVES = "what|which|who|whom|whose|when|where|why|how"
PREPOSITIONS = (
    "in|for|with|without|among|during|after|before|by|at|on|of|versus|vs|compared (?:to|with)|under|over|since|until|"
    "from"
)
# Verbs that follow the subject of a question: "Does vitamin D | prevent fractures?"
SUBJECT_VERBS = (
    "affect|aid|alter|cause|change|control|cross|cure|decrease|delay|differ|do|ease|enhance|have|help|improve|increase|"
    "induce|inhibit|interact|lead|lower|make|predict|prevent|prolong|promote|protect|raise|reduce|reverse|shorten|slow|"
    "stop|suppress|treat|trigger|work|worsen"
)


def words_of(text: str) -> list[str]:
    """The words of `text`, compounds whole."""
    return re.findall(r"[^\W_]+(?:[-'’][^\W_]+)*", text)


def content_words(text: str) -> list[str]:
    """Words that carry meaning, in order, as written: neither function words nor talk about the conversation."""
    return [word for word in words_of(text) if not _is_all_in(word, FUNCTION_STEMS | CONVERSATION_STEMS)]


def specific_words(text: str) -> list[str]:
    """Words that name a topic: content words that fit not just any, and that are no group of people or time."""
    for members in CONTRASTS:
        text = members.sub(" ", text)
    return [word for word in content_words(text) if not _is_all_in(word, GENERIC_STEMS) and not word.isdigit()]


def _is_all_in(word: str, stems: frozenset[str]) -> bool:
    return all(stem in stems for stem in stem_words(word))
