"""A parser of server-sent events, as the WHATWG specifies them."""

from __future__ import annotations

import re
from typing import NamedTuple

_END = re.compile(rb"\r\n|\n|\r")


class SentEvent(NamedTuple):
    """One event of a stream. `id` is None as long as the stream has sent none."""

    id: str | None
    type: str
    data: str


class EventParser:
    """A parser of one stream. It keeps its state between chunks: an event, a line or a character may be split
    anywhere.
    """

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._ends_with_cr = False
        self._id: str | None = None
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[SentEvent]:
        """The events that these bytes complete."""
        self._chunks.append(chunk)
        # A line may have megabytes: its chunks are joined and searched once, when it ends.
        if not self._ends_with_cr and b"\n" not in chunk and b"\r" not in chunk:
            return []
        whole = b"".join(self._chunks)
        out: list[SentEvent] = []
        start = 0
        for end in _END.finditer(whole):
            # A carriage return at the end may be the first half of a CR LF.
            if end.group() == b"\r" and end.end() == len(whole):
                break
            self._line(whole[start : end.start()].decode("utf-8", "replace"), out)
            start = end.end()
        self._chunks = [whole[start:]]
        self._ends_with_cr = whole.endswith(b"\r")
        return out

    def _line(self, line: str, out: list[SentEvent]) -> None:
        if line == "":
            if self._data or self._type:
                out.append(SentEvent(self._id, self._type or "message", "\n".join(self._data)))
            self._type, self._data = "", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id":
            self._id = value
