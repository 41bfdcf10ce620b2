"""Runs of pages one after the other when many visitors change something at once.

Python computes one thing at a time, so twenty runs side by side all end late, and a run that is not over when its
visitor makes the next change is thrown away: on a busy server nobody would ever see a picture. In a queue each run is
short, and one that is overtaken while it waits costs nothing and leaves its place to the one that overtook it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass

PLACES = 2  # one long computation then holds nobody up
# Seconds that a run may hold its place. To let those go that have waited long would start all of them at once, each
# too slow to end before its visitor's next change: the crowd would never come out of it.
PATIENCE = 1.0
STEP = 0.01  # seconds between two looks at those ahead


@dataclass(eq=False)
class _Ticket:
    visit: Hashable
    run: threading.Thread
    waiting: bool = True
    since: float = 0.0  # when its turn came


class Turns:
    """Whose turn it is. Streamlit starts a thread for every run, so a turn is over when its thread has ended."""

    def __init__(self, places: int = PLACES, patience: float = PATIENCE) -> None:
        self._places, self._patience = places, patience
        self._moved = threading.Condition()
        self._queue: list[_Ticket] = []

    def take(self, visit: Hashable) -> None:
        """Wait until fewer than `places` of those who came before wait or hold a place, or another run of this visit
        has taken this one's over."""
        me = threading.current_thread()
        with self._moved:
            self._queue = [t for t in self._queue if t.run.is_alive() and t.run is not me]
            ticket = next((t for t in self._queue if t.visit == visit and t.waiting), None)
            if ticket is None:
                ticket = _Ticket(visit, me)
                self._queue.append(ticket)
            ticket.run = me
            self._moved.notify_all()
            while not self._served(ticket, me):
                # Nobody says when a thread has ended. The first in line looks, and tells the others when it goes:
                # twenty that all look would keep a busy interpreter from its work.
                first = next(t for t in self._queue if t.waiting) is ticket
                self._moved.wait(STEP if first else self._patience)
            self._moved.notify_all()

    def _served(self, ticket: _Ticket, me: threading.Thread) -> bool:
        if ticket.run is not me:
            return True
        now = time.monotonic()
        ahead = [t for t in self._queue[: self._queue.index(ticket)] if t.run.is_alive()]
        if sum(t.waiting or now - t.since < self._patience for t in ahead) < self._places:
            ticket.waiting, ticket.since = False, now
        return not ticket.waiting
