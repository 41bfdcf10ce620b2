"""How long a plan takes is estimated from one small run, before it is started."""

import pytest

import privcov
from privcov.core.guarantees import ZCDP
from privcov.studies import estimates
from privcov.studies.estimates import RunTime, estimate, in_words, refusal, together
from privcov.studies.plan import Plan
from privcov.studies.store import Store


def small(**changes) -> Plan:
    fields = {
        "source": "ar1-covariance",
        "source_params": {"n": 20_000, "d": 30},
        "methods": ["auto-cov", "gaussian-cov"],
        "guarantees": [ZCDP(r) for r in (0.01, 0.1, 1.0)],
        "replicates": 10,
    }
    return Plan(**(fields | changes))


def test_the_estimate_counts_every_cell_and_every_draw(monkeypatch):
    """With known costs: 2 methods x 3 levels x 10 replicates at 0.5 s, and 10 draws."""
    monkeypatch.setattr(estimates, "data_seconds_per_work", lambda: 1e-6)
    guess = estimate(small(), cost=lambda entry, g, n, d: RunTime(n, d, 0.5, 1.0, 3.0)).seconds
    assert guess == pytest.approx(10 * (2 * 3 * 0.5 + 1e-6 * estimates.data_work(20_000, 30)))
    # Half the columns at cost d^3, and the reference without noise runs the method once more.
    plan = small(vary={"d": [30, 15]}, metrics=["frobenius-to-nonprivate"], methods=["zero"], replicates=1)
    guess = estimate(plan, cost=lambda entry, g, n, d: RunTime(n, d, 0.5, 1.0, 3.0)).seconds
    draws = sum(estimates.data_work(20_000, d) for d in (30, 15))
    assert guess == pytest.approx(2 * 3 * 0.5 * (1 + 1 / 8) + 1e-6 * draws)


def test_an_estimate_is_cheap(monkeypatch):
    """Whatever the plan, no probe draws more than 64 columns or 4,000 rows, and one method is run nine times."""
    drawn, ran = [], []
    make, run = estimates.make_dataset, estimates.run_method

    def made(source, **more):
        drawn.append((source.n, source.d))
        return make(source, **more)

    monkeypatch.setattr(estimates, "make_dataset", made)
    monkeypatch.setattr(estimates, "run_method", lambda *a, **k: ran.append(1) or run(*a, **k))
    heavy = small(source_params={"n": 1_000_000, "d": 1_000}, replicates=1_000, methods=["auto-cov"])
    assert estimate(heavy).seconds > estimates.LONG
    assert all(n <= 4_000 and d <= 64 for n, d in drawn)
    assert len(ran) <= 9
    assert "20,000,000" in refusal(heavy)


def test_an_estimate_leaves_out_what_the_store_has(tmp_path):
    store = Store(tmp_path / "cells.sqlite")
    plan = small(source_params={"n": 50, "d": 3}, replicates=2)
    assert estimate(plan, store).known == 0
    privcov.run(plan, store=store)
    assert estimate(plan, store) == estimates.PlanTime(12, 12, 0.0)
    more = estimate(small(source_params={"n": 50, "d": 3}, replicates=4), store)
    assert (more.steps, more.known) == (24, 12)
    assert together([more, more]).steps == 48


def test_costs_grow_by_their_exponents():
    one = RunTime(100, 10, 2.0, 1.0, 3.0)
    assert one.at(100, 10) == 2.0
    assert one.at(200, 20) == 2.0 * 2 * 8


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.3, "about a second"), (42, "about 42 seconds"), (600, "about 10 minutes"), (9000, "about 2 hours")],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words
