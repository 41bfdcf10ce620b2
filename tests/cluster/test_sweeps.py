"""Sweeps on a real scheduler with two worker processes: the same bits, whatever dies, and nothing computed twice."""

import os
import subprocess
import sys
import threading
import time

import pandas as pd
import psutil
import pytest

import privcov
from privcov import engine
from privcov.engine import cluster as cluster_module
from privcov.sweeps.cells import cells, count_known
from privcov.sweeps.store import Store
from tests import engine_work as work
from tests.patience import patient, steady


def plan(**changes) -> privcov.Plan:
    fields = {
        "source": "ar1-covariance",
        "source_params": {"d": 6},
        "methods": ["gaussian-cov", "auto-cov"],
        "guarantees": [privcov.ZCDP(0.1), privcov.ZCDP(1.0)],
        "vary": {"n": [300, 2000]},
        "replicates": 5,
        "seed": 4,
    }
    return privcov.Plan(**(fields | changes))


SLOW = {"source_params": {"d": 40}, "vary": {"n": [60_000, 80_000]}, "methods": ["gaussian-cov"], "replicates": 8}


@pytest.fixture
def here(monkeypatch):
    """The table computed in this process."""

    def table(wanted: privcov.Plan) -> pd.DataFrame:
        with monkeypatch.context() as patch:
            patch.delenv("PRIVCOV_SCHEDULER", raising=False)
            return privcov.run(wanted, workers=1)

    return table


def test_the_cluster_computes_the_same_bits(cluster, here, tmp_path):
    store = Store(tmp_path / "cells.sqlite")
    told = []
    found = privcov.run(plan(), lambda done, total, cell: told.append((done, total)), store)
    pd.testing.assert_frame_equal(found, here(plan()), check_exact=True)
    assert told == [(k, plan().steps) for k in range(1, plan().steps + 1)]
    assert len(store) == plan().steps
    pids = {pid for _, (pid, _) in engine.each(work.where, [0.05] * 12)}
    assert pids <= {one.pid for one in cluster.worker_processes()}
    assert len(pids) == 2


def test_a_killed_worker_costs_no_cell_and_doubles_none(cluster, here, tmp_path):
    wanted, store = plan(**SLOW), Store(tmp_path / "cells.sqlite")
    seen = []

    def tell(done, total, cell):
        seen.append(cell.position)
        if done == 3:
            max(cluster.worker_processes(), key=lambda one: one.create_time()).kill()

    found = privcov.run(wanted, tell, store)
    assert sorted(seen) == list(range(wanted.steps))
    assert len(store) == wanted.steps
    pd.testing.assert_frame_equal(found, here(wanted), check_exact=True)


def test_a_task_that_kills_every_worker_is_a_sentence(cluster):
    with pytest.raises(engine.EngineError, match="killed, or out of memory"):
        list(engine.each(work.fatal, [("", 3)]))


def test_an_exception_of_the_work_arrives_as_it_is(cluster):
    with pytest.raises(ValueError, match="five is not allowed"):
        list(engine.each(work.failing, range(20)))


def test_closing_and_stopping_drop_what_has_not_begun(cluster, tmp_path):
    found = engine.each(work.counted, [(str(tmp_path), n, 0.1) for n in range(200)])
    next(found)
    found.close()
    stop = threading.Event()
    found = engine.each(work.counted, [(str(tmp_path), n, 0.1) for n in range(200)], stop=stop)
    next(found)
    stop.set()
    assert len(list(found)) < 20
    assert steady(lambda: len(list(tmp_path.iterdir()))) < 60


def test_a_worker_with_other_code_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(cluster_module, "code_hash", lambda: "another version")
    with pytest.raises(engine.EngineError, match="another version of privcov"):
        list(engine.each(work.square, range(4)))


def test_another_distributed_is_refused(cluster, monkeypatch):
    import distributed

    monkeypatch.setattr(distributed, "__version__", "1.0.0")
    with pytest.raises(engine.EngineError, match=r"and this program 1\.0\.0"):
        list(engine.each(work.square, range(4)))


def test_a_lost_scheduler_is_an_error_within_seconds_and_the_cells_stay(own_cluster, monkeypatch, here, tmp_path):
    wanted, store = plan(**SLOW), Store(tmp_path / "cells.sqlite")
    running = cells([wanted], store)
    for _ in range(3):
        next(running)
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 5)  # what nobody answers takes all of it
    own_cluster.scheduler.kill()
    lost, rest = time.monotonic(), []
    with pytest.raises(engine.EngineError, match=f"{own_cluster.address} was lost") as caught:
        rest.extend(running)
    assert time.monotonic() - lost < patient(12)
    arrived = len(store)
    assert "unset PRIVCOV_SCHEDULER" in str(caught.value)
    assert 3 <= arrived < wanted.steps
    assert count_known(wanted, store) == arrived
    monkeypatch.delenv("PRIVCOV_SCHEDULER")
    reused = []
    found = privcov.run(wanted, lambda done, total, cell: reused.append(cell.reused), store)
    assert reused.count(True) == arrived
    pd.testing.assert_frame_equal(found, here(wanted), check_exact=True)


def test_a_scheduler_without_workers_is_an_error(own_cluster, monkeypatch):
    monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 2)
    family = psutil.Process(own_cluster.workers.pid).children(recursive=True)
    for one in (own_cluster.workers, *family):
        one.kill()
    with pytest.raises(engine.EngineError, match="has had no worker"):
        list(engine.each(work.square, range(4)))


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setenv("PRIVCOV_SCHEDULER", "tcp://127.0.0.1:9")  # the discard port: nobody listens
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1)
    begun = time.monotonic()
    with pytest.raises(engine.EngineError, match=r"127\.0\.0\.1:9 does not answer"):
        privcov.run(plan())
    assert time.monotonic() - begun < patient(10)


def test_without_distributed_the_setting_is_a_sentence(monkeypatch):
    monkeypatch.setenv("PRIVCOV_SCHEDULER", "tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(engine.EngineError, match=r"\[cluster\]"):
        list(engine.each(work.square, [1, 2]))


def test_the_project_without_a_setting_never_imports_distributed():
    code = "import sys; from privcov import engine; list(engine.each(abs, [1])); print('distributed' in sys.modules)"
    env = {k: v for k, v in os.environ.items() if k != "PRIVCOV_SCHEDULER"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=patient(60), env=env)
    assert done.stdout.split() == ["False"], done.stderr
