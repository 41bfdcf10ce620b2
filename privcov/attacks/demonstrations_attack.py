"""The attacker of the demonstrations: has every row but one and the method, sees the answer, and guesses the table.

The two tables are equally likely. For Gaussian noise the best attacker is known exactly (Neyman and Pearson): with G
the difference of the two answers and <.,.> in units of the noise, the score <G, answer>, less its middle, is N(mu/2, 1)
with the first table and N(-mu/2, 1) with the second, and guessing by its sign is right with probability Phi(mu/2). The
same attack is also carried out on simulated answers, as a check that does not use that formula.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from privcov.attacks.bulk import draw_many
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, ZCDP
from privcov.measurements.noise import NoiseDistribution

CONFIDENCE = 0.95  # of the interval around simulated attacks
_BINS = 60  # at most; fewer answers get wider bins


@dataclass(frozen=True, eq=False)
class AnswerHistogram:
    """Fractions of the simulated answers of one or two tables by bin; above ``cut`` the attacker guesses the first."""

    label: str
    edges: np.ndarray
    first: np.ndarray
    second: np.ndarray | None = None
    cut: float | None = None


@dataclass(frozen=True, eq=False)
class AttackResult:
    """One attack.

    success: probability that the best attacker is right, 0.5..1: a closed form when ``exact``, else the fraction
    of the simulated guesses. limit: what the claim permits. rho: the rho that these two tables alone need, None where
    no rho is claimed or none is enough. hits of ``guesses`` simulated guesses were right; low,
    high: exact binomial interval (Clopper and Pearson) around their fraction at level CONFIDENCE.
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
    histogram: AnswerHistogram
    rho: float | None = None

    @property
    def refutes_claim(self) -> bool:
        """Whether the attacker is right more often than the claim permits, beyond chance where it is simulated."""
        return (self.success if self.exact else self.low) > self.limit

    @property
    def exceeded(self) -> bool:
        """Whether these two tables need more rho than was claimed, however well the attacker does."""
        return isinstance(self.claim, ZCDP) and self.rho is not None and self.rho > self.claim.rho * (1 + 1e-9)

    @property
    def worthless(self) -> bool:
        """Whether the claim itself permits certainty."""
        return self.limit == 1


@dataclass(frozen=True, eq=False)
class Attack:
    """Two answers before the noise (p x p, symmetric, unit-ball units) and the noise that hides which one it was.

    distribution: Gaussian noise of shape "free-groups" for tables of two columns or more, perhaps with one anchor.
    looks: number of independent draws of the same answer that the attacker averages.
    """

    first: np.ndarray
    second: np.ndarray
    distribution: NoiseDistribution
    looks: int = 1

    @property
    def difference(self) -> np.ndarray:
        """The answer on the first table less that on the second, without noise."""
        return self.first - self.second

    @cached_property
    def weights(self) -> np.ndarray:
        """Return G in units of the noise.

        The sum of the diagonal over every group of columns counts once more, with its weight (see
        `NoiseDistribution`).
        """
        place = np.arange(self.distribution.dimension)
        groups, weights = np.array(self.distribution.groups), np.array(self.distribution.weights)
        weighted = self.difference.copy()
        weighted[place, place] += (weights * np.bincount(groups, weighted[place, place]))[groups]
        return weighted / self.distribution.scale**2

    @cached_property
    def mu(self) -> float:
        """The distance of the two answers in standard deviations of the noise; no attack distinguishes them better."""
        return math.sqrt(self.looks * float((self.difference * self.weights).sum()))

    @property
    def success(self) -> float:
        """The probability that the attacker is right, Phi(mu/2), 0.5..1."""
        return float(ndtr(self.mu / 2))

    @property
    def rho(self) -> float:
        """The smallest rho that holds for this pair of tables, mu^2 / 2."""
        return self.mu**2 / 2

    def scores(self, table_index: int, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return the attacker's score for ``count`` simulated answers of the first (0) or second (1) table."""
        exact = (self.first, self.second)[table_index]
        mean = np.zeros((count, *exact.shape))
        for _ in range(self.looks):
            mean += _noise(self.distribution, count, rng)
        answers = exact + mean / self.looks
        middle = float((self.weights * (self.first + self.second)).sum()) / 2
        spread = self.mu / self.looks
        return (np.einsum("ij,kij->k", self.weights, answers) - middle) / spread


def _noise(distribution: NoiseDistribution, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw noise matrices of the distribution; with its one anchor, whose corner is public and gets none."""
    d = distribution.dimension
    block = draw_many(dataclasses.replace(distribution, n_anchors=0), count, rng)
    if not distribution.n_anchors:
        return block
    whole = np.zeros((count, d + 1, d + 1))
    whole[:, :d, :d] = block
    whole[:, :d, d] = whole[:, d, :d] = distribution.off_diagonal_std * rng.standard_normal((count, d))
    return whole


def carry_out(attack: Attack, claim: ZCDP, finding: str, count: int, rng: np.random.Generator) -> AttackResult:
    """Carry out the attack, exactly and on ``count`` simulated answers of either table."""
    first, second = (attack.scores(i, count, rng) for i in (0, 1))
    hits = int((first > 0).sum() + (second <= 0).sum())
    low, high = interval(hits, 2 * count)
    everything = np.concatenate([first, second])
    edges = np.linspace(everything.min(), everything.max(), min(_BINS, math.isqrt(2 * count)) + 1)
    histogram = AnswerHistogram(
        "attacker's score (standard deviations)",
        edges,
        np.histogram(first, edges)[0] / count,
        np.histogram(second, edges)[0] / count,
        0.0,
    )
    limit = accounting.attacker_success(claim)
    return AttackResult(claim, limit, attack.success, True, hits, 2 * count, low, high, finding, histogram, attack.rho)


def interval(hits: int, guesses: int) -> tuple[float, float]:
    """Return an exact binomial interval for a probability, at level CONFIDENCE (Clopper and Pearson 1934)."""
    from privcov.attacks.bounds import binomial_high, binomial_low  # scipy.stats is slow to import

    alpha = (1 - CONFIDENCE) / 2
    return float(binomial_low(hits, guesses, alpha)), float(binomial_high(hits, guesses, alpha))
