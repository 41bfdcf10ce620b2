"""The free rules for lambda, against their formulas written out and against what they are meant to do."""

import math

import numpy as np
import pytest

from privcov.postprocess import lambda_choice as rules
from privcov.postprocess.fit import Fit
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


def test_half_universal_is_half_of_what_the_largest_of_many_noisy_entries_reaches():
    """m = 1,225 pairs of N(0, v): twice the rule is within 15 % of the mean maximum (200 draws)."""
    d, std, n = 50, 0.02, 1000
    s = 0.3 * np.eye(d)
    want = math.sqrt(2 * math.log(d * (d - 1) / 2)) * math.sqrt(std**2 + 0.09 / n) / 2
    assert rules.half_universal(s, std, n) == pytest.approx(want)
    draws = np.random.default_rng(0).standard_normal((200, d * (d - 1) // 2)) * math.sqrt(std**2 + 0.09 / n)
    assert np.abs(draws).max(axis=1).mean() == pytest.approx(2 * want, rel=0.15)


def test_choices_are_positions_on_the_path_and_skip_what_has_no_answer():
    s = moment()
    path = list(solve_path(s))
    found = rules.choices(path, s, 0.01, 400, scores=np.arange(20.0)[::-1])
    assert set(found) == set(rules.RULES)
    assert found["fission"] == 19
    values = rules.extended_bics(np.array([fit.precision for fit in path]), s, rules.effective_rows(s, 0.01, 400))
    assert found["ebic"] == int(np.argmin(values))
    want = rules.half_universal(s, 0.01, 400)
    assert found["half-universal"] == int(np.argmin([abs(math.log(fit.lam / want)) for fit in path]))
    assert "fission" not in rules.choices(path, s, 0.01, 400)
    for i in set(found.values()):
        path[i] = Fit(path[i].lam, None, "infeasible")
    again = rules.choices(path, s, 0.01, 400, scores=np.arange(20.0)[::-1])
    assert not set(again.values()) & set(found.values())
    assert rules.choices([Fit(1.0, None, "infeasible")], s, 0.01, 400) == {}


def test_the_choice_does_not_depend_on_the_unit():
    s = moment()
    one = rules.choices(solve_path(s), s, 0.01, 400)
    two = rules.choices(solve_path(1e4 * s), 1e4 * s, 100.0, 400)
    assert one == two


def test_more_noise_never_asks_for_more_edges():
    """Noise from 0.1 % to ten times the mean variance: EBIC and half-universal climb towards the empty graph."""
    s = moment(8, 4000)
    path = solve_path(s)
    found = [rules.choices(path, s, std, 4000) for std in np.geomspace(1e-3, 10, 12)]
    for rule in ("ebic", "half-universal"):
        order = [choice[rule] for choice in found]
        assert order == sorted(order, reverse=True)
        assert order[-1] == 0
        assert order[0] > 5


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


def test_fission_picks_the_ridge_that_is_best_against_the_truth():
    """The mean of the score over 400 splits of one noisy matrix follows the loss against the truth up to a constant.

    Gaussian noise of deviation 0.1 on a 4 x 4 matrix; 400 fresh noisy matrices, so a score has a deviation of about
    0.02; the two candidates differ by 0.5.
    """
    rng = np.random.default_rng(1)
    s, std, gain = np.diag([1.0, 0.6, 0.4, 0.3]), 0.1, rules.FISSION_GAIN

    def noise():
        a = std * rng.standard_normal((4, 4))
        return np.triu(a) + np.triu(a, 1).T

    def halves():
        noisy, z = s + noise(), noise()
        return noisy + gain * z, noisy - z / gain

    def solve(first):
        values, vectors = np.linalg.eigh(first)
        return [(vectors / np.maximum(values, floor)) @ vectors.T for floor in (0.02, 0.2)]

    first = [solve(halves()[0]) for _ in range(400)]
    truth = [np.mean([rules.likelihood_loss(f[i], s) for f in first]) for i in (0, 1)]
    scores = rules.fission_scores(halves, solve, 400)
    assert truth[0] - truth[1] > 0.5
    assert scores[0] - scores[1] == pytest.approx(truth[0] - truth[1], rel=0.5)


def test_the_nearest_lambda_is_nearest_on_a_log_scale():
    path = [Fit(lam, np.eye(2), "ok") for lam in (1.0, 0.1)]
    assert rules.nearest(path, 0.4) == 0  # a factor 2.5 against a factor 4, and 0.6 against 0.3
    assert rules.nearest(path, 0.25) == 1


def test_an_edge_is_never_rewarded_however_few_rows_there_seem_to_be():
    """An effective number of rows below one would give the penalty of an edge the wrong sign."""
    alone, pair = np.eye(3), np.eye(3)
    pair[0, 1] = pair[1, 0] = 0.1
    assert np.diff(rules.extended_bics(np.array([alone, pair]), np.eye(3), 1e-12)) > 0
