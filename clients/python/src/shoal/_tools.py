"""Executes client tools: calls of agents that a program outside of the server answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._backoff import Backoff
from ._errors import InvalidError, ShoalError, passes
from ._report import OnError, failed_line
from ._stream import Reader
from ._transport import to_json
from .models import PendingAction, PendingAnswer

if TYPE_CHECKING:
    from ._client import AsyncShoal


@dataclass
class ToolCall:
    """A call of a client tool."""

    action: PendingAction
    #: Whether the call needs no result any more: its run was canceled, somebody else has answered, or the program
    #: stops. The handlers of `AsyncShoal` are canceled then; those of `Shoal` may look.
    ended: bool = False

    @property
    def args(self) -> Any:
        """The arguments. They match the `inputSchema` of the tool."""
        return self.action["args"]


AsyncToolHandler = Callable[[ToolCall], Awaitable[object]]


class Tools:
    """Executes the calls of the tools that have a handler, each once, until its task is canceled."""

    def __init__(
        self,
        shoal: AsyncShoal,
        reader: Reader,
        handlers: Mapping[str, AsyncToolHandler],
        space: str | None,
        mine: bool,
        on_error: OnError,
    ) -> None:
        self._shoal = shoal
        self._reader = reader
        self._handlers = dict(handlers)
        self._space = space
        self._mine = mine
        self._on_error = on_error
        # By the ids of their actions. A call that has failed to be answered stays until it is settled.
        self._calls: dict[str, tuple[ToolCall, asyncio.Task[None]]] = {}

    async def serve(self) -> None:
        """Raises the error with which the server refuses to say what is called."""
        delays = Backoff(0.25, 8)
        try:
            async with aclosing(self._reader.events()) as events:
                async for event in events:
                    if "pendingAction" in event:
                        self._offer(event["pendingAction"])
                    # The stream begins with the spaces, or begins anew: what waited before is in the list.
                    if event["type"] == "snapshot.end":
                        await self._load(delays)
        finally:
            tasks = [self._end(id_) for id_ in list(self._calls)]
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self, delays: Backoff) -> None:
        try:
            waiting = await self._shoal.pending()
        except ShoalError as error:
            if not passes(error):
                raise
            self._on_error(error)
            await asyncio.sleep(delays.next())
            self._reader.restart()
            return
        delays.reset()
        for action in waiting:
            self._offer(action)

    def _offer(self, action: PendingAction) -> None:
        id_ = action["id"]
        if action["status"] != "open":
            if id_ in self._calls:
                self._end(id_)
            return
        handler = self._handlers.get(action["toolName"])
        if action["kind"] != "client_tool" or handler is None or id_ in self._calls:
            return
        if self._space is not None and self._space != action["spaceId"]:
            return
        call = ToolCall(action)
        self._calls[id_] = (call, asyncio.create_task(self._execute(call, handler)))

    def _end(self, id_: str) -> asyncio.Task[None]:
        call, task = self._calls.pop(id_)
        call.ended = True
        task.cancel()
        return task

    async def _execute(self, call: ToolCall, handler: AsyncToolHandler) -> None:
        action = call.action
        try:
            if self._mine and await self._shoal.entity() not in action["requesters"]:
                return
            # Events also list what only others may answer.
            if all(p["id"] != action["id"] for p in await self._shoal.pending(run=action["runId"])):
                return
            await self._answer(action, await self._outcome(call, handler))
        except ShoalError as error:
            self._on_error(error)

    async def _outcome(self, call: ToolCall, handler: AsyncToolHandler) -> PendingAnswer:
        try:
            result = await handler(call)
            to_json(result)  # raises for what no JSON has
        except Exception as error:
            self._on_error(error)
            return {"error": failed_line(error).get("text", "")}
        return {"result": result}

    # The first answer wins; a late one is dropped without an error.
    async def _answer(self, action: PendingAction, answer: PendingAnswer) -> None:
        delays = Backoff(0.25, 8)
        while True:
            try:
                await self._shoal.answer(action["id"], answer)
                return
            except ShoalError as error:
                if error.status in (404, 409, 410):
                    return
                if isinstance(error, InvalidError) and "result" in answer:
                    await self._answer(action, {"error": f"The result of the program is not valid: {error.message}"})
                    raise
                if not passes(error):
                    raise
            await asyncio.sleep(delays.next())
