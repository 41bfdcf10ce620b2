"""What every way of running tasks shares: the error, the batch a worker computes, one BLAS thread."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import threadpool_limits

Result = TypeVar("Result")
Results = Generator[tuple[int, Result], None, None]  # (position, result); closing it drops what has not begun

BATCH_SECONDS = 0.2  # short tasks are sent together, so that the cost of sending them is negligible
MOST_DEATHS = 3
LOOK_SECONDS = 0.2  # how long a request to stop may go unnoticed


class EngineError(RuntimeError):
    """The workers could not do their work; the message says where, what happened and the remedy."""


class _OneBlasThread:
    """One BLAS thread while tasks run: workers would compete for the cores, and small matrices gain nothing by more.

    It also keeps every bit the same wherever a task runs. The setting belongs to the whole process, so the first user
    makes it and the last one undoes it.
    """

    def __init__(self) -> None:
        self._lock, self._users = threading.Lock(), 0
        self._limit: threadpool_limits | None = None

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = threadpool_limits(1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                assert self._limit is not None, "the first user made it"
                self._limit.restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()
_HERE = threading.local()


def asked(stop: threading.Event | None) -> bool:
    """Return whether the caller was asked to stop."""
    return stop is not None and stop.is_set()


def inside() -> bool:
    """Return whether the caller is a task of `each` in a worker."""
    return getattr(_HERE, "working", False)


@contextlib.contextmanager
def working() -> Iterator[None]:
    """Mark a task that may run beside others: `inside` is true meanwhile, and BLAS has one thread."""
    before, _HERE.working = inside(), True
    try:
        with ONE_BLAS_THREAD:
            yield
    finally:
        _HERE.working = before


def batch(work: Callable, items: list[tuple[int, object]]) -> tuple[float, list, Exception | None]:
    """Compute a batch in a worker: (seconds, [(position, result)], the exception that ended it early or None)."""
    begun, results = time.perf_counter(), []
    with working():
        for position, task in items:
            try:
                results.append((position, work(task)))
            except Exception as problem:
                problem.add_note("In a worker:\n" + traceback.format_exc())
                return time.perf_counter() - begun, results, problem
    return time.perf_counter() - begun, results, None


class Pace:
    """Seconds per task so far: whether workers are worth their start, and how many tasks make a batch."""

    def __init__(self) -> None:
        self.seconds, self.tasks = 0.0, 0

    def add(self, seconds: float, tasks: int) -> None:
        """Count more finished tasks."""
        self.seconds += seconds
        self.tasks += tasks

    def size(self, left: int, workers: int) -> int:
        """Return the number of tasks for the next batch: 1 at first, and few in the end, so that all end together."""
        if not self.tasks or not self.seconds:
            return 1
        fitting = int(BATCH_SECONDS * self.tasks / self.seconds)
        return max(1, min(fitting, left // (4 * workers)))

    def worth_workers(self, left: int, patience: float) -> bool:
        """Return whether so much was done here, and so much is left, that starting processes for it pays."""
        if left < 2 or self.seconds < patience:
            return False
        return not self.tasks or self.seconds / self.tasks * left > patience
