"""What one parsed citation says: a `Record` from a PubmedArticle, MedlineCitation or PubmedBookArticle element.

Element names and their meaning: NLM, "MEDLINE/PubMed XML data elements" and the PubMed DTD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from xml.etree.ElementTree import Element

from medcite_core.types import (
    Author,
    MeshHeading,
    Notice,
    NoticeKind,
    Provenance,
    Record,
    assemble_text,
)
from medcite_ingestion.citation_date import article_date, date_of
from medcite_ingestion.inline_text import collapse, local_name, plain_text

NO_TITLE = "[Not Available]."
"""PubMed's own words for a citation without a title."""

_PMID = re.compile(r"^[1-9]\d{0,8}$")
_ARTICLE_NUMBER = re.compile(r"^[A-Za-z]{0,3}\d{1,8}$")
_NOTICES: dict[str, NoticeKind] = {
    "RetractionIn": "retracted",
    "RetractedandRepublishedIn": "retracted",
    "PartialRetractionIn": "partially_retracted",
    "RetractionOf": "retraction_notice",
    "PartialRetractionOf": "retraction_notice",
    "ExpressionOfConcernIn": "expression_of_concern",
    "ExpressionOfConcernFor": "expression_of_concern_notice",
    "ErratumIn": "corrected",
    "CorrectedandRepublishedIn": "corrected",
    "ErratumFor": "correction_notice",
    "CorrectedandRepublishedFrom": "correction_notice",
    "UpdateIn": "updated",
    "UpdateOf": "update_of",
    "RetractedandRepublishedFrom": "update_of",
    "CommentIn": "commented",
    "CommentOn": "comment_on",
}
# Labels that say that there is none.
_NO_LABELS = frozenset({"", "UNASSIGNED", "UNLABELLED"})

_IN_CITATION = frozenset(
    (
        "PMID DateCreated DateCompleted DateRevised Article MedlineJournalInfo ChemicalList SupplMeshList "
        "CitationSubset CommentsCorrectionsList GeneSymbolList MeshHeadingList NumberOfReferences InvestigatorList "
        "PersonalNameSubjectList OtherID OtherAbstract KeywordList CoiStatement SpaceFlightMission GeneralNote"
    ).split()
)
_IN_ARTICLE = frozenset(
    (
        "Journal ArticleTitle Pagination ELocationID Abstract AuthorList Language DataBankList GrantList "
        "PublicationTypeList VernacularTitle ArticleDate Affiliation"
    ).split()
)


class UnreadableCitation(Exception):
    """The citation lacks what a record cannot be without; the text says what."""


def unknown_elements(element: Element) -> set[str]:
    """Names directly below MedlineCitation and Article that this reader does not know."""
    citation = element if local_name(element) == "MedlineCitation" else element.find("MedlineCitation")
    if citation is None:
        return set()
    article = citation.find("Article")
    names = {local_name(child) for child in citation} - _IN_CITATION
    return names if article is None else names | ({local_name(child) for child in article} - _IN_ARTICLE)


MAX_VERSION_DIGITS = 6


def read_pmid(element: Element | None) -> tuple[str, int]:
    """(pmid, version) of a PMID element; version 1 when it names none.

    Raises:
        UnreadableCitation: no PMID, or not a number.
    """
    text = (element.text or "").strip() if element is not None else ""
    if element is None or not text:
        raise UnreadableCitation("the citation has no PMID")
    if not _PMID.match(text):
        raise UnreadableCitation(f"the PMID is not a number: {text[:40]!r}")
    version = element.get("Version", "1")
    if not version.isdecimal():
        return text, 1
    if len(version) > MAX_VERSION_DIGITS:
        raise UnreadableCitation(f"the version of PMID {text} is not believable: {version[:40]!r}")
    return text, int(version)


