"""What needs no server: the two clients are alike, errors, texts, threads."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
import threading
import typing
import unittest
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any
from unittest import mock

import httpx
from shoal import (
    AgentError,
    AsyncOperations,
    AsyncShoal,
    AsyncStream,
    AsyncWork,
    ClosedError,
    InvalidError,
    Operations,
    RateLimitedError,
    Shoal,
    ShoalError,
    Stream,
    UnreachableError,
    Work,
    models,
    text_of,
)
from shoal._errors import error_of
from shoal._report import failed_line, shortened
from shoal._transport import to_json


def shape(of: type, renamed: dict[str, str]) -> dict[str, object]:
    """The public methods of a class with their parameters."""
    out: dict[str, object] = {}
    for name, member in inspect.getmembers(of):
        if name.startswith("_") and name not in ("__init__",):
            continue
        if inspect.isfunction(member):
            rows = [(p.name, p.kind, p.default) for p in inspect.signature(member).parameters.values()]
            out[renamed.get(name, name)] = rows
        else:
            out[renamed.get(name, name)] = type(member)
    return out


class TestBothClients(unittest.TestCase):
    def test_they_have_the_same_methods(self) -> None:
        for sync, other in (
            (Shoal, AsyncShoal),
            (Operations, AsyncOperations),
            (Work, AsyncWork),
            (Stream, AsyncStream),
        ):
            with self.subTest(sync.__name__):
                want = shape(other, {"aclose": "close"})
                if sync in (Work, Stream):  # the client makes them
                    want.pop("__init__")
                    got = shape(sync, {})
                    got.pop("__init__")
                else:
                    got = shape(sync, {})
                if sync is Work:
                    want.pop("new_id")  # of the package
                self.assertEqual(got, want)
                self.assertGreater(len(got), 1)

    def test_every_method_says_what_it_promises(self) -> None:
        for of in (Shoal, AsyncShoal, Work, AsyncWork, Stream, AsyncStream):
            for name, member in inspect.getmembers(of, inspect.isfunction):
                if not name.startswith("_"):
                    self.assertRegex((member.__doc__ or "").strip(), r"(?s)^[A-Z].*\.$", f"{of.__name__}.{name}")


class TestModels(unittest.TestCase):
    def test_annotations_can_be_read(self) -> None:
        for name in models.__all__:
            model = getattr(models, name)
            if isinstance(model, type):
                self.assertGreater(len(typing.get_type_hints(model)), 0, name)
        self.assertEqual(set(models.MessageInput.__required_keys__), set())
        self.assertIn("cursor", models.WaitResult.__required_keys__)
        self.assertIn("from", models.WaitInput.__optional_keys__)


class TestErrors(unittest.TestCase):
    def test_kinds(self) -> None:
        body = {
            "code": "invalid_argument",
            "detail": "Wrong.",
            "errors": [{"location": "body.id", "message": "No."}],
            "requestId": "r",
        }
        error = error_of(httpx.Response(422, json=body))
        self.assertIsInstance(error, InvalidError)
        self.assertEqual(
            (error.code, str(error), error.at("body.id"), error.request_id), ("invalid_argument", "Wrong.", "No.", "r")
        )
        limited = error_of(httpx.Response(429, headers={"Retry-After": "3"}, text="busy"))
        self.assertIsInstance(limited, RateLimitedError)
        self.assertEqual((limited.code, limited.retry_after), ("rate_limited", 3))
        gone = error_of(httpx.Response(502, text="<html>"))
        self.assertIsInstance(gone, UnreachableError)
        self.assertEqual(gone.status, 502)
        odd = error_of(httpx.Response(500, json=[1]))
        self.assertEqual((type(odd), odd.code), (ShoalError, "internal"))

    def test_they_can_be_pickled(self) -> None:
        for error in (UnreachableError("No."), ClosedError(), InvalidError(422, "x", "Wrong.", request_id="r")):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), again.__dict__), (type(error), str(error), error.__dict__))

    def test_members_do_not_read_the_words_of_faults(self) -> None:
        def fault() -> None:
            secrets: dict[str, str] = {}
            _ = secrets["token"]

        with self.assertRaises(KeyError) as caught:
            fault()
        self.assertEqual(failed_line(caught.exception).get("text"), "The program has a fault.")
        self.assertEqual(
            failed_line(ValueError("No trains.")), {"type": "failed", "code": "program_failed", "text": "No trains."}
        )
        self.assertEqual(failed_line(AgentError("provider_unavailable", "Later.")).get("code"), "provider_unavailable")
        self.assertEqual(failed_line(ValueError()).get("text"), "The program failed.")


class TestTexts(unittest.TestCase):
    def test_an_empty_line_is_between_parts(self) -> None:
        parts = [
            {"type": "text", "text": "Both are in stock."},
            {"type": "data"},
            {"type": "text", "text": "Want one?"},
        ]
        self.assertEqual(text_of(typing.cast(models.Message, {"parts": parts})), "Both are in stock.\n\nWant one?")

    def test_json(self) -> None:
        self.assertEqual(json.loads(to_json({"a": "größer 🐟", "b": "\ud83d"})), {"a": "größer 🐟", "b": "?"})
        with self.assertRaises(ValueError):
            to_json({"a": math.nan})

    def test_shortened_at_the_end_of_a_character(self) -> None:
        self.assertEqual(shortened("größer", 8), "größer")
        self.assertEqual(shortened("größer 🐟", 9), "größ…")
        self.assertLessEqual(len(shortened("🐟" * 2000, 4096).encode()), 4096)


class TestClients(unittest.TestCase):
    def test_wrong_arguments(self) -> None:
        for url, key in (
            ("localhost:7462", "k"),
            ("http://x?y", "k"),
            ("http://user@x", "k"),
            ("http://x", "two words"),
        ):
            for client in (Shoal, AsyncShoal):
                with self.assertRaises(ValueError) as caught:
                    client(url, key)
                self.assertNotIn("two words", str(caught.exception))

    def test_a_closed_client_makes_no_calls_and_has_no_thread(self) -> None:
        before = set(threading.enumerate())
        shoal = Shoal("http://127.0.0.1:9", "secret-key", retry_for=-1)
        self.assertEqual(set(threading.enumerate()), before)  # it starts with the first call
        for _ in range(2):
            with self.assertRaises(UnreachableError) as caught:
                shoal.caller()
            self.assertNotIn("secret-key", str(caught.exception))
        self.assertGreater(len(threading.enumerate()), len(before))
        shoal.close()
        shoal.close()
        self.assertEqual(set(threading.enumerate()), before)
        with self.assertRaises(ClosedError):
            shoal.caller()
        with self.assertRaises(ClosedError):
            next(shoal.watch("welcome"))

    def test_an_interrupt_while_the_thread_starts_leaves_no_thread(self) -> None:
        before = set(threading.enumerate())
        start = threading.Thread.start

        def interrupted(thread: threading.Thread) -> None:
            start(thread)
            raise KeyboardInterrupt

        client = Shoal("http://127.0.0.1:9", "k")
        patched = mock.patch.object(threading.Thread, "start", interrupted)
        with client as shoal, patched, self.assertRaises(KeyboardInterrupt):
            shoal.caller()
        self.assertEqual(set(threading.enumerate()), before)

    def test_a_cancellation_that_the_http_library_loses_is_raised(self) -> None:
        class Deaf(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                connecting.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)
                return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, json={})

        async def canceled(call: Callable[[AsyncShoal], Coroutine[Any, Any, object]]) -> None:
            connecting.clear()
            async with AsyncShoal("http://127.0.0.1:9", "k", http=httpx.AsyncClient(transport=Deaf())) as shoal:
                task = asyncio.create_task(call(shoal))
                await connecting.wait()
                task.cancel()
                await asyncio.wait([task])
                self.assertTrue(task.cancelled())

        async def both() -> None:
            await canceled(lambda shoal: shoal.caller())
            await canceled(lambda shoal: anext(shoal.watch("welcome")))

        connecting = asyncio.Event()
        asyncio.run(both())

    def test_callbacks_cannot_wait_for_their_own_thread(self) -> None:
        found: list[Any] = []

        def on_lost(error: ShoalError) -> None:
            try:
                shoal.caller()
            except RuntimeError as refused:
                found.append(refused)
            raise error

        with Shoal("http://127.0.0.1:9", "k") as shoal, self.assertRaises(UnreachableError):
            next(shoal.follow(on_lost=on_lost))
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    unittest.main()
