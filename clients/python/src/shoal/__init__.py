"""The Python client of Shoal, a server in which agents and people talk and work together.

`Shoal` is the client, `AsyncShoal` the same for asyncio. `shoal.models` has the types of the API.
"""

from . import models
from ._client import AsyncShoal
from ._errors import (
    AgentError,
    ClosedError,
    ConflictError,
    DeniedError,
    ExpiredError,
    ForbiddenError,
    InvalidError,
    LeaseLostError,
    NotFoundError,
    RateLimitedError,
    RunEndedError,
    RunFailedError,
    ShoalError,
    TimedOutError,
    UnauthenticatedError,
    UnreachableError,
)
from ._operations import AsyncOperations, Operations
from ._report import OnError, Steer, Verdict, WorkLine
from ._send import Answered
from ._serve import AsyncHandler
from ._stream import AsyncStream
from ._sync import Handler, Shoal, Stream, ToolHandler, Work
from ._tools import AsyncToolHandler, ToolCall
from ._types import ServerEvent, text_of
from ._version import VERSION as __version__
from ._work import AsyncWork

__all__ = [
    "AgentError",
    "Answered",
    "AsyncHandler",
    "AsyncOperations",
    "AsyncShoal",
    "AsyncStream",
    "AsyncToolHandler",
    "AsyncWork",
    "ClosedError",
    "ConflictError",
    "DeniedError",
    "ExpiredError",
    "ForbiddenError",
    "Handler",
    "InvalidError",
    "LeaseLostError",
    "NotFoundError",
    "OnError",
    "Operations",
    "RateLimitedError",
    "RunEndedError",
    "RunFailedError",
    "ServerEvent",
    "Shoal",
    "ShoalError",
    "Steer",
    "Stream",
    "TimedOutError",
    "ToolCall",
    "ToolHandler",
    "UnauthenticatedError",
    "UnreachableError",
    "Verdict",
    "Work",
    "WorkLine",
    "__version__",
    "models",
    "text_of",
]