def read_article(element: Element, provenance: Provenance) -> Record:
    """The record of a PubmedArticle, or of a bare MedlineCitation as older files have them."""
    citation = element if local_name(element) == "MedlineCitation" else element.find("MedlineCitation")
    if citation is None:
        raise UnreadableCitation("the citation has no MedlineCitation")
    pmid, version = read_pmid(citation.find("PMID"))
    article = citation.find("Article")
    if article is None:
        raise UnreadableCitation("the citation has no Article")
    vernacular = plain_text(article.find("VernacularTitle"))
    title = plain_text(article.find("ArticleTitle")) or vernacular or NO_TITLE
    text, sections = assemble_text(title, list(_abstract(article.find("Abstract"))))
    journal = article.find("Journal")
    authors, is_complete = _authors(article.find("AuthorList"))
    ids = _article_ids(element.find("PubmedData/ArticleIdList"))
    issn, issn_kind = _issn(citation, journal)
    return Record(
        pmid=pmid,
        version=version,
        title=title,
        sections=sections,
        text=text,
        authors=authors,
        authors_complete=is_complete,
        journal=_first(journal, "Title") or _first(citation, "MedlineJournalInfo/MedlineTA"),
        journal_abbreviation=_first(journal, "ISOAbbreviation") or _first(citation, "MedlineJournalInfo/MedlineTA"),
        issn=issn,
        issn_kind=issn_kind,
        volume=_first(journal, "JournalIssue/Volume"),
        issue=_first(journal, "JournalIssue/Issue"),
        pages=_pages(article),
        date=article_date(article),
        date_revised=date_of(citation.find("DateRevised")),
        publication_types=_texts(article, "PublicationTypeList/PublicationType"),
        mesh_headings=tuple(_mesh(citation)),
        keywords=_texts(citation, "KeywordList/Keyword"),
        doi=ids.get("doi") or _location(article, "doi"),
        pmcid=_pmcid(ids),
        languages=_texts(article, "Language"),
        vernacular_title=vernacular,
        other_abstracts=tuple(_other_abstracts(citation)),
        notices=tuple(_notices(citation)),
        provenance=provenance,
    )


def read_book(element: Element, provenance: Provenance) -> Record:
    """The record of a PubmedBookArticle: a book, or the chapter its ArticleTitle names, with the book as journal."""
    document = element.find("BookDocument")
    if document is None:
        raise UnreadableCitation("the book citation has no BookDocument")
    pmid, version = read_pmid(document.find("PMID"))
    book = document.find("Book")
    book_title = _first(book, "BookTitle")
    chapter = _first(document, "ArticleTitle")
    title = chapter or book_title or _first(document, "VernacularTitle") or NO_TITLE
    text, sections = assemble_text(title, list(_abstract(document.find("Abstract"))))
    author_lists = [*document.findall("AuthorList"), *(book.findall("AuthorList") if book is not None else ())]
    author_lists.sort(key=lambda names: names.get("Type") == "editors")  # stable: authors first, editors if none
    authors, is_complete = _authors(author_lists[0] if author_lists else None)
    ids = {**_article_ids(element.find("PubmedBookData/ArticleIdList")), **_article_ids(document.find("ArticleIdList"))}
    return Record(
        pmid=pmid,
        version=version,
        title=title,
        sections=sections,
        text=text,
        authors=authors,
        authors_complete=is_complete,
        journal=book_title if chapter else _first(book, "CollectionTitle"),
        volume=_first(book, "Volume"),
        pages=_pages(document),
        date=date_of(book.find("PubDate") if book is not None else None),
        date_revised=date_of(document.find("DateRevised")),
        publication_types=_texts(document, "PublicationType"),
        keywords=_texts(document, "KeywordList/Keyword"),
        doi=ids.get("doi") or (_location(book, "doi") if book is not None else ""),
        pmcid=_pmcid(ids),
        languages=_texts(document, "Language"),
        vernacular_title=_first(document, "VernacularTitle"),
        is_book=True,
        provenance=provenance,
    )


def _issn(citation: Element, journal: Element | None) -> tuple[str, Literal["Print", "Electronic", "Linking"]]:
    """The journal's ISSN and its kind; NLM's linking one when the citation names no other."""
    element = journal.find("ISSN") if journal is not None else None
    if element is None or not plain_text(element):
        return _first(citation, "MedlineJournalInfo/ISSNLinking"), "Linking"
    return plain_text(element), "Electronic" if element.get("IssnType") == "Electronic" else "Print"


