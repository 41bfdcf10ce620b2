"""The repair of `auto-cov`: shrinkage by parts, and eigenvalue shrinkage as far as it is better by its unbiased risk.

Y is a noisy covariance, W its noise, S what is under it. Two estimates are made of Y and mixed.

**By parts**: the mean of the diagonal, the rest of the diagonal and the rest of the matrix are each multiplied by a
number from 0 to 1: the factor of James and Stein for the last two, 1 - (k-2) E / (k |v|^2) for a part v of k numbers
with E |w|^2 = E, times 1 - (t/T)^6, which is 0 where T, the square of what is there, stays within t, the reach of the
noise alone. It goes further with a probability of about e^-x at most:
    |w|^2 <= E (1 + 2 sqrt(x/k) + 2x/k)                               k numbers (Laurent and Massart, 2000);
    sum (w_a)_+^2 <= sum v_a / 2 + sqrt(5x/2 sum v_a^2) + 2x max v_a  the diagonal, whose signal is not below zero;
    (tr W)^2 <= 2.5^2 var(tr W).
The second is the sub-gamma bound with the variance 5/4 v^2 of z_+^2, and covers both parts of the diagonal: it sees a
few large variances where neither their mean nor their spread is clear. A mean that was subtracted may have left a part
of its square, or have moved the diagonal as one; that is added to its reach (`BlockNoise.together`). The factor of
James and Stein alone has a risk of at most E, and of at most |s|^2 E / (|s|^2 + E) + 2 E / k for a signal s, so that
the parts together stay close to the better of the zero matrix and the noisy diagonal. A part weaker than the noise
becomes zero, so it is no worse than zero there; so does a part that would be visible only beyond the largest covariance
of the unit ball.

**By eigenvalues**: `shrink_spectrum` (under pure DP `shrink_wishart_difference`), with a trace of at most that of Y. It
is better where columns are strongly related, and far worse where they are not, because it cannot know the columns. It
is left out where no eigenvalue leaves the band that noise alone would fill, with what the noise of a subtracted mean
may add to it: a matrix of rank two, whose eigenvalue l stands out of a semicircle of radius 2 b at l + b^2 / l
(Benaych-Georges and Nadakuditi, 2011).

**The mix**: from the first estimate J to the second F, a fraction of the diagonal and one of the rest, each <F - J, S -
J> / |F - J|^2 within [0, 1]. <F, S> = <F, Y> - <F, W>, and by Stein's identity E <F, W> = sum_ij var(W_ij) E dF_ij /
dY_ij for Gaussian noise of independent entries; for F = sum f_i u_i u_i' the derivatives follow from those of the
eigenvectors,
    sum_ij dF_ij / dY_ij (isotropic) = sum_i df_i / dl_i + sum_{i<j} (f_i - f_j) / (l_i - l_j),
    dF_aa / dY_aa = sum_ij q_ij u_ai^2 u_aj^2,  q the matrix of these quotients, df_i / dl_i where i = j.
For other noise it is the same to first order in F. An error of the fraction by its own standard deviation costs the
noise variance of one entry. <F - J, W> is taken one standard deviation up, so that noise does not choose F.

**Few columns under pure DP** (`_few_columns`): two to four columns have too few numbers for factors that must tell a
signal from the long tails of the noise: they drop a signal of twice the noise. The estimate by eigenvalues, which drops
less, is multiplied by T^2 / (T^2 + (2 E)^2) instead, T the square of the noisy trace and E the variance of its noise;
then its entries off the diagonal by the same of T, their sum of squares, and E, that of their noise beyond one entry.

The last step is the projection on covariances of rows in the unit ball, positive semi-definite with a trace of at most
one: a convex set that contains S, so the error only falls.
Reference: own combination; James and Stein (1961); Stein (1981) for the identity; Laurent and Massart (2000) and
Benaych-Georges and Nadakuditi (2011) for the reach of the noise; see spectrum.py for the shrinkage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.postprocess.spectrum import (
    clip_psd,
    divided_differences,
    excess,
    project_trace,
    shrunk_values,
    shrunk_values_wishart,
)

# How far a part or an eigenvalue must leave the noise: x of the module's text, standard deviations of a single number,
# and in d^(-2/3) of the edge, about the width of the largest eigenvalue. Wishart matrices have longer tails.
_SURPRISE, _SURPRISE_WISHART = 2.0, 3.0
_FEW = 4  # columns
CLEAR = 2.5
RISE = 6  # the power of t/T: how soon a part that has left the noise is taken whole
_EDGE, _EDGE_WISHART = 2.0, 4.0
_MAX_NORM = 1.0  # no trace, eigenvalue or norm of a covariance of the unit ball is larger


@dataclass(frozen=True)
class BlockNoise:
    """Size of the noise on a covariance, part by part, in squared units of the matrix.

    rest: E of the sum of the squares of all off-diagonal entries, and of what else should be taken for noise. diagonal:
    variance of every diagonal entry. trace: variance of the trace. std: standard deviation of an off-diagonal entry,
    for the eigenvalues. gaussian: False for a difference of Wishart matrices. along: how far it may reach along the
    directions of means that were subtracted, beside the rest. across: the same from these directions to others.
    together: length by which it may move the diagonal as one. axes: vectors a, k x d, for which the noise of a
    subtracted mean is a e' + e a' with e standard normal, beside that of independent entries. remainder: square of what
    may be left of a mean, along one direction.
    """

    rest: float
    diagonal: np.ndarray
    trace: float
    std: float
    gaussian: bool
    along: float = 0.0
    across: float = 0.0
    together: float = 0.0
    axes: np.ndarray | None = None
    remainder: float = 0.0

    @property
    def coherent(self) -> float:
        """Largest variance that subtracted means add to one projection of the matrix, with what is left of them."""
        return self.remainder + (0.0 if self.axes is None else 4 * float(np.sum(self.axes**2)))

    @property
    def surprise(self) -> float:
        """Minus the logarithm of the probability with which noise alone may leave its bounds."""
        return _SURPRISE if self.gaussian else _SURPRISE_WISHART

    def width(self, k: int, among: int = 1) -> float:
        """Return how far |w|^2 of k numbers may exceed E |w|^2, over E |w|^2, in the largest of ``among`` parts."""
        x = self.surprise + math.log(among)
        return 2 * math.sqrt(x / k) + 2 * x / k

    def edge(self, d: int) -> float:
        """Return what the largest eigenvalue of d x d noise seldom exceeds."""
        # Semicircle, or the free difference of two Marchenko-Pastur distributions with C = std / sqrt(2 (d + 1)).
        end = 2 * math.sqrt(d) if self.gaussian else math.sqrt((d + 1) * (11 + 5 * math.sqrt(5)) / 4)
        inner = self.std * end * (1 + (_EDGE if self.gaussian else _EDGE_WISHART) * d ** (-2 / 3))
        half = self.std * end / 2
        spike = (self.along + math.hypot(self.along, 2 * self.across)) / 2
        return max(inner, spike + half**2 / spike) if spike > half else inner


def denoise(matrix: np.ndarray, noise: BlockNoise) -> np.ndarray:
    """Estimate the covariance under the noise, of rows in the unit ball."""
    if noise.std == 0 or len(matrix) == 1:  # a single number has no other to tell how large the noise is
        return project_to_unit_ball(clip_psd(matrix))
    if len(matrix) <= _FEW and not noise.gaussian:
        return _few_columns(matrix, noise)
    estimate = before_projection(matrix, noise)
    return (
        estimate.matrix
        if estimate.positive and np.trace(estimate.matrix) <= 1
        else project_to_unit_ball(estimate.matrix)
    )


def _few_columns(matrix: np.ndarray, noise: BlockNoise) -> np.ndarray:
    """Estimate the covariance of two to four columns under the noise of pure DP; the module's text has the factors."""
    values, vectors = np.linalg.eigh(matrix)
    estimate = project_to_unit_ball(_by_eigenvalues(matrix, values, vectors, noise).matrix)
    pairs, trace = len(matrix) * (len(matrix) - 1) // 2, max(float(np.trace(matrix)), 0.0)
    diagonal = np.diag(np.diag(estimate))
    rest = estimate - diagonal
    kept = _half_at_twice(float(np.sum(rest * rest)), noise.rest * (pairs - 1) / pairs)
    # Between two covariances of the unit ball, then towards zero: a covariance of the unit ball as well.
    return _half_at_twice(trace * trace, noise.trace) * (diagonal + kept * rest)


