"""How far an answer may be off for the privacy noise only: what the answer from these very rows, without it, may be.

The distribution of the noise is public, so it is drawn again around the released matrix. With q the quantiles of the
answers that come out, the interval spans both the percentile interval [q(a/2), q(1 - a/2)] and the basic one
[2t - q(1 - a/2), 2t - q(a/2)], which takes out the shift that a non-linear step gives to noisy numbers. Davison and
Hinkley (1997), Bootstrap Methods, sections 5.2 and 5.3. `privcov.answers` gives intervals for sampling as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from privcov import checks
from privcov.postprocess.answers import Noisy

DRAWS = 300


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