def _first(element: Element | None, path: str) -> str:
    return plain_text(element.find(path)) if element is not None else ""


def _texts(element: Element, path: str) -> tuple[str, ...]:
    """Distinct texts at `path`, in order."""
    return tuple(dict.fromkeys(text for text in map(plain_text, element.findall(path)) if text))


def _abstract(abstract: Element | None) -> Iterator[tuple[str, str, str]]:
    """(label, NLM category, text) of each part."""
    if abstract is None:
        return
    for part in abstract.findall("AbstractText"):
        label = collapse(part.get("Label", "")).rstrip(":").rstrip()
        category = part.get("NlmCategory", "")
        yield "" if label.upper() in _NO_LABELS else label, category, plain_text(part)


def _other_abstracts(citation: Element) -> Iterator[tuple[str, str, str]]:
    for other in citation.findall("OtherAbstract"):
        parts = [f"{label}: {text}" if label else text for label, _, text in _abstract(other) if text]
        if parts:
            yield other.get("Language", ""), other.get("Type", ""), "\n\n".join(parts)


def _authors(names: Element | None) -> tuple[tuple[Author, ...], bool]:
    """Authors in PubMed's order, and whether the list is complete. `ValidYN="N"` marks a spelling since corrected."""
    if names is None:
        return (), True
    authors = tuple(
        Author(
            last_name=_first(name, "LastName"),
            fore_name=_first(name, "ForeName"),
            initials=_first(name, "Initials"),
            collective_name=_first(name, "CollectiveName"),
        )
        for name in names.findall("Author")
        if name.get("ValidYN", "Y") != "N"
    )
    return tuple(author for author in authors if author.display()), names.get("CompleteYN", "Y") != "N"


def _article_ids(ids: Element | None) -> dict[str, str]:
    """The record's own identifiers by type. Its references have lists of their own, which are not these."""
    if ids is None:
        return {}
    found = ((entry.get("IdType", "pubmed"), plain_text(entry)) for entry in ids.findall("ArticleId"))
    return {kind: value for kind, value in found if value}


def _pmcid(ids: dict[str, str]) -> str:
    number = ids.get("pmc", "").upper().removeprefix("PMC")
    return f"PMC{number}" if number.isdecimal() else ""


def _location(article: Element, kind: str) -> str:
    """An electronic location that was not withdrawn."""
    for entry in article.findall("ELocationID"):
        if entry.get("EIdType") == kind and entry.get("ValidYN", "Y") != "N":
            return plain_text(entry)
    return ""


def _pages(article: Element) -> str:
    """Pages as PubMed prints them, or the article number that stands for them."""
    printed = _first(article, "Pagination/MedlinePgn")
    if printed:
        return printed
    start, end = _first(article, "Pagination/StartPage"), _first(article, "Pagination/EndPage")
    if start:
        return f"{start}-{end}" if end and end != start else start
    number = _location(article, "pii")
    return number if _ARTICLE_NUMBER.match(number) else ""


def _mesh(citation: Element) -> Iterator[MeshHeading]:
    for heading in citation.findall("MeshHeadingList/MeshHeading"):
        descriptor = heading.find("DescriptorName")
        if descriptor is None:
            continue
        qualifiers = heading.findall("QualifierName")
        yield MeshHeading(
            descriptor=plain_text(descriptor),
            descriptor_ui=descriptor.get("UI", ""),
            qualifiers=tuple(map(plain_text, qualifiers)),
            is_major=any(name.get("MajorTopicYN") == "Y" for name in (descriptor, *qualifiers)),
        )


def _notices(citation: Element) -> Iterator[Notice]:
    for entry in citation.findall("CommentsCorrectionsList/CommentsCorrections"):
        kind = _NOTICES.get(entry.get("RefType", ""))
        if kind is not None:
            yield Notice(kind, pmid=_first(entry, "PMID"), reference=_first(entry, "RefSource"))
