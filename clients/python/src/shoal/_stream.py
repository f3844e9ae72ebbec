"""Reads streams of server-sent events, and reconnects after the last event when the connection breaks. They are pulled:
a reader that is busy slows the server down, and nothing is queued.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Any, Generic, TypeVar

import httpx

from ._backoff import Backoff
from ._errors import ShoalError, UnreachableError, error_of
from ._sse import EventParser, SentEvent
from ._transport import LONGEST_RETRY_AFTER, Request, Transport

T = TypeVar("T")

# A restarted server responds again within a second or two.
_SHORTEST_DELAY = 0.25
_LONGEST_DELAY = 8.0
# The server sends a heartbeat every 15 s.
_SILENCE = 40.0


class Reader:
    """One stream of events over any number of connections."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        *,
        after: str | None = None,
        many_snapshots: bool = False,
        retry_for: float = 10.0,
        on_lost: Callable[[ShoalError], None] | None = None,
    ) -> None:
        self._transport = transport
        self._path = path
        self._last = after
        self._many_snapshots = many_snapshots
        self._retry_for = retry_for
        self._on_lost = on_lost
        self._delays = Backoff(_SHORTEST_DELAY, _LONGEST_DELAY)
        self._reached = False
        self._restarts = False
        #: The position after the events that were read.
        self.cursor = after

    def restart(self) -> None:
        """Reconnects without a cursor, so that the stream starts with snapshots."""
        self._restarts = True

    async def events(self) -> AsyncGenerator[Any, None]:
        """The events, each once. An error that is about the request ends them."""
        async with aclosing(self.batches()) as batches:
            async for batch in batches:
                for id_, event in batch:
                    self.cursor = id_ or self.cursor
                    yield event

    async def batches(self) -> AsyncGenerator[list[tuple[str | None, Any]], None]:
        """The events as they arrive with their positions: those of one chunk together."""
        began = time.monotonic()
        while True:
            error: ShoalError = UnreachableError("The server ended the stream.")
            try:
                async with aclosing(self._connection()) as connection:
                    async for batch in connection:
                        yield batch
                        if self._restarts:
                            break
            except ShoalError as lost:
                error = lost
            if self._restarts:
                self._restarts, self._last = False, None
                continue
            self._reached = self._reached or error.status != 0
            if _about_the_request(error) or (not self._reached and time.monotonic() - began > self._retry_for):
                raise error
            if self._on_lost is not None:
                self._on_lost(error)
            await asyncio.sleep(max(self._delays.next(), min(error.retry_after, LONGEST_RETRY_AFTER)))

    # Reads one connection until it ends.
    async def _connection(self) -> AsyncGenerator[list[tuple[str | None, Any]], None]:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if self._last is not None:
            headers["Last-Event-ID"] = self._last
        try:
            async with self._transport.stream(Request("GET", self._path, headers), _SILENCE) as response:
                if not response.is_success:
                    await response.aread()
                    raise error_of(response)
                if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise ShoalError(
                        0, "internal", "The response is not a stream of events. A proxy may have replaced it."
                    )
                self._reached = True
                self._delays.reset()
                parser = EventParser()
                async for chunk in response.aiter_bytes():
                    batch = [self._received(sent) for sent in parser.feed(chunk)]
                    if batch:
                        yield batch
        except httpx.HTTPError as error:
            raise self._transport.unreachable(error) from error

    # Between several snapshots the stream cannot resume: the others would be missing.
    def _received(self, sent: SentEvent) -> tuple[str | None, Any]:
        resumes = sent.id is not None and not (self._many_snapshots and sent.type == "snapshot")
        if resumes:
            self._last = sent.id
        return (sent.id if resumes else None, json.loads(sent.data))


class AsyncStream(Generic[T]):
    """What arrives, one after the other. Iterate over it once. Its connection is closed with `aclose`, at the end of
    `async with`, when the task that reads is canceled, and when nothing refers to it any more.
    """

    def __init__(self, source: AsyncGenerator[T, None], reader: Reader | None = None) -> None:
        self._source = source
        self._reader = reader

    @property
    def cursor(self) -> str | None:
        """The position after the events that were read: pass it as `after` to resume there."""
        return None if self._reader is None else self._reader.cursor

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> T:
        return await self._source.__anext__()

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._source.aclose()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


# Not about the state of the server, which may be another one at the next attempt.
def _about_the_request(error: ShoalError) -> bool:
    return 0 < error.status < 500 and error.status not in (408, 429)
