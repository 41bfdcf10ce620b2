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

import numpy as np

from privcov.answering.known import SMALL_CLASS, Found, Known
from privcov.measurements.exact_reading import read_sum
from privcov.measurements.moment import Measured
from privcov.measurements.noise import COUPLED, coupled_moments

LEAST = 3.0


def contrast(known: Known, whole: Measured | None, a: int, b: int, level: float) -> Found:
    """Return the interval of the mean of class a less that of class b, in working units.

    Parameters
    ----------
    known : Known
        The release.
    whole : Measured or None
        The moment with its class sums; None reads it from the private measurement.
    a, b : int
        Positions of the classes.
    level : float
        Nominal coverage.

    Returns
    -------
    Found
        By column.

    Spends
    ------
    Nothing.

    Reference
    ---------
    Own derivation, in the docstring of the module.
    """
    if whole is None:
        assert known.total is not None, "a private measurement has its class sums"
        whole = read_sum(known.total, "classes")
    noise, d, r, square = whole.distribution, known.d, whole.row_bound, whole.anchor_squared
    k = noise.n_anchors
    sums = r * whole.matrix[:d, d:] / math.sqrt(square)
    shares = np.diag(whole.matrix)[d:] / square
    of_sum = (r * noise.off_diagonal_std) ** 2 / square
    of_count, shared = (noise.count_std / square) ** 2, 0.0
    if noise.shape == COUPLED:
        flat, shared = (m * (noise.scale / square) ** 2 for m in coupled_moments(noise.dimension + noise.measured))
        of_count = flat
    if whole.count is None:
        shared = -of_count / k
    safe = np.where(shares > 0, shares, 1.0)
    means = sums / safe
    within = r * r * np.diag(whole.matrix)[:d] - (means**2 - of_sum / safe**2) @ np.maximum(shares, 0.0)
    within = np.maximum(within, 0.0)
    spread, sampling = np.zeros(d), np.zeros(d)
    for c in (a, b):
        p = safe[c]
        spread += (of_sum + of_count * means[:, c] ** 2) / p**2 + of_sum * of_count / p**4
        sampling += within / (known.rows * p)
    spread = np.maximum(spread + shared * (means[:, a] / safe[a] - means[:, b] / safe[b]) ** 2, 0.0)
    half = known.z(level, spread, sampling, known.law.excess(1.0, 0.0)) * np.sqrt(spread + sampling)
    small = min(shares[a], shares[b]) < LEAST * math.sqrt(of_count + max(shared, 0.0))
    found = means[:, a] - means[:, b]
    return Found(found, found - half, found + half, np.full(d, SMALL_CLASS if small else 0))
