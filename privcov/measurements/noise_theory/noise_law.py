"""The noise on a covariance that is read from one release, and the variance of every linear form of it.

Working units, in which the public half-range of every column is 1. S + W is the noisy second moment and m + e the noisy
mean (e of variance t_m^2 in every coordinate, uncorrelated with W), both over a number of rows that may be noisy too,
with the relative error u. The covariance is C = S + W - (m + e)(m + e)' + t_m^2 I, so for a symmetric A

    <A, C - C0> = <A, W> - 2 (A m)'e - (e'Ae - t_m^2 tr A) - u <A, C0 - m m'>

to first order in u, and exactly where the number of rows is public. In every shape of noise the entries above the
diagonal are uncorrelated, of variance t^2, and the diagonal has the covariance diag(2 t^2 + x) + c 11':

    N(A) = 2 t^2 |A|^2 + sum_a x_a A_aa^2 + c (tr A)^2 + 4 t_m^2 |A m|^2 + 2 t_m^4 |A|^2 + v_u q^2 + 2 k q tr A

with q = -<A, C0 - m m'>, v_u = Var u and k the covariance of u with each diagonal entry of W (coupled noise alone has
one). x and c by shape, s^2 the square of the scale of Gaussian noise:

    isotropic, Wishart   x = 0                      c = 0
    upper triangle, Laplace   x = -t^2              c = 0
    free groups of one column, of weight w          x = -s^2 w / (1 + w)    c = 0
    one group of all g columns and flags            x = 0                   c = -s^2 w / (1 + g w), w = 1 for free trace
    coupled              x = 0                      c from `noise.coupled_moments`, with what reading the trace adds

The fourth moments matter where a few Laplace or Wishart numbers make up the error. A Laplace number, and a sum of j of
them, is a normal number whose variance is Gamma of shape j; so is an entry above the diagonal of a Wishart difference
with f degrees of freedom (shape f), and an entry on it (shape f / 2). `tails` has these laws. A form of rank 2 with the
eigenvalues l has the excess kurtosis (6 / f) sum l^4 / (sum l^2)^2. Coupled noise is close to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import COUPLED, FREE_GROUPS, WISHART, NoiseDistribution, coupled_moments
from privcov.measurements.noise_theory.tails import tail


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """The noise on the covariance and on the mean of some columns, in working units.

    entry_variance: t^2, the variance of an entry above the diagonal. diagonal_excess: x, the variance of each diagonal
    entry less 2 t^2 and less c. diagonal_covariance: c, the covariance that all diagonal entries have. mean_variance:
    t_m^2, the variance of a coordinate of the mean; 0 where none was measured. count_variance: variance of the relative
    error of the number of rows; 0 where it is public. count_diagonal_covariance: covariance of that error with a
    diagonal entry. laplace: whether the entries are Laplace numbers. freedom: degrees of freedom of Wishart noise; 0
    for other shapes.
    """

    entry_variance: float
    diagonal_excess: np.ndarray
    diagonal_covariance: float
    mean_variance: float
    count_variance: float = 0.0
    count_diagonal_covariance: float = 0.0
    laplace: bool = False
    freedom: float = 0.0

    def restricted_to(self, columns: np.ndarray) -> NoiseLaw:
        """Return the law of some of the columns."""
        return NoiseLaw(
            self.entry_variance,
            self.diagonal_excess[columns],
            self.diagonal_covariance,
            self.mean_variance,
            self.count_variance,
            self.count_diagonal_covariance,
            self.laplace,
            self.freedom,
        )

    def excess_kurtosis(self, spread: np.ndarray | float, turn: np.ndarray | float) -> np.ndarray:
        """Return the excess kurtosis of <A, W> for A = (v w' + w v') / 2."""
        if self.laplace:
            return 3.0 * np.asarray(spread)
        if not self.freedom:
            return np.zeros_like(np.asarray(turn, dtype=np.float64))
        turned = np.asarray(turn, dtype=np.float64)
        square = turned * turned
        size = 2 + 2 * square
        return 6 / self.freedom * (2 + 12 * square + 2 * square * square) / (size * size)

    def products(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return N((th_i th_j' + th_j th_i') / 2) for all pairs of rows of Th = C0^-1 (see `postprocess.edge_test`)."""
        q, square, at_mean = theta @ theta, theta * theta, theta @ mean
        own = np.diag(q)
        noise = (self.entry_variance + self.mean_variance**2) * (np.outer(own, own) + q * q) + (
            square * self.diagonal_excess
        ) @ square
        turned = np.outer(own, at_mean**2)
        noise += self.diagonal_covariance * q * q + self.mean_variance * (
            turned + turned.T + 2 * q * np.outer(at_mean, at_mean)
        )
        return np.maximum(noise + self.count_variance * (np.outer(at_mean, at_mean) - theta) ** 2, 0.0)

    def tail(self, value: np.ndarray, normal: np.ndarray, noise: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return P(|X| > |value|) for the noise on <th_i, C th_j> of all pairs, beside a normal error."""
        squares = theta * theta
        own = squares.sum(axis=1)
        cosine = (theta @ theta) / np.sqrt(np.outer(own, own))
        spread = np.outer((squares**2).sum(axis=1), (squares**2).sum(axis=1)) / np.outer(own, own) ** 2
        pairs = ~np.eye(len(theta), dtype=bool)
        excess = float(np.max(self.excess_kurtosis(spread, cosine)[pairs], initial=0.0))
        return tail(value, normal, noise, 3 / max(excess, 1e-9))

    def form_variance(self, form: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float:
        """Return N(A), the variance of the privacy noise on <A, C>."""
        on, size = np.diag(form), float(np.sum(form * form))
        turned = form @ mean
        q = float(mean @ turned) - float(np.sum(form * covariance))
        noise = (
            2 * self.entry_variance * size
            + float(self.diagonal_excess @ (on * on))
            + self.diagonal_covariance * float(on.sum()) ** 2
        )
        noise += 4 * self.mean_variance * float(turned @ turned) + 2 * self.mean_variance**2 * size
        return max(noise + self.count_variance * q * q + 2 * self.count_diagonal_covariance * q * float(on.sum()), 0.0)

    def debiased_form_variance(self, form: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float:
        """Return N(A) at a noisy mean, corrected because its noise makes |A m|^2 too large by t_m^2 |A|^2."""
        variance = self.form_variance(form, mean, covariance)
        return max(variance - 4 * self.mean_variance**2 * float(np.sum(form * form)), variance / 4)


def law_of(noisy_moment: NoisyMoment, count: float = 0.0) -> NoiseLaw:
    """Return the law of the noise on the covariance that `postprocess.moments.unpack` gives, plus t_m^2 I."""
    noise, r2 = noisy_moment.distribution, noisy_moment.row_bound * noisy_moment.row_bound
    d = noise.dimension if noisy_moment.flags is None else noisy_moment.flags.d
    edge, stds, common = r2 * noise.off_diagonal_std, noise.diagonal_stds[:d], r2 * r2 * _common(noise)
    off = edge * edge  # products, not powers: every bit is the same on every machine
    extra = r2 * r2 * (stds * stds) - common - 2 * off
    corner = float(noisy_moment.matrix[-1, -1]) if noise.n_anchors else 1.0
    mean = off / r2 / corner if noise.n_anchors else 0.0
    tie = 0.0
    if noise.shape == COUPLED and count:
        tie = (
            r2
            * noise.scale
            * noise.scale
            * coupled_moments(noise.dimension + noise.measured)[1]
            / noisy_moment.anchor_squared
        )
    freedom = float(noise.degrees_of_freedom) if noise.shape in WISHART else 0.0
    if noise.shape == COUPLED:
        freedom = noise.dimension + noise.measured + 1.0
    return NoiseLaw(off, extra, common, mean, count * count, tie, noise.shape == "laplace", freedom)


def _common(noise: NoiseDistribution) -> float:
    """Return c in unit-ball units."""
    d, unit = noise.dimension, noise.scale * noise.scale
    if noise.shape == "free-trace":
        return -unit / (d + 1)
    if noise.shape == FREE_GROUPS and len(noise.weights) == 1 and d > 1:
        return -unit * noise.weights[0] / (1 + d * noise.weights[0])
    if noise.shape == COUPLED:
        flat, trace = coupled_moments(d + noise.measured)
        more = 1 + 1 / d  # with one anchor the trace is that of the whole, see `NoiseDistribution`
        return unit * (flat / (d * d) + trace * more * more if noise.measured == 1 else trace)
    return 0.0


def relative_count_std(noisy_moment: NoisyMoment) -> float:
    """Return the relative standard deviation of a noisy number of rows, 0 where it is public."""
    if noisy_moment.count is None:
        return 0.0
    return (
        math.sqrt(max(noisy_moment.distribution.n_anchors, 1))
        * noisy_moment.distribution.count_std
        / noisy_moment.anchor_squared
    )


def moments_of(noisy_moment: NoisyMoment, law: NoiseLaw, rows: float) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the mean, None where none was measured, and the unbiased covariance, in working units."""
    r, noise = noisy_moment.row_bound, noisy_moment.distribution
    d = noise.dimension
    second = r * r * noisy_moment.matrix[:d, :d]
    if not noise.n_anchors:
        return None, second
    mean = r * noisy_moment.matrix[:d, -1] / math.sqrt(max(float(noisy_moment.matrix[-1, -1]), 1e-12))
    covariance = second - np.outer(mean, mean) + law.mean_variance * np.eye(d)
    return mean, covariance * (rows / max(rows - 1, 1.0))
