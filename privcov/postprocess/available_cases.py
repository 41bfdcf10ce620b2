"""Covariances of the available cases, from a noisy moment with flags of missing cells; nothing is spent.

The moment M is per row, in unit-ball units: coordinates y_j o_j (o_j = 1 where the cell is there), flags c (1 - o_j)
and an anchor s. For two columns i and j it gives

    q_i    share of rows without i: M_fi,a / (c s)
    p_ij   share of rows with both: 1 - q_i - q_j + M_fi,fj / c^2                    p_jj = 1 - q_j
    A_ij   E[y_i o_i o_j] = M_i,a / s - M_i,fj / c                                   A_jj = M_j,a / s
    C_ij   M_ij / p_ij - (A_ij / p_ij)(A_ji / p_ij)      the covariance over the rows that have both
    C_jj   M_jj / p_jj - (A_jj / p_jj)^2 + Var A_jj / p_jj^2     the last term is the bias of a noisy square

A column without a flag has q = 0 and M_i,fj = 0. Every term is another entry of M, and different entries have
uncorrelated noise. With e the standard deviation of an off-diagonal entry, m_ij = A_ij / p_ij and V the variance of the
entry M_ij, to first order in p and exactly in A:

    Var C_ij = [V + m_ji^2 Var A_ij + m_ij^2 Var A_ji + Var A_ij Var A_ji / p^2 + (C_ij - m_ij m_ji)^2 Var p_ij] / p^2
    Var C_jj = [V + 4 m_jj^2 Var A_jj + 2 (Var A_jj)^2 / p^2 + (C_jj - m_jj^2)^2 Var p_jj] / p^2
    Var A_ij = e^2 / s^2 + e^2 / c^2            Var q_j = e^2 / (c s)^2
    Var p_ij = Var q_i + Var q_j + e^2 / c^4 + t^2, t the relative deviation of a noisy number of rows

(p alone has (1 - p)^2 t^2 in place of t^2: a quotient of two sums depends on the number of rows in the divisor only.)

The terms of a flag are there only where it is. Noise of free groups (noise_theory/free_groups.py) is the exception:
there M_jj + M_fj,fj is known far better than its two parts, whose noise has the covariance h, and c^2 q_j is known from
the anchor. With r = M_fj,fj - c^2 q_j and b = h / Var r, M_jj - b r takes the place of M_jj. Its variance is V - h b,
and its covariance with p_jj, -b c^2 Var q_j, adds 2 b c^2 Var q_j (C_jj - m_jj^2) / p^2 to Var C_jj.

So the noise differs from entry to entry, the matrix may have negative eigenvalues, and the quotient is biased where p
is not far above its noise: an entry whose share is below 3 standard deviations of the noise on it is refused, that is
NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.tables.public_facts import Flags

LEAST = 3.0  # standard deviations of its noise that a share must have


@dataclass(frozen=True, eq=False)
class Available:
    """What is known of the available cases, in working units.

    shares: noisy share of rows that have both cells. mean: of the cells that are there; NaN where refused.
    covariance: of the rows that have both cells; NaN where refused.
    share_std, mean_std, variance: standard deviations, and of ``covariance`` the variance, of the privacy noise.
    """

    shares: np.ndarray
    share_std: np.ndarray
    mean: np.ndarray
    mean_std: np.ndarray
    covariance: np.ndarray
    variance: np.ndarray

    @property
    def refused(self) -> np.ndarray:
        """The entries whose share is too near its noise, d x d."""
        return np.isnan(self.covariance)


def available_cases(matrix: np.ndarray, flags: Flags, *, row_bound: float) -> Available:
    """Return means, covariances and shares of the available cases, each with the deviation of its noise."""
    d, c, at = flags.d, flags.weight, np.array(flags.columns, dtype=np.int64)
    e2, c2 = flags.entry_std * flags.entry_std, flags.weight * flags.weight
    g2 = np.array(flags.diagonal_stds) * np.array(flags.diagonal_stds)
    there = np.zeros(d)
    there[at] = 1.0
    both, same = there[:, None] * there[None, :], np.eye(d)
    corner = float(matrix[-1, -1])
    anchor = math.sqrt(corner)
    beside, gone, together = np.zeros((d, d)), np.zeros(d), np.zeros((d, d))
    ends = slice(d, d + len(at))
    beside[:, at] = matrix[:d, ends] / c
    together[at[:, None], at[None, :]] = matrix[ends, ends] / c2
    gone[at] = matrix[ends, -1] / (c * anchor)
    gone_variance = np.zeros(d)
    gone_variance[at] = e2 / (c2 * corner)
    np.fill_diagonal(beside, 0.0)
    np.fill_diagonal(together, gone)
    shares = 1 - (gone[:, None] + gone[None, :]) + together
    off = gone_variance[:, None] + gone_variance[None, :] + both * (e2 / (c2 * c2))
    share_variance = np.where(same > 0, gone_variance[:, None], off)
    count2 = flags.count_std * flags.count_std
    share_std = np.sqrt(share_variance + (1 - shares) * (1 - shares) * count2)
    share_variance = share_variance + count2  # of a share that divides a sum over as noisy a number of rows
    pi = np.where(shares > LEAST * share_std, shares, np.nan)
    block, entry = matrix[:d, :d].copy(), np.full((d, d), e2)
    np.fill_diagonal(entry, g2[:d])
    own = np.array(flags.own_covariance)
    beyond = np.zeros((d, d))  # covariance of the numerator and the share, on the diagonal
    total_variance = g2[ends] + c2 * c2 * gone_variance[at]
    pull = own / total_variance
    block[at, at] -= pull * (matrix[np.arange(d, d + len(at)), np.arange(d, d + len(at))] - c2 * gone[at])
    entry[at, at] -= own * pull
    beyond[at, at] = -pull * c2 * gone_variance[at]
    second, scale = block / pi, row_bound * row_bound
    sums = matrix[:d, -1][:, None] / anchor - beside
    sum_variance = e2 / corner + np.where(same > 0, 0.0, there[None, :] * (e2 / c2))
    means, noise = sums / pi, sum_variance / (pi * pi)
    covariance = second - means * means.T + np.where(same > 0, noise, 0.0)
    squares = np.maximum(means * means - noise, 0.0)
    spread = covariance - means * means.T
    product = squares.T * sum_variance + squares * sum_variance.T + sum_variance * noise.T
    twice = np.where(same > 0, 2.0, 1.0) * product
    variance = (entry + twice + spread * spread * share_variance - 2 * spread * beyond) / (pi * pi)
    mean = np.diag(means)
    mean_variance = np.diag(noise) + mean * mean * np.diag(share_variance / (pi * pi))
    return Available(
        shares,
        share_std,
        row_bound * mean,
        row_bound * np.sqrt(mean_variance),
        scale * covariance,
        scale * scale * variance,
    )


def known_mean(mean: np.ndarray, matrix: np.ndarray, flags: Flags) -> np.ndarray:
    """Return the mean with NaN for every column that too few rows have."""
    return np.where(np.diag(available_cases(matrix, flags, row_bound=1.0).refused), np.nan, mean)
