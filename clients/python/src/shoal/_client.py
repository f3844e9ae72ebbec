"""The client for asyncio: one server, one key, one session. The sync client is a facade of it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, overload
from urllib.parse import quote, urlencode

import httpx

from ._errors import ShoalError
from ._operations import AsyncOperations
from ._report import OnError
from ._send import Answered, answered
from ._serve import AsyncHandler, Server, logged
from ._stream import AsyncStream, Reader
from ._tools import AsyncToolHandler, Tools
from ._transport import Request, Transport, parsed, random_key, to_json
from ._types import ServerEvent
from ._wait import batches, waited
from ._watch import watched
from .models import Caller, Message, MessageInput, PendingAction, PendingAnswer, WaitItem, WaitResult

_log = logging.getLogger("shoal")


class _Operations(AsyncOperations):
    """The operations with the transport of a client."""

    __slots__ = ("_retry_for", "_session", "_transport")

    def __init__(self, transport: Transport, session: str, retry_for: float) -> None:
        self._transport = transport
        self._session = session
        self._retry_for = retry_for

    async def call(
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
        filled = {
            name: quote(self._session if value is None else value, safe="") for name, value in (values or {}).items()
        }
        asked = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        target = path.format_map(filled) + ("?" + urlencode(asked, quote_via=quote) if asked else "")
        headers: dict[str, str] = {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if body is not None:
            content = to_json(body)
        if content is not None:
            headers["Content-Type"] = content_type
        response = await self._transport.call(Request(method, target, headers, content), self._retry_for)
        if read == "bytes":
            return response.content
        return response.text if read == "str" else parsed(response)


class AsyncShoal:
    """A session of a server, for asyncio. It makes no call before it has to. Close it, or use `async with`. A task that
    waits in it can be canceled at any time; what it had opened is closed.
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
        self.session = session
        self._as = as_
        self._retry_for = retry_for
        self._transport = Transport(url, key, as_, http)
        self._me: str | None = None
        #: Every operation of the API that is not a stream, as a method.
        self.api: AsyncOperations = _Operations(self._transport, session, retry_for)

    @property
    def _path(self) -> str:
        return f"/v1/sessions/{quote(self.session, safe='')}"

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncShoal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def caller(self) -> Caller:
        """Who the key is: its role, its entity and its session."""
        return await self.api.me()

    async def entity(self) -> str:
        """The entity that the calls act as. Raises if the key has no entity."""
        if self._as is not None:
            return self._as
        if self._me is None:
            self._me = (await self.caller())["entityId"]
        if self._me is None:
            text = "The key belongs to no entity. Name the acting entity with the argument as_."
            raise ShoalError(0, "entity_required", text)
        return self._me

    @overload
    async def send(
        self,
        space: str,
        message: str | MessageInput,
        *,
        mentions: Iterable[str] = (),
        wait: float,
        idempotency_key: str | None = None,
    ) -> Answered: ...

    @overload
    async def send(
        self,
        space: str,
        message: str | MessageInput,
        *,
        mentions: Iterable[str] = (),
        wait: None = None,
        idempotency_key: str | None = None,
    ) -> Message: ...

    async def send(
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
        draft: MessageInput = {"text": message} if isinstance(message, str) else {**message}
        draft["mentions"] = [*draft.get("mentions", []), *mentions]
        key = idempotency_key or random_key()

        async def post() -> Message:
            return await self.api.post_message(space, draft, idempotency_key=key)

        return await (post() if wait is None else answered(self._reader(space=space), post, wait))

    async def messages(
        self, space: str, *, before: int | None = None, after: int | None = None, limit: int | None = None
    ) -> list[Message]:
        """The newest messages of a space, or those before or after a `seq`; the oldest first."""
        return (await self.api.list_messages(space, before=before, after=after, limit=limit))["items"]

    def follow(
        self,
        *,
        space: str | None = None,
        run: str | None = None,
        after: str | None = None,
        on_lost: Callable[[ShoalError], None] | None = None,
    ) -> AsyncStream[ServerEvent]:
        """The events of the caller's spaces, of one space or of one run, in order, each once. The stream reconnects
        after the last event, and calls `on_lost` before. It begins `after` a cursor, else with snapshots. A snapshot
        replaces what came before; it also comes if the connection was lost for longer than the server stores events.
        """
        reader = self._reader(space=space, run=run, after=after, on_lost=on_lost)
        return AsyncStream(reader.events(), reader)

    def watch(self, space: str) -> AsyncStream[Message]:
        """The messages of a space as they change: first the newest that exist, then each while it is written."""
        return AsyncStream(watched(self._reader(space=space)))

    async def wait(
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
        path = f"{self._path}/entities/{quote(await self.entity(), safe='')}/wait"
        asked = {"kind": kind, "spaceId": space, "from": list(senders), "ack": ack, "redeliver": redeliver}
        return await waited(self._transport, path, {k: v for k, v in asked.items() if v}, timeout)

    def inbox(
        self,
        *,
        kind: Literal["mentions", "messages"] = "mentions",
        space: str | None = None,
        senders: Iterable[str] = (),
    ) -> AsyncStream[WaitItem]:
        """The unread messages of the acting entity by space, as they come. What one wait returned is acknowledged when
        the next begins.
        """
        wanted = list(senders)

        async def wait(ack: str | None, timeout: float) -> WaitResult:
            return await self.wait(kind=kind, timeout=timeout, space=space, senders=wanted, ack=ack)

        return AsyncStream(batches(wait))

    async def pending(
        self, *, space: str | None = None, run: str | None = None, status: Iterable[str] = ()
    ) -> list[PendingAction]:
        """The actions that runs wait for, the oldest first: by default those that can be answered."""
        wanted = ",".join(status) or None
        items: list[PendingAction] = []
        cursor: str | None = None
        while True:
            page = await self.api.list_pending_actions(space=space, run=run, status=wanted, limit=200, cursor=cursor)
            items += page["items"]
            cursor = page["nextCursor"]
            if cursor is None or len(items) >= 2000:
                return items

    async def answer(self, pending: str, answer: PendingAnswer) -> PendingAction:
        """Answers a pending action: `{"approved": …}`, `{"answer": …}`, `{"result": …}` or `{"error": …}`. The first
        answer wins; a different one raises a ConflictError.
        """
        return await self.api.answer_pending_action(pending, answer)

    async def serve_agent(
        self,
        agent: str,
        handle: AsyncHandler,
        *,
        concurrency: int = 4,
        on_error: OnError | None = None,
    ) -> None:
        """Claims the runs of a remote agent and calls `handle` for each, until its task is canceled: then runs that
        are in progress are given back with what was reported, and other programs can claim them at once. It survives
        restarts of the server and broken connections, and raises the error with which the server refuses to give it
        runs. The key must be that of the agent, or an admin's. At most `concurrency` runs are executed at the same
        time; a key has at most 20 open streams, and each run needs one. `on_error` receives what went wrong and is
        retried, and how handlers failed; without it that is logged.

        When a handler returns, its run is completed; what it raises fails the run with its message, which members of
        the space read.
        """

        await Server(self._transport, self._path, agent, handle, concurrency, _reporter(on_error)).serve()

    async def serve_tools(
        self,
        handlers: Mapping[str, AsyncToolHandler],
        *,
        space: str | None = None,
        mine: bool = False,
        on_error: OnError | None = None,
    ) -> None:
        """Executes the calls of client tools, by their names, until its task is canceled; also those that wait already,
        and those that others may have begun: of several programs the first answer wins. What a handler returns is the
        result that the model reads, in JSON; what it raises is the error. A handler is canceled when its call needs no
        result any more. Only calls in a `space` are executed, and only those of runs that messages of the acting entity
        led to if `mine` is set. It survives restarts of the server and broken connections, and raises the error with
        which the server refuses to say what is called. `on_error` receives what handlers raise, why an answer was
        refused, and what is retried; without it that is logged.
        """
        reader = self._reader(retry_for=math.inf)
        await Tools(self, reader, handlers, space, mine, _reporter(on_error)).serve()

    def _reader(
        self,
        *,
        space: str | None = None,
        run: str | None = None,
        after: str | None = None,
        on_lost: Callable[[ShoalError], None] | None = None,
        retry_for: float | None = None,
    ) -> Reader:
        of = ""
        if run is not None:
            of = f"/runs/{quote(run, safe='')}"
        elif space is not None:
            of = f"/spaces/{quote(space, safe='')}"
        return Reader(
            self._transport,
            f"{self._path}{of}/events",
            after=after,
            many_snapshots=of == "",
            retry_for=self._retry_for if retry_for is None else retry_for,
            on_lost=on_lost,
        )


# on_error of a program, which cannot end what reports to it.
def _reporter(on_error: OnError | None) -> OnError:
    def report(error: BaseException) -> None:
        try:
            (on_error or logged)(error)
        except Exception:
            _log.exception("on_error has failed.")

    return report


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
