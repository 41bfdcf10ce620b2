"""What the bundled tables share: one line per column with its public bounds, and one rule for the row bound.

A bound is what a careful person would write down before seeing a single row: the range of the instrument, the
arithmetic of the definition, physiology, chemistry, law. Each line says why. Values beyond are clipped.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from privcov.data_sources.base import Source
from privcov.dataset import Dataset


class Column(NamedTuple):
    """Public facts about one column: limits, a typical value between them, the unit and the reason."""

    name: str
    low: float
    high: float
    typical: float
    unit: str
    why: str


class Bundled(Source):
    """A fixed table: subclasses state ``table`` and ``load`` the rows. Nothing is drawn; no seed matters.

    Row bound: R = 0.5 sqrt(d). A row reaches sqrt(d) only with all d values at their far limits together; to
    pass half of that, they must all sit half way from typical to limit at once, which is rare.
    """

    table: ClassVar[tuple[Column, ...]]
    provenance: ClassVar[str] = "public"

    def load(self) -> tuple[np.ndarray, np.ndarray | None]:
        """(rows, labels or None), columns in the order of ``table``."""
        raise NotImplementedError

    def default_row_bound(self, seed: int) -> float:
        return 0.5 * math.sqrt(len(self.table))

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """The rows as they are; nothing is drawn."""
        rows, labels = self.load()
        return Dataset.from_rows(
            rows,
            row_bound,
            bounds=[(column.low, column.high) for column in self.table],
            typical=[column.typical for column in self.table],
            labels=labels,
            columns=[column.name for column in self.table],
            name=self.card.key,
            provenance=self.provenance,
        )
