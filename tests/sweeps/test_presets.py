"""The presets are the published settings, as plans that can be run; and the estimates that stand before them."""

import pytest

import privcov
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, PureDP, ZCDP
from privcov.sweeps import estimates
from privcov.sweeps.estimates import MOST_CELLS, Cost, estimate, in_words, refusal, together
from privcov.sweeps.plan import Plan
from privcov.sweeps.published import PRESETS
from privcov.sweeps.store import Store


def points(preset) -> set[tuple]:
    """(n, d) of every point of the plans."""
    return {
        (point.get("n", plan.source_params.get("n")), point.get("d", plan.source_params.get("d")))
        for plan in preset.plans(["zero"])
        for point in plan.points()
    }


def levels(key: str) -> set:
    return {g for plan in PRESETS[key].plans(["zero"]) for g in plan.guarantees}


def test_every_synthetic_figure_and_table_is_there():
    assert [k for k in PRESETS if k.startswith("1-")] == [f"1-figure-1-{s}" for s in ("left", "middle", "right")]
    tables = [f"4-table-{t}-model-{m}" for t in (1, 2) for m in (1, 2)] + [f"4-table-{t}" for t in (3, 4, 5, 6)]
    assert sorted(k for k in PRESETS if k.startswith("4-")) == sorted(tables)
    figures = ["5-figure-2-" + x for x in "abc"] + ["5-figure-3-" + x for x in "abcd"]
    assert set(figures) <= set(PRESETS)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda p: p.key)
def test_a_preset_makes_plans_that_a_page_may_run(preset):
    plans = preset.plans(["zero"])
    assert all(not refusal(plan) for plan in plans)
    assert all(Plan.from_json(plan.to_json()) == plan for plan in plans)
    assert all(plan.steps > 0 for plan in plans)
    columns = {"n", "d", "epsilon", "delta", "rho", *(k for plan in plans for k in plan.vary)}
    assert {preset.x, *preset.lines} <= columns
    assert plans[0].replicates == preset.replicates == {1: 20, 4: 50, 5: 50}[preset.paper]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda p: p.key)
def test_a_preset_runs_and_its_axis_is_in_the_table(preset):
    """The smallest point of each plan, one replicate, with a method that does no work."""
    for plan in preset.plans(["zero"], 1)[:2]:
        vary = {k: v[:1] for k, v in plan.vary.items()}
        small = {k: [min(v[0], 300)] for k, v in vary.items() if k in ("n", "d")}
        params = {k: min(v, 300) if k in ("n", "d") else v for k, v in plan.source_params.items()}
        table = privcov.run(
            Plan(plan.source, params, plan.methods, plan.guarantees, {**vary, **small}, plan.metrics, 1)
        )
        assert table[preset.x].notna().all()


def test_paper_1_as_published():
    for side, epsilons in (("left", {1.0}), ("middle", {1.0}), ("right", {0.1, 0.5, 1.0, 2.0})):
        found = PRESETS[f"1-figure-1-{side}"].plans(["zero"])
        for plan in found:
            (n,) = plan.vary["n"]
            assert {(g.epsilon, g.delta) for g in plan.guarantees} == {(e, 1 / n) for e in epsilons}
    assert PRESETS["1-figure-1-left"].plans(["zero"])[0].vary["sparsity"] == [0.1, 0.2, 0.3, 0.5]
    assert {d for _, d in points(PRESETS["1-figure-1-middle"])} == {50, 100, 200, 500}
    assert {d for _, d in points(PRESETS["1-figure-1-right"])} == {200}


def test_paper_4_as_published():
    for table in (1, 2):
        for model, source in ((1, "ar1-covariance"), (2, "banded-covariance")):
            preset = PRESETS[f"4-table-{table}-model-{model}"]
            assert preset.source == source
            assert dict(preset.fixed)["family"] == ("normal", "t5")[table - 1]
            assert points(preset) == {(200, 50), (300, 50), (200, 100), (300, 100), (300, 200)}
            assert levels(preset.key) == {ApproxDP(0.5, 1 / 400)}
    for table in (3, 4):
        assert PRESETS[f"4-table-{table}"].source == "banded-covariance"
        assert levels(f"4-table-{table}") == {ApproxDP(e, 1 / 400) for e in (0.1, 0.4, 0.6, 0.7)}
    for table in (5, 6):
        assert PRESETS[f"4-table-{table}"].source == "ar1-covariance"
        assert levels(f"4-table-{table}") == {ApproxDP(0.5, 1 / k) for k in (50, 100, 200, 500)}
        assert points(PRESETS[f"4-table-{table}"]) == {(200, 100)}


