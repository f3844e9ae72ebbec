"""An event loop in a thread of its own, on which the sync client runs the one for asyncio."""

from __future__ import annotations

import asyncio
import importlib
import math
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from ._errors import ClosedError

T = TypeVar("T")

# anyio, which httpx uses, imports this when it is first needed. Threads that need it at the same
# time may see half of it.
with suppress(ImportError):
    importlib.import_module("anyio._backends._asyncio")


class _Latch:
    """Opens once. A waiter may be interrupted at any point: unlike in threading.Event and concurrent.futures.Future,
    which wait in Python with a lock of their own, that never leaves a lock held.
    """

    def __init__(self) -> None:
        self._is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        self._is_open = True
        self._lock.release()

    def wait(self, timeout: float = math.inf) -> bool:
        """Returns whether it opened in time."""
        until = time.monotonic() + timeout
        while not self._is_open and (left := until - time.monotonic()) > 0:
            # An interrupt after `acquire` keeps the lock from other waiters; they look again.
            if self._lock.acquire(timeout=min(left, 1)):
                self._lock.release()
        return self._is_open


class Portal:
    """The loop starts with the first call and ends with `close`, which waits for everything that runs on it."""

    def __init__(self, at_end: Callable[[], Awaitable[None]]) -> None:
        self._at_end = at_end
        self._lock = threading.RLock()  # a signal handler may close
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begun = _Latch()
        self._stop = asyncio.Event()
        self._closed = False
        # What callers wait for; only the loop changes it.
        self._running: set[asyncio.Task[Any]] = set()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine and returns its result. If the caller is interrupted, the coroutine is canceled, and the
        caller waits until it has ended. Raises ClosedError if the client is closed meanwhile.
        """
        try:
            loop = self._started()
        except BaseException:
            coroutine.close()
            raise
        tasks: list[asyncio.Task[T]] = []
        ended = _Latch()

        def start() -> None:
            task = loop.create_task(coroutine)
            tasks.append(task)
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            task.add_done_callback(lambda _: ended.open())

        loop.call_soon_threadsafe(start)
        try:
            ended.wait()
        except BaseException:
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            ended.wait()
            raise
        if tasks[0].cancelled():
            raise ClosedError
        return tasks[0].result()

    def close(self) -> None:
        """Cancels what runs, and ends the thread. Calls in other threads raise ClosedError."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        # A caller that was interrupted may have left a thread that never starts. One that starts late ends at once.
        if self._begun.wait(2):
            with suppress(RuntimeError):  # it has ended
                self._running_loop().call_soon_threadsafe(self._stop.set)
            thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise ClosedError
            if self._thread is threading.current_thread():
                raise RuntimeError("A call of the sync client cannot be made by a callback such as on_error.")
            if self._thread is None:
                self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="shoal", daemon=True)
                self._thread.start()
            return self._running_loop()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        self._begun.wait()
        assert self._loop is not None
        return self._loop

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun.open()
        if self._closed:
            self._stop.set()
        await self._stop.wait()
        # What they have started ends with them, in order.
        waiting = list(self._running)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_asyncgens()
        await self._at_end()
