"""The default covariance method: the least noise for many columns, then estimates that know it.

With five or more columns, the entries off the diagonal are a mixture of estimates (postprocess/structure/mixture.py).
With fewer columns, and where missing cells are measured, they are shrunk (denoise.py). This is done to the covariance
block, not to the joint matrix: the anchor's eigenvalue always leaves the noise, so the joint matrix would never say
that it holds no signal.

A mean (or the mean of a class) is measured beside the second moment, with noise of variance tau^2 = s_o^2 / s^2 per
coordinate, s_o that of an off-diagonal entry and s the anchor; a class with the fraction p of the rows has tau / p. The
covariance is the second moment less p m m' for every mean. A noisy square has the noise (m + e)(m + e)' - m m', of
    E |.|^2 = 2 tau^2 (d + 1) |m|^2 + tau^4 d (d + 1)
about its mean tau^2 I, so a mean that is not visible is better left out. Along the eigenvectors P of the noisy second
moment that leave its noise the mean is kept, and tau^2 P P' is added. The rest is shortened by the factor of James and
Stein (1961), with the d - r dimensions that remain; with q that factor, the formula above holds with r + q^2 (d - r)
for d and the shortened m, whose error moves the square. What shortening leaves of a mean in the covariance, |m|^2 - q^2
|v|^2 for the rest v, would look like a signal: with |m|^2 one standard deviation above its estimate, its square is
added to what is taken for noise.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privcov.core.guarantees import RELATIONS, NoPrivacy
from privcov.core.parameters import parameter
from privcov.estimators.additive import finish_available, repaired
from privcov.estimators.base import ALL_KINDS, METHODS, MeasurementRequest, MethodInput, OneMeasurement, Outcome
from privcov.estimators.mechanisms import LeastNoise
from privcov.measurements.labels import CLASSES
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment
from privcov.measurements.noise_theory.anchor import COVARIANCE
from privcov.postprocess.denoise import CLEAR, BlockNoise, denoise
from privcov.postprocess.moments import Moments
from privcov.postprocess.structure.mixture import Mixture, mix
from privcov.tables.public_facts import FEWEST_COLUMNS

ROUTES = {
    "free-trace": "Route: Gaussian noise with an accurate trace, then eigenvalue shrinkage.",
    "laplace": "Route: Laplace noise, because pure DP was asked for and there is one column.",
    "wishart-difference": "Route: the difference of two Wishart matrices, because pure DP was asked for, then "
    "eigenvalue shrinkage.",
}
OFF = "off"
FEWEST = 5  # columns: fewer pairs cannot tell one estimate from another
NO_PATTERN = "Off the diagonal: shrinkage alone. A mixture needs noise, five columns or more, and no missing cells."
POPULATION, SAMPLE = "population", "sample"


@METHODS.add(
    key="auto-cov",
    label="Auto (shrinkage)",
    target="covariance",
    family="Additive",
    guarantees=ALL_KINDS,
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    missing_cells=True,
    order=10,
    version=10,
    private_defaults={"row_bound_search": "off"},
    summary="The least noisy of the shapes here for many columns (Gaussian with accurate variances; under pure DP the "
    "difference of two Wishart matrices), then a mixture of estimates that know the noise: equal correlations, bands, "
    "a tree, factors, each pair alone and others, weighted by their risk; zero where no signal shows.",
    formula=r"\hat\Sigma = D + (1-g)\sum_k w_k F_k(Y),\quad w = \arg\min_{w\in\Delta} \big\|\textstyle\sum_k w_k F_k - "
    r"Y\big\|^2 + 2\sum_k w_k\,(D_k + c_k),\quad D_k \approx E\langle F_k, E\rangle",
    avoid="When you need an unbiased matrix for further inference: take the raw noisy matrix instead.",
    reference="Own combination; risks by drawn errors after Stein (1981) and Ramani, Blu and Unser (2008), estimates "
    "after Chow and Liu (1968), Bun, Allez, Bouchaud and Potters (2016), Stephens (2017) and James and Stein (1961).",
)
@dataclass(frozen=True)
class AutoCov(OneMeasurement):
    """The least noise for the guarantee among the shapes here, for many columns, then estimates that know the noise.

    Guarantee
    ---------
    As asked; the proofs are in measurements/moment.py, noise.py and norm_histogram.py.

    Spends
    ------
    The whole guarantee: in one measurement, or 5 % on counts of the row norms and the rest on the matrix.
    """

    row_bound_search: str = parameter(
        "auto",
        "Row bound search",
        choices=("auto", OFF),
        help="auto: with ten columns or more, spend 5 % of the guarantee on a search for a shorter row bound.",
    )

    structure: str = parameter(
        "mixture",
        "Pattern of the columns",
        choices=("mixture", OFF),
        help="mixture: equal correlations, bands, a tree, similar columns, factors, eigenvalues, and each entry alone, "
        "weighted by their risk. It spends nothing; for five columns or more.",
    )

    target: str = parameter(
        "auto",
        "Estimated",
        choices=("auto", POPULATION, SAMPLE),
        help="population: the covariance behind the rows, so the sampling error is shrunk as well. sample: that of the "
        "rows themselves. auto: the population of simulated rows, whose covariance is known, and else the sample.",
    )

    mechanism = LeastNoise()

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return the measurement of the matrix with an anchor that favours it, after a search of the row bound."""
        searched = self.row_bound_search != OFF and inputs.d >= FEWEST_COLUMNS
        search = COVARIANCE if searched and not isinstance(inputs.guarantee, NoPrivacy) else ""
        return dataclasses.replace(self.mechanism.request(inputs), anchor_for=COVARIANCE, search_for=search)

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Return the moments with the covariance shrunk."""
        notes = (ROUTES[self.mechanism.shape(inputs)], *search_note(noisy_moment))
        mixture = mixture_of(noisy_moment, self.structure, self._estimates(inputs))
        if self.structure != OFF:
            notes += (f"Off the diagonal, of the {self._estimates(inputs)}: {mixture}." if mixture else NO_PATTERN,)
        if noisy_moment.flags is not None:
            return finish_available(
                inputs, noisy_moment, lambda c, std: self._repaired(c, std, inputs, noisy_moment), notes
            )
        return Outcome(noisy_moment, shrunk_moments(noisy_moment, mixture), count=noisy_moment.count, notes=notes)

    def _estimates(self, inputs: MethodInput) -> str:
        """Return what is estimated: "population" or "sample"."""
        if self.target != "auto":
            return self.target
        return POPULATION if inputs.rows is not None and inputs.rows.truth is not None else SAMPLE

    def _repaired(
        self, matrix: np.ndarray, noise_std: float, inputs: MethodInput, noisy_moment: NoisyMoment
    ) -> np.ndarray:
        """Return a covariance of available cases with its eigenvalues shrunk."""
        shape = noisy_moment.distribution.shape
        if shape in ("free-groups", "isotropic"):  # only private rows have flags
            d, square, std = len(matrix), noisy_moment.row_bound**2, noise_std / noisy_moment.row_bound**2
            noise = BlockNoise(d * (d - 1) * std**2, np.full(d, 2 * std**2), 2 * d * std**2, std, gaussian=True)
            return square * denoise(matrix / square, noise)
        how = "psd" if self.mechanism.shape(inputs) == "laplace" else "shrink"
        return repaired(matrix, noise_std, how, shape, noisy_moment.row_bound**2)


def search_note(noisy_moment: NoisyMoment) -> tuple[str, ...]:
    """Return a sentence on the row bound search of a measurement; none without one."""
    if (search := noisy_moment.bound_search) is None:
        return ()
    before = noisy_moment.row_bound / search.factor
    if not search.halvings:
        return (f"Row bound search: kept the row bound {before:.4g}.",)
    persons = ", by the weight of their persons" if search.steps > 1 else ""
    return (
        f"Row bound search: shortened the row bound from {before:.4g} to {noisy_moment.row_bound:.4g}; by its noisy "
        f"counts {search.longer(noisy_moment.n_rows)} are longer{persons}.",
    )


@dataclass(frozen=True, eq=False)
class Centred:
    """A noisy covariance in unit-ball units, with its means.

    covariance: d x d, pooled within classes; the second moment where no mean was measured. means: k x d, shortened, one
    or one for each class; k = 0 for none. shares: fraction of the rows of each, at least 0, adding up to 1.
    """

    covariance: np.ndarray
    noise: BlockNoise
    means: np.ndarray
    shares: np.ndarray


class _MeanNoise(NamedTuple):
    """What one subtracted mean does to the covariance and to its noise; letters as in the docstring of the module.

    mean: m, shortened. square: what is subtracted, p (m m' - tau^2 P P'). per_entry: variance that the noisy square
    adds to an entry, as an isotropic matrix would. along, across, together, trace: as of `BlockNoise`, the first three
    before their roots. residual: square of what shortening may leave of the mean.
    """

    mean: np.ndarray
    square: np.ndarray
    per_entry: float
    along: float
    across: float
    together: float
    trace: float
    residual: float


def centred(noisy_moment: NoisyMoment) -> Centred:
    """Return the noisy covariance of a measurement."""
    law, matrix = noisy_moment.distribution, noisy_moment.matrix
    d, std = law.dimension, law.off_diagonal_std
    gaussian = law.shape in ("upper-triangle", "isotropic", "free-trace", "free-groups")
    own, trace = law.diagonal_stds**2, law.form_variance(np.diag(np.append(np.ones(d), np.zeros(law.n_anchors))))
    block, rest = matrix[:d, :d], d * (d - 1) * std**2
    plain = BlockNoise(rest, own, trace, std, gaussian)
    if not law.n_anchors:
        return Centred(block, plain, np.zeros((0, d)), np.zeros(0))
    means, shares, taus = _means(noisy_moment)
    values, vectors = np.linalg.eigh(block)
    signal_axes = vectors[:, values > plain.edge(d)] if std > 0 else vectors
    covariance, residual, along, across, together = block.copy(), 0.0, 0.0, 0.0, 0.0
    axes = np.zeros_like(means)
    for j, (mean, share, tau) in enumerate(zip(means, shares, taus, strict=True)):
        axes[j] = share * tau * mean
        effect = _shorten_mean(mean, share, tau, signal_axes)
        means[j] = effect.mean
        covariance -= effect.square
        rest += d * (d - 1) * effect.per_entry
        own = own + 2 * effect.per_entry
        along += effect.along
        across += effect.across
        together += effect.together
        trace += effect.trace
        residual += effect.residual
    std = math.sqrt((rest + float(own.sum())) / (d * (d + 1)))
    # What is left of |m|^2 is on the diagonal in squares of m_a: sqrt(3 / d) of it long, if its direction is Gaussian.
    reach = math.sqrt(along), math.sqrt(across), math.sqrt(together + 3 * residual / d)
    rest, own = rest + residual * (d - 1) / d, own + residual / d**2
    noise = BlockNoise(rest, own, trace + residual, std, gaussian, *reach, axes, residual)
    return Centred(covariance, noise, means, shares)


def _shorten_mean(mean: np.ndarray, share: float, tau: float, signal_axes: np.ndarray) -> _MeanNoise:
    """Shorten one noisy mean, and return it with the effect of subtracting its square.

    share: p, the fraction of the rows. tau: standard deviation of the noise on a coordinate of the mean. signal_axes:
    P, the eigenvectors along which a mean is kept.
    """
    d, kept = len(mean), signal_axes.shape[1]
    visible = signal_axes @ (signal_axes.T @ mean)
    if tau > 0 and visible @ visible <= 2 * kept * tau**2:  # a rare class, whose mean is noise along the axes too
        signal_axes, kept, visible = signal_axes[:, :0], 0, np.zeros(d)
    other = mean - visible
    square = float(other @ other)
    factor = max(1 - max(d - kept - 2, 0) * tau**2 / square, 0.0) if square > 0 else 0.0
    shortened = visible + factor * other
    size, free = max(float(shortened @ shortened) - d * tau**2, 0.0), kept + factor**2 * (d - kept)
    # Along a visible mean m the error e of its length adds 2 m (m'e) / |m| to one eigenvalue; beside it, m q e'.
    length, swing = float(visible @ visible), (2 * CLEAR * share * tau) ** 2
    # |m|^2 of the rest is at most u, one standard deviation up; shortening took q^2 |v|^2 of it.
    estimated = max(square - (d - kept) * tau**2, 0.0)
    most = estimated + tau * math.sqrt(4 * estimated + 2 * (d - kept) * tau**2)
    return _MeanNoise(
        mean=shortened,
        square=share * (np.outer(shortened, shortened) - tau**2 * (signal_axes @ signal_axes.T)),
        per_entry=share**2 * tau**2 * (2 * size * (free + 1) + tau**2 * free * (free + 1)) / (d * (d + 1)),
        along=swing * length,
        across=(share * tau * factor) ** 2 * length * (d - kept),
        together=swing * float(np.sum(visible**4)) / length if length > 0 else 0.0,
        trace=share**2 * tau**2 * (4 * size + 2 * tau**2 * free),
        residual=share**2 * max(most - factor**2 * square, 0.0) ** 2,
    )


def _means(noisy_moment: NoisyMoment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (means (k, d), shares (k), standard deviation of the noise on a coordinate of each mean (k)).

    Every mean is shortened to the unit ball. Classes whose noisy count is not positive have share zero, the overall
    mean and no noise: they take no part.
    """
    law, d = noisy_moment.distribution, noisy_moment.distribution.dimension
    counts = np.diag(noisy_moment.matrix)[d:]
    positive = counts > 1e-12
    total = max(float(counts[positive].sum()), 1e-12)
    counts = np.where(positive, counts, total)
    means = math.sqrt(total) * noisy_moment.matrix[:d, d:].T / counts[:, None]
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1.0)
    shares = np.where(positive, counts / total, 0.0) if positive.any() else np.full(len(counts), 1 / len(counts))
    taus = np.where(positive, law.off_diagonal_std * math.sqrt(total) / counts, 0.0)
    means[~positive] = shares @ np.where(positive[:, None], means, 0.0)
    return means, shares, taus


