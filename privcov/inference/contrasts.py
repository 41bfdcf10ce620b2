"""The difference of the means of two classes, column by column: privacy noise and sampling together.

A class mean is m_c = T_c / p_c, the noisy sum of the class over its noisy count, both over the number of rows. With v_t
and v_p the variances of the noise on T_c and p_c, to first order and with the product of both noises

    Var(m_a - m_b) = sum over a and b of [v_t / p^2 + v_p m_c^2 / p^2 + v_t v_p / p^4 + s / (n p)]
                     + k_p (m_a / p_a - m_b / p_b)^2

s is the variance within classes, assumed equal in all of them, and k_p the covariance of the noise on two counts: zero
for independent counts; -v_p / k, with v_p the variance of one draw, where the counts are drawn so that they add up to a
public n. A class whose share is below three standard deviations of its noise is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.inference.unbiased import SMALL_CLASS, Intervals, UnbiasedMoments
from privcov.measurements.moment import Measured
from privcov.measurements.noise import COUPLED, coupled_moments

LEAST = 3.0  # standard deviations of its noise that the share of a class must have


@dataclass(frozen=True, eq=False)
class Classes:
    """Shares and means of the classes, in working units, and the variances of their noise.

    shares: of all rows; noisy, perhaps negative. means: d x k, noisy sums over noisy shares; where a share is not
    positive, the sums. of_sum, of_count: variance of the noise on a sum over all rows, and on a share. shared:
    covariance of the noise on two shares.
    """

    shares: np.ndarray
    means: np.ndarray
    of_sum: float
    of_count: float
    shared: float

    @property
    def small(self) -> np.ndarray:
        """Which shares are below `LEAST` standard deviations of their noise."""
        return self.shares < LEAST * math.sqrt(self.of_count + max(self.shared, 0.0))


def classes_of(whole: Measured, d: int) -> Classes:
    """Return what a moment with class sums says of the classes."""
    noise, r, square = whole.distribution, whole.row_bound, whole.anchor_squared
    first, k = noise.dimension, noise.n_anchors
    edge, one = r * noise.off_diagonal_std, noise.count_std / square
    of_sum, of_count, shared = edge * edge / square, one * one, 0.0
    if noise.shape == COUPLED:
        unit = noise.scale / square
        of_count, shared = (m * unit * unit for m in coupled_moments(noise.dimension + noise.measured))
    if whole.count is None:
        shared = -of_count / k
    shares = np.diag(whole.matrix)[first:] / square
    means = r * whole.matrix[:d, first:] / math.sqrt(square) / np.where(shares > 0, shares, 1.0)
    return Classes(shares, means, of_sum, of_count, shared)


def within_of(known: UnbiasedMoments, whole: Measured) -> tuple[Classes, np.ndarray, np.ndarray, float]:
    """Return the classes, the covariance within them, its spreads, and the typical noise on a correlation.

    W = S - sum_c p_c (m_c m_c' - (v_t / p_c^2) I), S the second moment: the square of a noisy mean is too large by
    v_t / p_c^2. It is divided by the degrees of freedom, one less for each class. A class that is too small for its
    noise takes no part.

    Reference: own derivation, above.
    """
    found, d, square = classes_of(whole, known.d), known.d, whole.row_bound * whole.row_bound
    kept = ~found.small
    means, shares = found.means[:, kept], found.shares[kept]
    within = square * whole.matrix[:d, :d] - (means * shares) @ means.T
    within = within + found.of_sum * float(np.sum(1 / shares)) * np.eye(d)
    within = within * (known.rows / max(known.rows - int(kept.sum()), 1.0))
    spread = np.sqrt(np.maximum(np.diag(within), math.sqrt(known.law.off)))
    relative = math.sqrt(known.law.off) / np.outer(spread, spread)[np.triu_indices(d, 1 if d > 1 else 0)]
    return found, within, spread, float(np.median(relative))


def contrast(known: UnbiasedMoments, whole: Measured, a: int, b: int, level: float) -> Intervals:
    """Return the interval of the mean of class a less that of class b, in working units, as derived above."""
    d, r, found = known.d, whole.row_bound, classes_of(whole, known.d)
    shares, means, of_sum, of_count, shared = found.shares, found.means, found.of_sum, found.of_count, found.shared
    safe = np.where(shares > 0, shares, 1.0)
    within = r * r * np.diag(whole.matrix)[:d] - (means**2 - of_sum / safe**2) @ np.maximum(shares, 0.0)
    within = np.maximum(within, 0.0)
    spread, sampling = np.zeros(d), np.zeros(d)
    for c in (a, b):
        p = safe[c]
        spread += (of_sum + of_count * means[:, c] ** 2) / p**2 + of_sum * of_count / p**4
        own = within
        if known.two is not None:  # the variance of two values is that of their mean, in each class another
            low = known.two.low
            own = np.where(known.span > 0, np.maximum((means[:, c] - low) * (low + known.span - means[:, c]), 0.0), own)
            own = own + 3 * known.span**2 / (known.rows * p)  # three more rows with the rarer value
        sampling += own / (known.rows * p)
    spread = np.maximum(spread + shared * (means[:, a] / safe[a] - means[:, b] / safe[b]) ** 2, 0.0)
    half = known.z(level, spread, sampling, known.law.excess(1.0, 0.0)) * np.sqrt(spread + sampling)
    step = means[:, a] - means[:, b]
    reason = np.full(d, SMALL_CLASS if found.small[[a, b]].any() else 0)
    return Intervals(step, step - half, step + half, reason).refusing(known.unknown)
