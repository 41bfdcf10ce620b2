"""One sweep in the background of one visit: it survives a page switch, shows what it has, and can be stopped.

The thread knows nothing of Streamlit; a page looks at the job and paints. When the visit ends, the job ends with it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from privcov import engine
from privcov.sweeps.cells import Cell

engine.give_way()
# Two sweeps at a time in the whole server: the pages have to stay quick for everybody.
_PLACES = threading.BoundedSemaphore(2)


@dataclass
class Progress:
    """What the thread writes and the page reads. rows only grows, and is in order at the end: a copy is a table."""

    total: int
    rows: list = field(default_factory=list)
    computed: int = 0
    reused: int = 0
    state: str = "waiting"  # running, finished, stopped, failed
    problem: str = ""
    # Moments at which the last cells were computed: a sweep that comes to its large points slows down.
    recent: deque = field(default_factory=lambda: deque(maxlen=80))

    @property
    def done(self) -> int:
        return self.computed + self.reused

    @property
    def alive(self) -> bool:
        return self.state in ("waiting", "running")


class Job:
    """cells: makes the iterator of cells; it is called in the thread. total: how many there will be.

    stop: the event that `cells` may watch itself, so that it need not finish what other processes are computing.
    """

    def __init__(self, cells: Callable[[], Iterator[Cell]], total: int, stop: threading.Event | None = None) -> None:
        self.progress = Progress(total)
        self._stop = threading.Event() if stop is None else stop
        thread = threading.Thread(target=_work, args=(cells, self.progress, self._stop), daemon=True, name="sweep")
        self._thread = thread
        # The thread holds no reference to the job, so a visit that ends lets go of it, and this stops the thread.
        weakref.finalize(self, self._stop.set)
        thread.start()

    def stop(self) -> None:
        """At once, or after the method run that this process is computing; what is finished stays."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; True when the job has ended."""
        self._thread.join(seconds)
        return not self.progress.alive

    def remaining(self) -> float | None:
        """Seconds still to go at the present pace; None before there is one."""
        found, recent = self.progress, list(self.progress.recent)
        if found.state != "running" or len(recent) < 2:
            return None
        return (time.monotonic() - recent[0]) / (len(recent) - 1) * (found.total - found.done)


def _work(cells: Callable[[], Iterator[Cell]], found: Progress, stop: threading.Event) -> None:
    while not _PLACES.acquire(timeout=0.2):
        if stop.is_set():
            found.state = "stopped"
            return
    arrived: list[Cell] = []
    try:
        found.recent.append(time.monotonic())
        found.state = "running"
        for cell in cells():
            arrived.append(cell)
            found.rows.extend(cell)
            if cell.reused:
                found.reused += 1
            else:
                found.computed += 1
                found.recent.append(time.monotonic())
            if stop.is_set():
                break
        found.rows = [row for cell in sorted(arrived, key=lambda cell: cell.place) for row in cell]
        found.state = "stopped" if stop.is_set() and found.done < found.total else "finished"
    except (ValueError, TypeError, MemoryError, engine.EngineError) as problem:
        found.problem = str(problem) or "There was not enough memory. Use fewer rows or columns."
        found.state = "failed"
    except Exception:
        found.problem = "This sweep hit a defect of the program; the server's terminal has the details."
        found.state = "failed"
        raise
    finally:
        _PLACES.release()
