"""A full scan of sources for a term: every block, in every form it may take, with a receipt of what was read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from medcite_core.abbreviations import abbreviations
from medcite_core.answers import ScanProof
from medcite_core.documents import Document
from medcite_core.types import Record, Section, Source, Span
from medcite_middleware.verification.synonyms import family, is_short_form, related_to, root, roots, same_as

# A word cut at the end of a line ("lac-" / "tose") is one word; a soft hyphen is none.
_WORD = re.compile(r"[^\W_]+(?:(?:[-‐]\s*\n\s*|\u00ad\n?\s*)(?=[a-z])[^\W_]+)*")
_CUT = re.compile(r"[-‐]\s*\n\s*|\u00ad\n?\s*")
_FUNCTION_WORDS = frozenset(
    "a an the of in on at for to with by from and or any its their during after before among as into other".split()
)
_SAMPLED = 4000
_MIN_LETTERS = 20
_MIN_LATIN = 0.7
_ENGLISH = frozenset("the of and to was were with for is are by an that this not from".split())
_FOREIGN = frozenset(
    """der das und nicht mit wurde ist den von eine le les des et une est dans pour avec el los las que una del por
    il della di che per e och att det som med av en het een van niet""".split()
)
_MIN_PART = 5
"""Letters from which a term inside other words ("lactose" in "galactose") leaves a scan open."""

_MIN_FAMILY = 4
"""Letters that words of one family ("anemia", "anemic") must have in common."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text: its place, its letters as printed, and its root."""

    span: Span
    shown: str
    root: str


