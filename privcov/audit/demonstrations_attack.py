"""The attacker of the demonstrations: knows every row but one and the method, sees the answer, and guesses the table.

The two tables are equally likely. For Gaussian noise the best attacker is known exactly (Neyman and Pearson): with G
the difference of the two answers and <.,.> in units of the noise, the score <G, answer>, less its middle, is N(mu/2, 1)
with the first table and N(-mu/2, 1) with the second, and guessing by its sign is right with probability Phi(mu/2). The
same attack is also carried out on simulated answers, as a check that does not use that formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from privcov import accounting
from privcov.audit.bulk import draw_many
from privcov.measurements.noise import NoiseDistribution
from privcov.privacy import ApproxDP, ZCDP

CONFIDENCE = 0.95  # of the interval around simulated attacks
_BINS = 60  # at most; fewer answers get wider bins


@dataclass(frozen=True, eq=False)
class Seen:
    """What the attacker looks at: shares of the simulated answers in each bin, of either table.

    second: None where there is one table only. cut: the attacker guesses the first table above it.
    """

    label: str
    edges: np.ndarray
    first: np.ndarray
    second: np.ndarray | None = None
    cut: float | None = None


@dataclass(frozen=True, eq=False)
class Side:
    """One attack. success: chance that the best attacker is right, 0.5..1: a closed form when ``exact``, else the share
    of the simulated guesses. limit: what the claim permits. hits of ``guesses`` simulated guesses were right; low,
    high: exact binomial interval (Clopper and Pearson) around their share at level CONFIDENCE.
    """

    claim: ZCDP | ApproxDP
    limit: float
    success: float
    exact: bool
    hits: int
    guesses: int
    low: float
    high: float
    finding: str
    seen: Seen

    @property
    def broken(self) -> bool:
        """The attacker is right more often than the claim permits, beyond what chance explains when simulated."""
        return (self.success if self.exact else self.low) > self.limit

    @property
    def worthless(self) -> bool:
        """The claim itself permits certainty."""
        return self.limit == 1


@dataclass(frozen=True, eq=False)
class Attack:
    """Two answers before the noise (p x p, symmetric, unit-ball units) and the noise that hides which one it was.

    law: Gaussian noise of shape "free-trace" for tables of two columns or more, perhaps with one anchor.
    looks: number of independent draws of the same answer that the attacker averages.
    """

    first: np.ndarray
    second: np.ndarray
    distribution: NoiseDistribution
    looks: int = 1

    @property
    def difference(self) -> np.ndarray:
        """What the attacker looks for: the answer on the first table less that on the second, without noise."""
        return self.first - self.second

    @cached_property
    def weights(self) -> np.ndarray:
        """G in units of the noise. Free-trace noise is sqrt(d + 1) times smaller along the identity than in every other
        direction, so the trace of the block counts once more (see `NoiseLaw`)."""
        d = self.distribution.dimension
        found = self.difference.copy()
        found[:d, :d] += np.trace(found[:d, :d]) * np.eye(d)
        return found / self.distribution.scale**2

    @cached_property
    def mu(self) -> float:
        """Distance of the two answers in deviations of the noise: no attack tells them apart better."""
        return math.sqrt(self.looks * float((self.difference * self.weights).sum()))

    @property
    def success(self) -> float:
        """Phi(mu/2), 0.5..1."""
        return float(ndtr(self.mu / 2))

    @property
    def rho(self) -> float:
        """No smaller rho holds for this pair of tables: mu^2 / 2."""
        return self.mu**2 / 2

    def scores(self, which: int, count: int, rng: np.random.Generator) -> np.ndarray:
        """The attacker's number for ``count`` simulated answers of the first (0) or second (1) table."""
        exact = (self.first, self.second)[which]
        mean = np.zeros((count, *exact.shape))
        for _ in range(self.looks):
            mean += _noise(self.distribution, count, rng)
        answers = exact + mean / self.looks
        middle = float((self.weights * (self.first + self.second)).sum()) / 2
        spread = self.mu / self.looks
        return (np.einsum("ij,kij->k", self.weights, answers) - middle) / spread


def _noise(distribution: NoiseDistribution, count: int, rng: np.random.Generator) -> np.ndarray:
    """count noise matrices of the law; with its one anchor, whose corner is public and gets none."""
    d = distribution.dimension
    block = draw_many(NoiseDistribution(distribution.shape, distribution.scale, d), count, rng)
    if not distribution.n_anchors:
        return block
    whole = np.zeros((count, d + 1, d + 1))
    whole[:, :d, :d] = block
    whole[:, :d, d] = whole[:, d, :d] = distribution.off_diagonal_std * rng.standard_normal((count, d))
    return whole


def carried_out(attack: Attack, claim: ZCDP, finding: str, count: int, rng: np.random.Generator) -> Side:
    """The attack, exactly and on ``count`` simulated answers of either table."""
    first, second = (attack.scores(i, count, rng) for i in (0, 1))
    hits = int((first > 0).sum() + (second <= 0).sum())
    low, high = interval(hits, 2 * count)
    everything = np.concatenate([first, second])
    edges = np.linspace(everything.min(), everything.max(), min(_BINS, math.isqrt(2 * count)) + 1)
    seen = Seen(
        "attacker's score (noise deviations)",
        edges,
        np.histogram(first, edges)[0] / count,
        np.histogram(second, edges)[0] / count,
        0.0,
    )
    limit = accounting.attacker_success(claim)
    return Side(claim, limit, attack.success, True, hits, 2 * count, low, high, finding, seen)


def interval(hits: int, guesses: int) -> tuple[float, float]:
    """Exact binomial interval (Clopper and Pearson 1934) for a probability, at level CONFIDENCE."""
    from privcov.audit.bounds import binomial_high, binomial_low  # scipy.stats is slow to import

    alpha = (1 - CONFIDENCE) / 2
    return float(binomial_low(hits, guesses, alpha)), float(binomial_high(hits, guesses, alpha))
