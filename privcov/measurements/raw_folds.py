"""Moments of parts of the raw rows, for cross-validation as in the papers. NOT private: no noise, no event."""

from __future__ import annotations

import math

import numpy as np

from privcov.dataset import Dataset
from privcov.measurements.clipping import blocks, clip_rows
from privcov.measurements.labels import class_index
from privcov.measurements.moment import ANCHOR_SQUARED


def fold_moments(
    dataset: Dataset, *, n_anchors: int, folds: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, int, np.ndarray]]:
    """Return for each fold the moment of the other rows, their number, and the moment of the fold: NOT private."""
    n, d = dataset.n, dataset.d
    if n < 2:
        raise ValueError("Cross-validation on the rows needs at least two rows, got n=1. Use tuning='released'.")
    folds = min(folds, n)
    member = rng.permutation(np.arange(n) % folds)
    size, anchor = d + n_anchors, math.sqrt(ANCHOR_SQUARED)
    sums = np.zeros((folds, size, size))
    labels = class_index(dataset) if n_anchors > 1 else np.zeros(n, dtype=np.int64)
    for block in blocks(dataset):
        z = clip_rows(dataset.to_working(block), dataset.row_bound) / dataset.row_bound
        if n_anchors:
            z = np.column_stack([z, anchor * np.eye(n_anchors)[labels[block]]])
        for k in range(folds):
            part = z[member[block] == k]
            sums[k] += part.T @ part
    counts = np.bincount(member, minlength=folds)
    total = sums.sum(axis=0)
    return [((total - s) / (n - c), int(n - c), s / c) for s, c in zip(sums, counts, strict=True)]
