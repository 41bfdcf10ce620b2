"""A mixture of estimates of the off-diagonal entries, weighted by their risk, which drawn errors tell.

Y = S + E, with S the covariance of the population, E = W + N the noise and the sampling error, or S that of the rows
and E = W. The estimates F_k of experts.py are functions of Y, and so is what follows: nothing else of the rows is read.
For weights w that are fixed, over the off-diagonal entries,
    E |sum w_k F_k - S|^2 = E (|sum w_k F_k - Y|^2 + 2 sum w_k <F_k, E>) - E |E|^2.
**The last product.** For a Gaussian E, and F weakly differentiable, Stein's identity in the form of a derivative along
a drawn error Z of the same law (Ramani, Blu and Unser 2008) is E <F(Y), E> = E <Z, dF(Y)[Z]>. So
    D_k = mean over Z of <Z, F_k(Y + h Z) - F_k(Y - h Z)> / (2 h),
where the estimate has no derivative that is as quick. For F = sum f_i u_i u_i' the derivative along Z has in the basis
of the eigenvectors the entries q_ij (u_i' Z u_j), q the quotients of denoise.py; for a projection D is the variance of
what is projected. Noise that is not Gaussian has the same D to the second order of Z. The tree is not continuous where
two correlations change places; D is measured across such places all the same, for h is .3 deviations.

**The error.** The off-diagonal entries of W are taken as independent, with the variance that they have on average,
what a subtracted mean adds included (`BlockNoise.rest`); the part of it that lies along the mean is drawn beside. N is
that of normal rows, Cov(N_ij, N_kl) = (C_ik C_jl + C_il C_jk) / n with C the answer of denoise.py for S. The draws are
the same for every release: public numbers.

**The weights** are those in the simplex that minimise |sum w_k F_k - Y|^2 + 2 sum w_k (D_k + c_k), where
c_k = .7 sqrt(2 v) |F_k|, v the mean variance of an entry, so that noise does not choose an estimate. Zero is always
one of them. The sum is multiplied by 1 - g: g is the part that noise alone may have made of what leaves it most clearly
(`drop_fraction` of denoise.py), be it the equal level, a band, all entries, or the largest eigenvalue. The diagonal is
that of denoise.py. The last step is the projection on covariances of rows in the unit ball, a convex set that contains
S.

Of more than 300 columns the tree and similar columns are left out: their D takes an estimate for every draw.

Reference: Stein (1981); Ramani, Blu and Unser (2008); Efron (2004) for risks by drawn errors; Leung and Barron (2006)
for mixing by such risks; the penalty and the choice of estimates are own. Measured by `make bench ARGS=structure`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privcov.core.randomness import stream
from privcov.postprocess.denoise import RISE, BlockNoise, before_projection, drop_fraction, project_to_unit_ball
from privcov.postprocess.spectrum import divided_differences
from privcov.postprocess.structure import experts

NOTHING = "diagonal"
_STEP, _DOUBT = 0.3, 0.7
_PROBES = ((20, 16), (100, 8))  # draws up to so many columns; beyond, each draw is an average over many entries
_FEWEST_PROBES = 4
_WIDE = 300  # columns up to which estimates are computed at every draw, and the draws are kept
_LEAST = 1e-3  # a variance in the unit of an entry, of the largest
_ROUNDS, _CLOSE, _RIDGE = 100, 1e-12, 1e-13  # of the search for the weights; the last two in the scale of its input


@dataclass(frozen=True, eq=False)
class Mixture:
    """A covariance, positive semi-definite with a trace of at most one, and the estimates that it combines.

    shares: the weight of every kind of estimate that has one, largest first, adding up to one. signal_share: the part
    of the mixture that is taken. Noise alone may have made the rest.
    """

    matrix: np.ndarray
    shares: dict[str, float]
    signal_share: float = 1.0

    def __str__(self) -> str:
        text = ", ".join(f"{100 * share:.0f} % {kind}" for kind, share in self.shares.items() if share >= 0.005)
        return text if self.signal_share > 0.995 else f"{text}; {100 * self.signal_share:.0f} % of it is taken"


class _Expert(NamedTuple):
    """An estimate F of the off-diagonal entries, and D, the estimate of its product with the error."""

    kind: str
    matrix: np.ndarray
    with_error: float


@dataclass(frozen=True, eq=False)
class _Error:
    """The error of the off-diagonal entries: the variance of each, their average, draws, and the noise alone."""

    variance: np.ndarray
    std: float
    draws: np.ndarray
    gaussian: bool


def mix(matrix: np.ndarray, noise: BlockNoise, rows: float | None) -> Mixture:
    """Estimate the covariance under the noise, of the population from which so many rows came, or of the rows.

    matrix: the noisy covariance in unit-ball units, of five columns or more. rows: number of independent rows; None for
    the covariance of the rows themselves.
    """
    d = len(matrix)
    off = ~np.eye(d, dtype=bool)
    rest = np.where(off, matrix, 0.0)
    spread = None if rows is None else project_to_unit_ball(before_projection(matrix, noise).matrix) / math.sqrt(rows)
    shrunk = before_projection(matrix, noise if spread is None else _with_sampling(noise, spread))
    diagonal = np.maximum(np.diag(shrunk.matrix), 0.0)
    if not diagonal.any():  # where no variance is seen, no covariance is either
        return Mixture(np.zeros_like(matrix), {NOTHING: 1.0}, 0.0)
    per_entry = noise.rest / (d * (d - 1))
    variances = np.maximum(diagonal, max(_LEAST * float(diagonal.max()), math.sqrt(per_entry) / 2))
    unit = np.where(off, np.sqrt(np.outer(variances, variances)), 0.0)
    error = _error_of(spread, noise, per_entry)
    estimates = _experts(matrix, rest, unit, variances, error)
    stacked = np.array([one.matrix.ravel() for one in estimates])
    products = stacked @ stacked.T
    doubt = _DOUBT * math.sqrt(2) * error.std * np.sqrt(np.diag(products))
    towards = stacked @ rest.ravel() - np.array([max(one.with_error, 0.0) for one in estimates]) - doubt
    weights = _weights(products, towards)
    mixed = (weights @ stacked).reshape(d, d)
    shares: dict[str, float] = {}
    for one, weight in zip(estimates, weights, strict=True):
        if weight > 0:
            shares[one.kind] = shares.get(one.kind, 0.0) + float(weight)
    signal_share = 1 - _gone(matrix, rest, unit, noise, per_entry)
    covariance = project_to_unit_ball(np.diag(diagonal) + signal_share * (mixed + mixed.T) / 2)
    return Mixture(covariance, dict(sorted(shares.items(), key=lambda item: -item[1])), signal_share)


def _with_sampling(noise: BlockNoise, spread: np.ndarray) -> BlockNoise:
    """Return the noise with the sampling error of the variances and of the trace; spread: C / sqrt(n)."""
    diagonal = noise.diagonal + 2 * np.diag(spread) ** 2
    return dataclasses.replace(noise, diagonal=diagonal, trace=noise.trace + 2 * float(np.sum(spread**2)))


def _error_of(spread: np.ndarray | None, noise: BlockNoise, per_entry: float) -> _Error:
    """Return the error of the off-diagonal entries, with its draws; spread: C / sqrt(n), None without sampling."""
    d = len(noise.diagonal)
    off = ~np.eye(d, dtype=bool)
    of_noise, of_rows = (_normal if d <= _WIDE else _normal.__wrapped__)(d)
    draws, variance = math.sqrt(per_entry) * of_noise, np.full((d, d), per_entry)
    if noise.axes is not None:
        of_means = stream(0, "noise", 1, "probes").standard_normal((len(draws), len(noise.axes), d))
        shift = noise.axes.T @ of_means
        draws = draws + shift + shift.transpose(0, 2, 1)
    if spread is not None:
        variance = variance + np.outer(np.diag(spread), np.diag(spread)) + spread**2
        values, vectors = np.linalg.eigh(spread)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        draws = draws + root @ of_rows @ root
    variance = np.where(off, variance, 0.0)
    std = math.sqrt(float(variance.sum()) / (d * (d - 1)))
    return _Error(variance, std, np.where(off, draws, 0.0), noise.gaussian)


@functools.lru_cache(maxsize=4)
def _normal(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return symmetric normal matrices of variance 1 off the diagonal, the same for every release: for W and for N."""
    count = next((count for most, count in _PROBES if d <= most), _FEWEST_PROBES)
    normals = stream(0, "noise", 0, "probes").standard_normal((2, count, d, d))
    of_noise, of_rows = (normals + normals.transpose(0, 1, 3, 2)) / math.sqrt(2)
    return of_noise, of_rows


