"""How far an answer may be off, in two separate intervals: for the privacy noise only, and for sampling only.

Privacy noise only: what the answer from these very rows, without noise, may be. The distribution of the noise is
public, so it is drawn again around the released matrix. With q the quantiles of the answers that come out, the interval
spans both the percentile interval [q(a/2), q(1 - a/2)] and the basic one [2t - q(1 - a/2), 2t - q(a/2)], which takes
out the shift that a non-linear step gives to noisy numbers. Davison and Hinkley (1997), Bootstrap Methods, sections 5.2
and 5.3. Eigenvalues have a bound that needs no such approximation: Weyl's, on the largest eigenvalue of the noise.

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
    """Compute the interval of a statistic for the privacy noise only.

    Parameters
    ----------
    noisy : Noisy
        The measurement.
    draw : callable
        From a random generator to one matrix of the noise distribution, of shape (p, p).
    statistic : callable
        From a `Noisy` to an array.
    rng : Generator
        Stream of the draws.
    level : float
        Coverage, in (0, 1).
    draws : int
        Number of draws, at least 20. The simulation's own error is about 1 / sqrt(draws) of the interval's length.
    within : tuple of float
        Range that the statistic cannot leave.

    Returns
    -------
    low : ndarray
        Lower ends, shaped like the statistic.
    high : ndarray
        Upper ends, shaped like the statistic.

    Raises
    ------
    ValueError
        For a level or a number of draws out of range.

    Spends
    ------
    Nothing: it uses only a noisy matrix.

    Reference
    ---------
    Davison and Hinkley (1997), Bootstrap Methods, sections 5.2 and 5.3.
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
    """Return the number that bounds the change of every eigenvalue of the covariance with probability ``level``.

    It is the quantile of the spectral norm of the noise on the covariance, the noise on the mean included.

    Parameters
    ----------
    noisy : Noisy
        The measurement.
    draw : callable
        From a random generator to one matrix of the noise distribution, of shape (p, p).
    rng : Generator
        Stream of the draws.
    level : float
        Probability.
    draws : int
        Number of draws.

    Returns
    -------
    float
        In working units.

    Spends
    ------
    Nothing: it uses only a noisy matrix.

    Reference
    ---------
    Weyl (1912).
    """
    centre = noisy.with_matrix
    here = unrepaired(noisy)
    norms = [
        # An entry that was refused for its missing cells is NaN, and is no part of the matrix.
        np.abs(np.linalg.eigvalsh(np.nan_to_num(unrepaired(centre(noisy.matrix + draw(rng))) - here))).max()
        for _ in range(draws)
    ]
    return float(np.quantile(norms, level))


def turned(eigenvalues: np.ndarray, noise: float) -> float:
    """Return the largest angle by which noise of this spectral norm turns the first axis.

    sin(angle) <= noise / (l_1 - l_2 - noise), with Weyl's bound on the second eigenvalue.

    Parameters
    ----------
    eigenvalues : ndarray of shape (d,)
        Largest first.
    noise : float
        Spectral norm of the noise, in the same units.

    Returns
    -------
    float
        In degrees; 90 means that the axis may be anywhere.

    Reference
    ---------
    Davis and Kahan (1970).
    """
    gap = float(eigenvalues[0] - eigenvalues[1]) - noise if len(eigenvalues) > 1 else math.inf
    return 90.0 if gap <= noise else math.degrees(math.asin(noise / gap))


def sampling_of_correlation(correlation: np.ndarray, rows: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % sampling interval of each correlation by Fisher's z, standard deviation 1 / sqrt(n - 3).

    Parameters
    ----------
    correlation : ndarray of shape (d, d)
        The correlations.
    rows : float
        Number of rows n, public or noisy.

    Returns
    -------
    low : ndarray of shape (d, d)
        Lower ends.
    high : ndarray of shape (d, d)
        Upper ends.

    Reference
    ---------
    Fisher's z, for Gaussian rows.
    """
    z = np.arctanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12))
    half = Z95 / math.sqrt(max(rows - 3, 1.0))
    low, high = np.tanh(z - half), np.tanh(z + half)
    for side in (low, high):
        np.fill_diagonal(side, 1.0)
    return low, high


def sampling_of_slopes(answers: Answers, target: int, rows: float) -> np.ndarray:
    """Return the sampling standard deviation of each slope: sqrt(residual variance (C_xx^-1)_jj / n).

    Parameters
    ----------
    answers : Answers
        The answers of `derive`.
    target : int
        Position of the column that is regressed on the others.
    rows : float
        Number of rows n, public or noisy.

    Returns
    -------
    ndarray of shape (d,)
        In the data's units; zero at the target.
    """
    p = answers.precision
    inverse = np.diag(p) - p[target] ** 2 / p[target, target]  # of the regressors' covariance, by blocks
    inverse[target] = 0.0
    return np.sqrt(np.maximum(inverse, 0.0) / p[target, target] / rows)
