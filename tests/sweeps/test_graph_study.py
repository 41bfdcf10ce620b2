"""The ROC experiment: the same numbers whatever the order, the mean a person would compute, and open ends told."""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import privcov
from privcov import ApproxDP, PureDP, ZCDP
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.estimators.base import METHODS
from privcov.metrics.graphs import Rates, path_rates
from privcov.privacy import NoPrivacy
from privcov.sweeps import graph_curves, graph_study
from privcov.sweeps.graph_curves import GRID
from privcov.sweeps.graph_study import GraphStudy, Run, curves, reference_graph, run, runs, seconds
from tests.patience import until

SMALL = {"n": 400, "d": 8}


@pytest.fixture(autouse=True)
def nothing_kept():
    """What an earlier test computed is computed again."""
    graph_study.forget()


def study(**more) -> GraphStudy:
    asked = {"methods": ("glasso-gaussian",), "guarantees": (ApproxDP(2, 1e-3), ApproxDP(0.5, 1e-3)), "replicates": 4}
    return GraphStudy("precision-ar2", SMALL, **{**asked, "rules": False, **more})


def numbers(found) -> list:
    return [(r.line, r.replicate, r.rates.fpr.tolist(), r.rates.tpr.tolist(), dict(r.marks)) for r in found]


def test_threads_and_order_change_no_number():
    one = [r for replicate in runs(study(rules=True), workers=1) for r in replicate]
    graph_study.forget()
    two = [r for replicate in runs(study(rules=True), workers=3) for r in replicate]
    assert numbers(one) == numbers(two)
    forwards, backwards = curves(study(), one), curves(study(), one[::-1])
    for a, b in zip(forwards, backwards, strict=True):
        np.testing.assert_array_equal(a.tpr, b.tpr)
        np.testing.assert_array_equal(a.precision, b.precision)


def test_a_replicate_is_what_release_gives_on_the_rows_of_that_replicate():
    """Fresh rows per replicate, the same for every line; the noise of a level does not depend on the others."""
    found = list(runs(study(), workers=2))
    source = SOURCES.get("precision-ar2").cls(**SMALL)
    for replicate in (0, 2):
        rows = make_dataset(source, seed=0, repeat=replicate)
        for line, guarantee in enumerate((ApproxDP(2, 1e-3), ApproxDP(0.5, 1e-3), NoPrivacy())):
            method = privcov.releasing.run.build_method("glasso-gaussian", {})
            rel = privcov.releasing.run.run_method(method, rows, guarantee, seed=0, repeat=replicate)
            want = path_rates(rel.path, rows.truth.graph)
            np.testing.assert_array_equal(found[replicate][line].rates.fpr, want.fpr)
            np.testing.assert_array_equal(found[replicate][line].rates.tpr, want.tpr)
    alone = list(runs(study(guarantees=(ApproxDP(0.5, 1e-3),))))
    np.testing.assert_array_equal(alone[1][0].rates.fpr, found[1][1].rates.fpr)
    shorter = list(runs(study(replicates=2)))
    assert numbers(shorter[1]) == numbers(found[1])


def test_seeds_move_noise_and_rows_apart():
    base, noise, rows = (next(runs(s)) for s in (study(), study(seed=1), study(rows_seed=1)))
    assert numbers(base)[2] == numbers(noise)[2]  # the line without noise
    assert numbers(base)[0] != numbers(noise)[0]
    assert numbers(base)[2] != numbers(rows)[2]


def made(*points, infeasible=0, replicate=0) -> Run:
    fpr, tpr = np.array(points, dtype=float).reshape(-1, 2).T
    lam = np.arange(len(fpr), 0, -1.0)
    return Run(0, replicate, Rates(lam, fpr, tpr, infeasible), base=0.2)


