"""The expected accuracy of a release of private rows, from public facts alone: no row is read.

The noise has the public distribution of the planned release; the rows come from a simulated
table whose structure the owner picks. Everything is in working units, where the public half-range of each column is 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from privcov.core import accounting
from privcov.core.guarantees import GaussianDP, Guarantee
from privcov.measurements.exact.norm_counts import counts_event, halvings_of, norm_counts, shares
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess.available_cases import available_cases
from privcov.postprocess.binary_columns import with_identities, within_values
from privcov.postprocess.matrices import MeasuredMoment
from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import clip_psd
from privcov.releases.private_request import PrivateRequest, default_request
from privcov.steward.example_rows import ExampleRows, covariance_of, entry_stds, planned_anchor
from privcov.tables.public_facts import Flags, PublicFacts

_Z80 = 0.8416212335729143  # normal quantile of 0.8, the chance with which "visible" is meant
_WORK = 5e6  # replicates x d^3
_MAX_REPLICATES, _FEWEST = 40, 4


@dataclass(frozen=True)
class Preview:
    """The numbers of a plan at one guarantee.

    table: the invented or public rows that stand in for the private ones. noise: standard deviation of the privacy
    noise on every entry of the covariance, d x d, in working units; NaN where none is released. correlation_std: the
    same on a released correlation of two columns, in the middle; nine in ten pairs have one between correlation_ends.
    sampling_std: standard deviation of a released correlation near zero because there are only n rows. attenuation:
    share of the correlations that is left where missing cells are filled and long rows shortened. visible: the smallest
    correlation of a middle pair that is seen with a probability of 80 %, seen: beyond the largest standardised error of
    any pair in 19 of 20 tables without correlations; above 1: none is visible.

    error: mean relative Frobenius error of the release's covariance to that of the table. correlation_error: root mean
    square error of the bundle's correlations. replicates: number of draws of the noise behind both. trivial: relative
    error of the diagonal of the table alone. clipped: fraction of its rows that are longer than R and so are shortened.
    draw: correlations of the first simulated release.
    """

    guarantee: Guarantee
    table: ExampleRows
    noise: np.ndarray = field(compare=False, repr=False)
    correlation_std: float
    correlation_ends: tuple[float, float]
    sampling_std: float
    attenuation: float
    visible: float
    error: float
    correlation_error: float
    trivial: float
    clipped: float
    replicates: int
    draw: np.ndarray = field(compare=False, repr=False)

    @property
    def entry_std(self) -> float:
        """Root mean square of the noise on the covariances, in working units."""
        off = ~np.eye(self.table.d, dtype=bool) if self.table.d > 1 else np.eye(1, dtype=bool)
        finite = self.noise[off & np.isfinite(self.noise)]
        return float(np.sqrt(np.mean(finite**2))) if len(finite) else math.inf

    def survives(self, strength: float) -> float:
        """Return the probability that a pair of columns of this correlation is seen; see ``visible``."""
        there = 1 - self.table.missing if self.table.facts.flagged else 1.0
        return detection_probability(
            strength * self.attenuation, self.correlation_std, self.sampling_std, seen_from(self.table.d), there
        )


def planned_noise(facts: PublicFacts, guarantee: Guarantee, rows: float) -> NoiseDistribution:
    """Return the noise of the release that would follow, on the joint moment in unit-ball units.

    The scale is that of the exact measurement, in its whole numbers.
    """
    return default_request(facts, guarantee).noise(rows)


def noise_for(table: ExampleRows, guarantee: Guarantee) -> NoiseDistribution:
    """Return the noise of the planned release, of ``table.n`` rows or persons.

    A row does not count without an id, a listed class, or all its cells where the rule leaves such rows out. The
    planned rows count in the same share as the rows of the table.
    """
    return planned_noise(table.facts, guarantee, table.n * table.share)


def searched(table: ExampleRows, guarantee: Guarantee) -> tuple[ExampleRows, NoiseDistribution]:
    """Return the table under the row bound that a search finds in it, up to its noise, and the noise of the release."""
    facts = dataclasses.replace(table.facts, n=table.facts.n and table.n)
    request = default_request(facts, guarantee, search=True)
    if not (query := request.measurement_request).search_for:
        return table, noise_for(table, guarantee)
    first, rest = shares(query.share)
    counts = norm_counts(table.table) * (table.n * table.share / table.weight)
    halved = halvings_of(counts.tolist(), facts, counts_event(facts, first), rest, query.search_for)
    bound = facts.with_shorter_bound(2.0 ** (-halved / 2))
    return table.under(bound), request.noise(table.n * table.share, bound)


def planned_trade_off(facts: PublicFacts, guarantee: Guarantee) -> Guarantee | GaussianDP | None:
    """Return the tightest known claim about the release that would follow, from which an attacker's chances follow."""
    return accounting.trade_off_of((default_request(facts, guarantee).event(),), guarantee)