def _half_at_twice(square: float, energy: float) -> float:
    return square * square / (square * square + 4 * energy * energy) if square > 0 else 0.0


@dataclass(frozen=True, eq=False)
class LinearEstimate:
    """A symmetric estimate F = ``matrix`` with unbiased estimates of <F, S> over the diagonal and over the rest.

    positive: whether no eigenvalue of F can be negative.
    """

    matrix: np.ndarray
    diagonal: float
    rest: float
    positive: bool = False


def before_projection(matrix: np.ndarray, noise: BlockNoise) -> LinearEstimate:
    """Return the estimate by parts, moved towards the one by eigenvalues where an eigenvalue leaves the noise."""
    parts, edge = _by_parts(matrix, noise), noise.edge(len(matrix))
    values, vectors = np.linalg.eigh(matrix)
    if values[-1] <= edge or edge >= _MAX_NORM:
        return parts
    spectral = _by_eigenvalues(matrix, values, vectors, noise)
    step = spectral.matrix - parts.matrix
    diagonal = np.diag(step)
    rest = step - np.diag(diagonal)
    of_diagonal = spectral.diagonal - parts.diagonal - float(np.diag(parts.matrix) @ diagonal)
    along = _fraction(of_diagonal, float(diagonal @ diagonal), math.sqrt(float(noise.diagonal @ diagonal**2)))
    of_rest = spectral.rest - parts.rest - float(np.sum(parts.matrix * rest))
    square = float(np.sum(rest**2))
    beside = _fraction(of_rest, square, noise.std * math.sqrt(2 * square))
    if along == beside == 1:
        return spectral
    return LinearEstimate(
        parts.matrix + along * np.diag(diagonal) + beside * rest,
        parts.diagonal + along * (spectral.diagonal - parts.diagonal),
        parts.rest + beside * (spectral.rest - parts.rest),
    )