def test_the_curve_is_the_vertical_mean_and_stays_open():
    """Two replicates by hand: straight lines through (0.5, 1) and (0.3, 0.9)."""
    (curve,) = curves(study(), [made((0, 0.5), (0.5, 1.0)), made((0, 0.3), (0.3, 0.9), infeasible=3, replicate=1)])[:1]
    at = np.flatnonzero(np.isclose(GRID, 0.1))[0]
    assert curve.tpr[at] == pytest.approx(((0.5 + 0.1) + (0.3 + 0.2)) / 2)
    assert curve.reach == pytest.approx(0.3)
    # Beyond 0.3 one of the two replicates, so half of them, goes on; beyond 0.5 none does.
    assert curve.tpr[40] == pytest.approx(0.9)
    assert np.isnan(curve.tpr[51:]).all()
    assert (curve.infeasible, curve.lambdas) == (3, 7)
    # The area under (0.4 + 1.5 x) from 0 to 0.3, which says how far it goes.
    assert curve.area(0.3) == pytest.approx(0.3 * 0.4 + 1.5 * 0.3**2 / 2, abs=1e-4)
    with pytest.raises(ValueError, match=r"0\.3, where the curve ends"):
        curve.area(0.5)


def test_a_replicate_without_a_graph_is_counted_and_in_no_mean():
    failed = Run(0, 1, None, 0.2, problem="drowned")
    empty = Run(0, 2, Rates(np.empty(0), np.empty(0), np.empty(0), 20), 0.2)
    (curve,) = curves(study(), [made((0, 0.5), (0.5, 1.0)), failed, empty])
    assert (curve.replicates, curve.without, curve.infeasible, curve.problem) == (1, 2, 20, "drowned")
    assert curve.tpr[0] == 0.5
    assert curves(study(), [failed]) == ()


def test_bands_are_the_quantiles_of_the_replicates_that_reach_a_point():
    draw = np.random.default_rng(0)
    values = draw.random((7, 60))
    values[draw.random(values.shape) < 0.3] = np.nan
    values[0, np.isnan(values).all(axis=0)] = 0.5
    for level in (0.0, 0.1, 0.9, 1.0):
        want = np.nanquantile(values, level, axis=0)
        np.testing.assert_allclose(graph_curves._quantile(values, level), want, rtol=1e-14)


def test_more_noise_finds_less_at_the_same_price():
    """100 paths a level; the means differ by far more than the bands are wide (about 0.02 of partial area)."""
    found = run(study(guarantees=(ApproxDP(4, 1e-3), ApproxDP(0.2, 1e-3)), replicates=25))
    to = min(c.reach for c in found)
    strong, weak, quiet = (c.area(to) for c in found)
    assert quiet > weak
    assert strong > weak + 0.02
    assert [c.name for c in found] == ["(4, 0.001)-DP", "(0.2, 0.001)-DP", "no noise"]


def test_an_unrepaired_matrix_leaves_lambdas_without_an_answer():
    entry = ("glasso-gaussian", {"repair": "none"})
    found = run(study(methods=(entry,), guarantees=(ApproxDP(0.5, 1e-3),)))
    assert found[0].infeasible > 0
    assert found[0].lambdas == 20 * found[0].replicates  # a replicate without any answer has no path to count
    assert found[0].reach < found[1].reach
    assert found[1].infeasible == 0  # without noise nothing is indefinite


def test_rules_are_the_lambda_the_method_itself_would_choose():
    first = next(runs(study(rules=True, replicates=1)))
    rows = make_dataset(SOURCES.get("precision-ar2").cls(**SMALL), seed=0)
    for rule, (fpr, tpr) in first[0].marks.items():
        rel = privcov.release("glasso-gaussian", rows, ApproxDP(2, 1e-3), random_state=0, rule=rule)
        want = privcov.graph_recovery(rel, rows.truth.precision)
        assert (fpr, tpr) == (pytest.approx(want.fpr), pytest.approx(want.tpr))
    assert {"ebic", "half-universal", "fission"} == set(first[0].marks)
    card = METHODS.get("glasso-gaussian")
    published = next(name for name in card.calibrations if name != "sound")
    asked = study(rules=True, replicates=1, methods=((card.key, {"calibration": published}),))
    assert set(next(runs(asked))[0].marks) == {"chosen"}


