"""What a program reports about a run, and how a run ends for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from ._errors import AgentError


class WorkLine(TypedDict, total=False):
    """What a line may say; its number is set. docs/remote-agents.md describes the fields."""

    type: str
    delta: str
    spaceId: str
    mention: str
    end: bool
    callId: str
    tool: str
    kind: str
    title: str
    args: Any
    state: str
    output: str
    wait: bool
    options: list[str]
    model: str
    tokens: dict[str, int]
    cost: float
    stop: str
    code: str
    text: str
    runId: str
    fixedArgs: bool


@dataclass(frozen=True)
class Steer:
    """A message that has arrived while the run is in progress, of an agent with loop.onNewMessage: steer."""

    #: The queued run that the message starts if this one does not take it in.
    run_id: str
    message_id: str
    #: The sender.
    by: str
    #: What the model reads. What others wrote in it is between tags.
    text: str


@dataclass(frozen=True)
class Verdict:
    """The decision about a permission."""

    approved: bool
    #: What a person wrote, or why nobody decided.
    reason: str
    #: The arguments that may be executed. A person may have changed them.
    args: Any
    #: Identifies the tool and the arguments that were approved or denied.
    args_hash: str
    #: Who decided; None if nobody did.
    by: str | None


OnError = Callable[[BaseException], None]

# Errors that say that the program has a fault. They are its author's business: members do not read their words.
_FAULTS = (
    TypeError,
    AttributeError,
    NameError,
    LookupError,
    AssertionError,
    ArithmeticError,
    ImportError,
    SyntaxError,
    RecursionError,
    NotImplementedError,
)
_MAX_FAILURE = 1000


def failed_line(error: BaseException) -> WorkLine:
    """The line that fails a run."""
    text = "The program has a fault." if isinstance(error, _FAULTS) else shortened(str(error), _MAX_FAILURE)
    code = error.code if isinstance(error, AgentError) else "program_failed"
    return {"type": "failed", "code": code, "text": text or "The program failed."}


def shortened(text: str, most: int) -> str:
    """The text, cut at the end of a character if it has more bytes than `most`."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= most else encoded[: most - 3].decode("utf-8", "ignore") + "…"


def without_none(**fields: Any) -> Any:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
