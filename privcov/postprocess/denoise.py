"""The repair of `auto-cov`: shrinkage by parts, and eigenvalue shrinkage as far as it is better by its unbiased risk.

Y is a noisy covariance, W its noise, S what is under it. Two estimates are made of Y and mixed.

**By parts**: the mean of the diagonal, the rest of the diagonal and the rest of the matrix are each multiplied by a
number from 0 to 1. A part v of k numbers with E |w|^2 = E gets 0 while |v|^2 <= E (1 + b), b = c sqrt(2/k), which the
noise alone seldom exceeds; from E (1 + 2 b) on the factor of James and Stein, 1 - (k-2) E / (k |v|^2);
between, a straight line from one to the other. That factor alone has a risk of at most E, and of at most |s|^2 E /
(|s|^2 + E) + 2 E / k for a signal s, so that the parts together stay close to the better of the zero matrix and the
noisy diagonal. What is weaker than the noise is answered with zero, which is what makes it no worse than zero there; so
is a part whose noise alone would have to be larger than any covariance of the unit ball to be seen.

**By eigenvalues**: `shrink_spectrum` (under pure DP `shrink_wishart_difference`), with a trace of at most that of Y. It
is better where columns are strongly related, and far worse where they are not, because it cannot know the columns. It
is left out where no eigenvalue leaves the band that noise alone would fill.

**The mix**: from the first estimate J to the second F, a fraction of the diagonal and one of the rest, each <F - J, S -
J> / |F - J|^2 within [0, 1]. <F, S> = <F, Y> - <F, W>, and by Stein's identity E <F, W> = sum_ij var(W_ij) E dF_ij /
dY_ij for Gaussian noise of independent entries; for F = sum f_i u_i u_i' the derivatives follow from those of the
eigenvectors,
    sum_ij dF_ij / dY_ij (isotropic) = sum_i df_i / dl_i + sum_{i<j} (f_i - f_j) / (l_i - l_j),
    dF_aa / dY_aa = sum_ij q_ij u_ai^2 u_aj^2,  q the matrix of these quotients, df_i / dl_i where i = j.
For other noise it is the same to first order in F. An error of the fraction by its own standard deviation costs the
noise variance of one entry. <F - J, W> is taken one standard deviation up, so that noise does not choose F.

The last step is the projection on covariances of rows in the unit ball, positive semi-definite with a trace of at most
one: a convex set that contains S, so the error only falls.
Reference: own combination; James and Stein (1961); Stein (1981) for the identity; see spectrum.py for the shrinkage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.postprocess.spectrum import clip_psd, excess, project_trace, pulled_in, pulled_in_wishart

# How far a part or an eigenvalue must leave the noise: in standard deviations of |w|^2 or of the trace, and in
# d^(-2/3) of the edge, about the width of the largest eigenvalue. Wishart matrices have longer tails.
_CLEAR, _CLEAR_WISHART, _CLEAR_TRACE = 2.0, 2.5, 3.0
_EDGE, _EDGE_WISHART = 2.0, 4.0
_MOST = 1.0  # no trace, eigenvalue or norm of a covariance of the unit ball is larger


@dataclass(frozen=True)
class BlockNoise:
    """Size of the noise on a covariance, part by part, in squared units of the matrix.

    Attributes
    ----------
    rest : float
        E of the sum of the squares of all off-diagonal entries, and of what else should be taken for noise.
    diagonal : ndarray of shape (d,)
        Variance of every diagonal entry.
    trace : float
        Variance of the trace.
    std : float
        Standard deviation of an off-diagonal entry, for the eigenvalues.
    gaussian : bool
        False for a difference of Wishart matrices.
    """

    rest: float
    diagonal: np.ndarray
    trace: float
    std: float
    gaussian: bool

    @property
    def clear(self) -> float:
        """How far a part must leave the noise."""
        return _CLEAR if self.gaussian else _CLEAR_WISHART

    def width(self, k: int) -> float:
        """Return by how much |w|^2 of k numbers may exceed E |w|^2, as a fraction of it."""
        return self.clear * math.sqrt(2 / k)

    def edge(self, d: int) -> float:
        """Return what the largest eigenvalue of d x d noise seldom exceeds."""
        # Semicircle, or the free difference of two Marchenko-Pastur distributions with C = std / sqrt(2 (d + 1)).
        end = 2 * math.sqrt(d) if self.gaussian else math.sqrt((d + 1) * (11 + 5 * math.sqrt(5)) / 4)
        return self.std * end * (1 + (_EDGE if self.gaussian else _EDGE_WISHART) * d ** (-2 / 3))


def denoise(matrix: np.ndarray, noise: BlockNoise) -> np.ndarray:
    """Estimate the covariance under the noise, of rows in the unit ball.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The noisy covariance, symmetric, in units of R^2.
    noise : BlockNoise
        Size of its noise.

    Returns
    -------
    ndarray of shape (d, d)
        Symmetric, positive semi-definite, with a trace of at most one.

    Spends
    ------
    Nothing: it uses only a noisy matrix.
    """
    d = len(matrix)
    if noise.std == 0 or d == 1:  # a single number has no other to tell how large the noise is
        return _inside(clip_psd(matrix))
    parts = _by_parts(matrix, noise)
    values, vectors = np.linalg.eigh(matrix)
    if values[-1] <= noise.edge(d) or noise.edge(d) >= _MOST:
        return _inside(parts.matrix)
    spectral = _by_eigenvalues(matrix, values, vectors, noise)
    step = spectral.matrix - parts.matrix
    diagonal = np.diag(step)
    rest = step - np.diag(diagonal)
    own = np.diag(parts.matrix)
    of_diagonal = spectral.diagonal - parts.diagonal - float(own @ diagonal)
    of_rest = spectral.rest - parts.rest - float(np.sum(parts.matrix * rest))
    spread = math.sqrt(float(noise.diagonal @ diagonal**2))
    square = float(np.sum(rest**2))
    along = _fraction(of_diagonal, float(diagonal @ diagonal), spread)
    beside = _fraction(of_rest, square, noise.std * math.sqrt(2 * square))
    if along == beside == 1 and np.trace(spectral.matrix) <= 1:
        return spectral.matrix
    return _inside(parts.matrix + along * np.diag(diagonal) + beside * rest)


def _inside(matrix: np.ndarray) -> np.ndarray:
    """Return the nearest covariance of rows in the unit ball, and the matrix itself where it is one."""
    if np.trace(matrix) <= 1:
        try:
            np.linalg.cholesky(matrix)
            return matrix
        except np.linalg.LinAlgError:  # not positive definite
            pass
    return project_trace(matrix, 1.0)


@dataclass(frozen=True, eq=False)
class _Estimate:
    """An estimate F with unbiased estimates of <F, S> over the diagonal and over the rest."""

    matrix: np.ndarray
    diagonal: float
    rest: float


def _fraction(product: float, square: float, spread: float) -> float:
    """Return how far to go along a step of this squared length, whose product with S - J has this spread."""
    return min(max((product - spread) / square, 0.0), 1.0) if square > 0 else 0.0


def _by_parts(matrix: np.ndarray, noise: BlockNoise) -> _Estimate:
    """Shrink the mean of the diagonal, the rest of the diagonal and the rest of the matrix, each by one factor."""
    d, diagonal = len(matrix), np.diag(matrix)
    trace = float(diagonal.sum())
    height = trace / math.sqrt(noise.trace)
    factor = min(max(height - _CLEAR_TRACE, 0.0), 1.0)
    if _CLEAR_TRACE * math.sqrt(noise.trace) >= _MOST:
        factor = 0.0
    slope = height if 0 < factor < 1 else 0.0
    level = factor * trace / d
    about_level = noise.trace / d * (factor + slope)
    uneven = diagonal - trace / d
    uneven_noise = max(float(noise.diagonal.sum()) - noise.trace / d, 0.0)
    even, even_noise = _shrunk(uneven, uneven_noise, d - 1, noise.width(d - 1))
    rest, pairs = matrix - np.diag(diagonal), d * (d - 1) // 2
    others, others_noise = _shrunk(rest, noise.rest, pairs, noise.width(pairs))
    kept = level + even
    return _Estimate(
        np.diag(kept) + others,
        float(kept @ diagonal) - about_level - even_noise,
        float(np.sum(others * rest)) - others_noise,
    )


def _shrunk(part: np.ndarray, energy: float, k: int, width: float) -> tuple[np.ndarray, float]:
    """Return f(v) v for a part v of k numbers, and E <f(v) v, w> by Stein's identity: E (f + 2 |v|^2 f' / k)."""
    square = float(np.sum(part**2))
    ready = (square - energy * (1 + width)) / (energy * width) if energy > 0 else 1.0
    if square == 0 or ready <= 0 or energy * width >= _MOST:
        return np.zeros_like(part), 0.0
    taken = energy * max(k - 2, 0) / k / square
    factor, moved = 1 - taken, taken
    if ready < 1:
        factor, moved = factor * ready, moved * ready + factor * square / (energy * width)
    return factor * part, energy * (factor + 2 * moved / k)


def _by_eigenvalues(matrix: np.ndarray, values: np.ndarray, vectors: np.ndarray, noise: BlockNoise) -> _Estimate:
    """Shrink the eigenvalues, to a trace of at most that of the matrix where the noise is Gaussian."""
    d = len(values)
    if noise.gaussian:
        shrunk, slope = pulled_in(values, noise.std)
        over = excess(shrunk, max(float(values.sum()), 0.0))
    else:
        shrunk, slope = pulled_in_wishart(values, noise.std / math.sqrt(2 * (d + 1)))
        over = 0.0
    kept = np.maximum(shrunk - over, 0.0)
    slope = np.where(kept > 0, slope, 0.0)
    gap = values[:, None] - values[None, :]
    near = np.abs(gap) < 1e-9 * noise.std
    quotients = np.where(
        near, (slope[:, None] + slope[None, :]) / 2, (kept[:, None] - kept[None, :]) / np.where(near, 1.0, gap)
    )
    squares = vectors**2
    own = np.sum((squares @ quotients) * squares, axis=1)  # dF_aa / dY_aa
    whole = 2 * noise.std**2 * float(slope.sum() + (quotients.sum() - np.trace(quotients)) / 2)
    found = (vectors * kept) @ vectors.T
    diagonal = float(np.diag(found) @ np.diag(matrix))
    total = float(kept @ values)
    return _Estimate(
        (found + found.T) / 2,
        diagonal - float(noise.diagonal @ own),
        total - diagonal - (whole - 2 * noise.std**2 * float(own.sum())),
    )
