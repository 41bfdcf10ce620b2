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
PATIENCE = 2.0  # seconds; no run waits longer, whatever those ahead are doing
STEP = 0.01  # seconds between two looks at those ahead


@dataclass(eq=False)
class _Ticket:
    visit: Hashable
    run: threading.Thread
    waiting: bool = True


class Turns:
    """Whose turn it is. Streamlit starts a thread for every run, so a turn is over when its thread has ended."""

    def __init__(self, places: int = PLACES, patience: float = PATIENCE) -> None:
        self._places, self._patience = places, patience
        self._moved = threading.Condition()
        self._queue: list[_Ticket] = []

    def take(self, visit: Hashable) -> None:
        """Wait until fewer than `places` of those who came before are still there, or another run of this visit has
        taken the place over."""
        me, end = threading.current_thread(), time.monotonic() + self._patience
        with self._moved:
            self._queue = [t for t in self._queue if t.run.is_alive() and t.run is not me]
            ticket = next((t for t in self._queue if t.visit == visit and t.waiting), None)
            if ticket is None:
                ticket = _Ticket(visit, me)
                self._queue.append(ticket)
            ticket.run = me
            self._moved.notify_all()
            while not self._served(ticket, me, late=time.monotonic() > end):
                # Nobody says when a thread has ended. The first in line looks, and tells the others when it goes:
                # twenty that all look would keep a busy interpreter from its work.
                first = next(t for t in self._queue if t.waiting) is ticket
                self._moved.wait(STEP if first else max(STEP, end - time.monotonic()))
            self._moved.notify_all()

    def _served(self, ticket: _Ticket, me: threading.Thread, *, late: bool) -> bool:
        if ticket.run is not me:
            return True
        ahead = self._queue[: self._queue.index(ticket)]
        if late or sum(t.run.is_alive() for t in ahead) < self._places:
            ticket.waiting = False
        return not ticket.waiting
