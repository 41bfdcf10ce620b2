"""A sketch in the making, block by block: by compiled loops where there are any, else by numpy with the same bits."""

from __future__ import annotations

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
        values, counts = together(kept, np.unique(hashes, return_counts=True))
        n = self.filled[j] = len(values)
        self.lowest[j, :n], self.counts[j, :n] = values, counts

    def found(self) -> tuple[Counted, ...]:
        """(hashes, counts) of every column."""
        return tuple(
            (v[:n].copy(), c[:n].copy()) for v, c, n in zip(self.lowest, self.counts, self.filled, strict=True)
        )


class _Cells:
    """The hashes of rows and of every column; coarse: of the rounded cells, with rows that know their columns."""

    def __init__(self, secrets: tuple[int, ...], near: Near, coarse: bool, compiled: ModuleType | None) -> None:
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
            self._lines = together(self._lines, np.unique(low, return_counts=True), ROWS)

    def sketch(self, pairs: dict[tuple[int, int], Counted], coarse: Sketch | None) -> Sketch:
        """What was kept so far, with what was kept beside it."""
        columns = self.kept.found()
        return Sketch(self._whole, *self._lines, columns, of_few_values(pairs, columns), coarse)


class _Pairs:
    """The hashes of pairs of rounded cells."""

    def __init__(self, secrets: tuple[int, ...], near: Near, compiled: ModuleType | None) -> None:
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


def kernel() -> ModuleType | None:
    """The compiled loops, or None without numba: then numpy finds the same bits, more slowly."""
    try:
        from privcov.measurements.tables import sum_kernel
    except ImportError:
        return None
    return sum_kernel