def mixture_of(noisy_moment: NoisyMoment, structure: str, target: str) -> Mixture | None:
    """Return the mixture of estimates of the "population" or of the "sample", where there is one."""
    if structure == OFF or noisy_moment.distribution.dimension < FEWEST or noisy_moment.flags is not None:
        return None
    centred_block = centred(noisy_moment)
    rows = noisy_moment.n_rows if target == POPULATION else None
    return mix(centred_block.covariance, centred_block.noise, rows) if centred_block.noise.std > 0 else None


def shrunk_moments(noisy_moment: NoisyMoment, mixture: Mixture | None = None) -> Moments:
    """Return the moments of a measurement with the covariance block shrunk for the known noise."""
    centred_block, bound = centred(noisy_moment), noisy_moment.row_bound
    square = bound * bound  # not **: a release is verified bit for bit, and pow is not fixed by IEEE 754
    covariance = square * (mixture.matrix if mixture else denoise(centred_block.covariance, centred_block.noise))
    if not len(centred_block.shares):
        return Moments(covariance, None, covariance if noisy_moment.centre == "zero" else None)
    means = bound * centred_block.means
    between = (means.T * centred_block.shares) @ means
    second = covariance + (between + between.T) / 2
    if noisy_moment.centre != CLASSES:
        return Moments(second, means[0], covariance)
    return Moments(second, centred_block.shares @ means, covariance, means, centred_block.shares)
