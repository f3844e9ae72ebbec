"""Requests to one server, and calls that survive broken connections, limits and restarts of it."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from ._backoff import Backoff
from ._errors import ShoalError, UnreachableError, error_of, retry_after
from ._version import API_VERSION, VERSION

ENTITY_HEADER = "X-Shoal-Entity"
# The version of the API: that of the client in requests, the server's in responses.
VERSION_HEADER = "X-Shoal-Api"

# How many attempts a call makes at least, if it may be repeated.
_ATTEMPTS = 5
_ANSWER_WITHIN = 30.0
_CONNECT_WITHIN = 30.0
LONGEST_RETRY_AFTER = 30.0


@dataclass(frozen=True)
class Request:
    """A request to a path of the server."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes | None = None


def to_json(value: object) -> bytes:
    """JSON in UTF-8. Half characters, which no JSON has, become question marks."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def random_key() -> str:
    """A key that no other call has."""
    return secrets.token_hex(16)


class Transport:
    """Sends requests with the credentials of the caller."""

    def __init__(self, url: str, key: str, entity: str | None, http: httpx.AsyncClient | None) -> None:
        if re.fullmatch(r"https?://[^\s@?#]+", url) is None:
            raise ValueError(f"{url!r} is not the URL of a server; one looks like http://127.0.0.1:7462.")
        if re.search(r"[^!-~]", key):
            raise ValueError("The key holds characters that no key has; it is one word.")
        self.base = url.rstrip("/")
        self._headers = {"User-Agent": f"shoal-python/{VERSION}", VERSION_HEADER: API_VERSION}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        if entity is not None:
            self._headers[ENTITY_HEADER] = entity
        self._own = http is None
        # A stream keeps its connection, so a limit of connections would be one of streams.
        self._http = http or httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))

    async def close(self) -> None:
        """Closes the connections."""
        if self._own:
            await self._http.aclose()

    @asynccontextmanager
    async def stream(self, request: Request, silence: float) -> AsyncGenerator[httpx.Response, None]:
        """The response, to be read while it arrives. Reading fails after that many seconds without data."""
        response = await self._sent(request, httpx.Timeout(silence, connect=_CONNECT_WITHIN))
        try:
            yield response
        finally:
            await response.aclose()

    async def attempt(self, request: Request, within: float = _ANSWER_WITHIN) -> httpx.Response:
        """Makes one attempt, and reads the whole response. Raises UnreachableError if it does not arrive in time."""
        timeout = httpx.Timeout(within, connect=min(within, _CONNECT_WITHIN))
        try:
            response = await self._sent(request, timeout)
            try:
                await response.aread()
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise self.unreachable(error) from error
        return response

    # The response without its body. anyio 3, with which httpx connects, loses a cancellation that comes when the
    # connection is made; therefore that is done by a task that nobody else cancels.
    async def _sent(self, request: Request, timeout: httpx.Timeout) -> httpx.Response:
        headers = {**self._headers, **request.headers}
        if request.content is not None:
            headers.setdefault("Content-Type", "application/json")
        built = self._http.build_request(
            request.method, self.base + request.path, headers=headers, content=request.content, timeout=timeout
        )
        sending = asyncio.create_task(self._http.send(built, stream=True))
        try:
            await asyncio.wait([sending])
        except asyncio.CancelledError:
            while not sending.done():
                sending.cancel()
                await asyncio.wait([sending], timeout=0.1)
            if not sending.cancelled() and sending.exception() is None:
                await sending.result().aclose()
            raise
        return sending.result()

    def unreachable(self, error: httpx.HTTPError) -> UnreachableError:
        """The error of a request without a response."""
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return UnreachableError(f"No server answers at {self.base} ({str(error) or 'timed out'}).")
        if isinstance(error, httpx.TimeoutException):
            return UnreachableError(f"The server at {self.base} did not answer in time.")
        return UnreachableError(f"The connection to {self.base} broke before the response was complete.")

    async def once(self, request: Request, within: float = _ANSWER_WITHIN) -> Any:
        """Makes one attempt. Returns the parsed response, or raises its error."""
        response = await self.attempt(request, within)
        if not response.is_success:
            raise error_of(response)
        return parsed(response)

    async def call(self, request: Request, retry_for: float) -> httpx.Response:
        """Repeats a call: after 429 any, and after a broken connection or a 502, 503 or 504 one that is safe to repeat.
        It tries five times, and for `retry_for` seconds. Posts get an idempotency key, so that what they create is
        created once.
        """
        if request.method == "POST":
            headers = {"Idempotency-Key": random_key(), **request.headers}
            request = Request(request.method, request.path, headers, request.content)
        repeats = request.method != "DELETE" and not request.path.endswith("/import")
        delays = Backoff(0.1, 2)
        began = time.monotonic()
        tries = 0
        while True:
            tries += 1
            try:
                outcome: httpx.Response | ShoalError = await self.attempt(request)
                status = outcome.status_code
                least = retry_after(outcome)
            except UnreachableError as error:
                outcome, status, least = error, 0, 0.0
            again = status == 429 or (repeats and status in (0, 502, 503, 504))
            wait = max(delays.next(), least)
            late = tries >= _ATTEMPTS and time.monotonic() - began + wait > retry_for
            if not again or wait > LONGEST_RETRY_AFTER or late:
                if isinstance(outcome, ShoalError):
                    raise outcome
                if not outcome.is_success:
                    raise error_of(outcome)
                return outcome
            await asyncio.sleep(wait)


def parsed(response: httpx.Response) -> Any:
    """The JSON of a response; None for an empty one."""
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise ShoalError(0, "internal", "The response is not JSON. A proxy may have replaced it.") from None
