"""Waits for the inbox of an entity."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from ._backoff import Backoff
from ._errors import ShoalError, passes
from ._transport import LONGEST_RETRY_AFTER, Request, Transport, to_json
from .models import WaitItem, WaitResult

# Proxies often end a request after a minute without data.
_ROUND = 50.0
_GRACE = 15.0
_DAY = 24 * 3600.0


async def waited(transport: Transport, path: str, body: dict[str, Any], timeout: float) -> WaitResult:
    """Waits, in as many requests as necessary. Survives restarts of a server that was reached."""
    began = time.monotonic()
    ends = began + timeout
    delays = Backoff(0.1, 8)
    reached = False
    tries = 0
    while True:
        left = max(0.0, ends - time.monotonic())
        held = min(left, _ROUND)
        started = time.monotonic()
        try:
            sent = Request("POST", path, content=to_json({**body, "timeoutMs": math.ceil(held * 1000)}))
            result: WaitResult = await transport.once(sent, held + _GRACE)
            if not result["timedOut"] or held == left:
                result["timeoutMs"] = round(timeout * 1000)
                return result
            reached, tries = True, 0
            # A round that the server ended early lets another wait of the entity in.
            if time.monotonic() - started > 1:
                delays.reset()
        except ShoalError as error:
            reached = reached or error.status != 0
            tries += 1
            now = time.monotonic()
            late = tries >= 5 and now - began > 10 and (not reached or now >= ends)
            if not passes(error) or late:
                raise
            await asyncio.sleep(min(error.retry_after, LONGEST_RETRY_AFTER))
        await asyncio.sleep(min(delays.next(), max(0.0, ends - time.monotonic())))


async def batches(wait: Callable[[str | None, float], Awaitable[WaitResult]]) -> AsyncGenerator[WaitItem, None]:
    """Unread messages as they come. A result is acknowledged when the next is asked for."""
    ack: str | None = None
    while True:
        result = await wait(ack, _DAY)
        ack = result["cursor"] or ack
        for item in result["items"]:
            yield item