def _experts(
    matrix: np.ndarray, rest: np.ndarray, unit: np.ndarray, variances: np.ndarray, error: _Error
) -> list[_Expert]:
    """Return every estimate with its product with the error."""
    d, draws, upper = len(rest), error.draws, np.triu_indices(len(rest), 1)
    estimates = [_Expert(NOTHING, np.zeros_like(rest), 0.0), _Expert("as measured", rest, float(error.variance.sum()))]
    square = float(np.sum(unit**2))
    along = np.sum(draws * unit, axis=(1, 2))
    level = float(np.sum(rest * unit)) / square * unit
    estimates.append(_Expert("equal correlations", level, float(np.mean(along**2)) / square))
    products, squares = experts.distances(rest, unit)
    errors = np.mean([experts.distances(draw, unit)[0] ** 2 for draw in draws], axis=0) / squares
    lag = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    last = 1
    while last < d:
        near = np.arange(d) <= last
        estimates.append(
            _Expert("band", np.where(near, products / squares, 0.0)[lag] * unit, float(errors[near].sum()))
        )
        last *= 2

    def probed(kind: str, points: np.ndarray) -> None:
        """Add an estimate that is known at Y, Y + h Z and Y - h Z."""
        count = len(draws)
        apart = points[1 : count + 1] - points[count + 1 :]
        estimates.append(_Expert(kind, points[0], float(np.mean(np.sum(draws * apart, axis=(1, 2)))) / (2 * _STEP)))

    if d <= _WIDE:
        points = np.concatenate([rest[None], rest + _STEP * draws, rest - _STEP * draws])
        most = experts.MOST_CORRELATED
        correlations = np.clip(points / np.where(unit > 0, unit, 1.0), -most, most)
        product, steps = experts.on_tree(correlations)
        probed("tree", product * unit)
        probed("steps on the tree", experts.by_steps(correlations, product, steps) * unit)
        probed("similar columns", experts.similar(points, error.std))
    for kind, axes in (
        ("factors", experts.factors(rest, variances, error.std, error.gaussian)),
        ("eigenvalues", experts.eigenvalues(matrix, error.std, error.gaussian)),
    ):
        values, vectors, new_values, slope = axes
        turned = vectors.T @ draws @ vectors
        rate = divided_differences(values, new_values, slope, 1e-9 * error.std)
        own = (vectors * new_values) @ vectors.T
        np.fill_diagonal(own, 0.0)
        estimates.append(_Expert(kind, (own + own.T) / 2, float(np.mean(np.sum(rate * turned**2, axis=(1, 2))))))
    each, scale = np.zeros_like(rest), unit[upper]
    mean, slope = experts.entries(rest[upper] / scale, error.variance[upper] / scale**2)
    each[upper] = mean * scale
    estimates.append(_Expert("pairs alone", each + each.T, 2 * float(slope @ error.variance[upper])))
    return estimates


