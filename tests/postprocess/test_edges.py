"""Edge, undecided, no edge: how often a decided pair is wrong about the graph without the noise."""

import math

import numpy as np
import pytest
from scipy.linalg import toeplitz

from privcov.postprocess.edges import edge_states
from privcov.postprocess.glasso import solve_path
from privcov.postprocess.repair import repair_for_lasso

D = 10


def noise(std):
    def draw(rng):
        a = std * rng.standard_normal((D, D))
        return np.triu(a) + np.triu(a, 1).T

    return draw


def ar2() -> np.ndarray:
    row = np.zeros(D)
    row[:3] = (1.0, 0.5, 0.25)
    s = np.linalg.inv(toeplitz(row))
    return s / np.trace(s)


def test_a_decided_pair_is_rarely_wrong():
    """40 noisy matrices, 1,800 pairs: of the pairs called edge, and of those called no edge, at most 5 % are wrong.

    The released graph itself has several times as many wrong pairs. With some 400 edges and 900 others decided,
    correlated within a matrix, a true rate of 10 % would be seen.
    """
    s, draw, lam = ar2(), noise(0.004), 0.02
    clean = solve_path(s, [lam])[0].precision != 0
    upper = np.triu_indices(D, 1)
    edge = none = edge_wrong = none_wrong = wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noisy = s + draw(rng)
        states = edge_states(noisy, draw, lam, rng=rng, copies=40)
        said, want = states.state[upper], clean[upper]
        edge, edge_wrong = edge + (said == 1).sum(), edge_wrong + ((said == 1) & ~want).sum()
        none, none_wrong = none + (said == -1).sum(), none_wrong + ((said == -1) & want).sum()
        wrong += ((solve_path(repair_for_lasso(noisy).matrix, [lam])[0].precision != 0)[upper] != want).sum()
        assert states.counts == ((said == 1).sum(), (said == 0).sum(), (said == -1).sum())
    assert edge > 300
    assert edge_wrong + none_wrong > 0  # the test can see a wrong answer
    assert none > 300
    assert edge_wrong <= 0.05 * edge
    assert none_wrong <= 0.05 * none
    assert wrong > 3 * (edge_wrong + none_wrong)


def test_without_noise_every_pair_is_decided_and_is_the_released_graph():
    s = ar2()
    found = edge_states(s, lambda rng: np.zeros((D, D)), 0.004, rng=np.random.default_rng(0), copies=20)
    linked = solve_path(s, [0.004])[0].precision != 0
    np.fill_diagonal(linked, False)
    np.testing.assert_array_equal(found.state, np.where(linked, 1, -1))
    np.testing.assert_array_equal(found.share, linked)
    assert found.copies == 20
    assert found.state.dtype == np.int8


def test_with_too_much_noise_most_pairs_are_undecided():
    s, draw = ar2(), noise(0.5)
    for repair in ("psd", "none"):  # without a repair most copies have no answer at all, and none may count as decided
        found = edge_states(s, draw, 0.05, rng=np.random.default_rng(0), repair=repair)
        edge, undecided, none = found.counts
        assert undecided >= 0.8 * (edge + undecided + none)
    assert found.copies < 10


def test_same_seed_same_answer_and_bad_numbers_are_named():
    s, draw = ar2(), noise(0.004)
    one, two = (edge_states(s, draw, 0.004, rng=np.random.default_rng(7), copies=20) for _ in range(2))
    np.testing.assert_array_equal(one.share, two.share)
    np.testing.assert_array_equal(one.state, one.state.T)
    for wrong, name in [({"copies": 5}, "copies"), ({"level": 0.4}, "level"), ({"lam": 0.0}, "lam")]:
        with pytest.raises(ValueError, match=f"{name} must"):
            edge_states(**({"matrix": s, "noise_draw": draw, "lam": 0.1, "rng": np.random.default_rng(0)} | wrong))
    with pytest.raises(ValueError, match="must be finite"):
        edge_states(s * math.nan, draw, 0.1, rng=np.random.default_rng(0))