def test_the_edge_test_is_a_mark_of_its_own():
    """It lies on no path, and is there with every rule, and alone where it is the method's own."""
    rows = make_dataset(SOURCES.get("precision-ar2").cls(**SMALL), seed=0)
    want = privcov.graph_recovery(
        privcov.release("auto-precision", rows, ZCDP(1.0), random_state=0), rows.truth.precision
    )
    for every in (True, False):
        asked = study(rules=every, replicates=1, methods=("auto-precision",), guarantees=(ZCDP(1.0),))
        marks = next(runs(asked))[0].marks
        assert marks["edge-test"] == (pytest.approx(want.fpr), pytest.approx(want.tpr))
        assert set(marks) == ({"edge-test", "ebic", "half-universal", "fission"} if every else {"edge-test"})


def test_lines_leave_out_what_a_method_cannot_give():
    asked = study(methods=("glasso-gaussian", "auto-precision"), guarantees=(PureDP(1.0), ZCDP(0.1)))
    assert [(line.method, line.guarantee) for line in asked.lines] == [
        ("glasso-gaussian", ZCDP(0.1)),
        ("auto-precision", PureDP(1.0)),
        ("auto-precision", ZCDP(0.1)),
        ("glasso-gaussian", NoPrivacy()),
    ]
    with pytest.raises(ValueError, match="Choose another kind of guarantee"):
        _ = study(guarantees=(PureDP(1.0),)).lines


def test_closing_the_iterator_stops_the_work():
    begun = []
    original = graph_study._run

    def counted(*args):
        begun.append(args[-1])
        return original(*args)

    graph_study._run = counted
    try:
        found = runs(study(replicates=400), workers=1)
        next(found)
        found.close()
        seen = len(begun)
        # What had begun goes on for a moment, and would be counted by another test.
        until(lambda: not any(t.name.startswith("graph-study") for t in threading.enumerate()), 20)
    finally:
        graph_study._run = original
    assert seen < 400 * 3 / 2


def counted(monkeypatch) -> list:
    """The (guarantee, replicate) of every run that is computed from now on."""
    found, original = [], graph_study._run

    def run_of(*args):
        found.append((args[-2].line.guarantee, args[-1]))
        return original(*args)

    monkeypatch.setattr(graph_study, "_run", run_of)
    return found


def test_what_another_study_has_computed_is_not_computed_again(monkeypatch):
    """Levels that are asked for again, and the line without noise whatever the seed of the noise."""
    asked = study(guarantees=(ZCDP(1.0), ZCDP(0.1)))
    computed = counted(monkeypatch)
    first = list(runs(asked))
    assert len(computed) == 4 * 3
    assert [numbers(r) for r in runs(asked)] == [numbers(r) for r in first]
    assert len(computed) == 4 * 3
    turned = list(runs(study(guarantees=(ZCDP(0.1), ZCDP(0.01)))))
    assert sorted(computed[12:], key=lambda c: c[1]) == [(ZCDP(0.01), k) for k in range(4)]
    assert [r.line for r in turned[0]] == [0, 1, 2]
    np.testing.assert_array_equal(turned[2][0].rates.tpr, first[2][1].rates.tpr)
    del computed[:]
    list(runs(study(guarantees=(ZCDP(1.0),), seed=1)))
    assert {guarantee for guarantee, _ in computed} == {ZCDP(1.0)}
    del computed[:]
    for other in ({"rows_seed": 1}, {"row_bound": 3.0}, {"rules": True}):
        list(runs(study(guarantees=(ZCDP(1.0),), replicates=1, **other)))
    assert len(computed) == 3 * 2


def test_the_seed_of_the_noise_counts_without_noise_where_a_rule_or_the_tuning_draws():
    """A line of fission under rules=False, and of cross-validation: another seed is another computation."""
    for draws in ({"rule": "fission"}, {"tuning": "raw-cv"}):
        asked = {"methods": (("glasso-gaussian", draws),), "guarantees": (ZCDP(1.0),), "replicates": 1}
        with pytest.MonkeyPatch.context() as patch:
            computed = counted(patch)
            for seed in (0, 1, 0):
                list(runs(study(seed=seed, **asked)))
            assert [guarantee for guarantee, _ in computed] == [ZCDP(1.0), NoPrivacy()] * 2


