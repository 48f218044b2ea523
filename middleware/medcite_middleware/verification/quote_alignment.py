"""Quoted words aligned with a source: where they stand, and whether they say there what the quotation says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import edlib
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from medcite_core.types import Span
from medcite_middleware.verification.meaning_differences import what_differs
from medcite_middleware.verification.plain_text import PlainText, plain, plain_source, without_noise
from medcite_middleware.verification.quote_cuts import cut_meaning

AlignmentState = Literal["verbatim", "repaired", "not_found", "altered", "ambiguous"]

CLOSEST_CUTOFF = 75.0
"""Least alignment score (0..100) from which other words are called the same quotation, altered, and shown."""

_EDGES = " \t\r\n"
_STOPS = ".,;:!?"
_MAX_SYMBOLS = 250
"""edlib takes at most 256 different characters."""

_TOKEN = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+(?:['-][^\W\d_]+)*|[^\w\s]|\w")
_FIRST_WORD, _LAST_WORD = re.compile(r"\w{4,}"), re.compile(r"\w{4,}$")
_SILENT = frozenset("\"'")
_LIGATURES = re.compile("ffi|ffl|ff|fi|fl")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where quoted words stand in a source, and how.

    `verbatim`: character by character. `repaired`: the same words in another typography, or interrupted by what an
    extraction left; `difference` tells what. `altered`: at `span` stand nearly these words, but they do not say the
    same, or they are cut where the meaning turns; no proof. `ambiguous`: the words stand in several places, `span` and
    `others`. `not_found` has no span. `score` is 0..100.
    """

    state: AlignmentState
    span: Span | None = None
    difference: str = ""
    others: tuple[Span, ...] = ()
    score: float = 0.0

    @property
    def stands(self) -> bool:
        """Whether the words stand in the source, once or more, and mean there what they mean by themselves."""
        return self.state in ("verbatim", "repaired", "ambiguous")


NOT_FOUND = Alignment("not_found")


def align_quote(words: str, source_text: str, threshold: float = 90.0) -> Alignment:
    """Where `words` stand in `source_text`. At most rapidfuzz's score decides *where*, never *whether* they are the
    same: a text and its negation are 97 % alike. Words that score below `threshold` are not repaired."""
    # Whoever quotes part of a sentence ends it with a stop of their own.
    quote = plain(words.strip(_EDGES))
    core = quote.cased.rstrip(_STOPS + " ").lstrip(" ")
    if not any(c.isalnum() for c in core):
        return NOT_FOUND
    source = plain_source(source_text)
    found = _places(core, source)
    if found:
        return _settled(words, source, found, 100.0)
    calm = without_noise(source_text)
    if calm.left_out:
        found = _places(core, calm)
        if found:
            return _settled(words, calm, found, 100.0)
    return _aligned(words, core, calm, threshold)


def _places(core: str, source: PlainText) -> list[Span]:
    """The places of the words in a source as whole words, but for capitals that mean nothing."""
    folded = core.lower() if len(core.lower()) == len(core) else core
    return [
        Span(at, at + len(core))
        for at in _occurrences(folded, source.folded)
        if _same_case(core, source.cased[at : at + len(core)])
    ]


