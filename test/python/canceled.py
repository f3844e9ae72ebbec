"""What canceled tasks leave: `python3 canceled.py URL KEY`. The key is that of the remote agent clerk, which has a run.
Prints the tasks, threads and connections that exist while everything waits, and after all of it was canceled.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from shoal import AsyncShoal, AsyncStream, AsyncWork

T = TypeVar("T")


def sockets() -> int:
    return sum(os.readlink(file).startswith("socket:") for file in Path("/proc/self/fd").iterdir() if file.is_symlink())


async def first(stream: AsyncStream[T], ready: asyncio.Event) -> None:
    async for _ in stream:
        ready.set()
    raise AssertionError("the stream ended")


async def settled() -> None:
    """Lets the loop close the generators within httpx, one after the other."""
    deadline = asyncio.get_running_loop().time() + 10
    while len(asyncio.all_tasks()) > 1 and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.01)


async def main() -> None:
    quiet = sockets()  # of the loop

    def count() -> dict[str, int]:
        return {"tasks": len(asyncio.all_tasks()), "threads": threading.active_count(), "sockets": sockets() - quiet}

    async with AsyncShoal(sys.argv[1], sys.argv[2]) as shoal:
        ready = [asyncio.Event() for _ in range(4)]

        async def handle(work: AsyncWork) -> None:
            await work.text("Working")
            ready[3].set()
            await work.ask("Which seat?")

        posted = (await shoal.send("welcome", "Is anybody there?", mentions=["operator"]))["id"]
        forever: list[Awaitable[object]] = [
            first(shoal.follow(space="welcome"), ready[0]),
            first(shoal.follow(), ready[1]),
            first(shoal.watch("welcome"), ready[2]),
            shoal.serve_agent("clerk", handle),
            shoal.wait(timeout=3600),
            shoal.send("welcome", f"About {posted}", mentions=["operator"], wait=3600),
        ]
        tasks = [asyncio.ensure_future(call) for call in forever]
        for event in ready:
            await event.wait()
        while len(await shoal.messages("welcome")) < 4:
            await asyncio.sleep(0.01)  # until the last one was sent
        waiting = count()
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        canceled = count()
        iterated = shoal.follow()
        async for _ in iterated:
            break
        await iterated.aclose()
        await settled()
        left = count()
    await settled()
    names = [type(end).__name__ for end in ends]
    said = {"waiting": waiting, "canceled": canceled, "left": left, "closed": count(), "ends": names}
    sys.stdout.write(json.dumps(said) + "\n")


asyncio.run(main())
