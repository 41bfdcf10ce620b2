"""Room for the tables that runs of pages work on at the same moment, so that many visits together fit into memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MAX_CELLS = 30_000_000  # of all runs together: 240 MB, and about twice that while a table is drawn and released
PATIENCE = 60.0  # seconds that a table waits
STEP = 0.05  # seconds between two looks at who is left


class CellBudget:
    """The cells of every run; a run leaves when its thread has ended, or begins another run."""

    def __init__(self, most: int = MAX_CELLS, patience: float = PATIENCE) -> None:
        self._most, self._patience = most, patience
        self._moved = threading.Condition()
        self._held: dict[threading.Thread, int] = {}

    def enter(self, cells: int, look: Callable[[], object] = lambda: None) -> None:
        """Wait until the table of this run fits beside those of the others; one that is alone always fits.

        ``look`` raises where this run has been overtaken. Raises ValueError where the others stay too long.
        """
        me, end = threading.current_thread(), time.monotonic() + self._patience
        with self._moved:
            while (other_cells := self._other_cells(me)) and other_cells + cells > self._most:
                if time.monotonic() > end:
                    raise ValueError(
                        f"The tables of other visitors fill this server: together they may have {self._most:,} cells. "
                        "Use fewer rows or columns, or try again in a minute."
                    )
                self._moved.wait(STEP)
                look()
            self._held[me] = max(cells, self._held.get(me, 0))

    def leave(self) -> None:
        """Give back the room of the run before in this thread."""
        with self._moved:
            self._held.pop(threading.current_thread(), None)
            self._moved.notify_all()

    def _other_cells(self, me: threading.Thread) -> int:
        self._held = {run: cells for run, cells in self._held.items() if run.is_alive()}
        return sum(cells for run, cells in self._held.items() if run is not me)


CELL_BUDGET = CellBudget()