def test_another_reference_network_is_another_curve(monkeypatch):
    """Two networks on the same rows: each study is compared with its own, also where the other came first."""
    made, few = graph_study.make_dataset, np.zeros((SMALL["d"], SMALL["d"]), dtype=bool)
    few[0, 1] = few[1, 0] = True
    many = ~few & ~np.eye(len(few), dtype=bool)

    def with_networks(*args, **more):
        return dataclasses.replace(made(*args, **more), graphs={"many": many, "few": few})

    monkeypatch.setattr(graph_study, "make_dataset", with_networks)
    found = {name: next(runs(study(replicates=1, graph=name))) for name in ("", "many", "few")}
    assert [line.base for line in found["many"]] == [27 / 28] * 3
    assert [line.base for line in found["few"]] == [1 / 28] * 3
    graph_study.forget()
    for name in ("few", "", "many"):
        assert numbers(next(runs(study(replicates=1, graph=name)))) == numbers(found[name])


def test_other_files_of_a_source_are_other_rows(monkeypatch):
    """The state of a source is what its files say; rows and runs of the earlier ones are not used again."""
    first = next(runs(study(replicates=1)))
    source, made, drawn = SOURCES.get("precision-ar2").cls, graph_study.make_dataset, []

    def longer(*args, **more):
        data = made(*args, **more)
        drawn.append(data)
        return data.with_row_bound(data.row_bound / 4)

    monkeypatch.setattr(graph_study, "make_dataset", longer)
    assert numbers(next(runs(study(replicates=1)))) == numbers(first)
    assert not drawn
    monkeypatch.setattr(source, "state", classmethod(lambda cls: "another file"))
    assert numbers(next(runs(study(replicates=1)))) != numbers(first)
    assert len(drawn) == 1


def test_rows_that_were_brought_are_never_kept(monkeypatch):
    rows = make_dataset(SOURCES.get("precision-ar2").cls(**SMALL), seed=0)
    computed = counted(monkeypatch)
    for _ in range(2):
        list(runs(study(replicates=1), dataset=rows))
    assert len(computed) == 2 * 3
    assert not graph_study._ROWS._kept
    assert not graph_study._RUNS._kept
    brought = make_dataset(SOURCES.get("precision-ar2").cls(**SMALL), seed=99)
    list(runs(study(replicates=1), dataset=brought))
    drawn = [numbers(r) for r in runs(study(replicates=1))]
    graph_study.forget()
    assert drawn == [numbers(r) for r in runs(study(replicates=1))]


def test_thirty_threads_that_ask_for_one_study_compute_it_once(monkeypatch):
    computed = counted(monkeypatch)
    with ThreadPoolExecutor(30) as pool:
        found = list(pool.map(lambda _: [numbers(r) for r in runs(study())], range(30)))
    assert len(computed) == 4 * 3
    assert all(one == found[0] for one in found)


def test_what_cannot_be_run_is_a_sentence():
    with pytest.raises(ValueError, match="replicates"):
        study(replicates=0)
    with pytest.raises(ValueError, match="at least one method"):
        study(methods=())
    with pytest.raises(ValueError, match="draws no graph"):
        study(methods=("gaussian-cov",))
    with pytest.raises(ValueError, match="not known"):
        next(runs(dataclasses.replace(study(), source="ar1-covariance")))
    with pytest.raises(ValueError, match="no lambda path"):
        next(runs(study(methods=("ridge-precision",))))
    data = privcov.Dataset.from_rows(np.eye(3), graphs={"book": np.ones((3, 3), bool) & ~np.eye(3, dtype=bool)})
    assert reference_graph(data, "book").sum() == 6
    with pytest.raises(ValueError, match="it has: book"):
        reference_graph(data, "web")


def test_the_estimate_grows_with_everything():
    asked = study()
    assert seconds(asked, 400, 8) < seconds(asked, 400, 100) < seconds(asked, 400, 200)
    assert seconds(study(replicates=8), 400, 100) > seconds(asked, 400, 100)
    assert seconds(asked, 4_000_000, 8) > seconds(asked, 400, 8)
