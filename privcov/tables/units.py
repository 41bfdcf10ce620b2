"""The public units in which rows are clipped and measured, and the conversion back to the data's units."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Units:
    """Working units of d columns: y = (clip(x, low, high) - origin) / scale, or y = x without bounds.

    In the block of columns of a category at most one column is not zero. A block of weight c has a norm of at most c,
    so a row within the bounds has a norm of at most sqrt(sum c^2).

    bounds: d x 2. origin: the public typical values; zero without bounds. scale: the public half-ranges, from the
    origin to the farther bound; one without bounds. row_bound: R > 0, the norm to which a longer y is scaled down.
    blocks: number of columns and weight c of each block; () where every column is a block of weight one.
    """

    bounds: np.ndarray | None
    origin: np.ndarray
    scale: np.ndarray
    row_bound: float
    blocks: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        for name in ("bounds", "origin", "scale"):  # releases share them: what is written into one changes all
            if (array := getattr(self, name)) is not None and array.flags.writeable:
                object.__setattr__(self, name, array.copy())
                getattr(self, name).flags.writeable = False

    @classmethod
    def unbounded(cls, d: int, row_bound: float) -> Units:
        """Return the data's own units."""
        return cls(None, np.zeros(d), np.ones(d), row_bound)

    @classmethod
    def within(cls, bounds: np.ndarray, origin: np.ndarray, row_bound: float) -> Units:
        """Return units in which a value is its distance from the origin over that of the farther bound."""
        return cls(bounds, origin, np.maximum(bounds[:, 1] - origin, origin - bounds[:, 0]), row_bound)

    @classmethod
    def of_blocks(
        cls, bounds: np.ndarray, origin: np.ndarray, blocks: tuple[tuple[int, float], ...], fraction: float
    ) -> Units:
        """Return units in which a block is at most its weight long."""
        units = cls.within(bounds, origin, 1.0)
        weights = np.repeat([weight for _, weight in blocks], [size for size, _ in blocks])
        if not (weights == 1).all() or len(blocks) < len(weights):
            units = dataclasses.replace(units, scale=units.scale / weights, blocks=blocks)
        return units.with_row_bound(fraction * units.longest)

    @property
    def longest(self) -> float:
        """Norm of the longest row within the bounds: sqrt(d), or with blocks sqrt(sum c^2)."""
        return math.sqrt(len(self.scale) if not self.blocks else math.fsum(c * c for _, c in self.blocks))

    @property
    def fits_bounds(self) -> bool:
        """Whether there are bounds and R is the norm of a corner, so that no row is shortened."""
        return self.bounds is not None and self.row_bound == self.longest

    def with_row_bound(self, row_bound: float) -> Units:
        """Return the same units under another R."""
        return dataclasses.replace(self, row_bound=row_bound)

    def to_working(self, cells: np.ndarray) -> np.ndarray:
        """Return cells (rows x d) in working units, before the row bound; a missing one (NaN) stays missing."""
        if self.bounds is None:
            return cells
        return (np.clip(cells, self.bounds[:, 0], self.bounds[:, 1]) - self.origin) / self.scale

    def covariance(self, matrix: np.ndarray | None) -> np.ndarray | None:
        """Return a covariance, or a second moment about the origin, in the data's units, from one in working units."""
        return None if matrix is None else matrix * np.outer(self.scale, self.scale)

    def precision(self, matrix: np.ndarray | None) -> np.ndarray | None:
        """Return a precision matrix in the data's units, from one in working units."""
        return None if matrix is None else matrix * (1 / np.outer(self.scale, self.scale))

    def mean(self, values: np.ndarray | None) -> np.ndarray | None:
        """Return a mean (d), or one per class (k x d), in the data's units, from one in working units."""
        return None if values is None else self.origin + self.scale * values


class InUnits:
    """Mixin for a class with ``units``, which gives it the fields of the units as properties."""

    units: Units

    @property
    def row_bound(self) -> float:
        """R > 0, the norm in working units beyond which a row is scaled down."""
        return self.units.row_bound

    @property
    def bounds(self) -> np.ndarray | None:
        """Public limits of every column, d x 2, or None."""
        return self.units.bounds

    @property
    def origin(self) -> np.ndarray:
        """The public typical values, length d."""
        return self.units.origin

    @property
    def scale(self) -> np.ndarray:
        """The public half-ranges, length d."""
        return self.units.scale