def project_to_unit_ball(matrix: np.ndarray) -> np.ndarray:
    """Return the nearest covariance of rows in the unit ball, and the matrix itself where it is one."""
    if np.trace(matrix) <= 1:
        try:
            np.linalg.cholesky(matrix)
            return matrix
        except np.linalg.LinAlgError:  # not positive definite
            pass
    return project_trace(matrix, 1.0)


def _fraction(product: float, square: float, spread: float) -> float:
    """Return the fraction of a step to take: <step, S - J> less its spread, over the squared length of the step."""
    return min(max((product - spread) / square, 0.0), 1.0) if square > 0 else 0.0


def _by_parts(matrix: np.ndarray, noise: BlockNoise) -> LinearEstimate:
    """Shrink the mean of the diagonal, the rest of the diagonal and the rest of the matrix, each by one factor."""
    d, diagonal = len(matrix), np.diag(matrix)
    new_diagonal, on = diagonal_part(diagonal, noise)
    rest, pairs = matrix - np.diag(diagonal), d * (d - 1) // 2
    square = float(np.sum(rest**2))
    factor, off = james_stein(square, noise.rest, pairs, drop_fraction(square, noise.rest, pairs, noise))
    off_diagonal = factor * rest
    return LinearEstimate(
        np.diag(new_diagonal) + off_diagonal, float(new_diagonal @ diagonal) - on, factor * square - off
    )


