"""The store gives back what was computed, computes only what is new, and is never a reason to fail."""

import dataclasses
import importlib
import sqlite3
import threading
import warnings
from contextlib import closing

import pandas as pd
import pytest

import privcov
from privcov.estimators.base import METHODS
from privcov.studies import store as store_module
from privcov.studies import tasks as draws_module
from privcov.studies.plan import Plan
from privcov.studies.store import Store, code_of


def plan(**changes) -> Plan:
    fields = {
        "source": "ar1-covariance",
        "source_params": {"n": 60, "d": 3},
        "methods": ["gaussian-cov"],
        "guarantees": [privcov.ZCDP(0.1)],
        "vary": {"n": [40, 60]},
        "replicates": 3,
        "seed": 4,
    }
    return Plan(**(fields | changes))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cells.sqlite")


@pytest.fixture
def runs(monkeypatch):
    """Counts method runs."""
    seen = []
    real = draws_module.run_method

    def counted(method, *rest, **more):
        seen.append(method.card.key)
        return real(method, *rest, **more)

    monkeypatch.setattr(draws_module, "run_method", counted)
    return seen


def test_a_repeated_plan_runs_nothing_and_draws_no_rows(store, runs, monkeypatch):
    first = privcov.run(plan(), store=store)
    assert len(runs) == 6
    monkeypatch.setattr(draws_module, "make_dataset", lambda *a, **k: pytest.fail("rows were drawn"))
    again = privcov.run(plan(), store=store)
    assert len(runs) == 6
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    pd.testing.assert_frame_equal(first, privcov.run(plan(replicates=3), store=store), check_exact=True)


def test_the_store_changes_no_number(store):
    alone = privcov.run(plan(methods=["auto-cov", "gaussian-cov"], guarantees=[privcov.ZCDP(0.1), privcov.ZCDP(1.0)]))
    privcov.run(plan(), store=store)
    mixed = privcov.run(
        plan(methods=["auto-cov", "gaussian-cov"], guarantees=[privcov.ZCDP(0.1), privcov.ZCDP(1.0)]), store=store
    )
    pd.testing.assert_frame_equal(alone, mixed, check_exact=True)


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({"methods": ["gaussian-cov", "zero"]}, 6),
        ({"replicates": 5}, 4),
        ({"vary": {"n": [40, 50, 60]}}, 3),
        ({"guarantees": [privcov.ZCDP(0.1), privcov.ZCDP(0.2)]}, 6),
        # The source's own default bound, written out, is the same cell; so is a default parameter.
        ({"row_bound": privcov.source("ar1-covariance", n=40, d=3, random_state=0).row_bound}, 0),
        ({"source_params": {"n": 60, "d": 3, "rho": 0.6}}, 0),
        ({"methods": [("gaussian-cov", {"calibration": "sound", "centre": "auto"})]}, 0),
        # These are different cells.
        ({"seed": 5}, 6),
        ({"row_bound": 1.0}, 6),
        ({"source_params": {"d": 3, "rho": 0.5}}, 6),
        ({"methods": [("gaussian-cov", {"centre": "none"})]}, 6),
        ({"metrics": ["max-to-sample"]}, 6),
    ],
)
def test_an_extended_plan_computes_only_what_is_new(store, runs, changes, new):
    privcov.run(plan(), store=store)
    runs.clear()
    told = []
    wider = plan(**changes)
    privcov.run(wider, lambda done, total, cell: told.append(cell.reused), store)
    assert len(runs) == new
    assert told.count(False) == new
    assert told.count(True) == wider.steps - new


def test_a_new_version_of_a_method_is_computed_again(store, runs, monkeypatch):
    privcov.run(plan(), store=store)
    card = METHODS.get("gaussian-cov")
    monkeypatch.setattr(card.cls, "card", dataclasses.replace(card, version=card.version + 1))
    privcov.run(plan(), store=store)
    assert len(runs) == 12


def test_changed_code_is_another_cell(monkeypatch, tmp_path):
    """Any file of the package, however deep, and the file of a class that stands elsewhere."""
    (tmp_path / "package" / "deep").mkdir(parents=True)
    deep, own = tmp_path / "package" / "deep" / "sum.py", tmp_path / "mine.py"
    deep.write_text("x = 1\n")
    own.write_text("class Mine: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(store_module, "_PACKAGE", tmp_path / "package")
    name, seen = importlib.import_module("mine").__name__, set()
    for file, text in ((deep, "x = 1\n"), (deep, "x = 2\n"), (own, "class Mine: y = 2\n"), (deep, "x = 1\n")):
        file.write_text(text)
        seen.add(code_of.__wrapped__(name))
    assert len(seen) == 4


def test_cells_without_a_value_come_back_with_their_reason(store):
    hard = plan(
        source_params={"n": 20, "d": 2}, vary={}, methods=["glasso-gaussian"], guarantees=[privcov.ZCDP(1e-5)],
        metrics=["frobenius-to-truth", "max-to-truth"], replicates=20,
    )  # fmt: skip
    first = privcov.run(hard, store=store)
    assert first["value"].isna().any()
    again = privcov.run(hard, store=store)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert len(store) == 40


def test_another_process_finds_the_cells(tmp_path, runs):
    one, two = Store(tmp_path / "a.sqlite"), Store(tmp_path / "a.sqlite")
    privcov.run(plan(), store=one)
    privcov.run(plan(), store=two)
    assert len(runs) == 6


def test_threads_share_a_store(store):
    plans = [plan(seed=seed) for seed in range(4)]
    tables: dict = {}
    threads = [
        threading.Thread(target=lambda p=p: tables.__setitem__(p.seed, privcov.run(p, store=store))) for p in plans
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not store.problem
    for p in plans:
        pd.testing.assert_frame_equal(tables[p.seed], privcov.run(p), check_exact=True)


def broken(tmp_path, how: str):
    path = tmp_path / "cells.sqlite"
    if how == "not a database":
        path.write_bytes(b"hello, I am a poem\n" * 100)
    elif how == "another table":
        with closing(sqlite3.connect(path)) as link, link:
            link.execute("CREATE TABLE cells (colour TEXT)")
    elif how == "a folder is there":
        path.mkdir()
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "sub" / "cells.sqlite"
    return path


@pytest.mark.parametrize("how", ["not a database", "another table", "a folder is there", "its folder is a file"])
def test_a_broken_store_says_so_once_and_costs_nothing(tmp_path, how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bad = Store(broken(tmp_path, how))
        table = privcov.run(plan(), store=bad)
        privcov.run(plan(), store=bad)
    pd.testing.assert_frame_equal(table, privcov.run(plan()), check_exact=True)
    assert [str(w.message) for w in caught] == [bad.problem]
    assert "PRIVCOV_CACHE_DIR" in bad.problem
    assert len(bad) == 0


def test_a_store_that_breaks_on_the_way_costs_nothing_either(store):
    half = plan(replicates=1)
    privcov.run(half, store=store)
    store._link.execute("DROP TABLE cells")
    with pytest.warns(RuntimeWarning, match="Everything is computed"):
        table = privcov.run(plan(), store=store)
    pd.testing.assert_frame_equal(table, privcov.run(plan()), check_exact=True)
