"""The difference of the means of two classes, column by column: privacy noise and sampling together.

A class mean is m_c = T_c / p_c, the noisy sum of the class over its noisy count, both over the number of rows. With v_t
and v_p the variances of the noise on T_c and p_c, to first order and with the product of both noises

    Var(m_a - m_b) = sum over a and b of [v_t / p^2 + v_p m_c^2 / p^2 + v_t v_p / p^4 + s / (n p)]
                     + k_p (m_a / p_a - m_b / p_b)^2

s is the variance within classes, assumed equal in all of them, and k_p the covariance of the noise on two counts: zero
for independent counts; -v_p / k, with v_p the variance of one draw, where the counts are drawn so that they add up to a
public n. A class whose share is below three standard deviations of its noise is refused.

**Groups of a column of two values**: means of every column in both, and their difference, with intervals. x is the
column with the values a and a + h, in working units; p = (E x - a) / h is the share of the group with the higher one.
With S the covariance of y and x over n, the mean t of y in that group solves

    (S + (E y - t)(E x - a)) / h = 0,

and that of the other group the same with -S and (a + h - E x): both linear in t. Read as sums over the rows, the noise
on the left times h is W_yx - c e_y - t e_x + u t c, c being a or a + h, and its variance t^2 + (c^2 + t^2) t_m^2 +
v_u t^2 c^2. The difference D solves S / h - D q = 0, q = p (1 - p) made unbiased, where the noise times h is

    W_yx - (E x) e_y - (E y + D (1 - 2 p)) e_x - e_x e_y + D (e_x^2 - t_m^2) / h
      - u (D q h - E x E y - D (1 - 2 p) E x).

Sampling, in the same equations: p_g s / n, and q s / n for the difference, s the variance within groups, assumed equal
in both; for y of two values, each group has that of its own mean. As if three more rows had the rarer value, 3 v / n^2
is added, v the variance of y, or the square of its span. The interval is all t, or D, whose square is at most z^2 times
the variance, which is quadratic: the law of noise_law.py, inverted as in Fieller (1954).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.inference.unbiased import NO_GROUPS, NO_MEAN, ONE_COLUMN, SMALL_CLASS, Intervals, UnbiasedMoments, within
from privcov.measurements.moment import NoisyMoment
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


def classes_of(whole: NoisyMoment, d: int) -> Classes:
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


def within_of(moments: UnbiasedMoments, whole: NoisyMoment) -> tuple[Classes, np.ndarray]:
    """Return the classes and the covariance within them.

    W = S - sum_c p_c (m_c m_c' - (v_t / p_c^2) I), S the second moment: the square of a noisy mean is too large by
    v_t / p_c^2. It is divided by the degrees of freedom, one less for each class. A class that is too small for its
    noise takes no part.

    Reference: own derivation, above.
    """
    classes, d, square = classes_of(whole, moments.d), moments.d, whole.row_bound * whole.row_bound
    usable = ~classes.small
    means, shares = classes.means[:, usable], classes.shares[usable]
    within = square * whole.matrix[:d, :d] - (means * shares) @ means.T
    within = within + classes.of_sum * float(np.sum(1 / shares)) * np.eye(d)
    return classes, within * (moments.n_rows / max(moments.n_rows - int(usable.sum()), 1.0))


def contrast(moments: UnbiasedMoments, whole: NoisyMoment, a: int, b: int, level: float) -> Intervals:
    """Return the interval of the mean of class a less that of class b, in working units, as derived above."""
    d, r, classes = moments.d, whole.row_bound, classes_of(whole, moments.d)
    shares, means, of_sum, of_count, shared = vars(classes).values()
    safe = np.where(shares > 0, shares, 1.0)
    within = r * r * np.diag(whole.matrix)[:d] - (means**2 - of_sum / safe**2) @ np.maximum(shares, 0.0)
    within = np.maximum(within, 0.0)
    spread, sampling = np.zeros(d), np.zeros(d)
    for c in (a, b):
        p = safe[c]
        spread += (of_sum + of_count * means[:, c] ** 2) / p**2 + of_sum * of_count / p**4
        own = within
        if moments.binary is not None:  # the variance of two values is that of their mean, in each class another
            low = moments.binary.low
            own = np.where(
                moments.span > 0, np.maximum((means[:, c] - low) * (low + moments.span - means[:, c]), 0.0), own
            )
            own = own + 3 * moments.span**2 / (moments.n_rows * p)  # three more rows with the rarer value
        sampling += own / (moments.n_rows * p)
    spread = np.maximum(spread + shared * (means[:, a] / safe[a] - means[:, b] / safe[b]) ** 2, 0.0)
    half = moments.z(level, spread, sampling, moments.law.excess_kurtosis(1.0, 0.0)) * np.sqrt(spread + sampling)
    step = means[:, a] - means[:, b]
    reason = np.full(d, SMALL_CLASS if classes.small[[a, b]].any() else 0)
    return Intervals(step, step - half, step + half, reason).without_intervals(moments.unknown)


LOWER, HIGHER, STEP = range(3)


def group_mean_intervals(moments: UnbiasedMoments, by: int, level: float) -> list[Intervals]:
    """Return the means of every column in the groups with the lower and the higher value of ``by``, and the difference.

    In working units, as derived in the docstring of the module.
    """
    d = moments.d
    if moments.mean is None:
        none = np.full(d, np.nan)
        return [Intervals(none, none, none, np.full(d, NO_MEAN))] * 3
    assert moments.binary is not None, "checked by the caller"
    m, n, law = moments.mean, moments.n_rows, moments.law
    a, h, mx = float(moments.binary.low[by]), float(moments.span[by]), float(m[by])
    p, v = (mx - a) / h, np.maximum(np.diag(moments.covariance), 0.0)
    s = moments.covariance[:, by] * (n - 1) / n
    q = p * (1 - p) + law.mean_variance / h**2
    std = np.sqrt(law.mean_variance + law.count_variance * mx**2) / h
    two, first, last = moments.span > 0, moments.binary.low, moments.binary.low + moments.span
    few = 3 * np.where(two, moments.span**2, v) / n**2
    step = s / (h * q) if q > 0 else np.zeros(d)
    own = np.maximum(v - max(q, 0.0) * step**2, 0.0)

    def varies(mean: np.ndarray) -> np.ndarray:
        return np.where(two, (mean - first) * (last - mean), own)

    def solved(line: tuple[np.ndarray, float], noise: Callable, sampling: Callable, small: bool) -> Intervals:
        above, below = line
        estimate = above / below if below else np.full(d, np.nan)
        at = np.clip(np.nan_to_num(estimate), -1e6, 1e6)
        z = moments.z(level, noise(at), np.maximum(sampling(at), 0.0), law.excess_kurtosis(1.0, 0.0))
        error = [noise(x) + sampling(x) for x in (np.full(d, k) for k in (-1.0, 0.0, 1.0))]
        low, high, bounded = within((above, -below), error, z)
        intervals = Intervals(estimate, low, high, np.where(bounded & (not small), 0, SMALL_CLASS))
        intervals = intervals.without_intervals(np.full(d, moments.shortened[by]), NO_GROUPS)
        kept = np.where(intervals.identified, estimate, np.nan)  # the others are noise over noise
        intervals = dataclasses.replace(intervals, estimate=kept)
        return intervals.without_intervals(moments.same_column[by] | (np.arange(d) == by), ONE_COLUMN)

    def group(sign: float, c: float, share: float) -> Intervals:
        def noise(t: np.ndarray) -> np.ndarray:
            return (law.entry_variance + (c * c + t * t) * law.mean_variance + law.count_variance * (t * c) ** 2) / h**2

        def sampling(t: np.ndarray) -> np.ndarray:
            return max(share, 0.0) * varies(t) / n + few

        intervals = solved((sign * s / h + m * share, share), noise, sampling, min(share, 1.0) < LEAST * std)
        estimate, low, high = (
            np.where(two, np.clip(x, first, last), x) for x in (intervals.estimate, intervals.low, intervals.high)
        )
        return dataclasses.replace(intervals, estimate=estimate, low=low, high=high)

    def noise(step: np.ndarray) -> np.ndarray:
        turned = m + step * (1 - 2 * p)
        variance = law.entry_variance + law.mean_variance * (
            max(mx**2 - law.mean_variance, 0.0) + np.maximum(turned**2 - law.mean_variance, 0.0)
        )
        variance = variance + law.mean_variance**2 * (1 + 2 * step**2 / h**2)
        return (variance + law.count_variance * (step * q * h - mx * turned) ** 2) / h**2

    def sampling(step: np.ndarray) -> np.ndarray:
        apart = p * (1 - p) ** 2 * varies(m + (1 - p) * step) + (1 - p) * p**2 * varies(m - p * step)
        return np.where(two, apart, q * own) / n + few

    small = min(p, 1 - p) < LEAST * std
    return [group(-1.0, a + h, 1 - p), group(1.0, a, p), solved((s / h, q), noise, sampling, small)]
