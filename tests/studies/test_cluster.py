"""Sweeps on a scheduler of dask with workers in processes of their own: the same table, whatever dies."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import joblib
import pandas as pd
import pytest
from distributed import Client

import privcov
from privcov.core import parallel
from privcov.studies.cluster import dask_scheduler
from privcov.studies.store import Store
from tests.patience import patient, until
from tests.serving import free_port

ROOT = Path(__file__).parents[2]
PLAN = privcov.Plan(
    source="ar1-covariance",
    source_params={"d": 5},
    methods=["gaussian-cov", "auto-cov"],
    guarantees=[privcov.ZCDP(0.1), privcov.PureDP(1.0)],
    vary={"n": [200, 500]},
    replicates=8,
)


def started(part: str, *given: str, before: str = "") -> subprocess.Popen:
    command = [sys.executable, "-m", f"distributed.cli.dask_{part}", *given, "--no-dashboard"]
    env = {**os.environ, "PYTHONPATH": f"{before}{os.pathsep}{ROOT}" if before else str(ROOT)}
    return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def scheduler():
    """Return (the address of a scheduler, a function that starts one more worker and returns its process)."""
    address = f"tcp://127.0.0.1:{free_port()}"
    family = [started("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])]

    def worker(before: str = "") -> subprocess.Popen:
        more = ("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
        family.append(started("worker", address, *more, before=before))
        with contextlib.closing(Client(address, timeout=f"{patient(30):.0f}s")) as client:
            until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == len(family) - 1, 30)
        return family[-1]

    yield address, worker
    for process in family:
        process.kill()
        process.wait()


def test_three_workers_of_which_one_dies_and_a_sweep_that_goes_on(scheduler, tmp_path):
    address, worker = scheduler
    workers = [worker() for _ in range(3)]
    alone = privcov.run(PLAN, workers=1)
    store, told = Store(tmp_path / "cells.sqlite"), []

    class Stopped(Exception):
        pass

    def tell(done: int, total: int, cell: list) -> None:
        told.append(cell)
        if done == 5:
            workers[0].send_signal(signal.SIGKILL)
        if done == 20:
            raise Stopped

    with pytest.raises(Stopped), dask_scheduler(address):
        privcov.run(PLAN, tell, store)
    with dask_scheduler(address):
        assert parallel.has_caller_backend()
        found = privcov.run(PLAN, lambda done, total, cell: told.append(cell), store)
    assert sum(cell.reused for cell in told) >= 20
    pd.testing.assert_frame_equal(found, alone, check_exact=True)
    with Client(address), joblib.parallel_config(backend="dask"):  # as a caller sets it
        pd.testing.assert_frame_equal(privcov.run(PLAN), alone, check_exact=True)