def diagonal_part(diagonal: np.ndarray, noise: BlockNoise) -> tuple[np.ndarray, float]:
    """Return the shrunk diagonal f and E <f, w> by Stein's identity; any two of its noises have one covariance.

    The mean of the diagonal is multiplied by ``level``, the rest of it by ``factor``. Each hidden_ is the fraction of
    a part that is dropped because noise alone may have made it: of the mean, of the rest, and of both together.
    """
    d, variances, total = len(diagonal), noise.diagonal, float(noise.diagonal.sum())
    trace, x = float(diagonal.sum()), noise.surprise
    mean, uneven, positive = trace / d, diagonal - trace / d, np.maximum(diagonal, 0.0)
    positive_square, uneven_square = float(positive @ positive), float(uneven @ uneven)
    uneven_noise = max(total - noise.trace / d, 0.0)

    reach_both = math.sqrt(2.5 * x * float(variances @ variances)) + 2 * x * float(variances.max()) + noise.together**2
    hidden_both = _drop_fraction(total / 2 + reach_both, positive_square, reach_both)
    reach_trace = CLEAR**2 * noise.trace
    hidden_mean = _drop_fraction(reach_trace, max(trace, 0.0) ** 2, reach_trace)
    hidden_uneven = drop_fraction(uneven_square, uneven_noise, d - 1, noise)

    level = 1 - min(hidden_both, hidden_mean)
    level_slope = 2 * RISE * hidden_mean if hidden_mean < min(hidden_both, 1.0) else 0.0
    by_both = hidden_both <= hidden_uneven
    factor, expected_uneven = james_stein(
        uneven_square, uneven_noise, d - 1, min(hidden_both, hidden_uneven), fixed=by_both
    )
    expected = (level + level_slope) * noise.trace / d + expected_uneven
    if hidden_both < 1:  # what moves with hidden_both, in the level and in the factor
        derivative = np.full(d, mean) if hidden_both <= hidden_mean else np.zeros(d)
        if by_both:
            derivative = derivative + factor / (1 - hidden_both) * uneven
        shared = (total - noise.trace) / d**2  # minus the covariance of two entries, on average
        slope = 2 * RISE * hidden_both / positive_square
        own_part = float(variances @ (derivative * positive))
        expected += slope * (own_part - shared * float(derivative.sum() * positive.sum()))
    return level * mean + factor * uneven, expected


def _drop_fraction(reach: float, square: float, beyond: float) -> float:
    """Return the fraction of a part to drop, 0 to 1, if noise alone reaches this square.

    beyond: signal that the part needs to be kept; nothing in the unit ball reaches _MAX_NORM.
    """
    return 1.0 if square <= reach or beyond >= _MAX_NORM else (reach / square) ** RISE


def drop_fraction(square: float, energy: float, k: int, noise: BlockNoise, among: int = 1) -> float:
    """Return the fraction of a part of k numbers to drop, because noise alone may reach its square.

    among: the number of projections of which this is the one that leaves the noise most clearly; along one of them the
    noise of a subtracted mean may lie as a whole.
    """
    width = noise.width(k, among)
    mean = noise.coherent * (1 + noise.width(1, among)) if among > 1 else 0.0
    return _drop_fraction(energy * (1 + width) + mean, square, energy * width + mean)


def james_stein(square: float, energy: float, k: int, gone: float, fixed: bool = False) -> tuple[float, float]:
    """Return the factor f of a part v of k numbers with this |v|^2, and E <f v, w> = E (f + 2 |v|^2 f' / k)."""
    if gone >= 1:
        return 0.0, 0.0
    shrinkage = energy * max(k - 2, 0) / k / square if square > 0 else 0.0
    shrinkage = min(shrinkage, 1.0)
    slope = (shrinkage * (1 - gone) if shrinkage < 1 else 0.0) + (0.0 if fixed else (1 - shrinkage) * RISE * gone)
    factor = (1 - shrinkage) * (1 - gone)
    return factor, energy * (factor + 2 * slope / k)


def _by_eigenvalues(matrix: np.ndarray, values: np.ndarray, vectors: np.ndarray, noise: BlockNoise) -> LinearEstimate:
    """Shrink the eigenvalues, to a trace of at most that of the matrix where the noise is Gaussian."""
    d = len(values)
    if noise.gaussian:
        shrunk, slope = shrunk_values(values, noise.std)
        over = excess(shrunk, max(float(values.sum()), 0.0))
    else:
        shrunk, slope = shrunk_values_wishart(values, noise.std / math.sqrt(2 * (d + 1)))
        over = 0.0
    new_values = np.maximum(shrunk - over, 0.0)
    slope = np.where(new_values > 0, slope, 0.0)
    rates = divided_differences(values, new_values, slope, 1e-9 * noise.std)
    squares = vectors**2
    own = np.sum((squares @ rates) * squares, axis=1)  # dF_aa / dY_aa
    whole = 2 * noise.std**2 * float(slope.sum() + (rates.sum() - np.trace(rates)) / 2)
    estimate = (vectors * new_values) @ vectors.T
    diagonal = float(np.diag(estimate) @ np.diag(matrix))
    total = float(new_values @ values)
    return LinearEstimate(
        (estimate + estimate.T) / 2,
        diagonal - float(noise.diagonal @ own),
        total - diagonal - (whole - 2 * noise.std**2 * float(own.sum())),
        positive=True,
    )
