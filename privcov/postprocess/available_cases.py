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

So the noise differs from entry to entry, and the matrix may have negative eigenvalues. The quotient is biased where p
is not far above its noise. So an entry is refused, and is NaN, where its share is below 3 standard deviations of the
noise on the share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.tables.public_facts import Flags

LEAST = 3.0  # standard deviations of its noise that a share must have


@dataclass(frozen=True, eq=False)
class AvailableCases:
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


def available_cases(matrix: np.ndarray, flags: Flags, *, row_bound: float) -> AvailableCases:
    """Return means, covariances and shares of the available cases, each with the deviation of its noise."""
    same = np.eye(flags.d) > 0
    entry_variance, flag_squared = flags.entry_std * flags.entry_std, flags.weight * flags.weight
    anchor_squared = float(matrix[-1, -1])
    anchor = math.sqrt(anchor_squared)
    flagged = np.zeros(flags.d)
    flagged[np.array(flags.columns, dtype=np.int64)] = 1.0

    gone, gone_variance = _missing_shares(matrix, flags, anchor, entry_variance / (flag_squared * anchor_squared))
    shares, share_std, share_variance = _shares_of_pairs(matrix, flags, flagged, gone, gone_variance)
    pi = np.where(shares > LEAST * share_std, shares, np.nan)
    block, block_variance, covariance_with_share = _freed_variances(matrix, flags, gone, gone_variance)

    sums = matrix[: flags.d, -1][:, None] / anchor - _beside_gaps(matrix, flags)  # A_ij of the docstring of the module
    flag_noise = np.where(same, 0.0, flagged[None, :] * (entry_variance / flag_squared))
    sum_variance = entry_variance / anchor_squared + flag_noise
    means, mean_variances = sums / pi, sum_variance / (pi * pi)
    covariance = block / pi - means * means.T + np.where(same, mean_variances, 0.0)

    squares = np.maximum(means * means - mean_variances, 0.0)
    apart = covariance - means * means.T
    product = squares.T * sum_variance + squares * sum_variance.T + sum_variance * mean_variances.T
    of_means = np.where(same, 2.0, 1.0) * product
    of_shares = apart * apart * share_variance
    variance = (block_variance + of_means + of_shares - 2 * apart * covariance_with_share) / (pi * pi)

    mean = np.diag(means)
    mean_variance = np.diag(mean_variances) + mean * mean * np.diag(share_variance / (pi * pi))
    scale = row_bound * row_bound
    return AvailableCases(
        shares, share_std, row_bound * mean, row_bound * np.sqrt(mean_variance), scale * covariance,
        scale * scale * variance,
    )  # fmt: skip


def _missing_shares(matrix: np.ndarray, flags: Flags, anchor: float, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return q, the share of rows without each column, and Var q; zero for a column without a flag."""
    gone, gone_variance = np.zeros(flags.d), np.zeros(flags.d)
    at = list(flags.columns)
    gone[at] = matrix[flags.d : flags.d + len(at), -1] / (flags.weight * anchor)
    gone_variance[at] = variance
    return gone, gone_variance


def _shares_of_pairs(
    matrix: np.ndarray, flags: Flags, flagged: np.ndarray, gone: np.ndarray, gone_variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return p, the share of rows with both cells, the deviation of its noise, and Var p of a share that divides."""
    d, at, same = flags.d, np.array(flags.columns, dtype=np.int64), np.eye(flags.d) > 0
    flag_squared, entry_variance = flags.weight * flags.weight, flags.entry_std * flags.entry_std
    both_gone = np.zeros((d, d))
    both_gone[at[:, None], at[None, :]] = matrix[d : d + len(at), d : d + len(at)] / flag_squared
    np.fill_diagonal(both_gone, gone)
    shares = 1 - (gone[:, None] + gone[None, :]) + both_gone
    both_flagged = flagged[:, None] * flagged[None, :]
    of_pair = both_flagged * (entry_variance / (flag_squared * flag_squared))
    variance = gone_variance[:, None] + gone_variance[None, :] + of_pair
    variance = np.where(same, gone_variance[:, None], variance)
    count_variance = flags.count_std * flags.count_std
    share_std = np.sqrt(variance + (1 - shares) * (1 - shares) * count_variance)
    return shares, share_std, variance + count_variance  # the sum that it divides has as noisy a number of rows


def _beside_gaps(matrix: np.ndarray, flags: Flags) -> np.ndarray:
    """Return the mean of column i over the rows without column j, times their share; zero on the diagonal."""
    beside = np.zeros((flags.d, flags.d))
    beside[:, list(flags.columns)] = matrix[: flags.d, flags.d : flags.d + len(flags.columns)] / flags.weight
    np.fill_diagonal(beside, 0.0)
    return beside


def _freed_variances(
    matrix: np.ndarray, flags: Flags, gone: np.ndarray, gone_variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M with M_jj - b r on its diagonal, the variance of its noise, and the covariance of that with p_jj."""
    d, at = flags.d, np.array(flags.columns, dtype=np.int64)
    flag_squared = flags.weight * flags.weight
    diagonal_variances = np.array(flags.diagonal_stds) * np.array(flags.diagonal_stds)
    block, variance = matrix[:d, :d].copy(), np.full((d, d), flags.entry_std * flags.entry_std)
    np.fill_diagonal(variance, diagonal_variances[:d])
    own, places = np.array(flags.own_covariance), np.arange(d, d + len(at))
    pull = own / (diagonal_variances[places] + flag_squared * flag_squared * gone_variance[at])  # b
    block[at, at] -= pull * (matrix[places, places] - flag_squared * gone[at])
    variance[at, at] -= own * pull
    with_share = np.zeros((d, d))
    with_share[at, at] = -pull * flag_squared * gone_variance[at]
    return block, variance, with_share


def known_mean(mean: np.ndarray, matrix: np.ndarray, flags: Flags) -> np.ndarray:
    """Return the mean with NaN for every column that too few rows have."""
    return np.where(np.diag(available_cases(matrix, flags, row_bound=1.0).refused), np.nan, mean)
