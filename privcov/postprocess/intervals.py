"""How far an answer may be off, in two separate intervals: for the privacy noise only, and for sampling only.

Privacy noise only: what the answer from these very rows, without noise, may be. The law of the noise is public, so it
is drawn again around the released matrix. With q the quantiles of the answers that come out, the interval spans both
the percentile interval [q(a/2), q(1 - a/2)] and the basic one [2t - q(1 - a/2), 2t - q(a/2)], which takes out the shift
that a non-linear step gives to noisy numbers. Davison and Hinkley (1997), Bootstrap Methods, sections 5.2 and 5.3.
Eigenvalues have a bound that needs no such approximation: Weyl's, on the largest eigenvalue of the noise.

Sampling only: what the answer for the population that the rows come from may be, if there were no noise. Gaussian rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from privcov import checks
from privcov.postprocess.answers import Answers, Noisy, unrepaired

DRAWS = 300
Z95 = 1.959963984540054


def privacy_noise(
    noisy: Noisy,
    draw: Callable[[np.random.Generator], np.ndarray],
    statistic: Callable[[Noisy], np.ndarray],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of ``statistic`` for the privacy noise only, shaped like it.

    draw: one matrix of the noise's law, p x p. statistic: any array made from a `Noisy`. within: range the statistic
    cannot leave. The simulation's own error is about 1 / sqrt(draws) of the interval's length.
    """
    checks.strictly_between("level", level, 0.0, 1.0)
    draws = checks.whole("draws", draws, 20, remedy="Fewer draws have no 95 % quantiles.")
    here = np.asarray(statistic(noisy), dtype=np.float64)
    seen = np.array([statistic(noisy.with_matrix(noisy.matrix + draw(rng))) for _ in range(draws)])
    low, high = np.quantile(seen, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.clip(np.minimum(low, 2 * here - high), *within), np.clip(np.maximum(high, 2 * here - low), *within)


def largest_noise(
    noisy: Noisy,
    draw: Callable[[np.random.Generator], np.ndarray],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> float:
    """With the chance ``level`` no eigenvalue of the covariance (working units) is moved by more than this.

    The quantile of the spectral norm of the noise on the covariance, that on the mean included. Weyl (1912).
    """
    centre = noisy.with_matrix
    here = unrepaired(noisy)
    norms = [
        np.abs(np.linalg.eigvalsh(unrepaired(centre(noisy.matrix + draw(rng))) - here)).max() for _ in range(draws)
    ]
    return float(np.quantile(norms, level))


def turned(eigenvalues: np.ndarray, noise: float) -> float:
    """Largest angle, in degrees, by which noise of this spectral norm turns the first axis; 90 is "anywhere".

    sin(angle) <= noise / (l_1 - l_2 - noise). Davis and Kahan (1970), with Weyl's bound on the second eigenvalue.
    """
    gap = float(eigenvalues[0] - eigenvalues[1]) - noise if len(eigenvalues) > 1 else math.inf
    return 90.0 if gap <= noise else math.degrees(math.asin(noise / gap))


def sampling_of_correlation(correlation: np.ndarray, rows: float) -> tuple[np.ndarray, np.ndarray]:
    """95 % sampling interval of each correlation by Fisher's z, deviation 1 / sqrt(n - 3). d x d each."""
    z = np.arctanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12))
    half = Z95 / math.sqrt(max(rows - 3, 1.0))
    low, high = np.tanh(z - half), np.tanh(z + half)
    for side in (low, high):
        np.fill_diagonal(side, 1.0)
    return low, high


def sampling_of_slopes(answers: Answers, target: int, rows: float) -> np.ndarray:
    """Sampling deviation of each slope: sqrt(residual variance (C_xx^-1)_jj / n), zero at the target."""
    p = answers.precision
    inverse = np.diag(p) - p[target] ** 2 / p[target, target]  # of the regressors' covariance, by blocks
    inverse[target] = 0.0
    return np.sqrt(np.maximum(inverse, 0.0) / p[target, target] / rows)
