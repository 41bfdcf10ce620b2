"""The expected accuracy of a release of private rows, from public facts alone: no row is read.

The noise is that of the release that would follow (its distribution is public), and the rows are those of a simulated
table whose structure the owner picks. Everything is in working units, where the public half-range of each column is 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from privcov import accounting, checks
from privcov.measurements.exact_moment import anchor_of, anchored_rows, planned_event, settle_shape
from privcov.measurements.exact_reading import flags_of, noise_of
from privcov.measurements.integer_gram import UNIT
from privcov.measurements.laws.anchor import ANCHOR_SQUARED, BOTH
from privcov.measurements.lengths.bins import BINS, bins_of, steps_of
from privcov.measurements.lengths.exact_norms import NoisyNorms, planned_norms, split
from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess.answers import Noisy
from privcov.postprocess.available import Available, available_cases
from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_psd
from privcov.postprocess.threshold import universal_level
from privcov.privacy import GaussianDP, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.public_facts import MOST_COLUMNS, PublicFacts
from privcov.randomness import stream

STRUCTURES = {
    "factor": "all columns move together",
    "blocks": "groups of four columns",
    "neighbours": "neighbouring columns",
    "independent": "nothing moves together",
}
_Z80 = 0.8416212335729143  # normal quantile of 0.8, the chance with which "visible" is meant
_WORK = 5e6  # replicates x d^3
_MOST_REPLICATES, _FEWEST = 40, 4


@dataclass(frozen=True)
class Twin:
    """The simulated table of a plan: Gaussian rows with the mean at the typical values.

    Parameters
    ----------
    d : int
        Number of columns, at least 1.
    n : int
        Number of rows, at least 2: as declared, or the owner's guess where it is not public.
    structure : str, optional
        A key of STRUCTURES.
    strength : float, optional
        The largest correlation, from 0 to 0.99.
    spread : float, optional
        Standard deviation of each column as a fraction of its half-range, from 0.001 to 1.
    row_bound : float, optional
        R, in working units, above 0.
    n_anchors : int, optional
        Number of classes, or 1.
    missing : float, optional
        The owner's guess of the share of cells that are missing, from 0 to 0.95, the same in every column and related
        to nothing.
    flagged : tuple of int, optional
        Positions of the columns whose missing cells are measured (`PublicFacts.flagged`); where there are none, missing
        cells count as the typical value.

    Raises
    ------
    ValueError
        For a value out of range.
    """

    d: int
    n: int
    structure: str = "factor"
    strength: float = 0.5
    spread: float = 0.3
    row_bound: float = 1.0
    n_anchors: int = 1
    missing: float = 0.0
    flagged: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checks.whole("d", self.d, 1)
        checks.whole("n", self.n, 2)
        checks.one_of("structure", self.structure, tuple(STRUCTURES))
        checks.in_range("strength", self.strength, 0.0, 0.99)
        checks.in_range("spread", self.spread, 0.001, 1.0)
        checks.positive("row_bound", self.row_bound)
        checks.in_range("missing", self.missing, 0.0, 0.95)

    @property
    def correlation(self) -> np.ndarray:
        """The true correlation matrix of the simulated table, d x d."""
        at = np.arange(self.d)
        apart = np.abs(at[:, None] - at[None, :])
        if self.structure == "neighbours":
            return self.strength**apart
        same = {
            "factor": np.ones_like(apart, dtype=bool),
            "blocks": (at[:, None] // 4) == (at[None, :] // 4),
            "independent": apart == 0,
        }[self.structure]
        return np.where(apart == 0, 1.0, np.where(same, self.strength, 0.0))


@dataclass(frozen=True)
class Preview:
    """The numbers of a plan at one guarantee.

    Attributes
    ----------
    guarantee : Guarantee
        The guarantee.
    twin : Twin
        The simulated table.
    entry_std : float
        Standard deviation of the privacy noise on an off-diagonal entry of the covariance, in working units.
    variance_std : float
        The same on a variance.
    correlation_std : float
        The same on a correlation between two columns of the simulated table's spread.
    sampling_std : float
        Standard deviation of a correlation near zero because there are only n rows.
    visible : float
        The smallest correlation that the thresholded answer keeps with a probability of 80 %; above 1 none is kept so.
    error : float
        Mean relative Frobenius error of the covariance to the sample of the simulated table.
    trivial : float
        Relative error of answering with the diagonal of the simulated table alone.
    clipped : float
        Fraction of the simulated rows that are longer than R and so are shortened.
    replicates : int
        Number of simulated tables behind ``error``.
    """

    guarantee: Guarantee
    twin: Twin
    entry_std: float
    variance_std: float
    correlation_std: float
    sampling_std: float
    visible: float
    error: float
    trivial: float
    clipped: float
    replicates: int

    def survives(self, strength: float) -> float:
        """Return the probability that the thresholded answer keeps a pair of columns of this correlation."""
        return survival(strength, self.correlation_std, self.sampling_std, universal_level(self.twin.d))


def planned_noise(
    facts: PublicFacts, guarantee: Guarantee, shape: str, rows: int, matters: str = BOTH
) -> NoiseDistribution:
    """Return the noise of the release that would follow, on the joint moment in unit-ball units.

    The scale is that of the exact measurement, in its whole numbers.

    Parameters
    ----------
    facts : PublicFacts
        As declared.
    guarantee : Guarantee
        The guarantee of the release.
    shape : {"isotropic", "laplace", "wishart-difference"}
        The noise distribution as a method requests it; "isotropic" is Gaussian.
    rows : int
        The public number of rows, or the owner's guess of it.
    matters : {"both", "covariance", "mean"}
        What the size of the anchor favours.

    Returns
    -------
    NoiseDistribution
        The distribution of the noise on the mean over the rows.

    Raises
    ------
    ValueError
        For noise that cannot be drawn exactly.

    Guarantee
    ---------
    No row is read: the distribution of the noise is public.

    Spends
    ------
    Nothing.
    """
    n_anchors = anchored_rows(facts, "joint")
    event = planned_event(facts, guarantee, centre="joint", shape=shape, matters=matters)
    anchor = anchor_of(facts, n_anchors, matters)
    return noise_of(facts, settle_shape(facts, shape, n_anchors), event.scale, n_anchors, 1, rows, anchor)


def planned_trade_off(facts: PublicFacts, guarantee: Guarantee, shape: str) -> Guarantee | GaussianDP | None:
    """Return the tightest known claim about the release that would follow, from which an attacker's chances follow.

    Parameters
    ----------
    facts : PublicFacts
        As declared.
    guarantee : Guarantee
        The guarantee of the release.
    shape : {"isotropic", "laplace", "wishart-difference"}
        As for `planned_noise`.

    Returns
    -------
    PureDP, ApproxDP, ZCDP or GaussianDP
        As `privcov.accounting.trade_off_of` has it.

    Raises
    ------
    ValueError
        For noise that cannot be drawn exactly.

    Guarantee
    ---------
    No row is read.

    Spends
    ------
    Nothing.
    """
    return accounting.trade_off_of((planned_event(facts, guarantee, centre="joint", shape=shape),), guarantee)


def after_norms(
    twin: Twin, facts: PublicFacts, guarantee: Guarantee, budget: float, *, seed: int = 0
) -> tuple[Twin, PublicFacts, PureDP | ZCDP]:
    """Simulate the first of two measurements: the rows of the simulated table counted by length.

    The rule by which the row bound follows is that of the release, `privcov.measurements.lengths.exact_norms`.

    Parameters
    ----------
    twin : Twin
        The simulated table, under the declared row bound.
    facts : PublicFacts
        As declared.
    guarantee : Guarantee
        The guarantee of the release.
    budget : float
        The fraction of it that is paid for the counts.
    seed : int, optional
        Seed of the rows and of the noise.

    Returns
    -------
    tuple of (Twin, PublicFacts, PureDP or ZCDP)
        For the second measurement: the table under the row bound that follows, its facts, and the rest of the
        guarantee, for `planned_noise` and `preview`.

    Raises
    ------
    ValueError
        For noise that cannot be drawn exactly, and for a row bound that cannot be lowered.

    Guarantee
    ---------
    No row is read: the table and the noise are simulated.

    Spends
    ------
    Nothing.
    """
    of_norms, of_matrix = split(guarantee, budget)
    event, noise = planned_norms(facts, of_norms), stream(seed, "noise", 0, "plan", "norms")
    squares = np.minimum((_simulated_rows(twin, seed) ** 2).sum(axis=1) / twin.row_bound**2, 1.0) * UNIT**2
    exact = np.bincount(bins_of(squares), minlength=BINS) * (twin.n / len(squares) * steps_of(facts))
    drawn = noise.laplace(size=BINS) if event.pure else noise.standard_normal(BINS)
    counts = tuple(int(count) for count in np.rint(exact + event.scale * drawn))
    chosen = NoisyNorms(facts, budget, counts, event).chosen
    return dataclasses.replace(twin, row_bound=chosen.row_bound), chosen, of_matrix


def preview(
    twin: Twin,
    guarantee: Guarantee,
    distribution: NoiseDistribution,
    *,
    seed: int = 0,
    replicates: int | None = None,
    square: float = ANCHOR_SQUARED,
) -> Preview:
    """Return the plan at one guarantee.

    One seed gives the same simulated tables and the same unit noise at every guarantee.

    Parameters
    ----------
    twin : Twin
        The simulated table.
    guarantee : Guarantee
        The guarantee.
    distribution : NoiseDistribution
        The noise, see `planned_noise`.
    seed : int, optional
        Seed of the simulated tables and of the noise.
    replicates : int, optional
        Number of simulated tables. The default is from 4 to 40, fewer for more columns.
    square : float, optional
        s^2 of the anchor, see `privcov.measurements.laws.anchor.anchor_squared`.

    Returns
    -------
    Preview
        The numbers of the plan.

    Guarantee
    ---------
    No row is read: the table is simulated.

    Spends
    ------
    Nothing.
    """
    entry, diagonal, noise = _noise(twin, distribution, square)
    sampling = 1 / math.sqrt(twin.n) / (1 - twin.missing)
    level = universal_level(twin.d)
    count = replicates or int(min(max(_WORK / twin.d**3, _FEWEST), _MOST_REPLICATES))
    errors = [_error(twin, distribution, seed, k, square) for k in range(count)]
    truth = twin.correlation
    return Preview(
        guarantee,
        twin,
        entry_std=entry,
        variance_std=diagonal,
        correlation_std=noise,
        sampling_std=sampling,
        visible=level * noise + _Z80 * math.hypot(noise, sampling),
        error=float(np.mean(errors)),
        trivial=float(np.linalg.norm(truth - np.eye(twin.d)) / np.linalg.norm(truth)),
        clipped=_share_clipped(twin, seed),
        replicates=count,
    )


def _noise(twin: Twin, distribution: NoiseDistribution, square: float) -> tuple[float, float, float]:
    """Return the deviation of the noise on a covariance, a variance and a correlation of the simulated table."""
    r2, variance, shares = twin.row_bound**2, twin.spread**2, (1 - twin.missing) ** 2
    if twin.flagged:
        sample = variance * twin.correlation
        exact = _noisy(twin, sample, np.zeros(twin.d), distribution, np.zeros((distribution.size,) * 2), square)
        found = _available(exact)
        off = ~np.eye(twin.d, dtype=bool) if twin.d > 1 else np.ones((1, 1), dtype=bool)
        entry = float(np.sqrt(np.nanmean(found.variance[off])))
        return entry, float(np.sqrt(np.nanmean(np.diag(found.variance)))), entry / variance
    entry = distribution.off_diagonal_std * r2
    # Mean at the typical values, so the noise on the mean enters the covariance by its square alone.
    edge = distribution.scale * distribution.edge_std * twin.row_bound / _anchor(twin, square)
    # Cells that count as the typical value shrink a covariance by their share, and the noise stays.
    return entry, distribution.diagonal_std * r2, math.hypot(entry, edge**2) / variance / shares


def preview_by_rule(
    twin: Twin, facts: PublicFacts, guarantee: Guarantee, shape: str, *, seed: int = 0
) -> dict[str, float]:
    """Return the expected error under both rules for missing cells that fill or measure them.

    Parameters
    ----------
    twin : Twin
        The simulated table, with the owner's guess of the share of missing cells.
    facts : PublicFacts
        As declared; its own rule does not matter.
    guarantee : Guarantee
        The guarantee.
    shape : {"isotropic", "laplace", "wishart-difference"}
        As for `planned_noise`.
    seed : int, optional
        As for `preview`.

    Returns
    -------
    dict of str to float
        By rule, "typical" and "pairs", `Preview.error`. "pairs" is left out where there are too many columns for it.

    Guarantee
    ---------
    No row is read: the table is simulated.

    Spends
    ------
    Nothing.
    """
    errors = {}
    for rule in ("typical", "pairs"):
        other = dataclasses.replace(facts, missing=rule, flags=facts.flags if facts.missing == rule else None)
        if other.width <= MOST_COLUMNS:
            noise = planned_noise(other, guarantee, shape, twin.n)
            errors[rule] = preview(
                dataclasses.replace(twin, flagged=other.flagged), guarantee, noise, seed=seed, replicates=_FEWEST
            ).error
    return errors


def survival(strength: float, noise: float, sampling: float, level: float) -> float:
    """Return the probability that |strength + noise + sampling error| exceeds a cut, both errors Gaussian.

    The sampling error of a correlation r has the standard deviation (1 - r^2) / sqrt(n).

    Parameters
    ----------
    strength : float
        The true correlation.
    noise : float
        Standard deviation of the noise on a correlation.
    sampling : float
        1 / sqrt(n).
    level : float
        The cut, in standard deviations of the noise.

    Returns
    -------
    float
        A probability, from 0 to 1.
    """
    spread = math.hypot(noise, sampling * (1 - strength**2))
    if spread == 0:
        return float(strength != 0)
    cut = level * noise
    return float(ndtr((abs(strength) - cut) / spread) + ndtr((-abs(strength) - cut) / spread))


def smallest_level(
    meets: Callable[[float], bool], low: float = 1e-4, high: float = 100.0, ratio: float = 1.02
) -> float | None:
    """Return the smallest level at which ``meets`` is true, or None.

    Parameters
    ----------
    meets : callable
        From a level to True or False; it must be false below and true above one point.
    low, high : float, optional
        The ends of the search.
    ratio : float, optional
        The search ends when the bracket is this narrow, a factor above 1.

    Returns
    -------
    float or None
        None where ``meets`` is false at ``high``; ``low`` where it is true there.
    """
    if not meets(high):
        return None
    if meets(low):
        return low
    while high / low > ratio:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def noisy_twin(
    twin: Twin, distribution: NoiseDistribution, seed: int, repeat: int = 0, square: float = ANCHOR_SQUARED
) -> tuple[Noisy, np.ndarray]:
    """Return a noisy measurement of a simulated table, and the covariance of its sample.

    Parameters
    ----------
    twin : Twin
        The simulated table.
    distribution : NoiseDistribution
        The noise, see `planned_noise`.
    seed : int
        Seed of the rows and of the noise.
    repeat : int, optional
        Number of the replicate.
    square : float, optional
        As for `preview`.

    Returns
    -------
    noisy : Noisy
        The measurement.
    sample : ndarray of shape (d, d)
        The covariance without noise, in working units; rows longer than R are shortened in ``noisy`` alone.
    """
    rows, noise = (stream(seed, what, repeat, "plan", "twin") for what in ("rows", "noise"))
    covariance = twin.spread**2 * twin.correlation
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(twin.d))
    sample = root @ _wishart(twin.d, twin.n, rows) @ root.T / twin.n
    mean = root @ rows.standard_normal(twin.d) / math.sqrt(twin.n)
    left = _left_by_clipping(twin, seed)
    clipped, centre = (sample, mean) if left is None else (left @ sample @ left.T, left @ mean)
    if not twin.missing and not twin.flagged:
        anchor = _anchor(twin, square)
        return measured(clipped, centre, twin.n, twin.row_bound, distribution, noise, anchor=anchor), sample
    return _noisy(twin, clipped, centre, distribution, distribution.draw(noise), square), sample


def _noisy(
    twin: Twin,
    covariance: np.ndarray,
    mean: np.ndarray,
    distribution: NoiseDistribution,
    noise: np.ndarray,
    square: float,
) -> Noisy:
    """Return the joint measurement of rows with this mean and covariance of which a share of cells is missing."""
    d, q, anchor = twin.d, twin.missing, _anchor(twin, square)
    there = np.full((d, d), (1 - q) ** 2)
    np.fill_diagonal(there, 1 - q)
    block = there * (covariance + np.outer(mean, mean)) / twin.row_bound**2
    line = (1 - q) * mean / twin.row_bound
    flags = flags_of(d, twin.flagged, distribution)
    if flags is not None:
        c, k, at = flags.weight, len(flags.columns), list(flags.columns)
        beside = np.outer(line, np.full(d, c * q))
        np.fill_diagonal(beside, 0.0)
        gone = np.full((d, d), c * c * q * q)
        np.fill_diagonal(gone, c * c * q)
        block = np.block([[block, beside[:, at]], [beside[:, at].T, gone[np.ix_(at, at)]]])
        line = np.concatenate([line, np.full(k, c * q)])
    edge = anchor * line[:, None]
    whole = np.block([[block, edge], [edge.T, np.array([[anchor**2]])]]) + noise
    std, ones = distribution.off_diagonal_std, np.ones(d)
    return Noisy(whole, True, twin.row_bound, ones, 0 * ones, twin.n, std, distribution.diagonal_std, std, flags)


def _available(noisy: Noisy) -> Available:
    """Return the available cases of a simulated measurement with flags."""
    assert noisy.flags is not None, "missing cells are measured"
    return available_cases(noisy.matrix, noisy.flags, joint=True, row_bound=noisy.row_bound)


def measured(
    covariance: np.ndarray,
    mean: np.ndarray,
    n: int,
    row_bound: float,
    distribution: NoiseDistribution,
    rng: np.random.Generator,
    *,
    anchor: float = math.sqrt(ANCHOR_SQUARED),
) -> Noisy:
    """Draw the joint measurement of n rows with this mean and covariance, in working units.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Covariance of the rows.
    mean : ndarray of shape (d,)
        Mean of the rows.
    n : int
        Number of rows.
    row_bound : float
        R.
    distribution : NoiseDistribution
        The noise, see `planned_noise`.
    rng : numpy.random.Generator
        Source of the simulated noise.
    anchor : float, optional
        The constant that is appended to each row, in unit-ball units.

    Returns
    -------
    Noisy
        The noisy moment with its public facts.

    Guarantee
    ---------
    None: the noise is simulated, from a seeded stream. The measurement of a release draws its own.

    Spends
    ------
    Nothing.
    """
    d = len(mean)
    edge = anchor * mean[:, None] / row_bound
    block = (covariance + np.outer(mean, mean)) / row_bound**2
    whole = np.block([[block, edge], [edge.T, np.array([[anchor**2]])]])
    std = distribution.off_diagonal_std
    return Noisy(
        whole + distribution.draw(rng), True, row_bound, np.ones(d), np.zeros(d), n, std, distribution.diagonal_std, std
    )


def _anchor(twin: Twin, square: float) -> float:
    """Return the constant that is appended to each row.

    For k classes it is sqrt(k) times smaller, because the noise on their sums adds up.
    """
    return math.sqrt(square / twin.n_anchors)


def _error(twin: Twin, distribution: NoiseDistribution, seed: int, repeat: int, square: float) -> float:
    """Return the relative error of one simulated release."""
    noisy, sample = noisy_twin(twin, distribution, seed, repeat, square)
    # The covariance of `derive`, by the quicker algebra: here the last digits do not matter.
    if noisy.flags is not None:
        covariance = clip_psd(np.nan_to_num(_available(noisy).covariance))
    else:
        covariance = unpack(clip_psd(noisy.matrix), centre="joint", row_bound=noisy.row_bound).covariance
    return float(np.linalg.norm(covariance - sample) / np.linalg.norm(sample))


def _wishart(d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return W_d(n - 1, I) by Bartlett's factor, also for fewer rows than columns."""
    if n <= d:
        rows = rng.standard_normal((n, d))
        rows = rows - rows.mean(axis=0)
        return rows.T @ rows
    factor = np.tril(rng.standard_normal((d, d)), -1)
    factor[np.diag_indices(d)] = np.sqrt(rng.chisquare(n - 1 - np.arange(d)))
    return factor @ factor.T


