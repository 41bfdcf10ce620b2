"""The public units in which rows are clipped and measured, and the way back."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Units:
    """Working units of d columns: y = (clip(x, low, high) - origin) / scale; without bounds y = x.

    bounds: d x 2, public lower and upper limit of every column, or None. origin, scale: length d; zero and one without
    bounds. row_bound: R > 0, the Euclidean norm to which a longer y is scaled down.
    """

    bounds: np.ndarray | None
    origin: np.ndarray
    scale: np.ndarray
    row_bound: float

    @classmethod
    def unbounded(cls, d: int, row_bound: float) -> Units:
        """The data's own units."""
        return cls(None, np.zeros(d), np.ones(d), row_bound)

    @classmethod
    def within(cls, bounds: np.ndarray, origin: np.ndarray, row_bound: float) -> Units:
        """Distances from the origin, in units of that of the farther bound; low <= origin <= high in every column."""
        return cls(bounds, origin, np.maximum(bounds[:, 1] - origin, origin - bounds[:, 0]), row_bound)

    def with_row_bound(self, row_bound: float) -> Units:
        """The same units under another R."""
        return dataclasses.replace(self, row_bound=row_bound)

    def to_working(self, cells: np.ndarray) -> np.ndarray:
        """Cells (rows x d) in working units, before the row bound; a missing one (NaN) stays missing."""
        if self.bounds is None:
            return cells
        return (np.clip(cells, self.bounds[:, 0], self.bounds[:, 1]) - self.origin) / self.scale

    def covariance(self, matrix: np.ndarray | None) -> np.ndarray | None:
        """A covariance, or a second moment about the origin, from working units to those of the data."""
        return None if matrix is None else matrix * np.outer(self.scale, self.scale)

    def precision(self, matrix: np.ndarray | None) -> np.ndarray | None:
        """A precision matrix, likewise."""
        return None if matrix is None else matrix * (1 / np.outer(self.scale, self.scale))

    def mean(self, values: np.ndarray | None) -> np.ndarray | None:
        """A mean (d), or one per class (k x d), likewise."""
        return None if values is None else self.origin + self.scale * values


class InUnits:
    """What has ``units`` shows their parts under names of its own."""

    units: Units

    @property
    def row_bound(self) -> float:
        """R > 0, the norm of a row in working units beyond which it is scaled down."""
        return self.units.row_bound

    @property
    def bounds(self) -> np.ndarray | None:
        """d x 2, public limits of every column, or None."""
        return self.units.bounds

    @property
    def origin(self) -> np.ndarray:
        """Length d, the public typical values."""
        return self.units.origin

    @property
    def scale(self) -> np.ndarray:
        """Length d, the public half-ranges."""
        return self.units.scale
