"""Edges found, missed and false: one example by hand, and what must not change them."""

import math

import numpy as np
import pytest

import privcov
from privcov._running import release
from privcov.estimators.base import Fit
from privcov.metrics.graphs import Recovery, edges, graph_recovery, roc_points

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
    data = privcov.source("precision-ar2", n=3000, d=4)
    rel = release("glasso-gaussian", data, privcov.ZCDP(1.0))
    full = np.full((4, 4), 0.1) + np.eye(4)
    path = (Fit(1.0, np.eye(4), "ok"), Fit(0.5, None, "failed"), Fit(0.2, FOUND, "ok"), Fit(0.1, full, "ok"))
    object.__setattr__(rel, "path", path)
    assert roc_points(rel, TRUE) == [
        (1.0, 0.0, 0.0),
        (0.2, pytest.approx(1 / 3), pytest.approx(2 / 3)),
        (0.1, 1.0, 1.0),
    ]


def test_roc_of_a_real_path_goes_up():
    data = privcov.source("precision-ar2", n=20_000, d=8, seed=1)
    rel = release("glasso-gaussian", data, privcov.ZCDP(1.0), seed=1)
    points = roc_points(rel, data.truth.precision)
    lam, fpr, tpr = zip(*points, strict=True)
    assert list(lam) == sorted(lam, reverse=True)
    assert (fpr[0], tpr[0]) == (0.0, 0.0)  # the largest lambda empties the graph
    assert tpr[-1] == 1.0
    assert graph_recovery(rel, data.truth.precision).tpr == 1.0
    np.testing.assert_array_equal(edges(data.truth.precision), data.truth.graph)


def test_what_cannot_be_compared_is_a_sentence():
    data = privcov.source("ar1-covariance", n=100, d=3)
    rel = release("auto-cov", data, privcov.ZCDP(0.1))
    with pytest.raises(ValueError, match="no precision matrix"):
        graph_recovery(rel, np.eye(3))
    with pytest.raises(ValueError, match="no precision matrix"):
        graph_recovery(None, np.eye(3))
    with pytest.raises(ValueError, match="no lambda path"):
        roc_points(rel, np.eye(3))
    with pytest.raises(ValueError, match="same columns"):
        graph_recovery(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="square matrix"):
        edges(np.ones(3))
    with pytest.raises(ValueError, match="finite"):
        edges(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="threshold must lie"):
        edges(np.eye(2), threshold=2)
