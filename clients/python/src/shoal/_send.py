"""Posts a message, and waits for its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, NamedTuple

from ._errors import ConflictError, NotFoundError, RunFailedError, TimedOutError
from ._stream import Reader
from .models import Message


class Answered(NamedTuple):
    """A message and the answer to it."""

    message: Message
    answer: Message


async def answered(reader: Reader, post: Callable[[], Awaitable[Message]], within: float) -> Answered:
    """Posts and returns the answer. It follows the space before it posts, so that it misses nothing."""
    posted: list[Message] = []
    try:
        return await asyncio.wait_for(_followed(reader, post, posted), within)
    except asyncio.TimeoutError:
        if posted:
            text = f"The message was posted as {posted[0]['id']}, but nobody has answered in time."
        else:
            text = "The space could not be followed in time; nothing was posted."
        raise TimedOutError(0, "timed_out", text) from None


async def _followed(reader: Reader, post: Callable[[], Awaitable[Message]], posted: list[Message]) -> Answered:
    async with aclosing(reader.events()) as events:
        async for event in events:
            if not posted:
                posted.append(await post())
                if not _answerers(posted[0]):
                    text = "but nobody acts on it: mention a member of the space."
                    raise NotFoundError(0, "not_found", f"The message was posted as {posted[0]['id']}, {text}")
                continue
            answer = _answer_in(event, posted[0])
            if answer is not None:
                return Answered(posted[0], answer)
    raise AssertionError("a stream ends with an error")


def _answerers(message: Message) -> list[str]:
    return message["mentions"] or [r["agentId"] for r in message.get("runs") or []]


# The answer in an event; None if it has none. Raises if there will be none.
def _answer_in(event: dict[str, Any], message: Message) -> Message | None:
    senders = _answerers(message)
    kind = event["type"]
    messages: list[Message] = (
        event["messages"] if kind == "snapshot" else [event["message"]] if "message" in event else []
    )
    for m in messages:
        if m["seq"] > message["seq"] and m["status"] != "streaming" and m["entityId"] in senders:
            return m
    if kind in ("space.closed", "space.deleted"):
        raise ConflictError(409, "space_closed", "The space was closed before an answer arrived.")
    over = kind in ("run.failed", "run.canceled") or (kind == "run.completed" and len(senders) == 1)
    if over and event["run"]["id"] in [r["runId"] for r in message.get("runs") or []]:
        run = event["run"]
        why = run["error"]["message"] if run["error"] else run["status"]
        raise RunFailedError(0, "run_failed", f"The run of {run['agentId']} ended without an answer: {why}.")
    return None