def preview(
    table: ExampleRows,
    guarantee: Guarantee,
    distribution: NoiseDistribution,
    *,
    seed: int = 0,
    replicates: int | None = None,
) -> Preview:
    """Return the plan at one guarantee.

    One seed gives the same unit noise at every guarantee.
    """
    stds, of_pairs, fade = _noise(table, distribution)
    noise = float(np.median(of_pairs))
    least, most = (float(np.quantile(of_pairs, q, method="nearest")) for q in (0.05, 0.95))
    pairs = table.n * table.share * ((1 - table.missing) ** 2 if table.facts.flagged else 1.0)
    sampling = 1 / math.sqrt(pairs)
    count = replicates or int(min(max(_WORK / table.d**3, _FEWEST), _MAX_REPLICATES))
    request = default_request(dataclasses.replace(table.facts, n=table.facts.n and table.n), guarantee)
    release = simulated_release(request, distribution, table.n)
    draws = [_compared(table, release, table.noisy(distribution, seed, k)) for k in range(count)]
    truth = table.covariance
    return Preview(
        guarantee,
        table,
        noise=stds,
        correlation_std=noise,
        correlation_ends=(least, most),
        sampling_std=sampling,
        attenuation=fade,
        visible=(seen_from(table.d) + _Z80) * math.hypot(noise, sampling) / fade if fade > 0 else math.inf,
        error=float(np.mean([error for error, *_ in draws])),
        correlation_error=math.sqrt(float(np.mean([square for _, square, _ in draws]))),
        trivial=float(np.linalg.norm(truth - np.diag(np.diag(truth))) / np.linalg.norm(truth)),
        clipped=table.clipped,
        replicates=count,
        draw=draws[0][2],
    )


