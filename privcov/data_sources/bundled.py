"""Common base of the bundled tables: one line per column with its public bounds, and one rule for the row bound.

A bound is what a careful person would write down before reading a single row: the range of the instrument, the
arithmetic of the definition, physiology, chemistry, law. Each line says why. Values beyond are clipped.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from privcov.data_sources.base import Source
from privcov.tables.dataset import Dataset


class BundledColumn(NamedTuple):
    """Public facts about one column: its limits, a ``typical`` value between them, and why the limits are these."""

    name: str
    low: float
    high: float
    typical: float
    unit: str
    why: str


class Bundled(Source):
    """Base of the fixed tables: subclasses state ``table``, and a ``loader`` of scikit-learn or their own ``load``.

    Nothing is drawn, and the seed has no effect. provenance: "public" or "simulated".

    Row bound: R = 0.5 sqrt(d). A row reaches sqrt(d) only with all d values at their far limits together; to pass half
    of that, they must all lie half way from typical to limit at once, which is rare.
    """

    table: ClassVar[tuple[BundledColumn, ...]]
    provenance: ClassVar[str] = "public"
    loader: ClassVar[str] = ""  # a function of sklearn.datasets

    def load(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Load the rows, and the labels or None; columns in the order of ``table``."""
        from sklearn import datasets

        bunch = getattr(datasets, self.loader)()
        return bunch.data, bunch.target_names[bunch.target]

    def graphs(self) -> dict[str, np.ndarray] | None:
        """Return published graphs over the columns, by name."""
        return None

    def default_row_bound(self, seed: int) -> float:
        """Return 0.5 sqrt(d)."""
        return 0.5 * math.sqrt(len(self.table))

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """Return the rows as they are; nothing is drawn."""
        rows, labels = self.load()
        return Dataset.from_rows(
            rows,
            row_bound,
            bounds=[(column.low, column.high) for column in self.table],
            typical=[column.typical for column in self.table],
            labels=labels,
            graphs=self.graphs(),
            columns=[column.name for column in self.table],
            name=self.card.key,
            provenance=self.provenance,
        )
