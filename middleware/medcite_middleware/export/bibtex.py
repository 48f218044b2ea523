"""BibTeX, written by pybtex: LaTeX's signs escaped, the rest Unicode, capitals inside words kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from pybtex.database import BibliographyData, Entry
from pybtex.database.output.bibtex import Writer

from medcite_core.types import Author, Record
from medcite_middleware.export.fields import (
    abstract_text,
    full_pages,
    given_names,
    notices_in_words,
    one_line,
    pubmed_url,
    reference_title,
    subjects,
)

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
# BibTeX counts braces whether or not a backslash stands before them: a lone one must go by its name.
_BRACES_BY_NAME = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))
_RAISED = re.compile(f"[{''.join(map(re.escape, _SUPERSCRIPTS))}]+|[{''.join(_SUBSCRIPTS)}]+")
# Styles write titles in small letters: words with a capital or digit inside must be kept as they are.
_KEEP_CASE = re.compile(r"[^\W_][\w'’-]*[A-Z][\w'’-]*")
_LIGATURES = re.compile(r"-{2,}|'{2,}|`{2,}|[?!]`")
_PARTS_NAMES = re.compile(r",|\band\b", re.IGNORECASE)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


class _Writer(Writer):  # type: ignore[misc]
    """pybtex's writer for values that are LaTeX already."""

    def _encode(self, text: str) -> str:
        return text

    def quote(self, text: str) -> str:
        """In braces: a quotation mark between quotation marks has to be hidden, one between braces has not."""
        self.check_braces(text)
        return f"{{{text}}}"


def latex(text: str) -> str:
    """`text` on one line, as LaTeX that shows the same."""
    return latex_inside(one_line(text))


def latex_inside(text: str) -> str:
    """`latex` of a piece of a line, whose spaces at both ends stay."""
    signs = _SIGNS if _has_pairs(text) else _SIGNS | _BRACES_BY_NAME
    plain = "".join(_piece(piece, signs) for piece in re.split(f"({_RAISED.pattern})", text))
    # LaTeX makes one sign of these pairs.
    return _LIGATURES.sub(lambda pair: "{}".join(pair.group()), plain)


def _has_pairs(text: str) -> bool:
    """Whether every brace has its other half, in order."""
    depth = 0
    for sign in re.findall(r"[{}]", text):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _piece(piece: str, signs: Mapping[str, str]) -> str:
    if not _RAISED.fullmatch(piece):
        return "".join(signs.get(sign, sign) for sign in piece)
    if piece[0] in _SUPERSCRIPTS:
        return rf"\textsuperscript{{{''.join(_SUPERSCRIPTS[sign] for sign in piece)}}}"
    return rf"\textsubscript{{{''.join(_SUBSCRIPTS[sign] for sign in piece)}}}"


def citation_key(record: Record) -> str:
    """`doe2019-31234567`: unique because of the PMID, and the same in every export."""
    first = record.authors[0] if record.authors else Author(last_name="anon")
    plain = unicodedata.normalize("NFKD", first.last_name or first.collective_name)
    name = re.sub(r"[^a-z]", "", plain.casefold())[:20] or "anon"
    return f"{name}{record.year or ''}-{record.pmid}"


def bibtex_text(record: Record) -> str:
    """One entry and a blank line."""
    entry = Entry(_type_of(record), fields={name: value for name, value in _fields(record).items() if value})
    text = str(_Writer(encoding="UTF-8").to_string(BibliographyData({citation_key(record): entry})))
    return f"{text.strip()}\n\n"


def _type_of(record: Record) -> str:
    if not record.is_book:
        return "article"
    return "incollection" if record.journal else "book"


def _fields(record: Record) -> dict[str, Any]:
    authors = [_name(author) for author in record.authors]
    if authors and not record.authors_complete:
        authors.append("others")
    month = record.date.month
    return {
        "author": " and ".join(authors),
        "title": _title(record),
        "booktitle" if record.is_book else "journal": latex(record.journal or record.journal_abbreviation),
        "year": str(record.year or ""),
        "month": _MONTHS[month - 1] if month else "",
        "volume": latex(record.volume),
        "number": latex(record.issue),
        "pages": "--".join(map(latex, full_pages(record).joined("\n").split("\n"))),
        "issn": latex(record.issn),
        # Read as it stands, like the address: an escaped underscore would be part of it.
        "doi": one_line(record.doi).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C"),
        "pmid": record.pmid,
        "pmcid": latex(record.pmcid),
        "url": pubmed_url(record),
        "language": latex(", ".join(record.languages)),
        # Readers part keywords at commas, whatever braces say: "Infant, Newborn" must not become two.
        "keywords": ", ".join(latex(word.replace(",", " ")) for word in subjects(record)),
        "note": latex("; ".join(notices_in_words(record))),
        "annote": latex(f"Publication type: {'; '.join(record.publication_types)}") if record.publication_types else "",
        "abstract": latex(abstract_text(record)),
    }


def _title(record: Record) -> str:
    pieces: list[str] = []
    done = 0
    title = reference_title(record)
    for word in _KEEP_CASE.finditer(title):
        pieces += [latex_inside(title[done : word.start()]), f"{{{latex_inside(word.group())}}}"]
        done = word.end()
    return "".join([*pieces, latex_inside(title[done:])])


def _name(author: Author) -> str:
    if author.collective_name:
        return f"{{{latex(author.collective_name)}}}"
    family, given = latex(author.last_name), latex(given_names(author))
    # "and" or a comma inside a name would make two of it.
    if _PARTS_NAMES.search(family) or not given:
        family = f"{{{family}}}"
    return ", ".join(filter(None, (family, f"{{{given}}}" if _PARTS_NAMES.search(given) else given)))
