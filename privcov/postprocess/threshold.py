"""Thresholding of a noisy covariance, and rules for where to cut that use only the release and its noise distribution.

The diagonal is never cut: it is not sparse, and a variance set to zero makes a correlation meaningless. The effect of
noise on it is reduced by `shrink_diagonal`. Entry (i, j) has the known variance v_ij = (noise added) + (sampling);
z_ij = s_ij / sqrt(v_ij).

hard-universal
    Keep ``|z| > sqrt(2 log m)``, m = d(d-1)/2 pairs: what m pure-noise entries just do not exceed. Donoho and Johnstone
    (1994); entry-wise variances as in Cai and Liu (2011), the added noise included.
soft-sure
    Soft threshold at the t that minimises Stein's unbiased estimate of the risk. Stein (1981); Donoho and Johnstone
    (1995). The same formula with a hard threshold in it is no estimate of the hard threshold's risk (Stein needs
    continuity), and is not offered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.postprocess.spectrum import clip_psd


@dataclass(frozen=True)
class Cut:
    """A threshold, "hard" or "soft"; level: in standard deviations of an entry (inf: only the diagonal stays)."""

    kind: str
    level: float


def noise_variance(mean: np.ndarray | None, block_std: float, mean_std: float) -> np.ndarray | float:
    """Return the variance that the added noise gives to off-diagonal entries of the covariance S - m m'.

    With mean e = noise on the mean,
    Var[W_ij - mu_i e_j - mu_j e_i - e_i e_j] = block^2 + (mu_i^2 + mu_j^2) mean^2 + mean^4, i != j, where mu_i^2 is
    estimated by max(m_i^2 - mean^2, 0).
    """
    if mean is None:
        return block_std**2
    square = np.maximum(mean**2 - mean_std**2, 0.0)
    return block_std**2 + (square[:, None] + square[None, :]) * mean_std**2 + mean_std**4


def entry_variance(matrix: np.ndarray, noise: np.ndarray | float, rows: float) -> np.ndarray:
    """Return v_ij = noise_ij + ((s_ii)_+ (s_jj)_+ + s_ij^2) / n; the second part is that of Gaussian rows."""
    variances = np.maximum(np.diag(matrix), 0.0)
    return noise + (np.outer(variances, variances) + matrix**2) / rows


def cut_off_diagonal(matrix: np.ndarray, threshold: np.ndarray | float, kind: str = "hard") -> np.ndarray:
    """Set off-diagonal entries with ``|s_ij| <= threshold`` to zero; the diagonal stays."""
    size = np.abs(matrix)
    cut = np.where(size > threshold, matrix, 0.0)
    if kind == "soft":
        finite = np.minimum(threshold, size)  # an infinite threshold times sign(0) would be NaN
        cut = np.sign(matrix) * (size - finite)
    np.fill_diagonal(cut, np.diag(matrix))
    return cut


def apply_cut(matrix: np.ndarray, variance: np.ndarray, cut: Cut) -> np.ndarray:
    """Apply `cut_off_diagonal` at level * sqrt(variance)."""
    if math.isinf(cut.level):
        return np.diag(np.diag(matrix))
    return cut_off_diagonal(matrix, cut.level * np.sqrt(variance), cut.kind)


def shrink_diagonal(matrix: np.ndarray, variance: float) -> np.ndarray:
    """Pull the diagonal to its mean, by as much as noise of this variance has spread it (Efron and Morris 1973).

    x_i -> m + (1 - (d - 3) variance / sum (x_j - m)^2)_+ (x_i - m): in total squared error never worse than x for
    independent Gaussian noise, d >= 4; below that nothing happens.
    """
    x = np.diag(matrix)
    d, m = len(x), float(x.mean())
    spread = float(((x - m) ** 2).sum())
    if d < 4 or variance <= 0 or spread <= 0:
        return matrix.copy()
    answer = matrix.copy()
    np.fill_diagonal(answer, m + max(1 - (d - 3) * variance / spread, 0.0) * (x - m))
    return answer


def universal_level(d: int) -> float:
    """Return sqrt(2 log m) for m = d(d-1)/2 pairs, at least two, so that a single pair is not always kept."""
    return math.sqrt(2 * math.log(max(d * (d - 1) / 2, 2)))


def sure_level(matrix: np.ndarray, variance: np.ndarray) -> float:
    """Return the level t >= 0 that minimises Stein's unbiased estimate of the risk of a soft threshold.

    The estimate is the sum over i < j of ``v - 2 v 1{|z| <= t} + min(z^2, t^2) v``. It grows between two neighbouring
    ``|z|``, so the minimum is at zero or at one of them.
    """
    upper = np.triu_indices(len(matrix), 1)
    v = variance[upper]
    square = matrix[upper] ** 2
    noisy = v > 0  # without any variance there is nothing to remove
    v, square = v[noisy], square[noisy]
    if not len(v):
        return 0.0
    z2 = square / v
    order = np.argsort(z2)
    z2, v, square = z2[order], v[order], square[order]
    beyond = v.sum() - np.cumsum(v)  # variance of the entries above each candidate
    risk = np.cumsum(square - 2 * v) + z2 * beyond
    best = int(np.argmin(risk))
    return math.sqrt(z2[best]) if risk[best] < 0.0 else 0.0


def sampling_noise(covariance: np.ndarray, rows: float) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a sampler of symmetric Gaussian matrices with the covariance of a sample covariance of Gaussian rows.

    Cov(Z_ij, Z_kl) = (C_ik C_jl + C_il C_jk) / n: Z = C^1/2 (A + A') C^1/2 / sqrt(2 n), A standard normal.
    """
    values, vectors = np.linalg.eigh(clip_psd(covariance))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def draw(rng: np.random.Generator) -> np.ndarray:
        a = rng.standard_normal(covariance.shape)
        return root @ ((a + a.T) / math.sqrt(2 * rows)) @ root

    return draw
