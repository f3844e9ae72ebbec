"""The sync client: a facade of the one for asyncio, which runs in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar, overload

import httpx

from ._client import AsyncShoal
from ._errors import ClosedError, ShoalError
from ._operations import AsyncOperations, Operations
from ._portal import Portal
from ._report import OnError, Steer, Verdict, WorkLine
from ._send import Answered
from ._stream import AsyncStream
from ._tools import AsyncToolHandler, ToolCall
from ._types import ServerEvent
from ._work import AsyncWork, Call
from .models import Caller, Message, MessageInput, PendingAction, PendingAnswer, RemoteRun, WaitItem, WaitResult

T = TypeVar("T")
A = TypeVar("A")


class Stream(Generic[T]):
    """What arrives, one after the other. Iterate over it once. Its connection is closed with `close`, at the end of
    `with`, and when nothing refers to it any more.
    """

    def __init__(self, portal: Portal, source: AsyncStream[T]) -> None:
        self._portal = portal
        self._source = source

    @property
    def cursor(self) -> str | None:
        """The position after the events that were read: pass it as `after` to resume there."""
        return self._source.cursor

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> T:
        found = self._portal.run(_next(self._source))
        if not found:
            raise StopIteration
        return found[0]

    def close(self) -> None:
        """Closes the connection."""
        self._portal.run(self._source.aclose())

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _next(source: AsyncStream[T]) -> list[T]:
    async for item in source:
        return [item]
    return []


class Work:
    """A run that a handler executes. What its methods report is shown in the order of the calls. They wait while too
    much is not stored yet, and raise once the run has ended. A handler that computes for long checks `ended`.
    """

    def __init__(self, portal: Portal, work: AsyncWork) -> None:
        self._portal = portal
        self._work = work
        #: The run, with what it begins with and what another program has done in it before.
        self.claimed: RemoteRun = work.claimed

    @property
    def ended(self) -> ShoalError | None:
        """Why the run has ended for this program: a RunEndedError, a LeaseLostError, or a ClosedError if the agent is
        not served any more. None as long as it goes on.
        """
        return self._work.ended

    def wait_ended(self, timeout: float | None = None) -> ShoalError | None:
        """Waits until the run has ended for this program, at most for `timeout` seconds, and returns `ended`."""
        return self._portal.run(self._work.wait_ended(timeout))

    def text(self, delta: str, *, space: str | None = None, mention: str | None = None) -> None:
        """Appends to the text in the space of the trigger, or in another one."""
        self._portal.run(self._work.text(delta, space=space, mention=mention))

    def end_text(self, *, space: str | None = None, mention: str | None = None) -> None:
        """Ends the text that was written last, so that a mention in it has its effect."""
        self._portal.run(self._work.end_text(space=space, mention=mention))

    def thought(self, delta: str) -> None:
        """Appends to the reasoning, which is shown where the space shows it."""
        self._portal.run(self._work.thought(delta))

    def usage(
        self,
        model: str,
        *,
        input: int,
        output: int,
        cached_input: int = 0,
        reasoning: int = 0,
        cost: float | None = None,
    ) -> None:
        """Adds tokens, and a cost in US dollars, to those of the run. `cached_input` is a part of `input`, and
        `reasoning` one of `output`.
        """
        self._portal.run(
            self._work.usage(
                model, input=input, output=output, cached_input=cached_input, reasoning=reasoning, cost=cost
            )
        )

    def card(self, tool: str, args: Any) -> None:
        """Shows a card: a call of a display tool in the space of the trigger."""
        self._portal.run(self._work.card(tool, args))

    def ask_card(self, tool: str, args: Any) -> Any:
        """Shows a card that members answer, and returns the answer. Raises ExpiredError if nobody answers in time."""
        return self._portal.run(self._work.ask_card(tool, args))

    def ask(self, question: str, options: list[str] | None = None) -> str | None:
        """Asks the members of the space. Returns None if nobody answers in time."""
        return self._portal.run(self._work.ask(question, options))

    def permission(self, id: str, tool: str, args: Any, *, title: str | None = None) -> Verdict:
        """Asks whether a tool call may be executed. Asked again with the same id, also after a crash, it returns the
        verdict that was given.
        """
        return self._portal.run(self._work.permission(id, tool, args, title=title))

    def call(
        self,
        tool: str,
        args: A,
        run: Callable[[A], str],
        *,
        id: str | None = None,
        permission: bool = False,
        title: str | None = None,
    ) -> str:
        """Calls a tool and shows the call with its output, at most 4 KiB of it. With `permission` it runs after a
        person has approved it, with the arguments that were approved, else it raises DeniedError. With an `id` it is
        executed once, also if the program dies in between.
        """
        called = Call(self._work, tool, args, id or self._work.new_id(tool), permission, title)
        if not self._portal.run(called.begins()):
            return called.output
        try:
            output = run(called.args)
        except Exception as error:
            self._portal.run(called.failed(error))
            raise
        return self._portal.run(called.done(output))

    def steers(self) -> list[Steer]:
        """The messages that have arrived during the run and were not taken in. One that is not taken in with `steered`
        starts the next run.
        """
        return self._work.steers()

    def steered(self, run_id: str) -> None:
        """Says that the model has a message: it is a part of this run from now on. Until then it is safe in the
        queue.
        """
        self._portal.run(self._work.steered(run_id))

    def report(self, line: WorkLine) -> None:
        """Reports a line of any type. The lines that end the run are those of serve_agent."""
        self._portal.run(self._work.report(line))


Handler = Callable[[Work], None]
ToolHandler = Callable[[ToolCall], object]


class _Operations(Operations):
    """The operations of an asyncio client, run in its thread."""

    __slots__ = ("_api", "_portal")

    def __init__(self, portal: Portal, api: AsyncOperations) -> None:
        self._portal = portal
        self._api = api

    def call(
        self,
        method: str,
        path: str,
        values: Mapping[str, str | None] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        idempotency_key: str | None = None,
        read: Literal["json", "bytes", "str"] = "json",
    ) -> Any:
        return self._portal.run(
            self._api.call(
                method,
                path,
                values,
                query=query,
                body=body,
                content=content,
                content_type=content_type,
                idempotency_key=idempotency_key,
                read=read,
            )
        )


class Shoal:
    """A session of a server. It makes no call before it has to. Close it, or use `with`. Threads may share it. A call
    that is interrupted, for example with Ctrl-C, is canceled; what it had opened is closed.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        session: str = "default",
        as_: str | None = None,
        retry_for: float = 10.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """`url` is the address of the server, such as http://127.0.0.1:7462, and `key` the secret that authenticates
        the caller. Only an admin may act `as_` an entity that is not its key's own. A call is repeated for
        `retry_for` seconds while the server is unreachable, so that it survives a restart. `http` replaces the HTTP
        client, for example to use a proxy; it is not closed.
        """
        self._async = AsyncShoal(url, key, session=session, as_=as_, retry_for=retry_for, http=http)
        self._portal = Portal(self._async.aclose)
        self.session = session
        #: Every operation of the API that is not a stream, as a method.
        self.api: Operations = _Operations(self._portal, self._async.api)

    def close(self) -> None:
        """Ends the thread of the client, and closes its connections. What other threads wait for raises ClosedError;
        agents are not served any more.
        """
        self._portal.close()

    def __enter__(self) -> Shoal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def caller(self) -> Caller:
        """Who the key is: its role, its entity and its session."""
        return self._portal.run(self._async.caller())

    def entity(self) -> str:
        """The entity that the calls act as. Raises if the key has no entity."""
        return self._portal.run(self._async.entity())

    @overload
    def send(
        self,
        space: str,
        message: str | MessageInput,
        *,
        mentions: Iterable[str] = (),
        wait: float,
        idempotency_key: str | None = None,
    ) -> Answered: ...

    @overload
    def send(
        self,
        space: str,
        message: str | MessageInput,
        *,
        mentions: Iterable[str] = (),
        wait: None = None,
        idempotency_key: str | None = None,
    ) -> Message: ...

    def send(
        self,
        space: str,
        message: str | MessageInput,
        *,
        mentions: Iterable[str] = (),
        wait: float | None = None,
        idempotency_key: str | None = None,
    ) -> Message | Answered:
        """Posts a message: a text, or a draft with parts. It wakes `mentions`. It is posted once, also if the
        connection breaks, and calls with the same key post once. With `wait`, in seconds, it also waits for the
        answer: the next complete message of a mentioned member in the space, or of the agent that acts without a
        mention.
        """
        if wait is None:
            return self._portal.run(
                self._async.send(space, message, mentions=mentions, idempotency_key=idempotency_key)
            )
        return self._portal.run(
            self._async.send(space, message, mentions=mentions, wait=wait, idempotency_key=idempotency_key)
        )

    def messages(
        self, space: str, *, before: int | None = None, after: int | None = None, limit: int | None = None
    ) -> list[Message]:
        """The newest messages of a space, or those before or after a `seq`; the oldest first."""
        return self._portal.run(self._async.messages(space, before=before, after=after, limit=limit))

    def follow(
        self,
        *,
        space: str | None = None,
        run: str | None = None,
        after: str | None = None,
        on_lost: Callable[[ShoalError], None] | None = None,
    ) -> Stream[ServerEvent]:
        """The events of the caller's spaces, of one space or of one run, in order, each once. The stream reconnects
        after the last event, and calls `on_lost` before. It begins `after` a cursor, else with snapshots. A snapshot
        replaces what came before; it also comes if the connection was lost for longer than the server stores events.
        """
        return Stream(self._portal, self._async.follow(space=space, run=run, after=after, on_lost=on_lost))

    def watch(self, space: str) -> Stream[Message]:
        """The messages of a space as they change: first the newest that exist, then each while it is written."""
        return Stream(self._portal, self._async.watch(space))

    def wait(
        self,
        *,
        kind: Literal["mentions", "messages"] = "mentions",
        timeout: float = 30.0,
        space: str | None = None,
        senders: Iterable[str] = (),
        ack: str | None = None,
        redeliver: bool = False,
    ) -> WaitResult:
        """Waits for unread messages of the acting entity, and returns at once if there are any: `mentions`, or all
        `messages` that others post; only in a `space`, only of `senders`. `timeout` may be longer than one request; 0
        checks once. `ack` is the cursor of an earlier result: its messages are acknowledged. With `redeliver` it
        returns everything that is not acknowledged, also what the last wait returned.
        """
        return self._portal.run(
            self._async.wait(kind=kind, timeout=timeout, space=space, senders=senders, ack=ack, redeliver=redeliver)
        )

    def inbox(
        self,
        *,
        kind: Literal["mentions", "messages"] = "mentions",
        space: str | None = None,
        senders: Iterable[str] = (),
    ) -> Stream[WaitItem]:
        """The unread messages of the acting entity by space, as they come. What one wait returned is acknowledged when
        the next begins.
        """
        return Stream(self._portal, self._async.inbox(kind=kind, space=space, senders=senders))

    def pending(
        self, *, space: str | None = None, run: str | None = None, status: Iterable[str] = ()
    ) -> list[PendingAction]:
        """The actions that runs wait for, the oldest first: by default those that can be answered."""
        return self._portal.run(self._async.pending(space=space, run=run, status=status))

    def answer(self, pending: str, answer: PendingAnswer) -> PendingAction:
        """Answers a pending action: `{"approved": …}`, `{"answer": …}`, `{"result": …}` or `{"error": …}`. The first
        answer wins; a different one raises a ConflictError.
        """
        return self._portal.run(self._async.answer(pending, answer))

    def serve_agent(
        self, agent: str, handle: Handler, *, concurrency: int = 4, on_error: OnError | None = None
    ) -> None:
        """Claims the runs of a remote agent and calls `handle` for each in a thread of its own, until the client is
        closed or the caller is interrupted: then runs that are in progress are given back with what was reported once
        their handlers have returned, and other programs can claim them at once. It survives restarts of the server
        and broken connections, and raises the error with which the server refuses to give it runs. The key must be
        that of the agent, or an admin's. At most `concurrency` runs are executed at the same time; a key has at most
        20 open streams, and each run needs one. `on_error` receives what went wrong and is retried, and how handlers
        failed, in the thread of the client; without it that is logged.

        When a handler returns, its run is completed; what it raises fails the run with its message, which members of
        the space read.
        """

        async def handled(work: AsyncWork) -> None:
            await _in_thread(lambda: handle(Work(self._portal, work)))

        try:
            self._portal.run(self._async.serve_agent(agent, handled, concurrency=concurrency, on_error=on_error))
        except ClosedError:
            return

    def serve_tools(
        self,
        handlers: Mapping[str, ToolHandler],
        *,
        space: str | None = None,
        mine: bool = False,
        on_error: OnError | None = None,
    ) -> None:
        """Executes the calls of client tools, by their names, each in a thread of its own, until the client is closed
        or the caller is interrupted, and the handlers have returned; also calls that wait already, and those that
        others may have begun: of several programs the first answer wins. What a handler returns is the result that the
        model reads, in JSON; what it raises is the error. Only calls in a `space` are executed, and only those of runs
        that messages of the acting entity led to if `mine` is set. It survives restarts of the server and broken
        connections, and raises the error with which the server refuses to say what is called. `on_error` receives what
        handlers raise, why an answer was refused, and what is retried, in the thread of the client; without it that is
        logged.
        """

        def threaded(handler: ToolHandler) -> AsyncToolHandler:
            async def handled(call: ToolCall) -> object:
                return await _in_thread(lambda: handler(call))

            return handled

        wrapped = {name: threaded(handler) for name, handler in handlers.items()}
        try:
            self._portal.run(self._async.serve_tools(wrapped, space=space, mine=mine, on_error=on_error))
        except ClosedError:
            return


# Returns when the call has, also if the task is canceled meanwhile: nothing can end a thread.
async def _in_thread(call: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[BaseException | None] = loop.create_future()
    results: list[T] = []

    def target() -> None:
        outcome: BaseException | None = None
        try:
            results.append(call())
        except BaseException as error:
            outcome = error
        loop.call_soon_threadsafe(done.set_result, outcome)

    threading.Thread(target=target, name="shoal-run", daemon=True).start()
    canceled = False
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            canceled = True
    if canceled:
        raise asyncio.CancelledError
    if (error := done.result()) is not None:
        raise error
    return results[0]
