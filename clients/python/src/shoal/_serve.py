"""Executes the runs of a remote agent in this program."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from ._backoff import Backoff
from ._errors import ClosedError, ShoalError, passes
from ._lines import Lines
from ._report import OnError, WorkLine, failed_line
from ._transport import LONGEST_RETRY_AFTER, Request, Transport, to_json
from ._work import AsyncWork
from .models import RemoteRun

AsyncHandler = Callable[[AsyncWork], Awaitable[None]]

_ROUND = 50.0
_GRACE = 15.0
_MOST_RUNS = 64

_COMPLETED: WorkLine = {"type": "turn.ended", "stop": "end_turn"}

_log = logging.getLogger("shoal")


def logged(error: BaseException) -> None:
    """Logs what is retried as a warning, and a handler that failed with its trace."""
    if isinstance(error, ShoalError):
        _log.warning("%s", error)
    else:
        _log.error("A handler has failed.", exc_info=error)


class Server:
    """Claims the runs of an agent and executes them, until its task is canceled."""

    def __init__(
        self, transport: Transport, session: str, agent: str, handle: AsyncHandler, concurrency: int, on_error: OnError
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1.")
        self._transport = transport
        self._session = session
        self._claims = f"{session}/agents/{quote(agent, safe='')}/claim"
        self._handle = handle
        self._concurrency = concurrency
        self._on_error = on_error
        self._stopped = False
        self._running: dict[asyncio.Task[None], Execution] = {}

    async def serve(self) -> None:
        """Raises the error with which the server refuses to give it runs."""
        try:
            await self._claim_all()
        except asyncio.CancelledError:
            self._stop()
            await self._settled()
            raise
        except ShoalError:
            await self._settled()
            raise

    async def _claim_all(self) -> None:
        delays = Backoff(0.1, 8)
        began = time.monotonic()
        reached = False
        tries = 0
        while True:
            if len(self._running) >= self._concurrency:
                await asyncio.wait(list(self._running), return_when=asyncio.FIRST_COMPLETED)
                continue
            try:
                runs = await self._claim(min(self._concurrency - len(self._running), _MOST_RUNS))
            except ShoalError as error:
                tries += 1
                late = not reached and tries >= 5 and time.monotonic() - began > 10
                if not passes(error) or late:
                    raise
                self._on_error(error)
                await asyncio.sleep(max(delays.next(), min(error.retry_after, LONGEST_RETRY_AFTER)))
                continue
            reached, tries = True, 0
            delays.reset()
            for run in runs:
                lines = Lines(self._transport, self._session, run, self._on_error)
                execution = Execution(run["run"]["id"], lines, self._on_error)
                task = asyncio.create_task(execution.run(AsyncWork(run, execution.lines), self._handle))
                self._running[task] = execution
                task.add_done_callback(self._running.pop)

    # An answer that is lost costs nothing: the runs are claimed again once their leases have ended.
    async def _claim(self, limit: int) -> list[RemoteRun]:
        # A run that this program gives back while it ends must not come to this very claim.
        holds = [execution.run_id for execution in self._running.values()][:_MOST_RUNS]
        body = to_json({"limit": limit, "waitMs": round(_ROUND * 1000), "holds": holds})
        return (await self._transport.once(Request("POST", self._claims, content=body), _ROUND + _GRACE))["items"]

    def _stop(self) -> None:
        self._stopped = True
        for execution in self._running.values():
            execution.lines.end(ClosedError("The agent is not served any more."))

    # Waits until all runs are reported. A cancellation stops them, and the next one gives up on that.
    async def _settled(self) -> None:
        canceled = False
        while self._running:
            try:
                await asyncio.wait(list(self._running))
            except asyncio.CancelledError:
                canceled = True
                if self._stopped:
                    for task in self._running:
                        task.cancel()
                    break
                self._stop()
        if canceled:
            raise asyncio.CancelledError


class Execution:
    """One run and the task of its handler."""

    def __init__(self, run_id: str, lines: Lines, on_error: OnError) -> None:
        self.run_id = run_id
        self.lines = lines
        self._on_error = on_error

    async def run(self, work: AsyncWork, handle: AsyncHandler) -> None:
        """When the handler returns, the run is completed; what it raises fails the run."""

        async def handled() -> None:
            await handle(work)

        handler = asyncio.create_task(handled())
        self.lines.at_end(handler.cancel)
        try:
            await asyncio.wait([handler])
        except asyncio.CancelledError:
            handler.cancel()
            self.lines.end(ClosedError("The agent is not served any more."))
            raise
        error = asyncio.CancelledError() if handler.cancelled() else handler.exception()
        if error is not None and self.lines.ended is None:
            self._on_error(error)
        await self.lines.finish(_COMPLETED if error is None else failed_line(error))
