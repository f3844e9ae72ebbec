"""The parser of server-sent events, and the messages that events produce."""

from __future__ import annotations

import random
import unittest
from typing import Any

from shoal._partial_json import complete_members
from shoal._sse import EventParser, SentEvent
from shoal._watch import Gap, Messages


class TestEventParser(unittest.TestCase):
    def test_fields(self) -> None:
        for text, want in (
            ("data: a\n\n", [SentEvent(None, "message", "a")]),
            ("id: 7\nevent: snapshot\ndata: a\ndata: b\n\n", [SentEvent("7", "snapshot", "a\nb")]),
            (": heartbeat\n\n", []),
            ("id: 7\n\ndata:x\n\n", [SentEvent("7", "message", "x")]),
            ("data\n\n", [SentEvent(None, "message", "")]),
            ("data: a", []),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", [SentEvent(None, "message", c) for c in "abc"]),
        ):
            with self.subTest(text):
                self.assertEqual(EventParser().feed(text.encode()), want)

    def test_every_split(self) -> None:
        whole = "id: 1\r\ndata: größer 🐟\r\n\r\nevent: x\rdata: y\r\rdata: z\n\n".encode()
        want = EventParser().feed(whole)
        self.assertEqual(len(want), 3)
        for first in range(len(whole)):
            for second in range(first, len(whole)):
                parser = EventParser()
                got = parser.feed(whole[:first]) + parser.feed(whole[first:second]) + parser.feed(whole[second:])
                self.assertEqual(got, want, (first, second))


class TestCompleteMembers(unittest.TestCase):
    def test_prefixes(self) -> None:
        for text, want in (
            ("", {}),
            ('{"a": 1', {}),
            ('{"a": 1, "b": "x', {"a": 1}),
            ('{"a": {"c": [1, 2]}, "b": "}\\",', {"a": {"c": [1, 2]}}),
            ('{"a": 1} trailing', {"a": 1}),
            ("[1, 2]", {}),
            ("nonsense, here", {}),
        ):
            with self.subTest(text):
                self.assertEqual(complete_members(text), want)


def message(text: str, *, status: str = "streaming", part: str = "streaming", seq: int = 1) -> dict[str, Any]:
    parts = [{"id": "p", "type": "text", "text": text, "status": part}]
    return {"id": f"m{seq}", "seq": seq, "entityId": "clerk", "status": status, "mentions": [], "parts": parts}


def delta(offset: int, text: str) -> dict[str, Any]:
    return {"type": "text-delta", "messageId": "m1", "partId": "p", "offset": offset, "delta": text}


def text_in(messages: list[Any]) -> str:
    return "".join(p["text"] for p in messages[-1]["parts"])


class TestMessages(unittest.TestCase):
    def test_deltas_overlap(self) -> None:
        held = Messages()
        held.apply({"type": "snapshot", "messages": [message("gr")]})
        self.assertEqual(text_in(held.apply(delta(2, "öß"))), "größ")
        self.assertEqual(held.apply(delta(2, "öß")), [])
        self.assertEqual(text_in(held.apply(delta(4, "ßer 🐟"))), "größer 🐟")
        with self.assertRaises(Gap):
            held.apply(delta(40, "later"))

    def test_random_overlaps(self) -> None:
        whole = "größer 🐟 " * 20
        encoded = whole.encode()
        ends = [len(whole[:n].encode()) for n in range(len(whole) + 1)]
        for seed in range(50):
            chance = random.Random(seed)
            held = Messages()
            held.apply({"type": "message.created", "message": message("")})
            at = 0
            while at < len(encoded):
                start = chance.choice([e for e in ends if at - 20 <= e <= at])
                end = chance.choice([e for e in ends if start < e <= start + 30])
                held.apply(delta(start, encoded[start:end].decode()))
                at = max(at, end)
            done = held.apply({"type": "text-end", "messageId": "m1", "partId": "p", "status": "done"})
            self.assertEqual(text_in(done), whole, seed)
            self.assertEqual(done[0]["parts"][0].get("status"), "done")

    def test_a_stored_message_is_older_than_its_deltas(self) -> None:
        held = Messages()
        held.apply({"type": "message.created", "message": message("")})
        held.apply(delta(0, "Hello"))
        self.assertEqual(text_in(held.apply({"type": "message.updated", "message": message("He")})), "Hello")
        done = message("Hello", status="completed", part="done")
        self.assertEqual(text_in(held.apply({"type": "message.completed", "message": done})), "Hello")

    def test_a_reset_cuts_the_text(self) -> None:
        held = Messages()
        held.apply({"type": "snapshot", "messages": [message("größer")]})
        reset = {"type": "part.reset", "messageId": "m1", "partId": "p", "offset": 4}
        self.assertEqual(text_in(held.apply(reset)), "grö")
        self.assertEqual(text_in(held.apply(delta(4, "n"))), "grön")

    def test_a_call_of_a_tool(self) -> None:
        held = Messages()
        held.apply({"type": "message.created", "message": {**message(""), "parts": []}})
        of = {"messageId": "m1", "partId": "t", "toolCallId": "c", "toolName": "book"}
        held.apply({"type": "tool-input-start", **of})
        got = held.apply({"type": "tool-input-delta", **of, "offset": 0, "delta": '{"to": "Oslo", "on'})
        self.assertEqual(got[0]["parts"][0].get("args"), {"to": "Oslo"})
        held.apply({"type": "tool-input-available", **of, "args": {"to": "Oslo", "on": 1}})
        got = held.apply({"type": "tool-output-available", **of, "result": "booked", "status": "done"})
        part: Any = got[0]["parts"][0]
        self.assertEqual((part["args"], part["result"], part["status"]), ({"to": "Oslo", "on": 1}, "booked", "done"))
        self.assertEqual(held.apply({"type": "part.removed", **of})[0]["parts"], [])

    def test_private_parts_stay_masked(self) -> None:
        held = Messages()
        held.apply({"type": "message.created", "message": {**message(""), "parts": []}})
        of = {"messageId": "m1", "partId": "t", "private": True}
        got = held.apply({"type": "tool-input-start", "toolCallId": "c", "toolName": "book", **of})
        self.assertEqual(got[0]["parts"], [{"id": "t", "type": "tool_call", "private": True}])
        self.assertEqual(held.apply({"type": "tool-output-available", "result": 1, **of}), [])

    def test_the_oldest_messages_are_dropped(self) -> None:
        held = Messages()
        for seq in range(1, 2002):
            held.apply({"type": "message.created", "message": message("", seq=seq)})
        self.assertEqual(held.apply(delta(0, "x")), [])  # m1 was dropped
        self.assertEqual(text_in(held.apply({**delta(0, "x"), "messageId": "m2001"})), "x")

    def test_events_of_others_change_nothing(self) -> None:
        held = Messages()
        others: list[dict[str, Any]] = [{"type": "run.started", "run": {}}, {"type": "of.a.newer.server"}]
        for event in [*others, delta(0, "x")]:
            self.assertEqual(held.apply(event), [])


if __name__ == "__main__":
    unittest.main()
