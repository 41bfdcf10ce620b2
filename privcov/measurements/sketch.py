"""What the ledger's fingerprint keeps of a table while it is read: lowest hashes, the same in whatever order.

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

import numpy as np

ROWS, VALUES = 256, 16
PAIRED = 8  # columns, so at most 28 pairs
_BLOCK_ENTRIES = 400_000
_STEP = 2**37  # of the 52 bits after the leading one, 15 stay
COARSE_THIRD, COARSE_KEPT = np.uint64(_STEP // 3), np.uint64(2**64 - _STEP)
_TINY = 2.0**-20

Counted = tuple[np.ndarray, np.ndarray]


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
class Near:
    """Public facts that the rounded cells need.

    tiny: d, what counts as zero. labels: d odd numbers, so that a row of few answers says which columns gave them.
    pairs: positions of two columns each.
    """

    tiny: np.ndarray
    labels: np.ndarray
    pairs: tuple[tuple[int, int], ...]


def near_of(units) -> Near:
    """From declared facts: anything with ``columns``, ``bounds`` and ``row_bound``.

    The paired columns are chosen by their names, so that a column more or less leaves most pairs as they were.
    """
    largest = np.full(len(units.columns), units.row_bound) if units.bounds is None else np.abs(units.bounds).max(axis=1)
    labels = np.array([int.from_bytes(_of_name(name)[:8], "little") | 1 for name in units.columns], dtype=np.uint64)
    return Near(_TINY * largest, labels, tuple(itertools.combinations(by_name(units.columns)[:PAIRED], 2)))


def by_name(columns: tuple[str, ...]) -> list[int]:
    """Positions of the columns, in an order that depends on the names alone."""
    return sorted(range(len(columns)), key=lambda j: _of_name(columns[j]))


def _of_name(column: str) -> bytes:
    return hashlib.sha256(column.encode()).digest()


def rounded(cells: np.ndarray, tiny: np.ndarray) -> np.ndarray:
    """The cells, d x b, on the coarse grid."""
    bits = cells.view(np.uint64)
    near = np.where(np.isfinite(cells), (bits + COARSE_THIRD) & COARSE_KEPT, bits)
    near[np.abs(cells) <= tiny[:, None]] = 0
    return near.view(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """whole: sum of all row hashes modulo 2^64. rows: the lowest, ascending. repeats: how often each of them occurs.

    columns: (values, counts) of each. pairs: the same of pairs of columns, while both have fewer than 16 different
    values. rounded: the sketch of the rounded cells, which alone has pairs.
    """

    whole: int
    rows: np.ndarray
    repeats: np.ndarray
    columns: tuple[Counted, ...]
    pairs: dict[tuple[int, int], Counted]
    rounded: Sketch | None = None

    def plus(self, other: Sketch) -> Sketch:
        """The sketch of both tables together."""
        rows = _together((self.rows, self.repeats), (other.rows, other.repeats), ROWS)
        columns = tuple(itertools.starmap(_together, zip(self.columns, other.columns, strict=True)))
        pairs = {at: _together(pair, other.pairs[at]) for at, pair in self.pairs.items() if at in other.pairs}
        return Sketch(
            (self.whole + other.whole) % 2**64,
            *rows,
            columns,
            _of_few_values(pairs, columns),
            None if self.rounded is None else self.rounded.plus(other.rounded),
        )


class Sketching:
    """A sketch in the making. secrets: see `Mixer`. compiled: by numba where it is there; the same bits."""

    def __init__(self, secrets: tuple[int, ...], near: Near, compiled: bool = True) -> None:
        found = kernel() if compiled else None
        self._exact, self._coarse = (_Cells(secrets, near, coarse, found) for coarse in (False, True))
        self._pairs = _Pairs(secrets, near, found)

    def take(self, cells: np.ndarray) -> None:
        """One more block, d x b float64, each column in one piece."""
        self._exact.take(cells)
        self._coarse.take(cells)
        self._pairs.take(cells, self._coarse.kept.filled < VALUES)

    def sketch(self) -> Sketch:
        """The sketch of all that was taken in so far."""
        return self._exact.sketch({}, self._coarse.sketch(self._pairs.found(), None))


class _Lowest:
    """The lowest different hashes of several columns. lowest, counts: d x 16, ascending up to filled[j]."""

    def __init__(self, d: int) -> None:
        self.lowest, self.counts = np.zeros((d, VALUES), np.uint64), np.zeros((d, VALUES), np.int64)
        self.filled = np.zeros(d, np.int64)

    def add(self, j: int, hashes: np.ndarray) -> None:
        """What the compiled loop does, for one column."""
        n = self.filled[j]
        kept = self.lowest[j, :n], self.counts[j, :n]
        values, counts = _together(kept, np.unique(hashes, return_counts=True))
        n = self.filled[j] = len(values)
        self.lowest[j, :n], self.counts[j, :n] = values, counts

    def found(self) -> tuple[Counted, ...]:
        """(hashes, counts) of every column."""
        return tuple(
            (v[:n].copy(), c[:n].copy()) for v, c, n in zip(self.lowest, self.counts, self.filled, strict=True)
        )


class _Cells:
    """The hashes of rows and of every column; coarse: of the rounded cells, with rows that know their columns."""

    def __init__(self, secrets: tuple[int, ...], near: Near, coarse: bool, compiled) -> None:
        self._mix, self._kernel = Mixer(secrets), compiled
        self._keys, self._tiny, self._is_coarse = np.array(secrets, dtype=np.uint64), near.tiny, coarse
        self._labels = near.labels if coarse else np.ones_like(near.labels)
        self._whole, self._lines = 0, (np.empty(0, np.uint64), np.empty(0, np.int64))
        self.kept = _Lowest(len(near.tiny))

    def take(self, cells: np.ndarray) -> None:
        """One more block, d x b."""
        lines = np.empty(cells.shape[1], np.uint64)
        if self._kernel is None:
            hashes = self._mix(rounded(cells, self._tiny) if self._is_coarse else cells)
            lines = self._mix.finish((hashes * self._labels[:, None]).sum(axis=0, dtype=np.uint64))
            for j, column in enumerate(hashes):
                self.kept.add(j, column)
        else:
            asked = cells.view(np.uint64), self._keys, self._is_coarse, self._tiny.view(np.uint64), self._labels
            kept = self.kept.lowest, self.kept.counts, self.kept.filled
            self._kernel.hash_cells(*asked, *kept, np.empty_like(lines), lines)
        self._whole = (self._whole + int(lines.sum(dtype=np.uint64))) % 2**64
        known = self._lines[0]
        low = lines if len(known) < ROWS else lines[lines <= known[-1]]
        if len(low):
            self._lines = _together(self._lines, np.unique(low, return_counts=True), ROWS)

    def sketch(self, pairs: dict[tuple[int, int], Counted], coarse: Sketch | None) -> Sketch:
        """What was kept so far, with what was kept beside it."""
        columns = self.kept.found()
        return Sketch(self._whole, *self._lines, columns, _of_few_values(pairs, columns), coarse)


class _Pairs:
    """The hashes of pairs of rounded cells."""

    def __init__(self, secrets: tuple[int, ...], near: Near, compiled) -> None:
        self._mix, self._kernel, self._near = Mixer(secrets), compiled, near
        self._keys, self._at = np.array(secrets, dtype=np.uint64), np.array(near.pairs, dtype=np.int64).reshape(-1, 2)
        self._kept = _Lowest(len(near.pairs))

    def take(self, cells: np.ndarray, few: np.ndarray) -> None:
        """few: the columns that have had few values so far; pairs of others are not looked at any more."""
        if not few[self._at].all(axis=1).any():
            return
        if self._kernel is not None:
            asked = cells.view(np.uint64), self._keys, self._near.tiny.view(np.uint64), self._at, few
            kept = self._kept.lowest, self._kept.counts, self._kept.filled
            self._kernel.hash_pairs(*asked, *kept, np.empty(cells.shape[1], np.uint64))
            return
        hashes = self._mix(rounded(cells, self._near.tiny))
        for p, (i, j) in enumerate(self._near.pairs):
            if few[i] and few[j]:  # without its highest two bits no hash reads as the sign of zero or as NaN
                both = (hashes[i] * self._mix.odd + hashes[j]) >> np.uint64(2)
                self._kept.add(p, self._mix(both.view(np.float64)))

    def found(self) -> dict[tuple[int, int], Counted]:
        """(hashes, counts) of every pair."""
        return dict(zip(self._near.pairs, self._kept.found(), strict=True))


def sketch_of(rows: np.ndarray, secrets: tuple[int, ...], near: Near) -> Sketch:
    """The sketch of a table in memory, n x d."""
    made = Sketching(secrets, near, compiled=rows.size > _BLOCK_ENTRIES)
    step = max(1, _BLOCK_ENTRIES // rows.shape[1])
    for start in range(0, len(rows), step):
        made.take(np.ascontiguousarray(rows[start : start + step].T))
    return made.sketch()


def _together(one: Counted, other: Counted, most: int = VALUES) -> Counted:
    """The lowest different values of both with the sum of their counts."""
    values, counts = (np.concatenate(two) for two in zip(one, other, strict=True))
    different, place = np.unique(values, return_inverse=True)
    total = np.zeros(len(different), np.int64)
    np.add.at(total, place, counts)
    return different[:most], total[:most]


def _of_few_values(
    pairs: dict[tuple[int, int], Counted], columns: tuple[Counted, ...]
) -> dict[tuple[int, int], Counted]:
    """Without the pairs of a column of many values: when that was seen depends on how the table was cut."""
    few = [len(values) < VALUES for values, _ in columns]
    return {(i, j): pair for (i, j), pair in pairs.items() if few[i] and few[j]}


def kernel():
    """The compiled loops, or None without numba: then numpy finds the same bits, more slowly."""
    try:
        from privcov.measurements import sum_kernel
    except ImportError:
        return None
    return sum_kernel
