"""What a filter compares: keys of a record as every engine stores them, and keys of a filter as it asks for them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from medcite_core.errors import InvalidInput
from medcite_core.filters import SearchFilter
from medcite_core.stemming import stem_words
from medcite_core.types import Author, Record


def folded(text: str) -> str:
    """`text` as it is indexed and asked for: é as e, a curly apostrophe as a straight one; digits and signs stay."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFD", text.replace("’", "'"))
    return "".join(char for char in plain if not unicodedata.combining(char))


def match_key(text: str) -> str:
    """The form in which two values of a filter field are equal: case-folded, compatibility forms and spaces unified."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def name_key(text: str) -> str:
    """`match_key` of a name, in which commas and full stops do not count: `Doe, J.A.` is `doe ja`."""
    return match_key(text.replace(",", " ").replace(".", ""))


def title_stems(text: str) -> list[str]:
    """The distinct stems of a title, without accents, in order."""
    return list(dict.fromkeys(stem_words(folded(text))))


@dataclass(frozen=True, slots=True)
class FilterKeys:
    """The values of one record that filters look at. Lists are without repeats; `year` is None when unknown."""

    year: int | None
    title_stems: list[str]
    keyword_keys: list[str]
    journal_keys: list[str]
    author_keys: list[str]
    type_keys: list[str]
    language_keys: list[str]
    has_pmcid: bool
    is_retracted: bool


def record_keys(record: Record) -> FilterKeys:
    """The filter keys of `record`: keywords and MeSH descriptors in one; a journal by title, abbreviation and ISSN."""
    return FilterKeys(
        year=record.year,
        title_stems=title_stems(record.title),
        keyword_keys=_keys([*record.keywords, *(heading.descriptor for heading in record.mesh_headings)]),
        journal_keys=_keys([record.journal, record.journal_abbreviation, record.issn]),
        author_keys=list(dict.fromkeys(key for author in record.authors for key in _author_keys(author))),
        type_keys=_keys(record.publication_types),
        language_keys=_keys(record.languages),
        has_pmcid=bool(record.pmcid),
        is_retracted=record.status == "retracted",
    )


def _keys(values: list[str] | tuple[str, ...]) -> list[str]:
    return [key for key in dict.fromkeys(match_key(value) for value in values) if key]


def _author_keys(author: Author) -> list[str]:
    forms = [
        author.last_name,
        f"{author.last_name} {author.initials}",
        f"{author.last_name} {author.fore_name}",
        f"{author.fore_name} {author.last_name}",
        author.collective_name,
    ]
    return [key for key in (name_key(form) for form in forms) if key]


def wanted_title_stems(search_filter: SearchFilter) -> list[str]:
    """The stems a title must hold.

    Raises:
        InvalidInput: the title filter has no word in it, so that it could only be ignored.
    """
    stems = title_stems(search_filter.title)
    if search_filter.title.strip() and not stems:
        raise InvalidInput("the title filter holds no word", "Give at least one word or number, or leave it out.")
    return stems
