"""The expected accuracy of a release of private rows, from public facts alone: no row is read.

The noise is that of the release that would follow (its distribution is public), and the rows are those of a simulated
table whose structure the owner picks. Everything is in working units, where the public half-range of each column is 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from privcov import accounting
from privcov.declared_columns import MOST_COLUMNS
from privcov.measurements.noise import NoiseDistribution
from privcov.owner.example_rows import ExampleRows, entry_stds
from privcov.owner.simulated_table import (
    SimulatedTable,
    noisy_measurement,
    noisy_simulated_table,
    share_clipped,
)
from privcov.owner.weights import RowsEach, expected_weight
from privcov.postprocess.available import Available, available_cases
from privcov.postprocess.joint import unpack
from privcov.postprocess.matrices import Noisy
from privcov.postprocess.spectrum import clip_psd
from privcov.postprocess.threshold import universal_level
from privcov.privacy import GaussianDP, Guarantee, NoPrivacy, ZCDP
from privcov.public_facts import PublicFacts
from privcov.releasing.private_request import usual_request

Table = SimulatedTable | ExampleRows

_Z80 = 0.8416212335729143  # normal quantile of 0.8, the chance with which "visible" is meant
_WORK = 5e6  # replicates x d^3
_MOST_REPLICATES, _FEWEST = 40, 4


@dataclass(frozen=True)
class Preview:
    """The numbers of a plan at one guarantee.

    ``twin`` is the simulated table, or the public rows in its place. ``entry_std`` and ``variance_std`` are standard
    deviations of the privacy noise on an off-diagonal entry of the covariance and on a variance, in working units;
    ``correlation_std`` is that on a correlation of columns of the simulated spread, and ``sampling_std`` that of a
    correlation near zero from n rows. ``visible`` is the smallest correlation that exceeds, with a probability of 80 %,
    what all pairs of pure noise just do not exceed; above 1 none is.

    Over ``replicates`` simulated tables, ``error`` is the mean relative Frobenius error of the covariance to the sample
    and ``correlation_error`` the root mean square error of the correlations. ``trivial`` is the relative error of the
    diagonal alone, ``clipped`` the fraction of rows longer than R, ``draw`` the correlations of the first release.
    """

    guarantee: Guarantee
    twin: Table
    entry_std: float
    variance_std: float
    correlation_std: float
    sampling_std: float
    visible: float
    error: float
    correlation_error: float
    trivial: float
    clipped: float
    replicates: int
    draw: np.ndarray = field(compare=False, repr=False)

    def survives(self, strength: float) -> float:
        """Return the probability that a pair of columns of this correlation is seen; see ``visible``."""
        return survival(strength, self.correlation_std, self.sampling_std, universal_level(self.twin.d))


def planned_noise(facts: PublicFacts, guarantee: Guarantee, rows: int, rows_each: RowsEach = 1.0) -> NoiseDistribution:
    """Return the noise of the release that would follow, on the joint moment in unit-ball units.

    The scale is that of the exact measurement, in its whole numbers.
    """
    return usual_request(facts, guarantee).noise(rows * expected_weight(facts.most_weight, rows_each))


def planned_trade_off(facts: PublicFacts, guarantee: Guarantee) -> Guarantee | GaussianDP | None:
    """Return the tightest known claim about the release that would follow, from which an attacker's chances follow."""
    return accounting.trade_off_of((usual_request(facts, guarantee).event(),), guarantee)


def preview(
    twin: Table,
    guarantee: Guarantee,
    distribution: NoiseDistribution,
    *,
    seed: int = 0,
    replicates: int | None = None,
) -> Preview:
    """Return the plan at one guarantee; one seed gives the same simulated tables and unit noise at every guarantee."""
    entry, diagonal, noise = _noise(twin, distribution)
    sampling = 1 / math.sqrt(twin.n) / (1 - twin.missing)
    level = universal_level(twin.d)
    count = replicates or int(min(max(_WORK / twin.d**3, _FEWEST), _MOST_REPLICATES))
    found = [_compared(twin, distribution, seed, k) for k in range(count)]
    truth = twin.correlation if isinstance(twin, SimulatedTable) else twin.covariance
    return Preview(
        guarantee,
        twin,
        entry_std=entry,
        variance_std=diagonal,
        correlation_std=noise,
        sampling_std=sampling,
        visible=level * noise + _Z80 * math.hypot(noise, sampling),
        error=float(np.mean([error for error, *_ in found])),
        correlation_error=math.sqrt(float(np.mean([square for _, square, _ in found]))),
        trivial=float(np.linalg.norm(truth - np.diag(np.diag(truth))) / np.linalg.norm(truth)),
        clipped=share_clipped(twin, seed) if isinstance(twin, SimulatedTable) else twin.clipped,
        replicates=count,
        draw=found[0][2],
    )


