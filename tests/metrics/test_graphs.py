"""Edges found, missed and false: one example by hand, and what must not change them."""

import dataclasses
import math

import numpy as np
import pytest

import privcov
from privcov.core.guarantees import NoPrivacy
from privcov.metrics.graphs import (
    Rates,
    Recovery,
    auc,
    edges,
    graph_auc,
    graph_recovery,
    noisy_matrix,
    partial_correlations,
    path_rates,
    reference_graph,
    roc_at,
    solve_precision,
    without_noise_at,
)
from privcov.postprocess.fit import PathPoint
from privcov.releases.public import release

# True graph 0-1, 1-2, 2-3; found 0-1, 2-3, 0-3.
TRUE = np.array([[1, 0.5, 0, 0], [0.5, 1, 0.3, 0], [0, 0.3, 1, -0.4], [0, 0, -0.4, 1]])
FOUND = np.array([[2, 0.1, 0, 0.2], [0.1, 3, 0, 0], [0, 0, 1, -0.4], [0.2, 0, -0.4, 5]])


def test_recovery_by_hand():
    counts = graph_recovery(FOUND, TRUE)
    assert counts == Recovery(tp=2, fp=1, fn=1, tn=2)
    assert counts.tpr == pytest.approx(2 / 3)
    assert counts.fpr == pytest.approx(1 / 3)


def test_threshold_is_on_partial_correlations():
    # 0-1: 0.1 / sqrt(6) = 0.041; 0-3: 0.2 / sqrt(10) = 0.063; 2-3: 0.4 / sqrt(5) = 0.179.
    assert graph_recovery(FOUND, TRUE, threshold=0.05) == Recovery(tp=1, fp=1, fn=2, tn=2)
    assert graph_recovery(FOUND, TRUE, threshold=0.1) == Recovery(tp=1, fp=0, fn=2, tn=3)


def test_truth_against_itself_and_rates_without_edges():
    assert graph_recovery(TRUE, TRUE) == Recovery(tp=3, fp=0, fn=0, tn=3)
    empty = graph_recovery(np.eye(3), np.eye(3))
    assert math.isnan(empty.tpr)
    assert empty.fpr == 0
    full = graph_recovery(np.eye(2), np.array([[1, 0.5], [0.5, 1]]))
    assert full.tpr == 0
    assert math.isnan(full.fpr)


@pytest.mark.parametrize("threshold", [1e-8, 0.05, 0.1])
def test_units_of_columns_draw_no_edges(threshold):
    scale = np.array([1.0, 1e4, 1e-4, 30.0])
    np.testing.assert_array_equal(edges(FOUND * np.outer(scale, scale), threshold), edges(FOUND, threshold))


def test_edges_have_no_loops_and_no_direction():
    found = edges(FOUND)
    assert not np.diag(found).any()
    np.testing.assert_array_equal(found, found.T)
    assert found.sum() == 6


def test_roc_of_a_made_path():
    """Empty, half, full: the curve starts at (0, 0), ends at (1, 1) and leaves out what did not solve."""
    full = np.full((4, 4), 0.1) + np.eye(4)
    path = (
        PathPoint(1.0, np.eye(4), "ok"),
        PathPoint(0.5, None, "infeasible"),
        PathPoint(0.2, FOUND, "ok"),
        PathPoint(0.1, full, "ok"),
    )
    rates = path_rates(path, edges(TRUE))
    assert rates.lam.tolist() == [1.0, 0.2, 0.1]
    assert rates.fpr.tolist() == [0.0, pytest.approx(1 / 3), 1.0]
    assert rates.tpr.tolist() == [0.0, pytest.approx(2 / 3), 1.0]


def test_what_cannot_be_compared_is_a_sentence():
    data = privcov.source("ar1-covariance", n=100, d=3, random_state=0)
    rel = release(data, privcov.ZCDP(0.1), "auto-cov", random_state=0)
    with pytest.raises(ValueError, match=r"has no precision matrix\. It has 'covariance'"):
        graph_recovery(rel, np.eye(3))
    with pytest.raises(ValueError, match="square matrix"):
        graph_recovery(None, np.eye(3))
    with pytest.raises(ValueError, match="same columns"):
        graph_recovery(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="square matrix"):
        edges(np.ones(3))
    with pytest.raises(ValueError, match="finite"):
        edges(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="threshold must lie"):
        edges(np.eye(2), threshold=2)


def rates(*points: tuple[float, float]) -> Rates:
    fpr, tpr = np.array(points).T
    return Rates(np.arange(len(points), 0, -1.0), fpr, tpr)


def test_path_rates_never_take_a_missing_answer_for_an_empty_graph():
    path = (
        PathPoint(1.0, np.eye(4), "ok"),
        PathPoint(0.5, FOUND, "not converged"),
        PathPoint(0.2, None, "not converged"),
        PathPoint(0.1, None, "infeasible"),
        PathPoint(0.05, None, "infeasible"),
    )
    found = path_rates(path, edges(TRUE))
    assert list(found.lam) == [1.0, 0.5]
    assert found.fpr[1] == pytest.approx(1 / 3)
    nothing = path_rates(path[3:], edges(TRUE))
    assert len(nothing.lam) == 0


