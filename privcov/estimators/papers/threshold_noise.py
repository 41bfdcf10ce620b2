"""Effect of the known noise on the entries of a covariance, whose means were measured with it: for the thresholds.

With class means m_j of share p_j, the covariance is M_11 - sum_j M_12j M_12j' / c_j, c_j = s^2 p_j. Noise w_j on M_12j
and d_j on c_j change it by - sum_j [(m_j w_j' + w_j m_j') / s + w_j w_j' / (s^2 p_j) - m_j m_j' d_j / s^2]. With
tau_j = std(w) / (s p_j), the standard deviation of a class mean, that is p_j^2 times the variance that a single mean
has, summed over the classes, and the counts' part. A mean inside the unit ball cannot be wrong by more than its size,
so tau_j is held below 1 / sqrt(d) per entry.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.measurements.moment import NoisyMoment
from privcov.postprocess import threshold as cutting
from privcov.postprocess.moments import Moments, unpack


def unit_moments(matrix: np.ndarray, noisy_moment: NoisyMoment) -> Moments:
    """Return the moments, in unit-ball units, of a matrix shaped like the measured one."""
    return unpack(matrix, centre=noisy_moment.centre, row_bound=1.0, n_anchors=noisy_moment.distribution.n_anchors)


def target(moments: Moments) -> np.ndarray:
    """Return the covariance, or the second moment where no mean is known."""
    return moments.target


def mean_std(noisy_moment: NoisyMoment) -> float:
    """Return the standard deviation of the noise on an entry of the mean (of all rows)."""
    return noisy_moment.distribution.off_diagonal_std / math.sqrt(noisy_moment.anchor_squared)


def _classes(whole: Moments, noisy_moment: NoisyMoment) -> list[tuple[float, np.ndarray, float]]:
    """Return (share, mean, standard deviation of an entry) of every class that has rows."""
    assert whole.class_shares is not None, "the centre is classes"
    assert whole.class_means is not None
    most = 1 / math.sqrt(whole.class_means.shape[1])
    pairs = zip(whole.class_shares, whole.class_means, strict=True)
    return [(float(p), mean, min(mean_std(noisy_moment) / float(p), most)) for p, mean in pairs if p > 0]


def subtracted(whole: Moments, noisy_moment: NoisyMoment) -> float:
    """Return what the squares of the noise on the means take from every variance, on average."""
    if whole.mean is None:
        return 0.0
    if whole.class_means is None:
        return mean_std(noisy_moment) ** 2
    return sum(p * tau**2 for p, _, tau in _classes(whole, noisy_moment))


def off_diagonal_variance(whole: Moments, noisy_moment: NoisyMoment) -> np.ndarray | float:
    """Return the variance that the noise gives to off-diagonal entries of `target`."""
    std = noisy_moment.distribution.off_diagonal_std
    if whole.class_means is None:
        return cutting.noise_variance(whole.mean, std, mean_std(noisy_moment))
    variance = std**2 + np.zeros_like(whole.second_moment)
    count_std = noisy_moment.distribution.count_std / noisy_moment.anchor_squared
    for share, mean, tau in _classes(whole, noisy_moment):
        square = np.maximum(mean**2 - tau**2, 0.0)
        variance += share**2 * cutting.noise_variance(mean, 0.0, tau) + np.outer(square, square) * count_std**2
    return variance


def diagonal_variance(whole: Moments, noisy_moment: NoisyMoment) -> float:
    """Return the average over i of Var[W_ii - 2 mu_i e_i - e_i^2], with mu_i^2 estimated as in `noise_variance`."""
    own = float(np.mean(noisy_moment.distribution.diagonal_stds**2))
    if whole.mean is None:
        return own
    if whole.class_means is None:
        return _with_one_mean(own, whole.mean, mean_std(noisy_moment))
    return own + sum(p**2 * _with_one_mean(0.0, mean, tau) for p, mean, tau in _classes(whole, noisy_moment))


def _with_one_mean(own: float, mean: np.ndarray, tau: float) -> float:
    """Return the average diagonal variance where one mean is subtracted."""
    square = np.maximum(mean**2 - tau**2, 0.0)
    return own + 4 * float(square.mean()) * tau**2 + 2 * tau**4


def in_working_units(matrix: np.ndarray, whole: Moments, centre: str, row_bound: float) -> Moments:
    """Return consistent moments around a covariance (or second moment) in unit-ball units."""
    r2 = row_bound**2
    if whole.mean is None:
        return Moments(r2 * matrix, None, r2 * matrix if centre == "zero" else None)
    mean = row_bound * whole.mean
    if whole.class_means is None:
        return Moments(r2 * matrix + np.outer(mean, mean), mean, r2 * matrix)
    assert whole.class_shares is not None, "they come with the means"
    means = row_bound * whole.class_means
    between = (means.T * whole.class_shares) @ means
    return Moments(r2 * matrix + between, mean, r2 * matrix, means, whole.class_shares)
