"""Names for what several models have in common."""

from __future__ import annotations

from typing import TypeAlias, Union

from .models import (
    DeliveryData,
    DeltaData,
    EntityData,
    MemberData,
    Message,
    MessageData,
    PartResetData,
    PendingData,
    RunData,
    RunSnapshotData,
    SnapshotData,
    SnapshotEndData,
    SpaceData,
    SpaceDeletedData,
    StepData,
    TextData,
    ToolInputData,
    ToolOutputData,
)

ServerEvent: TypeAlias = Union[
    SnapshotData,
    SnapshotEndData,
    RunSnapshotData,
    MessageData,
    TextData,
    DeltaData,
    ToolInputData,
    ToolOutputData,
    PartResetData,
    RunData,
    StepData,
    PendingData,
    MemberData,
    SpaceData,
    SpaceDeletedData,
    DeliveryData,
    EntityData,
]
"""An event of a stream; its `type` says which."""


def text_of(message: Message) -> str:
    """The text of a message: its text parts, joined by empty lines."""
    return "\n\n".join(part.get("text", "") for part in message["parts"] if part["type"] == "text")
