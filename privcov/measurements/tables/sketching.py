"""Computing a sketch block by block: by compiled loops where numba is installed, else by numpy with the same bits."""

from __future__ import annotations

import dataclasses
from types import ModuleType

import numpy as np

from privcov.measurements.tables.sketch import (
    ROWS,
    VALUES,
    Counted,
    Mixer,
    Near,
    Sketch,
    of_few_values,
    rounded,
    together,
)

_BLOCK_ENTRIES = 400_000


class Sketching:
    """A sketch that is computed block by block.

    Parameters
    ----------
    secrets : tuple of int
        See `Mixer`.
    near : Near
        See `near_of`.
    compiled : bool
        Whether numba computes it, where it is installed; the bits are the same.
    """

    def __init__(self, secrets: tuple[int, ...], near: Near, compiled: bool = True) -> None:
        loops = kernel() if compiled else None
        self._exact, self._coarse = (_Cells(secrets, near, coarse, loops) for coarse in (False, True))
        self._pairs = _Pairs(secrets, near, loops)
        self._mix, self._labels, self._sums = Mixer(secrets), near.labels[:, None], [0, 0, 0]

    def take(self, cells: np.ndarray, person: np.ndarray | None = None, code: np.ndarray | None = None) -> None:
        """Add one more block, d x b float64, each column in one piece.

        person: a hash of the id of each row, uint64; code: the position of its class.
        """
        mix = self._mix
        line = (mix(cells) * self._labels).sum(axis=0, dtype=np.uint64)
        of = (None, None), (person, mix.odd), (code, mix.other)
        for k, (part, factor) in enumerate(of):
            if part is not None:
                line = line + mix.finish(part.astype(np.uint64)) * factor
            self._sums[k] = (self._sums[k] + int(mix.finish(line).sum(dtype=np.uint64))) % 2**64
        self._exact.take(cells)
        self._coarse.take(cells)
        self._pairs.take(cells, self._coarse.kept.filled < VALUES)

    def sketch(self) -> Sketch:
        """Return the sketch of all blocks so far."""
        found = self._exact.sketch({}, self._coarse.sketch(self._pairs.counted(), None))
        return dataclasses.replace(found, exact=tuple(self._sums))


class _Lowest:
    """Lowest different hashes of several columns; lowest, counts: d x 16, ascending up to filled[j]."""

    def __init__(self, d: int) -> None:
        self.lowest, self.counts = np.zeros((d, VALUES), np.uint64), np.zeros((d, VALUES), np.int64)
        self.filled = np.zeros(d, np.int64)

    def add(self, j: int, hashes: np.ndarray) -> None:
        """Add the hashes of one column, as the compiled loop does."""
        n = self.filled[j]
        kept = self.lowest[j, :n], self.counts[j, :n]
        values, counts = together(kept, np.unique(hashes, return_counts=True))
        n = self.filled[j] = len(values)
        self.lowest[j, :n], self.counts[j, :n] = values, counts

    def counted(self) -> tuple[Counted, ...]:
        """Return (hashes, counts) of every column."""
        return tuple(
            (v[:n].copy(), c[:n].copy()) for v, c, n in zip(self.lowest, self.counts, self.filled, strict=True)
        )


class _Cells:
    """Hashes of rows and of every column.

    coarse: of the rounded cells; the hash of a row then depends on the columns of its cells.
    """

    def __init__(self, secrets: tuple[int, ...], near: Near, coarse: bool, compiled: ModuleType | None) -> None:
        self._mix, self._kernel = Mixer(secrets), compiled
        self._keys, self._tiny, self._is_coarse = np.array(secrets, dtype=np.uint64), near.tiny, coarse
        self._labels = near.labels if coarse else np.ones_like(near.labels)
        self._whole, self._lines = 0, (np.empty(0, np.uint64), np.empty(0, np.int64))
        self.kept = _Lowest(len(near.tiny))

    def take(self, cells: np.ndarray) -> None:
        """Add one more block, d x b."""
        lines = np.empty(cells.shape[1], np.uint64)
        if self._kernel is None:
            hashes = self._mix(rounded(cells, self._tiny) if self._is_coarse else cells)
            lines = self._mix.finish((hashes * self._labels[:, None]).sum(axis=0, dtype=np.uint64))
            for j, column in enumerate(hashes):
                self.kept.add(j, column)
        else:
            given = cells.view(np.uint64), self._keys, self._is_coarse, self._tiny.view(np.uint64), self._labels
            kept = self.kept.lowest, self.kept.counts, self.kept.filled
            self._kernel.hash_cells(*given, *kept, np.empty_like(lines), lines)
        self._whole = (self._whole + int(lines.sum(dtype=np.uint64))) % 2**64
        known = self._lines[0]
        low = lines if len(known) < ROWS else lines[lines <= known[-1]]
        if len(low):
            self._lines = together(self._lines, np.unique(low, return_counts=True), ROWS)

    def sketch(self, pairs: dict[tuple[int, int], Counted], coarse: Sketch | None) -> Sketch:
        """Return the sketch of all blocks so far, with the given pairs and the given sketch of the rounded cells."""
        columns = self.kept.counted()
        return Sketch(self._whole, *self._lines, columns, of_few_values(pairs, columns), coarse)


class _Pairs:
    """Hashes of pairs of rounded cells."""

    def __init__(self, secrets: tuple[int, ...], near: Near, compiled: ModuleType | None) -> None:
        self._mix, self._kernel, self._near = Mixer(secrets), compiled, near
        self._keys, self._at = np.array(secrets, dtype=np.uint64), np.array(near.pairs, dtype=np.int64).reshape(-1, 2)
        self._kept = _Lowest(len(near.pairs))

    def take(self, cells: np.ndarray, few: np.ndarray) -> None:
        """Add one more block.

        few: the columns that have had few values so far. Pairs of others are no longer counted.
        """
        if not few[self._at].all(axis=1).any():
            return
        if self._kernel is not None:
            given = cells.view(np.uint64), self._keys, self._near.tiny.view(np.uint64), self._at, few
            kept = self._kept.lowest, self._kept.counts, self._kept.filled
            self._kernel.hash_pairs(*given, *kept, np.empty(cells.shape[1], np.uint64))
            return
        hashes = self._mix(rounded(cells, self._near.tiny))
        for p, (i, j) in enumerate(self._near.pairs):
            if few[i] and few[j]:  # without its highest two bits no hash reads as the sign of zero or as NaN
                both = (hashes[i] * self._mix.odd + hashes[j]) >> np.uint64(2)
                self._kept.add(p, self._mix(both.view(np.float64)))

    def counted(self) -> dict[tuple[int, int], Counted]:
        """Return (hashes, counts) of every pair."""
        return dict(zip(self._near.pairs, self._kept.counted(), strict=True))


def sketch_of(
    rows: np.ndarray,
    secrets: tuple[int, ...],
    near: Near,
    person: np.ndarray | None = None,
    code: np.ndarray | None = None,
) -> Sketch:
    """Return the sketch of a table in memory."""
    sketching = Sketching(secrets, near, compiled=rows.size > _BLOCK_ENTRIES)
    step = max(1, _BLOCK_ENTRIES // rows.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        own = [None if of is None else of[part] for of in (person, code)]
        sketching.take(np.ascontiguousarray(rows[part].T), *own)
    return sketching.sketch()


def kernel() -> ModuleType | None:
    """Return the compiled loops, or None without numba: then numpy computes the same bits, more slowly."""
    try:
        from privcov.measurements.tables import sum_kernel
    except ImportError:
        return None
    return sum_kernel