def _occurrences(words: str, text: str) -> Iterator[int]:
    """Where `words` stand in `text` as whole words. "effective" is not found in "ineffective"."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        starts_inside = at > 0 and text[at - 1].isalnum() and words[0].isalnum()
        ends_inside = end < len(text) and text[end].isalnum() and words[-1].isalnum()
        if not starts_inside and not ends_inside:
            yield at
        at = text.find(words, at + 1)


def _same_case(quote: str, source: str) -> bool:
    """Whether the two differ in no capital that means something: mM is not mm, "US" is not "us"."""
    if quote == source:
        return True
    for ours, theirs in zip(_TOKEN.finditer(quote), _TOKEN.finditer(source), strict=False):
        if ours.group() != theirs.group() and not _same_word_case(ours.group(), theirs.group(), source, theirs.start()):
            return False
    return True


def _same_word_case(ours: str, theirs: str, source: str, at: int) -> bool:
    if ours.lower() != theirs.lower():
        return False
    if len(ours) == 1:  # vitamin A, group B; but the probability P and the number N are p and n
        return ours.lower() in "pn" or (ours.lower() == "a" and not source[:at].strip())
    if len(ours) < 4 and source[:at].rstrip()[-1:].isdigit():  # a unit: 5 Mg is not 5 mg
        return False
    if ours.isupper() != theirs.isupper() and len(ours) <= 5:  # US and us, AIDS and aids
        return False
    return ours[1:] == theirs[1:] or ours.isupper() != theirs.isupper()


def _settled(words: str, source: PlainText, found: list[Span], score: float, difference: str = "") -> Alignment:
    """The alignment of words found at places of the plain source, without those where they are cut from their sense."""
    spans = [_with_stop(words, source, place) for place in found]
    cuts = [cut_meaning(source.text, span) for span in spans]
    whole = [span for span, cut in zip(spans, cuts, strict=True) if not cut]
    if not whole:
        return Alignment("altered", spans[0], cuts[0], tuple(spans[1:]), score)
    span = whole[0]
    told = difference or _typography(words, source, span)
    if len(whole) > 1:
        note = f"These words stand in {len(whole)} places."
        return Alignment("ambiguous", span, f"{note} {told}".strip(), tuple(whole[1:]), score)
    if not told:
        return Alignment("verbatim", span, "", (), score)
    return Alignment("repaired", span, told, (), score)


def _with_stop(words: str, source: PlainText, place: Span) -> Span:
    """`place` in the original, with the stop that ends both."""
    end = place.end
    last = words.rstrip()[-1:]
    if last in _STOPS and source.cased[end : end + 1] == last:
        end += 1
    return source.span(place.start, end)


def _typography(words: str, source: PlainText, span: Span) -> str:
    """What the source's characters have that the quotation has not, where both say the same."""
    shown = span.of(source.text)
    given = words.strip(_EDGES)
    if shown in (given, given.rstrip(_STOPS)):
        return ""
    gaps = [s.of(source.text).strip() for s in source.left_out if span.start <= s.start and s.end <= span.end]
    if gaps:
        return "interrupted by " + ", ".join(f"“{gap}”" for gap in gaps)
    kinds = []
    if shown.split() != given.split() and re.search(r"[-‐\u00ad]\s*\n", shown):
        kinds.append("hyphenation")
    elif re.sub(r"\s+", " ", shown) == re.sub(r"\s+", " ", given):
        kinds.append("white space")
    if shown.lower().split() == given.lower().split() and shown.split() != given.split():
        kinds.append("capitals")
    return "differs in " + (" and ".join(kinds) or "typography")


def _aligned(words: str, core: str, source: PlainText, threshold: float) -> Alignment:
    """The closest place by rapidfuzz, trimmed by edlib; what differs there decides."""
    folded = core.lower() if len(core.lower()) == len(core) else core
    if len(folded) > len(source.folded) * 1.3:
        return NOT_FOUND
    cutoff = min(threshold, CLOSEST_CUTOFF)
    near = fuzz.partial_ratio_alignment(folded, source.folded, score_cutoff=cutoff)
    if near is None or near.dest_start == near.dest_end:
        return NOT_FOUND
    if len(folded) > len(source.folded):
        near_start, near_end = 0, len(source.folded)
    else:
        near_start, near_end = near.dest_start, near.dest_end
    place = _trimmed(folded, source.folded, near_start, near_end)
    place = _whole_words(source.cased, _to_its_ends(folded, source.folded, place))
    told, differs = _difference(core, source.cased[place.start : place.end])
    if differs and near.score < threshold and differs.count("source “") > 1:
        return NOT_FOUND
    if differs or near.score < threshold:
        return Alignment("altered", _with_stop(words, source, place), differs or told, (), near.score)
    # Words that differ harmlessly here may stand somewhere else too.
    places = [place, *(Span(at, at + place.end - place.start) for at in _again(source, place))]
    return _settled(words, source, places, near.score, told)


def _again(source: PlainText, place: Span) -> list[int]:
    return [at for at in _occurrences(source.folded[place.start : place.end], source.folded) if at != place.start]


def _trimmed(folded: str, text: str, start: int, end: int) -> Span:
    """The part of `text` near `start` and `end` with the fewest edits to `folded`."""
    slack = len(folded) // 5 + 10
    left, right = max(0, start - slack), min(len(text), end + slack)
    window = text[left:right]
    if len(set(window) | set(folded)) > _MAX_SYMBOLS:
        return Span(start, end)
    found = edlib.align(folded, window, mode="HW", task="locations")
    ends = [(e - (s or 0), s or 0, e) for s, e in found["locations"]]
    _, first, last = min(ends, key=lambda e: (abs(e[0] + 1 - len(folded)), e[1]))
    return Span(left + first, left + last + 1)


def _to_its_ends(folded: str, text: str, span: Span) -> Span:
    """`span` up to the first and the last word of the quotation where these stand a little further out: the fewest
    edits leave them out when a long word before them is missing."""
    reach = len(folded) // 5 + 10
    start, end = span.start, span.end
    first, last = _FIRST_WORD.match(folded), _LAST_WORD.search(folded)
    if first and not text.startswith(first.group(), start):
        at = text.rfind(first.group(), max(0, start - reach), start)
        start = at if at >= 0 else start
    if last and not text.endswith(last.group(), 0, end):
        at = text.find(last.group(), end, end + reach)
        end = at + len(last.group()) if at >= 0 else end
    return Span(start, end)


