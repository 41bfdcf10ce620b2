"""Many cores: `run_tasks` runs one function on many tasks and yields the results as they finish.

joblib runs the tasks: in processes of this machine, or where the caller's `joblib.parallel_config` sends them (dask,
ray). A file of rows is read by threads of this process alone, whatever the caller has set.

A result does not depend on where it was computed: a task contains all that it needs, its random streams included,
linear algebra has one thread everywhere, and a worker with other versions refuses the task.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from privcov.core import checks

if TYPE_CHECKING:
    from threadpoolctl import threadpool_limits

Task = TypeVar("Task")
Result = TypeVar("Result")
Results = Generator[tuple[int, Result], None, None]  # (position, result); closing it drops what has not begun

MAX_DEATHS = 3
# An iterator that is closed early drops tasks on purpose.
warnings.filterwarnings("ignore", r"\d+ tasks (which|have)", module=r"joblib\.parallel")


class ParallelError(RuntimeError):
    """The workers could not do their work; the message says what happened and the remedy."""


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


def in_worker() -> bool:
    """Return whether the caller is a task of `run_tasks` in a worker."""
    return getattr(_HERE, "working", False)


def worker_count() -> int:
    """Return how many processes or threads `run_tasks` uses here: PRIVCOV_WORKERS, or the cores of this process."""
    value = os.environ.get("PRIVCOV_WORKERS", "").strip()
    if value:
        if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 1024:
            raise ParallelError(
                f"PRIVCOV_WORKERS must be a whole number from 1 to 1024, got {value!r}. Correct it, or unset it to use "
                "every core."
            )
        return int(value)
    from joblib import cpu_count

    return cpu_count()


def has_caller_backend() -> bool:
    """Return whether the caller's `joblib.parallel_config` sends tasks to another backend than joblib's own."""
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    return not isinstance(get_active_backend()[0], BACKENDS[DEFAULT_BACKEND])


def run_tasks(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, threads: bool = False, workers: int | None = None
) -> Results[Result]:
    """Yield (position, work(task)) of every task, each exactly once, in the order in which they finish.

    Closing the iterator drops what has not begun. An exception of ``work`` is raised here and does the same. A worker
    that dies (killed, out of memory) costs nothing but time: its tasks are computed again, at most three times. What
    was yielded before an error is complete.
    """
    tasks = list(tasks)
    count = worker_count() if workers is None else checks.integer("workers", workers, 1, 1024)
    if in_worker() or len(tasks) < 2:  # a task with tasks of its own: the other cores are already in use
        return _here(work, tasks)
    if not threads and has_caller_backend():
        return _by_joblib(work, tasks, -1)
    if count == 1:
        return _here(work, tasks)
    return (_threads if threads else _by_joblib)(work, tasks, min(count, len(tasks)))


def _here(work: Callable, tasks: list) -> Results:
    with ONE_BLAS_THREAD:
        for position, task in enumerate(tasks):
            yield position, work(task)


def _threads(work: Callable, tasks: list, count: int) -> Results:
    """Run the tasks in threads, one more than threads at a time, so that results not taken yet do not pile up."""
    todo = iter(enumerate(tasks))
    running: dict[Future, int] = {}
    pool = ThreadPoolExecutor(count, thread_name_prefix="privcov")
    with ONE_BLAS_THREAD:
        try:
            while True:
                while len(running) <= count and (following := next(todo, None)) is not None:
                    running[pool.submit(work, following[1])] = following[0]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _by_joblib(work: Callable, tasks: list, count: int) -> Results:
    """Run the tasks with joblib; ``count`` is -1 for a backend of the caller."""
    pending, deaths = dict(enumerate(tasks)), 0
    while pending:
        try:
            with contextlib.closing(_dispatched(work, pending, count)) as results:
                for position, result in results:
                    del pending[position]
                    deaths = 0
                    yield position, result
        except BrokenProcessPool as problem:
            deaths += 1
            if deaths > MAX_DEATHS:
                raise ParallelError(
                    f"Worker processes ended {deaths} times before their work was done (killed, or out of memory). Use "
                    "fewer workers (PRIVCOV_WORKERS=1) or smaller tables."
                ) from problem


def _dispatched(work: Callable, pending: dict[int, object], count: int) -> Results:
    from joblib import Parallel, delayed

    calls = [delayed(_one)(work, position, task, _versions()) for position, task in pending.items()]
    return Parallel(n_jobs=count, return_as="generator_unordered")(calls)


def _versions() -> tuple[str, str]:
    return sys.modules["privcov"].__version__, np.__version__  # an import of the package would be a circle


def _one(work: Callable, position: int, task: object, versions: tuple[str, str]) -> tuple[int, object]:
    if versions != _versions():
        here, there = (f"privcov {own} with numpy {arrays}" for own, arrays in (_versions(), versions))
        raise ParallelError(f"A worker has {here}, and this machine has {there}. Install the same on both.")
    before, _HERE.working = in_worker(), True
    try:
        with ONE_BLAS_THREAD:
            return position, work(task)
    finally:
        _HERE.working = before
