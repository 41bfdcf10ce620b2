"""The free rules for lambda, against their formulas written out and against what they are meant to do."""

import math

import numpy as np
import pytest

from privcov.postprocess import lambda_choice as rules
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.glasso import solve_path


def moment(d: int = 5, n: int = 400, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.random((d, d)))
    return x.T @ x / n


def test_the_extended_bic_is_its_formula():
    s, n, gamma = moment(), 123.0, 0.5
    for theta in [fit.precision for fit in solve_path(s)[::4]]:
        k = sum(theta[i, j] != 0 for i in range(5) for j in range(i))
        likelihood = sum(s[i, j] * theta[i, j] for i in range(5) for j in range(5)) - math.log(np.linalg.det(theta))
        want = n * likelihood + k * math.log(n) + 4 * gamma * k * math.log(5)
        assert rules.extended_bics(theta[None], s, n)[0] == pytest.approx(want)
    lost = np.array([np.diag([1.0, -1.0]), -np.eye(2)])  # the determinant of the second is positive
    assert (rules.extended_bics(lost, np.eye(2), n) == math.inf).all()


def test_effective_rows():
    """Noise and sampling add as variances; without noise all rows count, with much none; the unit does not matter."""
    s, n = moment(), 400
    assert rules.effective_rows(s, 0.0, n) == n
    typical = np.mean([s[i, i] * s[j, j] for i in range(5) for j in range(5) if i != j])
    assert rules.typical_product(s) == pytest.approx(typical)
    assert rules.effective_rows(s, 0.1, n) == pytest.approx(1 / (1 / n + 0.01 / typical))
    assert rules.effective_rows(7 * s, 0.7, n) == pytest.approx(rules.effective_rows(s, 0.1, n))
    assert rules.effective_rows(s, 1e6, n) < 1e-9
    assert rules.effective_rows(-np.eye(2) + [[0, 0], [0, 2]], 0.1, n) == 1e-12  # a raw noisy matrix
    assert rules.typical_product(np.array([[3.0]])) == 9.0


def test_choices_are_positions_on_the_path_and_skip_what_has_no_answer():
    s = moment()
    path = list(solve_path(s))
    found = rules.choices(path, s, 0.01, 400, scores=np.arange(20.0)[::-1])
    assert set(found) == set(rules.RULES)
    assert found["fission"] == 19
    values = rules.extended_bics(np.array([fit.precision for fit in path]), s, rules.effective_rows(s, 0.01, 400))
    assert found["ebic"] == int(np.argmin(values))
    assert "fission" not in rules.choices(path, s, 0.01, 400)
    for i in set(found.values()):
        path[i] = PathPoint(path[i].lam, None, "infeasible")
    again = rules.choices(path, s, 0.01, 400, scores=np.arange(20.0)[::-1])
    assert not set(again.values()) & set(found.values())
    assert rules.choices([PathPoint(1.0, None, "infeasible")], s, 0.01, 400) == {}


def test_fission_scores_are_the_mean_held_out_loss():
    pairs = [(moment(3, seed=i), moment(3, seed=10 + i)) for i in range(4)]
    queue = list(pairs)
    candidates = {id(a): [np.linalg.inv(a + lam * np.eye(3)) for lam in (0.01, 0.1)] + [None] for a, _ in pairs}
    scores = rules.fission_scores(lambda: queue.pop(0), lambda a: candidates[id(a)], 4)
    for i in (0, 1):
        want = [np.sum(b * candidates[id(a)][i]) - np.log(np.linalg.det(candidates[id(a)][i])) for a, b in pairs]
        assert scores[i] == pytest.approx(np.mean(want))
    assert scores[2] == math.inf
    assert rules.likelihood_loss(np.diag([1.0, -1.0]), np.eye(2)) == math.inf


def test_the_nearest_lambda_is_nearest_on_a_log_scale():
    path = [PathPoint(lam, np.eye(2), "ok") for lam in (1.0, 0.1)]
    assert rules.nearest(path, 0.4) == 0  # a factor 2.5 against a factor 4, and 0.6 against 0.3
    assert rules.nearest(path, 0.25) == 1


def test_an_edge_is_never_rewarded_however_few_rows_there_seem_to_be():
    """An effective number of rows below one would give the penalty of an edge the wrong sign."""
    alone, pair = np.eye(3), np.eye(3)
    pair[0, 1] = pair[1, 0] = 0.1
    assert np.diff(rules.extended_bics(np.array([alone, pair]), np.eye(3), 1e-12)) > 0
