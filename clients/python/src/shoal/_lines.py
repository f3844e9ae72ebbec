"""The lines of a run: they are numbered, sent in order, and sent again until they are stored. The orders of the server
come back on a stream.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from ._backoff import Backoff
from ._errors import ClosedError, ConflictError, ExpiredError, LeaseLostError, RunEndedError, ShoalError, passes
from ._report import OnError, WorkLine, failed_line
from ._stream import Reader
from ._transport import LONGEST_RETRY_AFTER, Request, Transport, to_json
from .models import Order, RemoteRun

# How many bytes may wait for a receipt, and how many lines and bytes a report has: a body may have 1 MiB.
_MAX_QUEUE = 1 << 20
_MAX_LINES = 1000
_MAX_BODY = 1 << 18
# How often the server hears of a run without lines during a lease.
_RENEWALS = 4
# How long a program that stops may take to give a run back.
_GIVE_BACK_WITHIN = 5.0


class Lines:
    """The lines and the orders of one run, from its construction until `finish` has returned."""

    def __init__(self, transport: Transport, session: str, claimed: RemoteRun, on_error: OnError) -> None:
        self._transport = transport
        self._path = f"{session}/runs/{quote(claimed['run']['id'], safe='')}"
        self._query = f"?generation={claimed['generation']}"
        self._idle = max(claimed["leaseMs"] / 1000 / _RENEWALS, 0.001)
        self._on_error = on_error
        #: Receives the orders of the server but `cancel`.
        self.on_order: Callable[[Order], None] = lambda order: None
        self._n = 0
        self._queue: deque[tuple[int, bytes]] = deque()
        self._size = 0
        self._held: deque[tuple[bytes, asyncio.Future[None]]] = deque()
        self._closed = False
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._at_end: list[Callable[[], object]] = []
        #: Why nothing more is accepted about the run; None as long as it goes on.
        self.ended: ShoalError | None = None
        self._push(to_json({"type": "turn.started"}))
        self._sender = asyncio.create_task(self._send())
        self._orders = asyncio.create_task(self._follow())

    async def add(self, line: WorkLine) -> None:
        """Queues a line. Waits while too much is not stored yet; raises once the run has ended."""
        if self.ended is not None:
            raise self.ended
        if self._closed:
            raise RunEndedError
        encoded = to_json(line)
        if not self._held and self._size < _MAX_QUEUE:
            self._push(encoded)
            return
        room = asyncio.get_running_loop().create_future()
        self._held.append((encoded, room))
        await room

    def at_end(self, call: Callable[[], object]) -> None:
        """Calls something when nothing more is accepted about the run, at once if that is so already."""
        if self.ended is not None:
            call()
        else:
            self._at_end.append(call)

    async def until_ended(self) -> None:
        """Waits until nothing more is accepted about the run."""
        await self._over.wait()

    def end(self, reason: ShoalError) -> None:
        """Ends the run for this program; only the first reason counts."""
        if self.ended is not None:
            return
        self.ended = reason
        self._over.set()
        for _, room in self._held:
            if not room.done():
                room.set_exception(reason)
        self._held.clear()
        self._orders.cancel()
        if asyncio.current_task() is not self._sender:
            self._sender.cancel()
        for call in self._at_end:
            call()

    async def finish(self, last: WorkLine) -> None:
        """Sends the last line, and waits until everything is stored or the run has ended."""
        while self._held:
            self._release()
        self._push(to_json({"type": "released"} if self.ended is not None else last))
        self._closed = True
        try:
            await asyncio.wait([self._sender])
        finally:
            self.end(RunEndedError())
            await asyncio.wait([self._orders])
        if isinstance(self.ended, ClosedError):
            await self._give_back()

    def _push(self, line: bytes) -> None:
        self._n += 1
        numbered = _numbered(self._n, line)
        self._queue.append((self._n, numbered))
        self._size += len(numbered)
        self._ready.set()

    # Queues the line that waits first, unless its caller has given up.
    def _release(self) -> None:
        line, room = self._held.popleft()
        if not room.done():
            self._push(line)
            room.set_result(None)

    # Sends lines until the last one is stored or the run has ended.
    async def _send(self) -> None:
        delays = Backoff(0.1, 2)
        while not (self._closed and not self._queue):
            if not self._queue:
                await self._until_ready()
                if self._closed and not self._queue:
                    break
            error = await self._post(self._next())
            if error is None:
                delays.reset()
                continue
            if not await self._may_go_on(error):
                return
            await asyncio.sleep(max(delays.next(), min(error.retry_after, LONGEST_RETRY_AFTER)))

    # Waits until there is a line, or it is time to renew the lease.
    async def _until_ready(self) -> None:
        self._ready.clear()
        try:
            await asyncio.wait_for(self._ready.wait(), self._idle)
        except asyncio.TimeoutError:
            pass

    # The lines to send now: as many as a report may have.
    def _next(self) -> list[bytes]:
        size = 0
        lines: list[bytes] = []
        for _, encoded in self._queue:
            size += len(encoded)
            if lines and (size > _MAX_BODY or len(lines) == _MAX_LINES):
                break
            lines.append(encoded)
        return lines

    # Sends lines, and drops those that are stored.
    async def _post(self, lines: list[bytes]) -> ShoalError | None:
        headers = {"Content-Type": "application/x-ndjson"}
        try:
            sent = Request("POST", f"{self._path}/work{self._query}", headers, b"".join(lines))
            receipt: dict[str, Any] = await self._transport.once(sent)
        except ShoalError as error:
            return error
        while self._queue and self._queue[0][0] <= receipt["n"]:
            self._size -= len(self._queue.popleft()[1])
        while self._held and self._size < _MAX_QUEUE:
            self._release()
        return None

    # Whether sending may go on after an error. Ends the run otherwise.
    async def _may_go_on(self, error: ShoalError) -> bool:
        if passes(error):
            self._on_error(error)
            return True
        if isinstance(error, ConflictError):
            again = await self._post([])  # without an error the claim is current, and lines were not received
            if again is None or passes(again):
                return True
            error = LeaseLostError() if isinstance(again, ConflictError) else again
        if isinstance(error, LeaseLostError):
            self.end(error)
        elif isinstance(error, ExpiredError):
            self.end(RunEndedError())
        else:
            await self._fail(error)
        return False

    # A line is wrong: it cannot be stored, and none after it. The run ends in its place.
    async def _fail(self, error: ShoalError) -> None:
        self._on_error(error)
        n = self._queue[0][0] if self._queue else self._n + 1
        self.end(error)
        refused = await self._post([_numbered(n, to_json({**failed_line(error), "code": "program_invalid"}))])
        if refused is not None:
            self._on_error(refused)

    # Sends what the handler has reported, and gives the run back, so that another program goes on at once. If that
    # fails, the lease ends by itself.
    async def _give_back(self) -> None:
        try:
            error = await asyncio.wait_for(self._post_all(), _GIVE_BACK_WITHIN)
        except asyncio.TimeoutError:
            return
        if error is not None:
            self._on_error(error)

    async def _post_all(self) -> ShoalError | None:
        delays = Backoff(0.1, 2)
        while self._queue:
            error = await self._post(self._next())
            if error is None:
                continue
            if not passes(error):
                return error
            self._on_error(error)
            await asyncio.sleep(max(delays.next(), error.retry_after))
        return None

    async def _follow(self) -> None:
        path = f"{self._path}/orders{self._query}"
        reader = Reader(self._transport, path, retry_for=float("inf"), on_lost=self._on_error)
        try:
            async with aclosing(reader.events()) as orders:
                async for order in orders:
                    if order["type"] == "cancel":
                        self.end(RunEndedError())
                    else:
                        self.on_order(order)
        except ConflictError:
            self.end(LeaseLostError())
        except ExpiredError:
            self.end(RunEndedError())
        except ShoalError as error:
            self._on_error(error)


def _numbered(n: int, line: bytes) -> bytes:
    return b'{"n":%d,' % n + line[1:] + b"\n"
