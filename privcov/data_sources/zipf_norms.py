"""Rows of very unequal lengths: a few long rows decide the bound, most rows are short."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core.parameters import parameter
from privcov.data_sources.base import SOURCES, Source
from privcov.data_sources.gaussian import COLUMNS, ROWS
from privcov.tables.dataset import Dataset


@SOURCES.add(
    key="zipf-norms",
    label="Zipf norms: few long rows",
    group="Simulated",
    order=50,
    summary="One dominant direction, and row lengths in bins that halve; how many rows fall in which bin "
    "follows Zipf's law.",
    reference="Dong et al. 2022, Section 6.1.",
)
@dataclass(frozen=True)
class ZipfNorms(Source):
    """X = Z U with Z n x d standard normal and U d x d uniform on (0, 1), rescaled; column means are subtracted.

    Then rows are scaled to norm 2^(k - bins) for bin k = 1..bins, whose fraction of the rows is proportional to
    k^-skew.

    Notes
    -----
    Norms stay 1e-14 below 2^(k - bins), so R = 1 clips nothing, not even by rounding. There is no population
    covariance: the target is the second moment of the sample, about the origin, which is taken as the public mean (as
    in the paper, whose centring is part of the data generation).
    """

    n: int = parameter(50_000, **ROWS)
    d: int = parameter(50, **COLUMNS)
    bins: int = parameter(4, "Norm bins", low=1, high=40, help="1: all rows have norm 1.")
    skew: float = parameter(
        3.0,
        "Zipf skew",
        low=0.0,
        high=10.0,
        help="Larger: more rows in the shortest bin.",
        ends=("all lengths alike", "nearly all rows short"),
    )

    def default_row_bound(self, seed: int) -> float:
        """Return 1."""
        return 1.0

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """Draw the rows."""
        rows = rng.standard_normal((self.n, self.d)) @ rng.random((self.d, self.d))
        if self.n > 1:
            rows -= rows.mean(axis=0)
        weight = np.arange(1, self.bins + 1) ** -self.skew
        bin_of = rng.choice(self.bins, size=self.n, p=weight / weight.sum()) + 1
        rows *= ((1 - 1e-14) * 2.0 ** (bin_of - self.bins) / np.linalg.norm(rows, axis=1))[:, None]
        return Dataset.from_rows(rows, row_bound, mean_is_zero=True, name=self.card.key, provenance="simulated")