def test_path_rates_are_those_of_graph_recovery_at_every_lambda():
    data = privcov.source("precision-ar2", n=500, d=7, random_state=2)
    rel = release(data, privcov.ZCDP(0.5), "glasso-gaussian", random_state=1)
    found = path_rates(rel.path, data.truth.graph)
    slow = [graph_recovery(fit.precision, data.truth.precision) for fit in rel.path]
    np.testing.assert_array_equal(found.fpr, [c.fpr for c in slow])
    np.testing.assert_array_equal(found.tpr, [c.tpr for c in slow])


def test_a_curve_is_read_straight_between_graphs_and_ends_with_the_path():
    grid = np.linspace(0, 1, 11)
    found = roc_at(rates((0.0, 0.5), (0.2, 0.5), (0.6, 0.9)), grid)
    np.testing.assert_allclose(found[:7], [0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.9])
    assert np.isnan(found[7:]).all()
    # A path that takes a true edge out again does not fall.
    assert roc_at(rates((0.1, 0.8), (0.2, 0.6)), grid)[2] == pytest.approx(0.8)
    # Without any answer but the empty graph only the origin is known.
    assert np.isnan(roc_at(rates((0.0, 0.0)), grid)[1:]).all()


def test_partial_correlations_have_no_unit_and_the_sign_of_the_link():
    partial = partial_correlations(FOUND)
    assert partial[0, 1] == pytest.approx(-0.1 / np.sqrt(6))
    np.testing.assert_array_equal(np.diag(partial), 1.0)
    scale = np.array([1.0, 1e4, 1e-4, 30.0])
    np.testing.assert_allclose(partial_correlations(FOUND * np.outer(scale, scale)), partial)
    with pytest.raises(ValueError, match="positive diagonal"):
        partial_correlations(np.diag([1.0, -1.0]))


def test_without_noise_the_same_problem_has_the_same_answer():
    data = privcov.source("precision-ar2", n=4_000, d=6, random_state=1)
    rel = release(data, NoPrivacy(), "glasso-gaussian", random_state=0)
    for fit in rel.path[::6]:
        np.testing.assert_allclose(without_noise_at(rel, data, fit.lam), fit.precision, atol=2e-3)
    noisy = release(data, privcov.ZCDP(0.01), "glasso-gaussian", random_state=1)
    np.testing.assert_allclose(without_noise_at(noisy, data, rel.path[9].lam), rel.path[9].precision, atol=2e-3)
    np.testing.assert_allclose(noisy_matrix(rel), rel.covariance, atol=1e-9)
    assert np.abs(noisy_matrix(noisy) - noisy_matrix(rel)).max() > 1e-3


def test_a_lasso_that_does_not_converge_is_said():
    """A singular matrix at a penalty below rounding has no certified answer."""
    with pytest.raises(ValueError, match="did not converge at lambda = 1e-18"):
        solve_precision(np.ones((2, 2)), 1e-18)


def test_the_area_is_the_chance_that_an_edge_comes_before_an_absent_pair():
    """Guessing and the perfect order by hand; a path that ends early goes on straight to (1, 1)."""
    assert auc(rates((0.0, 0.0), (1.0, 1.0))) == pytest.approx(0.5)
    assert auc(rates((0.0, 1.0))) == pytest.approx(1.0)
    assert auc(rates((0.0, 0.5), (0.5, 0.5))) == pytest.approx(0.25 + 0.375)
    assert auc(rates((0.0, 0.0))) == pytest.approx(0.5)


def test_a_plan_measures_the_area_of_every_path_and_says_where_there_is_none():
    plan = privcov.Plan(
        "precision-ar2",
        {"n": 400, "d": 8},
        methods=["glasso-gaussian"],
        guarantees=[privcov.ApproxDP(2, 1e-3), privcov.NoPrivacy()],
        metrics=["auc-to-truth"],
        replicates=3,
    )
    table = privcov.run(plan, workers=1)
    assert table["value"].between(0.4, 1).all()
    noisy, exact = (table[table["guarantee"] == kind]["value"].to_numpy() for kind in ("approx", "none"))
    assert noisy.mean() < exact.mean()
    source = privcov.data_sources.base.SOURCES.get("precision-ar2").cls(n=400, d=8)
    rows = privcov.data_sources.base.make_dataset(source, seed=0, repeat=2)
    method = privcov.releases.public.build_method("glasso-gaussian", {})
    rel = privcov.releases.public.run_method(method, rows, privcov.ApproxDP(2, 1e-3), seed=0, repeat=2)
    assert noisy[2] == graph_auc(rel, rows)
    with pytest.raises(ValueError, match="ridge-precision"):
        dataclasses.replace(plan, methods=["glasso-gaussian", "ridge-precision"])


def test_the_reference_is_the_true_graph_or_a_named_network():
    data = privcov.Dataset.from_rows(np.eye(3), graphs={"book": np.ones((3, 3), bool) & ~np.eye(3, dtype=bool)})
    assert reference_graph(data, "book").sum() == 6
    with pytest.raises(ValueError, match="it has: book"):
        reference_graph(data, "web")
    with pytest.raises(ValueError, match="not known"):
        reference_graph(privcov.source("wine"))
