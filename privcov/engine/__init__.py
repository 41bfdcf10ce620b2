"""Many cores: `each` runs one function on many tasks and yields the results as they finish.

The tasks run in worker processes or threads. Nothing about a result depends on where it was computed: a task contains
everything it needs, its random streams included, and linear algebra has one thread everywhere.

PRIVCOV_WORKERS limits the number of processes or threads; the default is the cores this process may use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from privcov import checks
from privcov.engine.tasks import LOOK_SECONDS, ONE_BLAS_THREAD, EngineError, Pace, Result, Results, asked, inside

__all__ = ["ONE_BLAS_THREAD", "EngineError", "Pace", "asked", "each", "give_way", "inside", "patience", "workers"]

Task = TypeVar("Task")


def workers() -> int:
    """Return how many processes or threads `each` uses here: PRIVCOV_WORKERS, or the cores of this process."""
    given = os.environ.get("PRIVCOV_WORKERS", "").strip()
    if given:
        if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= 1024:
            raise EngineError(
                f"PRIVCOV_WORKERS must be a whole number from 1 to 1024, got {given!r}. Correct it, or unset it to use "
                "every core."
            )
        return int(given)
    from privcov.engine import cores

    return cores.number()


def patience() -> float:
    """Return the seconds of work worth doing here before processes are used: about what it takes to start them.

    It is short where they already run.
    """
    from privcov.engine import processes

    return processes.patience()


def give_way() -> None:
    """Give worker processes that start from now on a lower priority than this process, a server that has to answer."""
    from privcov.engine import processes

    processes.give_way()


def each(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    threads: bool = False,
    workers: int | None = None,
    patience: float | None = None,
    stop: Event | None = None,
) -> Results[Result]:
    """Yield (position, work(task)) of every task, each exactly once, in the order in which they finish.

    Closing the iterator drops what has not begun, and ends worker processes that nothing else uses. An exception of
    ``work`` is raised here and does the same. A worker that dies (killed, out of memory) costs nothing but time: its
    tasks are computed again, at most three times. What was yielded before an error is complete.
    """
    tasks = list(tasks)
    count = _default_workers() if workers is None else checks.whole("workers", workers, 1, 1024)
    if inside():  # a task with tasks of its own: the other cores are already in use
        return _here(work, tasks, stop)
    if count == 1 or len(tasks) < 2:
        return _here(work, tasks, stop)
    if threads:
        return _threads(work, tasks, min(count, len(tasks)), stop)
    from privcov.engine import processes

    return processes.run(work, tasks, count, processes.patience() if patience is None else patience, stop)


_default_workers = workers  # the argument of `each` hides the name


def _here(work: Callable, tasks: list, stop: Event | None) -> Results:
    with ONE_BLAS_THREAD:
        for position, task in enumerate(tasks):
            if asked(stop):
                return
            yield position, work(task)


def _threads(work: Callable, tasks: list, count: int, stop: Event | None) -> Results:
    """Run the tasks in threads, one more than threads at a time, so that results not taken yet do not pile up."""
    todo = iter(enumerate(tasks))
    running: dict[Future, int] = {}
    pool = ThreadPoolExecutor(count, thread_name_prefix="privcov")
    with ONE_BLAS_THREAD:
        try:
            while not asked(stop):
                while len(running) <= count and (following := next(todo, None)) is not None:
                    running[pool.submit(work, following[1])] = following[0]
                if not running:
                    return
                for future in wait(running, LOOK_SECONDS, FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
