"""One long computation in the background of one visit, and how a page shows it: progress, Stop, and the rows so far.

The thread fills a `Progress`, without Streamlit; `Jobs` outlast a switch of pages, and end at the latest when the
memory of a closed visit is freed.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.common import show
from pages.common.room import Room
from privcov.core import parallel
from privcov.studies.cells import Cell
from privcov.studies.estimates import in_words

# Two sweeps at a time in the whole server, so that the pages stay quick for all visitors; beside them two answers, each
# of a few seconds.
_SWEEPS, ANSWERS = threading.BoundedSemaphore(2), threading.BoundedSemaphore(2)
# Large tables of all sweeps fit into this, and are drawn in this process alone: each worker would draw its own.
_ROOM = Room(20_000_000, patience=math.inf)
LARGE = 2_000_000  # cells


@dataclass
class Progress:
    """What the thread writes and the page reads; ``rows`` only grows, and is in order at the end: a copy is a table."""

    total: int
    rows: list = field(default_factory=list)
    computed: int = 0
    reused: int = 0
    state: str = "waiting"  # running, finished, stopped, failed
    problem: str = ""
    # Times at which the last cells were computed, because a sweep slows down at its large points.
    recent: deque = field(default_factory=lambda: deque(maxlen=80))

    @property
    def done(self) -> int:
        """Number of finished cells."""
        return self.computed + self.reused

    @property
    def alive(self) -> bool:
        """Whether the job waits or runs."""
        return self.state in ("waiting", "running")


class Job:
    """A computation in a thread of its own, which calls ``cells`` for the iterator of ``total`` cells.

    The iterator may watch the event ``stop`` itself, so that it need not finish what other processes are computing.
    ``size``: rows x columns of its largest table. ``places``: how many of its kind run at a time.
    """

    def __init__(
        self,
        cells: Callable[[], Iterator[Cell]],
        total: int,
        stop: threading.Event | None = None,
        size: int = 0,
        places: threading.Semaphore = _SWEEPS,
    ) -> None:
        self.progress = Progress(total)
        self._stop = threading.Event() if stop is None else stop
        thread = threading.Thread(
            target=_work, args=(cells, self.progress, self._stop, size, places), daemon=True, name="sweep"
        )
        self._thread = thread
        # The thread holds no reference to the job, so the job is freed with the visit, and this stops the thread.
        weakref.finalize(self, self._stop.set)
        thread.start()

    def stop(self) -> None:
        """Stop at once, or after the method run that this process is computing; what is finished stays."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; return True when the job has ended."""
        self._thread.join(seconds)
        return not self.progress.alive

    def remaining(self) -> float | None:
        """Return the seconds to go at the present pace; None before there is one."""
        progress, recent = self.progress, list(self.progress.recent)
        if progress.state != "running" or len(recent) < 2:
            return None
        return (time.monotonic() - recent[0]) / (len(recent) - 1) * (progress.total - progress.done)


class _Stopped(Exception):
    """A job was stopped while it waited."""


def _work(
    cells: Callable[[], Iterator[Cell]],
    progress: Progress,
    stop: threading.Event,
    size: int,
    places: threading.Semaphore,
) -> None:
    """Compute the cells, when room and a place are free, until they are finished or the job is stopped."""

    def look() -> None:
        if stop.is_set():
            raise _Stopped

    try:
        _ROOM.enter(size if size > LARGE else 0, look)
        while not places.acquire(timeout=0.2):
            look()
    except _Stopped:
        progress.state = "stopped"
        return
    arrived: list[Cell] = []
    try:
        progress.recent.append(time.monotonic())
        progress.state = "running"
        for cell in cells():
            arrived.append(cell)
            progress.rows.extend(cell)
            if cell.reused:
                progress.reused += 1
            else:
                progress.computed += 1
                progress.recent.append(time.monotonic())
            if stop.is_set():
                break
        progress.rows = [row for cell in sorted(arrived, key=lambda cell: cell.place) for row in cell]
        progress.state = "stopped" if stop.is_set() and progress.done < progress.total else "finished"
    except (ValueError, TypeError, MemoryError, parallel.ParallelError) as problem:
        progress.problem = str(problem) or "There was not enough memory. Use fewer rows or columns."
        progress.state = "failed"
    except Exception:
        progress.problem = "This sweep hit a defect of the program; the server's terminal has the details."
        progress.state = "failed"
        raise
    finally:
        places.release()


