"""Arguments of a tool call while the model writes them."""

from __future__ import annotations

import json
from typing import Any, cast


def complete_members(text: str) -> dict[str, Any]:
    """The members of a JSON object that are complete in a prefix of its text. A value that has begun but not ended is
    left out, so that nothing shown changes later. {} for text that is not an object.
    """
    end = _end_of_last_member(text)
    if end == 0:
        return {}
    try:
        value: object = json.loads(text[:end] + "}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


# The offset of the comma after the last complete member of the outermost object, or of the brace that closes it.
def _end_of_last_member(text: str) -> int:
    depth, end, at = 0, 0, 0
    quoted = False
    while at < len(text):
        c = text[at]
        if quoted:
            if c == "\\":
                at += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "{[":
            depth += 1
        elif c in "}]":
            depth -= 1
            if depth == 0:
                return at
        elif c == "," and depth == 1:
            end = at
        at += 1
    return end
