"""Guess the neighbour: releases of one of two tables that differ in one row, and the best guess there can be.

The attacker knows both tables and the method, and has to say which one a release was made from. The Gaussian mechanism
adds independent N(0, sigma^2) to each entry on and above the diagonal, so the likelihood ratio of a release M is known
exactly,

    ln P(M | first) - ln P(M | second) = sum over i <= j of ((M - B)_ij^2 - (M - A)_ij^2) / (2 sigma^2),

A and B the exact moments. Guessing by its sign is optimal (Neyman and Pearson), right with probability Phi(mu / 2), mu
the distance of A and B over sigma. The two rows are two axes of full length, which attains the proved sensitivity, so
this is the largest chance that the guarantee of the release permits: the attacker meter's value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv

from privcov import accounting, checks
from privcov.dataset import Dataset
from privcov.measurements.moment import Measured, clipped_moment, measure_moment
from privcov.privacy import ZCDP
from privcov.randomness import stream

NAMES = ("A", "B")
N, D = 10, 3
ROW_BOUND = 1.0
WRONG = 0.05  # chance that the interval of a score misses


@dataclass(frozen=True, eq=False)
class Round:
    """One release (d x d) and what is behind it: truth 0 or 1 (A or B), and the optimal attacker's guess."""

    number: int
    release: np.ndarray
    truth: int
    nats: float

    @property
    def optimal(self) -> int:
        """0 or 1: the table that is more likely, by the privacy loss."""
        return int(self.nats < 0)

    @property
    def optimal_is_right(self) -> bool:
        """Whether the optimal attacker names the right table."""
        return self.optimal == self.truth


@lru_cache(maxsize=1)
def tables() -> tuple[Dataset, Dataset]:
    """n x d each: the same people but for the last row, which is one axis of full length or another."""
    rng = stream(0, "lesson", "guess", "rows")
    rows = rng.standard_normal((N, D))
    rows *= ROW_BOUND * rng.uniform(0.3, 1.0, (N, 1)) / np.linalg.norm(rows, axis=1)[:, None]
    found = []
    for name, axis in zip(NAMES, np.eye(D)[:2], strict=True):
        rows[-1] = ROW_BOUND * axis
        found.append(Dataset.from_rows(rows, ROW_BOUND, name=f"table {name}", provenance="simulated"))
    return found[0], found[1]


def exact_moments() -> tuple[np.ndarray, np.ndarray]:
    """The two second moments that everybody in the class may see, d x d, in units of the row bound squared."""
    first, second = (clipped_moment(table, joint=0) for table in tables())
    return first, second


def likelihood_ratio(measured: Measured, first: np.ndarray, second: np.ndarray) -> float:
    """ln P(release | first) - ln P(release | second), nats, for upper-triangle Gaussian noise of the event's scale."""
    if measured.event.law != "upper-triangle":
        raise ValueError(f"The likelihood ratio is that of upper-triangle noise, got {measured.event.law!r}.")
    upper = np.triu_indices(len(first))
    m, a, b = measured.matrix[upper], first[upper], second[upper]
    return float((((m - b) ** 2 - (m - a) ** 2) / (2 * measured.event.scale**2)).sum())


def play(rho: float, seed: int, number: int) -> Round:
    """Round ``number`` (from 1) of the game ``seed`` at rho-zCDP: a fair coin picks the table, then one release."""
    coin = stream(seed, "lesson", "guess", "coin", number).integers(2)
    measured = measure_moment(
        tables()[coin],
        ZCDP(rho),
        centre="zero",
        shape="upper-triangle",
        rng=stream(seed, "lesson", "guess", "noise", number),
    )
    return Round(number, measured.matrix, int(coin), likelihood_ratio(measured, *exact_moments()))


def limit(rho: float) -> float:
    """The attacker meter's value for these releases: exact, from the event of the measurement."""
    rng = stream(0, "lesson", "guess", "event")
    measured = measure_moment(tables()[0], ZCDP(rho), centre="zero", shape="upper-triangle", rng=rng)
    return accounting.attacker_on_events((measured.event,), ZCDP(rho))


def score_interval(hits: int, rounds: int) -> tuple[float, float]:
    """Exact 95 % interval of the chance of being right, by ``hits`` right of ``rounds``: Clopper and Pearson (1934)."""
    rounds = checks.whole("rounds", rounds, 1)
    hits = checks.whole("hits", hits, 0, rounds)
    low = float(betaincinv(hits, rounds - hits + 1, WRONG / 2)) if hits else 0.0
    high = float(betaincinv(hits + 1, rounds - hits, 1 - WRONG / 2)) if hits < rounds else 1.0
    return low, high
