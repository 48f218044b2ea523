"""Finds the JSON object in a chat model's reply, whatever stands around it: reasoning, fences, remarks, wrappers."""

from __future__ import annotations

import json
import re
from typing import Any

_THOUGHT_TAG = re.compile(r"<(?P<slash>/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_VALUE_START = re.compile(r"[{\[]")


def find_object(reply: str) -> dict[str, Any] | None:
    """The last whole JSON object of a reply; None when there is none.

    Drafts inside `<think>` do not count, nor do objects inside a list, nor objects that name a key twice. Nothing is
    repaired: half an object is none.
    """
    whole = _decoded(reply.strip())
    if whole is not None:
        return whole if isinstance(whole, dict) else None
    text = without_thoughts(reply)
    found: dict[str, Any] | None = None
    at = 0
    while start := _VALUE_START.search(text, at):
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.end()
            continue
        if isinstance(value, dict):
            found = value
    return found


def without_thoughts(reply: str) -> str:
    """A reply without its reasoning: `<think>…</think>`, one that was never closed, and one opened by the template."""
    kept: list[str] = []
    at, is_thinking = 0, False
    for tag in _THOUGHT_TAG.finditer(reply):
        if tag["slash"]:
            if not is_thinking:  # only the closing tag came: all before it is reasoning (FR-158)
                kept.clear()
            is_thinking = False
        else:
            if not is_thinking:
                kept.append(reply[at : tag.start()])
            is_thinking = True
        at = tag.end()
    if not is_thinking:
        kept.append(reply[at:])
    return "".join(kept)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says two things under one key says neither."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


# Small models break lines inside strings: `strict=False` reads them.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, strict=False)


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
