"""A simulated table in place of the private one, and noisy measurements of it; no row is read."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from privcov import checks
from privcov.measurements.exact_reading import flags_of
from privcov.measurements.laws.anchor import ANCHOR_SQUARED, BOTH, COVARIANCE, anchor_squared
from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess.matrices import Noisy
from privcov.public_facts import PublicFacts
from privcov.randomness import stream

STRUCTURES = {
    "factor": "all columns move together",
    "blocks": "groups of four columns",
    "neighbours": "neighbouring columns",
    "independent": "nothing moves together",
}


@dataclass(frozen=True)
class SimulatedTable:
    """The simulated table of a plan: Gaussian rows with the mean at the typical values.

    n: number of rows, as declared, or the owner's guess where it is not public. structure: a key of STRUCTURES.
    strength: the largest correlation, from 0 to 0.99. spread: standard deviation of each column as a fraction of its
    half-range, from 0.001 to 1. row_bound: R, in working units. anchor: `planned_anchor` of the table.

    missing: the owner's guess of the share of cells that are missing, from 0 to 0.95, the same in every column and
    related to nothing. flagged: positions of the columns whose missing cells are measured (`PublicFacts.flagged`);
    where there are none, missing cells count as the typical value. ValueError for a value out of range.
    """

    d: int
    n: int
    structure: str = "factor"
    strength: float = 0.5
    spread: float = 0.3
    row_bound: float = 1.0
    anchor: float = math.sqrt(ANCHOR_SQUARED)
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
    def what(self) -> str:
        """What the table is, in words."""
        return (
            f"an invented table: {STRUCTURES[self.structure]}, correlation {self.strength:g}, deviation "
            f"{self.spread:g} of the half-range"
        )

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

    def under(self, facts: PublicFacts) -> SimulatedTable:
        """Return the same table under other facts: another rule for missing cells, or another row bound."""
        return dataclasses.replace(self, row_bound=facts.row_bound, flagged=facts.flagged)


def noisy_simulated_table(
    twin: SimulatedTable, distribution: NoiseDistribution, seed: int, repeat: int = 0
) -> tuple[Noisy, np.ndarray]:
    """Return a noisy measurement of a simulated table, and the covariance of its sample."""
    rows, noise = (stream(seed, what, repeat, "plan", "twin") for what in ("rows", "noise"))
    covariance = twin.spread**2 * twin.correlation
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(twin.d))
    sample = root @ _wishart(twin.d, twin.n, rows) @ root.T / twin.n
    mean = root @ rows.standard_normal(twin.d) / math.sqrt(twin.n)
    left = _left_by_clipping(twin, seed)
    clipped, centre = (sample, mean) if left is None else (left @ sample @ left.T, left @ mean)
    if not twin.missing and not twin.flagged:
        return measured(clipped, centre, twin.n, twin.row_bound, distribution, noise, anchor=twin.anchor), sample
    return noisy_measurement(twin, clipped, centre, distribution, distribution.draw(noise)), sample


def noisy_measurement(
    twin: SimulatedTable,
    covariance: np.ndarray,
    mean: np.ndarray,
    distribution: NoiseDistribution,
    noise: np.ndarray,
) -> Noisy:
    """Return the joint measurement of rows with this mean and covariance of which a share of cells is missing."""
    d, q, anchor = twin.d, twin.missing, twin.anchor
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


def measured(
    covariance: np.ndarray,
    mean: np.ndarray,
    n: int,
    row_bound: float,
    distribution: NoiseDistribution,
    rng: np.random.Generator,
    *,
    anchor: float,
) -> Noisy:
    """Draw the joint measurement of n rows with this mean and covariance, in working units."""
    d = len(mean)
    edge = anchor * mean[:, None] / row_bound
    block = (covariance + np.outer(mean, mean)) / row_bound**2
    whole = np.block([[block, edge], [edge.T, np.array([[anchor**2]])]])
    std = distribution.off_diagonal_std
    return Noisy(
        whole + distribution.draw(rng), True, row_bound, np.ones(d), np.zeros(d), n, std, distribution.diagonal_std, std
    )


def planned_anchor(facts: PublicFacts, shape: str = "") -> float:
    """Return the constant that the joint moment of a release with noise of this shape has beside each row.

    For k classes it is sqrt(k) times smaller, because the noise on their sums adds up. Only laplace-cov, which treats
    mean and covariance alike, draws Laplace noise on several columns, and only of a table with kinds.
    """
    k, matters = len(facts.classes) or 1, BOTH if shape == "laplace" and facts.width > 1 else COVARIANCE
    return math.sqrt(anchor_squared(matters, facts.d, k, facts.relation) / k)


def _wishart(d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return W_d(n - 1, I) by Bartlett's factor, also for fewer rows than columns."""
    if n <= d:
        rows = rng.standard_normal((n, d))
        rows = rows - rows.mean(axis=0)
        return rows.T @ rows
    factor = np.tril(rng.standard_normal((d, d)), -1)
    factor[np.diag_indices(d)] = np.sqrt(rng.chisquare(n - 1 - np.arange(d)))
    return factor @ factor.T


def share_clipped(twin: SimulatedTable, seed: int) -> float:
    """Return the fraction of simulated rows that are longer than R."""
    return float((np.linalg.norm(_simulated_rows(twin, seed), axis=1) > twin.row_bound * (1 + 1e-12)).mean())


def _simulated_rows(twin: SimulatedTable, seed: int, rows: int = 4000) -> np.ndarray:
    """Return rows of the simulated table, each cell within its bounds."""
    rng = stream(seed, "rows", 0, "plan", "norms")
    root = np.linalg.cholesky(twin.correlation + 1e-12 * np.eye(twin.d))
    return np.clip(twin.spread * rng.standard_normal((rows, twin.d)) @ root.T, -1, 1)


def _left_by_clipping(twin: SimulatedTable, seed: int) -> np.ndarray | None:
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
