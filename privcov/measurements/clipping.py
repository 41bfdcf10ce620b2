"""Clipping rows to the public bound, and what a look at public rows tells about it."""

from __future__ import annotations

import numpy as np

from privcov.dataset import Dataset

# A scaled row must not exceed the bound after rounding, so that clipping twice changes nothing.
_INSIDE = 1 - 1e-14
_BLOCK_ENTRIES = 4_000_000


def clip_rows(rows: np.ndarray, row_bound: float) -> np.ndarray:
    """Rows scaled down, never up, to Euclidean norm <= row_bound. A new array; spends nothing by itself."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    factor = np.ones(len(rows))
    long = norms > row_bound
    factor[long] = row_bound / norms[long] * _INSIDE
    return rows * factor[:, None]


def blocks(dataset: Dataset):
    """Slices of rows small enough to stay in cache; the order of summation is the order of the rows."""
    step = max(1, _BLOCK_ENTRIES // dataset.d)
    for start in range(0, dataset.n, step):
        yield slice(start, min(start + step, dataset.n))


def row_norms(dataset: Dataset) -> np.ndarray:
    """Norms of the rows in working units. For public and simulated rows: it tells about single rows."""
    if "norms" not in dataset.memo:
        parts = [np.linalg.norm(dataset.to_working(block), axis=1) for block in blocks(dataset)]
        dataset.memo["norms"] = np.concatenate(parts)
    return dataset.memo["norms"]


def share_clipped(dataset: Dataset) -> float:
    """Share of rows (0..1) that the row bound shortens. For public and simulated rows only."""
    return float(np.mean(row_norms(dataset) > dataset.row_bound))


def share_out_of_bounds(dataset: Dataset) -> np.ndarray:
    """Per column, the share of values (0..1) outside the public bounds. For public and simulated rows only."""
    if dataset.bounds is None:
        return np.zeros(dataset.d)
    low, high = dataset.bounds.T
    return np.mean((dataset.rows < low) | (dataset.rows > high), axis=0)
