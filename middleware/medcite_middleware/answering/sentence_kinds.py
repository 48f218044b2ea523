"""What a sentence of an abstract does: state a finding, an aim, a method, or nothing that can be quoted."""

from __future__ import annotations

import re

from medcite_core.types import Section

SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*$")

# How much a sentence of each part of an abstract says in answer to a question (FR-042): conclusions before results,
# background and aims last, because they tell what was believed or asked before the study.
_PART_WEIGHTS = {
    "CONCLUSIONS": 1.25,
    "RESULTS": 1.1,
    "BACKGROUND": 0.65,
    "METHODS": 0.45,
    "OBJECTIVE": 0.4,
    "": 1.0,
}
_PART_WORDS = (
    (
        "CONCLUSIONS",
        re.compile(r"conclu|interpret|implication|significance|discussion|summary|take.?home|meaning", re.I),
    ),
    ("RESULTS", re.compile(r"result|finding|observation", re.I)),
    ("OBJECTIVE", re.compile(r"objective|aim|purpose|question|hypothes|goal", re.I)),
    (
        "METHODS",
        re.compile(
            r"method|design|setting|participant|patient|subject|material|measure|intervention|data|analys|"
            r"selection|source|procedure|registration|funding|trial",
            re.I,
        ),
    ),
    ("BACKGROUND", re.compile(r"background|introduction|context|rationale|importance|problem", re.I)),
)
_AIM = re.compile(
    r"\b(?:aims?|objectives?|purpose|goals?) (?:of|was|were|is|are|in)\b|\bhypothes[ie]s|\bhypothesi[sz]ed?\b|"
    r"\bwe (?:therefore |thus |here |also |have )?(?:aim(?:ed)?|sought|investigated?|examined?|evaluated?|assessed?|"
    r"tested|stud(?:y|ied)|explored?|asked|analy[sz]ed?|compared?|determined?|set out|wanted)\b|"
    r"\bwe (?:here |also |now )?(?:present|describe|illustrate|review|discuss|report (?:on|here|an?|the|two))\b|"
    r"\b(?:this|the present|our|the current) (?:study|trial|review|paper|article|work|analysis)"
    r"(?: was)? (?:aim|sought|examin|investigat|evaluat|assess|explor|describ|compar|review|designed|undertaken)|"
    r"\b(?:was|were) (?:undertaken|designed|performed|conducted|carried out) to\b|"
    r"^to (?:determine|assess|evaluate|investigate|examine|compare|study|describe|explore|test|identify|review|find)\b|"
    r"\b(?:remains?|is|are) (?:unclear|unknown|uncertain|controversial|poorly understood|not (?:well |fully )?(?:known|"
    r"understood|clear))\b|^whether\b|\bshould be (?:further )?(?:investigated|studied|examined|evaluated|explored)\b|"
    r"\b(?:is|are|were) (?:also )?(?:reviewed|discussed|described|presented|provided|outlined|summari[sz]ed)\b|"
    r"\bwhether\b.*\b(?:unclear|unknown|uncertain|not known)\b",
    re.I,
)
_FINDING = re.compile(
    r"\bwe (?:conclude|found|show|demonstrate|report that|observed)|\bin (?:conclusion|summary)\b|"
    r"\b(?:results?|findings?|data|evidence|study|analysis|trial|review)\b[^.]{0,40}\b(?:suggest|indicate|show|"
    r"demonstrate|support|confirm|reveal|provide evidence)|\bthus,|\btherefore,|"
    r"\bsignificant(?:ly)?\b|\bassociated with\b|\bcompared with\b",
    re.I,
)
_METHOD = re.compile(
    r"\bwere (?:randomi[sz]ed|randomly|enrolled|recruited|included|excluded|assigned|searched|retrieved|collected|"
    r"divided|selected|identified from|measured|obtained|invited|interviewed|followed)\b|"
    r"\bwas (?:measured|assessed|determined|used to|searched|evaluated|performed|calculated|obtained)\b|"
    r"\b(?:primary|secondary|main) (?:\w+ ){0,2}(?:outcomes?|end ?points?) (?:measures? )?(?:was|were|included)\b|"
    r"\b(?:was|were) (?:also )?(?:conducted|performed|carried out|exposed|given|administered)\b|\breceived\b|"
    r"\b(?:study|trial|analysis|survey|review)\b.*\bto (?:determine|assess|evaluate|investigate|examine|identify)\b|"
    r"\bdata were\b|\bwe (?:searched|enrolled|recruited|included|used|performed|conducted|measured|collected)\b",
    re.I,
)
_NOT_CONTENT = re.compile(
    r"clinicaltrials\.gov|\bisrctn\d|trial registration|registration number|©|\(c\) \d{4}|copyright|"
    r"all rights reserved|abstract truncated|funded by|supported by grants?|conflicts? of interest|"
    r"\b(?:further|more|additional|future) (?:\w+ ){0,3}(?:research|stud(?:y|ies)|trials?|work|investigations?) "
    r"(?:(?:is|are) |may be |will be )?(?:\w+ )?(?:needed|required|warranted|necessary)|"
    r"\b(?:is|are|will be) (?:discussed|reviewed|presented|described)\.$",
    re.I,
)
_LEANS_BACK = re.compile(
    r"^(?:it|they|this|these|those|he|she|both|such|its|their|however|but|and|moreover|furthermore|also|then|"
    r"in addition|conversely|similarly|in contrast|on the other hand|by contrast|nevertheless)\b",
    re.I,
)
# A title is quoted only when it states something.
_ASSERTS = re.compile(
    r"\b(?:is|are|was|were|does|do|did|has|have|can|cannot|may|reduces?|increases?|improves?|prevents?|causes?|"
    r"predicts?|induces?|inhibits?|enhances?|promotes?|protects?|attenuates?|decreases?|lowers?|impairs?|fails?)\b",
    re.I,
)
_TITLE_WEIGHT = 0.65
_INLINE_HEAD = re.compile(
    r"(?:^|[.!?)]\s+)(?P<head>(?:Background|Introduction|Purpose|Objectives?|Aims?|Patients and Methods|"
    r"Materials? and Methods|Methods|Design|Results?|Findings|Conclusions?|Discussion|BACKGROUND|INTRODUCTION|PURPOSE|"
    r"OBJECTIVES?|AIMS?|PATIENTS AND METHODS|MATERIALS? AND METHODS|METHODS|DESIGN|RESULTS?|FINDINGS|CONCLUSIONS?|"
    r"DISCUSSION))(?:\s*:\s+|\.\s+|\s*[-–—]\s+|\s+(?=[A-Z]))"
)
_FEW_WORDS = 5
_MANY_WORDS = 60


