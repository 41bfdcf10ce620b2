"""One long computation in the background of one visit, and how a page shows it: progress, Stop, and what there is.

The thread knows nothing of Streamlit: it fills a `Progress`, at which the page looks. `Jobs` keeps the jobs of one page
over a page switch; when the visit ends, they end with it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.shell import show
from privcov import engine
from privcov.sweeps.cells import Cell
from privcov.sweeps.estimates import in_words

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


# --- the jobs of a page, on the page ------------------------------------------------------------------------


@dataclass(frozen=True)
class Jobs:
    """The jobs of one page in this visit, newest last; at most one of them runs.

    key: theirs in the session. kept: how many stay. Each is kept under what was asked for. Where that is a tuple that
    begins with a study on a visitor's file, `visitor_files.forget_results` takes the job away with the file.
    """

    key: str
    kept: int = 8

    def all(self) -> dict[Any, Job]:
        """By what was asked for."""
        return st.session_state.setdefault(self.key, {})

    def find(self, asked: Any) -> Job | None:
        """The job for it, None where it was not started."""
        return self.all().get(asked)

    def start(
        self, asked: Any, cells: Callable[[threading.Event], Iterator[Cell]], total: int, *, wait: float = 0.0
    ) -> Job:
        """A new job in place of the one that may be running. cells: as for `Job`, from the event that stops them.

        wait: seconds that a first picture is worth.
        """
        kept = self.all()
        for other in kept.values():
            other.stop()
        stop = threading.Event()
        job = kept[asked] = Job(lambda: cells(stop), total, stop)
        while len(kept) > self.kept:
            kept.pop(next(iter(kept)))
        job.wait(wait)
        return job

    def watch(self, asked: Any, paint: Callable[[Job], None], *, every: float) -> None:
        """Call ``paint`` in a fragment, every so many seconds while the job runs. The whole page runs again when it has
        ended, so that the clock of the fragment stops, and when another job has taken its place."""
        job = self.all()[asked]
        alive = job.progress.alive
        st.fragment(self._look, run_every=every if alive else None)(asked, paint, job, alive)

    def _look(self, asked: Any, paint: Callable[[Job], None], job: Job, was_alive: bool) -> None:
        if self.find(asked) is not job or (was_alive and not job.progress.alive):
            st.rerun()
        paint(job)


@dataclass(frozen=True)
class Words:
    """What a page calls its work.

    unit: what is counted. stop, again: keys of two buttons, the second with its label. stopped: how the sentence about
    a stopped job goes on, "" for no sentence. waiting: while other visitors' work comes first. pace: after the time to
    go; None where that is not said. stored: whether finished cells may come from the store. width: of the bar, in
    widths of the button beside it.
    """

    unit: str
    stop: str
    stopped: str = ""
    again: tuple[str, str] = ("", "")
    waiting: str = ""
    pace: str | None = None
    stored: bool = False
    width: int = 5


def status(job: Job, words: Words, again: Callable[[], Any] | None = None) -> None:
    """Progress and Stop while the job runs; then how it ended, where it did not end well. again: starts it anew."""
    found = job.progress
    if found.alive:
        left, right = st.columns([words.width, 1], vertical_alignment="center")
        left.progress(min(1.0, found.done / max(found.total, 1)), _so_far(job, words))
        right.button("Stop", on_click=job.stop, key=words.stop, width="stretch")
    elif found.state == "failed":
        st.error(show.as_text(found.problem))
    elif found.state == "stopped" and words.stopped:
        sentence = f"Stopped after {found.done:,} of {found.total:,} {words.unit}{words.stopped}"
        if again is None:
            st.caption(sentence)
            return
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.caption(sentence)
        label, key = words.again
        right.button(label, on_click=again, key=key, width="stretch")


def _so_far(job: Job, words: Words) -> str:
    found, remaining = job.progress, job.remaining()
    if found.state == "waiting" and words.waiting:
        return words.waiting
    text = f"{found.done:,} of {found.total:,} {words.unit}"
    if words.stored:
        text += f": {found.computed:,} computed, {found.reused:,} from the store"
    if words.pace is not None and remaining is not None:
        text += f"; {in_words(remaining)} to go{words.pace}"
    return text
