"""Gaussian generators: rows i.i.d. N(0, Sigma) with a Sigma that is fixed by the parameters and the seed.

Two of them also draw from t_5, as Mathematics 2023 does: Sigma is then the scale matrix and the covariance (5/3) Sigma,
which is the truth. The default row bound is the length that at most 5 % of the rows exceed: public because Sigma is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcov.core.parameters import parameter
from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES, Source
from privcov.tables.dataset import Dataset, Truth

ROWS: dict[str, Any] = {
    "label": "Rows n",
    "low": 1,
    "high": 2_000_000,
    "log": True,
    "help": "Number of simulated people.",
    "ends": ("more noise", "less noise"),
}
COLUMNS: dict[str, Any] = {"label": "Columns d", "low": 1, "high": 1000, "help": "Number of variables."}
_FAMILY: dict[str, Any] = {
    "label": "Distribution of the rows",
    "choices": ("normal", "t5"),
    "help": "t5 has heavy tails (five degrees of freedom) and a covariance 5/3 as large.",
    "reference": "Mathematics 2023, Section 4.1. Its t_5 errors look measured against the scale matrix, not the "
    "covariance.",
}
LONGER = 1.7507  # standard deviations beyond which 4 % of a normal variable lie; up to 5 % of the rows do
_T = 5  # degrees of freedom; a t_5 vector with scale matrix Sigma has covariance 5 / (5 - 2) Sigma


class Gaussian(Source):
    """Base of the generators in this file: a subclass gives Sigma, and for some models the precision with its graph.

    family: distribution of the rows, "normal" or "t5".
    """

    n: int
    d: int
    family: str = "normal"

    def truth(self, seed: int) -> Truth:
        """Return the population covariance, and the precision with its graph where the model is defined by it."""
        raise NotImplementedError

    @property
    def spread(self) -> float:
        """The covariance over the scale matrix."""
        return _T / (_T - 2) if self.family == "t5" else 1.0

    def default_row_bound(self, seed: int) -> float:
        """Return the length that at most 5 % of the rows exceed: public, as Sigma is.

        The squared length of a normal row has the mean and the variance of trace(Sigma) chi^2_f / f, with
        f = trace(Sigma)^2 / trace(Sigma^2) degrees of freedom (Satterthwaite 1946), and of a t_5 row is that over
        chi^2_5 / 5. The cube roots of both chi squares are nearly normal (Wilson and Hilferty 1931, Paulson 1942).
        """
        scale = self.truth(seed).covariance / self.spread
        trace = float(np.trace(scale))
        freedom = trace**2 / float(np.sum(scale**2))
        above, below = 2 / (9 * freedom), 2 / (9 * _T) if self.family == "t5" else 0.0
        a, b, z = 1 - below, 1 - above, LONGER
        root = a * b + z * math.sqrt(a * a * above + b * b * below - z * z * above * below)
        return math.sqrt(trace * (root / (a * a - z * z * below)) ** 3)

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """Draw the rows."""
        truth = self.truth(seed)
        values, vectors = np.linalg.eigh(truth.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        rows = rng.standard_normal((self.n, self.d)) @ root.T
        if self.family == "t5":
            # t_5 with scale matrix Sigma is z sqrt(5 / chi^2_5), z ~ N(0, Sigma); root is that of (5/3) Sigma.
            rows *= np.sqrt(_T / self.spread / rng.chisquare(_T, (self.n, 1)))
        return Dataset.from_rows(
            rows, row_bound, truth=truth, mean_is_zero=True, name=self.card.key, provenance="simulated"
        )


@SOURCES.add(
    key="ar1-covariance",
    label="AR(1): fading correlation",
    group="Simulated",
    order=10,
    summary="Variables in a row; neighbours correlate, and the correlation fades like rho to the distance.",
    reference="Mathematics 2023, Section 4.1, Model 1 (rho = 0.6).",
)
@dataclass(frozen=True)
class AR1Covariance(Gaussian):
    """Sigma_ij = ``rho^|i-j|``: correlation that fades with the distance."""

    n: int = parameter(50_000, **ROWS)
    d: int = parameter(20, **COLUMNS)
    rho: float = parameter(
        0.6,
        "Neighbour correlation",
        low=-0.95,
        high=0.95,
        help="Correlation of adjacent variables.",
        ends=("negative", "positive"),
    )
    family: str = parameter("normal", **_FAMILY)

    def truth(self, seed: int) -> Truth:
        """Return the covariance."""
        return Truth(self.spread * toeplitz(self.rho ** np.arange(self.d)))


@SOURCES.add(
    key="banded-covariance",
    label="Banded: near neighbours only",
    group="Simulated",
    order=20,
    summary="Ones on the diagonal, 0.6 and 0.3 beside it, zero elsewhere: a sparse covariance.",
    reference="Mathematics 2023, Section 4.1, Model 2.",
)
@dataclass(frozen=True)
class BandedCovariance(Gaussian):
    """Sigma has 1, 0.6, 0.3 at distances 0, 1, 2 (positive definite: its symbol is at least 0.1)."""

    n: int = parameter(50_000, **ROWS)
    d: int = parameter(20, **COLUMNS)
    family: str = parameter("normal", **_FAMILY)

    def truth(self, seed: int) -> Truth:
        """Return the covariance."""
        row = np.zeros(self.d)
        row[:3] = (1.0, 0.6, 0.3)[: self.d]
        return Truth(self.spread * toeplitz(row))


@SOURCES.add(
    key="block-covariance",
    label="Blocks: a few kinds of variables",
    group="Simulated",
    order=25,
    summary="Variables in groups of one size; two of one group correlate, two of different groups do not.",
)
@dataclass(frozen=True)
class BlockCovariance(Gaussian):
    """Sigma has 1 on the diagonal, ``within`` between variables of one group, and 0 between groups.

    The groups follow each other; the last one may be smaller.
    """

    n: int = parameter(50_000, **ROWS)
    d: int = parameter(20, **COLUMNS)
    size: int = parameter(5, "Columns of a group", low=1, high=1000, help="How many variables follow one influence.")
    within: float = parameter(
        0.6,
        "Correlation in a group",
        low=0.0,
        high=0.95,
        help="Correlation of two variables of one group.",
        ends=("unrelated", "nearly the same"),
    )

    def truth(self, seed: int) -> Truth:
        """Return the covariance."""
        group = np.arange(self.d) // self.size
        return Truth(np.where(group[:, None] == group, self.within, 0.0) + (1 - self.within) * np.eye(self.d))


@SOURCES.add(
    key="sparse-covariance",
    label="Sparse: few random pairs",
    group="Simulated",
    order=30,
    summary="A random sparse symmetric matrix made positive by a strong diagonal.",
    reference="Wang, Xu & He 2019, Section V. The distribution of the non-zero values is not printed; uniform on "
    "[-1, 1] is assumed.",
)
@dataclass(frozen=True)
class SparseCovariance(Gaussian):
    """Sigma = (U + 50 I) / 200, U symmetric with about ``sparsity`` of its entries uniform on [-1, 1].

    It differs from the paper where U + 50 I is indefinite (large d): the diagonal is then raised to make it positive.
    """

    n: int = parameter(50_000, **ROWS)
    d: int = parameter(50, **COLUMNS)
    sparsity: float = parameter(
        0.2, "Share of non-zero entries", low=0.0, high=1.0, ends=("nothing linked", "all linked")
    )

    def truth(self, seed: int) -> Truth:
        """Return the covariance; U is drawn from the seed."""
        rng = stream(seed, "truth", self.card.key, self.d, self.sparsity)
        values = np.where(rng.random((self.d, self.d)) < self.sparsity, rng.uniform(-1, 1, (self.d, self.d)), 0.0)
        upper = np.triu(values)
        u = upper + np.triu(upper, 1).T
        lift = max(50.0, 1.0 - float(np.linalg.eigvalsh(u)[0]))
        return Truth((u + lift * np.eye(self.d)) / 200)


def toeplitz(row: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix with ``row[|i - j|]`` at (i, j), without scipy, which loads slowly."""
    at = np.arange(len(row))
    return row[np.abs(at[:, None] - at)]
