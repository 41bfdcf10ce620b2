"""What the ledger's fingerprint keeps of a table while it is read: lowest hashes, the same for every order of rows.

Kept are the sum of the hashes of all rows, the 256 lowest different row hashes and, for every column, its 16 lowest
different value hashes, with how often they occur. The same is kept of the rounded cells, which a tiny change of all
cells leaves as they are, and of them also the 16 lowest hashes of pairs of values, for some pairs of columns of few
values. Sketches of parts merge: a value among the lowest of the whole is among the lowest of every part in which it
occurs, with all its occurrences there, so the sketch of the whole does not depend on how it was cut.

A rounded cell has 16 significant bits, or is zero within 2^-20 of the declared range of its column. The grid is moved
by a third of its step, so that whole numbers and short binary fractions lie well away from its lines.

The hashes are made with four secret numbers; `privcov.ledger.fingerprint` derives them from the ledger's key and seals
what is kept. A sketch is not private and never leaves the process (or the cluster) that reads the table.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

ROWS, VALUES = 256, 16
PAIRED = 8  # columns, so at most 28 pairs
_STEP = 2**37  # of the 52 bits after the leading one, 15 stay
COARSE_THIRD, COARSE_KEPT = np.uint64(_STEP // 3), np.uint64(2**64 - _STEP)
_TINY = 2.0**-20

Counted = tuple[np.ndarray, np.ndarray]


class Mixer:
    """64-bit hashing of many numbers at once.

    Parameters
    ----------
    secrets : tuple of int
        Four whole numbers below 2^64, the middle two odd.
    """

    def __init__(self, secrets: tuple[int, ...]) -> None:
        self.first, self.odd, self.other, self.last = np.array(secrets, dtype=np.uint64)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the hash of each number: float64 of any shape; all NaN have one hash, and so have both zeros."""
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)  # one NaN, and one zero
        return self._stir(bits ^ self.first)

    def finish(self, sums: np.ndarray) -> np.ndarray:
        """Return the hash of a row from the sum of those of its cells."""
        return self._stir(sums ^ self.last)

    def _stir(self, x: np.ndarray) -> np.ndarray:
        """Mix the bits of each number."""
        x = x * self.odd
        x ^= x >> np.uint64(32)
        x *= self.other
        x ^= x >> np.uint64(29)
        x *= self.odd
        x ^= x >> np.uint64(32)
        return x


@dataclass(frozen=True, eq=False, repr=False)
class Near:
    """Public facts that the rounded cells need.

    Attributes
    ----------
    tiny : ndarray of shape (d,)
        For each column, the size up to which a cell counts as zero.
    labels : ndarray of shape (d,)
        Odd numbers, so that the hash of a row of few different values depends on the columns they are in.
    pairs : tuple of (int, int)
        Positions of two columns each.
    """

    tiny: np.ndarray
    labels: np.ndarray
    pairs: tuple[tuple[int, int], ...]


class Declared(Protocol):
    """The declared facts that `near_of` needs."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def bounds(self) -> np.ndarray | None:
        """Public limits of every column, d x 2, or None."""

    @property
    def row_bound(self) -> float:
        """R > 0."""


def near_of(units: Declared) -> Near:
    """Return what the rounded cells need, from declared facts.

    The paired columns are chosen by their names, so that a column more or less leaves most pairs as they were.
    """
    largest = np.full(len(units.columns), units.row_bound) if units.bounds is None else np.abs(units.bounds).max(axis=1)
    labels = np.array([int.from_bytes(_of_name(name)[:8], "little") | 1 for name in units.columns], dtype=np.uint64)
    return Near(_TINY * largest, labels, tuple(itertools.combinations(by_name(units.columns)[:PAIRED], 2)))


def by_name(columns: tuple[str, ...]) -> list[int]:
    """Return the positions of the columns, in an order that depends on the names alone."""
    return sorted(range(len(columns)), key=lambda j: _of_name(columns[j]))


def _of_name(column: str) -> bytes:
    """Return the hash of a column's name."""
    return hashlib.sha256(column.encode()).digest()


def rounded(cells: np.ndarray, tiny: np.ndarray) -> np.ndarray:
    """Return the cells on the coarse grid."""
    bits = cells.view(np.uint64)
    near = np.where(np.isfinite(cells), (bits + COARSE_THIRD) & COARSE_KEPT, bits)
    near[np.abs(cells) <= tiny[:, None]] = 0
    return near.view(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """What the fingerprint keeps of a table: NOT private.

    Attributes
    ----------
    whole : int
        Sum of all row hashes modulo 2^64.
    rows : ndarray of uint64
        The lowest row hashes, ascending, at most ROWS.
    repeats : ndarray of int64
        How often each of them occurs.
    columns : tuple of (ndarray, ndarray)
        (values, counts) of each column: its lowest value hashes, at most VALUES, and how often each occurs.
    pairs : dict
        The same of pairs of columns, while both have fewer than VALUES different values; by their positions.
    rounded : Sketch or None
        The sketch of the rounded cells, which alone has pairs.
    exact : tuple of int
        Sums modulo 2^64 of a hash of every row: of its cells with their columns, of these with its person, and of
        these with its class.
    """

    whole: int
    rows: np.ndarray
    repeats: np.ndarray
    columns: tuple[Counted, ...]
    pairs: dict[tuple[int, int], Counted]
    rounded: Sketch | None = None
    exact: tuple[int, ...] = (0, 0, 0)

    def plus(self, other: Sketch) -> Sketch:
        """Return the sketch of both tables together."""
        rows = together((self.rows, self.repeats), (other.rows, other.repeats), ROWS)
        columns = tuple(itertools.starmap(together, zip(self.columns, other.columns, strict=True)))
        pairs = {at: together(pair, other.pairs[at]) for at, pair in self.pairs.items() if at in other.pairs}
        return Sketch(
            (self.whole + other.whole) % 2**64,
            *rows,
            columns,
            of_few_values(pairs, columns),
            None if self.rounded is None or other.rounded is None else self.rounded.plus(other.rounded),
            tuple((a + b) % 2**64 for a, b in zip(self.exact, other.exact, strict=True)),
        )


def together(one: Counted, other: Counted, most: int = VALUES) -> Counted:
    """Return the lowest different values of both, with the sum of their counts."""
    values, counts = (np.concatenate(two) for two in zip(one, other, strict=True))
    different, place = np.unique(values, return_inverse=True)
    total = np.zeros(len(different), np.int64)
    np.add.at(total, place, counts)
    return different[:most], total[:most]


def of_few_values(
    pairs: dict[tuple[int, int], Counted], columns: tuple[Counted, ...]
) -> dict[tuple[int, int], Counted]:
    """Return the pairs of columns that both have few values.

    When a column is seen to have many values depends on how the table was cut, so its pairs are left out.
    """
    few = [len(values) < VALUES for values, _ in columns]
    return {(i, j): pair for (i, j), pair in pairs.items() if few[i] and few[j]}