def _noise(twin: Table, distribution: NoiseDistribution) -> tuple[float, float, float]:
    """Return the deviation of the noise on a covariance, a variance and a correlation of the simulated table."""
    if isinstance(twin, ExampleRows):
        stds, spread = entry_stds(twin.noisy(distribution, None)), np.sqrt(np.diag(twin.covariance))
        off, scale = ~np.eye(twin.d, dtype=bool) if twin.d > 1 else np.eye(1, dtype=bool), np.outer(spread, spread)
        known = np.isfinite(stds) & (scale > 0) & off
        noise = float(np.median(stds[known] / scale[known])) if known.any() else math.inf
        return _rms(stds[off]), _rms(np.diag(stds)), noise
    r2, variance, shares = twin.row_bound**2, twin.spread**2, (1 - twin.missing) ** 2
    if twin.flagged:
        sample = variance * twin.correlation
        exact = noisy_measurement(twin, sample, np.zeros(twin.d), distribution, np.zeros((distribution.size,) * 2))
        found = _available(exact)
        off = ~np.eye(twin.d, dtype=bool) if twin.d > 1 else np.ones((1, 1), dtype=bool)
        entry = float(np.sqrt(np.nanmean(found.variance[off])))
        return entry, float(np.sqrt(np.nanmean(np.diag(found.variance)))), entry / variance
    entry = distribution.off_diagonal_std * r2
    # Mean at the typical values, so the noise on the mean enters the covariance by its square alone.
    edge = distribution.scale * distribution.edge_std * twin.row_bound / twin.anchor
    # Cells that count as the typical value shrink a covariance by their share, and the noise stays.
    return entry, distribution.diagonal_std * r2, math.hypot(entry, edge**2) / variance / shares


def _rms(stds: np.ndarray) -> float:
    """Return the root mean square of those that are known, infinity where none is."""
    known = stds[np.isfinite(stds)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else math.inf


def preview_by_rule(
    twin: Table, facts: PublicFacts, guarantee: Guarantee, *, rows_each: RowsEach = 1.0, seed: int = 0
) -> dict[str, float]:
    """Return the expected error under both rules for missing cells that fill or measure them."""
    errors = {}
    for rule in ("typical", "pairs"):
        other = dataclasses.replace(facts, missing=rule, flags=facts.flags if facts.missing == rule else None)
        if other.width <= MOST_COLUMNS:
            noise = planned_noise(other, guarantee, twin.n, rows_each=rows_each)
            errors[rule] = preview(twin.under(other), guarantee, noise, seed=seed, replicates=_FEWEST).error
    return errors


def survival(strength: float, noise: float, sampling: float, level: float) -> float:
    """Return the probability that |strength + noise + sampling error| exceeds a cut, both errors Gaussian.

    The sampling error of a correlation r has the standard deviation (1 - r^2) / sqrt(n).
    """
    spread = math.hypot(noise, sampling * (1 - strength**2))
    if spread == 0:
        return float(strength != 0)
    cut = level * noise
    return float(ndtr((abs(strength) - cut) / spread) + ndtr((-abs(strength) - cut) / spread))


def smallest_level(
    meets: Callable[[float], bool], low: float = 1e-4, high: float = 100.0, ratio: float = 1.02
) -> float | None:
    """Return the smallest level at which ``meets`` is true, or None."""
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


def drawn(table: Table, distribution: NoiseDistribution, seed: int, repeat: int = 0) -> tuple[Noisy, np.ndarray]:
    """Return a measurement of the table with simulated noise, and the covariance of its rows."""
    if isinstance(table, SimulatedTable):
        return noisy_simulated_table(table, distribution, seed, repeat)
    return table.noisy(distribution, seed, repeat), table.covariance


def _answered(noisy: Noisy) -> tuple[np.ndarray, np.ndarray]:
    """Return covariance and correlation of one simulated release, as `derive` does, but for the last digits."""
    off, joint, r = ~np.eye(noisy.d, dtype=bool), "joint", noisy.row_bound
    if noisy.flags is not None:
        found = _available(noisy)
        raw, stds = np.nan_to_num(found.covariance), np.sqrt(np.nan_to_num(found.variance))
        covariance, own = clip_psd(raw), stds.diagonal()
        known = not found.refused.any() and own.max() < stds[off].min(initial=math.inf)
    else:
        raw = unpack(noisy.matrix, centre=joint, row_bound=r).target
        covariance = unpack(clip_psd(noisy.matrix), centre=joint, row_bound=r).target
        own = np.broadcast_to(noisy.diagonal_std * r**2, noisy.d)
        known = bool(own.max() < noisy.entry_std * r**2)
    variances = np.maximum(np.diag(raw if known else covariance), max(float(own.max()), 1e-300))
    correlation = np.clip(covariance / np.sqrt(np.outer(variances, variances)), -1, 1)
    np.fill_diagonal(correlation, 1.0)
    return covariance, correlation


def _compared(twin: Table, distribution: NoiseDistribution, seed: int, repeat: int) -> tuple[float, float, np.ndarray]:
    """Return the relative error of a simulated release, the mean square of its correlations' errors, and these."""
    noisy, sample = drawn(twin, distribution, seed, repeat)
    covariance, correlation = _answered(noisy)
    spread = np.sqrt(np.maximum(np.diag(sample), 0.0))
    scale = np.outer(spread, spread)
    there = (scale > 0) & ~np.eye(noisy.d, dtype=bool)
    apart = correlation[there] - sample[there] / scale[there]
    relative = float(np.linalg.norm(covariance - sample) / np.linalg.norm(sample))
    return relative, float(np.mean(apart**2)) if len(apart) else 0.0, correlation


def with_level(guarantee: Guarantee, level: float) -> Guarantee:
    """Return the same kind of guarantee at another epsilon or rho."""
    if isinstance(guarantee, NoPrivacy):
        raise TypeError("NoPrivacy has no level. Give PureDP, ApproxDP or ZCDP.")
    if isinstance(guarantee, ZCDP):
        return dataclasses.replace(guarantee, rho=level)
    return dataclasses.replace(guarantee, epsilon=level)