# --- the jobs of a page, on the page ------------------------------------------------------------------------


def workers(size: int) -> int | None:
    """Return how many worker processes a sweep may have whose largest table has so many cells; None for all."""
    return 1 if size > LARGE else None


@dataclass(frozen=True)
class Jobs:
    """The jobs of one page in this visit, newest last, by what was asked for; at most one of them runs.

    Where that begins with a study on a visitor's file, `visitor_files.forget_results` removes the job with the file.
    """

    key: str
    kept: int = 8
    places: threading.Semaphore = _SWEEPS

    def all(self) -> dict[Any, Job]:
        """Return the jobs by what was asked for."""
        return st.session_state.setdefault(self.key, {})

    def find(self, asked: Any) -> Job | None:
        """Return the job for it, or None where it was not started."""
        return self.all().get(asked)

    def start(
        self,
        asked: Any,
        cells: Callable[[threading.Event], Iterator[Cell]],
        total: int,
        *,
        size: int = 0,
        wait: float = 0.0,
    ) -> Job:
        """Start a new job in place of the one that may be running, and wait some seconds for a first picture."""
        kept = self.all()
        for other in kept.values():
            other.stop()
        stop = threading.Event()
        job = kept[asked] = Job(lambda: cells(stop), total, stop, size, self.places)
        while len(kept) > self.kept:
            kept.pop(next(iter(kept)))
        job.wait(wait)
        return job

    def watch(self, asked: Any, paint: Callable[[Job], None], *, every: float) -> None:
        """Call ``paint`` in a fragment every so many seconds; run the whole page when the job ends or is replaced."""
        job = self.all()[asked]
        alive = job.progress.alive
        st.fragment(self._look, run_every=every if alive else None)(asked, paint, job, alive)

    def _look(self, asked: Any, paint: Callable[[Job], None], job: Job, was_alive: bool) -> None:
        """Paint the job, or run the whole page again when the job has ended or was replaced."""
        if self.find(asked) is not job or (was_alive and not job.progress.alive):
            st.rerun()
        paint(job)


@dataclass(frozen=True)
class Words:
    """What a page calls its work.

    ``unit`` is what is counted. ``stop`` and ``again`` are keys of two buttons, the second with its label. ``stopped``
    completes the sentence about a stopped job, "" for no sentence. ``waiting`` is shown while other visitors' work
    comes first. ``pace`` follows the time to go; None where that is not shown. ``stored`` says whether finished cells
    may come from the store. ``width`` is that of the bar, in widths of the button beside it.
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
    """Show progress and Stop while the job runs, then how it ended if not well; ``again`` starts it anew."""
    progress = job.progress
    if progress.alive:
        left, right = st.columns([words.width, 1], vertical_alignment="center")
        left.progress(min(1.0, progress.done / max(progress.total, 1)), _so_far(job, words))
        right.button("Stop", on_click=job.stop, key=words.stop, width="stretch")
    elif progress.state == "failed":
        st.error(show.as_text(progress.problem))
    elif progress.state == "stopped" and words.stopped:
        sentence = f"Stopped after {progress.done:,} of {progress.total:,} {words.unit}{words.stopped}"
        if again is None:
            st.caption(sentence)
            return
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.caption(sentence)
        label, key = words.again
        right.button(label, on_click=again, key=key, width="stretch")


def _so_far(job: Job, words: Words) -> str:
    """Return the progress in words."""
    progress, remaining = job.progress, job.remaining()
    if progress.state == "waiting" and words.waiting:
        return words.waiting
    text = f"{progress.done:,} of {progress.total:,} {words.unit}"
    if words.stored:
        text += f": {progress.computed:,} computed, {progress.reused:,} from the store"
    if words.pace is not None and remaining is not None:
        text += f"; {in_words(remaining)} to go{words.pace}"
    return text
