"""One audit: draw two neighbouring tables many times, learn to distinguish them on one half, test it on the other.

The training draws alone choose the sets that are tested, so the bounds of bounds.py hold on the test draws for the two
sets that are tested there, however many sets were tried before. A stated bound is wrong with a probability of at most
``error``, so a mechanism that keeps its claim is accused no more often.

Answers are rounded to the grid GRID before they are looked at. Unrounded, the last bits of a floating-point sum show
from which of two numbers it was made (Mironov 2012), and then sound noise is caught as well: ``last_bits`` shows that.
Private releases are made of whole numbers for this reason, and are looked at as they are, down to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privcov.attacks.bounds import (
    ERROR,
    AuditableGuarantee,
    allowed_difference,
    alpha_per_bound,
    binomial_high,
    binomial_low,
    detection_limit,
    level_low,
)
from privcov.attacks.mechanisms import RHO, AuditedMechanism, Sampler, find, sampler
from privcov.attacks.pairs import Pair, catalogue, tables
from privcov.attacks.statistics import Region, best_regions, statistics
from privcov.core import checks
from privcov.core.guarantees import ApproxDP, Event, ZCDP, level_of

BATCH = {True: 20_000, False: 500}  # draws of either table between two checks of the stop button: in bulk, run by run
MAX_DRAWS = 1_000_000
GRID = 2.0**-30
_BINS = 80


@dataclass(frozen=True)
class AuditSettings:
    """The settings of one audit.

    mechanism: key of `mechanisms`; d: 1, 2 or 3; pair: key of `catalogue`, or "" for the usual pair; draws: of either
    table, half of them for training; delta: used by claims of kind "approx" only, and rho instead of epsilon by "zcdp";
    last_bits: look at unrounded answers; error: the probability that a stated bound is wrong. The noise of a private
    release comes from the operating system: there is no seed.
    """

    mechanism: str
    d: int = 2
    pair: str = ""
    epsilon: float = 1.0
    delta: float = 1e-3
    draws: int = 100_000
    seed: int = 1
    last_bits: bool = False
    rho: float = RHO
    error: float = ERROR

    def __post_init__(self) -> None:
        checks.integer("d", self.d, 1, 3)
        checks.integer("draws", self.draws, 1_000, MAX_DRAWS)
        checks.one_of("pair", self.pair, ("", *(p.key for p in self.pairs)))
        checks.strictly_between("error", self.error, 0.0, 1.0)

    @property
    def audited_mechanism(self) -> AuditedMechanism:
        """The mechanism of this key."""
        return find(self.mechanism)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of neighbouring tables at this d."""
        return catalogue(self.d, self.audited_mechanism.hidden_n)

    @property
    def claim(self) -> AuditableGuarantee:
        """The guarantee that is put to the test."""
        return self.audited_mechanism.claim(self.epsilon, self.delta, self.rho)

    @property
    def steps(self) -> int:
        """The number of cells of `run`."""
        return math.ceil(self.draws / BATCH[self.audited_mechanism.bulk]) + 1