def _share_clipped(twin: Twin, seed: int) -> float:
    """Return the fraction of simulated rows that are longer than R."""
    return float((np.linalg.norm(_simulated_rows(twin, seed), axis=1) > twin.row_bound * (1 + 1e-12)).mean())


def _simulated_rows(twin: Twin, seed: int, rows: int = 4000) -> np.ndarray:
    """Return rows of the simulated table, each cell within its bounds."""
    rng = stream(seed, "rows", 0, "plan", "norms")
    root = np.linalg.cholesky(twin.correlation + 1e-12 * np.eye(twin.d))
    return np.clip(twin.spread * rng.standard_normal((rows, twin.d)) @ root.T, -1, 1)


def _left_by_clipping(twin: Twin, seed: int) -> np.ndarray | None:
    """Return L, by which shortening turns a covariance C into L C L'; None where no row is shortened."""
    if twin.row_bound >= math.sqrt(twin.d):
        return None
    x = _simulated_rows(twin, seed)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    if (lengths <= twin.row_bound).all():
        return None
    short = x * np.minimum(1.0, twin.row_bound / np.maximum(lengths, 1e-300))
    # Both from the same rows, so that what these few rows have of their own cancels.
    whole, left = (np.linalg.cholesky(y.T @ y / len(y) + 1e-12 * np.eye(twin.d)) for y in (x, short))
    return left @ np.linalg.inv(whole)


def with_level(guarantee: Guarantee, level: float) -> Guarantee:
    """Return the same kind of guarantee at another epsilon or rho.

    Parameters
    ----------
    guarantee : Guarantee
        PureDP, ApproxDP or ZCDP.
    level : float
        The new epsilon, or rho.

    Returns
    -------
    Guarantee
        With the same delta, where it has one.

    Raises
    ------
    TypeError
        For NoPrivacy, which has no level.
    """
    if isinstance(guarantee, NoPrivacy):
        raise TypeError("NoPrivacy has no level. Give PureDP, ApproxDP or ZCDP.")
    if isinstance(guarantee, ZCDP):
        return dataclasses.replace(guarantee, rho=level)
    return dataclasses.replace(guarantee, epsilon=level)
