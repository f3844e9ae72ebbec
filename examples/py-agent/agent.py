"""A program that executes the runs of the remote agent clerk: it streams a text, shows a card, and books a trip after a
person has approved the call.

    shoal agents apply -f clerk.yaml   # with remote: {}
    export SHOAL_URL=http://127.0.0.1:7462
    export SHOAL_KEY=$(shoal keys create --entity clerk --join welcome -q)
    pip install shoal
    python3 agent.py
    shoal send welcome 'Book me a trip to Oslo' -m clerk

It plays the model itself: docs/python.md has agents on the SDKs of model vendors.
"""

import os
import re
import signal

from shoal import DeniedError, Shoal, Work


def answer(work: Work) -> None:
    asked = work.claimed["prompt"].rpartition("<message")[2]
    trip = {"to": "".join(re.findall(r"trip to (\w+)", asked)[:1]) or "Oslo"}
    for word in "(scripted) Here is a trip.".split():
        work.text(f"{word} ")
    work.card("TripCard", trip)
    title = f"Book a trip to {trip['to']}"
    try:
        said = work.call("book", trip, lambda trip: f"booked: {trip['to']}", permission=True, title=title)
    except DeniedError:
        said = "nothing, as it was not approved"
    work.text(f"(scripted) The tool says: {said}.")
    work.usage("scripted", input=12, output=9)


with Shoal(os.environ["SHOAL_URL"], os.environ["SHOAL_KEY"]) as shoal:

    def stop(*_: object) -> None:
        shoal.close()  # gives back what is in progress

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    shoal.serve_agent("clerk", answer)