@dataclass(frozen=True, eq=False)
class RegionTest:
    """A set of answers and how often the test draws of the two tables fell into it."""

    region: Region
    hits: tuple[int, int]
    p_low: float
    q_high: float

    @property
    def words(self) -> str:
        """The set of answers in a few words."""
        return self.region.words


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of a number over the test draws of either table. Values outside the edges count in the end bins."""

    label: str
    edges: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cut: float | None = None
    above: bool = True


@dataclass(frozen=True, eq=False)
class Audit:
    """Result of an audit.

    draws: test draws of either table. proved_level: in the unit of the claim, epsilon at its delta or rho (0 at the
    least). proved_delta: delta at epsilon 0 that is proved; allowed_delta: what the claim allows there. support: for
    additive Wishart noise, the smallest eigenvalue of the answer less the exact answer of the table that makes the
    other impossible.
    """

    settings: AuditSettings
    pair: Pair
    claim: AuditableGuarantee
    draws: int
    for_level: RegionTest
    for_delta: RegionTest
    proved_level: float
    proved_delta: float
    allowed_delta: float
    histogram: Histogram
    support: Histogram | None
    impossible: tuple[int, int] | None
    events: tuple[Event, ...]

    @property
    def refutes_claim(self) -> bool:
        """Whether the claim is refuted, up to an error probability of ``settings.error``."""
        return self.proved_level > level_of(self.claim) or self.proved_delta > self.allowed_delta

    @property
    def sentence(self) -> str:
        """The result in one sentence with its confidence."""
        sure = f"{100 * (1 - self.settings.error):.4g}\u00a0% confidence"
        name = "rho" if isinstance(self.claim, ZCDP) else "epsilon"
        at = f" at delta = {self.claim.delta:g}" if isinstance(self.claim, ApproxDP) else ""
        if self.proved_level > level_of(self.claim):
            return f"Caught: {name} is at least {self.proved_level:.3g}{at}, and {self.claim} was claimed ({sure})."
        if self.refutes_claim:
            return (
                f"Caught: delta at epsilon 0 is at least {self.proved_delta:.3g}, and {self.claim} allows "
                f"{self.allowed_delta:.3g} there ({sure})."
            )
        can = detection_limit(self.claim, self.draws)
        small = f"noise {can.factor:.2f} times too small" if math.isfinite(can.factor) else "no noise that is too small"
        return (
            f"Not caught: {name} is at least {self.proved_level:.3g}{at}, which {self.claim} allows ({sure}). "
            f"This many draws see {small} at best; passing is no proof."
        )


def audit(settings: AuditSettings) -> Audit:
    """Run one audit to its end, with the bounds of Clopper and Pearson 1934 (`privcov.attacks.bounds`)."""
    *_, last = run(settings)
    assert last is not None, "the last step judges"
    return last


def run(settings: AuditSettings) -> Iterator[Audit | None]:
    """Run the audit in steps for a background job: yield None per step, the `Audit` last."""
    mechanism, claim = settings.audited_mechanism, settings.claim
    pair_key = settings.pair or mechanism.usual_pair(settings.d)
    pair = next(p for p in settings.pairs if p.key == pair_key)
    one, other = (sampler(mechanism, table, claim) for table in tables(pair, mechanism.rows))
    as_drawn = settings.last_bits or mechanism.exact
    parts: tuple[list, list] = ([], [])
    remaining, number = settings.draws, 0
    while remaining:
        size = min(remaining, BATCH[mechanism.bulk])
        for side, part in zip((one, other), parts, strict=True):
            answers = side.draw(size, settings.seed, "draws", number)
            part.append(answers if as_drawn else np.round(answers / GRID) * GRID)
        remaining, number = remaining - size, number + 1
        yield None
    first, second = map(np.concatenate, parts)
    yield _judge(settings, pair, claim, (one, other), (first, second))


def _judge(
    settings: AuditSettings,
    pair: Pair,
    claim: AuditableGuarantee,
    samplers: tuple[Sampler, Sampler],
    answers: tuple[np.ndarray, np.ndarray],
) -> Audit:
    """Choose the sets on the training draws, and test them on the others."""
    half = settings.draws // 2
    first, second = answers
    train, test = (first[:half], second[:half]), (first[half:], second[half:])
    alpha = alpha_per_bound(settings.error)
    one, other = (side.centre for side in samplers)
    centres = None if one is None or other is None else (one, other)
    regions = best_regions(train, statistics(train, centres), claim, alpha)[:2]
    tests = [_test(r, test, alpha) for r in regions]
    support, impossible = None, None
    if samplers[0].support:
        assert centres is not None  # a sampler with a support has its answer without noise
        support, impossible = _support(test, centres)
    return Audit(
        settings,
        pair,
        claim,
        len(test[0]),
        for_level=tests[0],
        for_delta=tests[1],
        proved_level=max(0.0, float(level_low(claim, tests[0].p_low, tests[0].q_high))),
        proved_delta=max(0.0, tests[1].p_low - tests[1].q_high),
        allowed_delta=allowed_difference(claim),
        histogram=_histogram(regions[0].statistic.label, [regions[0].statistic.of(t) for t in test], regions[0]),
        support=support,
        impossible=impossible,
        events=samplers[0].events,
    )


def _test(region: Region, test: tuple[np.ndarray, np.ndarray], alpha: float) -> RegionTest:
    hits = region.hits(test[0]), region.hits(test[1])
    n = len(test[0])
    low, high = binomial_low(hits[region.favoured], n, alpha), binomial_high(hits[1 - region.favoured], n, alpha)
    return RegionTest(region, hits, float(low), float(high))


def _support(
    test: tuple[np.ndarray, np.ndarray], centres: tuple[np.ndarray, np.ndarray]
) -> tuple[Histogram, tuple[int, int]]:
    """Return the smallest eigenvalues of the answer less an exact answer, and how many answers only one table can give.

    The answer less the exact answer of its own table is always positive semi-definite.
    """
    lowest = [[np.linalg.eigvalsh(t - centre)[:, 0] for centre in centres] for t in test]
    tiny = -1e-9 * max(float(np.abs(t).max()) for t in test)
    impossible = (int((lowest[0][1] < tiny).sum()), int((lowest[1][0] < tiny).sum()))
    other = 1 if impossible[0] >= impossible[1] else 0
    name = ("first", "second")[other]
    values = [lowest[0][other], lowest[1][other]]
    return _histogram(f"smallest eigenvalue of answer - {name} table", values), impossible


def _histogram(label: str, values: list[np.ndarray], region: Region | None = None) -> Histogram:
    low, high = np.quantile(np.concatenate(values), [0.001, 0.995 if region is not None else 0.95])
    if region is not None:
        room = (high - low) / 10  # the tested set is to be seen
        low = min(low, region.cut if region.above else region.cut - room)
        high = max(high, region.cut + room if region.above else region.cut)
    if high <= low:
        low, high = low - 1.0, high + 1.0
    edges = np.linspace(low, high, _BINS + 1)
    if region is None and low < 0 < high:  # zero is an edge: what lies below it is impossible
        edges = edges - edges[np.argmin(np.abs(edges))]
    first, second = (np.histogram(np.clip(v, edges[0], edges[-1]), edges)[0] for v in values)
    cut, above = (None, True) if region is None else (region.cut, region.above)
    return Histogram(label, edges, first, second, cut, above)
