"""The date of a citation: one printed source is taken whole, never mixed with another.

The rule: the issue's PubDate if it names a year (also inside MedlineDate: the first year, "Winter 2016-2017" is 2016);
else the electronic ArticleDate, marked "[electronic]"; else no year. A day that its month does not have is left out.
"""

from __future__ import annotations

import calendar
import re
from xml.etree.ElementTree import Element

from medcite_core.types import PartialDate
from medcite_ingestion.inline_text import plain_text

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d|21\d\d)(?!\d)")
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_WORD = re.compile(rf"\b({'|'.join(_MONTH_NAMES)})[a-z]*", re.IGNORECASE)


def article_date(article: Element) -> PartialDate:
    """When the article appeared, by the rule above."""
    printed = date_of(article.find("Journal/JournalIssue/PubDate"))
    if printed.year is not None:
        return printed
    for element in article.findall("ArticleDate"):
        electronic = date_of(element)
        if electronic.year is not None:
            raw = f"{electronic.iso()} [electronic]"
            return PartialDate(electronic.year, electronic.month, electronic.day, raw)
    return printed


def date_of(element: Element | None) -> PartialDate:
    """A PubDate, ArticleDate or DateRevised element as far as it is known."""
    if element is None:
        return PartialDate()
    medline = plain_text(element.find("MedlineDate"))
    if medline:
        return date_from_words(medline)
    words = {name: plain_text(element.find(name)) for name in ("Year", "Season", "Month", "Day")}
    raw = " ".join(word for word in words.values() if word)
    year_match = _YEAR.search(words["Year"])
    if year_match is None:
        return PartialDate(raw=raw)
    year = int(year_match[1])
    month = _month(words["Month"])
    return PartialDate(year, month, _day(year, month, words["Day"]), raw)


def date_from_words(words: str) -> PartialDate:
    """First year of a date in words (MedlineDate, "2016 Nov-Dec"); its month only when just one is named."""
    year = _YEAR.search(words)
    months = {name.lower()[:3] for name in _MONTH_WORD.findall(words)}
    month = _MONTH_NAMES.index(months.pop()) + 1 if year and len(months) == 1 else None
    return PartialDate(int(year[1]) if year else None, month, None, words)


def _month(word: str) -> int | None:
    if word.isdecimal():
        return int(word) if 1 <= int(word) <= 12 else None
    match = _MONTH_WORD.fullmatch(word)
    return _MONTH_NAMES.index(match[1].lower()) + 1 if match else None


def _day(year: int, month: int | None, word: str) -> int | None:
    if month is None or not word.isdecimal():
        return None
    return int(word) if 1 <= int(word) <= calendar.monthrange(year, month)[1] else None
