"""Turns PubMed's inline markup and MathML into plain text that loses no word, no space between words and no sign.

10<sup>6</sup> becomes 10⁶, never 106. A raised or lowered piece that Unicode has no such characters for is written
^(…) or _(…), so that it can never merge with what stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal
from xml.etree.ElementTree import Element

# Unicode's block "Superscripts and Subscripts": digits, signs and the two letters that mathematics needs.
_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_SPACE = re.compile(r"[ \t\r\n]+")
_WORD_BREAK = re.compile(r"\s")

Shift = Literal["sup", "sub"]


def plain_text(element: Element | None) -> str:
    """All words below `element`, white space of the file's layout collapsed; empty for a missing element."""
    if element is None:
        return ""
    return collapse("".join(_walk(element)) if len(element) else element.text or "")


def collapse(text: str) -> str:
    """Runs of spaces, tabs and line ends become one space; no-break and thin spaces stay as they are."""
    return _SPACE.sub(" ", text).strip()


def local_name(element: Element) -> str:
    """The tag without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _walk(element: Element) -> Iterator[str]:
    yield element.text or ""
    previous: Element | None = None
    for child in element:
        if previous is not None and _are_two_lines(previous, child):
            yield " "
        yield _inline(child)
        yield child.tail or ""
        previous = child


def _inline(child: Element) -> str:
    name = local_name(child)
    if name == "sup":
        return shifted("".join(_walk(child)), "sup")
    if name == "sub":
        return shifted("".join(_walk(child)), "sub")
    if name == "math":
        return _math(child)
    return "".join(_walk(child))


def _are_two_lines(first: Element, second: Element) -> bool:
    """`<b>Patient: adult</b><b>Symptoms: fever</b>` are two lines; `<b>multi</b><b>ple</b>` may be one word."""
    if first.tail or local_name(first) != "b" or local_name(second) != "b":
        return False
    return any(_WORD_BREAK.search("".join(part.itertext()).strip()) for part in (first, second))


def shifted(text: str, shift: Shift) -> str:
    """`6` → `⁶`, `max` → `^(max)`. Marks such as ® and the ends of ordinals (`3<sup>rd</sup>`) stay as they are."""
    bare = text.strip()
    if not bare:
        return text
    table = _RAISED if shift == "sup" else _LOWERED
    if all(ord(char) in table for char in bare):
        new = bare.translate(table)
    elif any(char.isalnum() for char in bare) and not (shift == "sup" and bare in _ORDINALS):
        new = f"{'^' if shift == 'sup' else '_'}({bare})"
    else:
        new = bare
    before = text[: len(text) - len(text.lstrip())]
    after = text[len(text.rstrip()) :]
    return f"{before}{new}{after}"


# ---------------------------------------------------------------- MathML (presentation markup)


def _math(element: Element) -> str:
    name = local_name(element)
    parts = [_math(child) for child in element if local_name(child) not in ("annotation", "annotation-xml")]
    # In MathML only tokens hold text; white space between elements is layout.
    own = (element.text or "").strip() if name != "mtext" else (element.text or "")
    tails = [(child.tail or "").strip() for child in element]
    if name == "mspace":
        return " "
    layout = _LAYOUTS.get(name)
    if layout is not None and len(parts) >= layout[0]:
        return layout[1](parts)
    if name == "mfenced":
        return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
    if name == "mmultiscripts":
        return _multiscripts(element)
    if name in ("mtr", "mlabeledtr", "matrixrow", "mtable"):
        return (" " if name != "mtable" else "; ").join(parts)
    if len(parts) == len(tails):
        return own + "".join(part + tail for part, tail in zip(parts, tails, strict=True))
    return own + "".join(parts)


def _grouped(text: str) -> str:
    return text if len(text) == 1 or text.isalnum() else f"({text})"


_LAYOUTS: dict[str, tuple[int, Callable[[list[str]], str]]] = {
    "msup": (2, lambda p: p[0] + shifted(p[1], "sup")),
    "msub": (2, lambda p: p[0] + shifted(p[1], "sub")),
    "msubsup": (3, lambda p: p[0] + shifted(p[1], "sub") + shifted(p[2], "sup")),
    "mover": (2, lambda p: p[0] + shifted(p[1], "sup")),
    "munder": (2, lambda p: p[0] + shifted(p[1], "sub")),
    "munderover": (3, lambda p: p[0] + shifted(p[1], "sub") + shifted(p[2], "sup")),
    "mfrac": (2, lambda p: f"{_grouped(p[0])}/{_grouped(p[1])}"),
    "mroot": (2, lambda p: f"{shifted(p[1], 'sup')}√{_grouped(p[0])}"),
    "msqrt": (1, lambda p: f"√{_grouped(''.join(p))}"),
}


def _multiscripts(element: Element) -> str:
    """Base with sub- and superscripts behind and, after `mprescripts`, before it (isotopes: ⁶⁸Ga)."""
    children = list(element)
    if not children:
        return ""
    behind: list[str] = []
    before: list[str] = []
    side = behind
    for child in children[1:]:
        if local_name(child) == "mprescripts":
            side = before
        else:
            side.append("" if local_name(child) == "none" else _math(child))
    return _scripts(before) + _math(children[0]) + _scripts(behind)


def _scripts(pairs: list[str]) -> str:
    """`pairs` alternate sub, sup."""
    return "".join(shifted(text, "sub" if i % 2 == 0 else "sup") for i, text in enumerate(pairs))
