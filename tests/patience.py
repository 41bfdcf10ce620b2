"""How long tests wait: as long as it takes on a quiet machine, times how much slower this one is just now.

A wait ends when its state is there, so patience costs nothing where all is well. PATIENCE=5 in the environment is a
factor to be used instead of the measured one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LOOPS = 400_000
QUIET_SECONDS = 0.015  # of the loops below, on a machine with nothing else to do
FRESH_SECONDS = 10.0  # for which one measurement is good
LEAST = 2.0  # a machine may become busy right after it was measured

_measured: list[float] = []  # when, and the factor


def slowness() -> float:
    """How many times longer than on a quiet machine a wait may take; at least ``LEAST``."""
    if chosen := os.environ.get("PATIENCE"):
        return float(chosen)
    if not _measured or time.monotonic() - _measured[0] > FRESH_SECONDS:
        begun = time.monotonic()
        sum(range(LOOPS)), [None for _ in range(LOOPS)]
        computed = (time.monotonic() - begun) / QUIET_SECONDS
        queue = os.getloadavg()[0] / (os.cpu_count() or 1)  # slower to rise, and blind to what has just begun
        _measured[:] = [time.monotonic(), max(LEAST, LEAST * computed, LEAST * queue)]
    return _measured[1]


def patient(seconds: float) -> float:
    """The longest wait here for what is over within ``seconds`` on a quiet machine."""
    return seconds * slowness()


def until(ready: Callable[[], T], seconds: float, *, every: float = 0.02, what: str = "") -> T:
    """Wait for something true and return it; an AssertionError where it does not come. The longest wait grows with the
    machine's slowness while it waits."""
    begun = time.monotonic()
    while not (found := ready()):
        assert time.monotonic() - begun < patient(seconds), f"not within {patient(seconds):.0f} s: {what or ready}"
        time.sleep(every)
    return found