def _whole_words(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    while start < end and not text[start].isalnum() and text[start] in " .,;:":
        start += 1
    while end > start and text[end - 1] in " .,;:":
        end -= 1
    return Span(start, end)


def _difference(quote: str, source: str) -> tuple[str, str]:
    """How the source's words differ from the quotation's: (differences that say the same, those that may not)."""
    ours = [t for t in _TOKEN.findall(quote) if t not in _SILENT]
    theirs = [t for t in _TOKEN.findall(source) if t not in _SILENT]
    same: list[str] = []
    other: list[tuple[list[str], list[str]]] = []
    codes = Indel.opcodes(_folded(theirs), _folded(ours))
    for removed, added in _edits(codes, theirs, ours):
        if _is_spelling(removed, added):
            same.append(_shown(removed, added))
        else:
            other.append((removed, added))
    if other:
        kind = what_differs(other)
        return "", f"{kind}: " + "; ".join(_shown(removed, added) for removed, added in other[:6])
    case = [_shown([a], [b]) for a, b in _lined_up(codes, theirs, ours) if a != b and not _same_word_case(b, a, "", 0)]
    if case:
        return "", "capitals: " + "; ".join(case)
    return "; ".join(same) or "differs in white space", ""


def _folded(tokens: list[str]) -> list[str]:
    return [t.lower() for t in tokens]


def _edits(codes: object, theirs: list[str], ours: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    removed: list[str] = []
    added: list[str] = []
    for code in codes:  # type: ignore[attr-defined]
        if code.tag == "equal":
            if removed or added:
                yield removed, added
            removed, added = [], []
        else:
            removed = removed + theirs[code.src_start : code.src_end]
            added = added + ours[code.dest_start : code.dest_end]
    if removed or added:
        yield removed, added


def _lined_up(codes: object, theirs: list[str], ours: list[str]) -> Iterator[tuple[str, str]]:
    for code in codes:  # type: ignore[attr-defined]
        if code.tag == "equal":
            yield from zip(theirs[code.src_start : code.src_end], ours[code.dest_start : code.dest_end], strict=True)


def _shown(removed: list[str], added: list[str]) -> str:
    return f"source “{' '.join(removed)}”, quoted “{' '.join(added)}”"


def _is_spelling(removed: list[str], added: list[str]) -> bool:
    """Whether two runs of tokens are one word written otherwise: joined or hyphenated, British or American, or with a
    ligature that an extraction lost."""
    left, right = "".join(removed).lower(), "".join(added).lower()
    bare_left, bare_right = left.replace("-", ""), right.replace("-", "")
    if not bare_left.isalpha() or not bare_right.isalpha():
        return False
    if bare_left == bare_right and "-" in left + right:  # "in effective" is not "ineffective"
        return True
    if len(removed) == len(added) == 1:
        return _american(left) == _american(right)
    return len(added) == 1 and _lost_ligature(right, removed)


def _american(word: str) -> str:
    word = word.replace("aemia", "emia").replace("oedema", "edema").replace("haem", "hem").replace("paed", "ped")
    word = (
        word.replace("oestr", "estr")
        .replace("oesoph", "esoph")
        .replace("gynaec", "gynec")
        .replace("diarrhoea", "diarrhea")
    )
    word = re.sub(r"(?<=[a-z]{3})is(?=(?:e|es|ed|ing|ation|ations)$)", "iz", word)
    word = re.sub(r"(?<=[a-z]{2})our(?=(?:s|ed|al|able|ing)?$)", "or", word)
    word = re.sub(r"(?<=[a-z]{4})ll(?=(?:ed|ing)$)", "l", word)
    return re.sub(r"(?<=[bt])re(?=s?$)", "er", word)


def _lost_ligature(word: str, pieces: list[str]) -> bool:
    """Whether `pieces` ("ef", "ective") are `word` with a ligature's letters lost, in part or all, for a space."""
    if len(pieces) < 2:
        return False
    pattern = ""
    done = 0
    for ligature in _LIGATURES.finditer(word):
        kept = "".join(f"{c}?" for c in ligature.group())
        pattern += re.escape(word[done : ligature.start()]) + rf"\s?{kept}\s?"
        done = ligature.end()
    return done > 0 and re.fullmatch(pattern + re.escape(word[done:]), " ".join(pieces).lower()) is not None
