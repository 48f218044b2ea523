"""A reader of server-sent events written from the WHATWG standard alone, to hold the service against."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Message:
    """One dispatched event."""

    id: str
    event: str
    data: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.data)


class Reader:
    """Feed it bytes as they come, cut anywhere; lines end at LF, CR or CRLF and at nothing else."""

    def __init__(self) -> None:
        self.comments: list[str] = []
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._id = ""
        self._event = ""
        self._data: list[str] = []

    def feed(self, data: bytes, *, is_last: bool = False) -> list[Message]:
        self._text += self._decode.decode(data, is_last)
        messages = []
        while (line := self._next_line(is_last=is_last)) is not None:
            if line == "":
                if self._data:
                    messages.append(Message(self._id, self._event or "message", "\n".join(self._data)))
                self._event, self._data = "", []
            else:
                self._field(line)
        return messages

    def _next_line(self, *, is_last: bool) -> str | None:
        for place, character in enumerate(self._text):
            if character not in "\r\n":
                continue
            if character == "\r" and place + 1 == len(self._text) and not is_last:
                return None  # a LF may follow
            width = 2 if self._text[place : place + 2] == "\r\n" else 1
            line, self._text = self._text[:place], self._text[place + width :]
            return line
        return None

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "":
            self.comments.append(value)
        elif name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value


def read_all(chunks: Iterable[bytes]) -> list[Message]:
    """All messages of a whole stream."""
    reader = Reader()
    messages = [message for chunk in chunks for message in reader.feed(chunk)]
    return messages + reader.feed(b"", is_last=True)


def read_lines(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Messages one by one, as they come."""
    reader = Reader()
    for chunk in chunks:
        yield from reader.feed(chunk)