@dataclass(frozen=True, slots=True)
class Forms:
    """Every form of a term that counts as its mention, and those that are only close to it."""

    term: str
    same: tuple[str, ...]
    related: tuple[str, ...]

    @property
    def tried(self) -> tuple[str, ...]:
        """For a receipt."""
        return (*self.same, *self.related)


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a form of a term stands in a source. `is_exact` unless it is only close to the term."""

    source: Source
    span: Span
    form: str
    is_exact: bool


def forms_of(term: str, texts: Iterable[str]) -> Forms:
    """The forms of `term`: itself (in all inflections and spellings), its synonyms, short forms that `texts` define."""
    same = [term, *same_as(term)]
    for text in texts:
        for found in abbreviations(text):
            if roots(found.long) in {roots(s) for s in same}:
                same.append(found.short)
            elif found.short in same:
                same.append(found.long)
    return Forms(term, tuple(dict.fromkeys(same)), related_to(term))


def tokens_of(text: str, start: int = 0) -> list[Token]:
    """The words of `text` with their places, counted from `start`."""
    tokens = []
    for match in _WORD.finditer(text):
        shown = unicodedata.normalize("NFKC", _CUT.sub("", match.group()))
        tokens.append(Token(Span(start + match.start(), start + match.end()), shown, root(shown)))
    return tokens


def mentions(source: Source, forms: Forms) -> list[Mention]:
    """Every place of a source where a form of the term stands, exact ones and close ones, in the order of the text."""
    found: list[Mention] = []
    for section in source.sections:
        same = [f for f in forms.same if may_hold(section.text, f)]
        related = [f for f in forms.related if may_hold(section.text, f)]
        hides = _may_hide(section.text, forms)
        if not (same or related or hides):
            continue
        tokens = tokens_of(section.text, section.span.start)
        for form in same:
            found.extend(Mention(source, span, form, is_exact=True) for span in places(tokens, form))
        for form in related:
            found.extend(Mention(source, span, form, is_exact=False) for span in places(tokens, form))
        if hides:
            found.extend(Mention(source, span, forms.term, is_exact=False) for span in _hidden(section, tokens, forms))
    exact = [m.span for m in found if m.is_exact]
    kept = [m for m in found if m.is_exact or not any(m.span.overlaps(span) for span in exact)]
    return sorted(kept, key=lambda m: (m.span, not m.is_exact))


def may_hold(text: str, form: str) -> bool:
    """Whether `form` can stand in `text` at all: a quick look that never misses it."""
    if is_short_form(form):
        return form in text or form in unicodedata.normalize("NFKC", text)
    return "".join(roots(form)) in _letters_of(text).roots


@dataclass(frozen=True, slots=True)
class _Letters:
    roots: str  # all roots of a text, written together
    plain: str  # its letters and digits, written together


@lru_cache(maxsize=8192)  # each block of a long document is scanned for every claim
def _letters_of(text: str) -> _Letters:
    joined = "".join(text[at].casefold()[:1] for at in range(len(text)) if text[at].isalnum())
    return _Letters("".join(t.root for t in tokens_of(text)), joined)


@lru_cache(maxsize=8192)
def known_roots(text: str) -> frozenset[str]:
    """The roots of the words of a text."""
    return frozenset(t.root for t in tokens_of(text))


def _may_hide(text: str, forms: Forms) -> bool:
    letters = _letters_of(text)
    wanted = roots(forms.term)
    return (len(wanted) == 1 and family(wanted[0]) in letters.roots) or _plain(forms.term) in letters.plain


def _plain(term: str) -> str:
    return "".join(c for c in term.casefold() if c.isalnum())


def places(tokens: Sequence[Token], form: str) -> list[Span]:
    """Where `form` stands among `tokens`, in any inflection; a short form only in its own capitals."""
    if is_short_form(form):
        return [t.span for t in tokens if t.shown in (form, form + "s")]
    wanted = "".join(roots(form))
    length = len(roots(form))
    found = []
    for size in {length - 1, length, length + 1} - {0}:  # "side-effect", "side effect" and "sideeffect" are one
        for at in range(len(tokens) - size + 1):
            part = tokens[at : at + size]
            if "".join(t.root for t in part) == wanted:
                found.append(Span(part[0].span.start, part[-1].span.end))
    return found


def is_spread(forms: Forms, sources: Sequence[Source]) -> bool:
    """Whether every word of a term of several words stands somewhere, though not together: it may be meant."""
    words = [w for w in re.findall(r"[^\W_]+", forms.term) if w.casefold() not in _FUNCTION_WORDS]
    if len(words) < 2:
        return False
    texts = [section.text for source in sources for section in source.sections]
    known = {r for text in texts for r in known_roots(text)}
    return all(
        any(set(roots(form)) <= known for form in (word, *same_as(word), *related_to(word)) if not is_short_form(form))
        for word in words
    )


def receipt(
    sources: Sequence[Source],
    forms: Sequence[str],
    shows: Literal["supports", "contradicts", "nothing"],
    missing: Sequence[str] = (),
) -> ScanProof:
    """What was scanned. `missing` are parts that no scan of these sources can reach, beside their own unread ones."""
    unread = [*missing]
    pages_total = pages_read = rows = blocks = 0
    for source in sources:
        blocks += len(source.sections)
        if isinstance(source, Document):
            read = len({b.page for b in source.blocks if b.page is not None})
            rows += sum(b.kind == "table_row" for b in source.blocks)
            pages_total += source.pages or 0
            pages_read += read if source.pages else 0
            unread.extend(f"{source.name}, {part}" for part in source.unread)
            if source.pages and read < source.pages and not source.unread:
                unread.append(f"{source.name}, {source.pages - read} of {source.pages} pages")
            if is_foreign(source.text):
                unread.append(f"{source.name}, which is not written in English")
            if not source.sections:
                unread.append(f"{source.name}, which has no text")
        elif not source.has_abstract:
            unread.append(f"the abstract of PMID {source.pmid}, which PubMed does not give")
    total = max(blocks, 1)
    return ScanProof(
        tuple(s.source_id for s in sources),
        blocks,
        total + len(unread) if unread else total,
        tuple(dict.fromkeys(forms)),
        not unread and bool(sources),
        shows,
        pages_read,
        pages_total,
        rows,
        tuple(unread),
    )


def is_foreign(text: str) -> bool:
    """Whether a text is in another script or language: its words are then not those that a scan looks for."""
    letters = [c for c in text if c.isalpha()]
    latin = sum("LATIN" in unicodedata.name(c, "") for c in letters[:_SAMPLED])
    if len(letters[:_SAMPLED]) >= _MIN_LETTERS and latin < _MIN_LATIN * len(letters[:_SAMPLED]):
        return True
    words = [w.casefold() for w in re.findall(r"[^\W\d_]+", text[: 5 * _SAMPLED])]
    return sum(w in _FOREIGN for w in words) > sum(w in _ENGLISH for w in words)


def reach(scan: ScanProof) -> str:
    """How far an incomplete scan got: "searched 120 of 400 pages"; what of its sources was searched otherwise."""
    if scan.pages_total and scan.pages_scanned < scan.pages_total:
        return f"searched {scan.pages_scanned} of {scan.pages_total} pages"
    unread = "; ".join(scan.unread_parts)
    searched = f"searched {scan.blocks_scanned} block{'s' if scan.blocks_scanned != 1 else ''} of text"
    return f"{searched}; not searched: {unread}" if unread else searched


def name_of(source: Source) -> str:
    """What a reader knows a source by."""
    return f"PMID {source.pmid}" if isinstance(source, Record) else source.name


def _hidden(section: Section, tokens: Sequence[Token], forms: Forms) -> list[Span]:
    """Where a term may hide: in a longer word, across a gap ("25-hydroxyvitamin D"), or in a word of its family."""
    wanted = roots(forms.term)
    found: list[Span] = []
    if len(wanted) == 1:
        kin = family(wanted[0])
        found.extend(t.span for t in tokens if len(kin) >= _MIN_FAMILY and family(t.root) == kin)
        found.extend(t.span for t in tokens if len(wanted[0]) >= _MIN_PART and wanted[0] in t.root)
    letters = _plain(forms.term)
    places = [at for at, c in enumerate(section.text) if c.isalnum()]
    joined = "".join(section.text[at].casefold()[:1] for at in places)
    at = joined.find(letters) if len(letters) >= _MIN_PART else -1
    if at >= 0:
        start, end = places[at], places[at + len(letters) - 1] + 1
        found.append(Span(section.span.start + start, section.span.start + end))
    return found
