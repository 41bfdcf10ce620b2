"""Quantiles and tails of a normal number plus one whose variance is a Gamma variable, as Laplace and Wishart noise is.

V = g + h G / j with G of Gamma(j): the error is N(0, V), with the variance g + h and the excess kurtosis
(3 / j) (h / (g + h))^2. A Laplace number has g = 0, j = 1. Tails are exact up to the quadrature (Gauss-Laguerre in G).
Quantiles are those of g = 0 with the same kurtosis, which is exact for pure noise and for Gaussian errors. At 95 % they
are stored: the script of a bundle makes its intervals with numpy alone, and the same bits on every machine.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

NODES = 48
_LARGEST = 200.0  # shapes beyond it are normal to three digits
GRID = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5])  # excess kurtosis
STORED = {
    0.95: (
        1.959963984540054,
        1.9613452789550718,
        1.9634407088135586,
        1.9669829999060988,
        1.9741798342798897,
        1.988598955471023,
        2.009325848097198,
        2.028420808049405,
        2.0565020083032257,
        2.0804135097241865,
        2.1008224436864147,
        2.118296313964756,
        2.1332932575623844,
    )
}


@lru_cache(maxsize=256)
def _rule(shape: float) -> tuple[np.ndarray, np.ndarray]:
    """Return values and weights of G / shape, G of Gamma(shape)."""
    from scipy.special import roots_genlaguerre

    at, weight = roots_genlaguerre(NODES, shape - 1)
    return at / shape, weight / weight.sum()


def tail(value: np.ndarray, normal: np.ndarray, mixed: np.ndarray, shape: float) -> np.ndarray:
    """Return P(|X| > |value|) for an error X with a normal part and a Gamma mixture."""
    from scipy.special import ndtr

    far = np.abs(np.asarray(value, dtype=np.float64))
    if shape > _LARGEST:
        return 2 * ndtr(-far / np.sqrt(np.maximum(normal + mixed, 1e-300)))
    probability = np.zeros(np.broadcast_shapes(far.shape, np.shape(normal), np.shape(mixed)))
    for at, weight in zip(*_rule(float(shape)), strict=True):
        probability += weight * 2 * ndtr(-far / np.sqrt(np.maximum(normal + mixed * at, 1e-300)))
    return np.minimum(probability, 1.0)


@lru_cache(maxsize=32)
def _table(level: float) -> np.ndarray:
    """Return the quantile of |X| over its standard deviation at every excess kurtosis of the grid."""
    return np.array(STORED[level]) if level in STORED else _solved(level)


def _solved(level: float) -> np.ndarray:
    """Return what `_table` does, computed."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    quantiles = [float(ndtri((1 + level) / 2))]
    for excess in GRID[1:]:
        shape, one = 3 / excess, np.array(1.0)

        def above(z: float, shape: float = shape, one: np.ndarray = one) -> float:
            return float(tail(np.array(z), 0 * one, one, shape)) - (1 - level)

        quantiles.append(float(brentq(above, 1e-6, 60.0)))
    return np.array(quantiles)


def quantile(level: float, excess: np.ndarray) -> np.ndarray:
    """Return z such that |X| <= z standard deviations with probability ``level``."""
    table, x = _table(float(level)), np.minimum(np.asarray(excess, dtype=np.float64), GRID[-1])
    steps = np.diff(table) / np.diff(GRID)
    index = np.minimum(np.searchsorted(GRID, x, side="right") - 1, len(steps) - 1)
    return steps[index] * (x - GRID[index]) + table[index]