def _noise(table: ExampleRows, distribution: NoiseDistribution) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the noise deviations of covariance and correlations, and the share of each correlation left.

    A release divides by its own variances, of filled cells and shortened rows.
    """
    exact = table.noisy(distribution, None)
    stds, covariance = entry_stds(exact), covariance_of(exact)
    spread, true = np.sqrt(np.maximum(np.diag(covariance), 0.0)), table.correlation
    off, scale = ~np.eye(table.d, dtype=bool) if table.d > 1 else np.eye(1, dtype=bool), np.outer(spread, spread)
    finite = np.isfinite(stds) & (scale > 0) & off
    if not finite.any():
        return stds, np.array([math.inf]), 1.0
    size = float(np.sum(true[finite] ** 2))
    fade = float(np.sum(covariance[finite] / scale[finite] * true[finite])) / size if size > 0 else 1.0
    return stds, stds[finite] / scale[finite], fade


def seen_from(d: int) -> float:
    """Return how many standard deviations of its error any pair reaches in one of 20 tables without correlations.

    For Gaussian errors of known deviation. Where the errors are Laplace's, or variances noisy, it is up to four of 20.
    """
    return float(ndtri(1 - 0.025 / max(d * (d - 1) / 2, 1)))


def detection_probability(strength: float, noise: float, sampling: float, level: float, there: float = 1.0) -> float:
    """Return the probability that |strength + noise + sampling error| exceeds ``level`` times that at no correlation.

    Both errors are Gaussian. The sampling error at a correlation r has (1 - r^2)^2 times the variance at none; where a
    share q of the cells of each column is there and cells are measured by pairs, 1 + r^2 - 3 q r^2 + q^2 r^4 times.
    """
    square = strength * strength
    own = 1 + square - 3 * there * square + (there * square) ** 2
    spread, cut = math.hypot(noise, sampling * math.sqrt(own)), level * math.hypot(noise, sampling)
    if spread == 0:
        return float(abs(strength) > cut)
    if math.isinf(spread):
        return float(2 * ndtr(-level))
    return float(ndtr((abs(strength) - cut) / spread) + ndtr((-abs(strength) - cut) / spread))


def smallest_level(meets: Callable[[float], bool], ratio: float = 1.02) -> float | None:
    """Return the smallest level from 1e-4 to 100 at which ``meets`` is true, or None."""
    low, high = 1e-4, 100.0
    if not meets(high):
        return None
    if meets(low):
        return low
    while high / low > ratio:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def simulated_release(
    request: PrivateRequest, law: NoiseDistribution, rows: float
) -> Callable[[np.ndarray, Flags | None], np.ndarray]:
    """Return the function from a simulated moment, and its flags, to the covariance of its release, in working units.

    ``rows``: number of rows, or persons, of the planned release.
    """
    facts = request.input.facts
    moment = NoisyMoment(
        np.empty(0), law, request.event(), "joint", facts.n, facts.row_bound, count=None if facts.n else rows,
        anchor_squared=planned_anchor(facts, law.shape) ** 2,
    )  # fmt: skip
    scale = np.outer(facts.units.scale, facts.units.scale)

    def covariance(matrix: np.ndarray, flags: Flags | None) -> np.ndarray:
        return request.covariance_of(dataclasses.replace(moment, matrix=matrix, flags=flags)) / scale

    return covariance


def _answer_correlations(noisy: MeasuredMoment) -> np.ndarray:
    """Return the correlations in the bundle of one simulated release, as `derive` does, but for the last digits."""
    off, joint, r = ~np.eye(noisy.d, dtype=bool), "joint", noisy.row_bound
    if noisy.flags is not None:
        cases = available_cases(noisy.matrix, noisy.flags, row_bound=r)
        raw, stds, mean = np.nan_to_num(cases.covariance), np.sqrt(np.nan_to_num(cases.variance)), cases.mean
        covariance, own = clip_psd(raw), stds.diagonal()
        accurate = not cases.refused.any() and own.max() < stds[off].min(initial=math.inf)
    else:
        moments = unpack(noisy.matrix, centre=joint, row_bound=r)
        raw, mean = moments.target, moments.mean
        covariance = unpack(clip_psd(noisy.matrix), centre=joint, row_bound=r).target
        own = np.broadcast_to(noisy.diagonal_std * r**2, noisy.d)
        accurate = bool(own.max() < noisy.entry_std * r**2)
    variances = np.diag(raw if accurate else covariance)
    if noisy.binary is not None and mean is not None:
        covariance = with_identities(covariance, within_values(mean, noisy.binary), noisy.binary)
        variances = np.where(noisy.binary.span > 0, np.diag(covariance), variances)
    variances = np.maximum(variances, max(float(own.max()), 1e-300))
    correlation = np.clip(covariance / np.sqrt(np.outer(variances, variances)), -1, 1)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _compared(
    table: ExampleRows, release: Callable[[np.ndarray, Flags | None], np.ndarray], noisy: MeasuredMoment
) -> tuple[float, float, np.ndarray]:
    """Return (relative error, mean squared correlation error, correlations) of a simulated release."""
    sample, covariance, correlation = table.covariance, release(noisy.matrix, noisy.flags), _answer_correlations(noisy)
    spread = np.sqrt(np.maximum(np.diag(sample), 0.0))
    scale = np.outer(spread, spread)
    there = (scale > 0) & ~np.eye(noisy.d, dtype=bool)
    apart = correlation[there] - sample[there] / scale[there]
    relative = float(np.linalg.norm(covariance - sample) / np.linalg.norm(sample))
    return relative, float(np.mean(apart**2)) if len(apart) else 0.0, correlation
