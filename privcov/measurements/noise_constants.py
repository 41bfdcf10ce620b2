"""How large noise will be, before it is drawn: quantiles that depend on public numbers only and spend nothing."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from privcov.measurements.noise import NoiseDistribution

_DRAWS, _LARGEST = 100, 100


class NoiseNorms(NamedTuple):
    """Norms of noise at scale 1: spectral and Frobenius norm of a matrix, Euclidean norm of a vector."""

    spectral: float
    frobenius: float
    vector: float


def closed_form(size: int, beta: float, *, laplace: bool) -> NoiseNorms:
    """Return bounds on the norms of noise with i.i.d. entries on and above the diagonal.

    Reference: Dong et al. 2022, Lemmas 6 and 7, omega of Section 5.1, and for Laplace noise the bounds of the public
    code. Log is natural and 1 below e, as in footnote 2; in the Laplace bounds theta is at most 1/2.
    """
    d = float(size)

    def log(x: float) -> float:
        return math.log(max(x, math.e))

    ratio = min((log(d) / d) ** (1 / 3), 1.0)
    tail = float(np.log(1 / beta))
    if not laplace:
        spectral = 2 * d**0.5 + 2 * d ** (1 / 6) * log(d) ** (1 / 3) + 2 * (2 * tail) ** 0.5
        spectral += 6 * (1 + ratio) * log(d) ** 0.5 / np.log1p(ratio) ** 0.5
        both = float(np.log(2 / beta))
        square = d**2 + 2 * (d * both) ** 0.5 * (1 + (2 * max(d - 1, 0)) ** 0.5) + 6 * both
        return NoiseNorms(spectral, square**0.5, (d + 2 * (d * tail) ** 0.5 + 2 * tail) ** 0.5)

    def heavy(numbers: float) -> float:
        return 2 * max((2**0.5 + 1) / (2**0.5 - 1), 2 * log(numbers) / np.log(2)) * float(np.log(2 / beta))

    theta = min((log(d) / d) ** 0.3, 0.5)
    many = heavy(d * (d + 1) / 2)
    spectral = (1 + theta) * (2 * d**0.5 + 6 * log(d) ** 0.5 / np.log1p(theta) ** 0.5) + 2**0.5 * many
    return NoiseNorms(spectral, 1.5 * d + many, 1.5 * d**0.5 + heavy(d))


@lru_cache(maxsize=256)
def monte_carlo(shape: str, size: int, beta: float) -> NoiseNorms:
    """Return the 1 - beta quantiles of the norms of simulated noise of a named shape, from a fixed seed.

    The 100 draws give a quantile to a few per cent. Beyond size 100 the norms of that size are scaled by sqrt
    (spectral, vector) and 1 (Frobenius) of the ratio, which is exact in the limit and a little large.
    """
    small = min(size, _LARGEST)
    distribution, rng = NoiseDistribution(shape, 1.0, small), np.random.default_rng(20220524)
    norms = np.empty((_DRAWS, 3))
    for row in norms:
        noise = distribution.draw(rng)
        values = np.linalg.eigvalsh(noise)
        row[:2] = max(-values[0], values[-1]), np.sqrt(np.sum(values**2))
        row[2] = np.linalg.norm(rng.laplace(size=small) if shape == "laplace" else rng.standard_normal(small))
    spectral, frobenius, vector = np.quantile(norms, 1 - beta, axis=0)
    grow = size / small
    return NoiseNorms(float(spectral * grow**0.5), float(frobenius * grow), float(vector * grow**0.5))
