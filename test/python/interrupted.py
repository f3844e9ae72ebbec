"""What Ctrl-C does to the sync client: `python3 interrupted.py TASK URL KEY`. Says when it waits, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from shoal import Shoal, Work

task, url, key = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)


def say(**value: object) -> None:
    os.write(1, json.dumps(value).encode() + b"\n")


def handle(work: Work) -> None:
    work.text("Working")
    say(pid=os.getpid())
    ended = work.wait_ended()
    say(ended=ended.code if ended else "")


with Shoal(url, key) as shoal:
    try:
        if task == "serve":
            shoal.serve_agent("clerk", handle)
        elif task == "watch":
            for _ in shoal.watch("welcome"):
                say(pid=os.getpid())
        else:
            say(pid=os.getpid())
            shoal.wait(timeout=3600)
    except KeyboardInterrupt:
        say(interrupted=True)
# An interrupt of Thread.start can leave an entry without a thread.
say(threads=[thread.name for thread in threading.enumerate() if thread.ident is not None])
