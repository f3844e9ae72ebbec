"""What clienttest lets AsyncShoal do: `python3 driver_async.py TASK URL KEY …`. Each line of the output is a JSON
value.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable

from shoal import AsyncShoal, AsyncWork, DeniedError, ShoalError, ToolCall, text_of

task, url, key, *rest = sys.argv[1:]


def say(**value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


async def input_ends() -> None:
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def refusal(call: Callable[[], Awaitable[object]]) -> list[object] | None:
    """The error of a call as its class, code and status; None for a call that succeeded."""
    try:
        await call()
    except ShoalError as error:
        return [type(error).__name__, error.code, error.status]
    return None


async def watch(sender: str, addresses: list[str]) -> None:
    """Reads the first message of an agent to its end, through each of several addresses."""

    async def read(number: int, address: str) -> str:
        before = ""
        async with AsyncShoal(address, key) as shoal, shoal.watch("welcome") as messages:
            async for message in messages:
                if message["entityId"] != sender:
                    continue
                text = text_of(message)
                if not text.startswith(before):
                    say(wrong=f"{text[-40:]!r} follows {before[-40:]!r}")
                if before == "" and text != "":
                    say(reader=number, read=len(text))
                before = text
                if message["status"] != "streaming":
                    return text
        return ""

    say(texts=await asyncio.gather(*(read(i + 1, address) for i, address in enumerate(addresses))))


async def serve(shoal: AsyncShoal, agent: str) -> None:
    """Serves an agent that does what the text of the trigger says, until the input ends. A long story is as long as
    that.
    """
    enough = asyncio.Event()
    long_stories = 0

    async def write_story(work: AsyncWork) -> None:
        written = 0
        while not enough.is_set():
            await work.text(f"{written} größer 🐟 ")
            written += 1
            await asyncio.sleep(0.01)
        say(written=written)

    async def wait_for_cancel(work: AsyncWork) -> None:
        await work.text("Working")
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            say(ended=work.ended.code if work.ended else "")
            try:
                await work.text("more")
            except ShoalError as error:
                say(after=error.code)
            raise

    async def book(work: AsyncWork) -> None:
        await work.text("One moment. ")
        await work.card("TripCard", {"to": "Oslo"})
        try:
            trip = await work.call("book", {"to": "Oslo"}, lambda args: f"booked: {args['to']}", permission=True)
        except DeniedError as error:
            trip = f"DeniedError: {error}"
        seat = await work.ask("Which seat?", ["window", "aisle"])
        await work.usage("script", input=100, output=10, cost=0.5)
        await work.text(f"{trip}, {seat}.")

    async def handle(work: AsyncWork) -> None:
        nonlocal long_stories
        prompt = work.claimed["prompt"]
        if "long story" in prompt:
            long_stories += 1
            await write_story(work)
        elif "cancel" in prompt:
            await wait_for_cancel(work)
        elif "card" in prompt:
            await work.text(f"On {(await work.ask_card('Trip', {'to': 'Oslo'}))['day']}.")
        elif "steer" in prompt:
            await work.text("Waiting")
            while not work.steers():
                await asyncio.sleep(0.01)
            message = work.steers()[0]
            say(steered=message.text)
            await work.steered(message.run_id)
            await work.text("And done.")
        elif "fail" in prompt:
            raise RuntimeError("no trains to Oslo")
        elif "fault" in prompt:
            raise TypeError("secret words of a fault")
        else:
            await book(work)

    serving = asyncio.create_task(shoal.serve_agent(agent, handle, on_error=lambda error: say(failed=str(error))))
    ended = asyncio.create_task(input_ends())
    await asyncio.wait([serving, ended], return_when=asyncio.FIRST_COMPLETED)
    if long_stories:
        enough.set()
        await serving
    serving.cancel()
    await asyncio.wait([serving])
    say(served=True)


async def inbox(shoal: AsyncShoal) -> None:
    async for item in shoal.inbox():
        say(space=item["space"]["id"], texts=[text_of(m) for m in item["messages"]])
        await shoal.send(item["space"]["id"], "I read you.", mentions=[item["messages"][0]["entityId"]])


async def tools(shoal: AsyncShoal) -> None:
    async def trip(call: ToolCall) -> object:
        say(called=call.args["to"])
        if "wait" in rest:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                say(ended="aborted")
                raise
        if "fail" in rest:
            raise RuntimeError("no calendar")
        return {"day": "Friday"}

    await shoal.serve_tools({"Trip": trip}, mine="mine" in rest, on_error=lambda error: None)


async def refusals(shoal: AsyncShoal, space: str, pending: str) -> None:
    async with AsyncShoal(url, "wrong") as wrong, AsyncShoal("http://127.0.0.1:9", key, retry_for=-1) as silent:

        async def nothing(work: AsyncWork) -> None:
            raise AssertionError(work)

        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "wrongKey": lambda: wrong.send("welcome", "Hello"),
            "wrongKeyStream": lambda: wrong.follow().__anext__(),
            "strangersSpace": lambda: shoal.send(space, "Hello"),
            "strangersStream": lambda: shoal.follow(space=space).__anext__(),
            "strangersMessages": lambda: shoal.messages(space),
            "unknownAgent": lambda: shoal.serve_agent("nobody", nothing),
            "tooLarge": lambda: shoal.send("welcome", "x" * 300_000),
            "invalid": lambda: shoal.api.create_space({"id": "No!", "name": ""}),
            "first": lambda: shoal.answer(pending, {"approved": True}),
            "again": lambda: shoal.answer(pending, {"approved": True}),
            "different": lambda: shoal.answer(pending, {"approved": False}),
            "silent": silent.caller,
            "unknownPath": lambda: shoal.api.call("GET", "/v1/of-another-server"),
        }
        say(refused={name: await refusal(call) for name, call in calls.items()})


async def main() -> None:
    async with AsyncShoal(url, key) as shoal:
        if task == "watch":
            await watch(rest[0], rest[1:])
        elif task == "serve":
            await serve(shoal, rest[0])
        elif task == "send":
            message, answer = await shoal.send("welcome", rest[0], mentions=[rest[1]], wait=20)
            say(asked=text_of(message), answer=text_of(answer), **{"from": answer["entityId"]})
        elif task == "inbox":
            await inbox(shoal)
        elif task == "tools":
            await tools(shoal)
        elif task == "refusals":
            await refusals(shoal, rest[0], rest[1])


asyncio.run(main())
