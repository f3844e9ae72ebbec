"""A run that a program executes: what a handler reports, and the answers that it waits for."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from ._errors import DeniedError, ExpiredError, ShoalError
from ._lines import Lines
from ._report import Steer, Verdict, WorkLine, failed_line, shortened, without_none
from .models import Order, RemoteRun

A = TypeVar("A")

_MAX_OUTPUT = 4096
# Characters of a text in one line: it may have 64 KiB.
_MAX_PIECE = 16_384
_MAX_STEERS = 32


class AsyncWork:
    """A run that a handler executes. What its methods report is shown in the order of the calls. They wait while too
    much is not stored yet, and raise once the run has ended. When the run is canceled, when another program has
    claimed it and when serving ends, the task of the handler is canceled, too.
    """

    def __init__(self, claimed: RemoteRun, lines: Lines) -> None:
        #: The run, with what it begins with and what another program has done in it before.
        self.claimed = claimed
        self._answers: dict[str, Order] = {c["callId"]: c["answer"] for c in claimed["calls"] if c.get("answer")}
        self._waiting: dict[str, list[asyncio.Future[Order]]] = {}
        self._steers: dict[str, Steer] = {}
        self._calls = 0
        self._lines = lines
        lines.on_order = self._ordered
        lines.at_end(self._give_up)

    @property
    def ended(self) -> ShoalError | None:
        """Why the run has ended for this program: a RunEndedError, a LeaseLostError, or a ClosedError if the agent is
        not served any more. None as long as it goes on.
        """
        return self._lines.ended

    async def wait_ended(self, timeout: float | None = None) -> ShoalError | None:
        """Waits until the run has ended for this program, at most for `timeout` seconds, and returns `ended`."""
        try:
            await asyncio.wait_for(self._lines.until_ended(), timeout)
        except asyncio.TimeoutError:
            pass
        return self.ended

    async def text(self, delta: str, *, space: str | None = None, mention: str | None = None) -> None:
        """Appends to the text in the space of the trigger, or in another one."""
        for at in range(0, len(delta), _MAX_PIECE):
            piece = delta[at : at + _MAX_PIECE]
            await self.report(without_none(type="text", delta=piece, spaceId=space, mention=mention))

    async def end_text(self, *, space: str | None = None, mention: str | None = None) -> None:
        """Ends the text that was written last, so that a mention in it has its effect."""
        await self.report(without_none(type="text", spaceId=space, mention=mention, end=True))

    async def thought(self, delta: str) -> None:
        """Appends to the reasoning, which is shown where the space shows it."""
        for at in range(0, len(delta), _MAX_PIECE):
            await self.report({"type": "thought", "delta": delta[at : at + _MAX_PIECE]})

    async def usage(
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
        tokens = {"input": input, "cachedInput": cached_input, "output": output, "reasoning": reasoning}
        await self.report(without_none(type="usage", model=model, tokens=tokens, cost=cost))

    async def card(self, tool: str, args: Any) -> None:
        """Shows a card: a call of a display tool in the space of the trigger."""
        await self.report({"type": "card", "callId": self.new_id("card"), "tool": tool, "args": args})

    async def ask_card(self, tool: str, args: Any) -> Any:
        """Shows a card that members answer, and returns the answer. Raises ExpiredError if nobody answers in time."""
        line: WorkLine = {"type": "card", "callId": self.new_id("card"), "tool": tool, "args": args, "wait": True}
        order = await self._order(line)
        if order.get("error"):
            raise ExpiredError(0, "expired", order.get("error", ""))
        return order.get("result")

    async def ask(self, question: str, options: list[str] | None = None) -> str | None:
        """Asks the members of the space. Returns None if nobody answers in time."""
        id_ = self.new_id("question")
        order = await self._order(without_none(type="question", callId=id_, text=question, options=options))
        return None if order.get("error") else order.get("text", "")

    async def permission(self, id: str, tool: str, args: Any, *, title: str | None = None) -> Verdict:
        """Asks whether a tool call may be executed. Asked again with the same id, also after a crash, it returns the
        verdict that was given.
        """
        order = await self._order(without_none(type="permission", callId=id, tool=tool, title=title, args=args))
        edited = order.get("editedArgs")
        return Verdict(
            approved=order.get("approved") is True,
            reason=order.get("reason", ""),
            args=args if edited is None else edited,
            args_hash=order.get("argsHash", ""),
            by=order.get("by"),
        )

    async def call(
        self,
        tool: str,
        args: A,
        run: Callable[[A], Awaitable[str] | str],
        *,
        id: str | None = None,
        permission: bool = False,
        title: str | None = None,
    ) -> str:
        """Calls a tool and shows the call with its output, at most 4 KiB of it. With `permission` it runs after a
        person has approved it, with the arguments that were approved, else it raises DeniedError. With an `id` it is
        executed once, also if the program dies in between.
        """
        called = Call(self, tool, args, id or self.new_id(tool), permission, title)
        if not await called.begins():
            return called.output
        try:
            output = run(called.args)
            if inspect.isawaitable(output):
                output = await output
        except Exception as error:
            await called.failed(error)
            raise
        return await called.done(output)

    def steers(self) -> list[Steer]:
        """The messages that have arrived during the run and were not taken in. One that is not taken in with `steered`
        starts the next run.
        """
        return list(self._steers.values())

    async def steered(self, run_id: str) -> None:
        """Says that the model has a message: it is a part of this run from now on. Until then it is safe in the
        queue.
        """
        self._steers.pop(run_id, None)
        await self.report({"type": "steered", "runId": run_id})

    async def report(self, line: WorkLine) -> None:
        """Reports a line of any type. The lines that end the run are those of serve_agent."""
        await self._lines.add(line)

    # Reports a request, and waits for its answer.
    async def _order(self, line: WorkLine) -> Order:
        id_ = line.get("callId", "")
        known = self._answers.get(id_)
        if known is not None:
            return known
        answer: asyncio.Future[Order] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(id_, []).append(answer)
        await self.report(line)
        return await answer

    def _ordered(self, order: Order) -> None:
        if order["type"] == "steer":
            run_id = order.get("runId", "")
            # More messages are not offered at once; a new connection offers them again.
            if len(self._steers) < _MAX_STEERS:
                new = Steer(run_id, order.get("messageId", ""), order.get("by", ""), order.get("text", ""))
                self._steers.setdefault(run_id, new)
            return
        id_ = order.get("callId", "")
        if id_ in self._answers:
            return  # a new connection gets all answers again
        self._answers[id_] = order
        for waiting in self._waiting.pop(id_, []):
            if not waiting.done():
                waiting.set_result(order)

    def _give_up(self) -> None:
        for all_ in self._waiting.values():
            for waiting in all_:
                if not waiting.done() and self.ended is not None:
                    waiting.set_exception(self.ended)
        self._waiting.clear()

    def new_id(self, what: str) -> str:
        """An id for a call of this run. Calls of an earlier claim have other ids."""
        self._calls += 1
        return f"{what}-{self.claimed['generation']}-{self._calls}"


class Call(Generic[A]):
    """One call of a tool: what is reported before and after it runs."""

    def __init__(self, work: AsyncWork, tool: str, args: A, id: str, permission: bool, title: str | None) -> None:
        self._work = work
        self._tool = tool
        self._id = id
        self._permission = permission
        self._title = title
        #: The arguments that may be executed.
        self.args = args
        #: What the tool returned.
        self.output = ""

    async def begins(self) -> bool:
        """Whether to run the tool: not if an earlier program has. Raises DeniedError if a person does not allow it."""
        before = next((c for c in self._work.claimed["calls"] if c["callId"] == self._id), None)
        if before is not None and before["state"] == "done":
            self.output = before["output"]
            return False
        if before is None:
            await self._report("pending", tool=self._tool, title=self._title, args=self.args)
        if self._permission:
            verdict = await self._work.permission(self._id, self._tool, self.args, title=self._title)
            if not verdict.approved:
                raise DeniedError(verdict.reason or f"The call of {self._tool} was not approved.")
            self.args = verdict.args
        await self._report("running")
        return True

    async def done(self, output: str) -> str:
        """Reports what the tool returned."""
        await self._report("done", output=shortened(output, _MAX_OUTPUT))
        return output

    async def failed(self, error: BaseException) -> None:
        """Reports that the tool failed."""
        if self._work.ended is None:
            await self._report("failed", output=shortened(failed_line(error).get("text", ""), _MAX_OUTPUT))

    async def _report(self, state: str, **fields: Any) -> None:
        await self._work.report(without_none(type="tool", callId=self._id, state=state, **fields))