def test_paper_5_as_published():
    ds = {10, 20, 30, 50, 70, 100, 200, 400, 800}
    for letter, n in (("a", 1_000), ("b", 4_000), ("c", 16_000)):
        preset = PRESETS[f"5-figure-2-{letter}"]
        assert points(preset) == {(n, d) for d in ds}
        assert dict(preset.fixed) == {"bins": 1, "skew": 3.0}
        assert levels(preset.key) == {ZCDP(0.1)}
    assert points(PRESETS["5-figure-3-b"]) == {(50_000, d) for d in ds}
    assert PRESETS["5-figure-3-a"].varies[0]["bins"] == [1, 2, 4, 8, 16, 32]
    assert levels("5-figure-3-d") == {ZCDP(10.0**k) for k in range(-4, 2)}
    assert levels("5-pure-epsilon") == {PureDP(0.05 * 2**k) for k in range(8)}
    assert all(n * d <= MOST_CELLS for key in PRESETS for n, d in points(PRESETS[key]))
    assert any("are left out" in s for s in PRESETS["5-figure-3-c"].left_out())


def test_em_cov_stops_where_it_takes_minutes(monkeypatch):
    preset = PRESETS["5-figure-2-a"]
    if "em-cov" not in {c.key for c in METHODS.all()}:
        pytest.skip("em-cov is not registered yet")
    for plan in preset.plans(["em-cov", "zero"], 1):
        largest = max(plan.vary["d"])
        assert ("em-cov" in plan.methods) == (largest <= 100)


def test_a_method_that_is_not_there_is_named(monkeypatch):
    preset = PRESETS["5-figure-2-a"]
    real = METHODS.all()
    monkeypatch.setattr(METHODS, "all", lambda: [c for c in real if c.key != "gaussian-cov"])
    assert "gaussian-cov" not in preset.available()
    assert any("gaussian-cov" in s and "Not there yet" in s for s in preset.left_out())
    with pytest.raises(ValueError, match="none is there yet"):
        preset.plans([])


def test_as_published_asks_for_this_paper_s_calibration():
    for key, entry in (("5-figure-3-d", ("gaussian-cov", 5)), ("4-table-3", ("dp-thresholding", 4))):
        method, paper = entry
        (plan, *_) = PRESETS[key].plans([method, "zero"], published=True)
        names = METHODS.get(method).calibrations
        own = next((c for c in (f"as-published-{paper}", "as-published") if c in names), None)
        assert plan.methods == [(method, {"calibration": own}) if own else method, "zero"]


def test_replicates_must_be_at_least_one():
    with pytest.raises(ValueError, match="replicates"):
        PRESETS["5-figure-2-a"].plans(["zero"], 0)


# --- estimates ----------------------------------------------------------------------------------------------


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
    guess = estimate(small(), cost=lambda entry, g, n, d: Cost(n, d, 0.5, 1.0, 3.0)).seconds
    assert guess == pytest.approx(10 * (2 * 3 * 0.5 + 1e-6 * estimates.data_work(20_000, 30)))
    # Half the columns at cost d^3, and the reference without noise runs the method once more.
    plan = small(vary={"d": [30, 15]}, metrics=["frobenius-to-nonprivate"], methods=["zero"], replicates=1)
    guess = estimate(plan, cost=lambda entry, g, n, d: Cost(n, d, 0.5, 1.0, 3.0)).seconds
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
    assert "40,000,000" in refusal(heavy)


def test_an_estimate_leaves_out_what_the_store_has(tmp_path):
    store = Store(tmp_path / "cells.sqlite")
    plan = small(source_params={"n": 50, "d": 3}, replicates=2)
    assert estimate(plan, store).known == 0
    privcov.run(plan, store=store)
    assert estimate(plan, store) == estimates.Estimate(12, 12, 0.0)
    more = estimate(small(source_params={"n": 50, "d": 3}, replicates=4), store)
    assert (more.steps, more.known) == (24, 12)
    assert together([more, more]).steps == 48


def test_costs_grow_by_their_exponents():
    one = Cost(100, 10, 2.0, 1.0, 3.0)
    assert one.at(100, 10) == 2.0
    assert one.at(200, 20) == 2.0 * 2 * 8


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.3, "about a second"), (42, "about 42 seconds"), (600, "about 10 minutes"), (9000, "about 2 hours")],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words
