"""Clipping rows to the public bound, and how many public or simulated rows that bound shortens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from privcov.core import checks
from privcov.tables.dataset import Dataset

_BLOCK_ENTRIES = 400_000  # 3.2 MB: the few passes over a block stay in cache


def clip_rows(rows: np.ndarray, row_bound: float, copy: bool = True) -> np.ndarray:
    """Scale rows down, never up, to Euclidean norm <= row_bound; above 1e154, where squares overflow, to zero."""
    # The squares of a much smaller bound would underflow, and a long row would be taken for a short one.
    row_bound = checks.in_range("row_bound", row_bound, 1e-100, 1e100, "Measure in another unit.")
    with np.errstate(over="ignore", under="ignore"):
        norms = np.sqrt(np.vecdot(rows, rows))
    long = norms > row_bound
    if not copy and not long.any():
        return rows
    factor = np.ones(len(rows))
    # A scaled row must not exceed the bound after rounding, so that clipping twice changes nothing. A norm of
    # d numbers has a relative error below (d/2 + 1) 2^-53; this is twice what the two norms need.
    factor[long] = row_bound / norms[long] * (1 - (rows.shape[1] + 16) * 2**-52)
    return rows * factor[:, None]


def blocks(dataset: Dataset) -> Iterator[slice]:
    """Yield slices of rows small enough to stay in cache; the order of summation is the order of the rows."""
    step = max(1, _BLOCK_ENTRIES // dataset.d)
    for start in range(0, dataset.n, step):
        yield slice(start, min(start + step, dataset.n))


def row_norms(dataset: Dataset) -> np.ndarray:
    """Return the norms of the rows in working units: NOT private. For public and simulated rows."""
    parts = (np.linalg.norm(dataset.to_working(block), axis=1) for block in blocks(dataset))
    return dataset.cache.once("norms", lambda: np.concatenate([*parts]))


def share_clipped(dataset: Dataset) -> float:
    """Return the fraction of rows that the row bound shortens. For public and simulated rows only."""
    return float(np.mean(row_norms(dataset) > dataset.row_bound))


def share_out_of_bounds(dataset: Dataset) -> np.ndarray:
    """Return for each column the fraction of values outside the bounds. For public and simulated rows only."""
    if dataset.bounds is None:
        return np.zeros(dataset.d)
    low, high = dataset.bounds.T
    return np.mean((dataset.rows < low) | (dataset.rows > high), axis=0)
