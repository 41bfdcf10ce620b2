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

from privcov import accounting
from privcov.declared_columns import MOST_COLUMNS
from privcov.measurements.exact_moment import anchor_of, anchored_rows, planned_event, settle_shape
from privcov.measurements.exact_reading import noise_of
from privcov.measurements.laws.anchor import ANCHOR_SQUARED, BOTH
from privcov.measurements.noise import NoiseDistribution
from privcov.owner.twin import Twin, anchor_for, noisy_measurement, noisy_twin, share_clipped
from privcov.postprocess.answers import Noisy
from privcov.postprocess.available import Available, available_cases
from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_psd
from privcov.postprocess.threshold import universal_level
from privcov.privacy import GaussianDP, Guarantee, NoPrivacy, ZCDP
from privcov.public_facts import PublicFacts

_Z80 = 0.8416212335729143  # normal quantile of 0.8, the chance with which "visible" is meant
_WORK = 5e6  # replicates x d^3
_MOST_REPLICATES, _FEWEST = 40, 4


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
        clipped=share_clipped(twin, seed),
        replicates=count,
    )


def _noise(twin: Twin, distribution: NoiseDistribution, square: float) -> tuple[float, float, float]:
    """Return the deviation of the noise on a covariance, a variance and a correlation of the simulated table."""
    r2, variance, shares = twin.row_bound**2, twin.spread**2, (1 - twin.missing) ** 2
    if twin.flagged:
        sample = variance * twin.correlation
        exact = noisy_measurement(
            twin, sample, np.zeros(twin.d), distribution, np.zeros((distribution.size,) * 2), square
        )
        found = _available(exact)
        off = ~np.eye(twin.d, dtype=bool) if twin.d > 1 else np.ones((1, 1), dtype=bool)
        entry = float(np.sqrt(np.nanmean(found.variance[off])))
        return entry, float(np.sqrt(np.nanmean(np.diag(found.variance)))), entry / variance
    entry = distribution.off_diagonal_std * r2
    # Mean at the typical values, so the noise on the mean enters the covariance by its square alone.
    edge = distribution.scale * distribution.edge_std * twin.row_bound / anchor_for(twin, square)
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


def _available(noisy: Noisy) -> Available:
    """Return the available cases of a simulated measurement with flags."""
    assert noisy.flags is not None, "missing cells are measured"
    return available_cases(noisy.matrix, noisy.flags, joint=True, row_bound=noisy.row_bound)


def _error(twin: Twin, distribution: NoiseDistribution, seed: int, repeat: int, square: float) -> float:
    """Return the relative error of one simulated release."""
    noisy, sample = noisy_twin(twin, distribution, seed, repeat, square)
    # The covariance of `derive`, by the quicker algebra: here the last digits do not matter.
    if noisy.flags is not None:
        covariance = clip_psd(np.nan_to_num(_available(noisy).covariance))
    else:
        covariance = unpack(clip_psd(noisy.matrix), centre="joint", row_bound=noisy.row_bound).covariance
    return float(np.linalg.norm(covariance - sample) / np.linalg.norm(sample))


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
