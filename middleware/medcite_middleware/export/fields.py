"""What every format says of a record: its title with its state, full page ranges, its notices in words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from medcite_core.types import Author, NoticeKind, Record

_RANGE = re.compile(r"([A-Za-z]*)(\d+)([A-Za-z.]*\d*)\s*[-–]\s*([A-Za-z]*)(\d+)([A-Za-z.]*\d*)")
_ARTICLE_NUMBER = re.compile(r"[A-Za-z]{2,6}\d+|[Ee]\d{3,}|[Ee]\d+|[A-Za-z]\d{3,}|\d{7,}")
_TITLE_STATES = {
    "retracted": "[Retracted]",
    "partially_retracted": "[Partly retracted]",
    "expression_of_concern": "[Expression of concern]",
}
_SAYS_SO = re.compile(r"\s*\W?(?:retracted|partially retracted|expression of concern)\b", re.IGNORECASE)
_NOTICE_WORDS: dict[NoticeKind, str] = {
    "retracted": "Retracted in",
    "partially_retracted": "Partly retracted in",
    "retraction_notice": "Notice of retraction of",
    "expression_of_concern": "Expression of concern in",
    "expression_of_concern_notice": "Expression of concern about",
    "corrected": "Erratum in",
    "correction_notice": "Erratum for",
    "updated": "Updated in",
    "update_of": "Update of",
}


def one_line(text: str) -> str:
    """`text` with every run of white space as one space, without control characters: most formats are made of lines."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in ("Cc", "Cs"))


def marked_title(record: Record) -> str:
    """The title on one line; that of a retracted record begins with `[Retracted]`, unless it says so itself."""
    title = one_line(record.title)
    state = _TITLE_STATES.get(record.status, "")
    return f"{state} {title}" if state and not _SAYS_SO.match(title) else title


def reference_title(record: Record) -> str:
    """`marked_title` without PubMed's full stop, as reference managers keep titles."""
    title = marked_title(record)
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def notices_in_words(record: Record) -> list[str]:
    """`Retracted in: J Test. 2019;3:4 (PMID 99)` for each notice that changes how the record may be used."""
    found = []
    for notice in record.notices:
        if words := _NOTICE_WORDS.get(notice.kind):
            place = " ".join(filter(None, (one_line(notice.reference), f"(PMID {notice.pmid})" if notice.pmid else "")))
            found.append(f"{words}: {place}" if place else words.removesuffix(" in").removesuffix(" of"))
    if record.status == "retracted" and not any(n.kind == "retracted" for n in record.notices):
        found.insert(0, "Retracted publication")
    return found


def pubmed_url(record: Record) -> str:
    """The record's page in PubMed."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/"


def given_names(author: Author) -> str:
    """A person's given names as PubMed has them, or the initials."""
    return one_line(author.fore_name or author.initials)


def mesh_terms(record: Record) -> list[str]:
    """MeSH headings as MEDLINE writes them, `*Zinc/blood`: `*` marks a heading of which something is a major topic."""
    return [
        one_line("/".join([f"*{h.descriptor}" if h.is_major else h.descriptor, *h.qualifiers]))
        for h in record.mesh_headings
    ]


def abstract_text(record: Record) -> str:
    """The abstract on one line, with its labels."""
    parts = (f"{s.label}: {s.text}" if s.label else s.text for s in record.sections if s.kind == "abstract")
    return one_line(" ".join(parts))


def subjects(record: Record) -> list[str]:
    """Keywords, then MeSH descriptors, each once."""
    words = [*record.keywords, *(heading.descriptor for heading in record.mesh_headings)]
    return [word for word in dict.fromkeys(map(one_line, words)) if word]


@dataclass(frozen=True, slots=True)
class Pages:
    """Page ranges of a record with full ends. `ranges` are (first, last), the last empty for a single page."""

    ranges: tuple[tuple[str, str], ...] = ()
    is_article_number: bool = False

    @property
    def first(self) -> str:
        """The first page, or the article number."""
        return self.ranges[0][0] if self.ranges else ""

    @property
    def last(self) -> str:
        """The last page of the first range."""
        return self.ranges[0][1] if self.ranges else ""

    def joined(self, dash: str) -> str:
        """All ranges: `845-846, 850-851`."""
        return ", ".join(dash.join(filter(None, pair)) for pair in self.ranges)


def full_pages(record: Record) -> Pages:
    """Pages with PubMed's shortened ends made whole: `1338-46` is 1338 to 1346, `S12-9` is S12 to S19."""
    text = one_line(record.pages)
    if not text or text.startswith("["):
        return Pages()  # "[34457 words; 185 paragraphs]" is no page
    if _ARTICLE_NUMBER.fullmatch(text):
        return Pages(((text, ""),), is_article_number=True)
    ranges = []
    for part in re.split(r"[;,]", text):
        piece = re.sub(r"^\s*(?:quiz|discussion|author reply|contents|passim)\s*", "", part, flags=re.IGNORECASE)
        if piece := piece.strip():
            ranges.append(_full_range(piece))
    return Pages(tuple(ranges))


def _full_range(piece: str) -> tuple[str, str]:
    match = _RANGE.fullmatch(piece)
    if match is None:
        first, dash, last = piece.partition("-")
        return (first.strip(), last.strip()) if dash and first.strip() and last.strip() else (piece, "")
    prefix, start, tail, end_prefix, end, end_tail = match.groups()
    if not end_prefix and not tail and len(end) < len(start):
        end = start[: len(start) - len(end)] + end
    if not end_prefix and prefix and not tail:
        end_prefix = prefix
    return f"{prefix}{start}{tail}", f"{end_prefix}{end}{end_tail}"
