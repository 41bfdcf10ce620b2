"""One long computation in the background of one visit, and how a page shows it: progress, Stop, and the rows so far.

The thread fills a `Progress`, without Streamlit; `Jobs` outlast a switch of pages, and end at the latest when the
memory of a closed visit is freed.
"""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.common import show

# Two audits at a time in the whole server, so that the pages stay quick for all visitors; beside them two answers, each
# of a few seconds.
AUDITS, ANSWERS = threading.BoundedSemaphore(2), threading.BoundedSemaphore(2)
_LAST_SECONDS = 5.0  # that all jobs together have at the end of the process
Steps = Iterator[dict[str, Any] | None]  # the result of each step; None where it has none yet


@dataclass
class Progress:
    """What the thread writes and the page reads; ``rows`` only grows: a copy is a table."""

    total: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    done: int = 0
    state: str = "waiting"  # running, finished, stopped, failed
    problem: str = ""

    @property
    def alive(self) -> bool:
        """Whether the job waits or runs."""
        return self.state in ("waiting", "running")


class Job:
    """A computation of ``total`` steps in a thread of its own.

    ``steps`` is called with an event; once that is set, the result is no longer wanted. ``places``: how many jobs of
    its kind run at a time.
    """

    def __init__(self, steps: Callable[[threading.Event], Steps], total: int, places: threading.Semaphore) -> None:
        self.progress = Progress(total)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=_work, args=(steps, self.progress, self._stop, places), daemon=True, name="job"
        )
        # The thread holds no reference to the job, so the job is freed with the visit, and this stops the thread.
        weakref.finalize(self, self._stop.set)
        self._thread.start()
        _JOBS.add(self)

    def stop(self) -> None:
        """Stop after the step that is being computed; what is finished stays."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; return True when the job has ended."""
        self._thread.join(seconds)
        return not self.progress.alive


_JOBS = weakref.WeakSet[Job]()


@atexit.register
def _stop_all() -> None:
    """Stop the jobs and let them end: a thread that Python kills inside a C++ library aborts the process."""
    for job in tuple(_JOBS):
        job.stop()
    end = time.monotonic() + _LAST_SECONDS
    for job in tuple(_JOBS):
        job.wait(max(end - time.monotonic(), 0.0))


def _work(
    steps: Callable[[threading.Event], Steps], progress: Progress, stop: threading.Event, places: threading.Semaphore
) -> None:
    """Compute the steps, once a place is free, until they are finished or the job is stopped."""
    while not places.acquire(timeout=0.2):
        if stop.is_set():
            progress.state = "stopped"
            return
    try:
        progress.state = "running"
        for row in steps(stop):
            if row is not None:
                progress.rows.append(row)
            progress.done += 1
            if stop.is_set():
                break
        progress.state = "stopped" if stop.is_set() and progress.done < progress.total else "finished"
    except (ValueError, TypeError, MemoryError) as problem:
        progress.problem = str(problem) or "There was not enough memory. Use fewer rows or columns."
        progress.state = "failed"
    except Exception:
        progress.problem = "This hit a defect of the program; the server's terminal has the details."
        progress.state = "failed"
        raise
    finally:
        places.release()


# --- the jobs of a page, on the page ------------------------------------------------------------------------


@dataclass(frozen=True)
class Jobs:
    """The jobs of one page in this visit, newest last, by their request; at most one job runs."""

    key: str
    places: threading.Semaphore
    capacity: int = 8

    def all(self) -> dict[Any, Job]:
        """Return the jobs by what was asked for."""
        return st.session_state.setdefault(self.key, {})

    def find(self, request: Any) -> Job | None:
        """Return the job of this request, or None."""
        return self.all().get(request)

    def start(self, request: Any, steps: Callable[[threading.Event], Steps], total: int, *, wait: float = 0.0) -> Job:
        """Start a new job in place of the one that may be running, and wait some seconds for a first picture."""
        jobs = self.all()
        for other in jobs.values():
            other.stop()
        job = jobs[request] = Job(steps, total, self.places)
        while len(jobs) > self.capacity:
            jobs.pop(next(iter(jobs)))
        job.wait(wait)
        return job

    def watch(self, request: Any, paint: Callable[[Job], None], *, every: float) -> None:
        """Call ``paint`` in a fragment every so many seconds; run the whole page when the job ends or is replaced."""
        job = self.all()[request]
        alive = job.progress.alive
        st.fragment(self._look, run_every=every if alive else None)(request, paint, job, alive)

    def _look(self, request: Any, paint: Callable[[Job], None], job: Job, was_alive: bool) -> None:
        """Paint the job, or run the whole page again when the job has ended or was replaced."""
        if self.find(request) is not job or (was_alive and not job.progress.alive):
            st.rerun()
        paint(job)


def status(job: Job, unit: str, key: str) -> None:
    """Show progress, in steps of a name, and Stop while the job runs, then its problem if it failed."""
    progress = job.progress
    if progress.alive:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(
            min(1.0, progress.done / max(progress.total, 1)), f"{progress.done:,} of {progress.total:,} {unit}"
        )
        right.button("Stop", on_click=job.stop, key=key, width="stretch")
    elif progress.state == "failed":
        st.error(show.as_text(progress.problem))
