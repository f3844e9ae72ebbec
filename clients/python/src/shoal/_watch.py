"""The messages of a space as they are written.

Messages are never changed in place: each event makes a new one. Applying an event twice, or one that a snapshot already
contains, has no effect. Deltas are applied by their offsets, which count bytes of UTF-8: an overlap is dropped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from ._partial_json import complete_members
from ._stream import Reader
from .models import Message

# A program may watch for weeks: above this the oldest messages are dropped, so that half of it remain.
_MOST = 2000


class Gap(Exception):
    """Text before a delta is missing."""


class Messages:
    """The newest messages of one space, updated by the events of one stream. It uses no network."""

    def __init__(self) -> None:
        self._all: dict[str, dict[str, Any]] = {}
        # The bytes of streaming parts that have arrived, and of tool calls the text of the arguments.
        self._streaming: dict[str, tuple[int, str]] = {}

    def apply(self, event: dict[str, Any]) -> list[Message]:
        """The messages that an event changes, as they are now. Raises Gap if events are missing."""
        kind = event["type"]
        if kind == "snapshot":
            return [self._set(m) for m in event["messages"]]
        if kind in ("message.created", "message.completed", "message.updated"):
            before = self._all.get(event["message"]["id"])
            return [self._set(self._kept(before, event["message"]))]
        message = self._all.get(event.get("messageId") or "")
        if message is None or "partId" not in event:
            return []
        parts = self._parts(message["parts"], event)
        if parts is None:
            return []
        self._all[message["id"]] = {**message, "parts": parts}
        return [cast("Message", self._all[message["id"]])]

    def _set(self, message: dict[str, Any]) -> Message:
        if message["id"] not in self._all and len(self._all) >= _MOST:
            oldest = sorted(self._all.values(), key=lambda m: m["seq"])
            for old in oldest[: _MOST // 2]:
                self._forget(self._all.pop(old["id"]))
        self._all[message["id"]] = message
        for part in message["parts"]:
            if part["type"] == "text" and part.get("status") == "streaming":
                self._streaming[part["id"]] = (_size(part["text"]), "")
            else:
                self._streaming.pop(part["id"], None)
        return cast("Message", message)

    def _forget(self, message: dict[str, Any]) -> None:
        for part in message["parts"]:
            self._streaming.pop(part["id"], None)

    # A stored message may be older than the deltas of its streaming parts: those keep what has arrived.
    def _kept(self, before: dict[str, Any] | None, message: dict[str, Any]) -> dict[str, Any]:
        if before is None or message["status"] != "streaming":
            return message
        mine = {p["id"]: p for p in before["parts"]}
        return {**message, "parts": [_newer(mine.get(p["id"]), p) for p in message["parts"]]}

    # The parts after an event of one of them; None if nothing changes.
    def _parts(self, parts: list[dict[str, Any]], event: dict[str, Any]) -> list[dict[str, Any]] | None:
        id_, kind = event["partId"], event["type"]
        part = next((p for p in parts if p["id"] == id_), None)
        if kind in ("text-start", "tool-input-start"):
            if part is not None:
                return None
            self._streaming[id_] = (0, "")
            return [*parts, _started(event)]
        if part is None:
            return None
        if kind == "part.removed":
            self._streaming.pop(id_, None)
            return [p for p in parts if p["id"] != id_]
        changed = None if part.get("private") else self._part(part, event)
        return None if changed is None else [changed if p["id"] == id_ else p for p in parts]

    def _part(self, part: dict[str, Any], event: dict[str, Any]) -> dict[str, Any] | None:
        kind, text = event["type"], part["type"] == "text"
        if kind == "text-delta" and text and part["status"] == "streaming":
            return self._text(part, event)
        if kind == "tool-input-delta" and part.get("status") == "input_streaming":
            return self._input(part, event)
        if kind == "part.reset":
            return self._reset(part, event["offset"])
        if kind in ("text-delta", "tool-input-delta"):
            return None
        self._streaming.pop(part["id"], None)
        if kind == "text-end" and text:
            status = "interrupted" if event.get("status") == "interrupted" else "done"
            return {**part, "text": event.get("text", part["text"]), "status": status}
        if kind == "tool-input-available":
            status = "running" if part["status"] == "input_streaming" else part["status"]
            return {**part, "args": event.get("args") or {}, "status": status}
        if kind in ("tool-output-available", "tool-output-error"):
            return {**part, **{k: event.get(k) for k in ("result", "error", "answeredBy", "decision", "status")}}
        return None

    def _text(self, part: dict[str, Any], event: dict[str, Any]) -> dict[str, Any] | None:
        size, _ = self._streaming.get(part["id"]) or (_size(part["text"]), "")
        delta = _new_text(size, event["offset"], event["delta"])
        if delta is None:
            raise Gap
        if not delta:
            return None
        self._streaming[part["id"]] = (size + _size(delta), "")
        return {**part, "text": part["text"] + delta}

    # A snapshot does not contain incomplete arguments. Without their beginning they are not shown until all are there.
    def _input(self, part: dict[str, Any], event: dict[str, Any]) -> dict[str, Any] | None:
        known = self._streaming.get(part["id"])
        if known is None:
            return None
        size, written = known
        delta = _new_text(size, event["offset"], event["delta"])
        if delta is None:
            del self._streaming[part["id"]]
            return None
        if not delta:
            return None
        self._streaming[part["id"]] = (size + _size(delta), written + delta)
        return {**part, "args": complete_members(written + delta)}

    def _reset(self, part: dict[str, Any], offset: int) -> dict[str, Any] | None:
        if part["type"] == "text":
            text = _cut(part["text"], offset)
            self._streaming[part["id"]] = (_size(text), "")
            return {**part, "text": text, "status": "streaming"}
        if part["type"] != "tool_call":
            return None
        written = _cut(self._streaming.get(part["id"], (0, ""))[1], offset)
        self._streaming[part["id"]] = (_size(written), written)
        return {**part, "args": complete_members(written), "status": "input_streaming"}


async def watched(reader: Reader) -> AsyncGenerator[Message, None]:
    """The messages that a stream of one space changes, each as it is after the events that arrived together."""
    messages = Messages()
    async with aclosing(reader.batches()) as batches:
        async for batch in batches:
            changed: dict[str, Message] = {}
            for _, event in batch:
                try:
                    changed.update((m["id"], m) for m in messages.apply(event))
                except Gap:
                    reader.restart()
            for message in changed.values():
                yield message


def _newer(mine: dict[str, Any] | None, part: dict[str, Any]) -> dict[str, Any]:
    if mine is None or "status" not in part or mine.get("status") != part["status"]:
        return part
    if part["status"] == "input_streaming":
        return mine
    longer = part["type"] == "text" and part["status"] == "streaming" and len(mine["text"]) > len(part["text"])
    return mine if longer else part


def _started(event: dict[str, Any]) -> dict[str, Any]:
    if event["type"] == "text-start":
        part: dict[str, Any] = {"id": event["partId"], "type": "text", "text": "", "status": "streaming"}
    else:
        part = {
            "id": event["partId"],
            "type": "tool_call",
            "toolCallId": event["toolCallId"],
            "toolName": event["toolName"],
            "args": {},
            "result": None,
            "error": None,
            "status": "input_streaming",
            "display": event.get("display"),
            "answeredBy": None,
            "editedArgs": None,
            "decision": None,
            "targetEntityId": event.get("targetEntityId"),
        }
    return {"id": part["id"], "type": part["type"], "private": True} if event.get("private") else part


# The text of a delta after the first `size` bytes; None if text before it is missing.
def _new_text(size: int, offset: int, delta: str) -> str | None:
    if offset > size:
        return None
    return delta if offset == size else delta.encode()[size - offset :].decode("utf-8", "replace")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode("utf-8", "ignore")
