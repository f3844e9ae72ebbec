"""Errors of the server (RFC 9457), and the errors of a server that does not respond."""

from __future__ import annotations

from typing import Any, cast

import httpx

from .models import FieldError


class ShoalError(Exception):
    """The error of a call: a message for people and a `code` for programs. Its subclasses are the kinds of codes."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        fields: list[FieldError] | None = None,
        request_id: str = "",
        retry_after: float = 0,
    ) -> None:
        super().__init__(message)
        #: The HTTP status; 0 if no response arrived.
        self.status = status
        #: The error code of the API; `unreachable` if no response arrived.
        self.code = code
        #: What happened, and what to do.
        self.message = message
        #: The invalid fields, located as body.a.b or query.a.
        self.fields = fields or []
        #: The id of the request in the server's log; empty if no response arrived.
        self.request_id = request_id
        #: How many seconds the server asks to wait before the next call; 0 if it does not say.
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.__dict__)

    def at(self, location: str) -> str | None:
        """The message about one field, such as body.name; None if the field is valid."""
        return next((f["message"] for f in self.fields if f["location"] == location), None)


def _restored(kind: type[ShoalError], state: dict[str, Any]) -> ShoalError:
    error = kind.__new__(kind, state["message"])
    error.__dict__.update(state)
    return error


class UnreachableError(ShoalError):
    """No response arrived: whether the call had an effect is unknown."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "unreachable", message)


class UnauthenticatedError(ShoalError):
    """The key is missing, wrong, expired or revoked."""


class ForbiddenError(ShoalError):
    """The caller may not do this."""


class NotFoundError(ShoalError):
    """It does not exist, or the caller may not see it."""


class ConflictError(ShoalError):
    """The state of what exists does not allow it: somebody was faster, or a space is closed."""


class ExpiredError(ShoalError):
    """It has ended: the run, or the time to answer."""


class InvalidError(ShoalError):
    """The call is wrong; `fields` names what."""


class RateLimitedError(ShoalError):
    """Too many calls; `retry_after` says when to try again."""


class TimedOutError(ShoalError):
    """Nobody has answered in time. The message was posted, unless the error says otherwise."""


class RunFailedError(ShoalError):
    """The run that should have answered has failed, or was canceled."""


class RunEndedError(ExpiredError):
    """The run was canceled, or has ended in another way: stop."""

    def __init__(self) -> None:
        super().__init__(0, "run_ended", "The run has ended.")


class LeaseLostError(ExpiredError):
    """Another program executes the run now: stop. What was not confirmed is not stored."""

    def __init__(self) -> None:
        super().__init__(0, "lease_lost", "The run is executed by another program now.")


class ClosedError(ShoalError):
    """The client was closed, or the agent is not served any more."""

    def __init__(self, message: str = "The client is closed.") -> None:
        super().__init__(0, "closed", message)


class DeniedError(Exception):
    """A person did not approve the call, or nobody did in time."""


class AgentError(Exception):
    """Fails a run with a code, such as provider_unavailable. Members read the message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


# What a proxy may answer without a code.
_CODES = {
    401: "unauthenticated",
    403: "forbidden",
    413: "too_large",
    429: "rate_limited",
    502: "unreachable",
    503: "busy",
    504: "unreachable",
}

_KINDS: dict[int, type[ShoalError]] = {
    400: InvalidError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: ExpiredError,
    413: InvalidError,
    415: InvalidError,
    422: InvalidError,
    429: RateLimitedError,
}


def error_of(response: httpx.Response) -> ShoalError:
    """The error in a response that was read."""
    try:
        parsed: object = response.json()
    except ValueError:
        parsed = None
    body = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    status = response.status_code
    message = body.get("detail") or body.get("title") or f"The server returned status {status}."
    code = body.get("code") or _CODES.get(status, "internal")
    details: dict[str, Any] = {
        "fields": body.get("errors"),
        "request_id": body.get("requestId", ""),
        "retry_after": retry_after(response),
    }
    if code == "unreachable":
        error = UnreachableError(message)
        error.status = status
        error.retry_after = details["retry_after"]
        return error
    return _KINDS.get(status, ShoalError)(status, code, message, **details)


def retry_after(response: httpx.Response) -> float:
    """How many seconds the server asks to wait before the next call; 0 if it does not say."""
    try:
        return max(0.0, float(response.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0


def passes(error: ShoalError) -> bool:
    """Whether an error is about the connection or the state of the server: a later call may succeed."""
    return error.status in (0, 429, 502, 503, 504)
