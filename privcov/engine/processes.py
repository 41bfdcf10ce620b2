"""Worker processes on this machine: started when it pays, shared by everything that runs at the same time.

loky starts them, because it does not import the user's script again: a script without a main guard works as it is.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from privcov.engine import cores
from privcov.engine.tasks import LOOK_SECONDS, MOST_DEATHS, EngineError, Pace, Results, asked, batch, working

if TYPE_CHECKING:
    from joblib.externals.loky import ProcessPoolExecutor

SPAWN_AFTER, SPAWN_WHEN_WARM = 1.5, 0.2
_IDLE_SECONDS = 20  # an idle worker ends after this time; a sweep that comes earlier starts at once
_ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def patience() -> float:
    """Return the seconds of work done here before processes are used: what starting them costs, or next to nothing."""
    return SPAWN_WHEN_WARM if _POOL.warm else SPAWN_AFTER


def run(work: Callable, tasks: list, count: int, patience: float, stop: threading.Event | None) -> Results:
    """Run the tasks as `privcov.engine.each` does, with ``count`` processes."""
    waiting, pace = deque(enumerate(tasks)), Pace()
    while waiting and not pace.worth_workers(len(waiting), patience):
        if asked(stop):
            return
        yield _one_here(work, waiting, pace)
    if waiting:
        yield from _in_processes(work, waiting, pace, count, stop)


def _one_here(work: Callable, waiting: deque, pace: Pace) -> tuple[int, object]:
    position, task = waiting.popleft()
    begun = time.perf_counter()
    with working():
        result = work(task)
    pace.add(time.perf_counter() - begun, 1)
    return position, result


def _in_processes(work: Callable, waiting: deque, pace: Pace, count: int, stop: threading.Event | None) -> Results:
    running: dict[Future, list] = {}
    deaths, warm = 0, _POOL.warm
    _POOL.enter(count)
    try:
        while (waiting or running) and not asked(stop):
            try:
                # Twice as many as workers, so that the next batch is ready when one is done.
                while waiting and len(running) < 2 * count:
                    taken = [waiting.popleft() for _ in range(pace.size(len(waiting), count))]
                    try:
                        running[_POOL.submit(batch, work, taken)] = taken
                    except BrokenProcessPool:
                        waiting.extendleft(reversed(taken))
                        raise
                if waiting and not warm and not any(future.done() for future in running):
                    # The processes are still starting; this one need not wait for them.
                    yield _one_here(work, waiting, pace)
                    continue
                for future in wait(running, LOOK_SECONDS, FIRST_COMPLETED).done:
                    seconds, results, problem = future.result()
                    del running[future]
                    warm = True
                    pace.add(seconds, len(results))
                    yield from results
                    if problem is not None:
                        raise problem
            except BrokenProcessPool as problem:
                deaths += 1
                if deaths > MOST_DEATHS:
                    raise EngineError(
                        f"Worker processes ended {deaths} times before their work was done (killed, or out of memory): "
                        f"{_first_line(problem)} Use fewer workers (PRIVCOV_WORKERS=1) or smaller tables."
                    ) from problem
                # What was yielded is no longer in ``running``, so no task is answered twice.
                for taken in running.values():
                    waiting.extendleft(reversed(taken))
                running.clear()
                _POOL.renew()
    finally:
        for future in running:
            future.cancel()
        _POOL.leave(busy=any(not future.done() for future in running))


def _first_line(problem: BaseException) -> str:
    text = str(problem).strip().partition("\n")[0]
    return text if text.endswith(".") else text + "."


class _Pool:
    """The worker processes of this process. Two sweeps at once share them instead of starting twice as many."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._executor: ProcessPoolExecutor | None = None
        self._size, self._users = 0, 0
        self._left = 0.0
        self.niceness = 0

    def enter(self, size: int) -> None:
        with self._lock:
            if not self._users and size != self._size:
                self._end()
            self._users += 1
            if self._executor is None:
                self._start(size)

    @property
    def warm(self) -> bool:
        """Whether the processes run: they are in use, or were a moment ago."""
        with self._lock:
            recent = time.monotonic() - self._left < _IDLE_SECONDS / 2
            return self._executor is not None and (self._users > 0 or recent)

    def submit(self, work: Callable, *given: object) -> Future:
        with self._lock:
            assert self._executor is not None, "enter started it"
            return self._executor.submit(work, *given)

    def renew(self) -> None:
        """Start new processes where the present ones are broken; other users of the pool get the new ones."""
        with self._lock:
            assert self._executor is not None, "enter started it"
            try:
                self._executor.submit(os.getpid)
            except BrokenProcessPool:
                size = self._size
                self._end()
                self._start(size)

    def leave(self, *, busy: bool) -> None:
        """End one use of the processes.

        With ``busy``, tasks of this use still run. They end with the processes, unless these have other users.
        """
        with self._lock:
            self._users -= 1
            self._left = time.monotonic()
            if busy and not self._users:
                self._end()

    def _start(self, size: int) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self._size = size
        self._executor = ProcessPoolExecutor(
            size,
            timeout=_IDLE_SECONDS,
            initializer=_begin,
            initargs=(os.getpid(), self.niceness, cores.untied()),
            env=_ONE_THREAD,
        )
        # Without this a program that ends in the middle of a sweep would wait for the tasks that run.
        threading.Thread(target=_end_with_main, args=(self._executor,), daemon=True, name="privcov-end").start()

    def _end(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor, self._size = None, 0


_POOL = _Pool()


def _end_with_main(executor: ProcessPoolExecutor) -> None:
    threading.main_thread().join()
    executor.shutdown(wait=False, kill_workers=True)


def give_way() -> None:
    """Lower the priority of later processes, as `privcov.engine.give_way` says."""
    _POOL.niceness = 10


def _begin(parent: int, niceness: int, every_core: set[int]) -> None:
    """Prepare a worker: Ctrl-C is left to the parent, and a worker without a parent ends."""
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    if every_core:  # the parent is tied to one, and a new process inherits that
        os.sched_setaffinity(0, every_core)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_without, args=(parent,), daemon=True, name="privcov-parent").start()


def _end_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
