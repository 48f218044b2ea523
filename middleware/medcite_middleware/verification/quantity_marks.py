"""The words and signs about a numeral that say what kind of quantity it is, as patterns."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from medcite_middleware.verification.units import MONEY_AFTER as MONEY_NAMES
from medcite_middleware.verification.units import MONEY_BEFORE as MONEY_SIGNS
from medcite_middleware.verification.units import UNIT

Comparator = Literal["", "<", "≤", ">", "≥"]

SPACE = r"[\s\u00a0\u202f\u2009]"
PERCENT = re.compile(rf"{SPACE}?(?:%|per{SPACE}?cent\b|pct\b)", re.IGNORECASE)
POINTS = re.compile(
    rf"{SPACE}?(?:(?:%|percent(?:age)?|per{SPACE}cent)[\s-]?points?|pp)\b|{SPACE}points?\b(?!{SPACE}(?:scale|out))",
    re.IGNORECASE,
)
FOLD = re.compile(rf"(?:{SPACE}|-)?(?:fold\b|times\b|×|x\b)", re.IGNORECASE)
UNIT_AFTER = re.compile(rf"(?:{SPACE}|-)?(?P<unit>{UNIT})")
MONEY_AFTER = re.compile(rf"{SPACE}?(?P<unit>{MONEY_NAMES})", re.IGNORECASE)
MONEY_BEFORE = re.compile(rf"(?P<unit>{MONEY_SIGNS})$")
RANGE = re.compile(rf"{SPACE}?[–—‐‑-]{SPACE}?|{SPACE}to{SPACE}")
RANGE_WITH_NOUN = re.compile(rf"{SPACE}(?P<noun>[a-z]+){SPACE}to{SPACE}")
AND = re.compile(rf"{SPACE}and{SPACE}")
CHANGE = re.compile(
    r"\b(?:ris\w+|rose|increas\w+|f[ae]ll\w*|decreas\w+|declin\w+|drop\w*|reduc\w+|chang\w+|improv\w+|worsen\w+|grew|grow\w*|"
    r"went|shift\w+|lower\w*|rais\w+|doubl\w+|tripl\w+|halv\w+|went|climb\w+|mov\w+)\b[^.;,]*\bfrom\b[^.;,\d]*$",
    re.IGNORECASE,
)
COMPARATORS: tuple[tuple[re.Pattern[str], Comparator], ...] = tuple(
    (re.compile(rf"(?:{pattern}){SPACE}?$", re.IGNORECASE), sign)  # type: ignore[misc]
    for pattern, sign in (
        (r"≤|<=|\bat most|\bup to|\bno more than|\bnot more than", "≤"),
        (r"≥|>=|\bat least|\bno (?:less|fewer) than|\bnot less than", "≥"),
        (r"<|\b(?:less|fewer|lower|smaller|shorter) than|\bbelow|\bunder", "<"),
        (r">|\b(?:more|greater|higher|larger|longer) than|\bover|\babove|\bexceed(?:s|ed|ing)?", ">"),
    )
)
APPROXIMATE = re.compile(
    rf"(?:~|≈|\b(?:about|approximately|approx\.?|around|roughly|nearly|almost|some|circa|ca\.)){SPACE}?$", re.I
)
BOUND_SIGNS: dict[str, Comparator] = {"<": "<", "≤": "≤", ">": ">", "≥": "≥"}
P = re.compile(
    rf"(?<![\w-])p(?:{SPACE}?-?values?)?{SPACE}?(?:(?:was|of|=){SPACE}?)?(?P<sign>[<>≤≥])?{SPACE}?$", re.IGNORECASE
)
NAME = re.compile(
    r"\b(?P<name>a?OR|a?RR|a?HR|IRR|SMR|odds ratio|relative risk|risk ratio|hazard ratio|rate ratio|n)\b"
    r"(?:\s?\([^)]*\))?[\s,:;\[(=]*(?:was|of|is|were)?[\s=]*$",
    re.IGNORECASE,
)
NAMES = {
    "odds ratio": "OR", "or": "OR", "aor": "OR", "relative risk": "RR", "risk ratio": "RR", "rr": "RR", "arr": "RR",
    "hazard ratio": "HR", "hr": "HR", "ahr": "HR", "irr": "IRR", "rate ratio": "IRR", "smr": "SMR", "n": "n",
}  # fmt: skip
LEVEL = re.compile(rf"{SPACE}?(?:%|percent){SPACE}?(?:CIs?\b|CrIs?\b|confidence|credible|prediction)", re.IGNORECASE)
INTERVAL = re.compile(
    r"(?:\b(?:CI|CrI|interval)s?\b|\b(?:IQR|interquartile range|range))[\s,:;=\[(]*(?:was|of|from|\)|,)?[\s:=\[(]*$",
    re.I,
)
SPREAD = re.compile(
    r"(?:±|\+/[-−]|\b(?:SDs?|SEM?|s\.d\.|s\.e\.|standard (?:deviation|error)s?)\b)[\s,:=(]*(?:of|was)?\s*$",
    re.IGNORECASE,
)
YEAR_CONTEXT = re.compile(
    r"(?:\b(?:in|since|from|by|during|until|till|of|before|after|between|and|to|through|year)|[(,–-])\s?$", re.I
)
DATE = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d{2}|\d{1,2}\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
    r"\.?\s(?:19|20)\d{2})\b"
)
SEASON = re.compile(r"\b(?P<from>(?:19|20)\d\d)\s?[–/-]\s?(?P<to>(?:19|20)\d\d|\d\d)\b(?!\s?(?:%|[a-z]*mg|mL))")
PER = re.compile(rf"{SPACE}(?:per|in){SPACE}(?:every{SPACE})?$")
OF = re.compile(rf"{SPACE}(?:out{SPACE})?of{SPACE}(?:the{SPACE}|a{SPACE}total{SPACE}of{SPACE})?$")
WORD_BEFORE = re.compile(r"([A-Za-z]+)[\s\u00a0#.-]*$")
GLUED = re.compile(r"(?:st|nd|rd|th)\b|[A-Za-z]")
SHARE_WORDS = re.compile(
    r"\b(?:(?P<half>(?:one[\s-])?half)|(?P<count>an?|one|two|three|four)[\s-](?P<part>third|quarter|fifth|tenth)s?)\b",
    re.IGNORECASE,
)
COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
PARTS = {"third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
TIMES = frozenset("second minute hour day week month year".split())
DURING = re.compile(r"over|up to|under|above|below", re.IGNORECASE)
PLUS_MINUS = re.compile(r"\s?(?:±|\+/[-−])\s?")
FOLDS = {
    "doubled": "2", "double": "2", "twice": "2", "twofold": "2", "tripled": "3", "threefold": "3", "triple": "3",
    "quadrupled": "4", "fourfold": "4", "fivefold": "5", "tenfold": "10", "halved": "0.5",
}  # fmt: skip
FOLD_WORDS = re.compile(rf"\b(?:{'|'.join(FOLDS)})\b", re.IGNORECASE)
MAX_P = Decimal(1)
ROUND_BASES = frozenset(Decimal(10) ** n for n in range(2, 7))
