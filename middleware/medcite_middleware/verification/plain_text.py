"""Text without differences of typography, and the place in the original of every character of it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from medcite_core.types import Span

_DASHES = "‐‑‒–—―−"
_QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'", "`": "'"}
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_SINGLE = {**dict.fromkeys(_DASHES, "-"), **_QUOTES, **dict.fromkeys(_INVISIBLE, ""), "\u00a0": " "}

_LINE_HYPHEN = r"(?<=[^\W\d_])[-‐\u00ad][^\S\n]*\r?\n\s*(?=[a-z])"
_SPECIAL = re.compile(
    rf"(?P<hyphen>{_LINE_HYPHEN})|(?P<space>\s{{2,}}|[^\S ])|(?P<other>[^\x00-\x7f`][\u0300-\u036f]*|`)"
)

# What an extraction from pages leaves inside sentences. A number at the start of a line is a line number only when the
# next line counts on: "in\n12 patients" is none.
_REFERENCE_LINE = re.compile(
    r"^(?=[^\n]{0,120}(?:\n|$))[^\n]*"
    r"(?:\b(?:19|20)\d\d;\s?\d+(?:\(\d+\))?:\s?e?\d+|\bdoi:\s?10\.|Downloaded from|All rights reserved|©)[^\n]*\n?",
    re.MULTILINE,
)
_LINE_NUMBER = re.compile(r"^[^\S\n]*(\d{1,4})(?=[^\S\n]|$)[^\S\n]*", re.MULTILINE)
# A superscript after a short word may be a power: m², R².
_NOTE_MARK = re.compile(r"(?<=[^\W\d_]{4})[¹²³⁴⁵⁶⁷⁸⁹⁰†‡§¶*]+(?=[\s,.;:])")
_REFERENCE_MARK = re.compile(
    r"(?<=[a-z]{3})\s?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\](?=[\s,.;:])(?!\s*(?:years?|days?|weeks?|months?|[mkμ]?g\b|%))"
)


@dataclass(frozen=True, slots=True)
class PlainText:
    """`cased` is the text in plain typography, `folded` the same in lower case, character by character.

    `starts` and `ends` are the places in `text` of its pieces, which begin at `at`; in a piece of one to one the rest
    follows (`exact`). `left_out` are the places of what was taken for noise.
    """

    text: str
    cased: str
    folded: str
    at: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    exact: tuple[bool, ...]
    left_out: tuple[Span, ...] = ()

    def span(self, start: int, end: int) -> Span:
        """The place in `text` of `cased[start:end]`, which must not be empty."""
        first = bisect_right(self.at, start) - 1
        left = self.starts[first] + (start - self.at[first] if self.exact[first] else 0)
        last = bisect_right(self.at, end - 1) - 1
        right = self.starts[last] + end - self.at[last] if self.exact[last] else self.ends[last]
        return Span(left, right)


def plain(text: str) -> PlainText:
    """`text` with one space for white space, one kind of dash and quotation mark, ligatures and compatible forms
    written out, and words put together that a line end hyphenates. Superscripts stay: 10⁶ is not 106."""
    if text and text.isascii() and text.isprintable() and "  " not in text and "`" not in text:  # as most are
        return PlainText(text, text, text.lower(), (0,), (0,), (len(text),), (True,))
    return _plain(text, ())


@lru_cache(maxsize=128)  # many quotations are looked for in one source
def plain_source(text: str) -> PlainText:
    """`plain`, kept for sources."""
    return _plain(text, ())


@lru_cache(maxsize=64)
def without_noise(text: str) -> PlainText:
    """`plain` without line numbers, lines of a reference or imprint, and marks of footnotes and references."""
    return _plain(text, noise(text))


def noise(text: str) -> tuple[Span, ...]:
    """What an extraction left inside the sentences of `text`, in order, without overlaps."""
    found = [Span(m.start(), m.end()) for p in (_REFERENCE_LINE, _NOTE_MARK, _REFERENCE_MARK) for m in p.finditer(text)]
    found.extend(_line_numbers(text))
    kept: list[Span] = []
    for span in sorted(found, key=lambda s: (s.start, -s.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


def _line_numbers(text: str) -> list[Span]:
    lines: list[tuple[re.Match[str], int]] = []
    line = at = 0
    for match in _LINE_NUMBER.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        lines.append((match, line))
    numbers = {line: int(m.group(1)) for m, line in lines}
    return [
        Span(m.start(), m.end())
        for m, line in lines
        if any(numbers.get(line + step) == numbers[line] + step for step in (-1, 1)) or _counts_by_five(numbers, line)
    ]


def _counts_by_five(numbers: dict[int, int], line: int) -> bool:
    return numbers[line] % 5 == 0 and any(numbers.get(line + step) == numbers[line] + step for step in (-5, 5))


def _plain(text: str, dropped: tuple[Span, ...]) -> PlainText:
    pieces: list[str] = []
    table: list[tuple[int, int, int, bool]] = []
    length = 0

    def add(piece: str, start: int, end: int, *, exact: bool) -> None:
        nonlocal length
        if piece:
            table.append((length, start, end, exact))
            pieces.append(piece)
            length += len(piece)

    done = 0
    for start, end, replacement in _changes(text, dropped):
        if start < done:  # a hyphenation that a dropped line stands in
            continue
        add(text[done:start], done, start, exact=True)
        if replacement == " " and (not pieces or pieces[-1].endswith(" ")):
            replacement = ""
        add(replacement, start, end, exact=False)
        done = end
    add(text[done:], done, len(text), exact=True)
    cased = "".join(pieces)
    folded = cased.lower()
    if len(folded) != len(cased):
        folded = "".join(c.lower() if len(c.lower()) == 1 else c for c in cased)
    if not table:
        return PlainText(text, "", "", (0,), (0,), (0,), (True,), dropped)
    at, starts, ends, exact = zip(*table, strict=True)
    return PlainText(text, cased, folded, at, starts, ends, exact, dropped)


def _changes(text: str, dropped: tuple[Span, ...]) -> list[tuple[int, int, str]]:
    """Places that read otherwise in plain typography, in order: (start, end, what stands there instead)."""
    if not dropped:
        return [(m.start(), m.end(), _instead(m)) for m in _SPECIAL.finditer(text)]
    # Hyphens may stand before what is dropped: they are looked for in the text that is left.
    kept: list[tuple[int, int]] = []
    done = 0
    for span in dropped:
        kept.append((done, span.start))
        done = span.end
    kept.append((done, len(text)))
    rest = "".join(text[a:b] for a, b in kept)
    offsets: list[int] = []
    for a, b in kept:
        offsets.extend(range(a, b))
    changes = [(offsets[m.start()], offsets[m.end() - 1] + 1, _instead(m)) for m in _SPECIAL.finditer(rest)]
    starts = [start for start, _, _ in changes]
    for span in dropped:
        before = bisect_right(starts, span.start) - 1
        if before < 0 or changes[before][1] < span.end:  # else it stands inside a hyphenation
            changes.append((span.start, span.end, ""))
    return sorted(changes)


def _instead(match: re.Match[str]) -> str:
    kind, found = match.lastgroup, match.group()
    if kind == "hyphen":
        return ""
    if kind == "space":
        return " "
    if found == "·" and match.string[match.start() - 1 : match.start()].isdigit():
        return "."  # 0·5
    single = _SINGLE.get(found)
    if single is not None:
        return single
    if unicodedata.decomposition(found[0]).startswith("<super>"):
        return found
    return unicodedata.normalize("NFKC", found)
