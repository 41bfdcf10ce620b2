"""What the ledger's fingerprint keeps of a table while it is read: lowest hashes, the same in whatever order.

Kept are the sum of the hashes of all rows, the 256 lowest different row hashes, and for every column its 16 lowest
different value hashes with how often they occur. Sketches of parts merge: a value among the lowest of the whole is
among the lowest of every part in which it occurs, with all its occurrences there, so the sketch of the whole does not
depend on how it was cut.

The hashes are made with four secret numbers; `privcov.ledger.fingerprint` derives them from the ledger's key and seals
what is kept. A sketch is not private and never leaves the process (or the cluster) that reads the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROWS, VALUES = 256, 16
_BLOCK_ENTRIES = 400_000
_NAN = np.array([np.nan]).view(np.uint64)[0]


class Mixer:
    """64-bit hashing of many numbers at once; secrets: four whole numbers below 2^64, the middle two odd."""

    def __init__(self, secrets: tuple[int, ...]) -> None:
        self.first, self.odd, self.other, self.last = np.array(secrets, dtype=np.uint64)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)  # one NaN, and one zero
        return self._stir(bits ^ self.first)

    def finish(self, sums: np.ndarray) -> np.ndarray:
        """The hash of a row from the sum of those of its cells."""
        return self._stir(sums ^ self.last)

    def _stir(self, x: np.ndarray) -> np.ndarray:
        x = x * self.odd
        x ^= x >> np.uint64(32)
        x *= self.other
        x ^= x >> np.uint64(29)
        x *= self.odd
        x ^= x >> np.uint64(32)
        return x


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """whole: sum of all row hashes modulo 2^64. rows: the lowest, ascending. columns: (values, counts) of each."""

    whole: int
    rows: np.ndarray
    columns: tuple[tuple[np.ndarray, np.ndarray], ...]

    def plus(self, other: Sketch) -> Sketch:
        """The sketch of both tables together."""
        return Sketch(
            (self.whole + other.whole) % 2**64,
            np.unique(np.concatenate([self.rows, other.rows]))[:ROWS],
            tuple(
                _lowest(np.concatenate([v, w]), np.concatenate([a, b]))
                for (v, a), (w, b) in zip(self.columns, other.columns, strict=True)
            ),
        )


class Sketching:
    """A sketch in the making. secrets: see `Mixer`; d: columns. compiled: by numba where it is there; the same bits."""

    def __init__(self, secrets: tuple[int, ...], d: int, compiled: bool = True) -> None:
        self._mix, self._kernel = Mixer(secrets), kernel() if compiled else None
        self._keys = np.array(secrets, dtype=np.uint64)
        self._whole, self._lines = 0, np.empty(0, np.uint64)
        self._lowest = np.zeros((d, VALUES), np.uint64)
        self._counts = np.zeros((d, VALUES), np.int64)
        self._filled = np.zeros(d, np.int64)

    def take(self, cells: np.ndarray) -> None:
        """One more block, d x b float64, each column in one piece."""
        lines = np.empty(cells.shape[1], np.uint64)
        if self._kernel is None:
            self._slowly(cells, lines)
        else:
            kept = self._lowest, self._counts, self._filled
            self._kernel.hash_cells(cells.view(np.uint64), self._keys, _NAN, *kept, np.empty_like(lines), lines)
        self._whole = (self._whole + int(lines.sum(dtype=np.uint64))) % 2**64
        low = lines if len(self._lines) < ROWS else lines[lines < self._lines[-1]]
        if len(low):
            self._lines = np.unique(np.concatenate([self._lines, low]))[:ROWS]

    def _slowly(self, cells: np.ndarray, lines: np.ndarray) -> None:
        hashes = self._mix(cells)
        lines[:] = self._mix.finish(hashes.sum(axis=0, dtype=np.uint64))
        for j, column in enumerate(hashes):
            n = self._filled[j]
            values, counts = np.unique(column, return_counts=True)
            values, counts = _lowest(
                np.concatenate([self._lowest[j, :n], values]), np.concatenate([self._counts[j, :n], counts])
            )
            n = self._filled[j] = len(values)
            self._lowest[j, :n], self._counts[j, :n] = values, counts

    def sketch(self) -> Sketch:
        """The sketch of all that was taken in so far."""
        kept = zip(self._lowest, self._counts, self._filled, strict=True)
        return Sketch(self._whole, self._lines, tuple((v[:n].copy(), c[:n].copy()) for v, c, n in kept))


def sketch_of(rows: np.ndarray, secrets: tuple[int, ...]) -> Sketch:
    """The sketch of a table in memory, n x d."""
    made = Sketching(secrets, rows.shape[1], compiled=rows.size > _BLOCK_ENTRIES)
    step = max(1, _BLOCK_ENTRIES // rows.shape[1])
    for start in range(0, len(rows), step):
        made.take(np.ascontiguousarray(rows[start : start + step].T))
    return made.sketch()


def _lowest(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest different values with the sum of their counts."""
    different, place = np.unique(values, return_inverse=True)
    total = np.zeros(len(different), np.int64)
    np.add.at(total, place, counts)
    return different[:VALUES], total[:VALUES]


def kernel():
    """The compiled loops, or None without numba: then numpy finds the same bits, more slowly."""
    try:
        from privcov.measurements import sum_kernel
    except ImportError:
        return None
    return sum_kernel
