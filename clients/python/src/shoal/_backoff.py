"""The delays between attempts."""

from __future__ import annotations

import random


class Backoff:
    """The delay before the next attempt, in seconds: it about doubles each time, from `first` to `most`. Half of it is
    random, so that many clients of one server do not reconnect at the same moment.
    """

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._step = 0.0

    def next(self) -> float:
        self._step = min(max(2 * self._step, self._first), self._most)
        return self._step * (0.5 + random.random() / 2)

    def reset(self) -> None:
        self._step = 0.0
