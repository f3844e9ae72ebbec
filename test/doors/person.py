"""A person at the Python client, in one space of a session: `python3 person.py URL KEY SESSION SPACE`. The orders are
those of person.ts.
"""

from __future__ import annotations

import json
import sys

from shoal import Shoal

url, key, session, space = sys.argv[1:]


def play(shoal: Shoal, ask: str | None = None, answers: list[object] | None = None) -> dict[str, object]:
    if ask is not None:
        return {"asked": shoal.send(space, ask, mentions=["shop-agent"])["id"]}
    if answers is not None:
        waiting = zip(shoal.pending(space=space), answers, strict=True)
        return {"answered": [shoal.answer(action["id"], {"result": result})["toolName"] for action, result in waiting]}
    with shoal.watch(space) as messages:
        for message in messages:
            if message["entityId"] == "shop-agent" and message["status"] != "streaming":
                return {"texts": [part["text"] for part in message["parts"] if part["type"] == "text"]}
    raise RuntimeError("The stream has ended.")


with Shoal(url, key, session=session) as client:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(play(client, **json.loads(line))) + "\n")
        sys.stdout.flush()
