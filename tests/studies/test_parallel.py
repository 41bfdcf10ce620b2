"""Sweeps on several processes: the same table, bit for bit; only what is missing is computed; rows of a file stay."""

import contextlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import privcov
from privcov.studies import tasks as draws_module
from privcov.studies.cells import _PlanRuns, cells
from privcov.studies.store import Store
from tests.patience import patient

ROOT = Path(__file__).parents[2]


def plan(**changes) -> privcov.Plan:
    fields = {
        "source": "ar1-covariance",
        "source_params": {"d": 8},
        "methods": ["gaussian-cov", "auto-cov"],
        "guarantees": [privcov.ZCDP(0.1), privcov.PureDP(1.0)],
        "vary": {"n": [300, 2000], "row_bound": [1.0, 2.0]},
        "metrics": ["frobenius-to-truth", "max-to-sample"],
        "replicates": 3,
        "seed": 4,
    }
    return privcov.Plan(**(fields | changes))


@pytest.fixture
def at_once(monkeypatch):
    """Processes from the first cell on, however little there is to do."""
    monkeypatch.setattr(draws_module, "PATIENCE", 0.0)


@pytest.fixture
def elsewhere(monkeypatch, at_once):
    """Fails when this process computes more than the first cell."""
    mine = []
    real = draws_module.run_method

    def once(*given, **more):
        mine.append(given)
        return real(*given, **more)

    monkeypatch.setattr(draws_module, "run_method", once)
    return mine


@pytest.fixture(scope="module")
def alone() -> pd.DataFrame:
    return privcov.run(plan(), workers=1)


@pytest.mark.parametrize("workers", [2, 3])
def test_the_table_does_not_depend_on_the_number_of_workers(alone, at_once, workers):
    told = []
    found = privcov.run(plan(), lambda done, total, cell: told.append((done, total)), workers=workers)
    pd.testing.assert_frame_equal(found, alone, check_exact=True)
    assert told == [(k, plan().steps) for k in range(1, plan().steps + 1)]


def test_few_draws_are_split_for_many_workers(at_once):
    """One replicate of one point: its method runs are shared out, and give the same bits."""
    one = plan(vary={}, replicates=1, guarantees=[privcov.ZCDP(0.1 * k) for k in range(1, 20)])
    (draw,) = _PlanRuns(one).draws()
    parts = draws_module._parts(draw, 8)
    assert [run.position for part in parts for run in part.runs] == list(range(one.steps))
    assert 6 <= len(parts) <= 8
    pd.testing.assert_frame_equal(privcov.run(one, workers=2), privcov.run(one, workers=1), check_exact=True)


def test_a_stopped_sweep_goes_on_where_it_was(alone, at_once, tmp_path):
    store = Store(tmp_path / "cells.sqlite")
    with contextlib.closing(cells(plan(), store, workers=2)) as arriving:
        kept = list(itertools.islice(arriving, 5))
    assert len(store) == sum(map(len, kept)), "every cell that came, and no other"
    reused = []
    found = privcov.run(plan(), lambda done, total, cell: reused.append(cell.reused), store, workers=2)
    assert reused.count(True) == len(kept)
    pd.testing.assert_frame_equal(found, alone, check_exact=True)


def test_a_finished_sweep_is_extended_by_the_cells_of_one_method(elsewhere, tmp_path):
    store = Store(tmp_path / "cells.sqlite")
    privcov.run(plan(), store=store, workers=2)
    before = len(store)
    elsewhere.clear()
    told = []
    wider = plan(methods=["gaussian-cov", "auto-cov", "zero"])
    found = privcov.run(wider, lambda done, total, cell: told.append(cell), store, workers=2)
    new = [cell for cell in told if not cell.reused]
    assert {row["method"] for cell in new for row in cell} == {"zero"}
    assert len(new) == wider.steps - plan().steps == (len(store) - before) / 2
    assert {given[0].card.key for given in elsewhere} <= {"zero"}
    pd.testing.assert_frame_equal(found, privcov.run(wider, workers=1), check_exact=True)


FULL_DISK = """
import resource, signal, sys, warnings
import privcov
from privcov.studies.store import Store
plan = privcov.Plan(source="ar1-covariance", source_params={"n": 40, "d": 3}, methods=["zero", "gaussian-cov"],
                    guarantees=[privcov.ZCDP(0.1)], replicates=400)
wanted = privcov.run(plan, workers=1)
warnings.simplefilter("error")
warnings.filterwarnings("always", category=RuntimeWarning)
store = Store(sys.argv[1])
half = privcov.Plan(**{**vars(plan), "replicates": 20})
privcov.run(half, store=store)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = privcov.run(plan, store=store)
assert found.equals(wanted), "the table changed"
assert [str(w.message) for w in caught] == [store.problem], caught
assert "PRIVCOV_CACHE_DIR" in store.problem
print("same table")
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_a_full_disk_costs_the_store_and_not_the_sweep(tmp_path):
    path = tmp_path / "cells.sqlite"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, timeout=patient(60), env=env
    )
    assert done.stdout.split() == ["same", "table"], done.stderr
    again = Store(path)  # what was kept before is still there
    assert len(again) >= 40
    again.close()
