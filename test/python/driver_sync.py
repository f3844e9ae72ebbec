"""What clienttest lets Shoal do: `python3 driver_sync.py TASK URL KEY …`. Each line of the output is a JSON value."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from shoal import DeniedError, Shoal, ShoalError, ToolCall, Work, text_of

task, url, key, *rest = sys.argv[1:]


def say(**value: object) -> None:
    os.write(1, json.dumps(value).encode() + b"\n")  # threads share it, and print may mix their lines


def refusal(call: Callable[[], object]) -> list[object] | None:
    """The error of a call as its class, code and status; None for a call that succeeded."""
    try:
        call()
    except ShoalError as error:
        return [type(error).__name__, error.code, error.status]
    return None


def watch(sender: str, addresses: list[str]) -> None:
    """Reads the first message of an agent to its end, through each of several addresses."""

    def read(number: int, address: str) -> str:
        before = ""
        with Shoal(address, key) as shoal, shoal.watch("welcome") as messages:
            for message in messages:
                if message["entityId"] != sender:
                    continue
                text = text_of(message)
                if not text.startswith(before):
                    say(wrong=f"{text[-40:]!r} follows {before[-40:]!r}")
                if before == "" and text != "":
                    say(reader=number, read=len(text))
                before = text
                if message["status"] != "streaming":
                    return text
        return ""

    with ThreadPoolExecutor(len(addresses)) as pool:
        say(texts=list(pool.map(read, range(1, len(addresses) + 1), addresses)))


def serve(shoal: Shoal, agent: str) -> None:
    """Serves an agent that does what the text of the trigger says, until the input ends. A long story is as long as
    that.
    """
    enough = threading.Event()

    def write_story(work: Work) -> None:
        written = 0
        while not enough.is_set():
            work.text(f"{written} größer 🐟 ")
            written += 1
            time.sleep(0.01)
        say(written=written)

    def wait_for_cancel(work: Work) -> None:
        work.text("Working")
        ended = work.wait_ended(3600)
        say(ended=ended.code if ended else "")
        try:
            work.text("more")
        except ShoalError as error:
            say(after=error.code)

    def book(work: Work) -> None:
        work.text("One moment. ")
        work.card("TripCard", {"to": "Oslo"})
        try:
            trip = work.call("book", {"to": "Oslo"}, lambda args: f"booked: {args['to']}", permission=True)
        except DeniedError as error:
            trip = f"DeniedError: {error}"
        seat = work.ask("Which seat?", ["window", "aisle"])
        work.usage("script", input=100, output=10, cost=0.5)
        work.text(f"{trip}, {seat}.")

    def handle(work: Work) -> None:
        prompt = work.claimed["prompt"]
        if "long story" in prompt:
            stories.set()
            write_story(work)
        elif "cancel" in prompt:
            wait_for_cancel(work)
        elif "card" in prompt:
            work.text(f"On {work.ask_card('Trip', {'to': 'Oslo'})['day']}.")
        elif "steer" in prompt:
            work.text("Waiting")
            while not work.steers():
                time.sleep(0.01)
            message = work.steers()[0]
            say(steered=message.text)
            work.steered(message.run_id)
            work.text("And done.")
        elif "fail" in prompt:
            raise RuntimeError("no trains to Oslo")
        elif "fault" in prompt:
            raise TypeError("secret words of a fault")
        else:
            book(work)

    stories = threading.Event()

    def stop_at_the_end() -> None:
        sys.stdin.read()
        enough.set()
        if not stories.is_set():
            shoal.close()

    threading.Thread(target=stop_at_the_end, daemon=True).start()
    shoal.serve_agent(agent, handle, on_error=lambda error: say(failed=str(error)))
    say(served=True)


def inbox(shoal: Shoal) -> None:
    for item in shoal.inbox():
        say(space=item["space"]["id"], texts=[text_of(m) for m in item["messages"]])
        shoal.send(item["space"]["id"], "I read you.", mentions=[item["messages"][0]["entityId"]])


def tools(shoal: Shoal) -> None:
    def trip(call: ToolCall) -> object:
        say(called=call.args["to"])
        if "wait" in rest:
            while not call.ended:
                time.sleep(0.05)
            say(ended="aborted")
        if "fail" in rest:
            raise RuntimeError("no calendar")
        return {"day": "Friday"}

    shoal.serve_tools({"Trip": trip}, mine="mine" in rest, on_error=lambda error: None)


def refusals(shoal: Shoal, space: str, pending: str) -> None:
    with Shoal(url, "wrong") as wrong, Shoal("http://127.0.0.1:9", key, retry_for=-1) as silent:

        def nothing(work: Work) -> None:
            raise AssertionError(work)

        calls: dict[str, Callable[[], object]] = {
            "wrongKey": lambda: wrong.send("welcome", "Hello"),
            "wrongKeyStream": lambda: next(wrong.follow()),
            "strangersSpace": lambda: shoal.send(space, "Hello"),
            "strangersStream": lambda: next(shoal.follow(space=space)),
            "strangersMessages": lambda: shoal.messages(space),
            "unknownAgent": lambda: shoal.serve_agent("nobody", nothing),
            "tooLarge": lambda: shoal.send("welcome", "x" * 300_000),
            "invalid": lambda: shoal.api.create_space({"id": "No!", "name": ""}),
            "first": lambda: shoal.answer(pending, {"approved": True}),
            "again": lambda: shoal.answer(pending, {"approved": True}),
            "different": lambda: shoal.answer(pending, {"approved": False}),
            "silent": silent.caller,
            "unknownPath": lambda: shoal.api.call("GET", "/v1/of-another-server"),
        }
        say(refused={name: refusal(call) for name, call in calls.items()})


def skew(shoal: Shoal) -> None:
    texts: list[str] = []

    def said(call: Callable[[], object]) -> list[object] | None:
        try:
            call()
        except ShoalError as error:
            texts.append(f"{error.code}: {error.message}")
            return [type(error).__name__, error.code, error.status]
        return None

    spaces = "/v1/sessions/default/spaces"
    refused = {
        "path": said(lambda: shoal.api.call("GET", "/v1/of-another-server")),
        "method": said(lambda: shoal.api.call("DELETE", "/v1/me")),
        "field": said(lambda: shoal.api.call("POST", spaces, body={"name": "New", "colour": "red"})),
        "value": said(lambda: shoal.api.call("POST", spaces, body={"name": ""})),
        "known": said(lambda: shoal.send("welcome", "Hello")),
    }
    say(refused=refused, texts=texts)


def main() -> None:
    with Shoal(url, key) as shoal:
        if task == "watch":
            watch(rest[0], rest[1:])
        elif task == "serve":
            serve(shoal, rest[0])
        elif task == "send":
            message, answer = shoal.send("welcome", rest[0], mentions=[rest[1]], wait=20)
            say(asked=text_of(message), answer=text_of(answer), **{"from": answer["entityId"]})
        elif task == "inbox":
            inbox(shoal)
        elif task == "skew":
            skew(shoal)
        elif task == "tools":
            tools(shoal)
        elif task == "refusals":
            refusals(shoal, rest[0], rest[1])


main()