def _gone(matrix: np.ndarray, rest: np.ndarray, unit: np.ndarray, noise: BlockNoise, per_entry: float) -> float:
    """Return the part that noise alone may have made of what leaves it most clearly."""
    d, square = len(rest), float(np.sum(unit**2))
    parts = [(float(np.sum(rest**2)), d * (d - 1) // 2), (float(np.sum(rest * unit)) ** 2 / square, 1)]
    products, squares = experts.distances(rest, unit)
    cumulative = np.cumsum(products**2 / squares)
    parts += [(float(cumulative[2**k]), 2**k) for k in range(int(math.log2(d - 1)) + 1)]
    gone = min(drop_fraction(part, 2 * k * per_entry, k, noise, len(parts)) for part, k in parts)
    edge, largest = noise.edge(d), float(np.linalg.eigvalsh(matrix)[-1])
    return min(gone, (edge / largest) ** RISE) if edge < min(largest, 1.0) else gone


def _weights(products: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return the w >= 0 with sum 1 that minimises w'Gw - 2 b'w, by an active set: as non-negative least squares.

    The estimate of the lowest slope joins; the weights of those that have joined are solved for; on the way there, an
    estimate whose weight reaches 0 leaves. The ridge keeps estimates that are the same from a singular system.
    """
    scale = max(float(np.abs(products).max()), float(np.abs(towards).max()))
    products = products + _RIDGE * scale * np.eye(len(towards))
    weights = np.zeros(len(towards))
    joined = [int(np.argmin(np.diag(products) - 2 * towards))]
    weights[joined] = 1.0
    for _ in range(_ROUNDS):
        slopes = products @ weights - towards
        best = int(np.argmin(slopes))
        if best in joined or slopes @ weights - slopes[best] <= _CLOSE * scale:
            break
        joined.append(best)
        while True:
            system = np.ones((len(joined) + 1, len(joined) + 1))
            system[:-1, :-1], system[-1, -1] = products[np.ix_(joined, joined)], 0.0
            now, goal = weights[joined], np.linalg.solve(system, np.append(towards[joined], 1.0))[:-1]
            leaves = goal <= 0
            way = np.where(leaves, now / np.where(leaves, now - goal, 1.0), 1.0)
            weights[joined] = now + way.min() * (goal - now)
            if not leaves.any():
                break
            gone = joined.pop(int(np.argmin(way)))
            weights[gone] = 0.0
    return weights
