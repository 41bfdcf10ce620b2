"""The l1 change of the triangle: a search for worse rows never exceeds the bound, and comes near it."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from privcov.measurements.exact.integer_gram import ANCHOR, UNIT
from privcov.measurements.exact.private_moment import norm_bound
from privcov.measurements.moment import ANCHOR_SQUARED, sensitivity
from privcov.measurements.triangle_l1 import l1_change
from privcov.tables.private_dataset import PrivateDataset

S = math.sqrt(ANCHOR_SQUARED)


def change(x: np.ndarray, y: np.ndarray, n_anchors: int, smooth: float = 0.0) -> float:
    """The literal sum over the triangle; two anchors: the rows are of different classes."""
    size = lambda t: np.sqrt(t * t + smooth * smooth)  # noqa: E731
    d = len(x)
    found = size((np.outer(x, x) - np.outer(y, y))[np.triu_indices(d)]).sum()
    if n_anchors == 1:
        found += S * size(x - y).sum()
    elif n_anchors:
        found += S * (size(x).sum() + size(y).sum()) + 2 * ANCHOR_SQUARED
    return float(found)


def into_ball(x: np.ndarray) -> np.ndarray:
    return x / max(1.0, float(np.linalg.norm(x)))


@functools.cache
def worst(d: int, n_anchors: int, starts: int = 10) -> float:
    """The largest change that ascent finds, from random rows and from two blocks of equal entries (d = 1: a grid)."""
    if d == 1:
        grid = np.linspace(-1, 1, 401)[:, None]
        return max(change(x, y, n_anchors) for x in grid[::400] for y in grid)
    rng = np.random.default_rng(d)

    def negative(p: np.ndarray, smooth: float) -> float:
        return -change(into_ball(p[:d]), into_ball(p[d:]), n_anchors, smooth)

    best = 0.0
    for start in range(starts):
        block = np.where(np.arange(d) < rng.integers(0, d + 1), 1.0, 0.35)
        p = np.concatenate([block, block - 1.35]) if start % 2 else rng.standard_normal(2 * d)
        p = p + 0.05 * rng.standard_normal(2 * d)
        p = np.concatenate([p[:d] / np.linalg.norm(p[:d]), p[d:] / np.linalg.norm(p[d:])])
        for smooth in (0.1, 1e-3, 1e-6):
            p = minimize(negative, p, args=(smooth,), method="L-BFGS-B").x
        best = max(best, -negative(p, 0.0))
    return best


# How much of the bound the search reaches. Alone it is attained for even d; classes add parts that no pair attains.
REACHED = {0: 0.98, 1: 0.98, 2: 0.93}


@pytest.mark.parametrize("n_anchors", [0, 1, 2])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
def test_no_pair_of_rows_exceeds_the_bound_and_some_come_near(d, n_anchors):
    bound = sensitivity(d, 1, norm="l1", n_anchors=n_anchors)
    found = worst(d, n_anchors)
    assert found <= bound * (1 + 1e-12)
    assert found >= bound * (1 - 1e-6 if n_anchors == 0 and d in (1, 2, 4, 6) else REACHED[n_anchors])


@pytest.mark.deep
@pytest.mark.parametrize("n_anchors", [0, 1, 2])
@pytest.mark.parametrize("d", range(1, 13))
def test_a_long_search_finds_nothing_beyond_the_bound(d, n_anchors):
    bound = sensitivity(d, 1, norm="l1", n_anchors=n_anchors)
    assert bound * REACHED[n_anchors] <= worst(d, n_anchors, starts=80) <= bound * (1 + 1e-12)


def test_the_lemma_on_random_rows():
    """100,000 pairs, many with few non-zeros or equal entries: V <= L ||G||_F / sqrt(2), and some come near."""
    rng = np.random.default_rng(1)
    closest = 0.0
    for d in (2, 3, 5, 9):
        x, y = rng.standard_normal((2, 25_000, d)) * (rng.random((2, 25_000, d)) < rng.choice([0.4, 1.0], (25_000, 1)))
        x[::3], y[::3] = np.sign(x[::3]) + 0.2 * x[::3], np.sign(y[::3]) * 0.4
        g = x[:, :, None] * x[:, None, :] - y[:, :, None] * y[:, None, :]
        rows, columns = np.triu_indices(d)
        size = np.abs(g[:, rows, columns]).sum(axis=1)
        bound = math.sqrt(((d + 1) ** 2 + 1) / 2) * np.linalg.norm(g, axis=(1, 2)) / math.sqrt(2)
        assert (size <= bound * (1 + 1e-12)).all()
        closest = max(closest, float((size / np.maximum(bound, 1e-300)).max()))
    assert closest > 0.97


@pytest.mark.parametrize("d", [2, 3, 8, 40, 300])
def test_with_the_mean_the_bound_is_the_best_of_its_kind(d):
    """The largest L sin 2t + 2 s sqrt(d) sin t on a fine grid of t; below the sum of the two parts."""
    most, q = math.sqrt(d**2 / 2 + d + 1), 2 * S * math.sqrt(d)
    t = np.linspace(0, math.pi / 2, 200_001)
    bound = sensitivity(d, 1, norm="l1", n_anchors=1)
    assert bound == pytest.approx((most * np.sin(2 * t) + q * np.sin(t)).max(), rel=1e-9)
    assert 0.83 * (most + q) < bound < 0.98 * (most + q)


@pytest.mark.parametrize("people", [1, 7])
@pytest.mark.parametrize("n_anchors", [1, 3])
@pytest.mark.parametrize("d", [1, 2, 3, 8, 200])
def test_in_whole_numbers_it_is_the_same_bound(d, n_anchors, people):
    facts = PrivateDataset.from_rows(np.zeros((2, d)), row_bound=1.0, rows_per_person=people).facts
    square = norm_bound(facts, "laplace", n_anchors)
    assert square == (people * l1_change(d, UNIT, ANCHOR, n_anchors)) ** 2
    whole = math.isqrt(square) / people / UNIT**2
    assert whole == pytest.approx(sensitivity(d, 1, norm="l1", n_anchors=n_anchors), rel=2e-6)


@pytest.mark.parametrize("n_anchors", [0, 1, 2])
def test_whole_rows_stay_below_the_whole_bound(n_anchors):
    """The worst rows of the search, cut to whole numbers, in exact arithmetic; and every pair of a small ball."""
    rng = np.random.default_rng(0)
    for m, a in ((5, 3), (6, 4)):
        ball = [(i, j) for i in range(-m, m + 1) for j in range(-m, m + 1) if i * i + j * j <= m * m]
        bound = l1_change(2, m, a, n_anchors)
        found = 0
        for x in ball:
            for y in ball if n_anchors else [ball[k] for k in rng.integers(0, len(ball), 40)]:
                g = sum(abs(x[i] * x[j] - y[i] * y[j]) for i, j in ((0, 0), (0, 1), (1, 1)))
                if n_anchors == 1:
                    g += a * (abs(x[0] - y[0]) + abs(x[1] - y[1]))
                elif n_anchors:
                    g += a * (sum(map(abs, x)) + sum(map(abs, y))) + 2 * a * a
                found = max(found, g)
        assert found <= bound * (1 + 1e-12)
        assert found > 0.85 * bound
