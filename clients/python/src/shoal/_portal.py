"""An event loop in a thread of its own, on which the sync client runs the one for asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from ._errors import ClosedError

T = TypeVar("T")

# anyio, which httpx uses, imports this when it is first needed. Threads that need it at the same
# time may see half of it.
with suppress(ImportError):
    importlib.import_module("anyio._backends._asyncio")


class Portal:
    """The loop starts with the first call and ends with `close`, which waits for everything that runs on it."""

    def __init__(self, at_end: Callable[[], Awaitable[None]]) -> None:
        self._at_end = at_end
        self._lock = threading.RLock()  # a signal handler may close
        self._thread: threading.Thread | None = None
        self._loop: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
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
        result: concurrent.futures.Future[T] = concurrent.futures.Future()
        tasks: list[asyncio.Task[T]] = []

        def ended(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                result.set_exception(ClosedError())
            elif (error := task.exception()) is not None:
                result.set_exception(error)
            else:
                result.set_result(task.result())

        def start() -> None:
            task = loop.create_task(coroutine)
            tasks.append(task)
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            task.add_done_callback(ended)

        loop.call_soon_threadsafe(start)
        try:
            return result.result()
        except BaseException:
            if not result.done():
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
                concurrent.futures.wait([result])
            raise

    def close(self) -> None:
        """Cancels what runs, and ends the thread. Calls in other threads raise ClosedError."""
        with self._lock:
            self._closed = True
            thread = self._thread
        # A caller that was interrupted may leave a thread that only begins; it sees `_closed` when it starts.
        if thread is None or thread.ident is None or thread is threading.current_thread():
            return
        with suppress(RuntimeError):  # it has ended
            self._loop.result().call_soon_threadsafe(self._stop.set)
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
            return self._loop.result()

    async def _main(self) -> None:
        self._loop.set_result(asyncio.get_running_loop())
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
