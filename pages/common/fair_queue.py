"""A fair queue for the runs of pages when many visitors change something at once.

Python computes one thing at a time, so twenty runs side by side all end late, and a run that is not over when its
visitor makes the next change is thrown away: on a busy server no visitor would ever see a picture. In a queue each run
is short, and one that is overtaken while it waits costs nothing and leaves its place to the one that overtook it.

Two runs of one visit never go on side by side: both would write to one session, and Streamlit ends with an error where
one of them changes what the other is iterating over. `runner.fastReruns = false` in .streamlit/config.toml makes a
newer run begin in the thread of the older one, once that has stopped. Where Streamlit starts a second thread all the
same, because the older run was stopped and its visit reconnected, the newer one waits here for the older one to end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

PLACES = 2  # so that one long computation does not block the queue
# Seconds that a run may hold its place. Admitting all runs that have waited long would start them at once, each too
# slow to end before its visitor's next change, and the server would never catch up.
MAX_WAIT = 1.0
STEP = 0.01  # seconds between two checks of those ahead


@dataclass(eq=False)
class _Ticket:
    """The entry of one visit in the queue."""

    visit: Hashable
    run: threading.Thread
    waiting: bool = True
    since: float = 0.0  # when its turn came
    before: list[threading.Thread] = field(default_factory=list)  # earlier runs of the visit
    away: bool = False  # its run was overtaken when its turn came, and no newer run has come yet

    @property
    def blocked(self) -> bool:
        """Whether an earlier run of the visit has not ended."""
        return any(run.is_alive() for run in self.before)


class FairQueue:
    """The queue of runs; a turn is over when the run's thread has ended, or begins another run of its visit."""

    def __init__(self, places: int = PLACES, patience: float = MAX_WAIT) -> None:
        self._places, self._patience = places, patience
        self._moved = threading.Condition()
        self._queue: list[_Ticket] = []

    def take(self, visit: Hashable, look: Callable[[], object] = lambda: None) -> None:
        """Wait for the turn of this run.

        The run starts when two things hold: no earlier run of the same visit is left, and fewer than `places` earlier
        runs of other visits wait or compute. It also returns when a later run of the same visit has taken its place.

        ``look`` raises when a later run has overtaken this one. The later run then keeps the place in the queue.
        """
        me = threading.current_thread()
        ticket = self._wait(visit, me)
        try:
            look()
        except BaseException:  # Streamlit ends a run by an exception that is no `Exception`
            with self._moved:
                if ticket.run is me:
                    ticket.waiting = ticket.away = True
                self._moved.notify_all()
            raise

    def _wait(self, visit: Hashable, me: threading.Thread) -> _Ticket:
        """Enter the queue and return the ticket when its turn has come."""
        with self._moved:
            # What this thread ran before is over, also under another name of its visit.
            over = [t for t in self._queue if t.run is me and not (t.waiting and t.visit == visit)]
            self._queue = [t for t in self._queue if t.run.is_alive() and t not in over]
            ticket = next((t for t in self._queue if t.visit == visit and t.waiting), None)
            if ticket is None:
                ticket = _Ticket(visit, me)
                self._queue.append(ticket)
            runs = [*ticket.before, ticket.run, *(t.run for t in self._queue if t.visit == visit)]
            ticket.before = [run for run in runs if run is not me and run.is_alive()]
            ticket.run, ticket.away = me, False
            self._moved.notify_all()
            while not self._can_proceed(ticket, me):
                # The end of a thread is not signalled. Only the first in line checks for it, and notifies the others
                # when it leaves: twenty runs that all check would slow down a busy interpreter.
                in_front = next((t for t in self._queue if t.waiting and not t.blocked and not t.away), None)
                self._moved.wait(STEP if in_front is ticket or ticket.blocked else self._patience)
            self._moved.notify_all()
            return ticket

    def _can_proceed(self, ticket: _Ticket, me: threading.Thread) -> bool:
        """Return whether the turn of this run has come, or another run of its visit has taken its place."""
        if ticket.run is not me:
            return True
        now = time.monotonic()
        ahead = [t for t in self._queue[: self._queue.index(ticket)] if t.run.is_alive()]
        # A run that waits for an earlier run of its own visit does not block the others.
        n_ahead = sum(not t.blocked if t.waiting else now - t.since < self._patience for t in ahead)
        if n_ahead < self._places and not ticket.blocked:
            ticket.waiting, ticket.since = False, now
        return not ticket.waiting
