"""Run the same tasks on a cluster of dask.distributed, whose scheduler PRIVCOV_SCHEDULER names.

The scheduler gives the tasks of a worker that died to another one. What it cannot mend becomes an EngineError within
seconds: no scheduler, no worker, another version of the project on a worker.
"""

from __future__ import annotations

import logging
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, NoReturn

from privcov.engine.tasks import LOOK_SECONDS, EngineError, OtherCode, Pace, Results, asked, batch, code_hash

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 5
# A worker that died and is started again by dask's nanny process is back within this time.
NO_WORKER_SECONDS = 30
_STATUS_SECONDS = 2
_HERE = "or unset PRIVCOV_SCHEDULER to compute on this machine. What is finished is kept."


def run(work: Callable, tasks: list, address: str, stop: Event | None, confidential: bool) -> Results:
    """Run the tasks as `privcov.engine.each` does, on the workers of the scheduler at ``address``."""
    if not tasks:
        return
    if confidential:
        check_closed("The scheduler", address)
    client = _connect(address)
    session = _Session(client, address, confidential)
    try:
        yield from session.results(work, tasks, stop)
    finally:
        session.close()


def check_closed(peer: str, address: str) -> None:
    """Raise EngineError unless its links are encrypted, for holders of the cluster's certificate alone.

    An address of this machine is no exception: every account may send it a task, which runs with the owner's rights.
    """
    if not address.startswith("tls://"):
        raise EngineError(
            f"{peer} {address} would get sums of private rows without noise, and belongs to a cluster which others of "
            "the network or of this machine may join: start it with --protocol tls and a certificate, or unset "
            "PRIVCOV_SCHEDULER."
        )


def _connect(address: str) -> Client:
    try:
        import distributed
    except ImportError:
        raise EngineError(
            f"PRIVCOV_SCHEDULER is {address}, but dask.distributed is not installed. Install it with: pip install "
            '".[cluster]" (in the project folder); or unset PRIVCOV_SCHEDULER to compute on this machine.'
        ) from None
    # It would log the traceback of an error that is one sentence here.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise EngineError(
            f"The scheduler at {address} does not answer ({type(problem).__name__} after {CONNECT_SECONDS} s at most). "
            f"Start it (python -m dask scheduler), correct the address, {_HERE}"
        ) from problem
    assert client.scheduler is not None, "a client that is made is connected"
    theirs = client.sync(client.scheduler.versions, callback_timeout=CONNECT_SECONDS)["packages"]["distributed"]
    if theirs != distributed.__version__:
        client.close(timeout=CONNECT_SECONDS)
        raise EngineError(
            f"The scheduler at {address} runs distributed {theirs}, and this program {distributed.__version__}. "
            f"Install requirements-cluster.txt on both, {_HERE}"
        )
    return client


class _Session:
    """One call of `each`: a client of its own, and the batches under way."""

    def __init__(self, client: Client, address: str, confidential: bool) -> None:
        self.client, self.address, self.confidential = client, address, confidential
        self.name = uuid.uuid4().hex
        self.running: dict[str, Future] = {}
        self.finished: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.pace, self.submitted = Pace(), 0
        self.threads, self.looked = 0, 0.0
        self.no_worker_since: float | None = None

    def results(self, work: Callable, tasks: list, stop: Event | None) -> Results:
        waiting = deque(enumerate(tasks))
        while (waiting or self.running) and not asked(stop):
            self.look()
            while waiting and len(self.running) < max(4, 2 * self.threads):
                size = self.pace.size(len(waiting), max(1, self.threads))
                self.submit(work, [waiting.popleft() for _ in range(size)])
            try:
                key = self.finished.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            future = self.running.pop(key)
            seconds, results, problem = self.answer(future)
            future.release()
            if isinstance(problem, OtherCode):
                raise EngineError(
                    f"A worker of {self.address} runs another version of privcov, from {problem}. Start the workers in "
                    f"this project's folder (or with it in PYTHONPATH), {_HERE}"
                )
            self.pace.add(seconds, len(results))
            yield from results
            if problem is not None:
                raise problem

    def submit(self, work: Callable, taken: list) -> None:
        # Every batch has its own key: the scheduler would take equal keys for the same, already finished, task.
        key = f"privcov-{self.name}-{self.submitted}"
        self.submitted += 1
        future = self.client.submit(batch, work, taken, code_hash(), key=key, pure=False)
        self.running[key] = future
        future.add_done_callback(lambda done: self.finished.put(done.key))

    def answer(self, future: Future) -> tuple:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as problem:
            raise EngineError(
                f"Workers of {self.address} ended while they computed the same task (killed, or out of memory). Give "
                f"them more memory, {_HERE}"
            ) from problem
        except Exception as problem:
            # The batch returns exceptions of the work; what is raised here comes from dask.
            missing = _missing_module(problem)
            if missing:
                raise EngineError(
                    f"The scheduler or a worker at {self.address} cannot import {missing}. Start them in the project's "
                    f"folder (or with it in PYTHONPATH) with the same packages installed, {_HERE}"
                ) from problem
            self.lost(problem)

    def look(self) -> None:
        """Check from time to time that the scheduler is there and has workers."""
        now = time.monotonic()
        if now - self.looked < _STATUS_SECONDS:
            return
        self.looked = now
        scheduler = self.client.scheduler
        if self.client.status != "running" or scheduler is None:
            self.lost(None)
        try:
            threads = self.client.sync(scheduler.ncores, callback_timeout=CONNECT_SECONDS)
        except Exception as problem:
            self.lost(problem)
        for worker in threads if self.confidential else ():
            check_closed("The worker", worker)
        self.threads = sum(threads.values())
        if self.threads:
            self.no_worker_since = None
            return
        self.no_worker_since = self.no_worker_since or now
        if now - self.no_worker_since > NO_WORKER_SECONDS:
            raise EngineError(
                f"The scheduler at {self.address} has had no worker for {NO_WORKER_SECONDS} s. Start one (python -m "
                f"dask worker {self.address}), {_HERE}"
            )

    def lost(self, problem: Exception | None) -> NoReturn:
        raise EngineError(
            f"The scheduler at {self.address} was lost in the middle of the work ({_reason(problem)}). Start it again, "
            f"{_HERE}"
        ) from problem

    def close(self) -> None:
        """Drop what has not begun; what runs on a worker ends there and is forgotten."""
        alive = self.client.status == "running"
        for future in self.running.values():
            if alive:
                future.cancel()
            future.release()
        self.client.close(timeout=CONNECT_SECONDS)


def _missing_module(problem: BaseException | None) -> str:
    while problem is not None:
        if isinstance(problem, ModuleNotFoundError):
            return str(problem.name)
        problem = problem.__cause__
    return ""


def _reason(problem: Exception | None) -> str:
    return "connection closed" if problem is None else f"{type(problem).__name__}: {str(problem).partition(chr(10))[0]}"