def heading_chars(sentence: str) -> int:
    """How many characters of a sentence are a heading that stands in the text: "Results At 12 months …"."""
    match = _INLINE_HEAD.match(sentence)
    return match.end() if match and match.end() < len(sentence) else 0


def part_of(section: Section, offset: int = 0) -> str:
    """`CONCLUSIONS`, `RESULTS`, `METHODS`, `OBJECTIVE`, `BACKGROUND`, or empty when nothing tells.

    A section without label may carry its headings in its text ("… Results At 12 months …"): the last one that begins
    a sentence at or before `offset` counts.
    """
    if section.nlm_category in _PART_WEIGHTS and section.nlm_category:
        return section.nlm_category
    label = section.label
    if not label or section.nlm_category == "UNASSIGNED":
        heads = [match["head"] for match in _INLINE_HEAD.finditer(section.text) if match.start("head") <= offset]
        label = heads[-1] if heads else label
    return next((part for part, words in _PART_WORDS if words.search(label)), "")


def statement_weight(sentence: str, section: Section, offset: int) -> float:
    """How well a sentence stands as a quoted answer, whatever the question: about 1; 0 when it never should be quoted.

    Titles, aims, questions, methods and sentences that lean on the one before count less; findings count more.
    `offset` is where it begins in the section: an abstract without labels begins with background, and ends with the
    conclusion.
    """
    is_title = section.kind == "title"
    if (
        not SENTENCE_END.search(sentence)
        or _NOT_CONTENT.search(sentence)
        or (is_title and not _ASSERTS.search(sentence))
    ):
        return 0.0
    part = part_of(section, offset)
    weight = _TITLE_WEIGHT if is_title else _PART_WEIGHTS[part]
    if sentence.rstrip("\"'”’)]").endswith("?"):
        weight *= 0.3
    elif _AIM.search(sentence):
        weight *= 0.4
    elif _METHOD.search(sentence):
        weight *= 0.9 if _FINDING.search(sentence) else 0.7
    elif _FINDING.search(sentence):
        weight *= 1.15
    if not part and not is_title:
        if offset + len(sentence) >= len(section.text.rstrip()):
            weight *= 1.15
        elif offset == 0:
            weight *= 0.8
    if _LEANS_BACK.match(sentence):
        weight *= 0.85
    if sentence[0].islower() and sentence.split(maxsplit=1)[0].isalpha():
        weight *= 0.6
    words = len(sentence.split())
    if words < _FEW_WORDS:
        weight *= 0.5
    elif words > _MANY_WORDS:
        weight *= 0.8
    return weight
