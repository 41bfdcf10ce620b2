"""An attack on noise drawn in floating point: count the ways in which each answer can have come about.

A diagonal entry of the difference of two Wishart matrices is scale / 2 times the difference of two doubles A_ii and
B_ii, so scale / 2 times a multiple of the last place of the smaller one, 2^(e - 52) for a value in [2^e, 2^(e + 1)).
Which whole numbers such products round to, and how often, is public. An attacker with two candidate tables subtracts
the diagonal of either from the answer, and chooses the one from which more ways lead to the remainder.
A_ii and B_ii are chi-squared with p + 1 degrees of freedom, which weighs the exponents e.

Pure DP allows no attacker to be right with a probability above e^epsilon / (1 + e^epsilon) when either table is as
likely as the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.attacks.bounds import binomial_low
from privcov.measurements.exact.integer_gram import UNIT, whole_rows
from tests.privacy.lattice import Sampler

SURE = 1e-6  # probability of accusing noise whose attacker is right as often as its claim allows
_NEVER = (
    1e-3  # likelihood, beside 1 on average, of a number that no way leads to: the model of the doubles is not exact
)


@dataclass(frozen=True)
class Attack:
    """How often the attacker named the right table, and the largest expected number that the claimed epsilon allows."""

    releases: int
    right: int
    most: float

    @property
    def caught(self) -> bool:
        """Whether the attacker was right so often that epsilon is refuted, up to a probability of SURE."""
        return bool(binomial_low(self.right, self.releases, SURE) > self.most / self.releases)


def tell_apart(
    sampler: Sampler, *, d: int, epsilon: float, rows_per_person: int = 1, releases: int = 60, seed: int = 0
) -> Attack:
    """Release the second moment of one of two tables again and again, and guess which it was.

    The tables differ in one person's rows: random directions of full length, or zeros. sampler(p, scale) gives the
    noise of a pure epsilon release under replace-one, where the nuclear norm changes by at most twice rows_per_person
    squared row bounds. seed: of the rows and of the coin that chooses the table; the noise has no seed here.
    """
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((rows_per_person, d))
    rows = whole_rows(directions / np.linalg.norm(directions, axis=1, keepdims=True), 1.0)
    change = np.diag(rows.T @ rows)
    scale = rows_per_person * 2 * UNIT**2 / epsilon
    right = 0
    for second in rng.integers(2, size=releases):
        answer = np.diag(sampler(d, scale)) + second * change
        belief = log_likelihood(answer - change, scale) - log_likelihood(answer, scale)
        right += bool(belief > 0) == bool(second)
    return Attack(releases, right, releases / (1 + math.exp(-epsilon)))


def log_likelihood(diagonal: np.ndarray, scale: float) -> float:
    """Return the summed logarithm of how many ways lead to each entry of a diagonal, relative to the average."""
    from scipy.special import gammaincc

    p = len(diagonal)
    likelihoods = np.zeros(p)
    usual = int(math.log2(p + 1))
    for exponent in range(usual - 3, usual + 3):
        # The smaller of the two doubles has this exponent.
        above = [gammaincc((p + 1) / 2, 2.0**e / 2) ** 2 for e in (exponent, exponent + 1)]
        weight, last = above[0] - above[1], 2.0 ** (exponent - 52)
        step = scale / 2 * last
        if weight < 1e-6 or step < 1e-3:  # a lattice so fine is even
            continue
        near = np.rint(diagonal / step)[:, None] + np.arange(-math.ceil(1 / step) - 1, math.ceil(1 / step) + 2)
        ways = np.floor(scale / 2 * (near * last) + 0.5) == diagonal[:, None]
        likelihoods += weight * step * ways.sum(axis=1)
    return float(np.log(likelihoods + _NEVER).sum())
