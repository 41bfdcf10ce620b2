"""A constant chosen on raw rows by cross-validation, as in the papers' experiments. NOT private: no noise, no event."""

from __future__ import annotations

import math

import numpy as np

from privcov.measurements.clipping import blocks, clip_rows
from privcov.tables.dataset import Dataset

FOLDS = 10
CONSTANTS_TRIED = 41


def fold_moments(dataset: Dataset, folds: int, rng: np.random.Generator) -> list[tuple[np.ndarray, int, np.ndarray]]:
    """Return for each fold the moment of the other rows, their number, and the moment of the fold: NOT private."""
    n, d = dataset.n, dataset.d
    if n < 2:
        raise ValueError("Cross-validation on the rows needs at least two rows, got n=1.")
    folds = min(folds, n)
    member = rng.permutation(np.arange(n) % folds)
    sums = np.zeros((folds, d, d))
    for block in blocks(dataset):
        z = clip_rows(dataset.to_working(block), dataset.row_bound) / dataset.row_bound
        for k in range(folds):
            part = z[member[block] == k]
            sums[k] += part.T @ part
    counts = np.bincount(member, minlength=folds)
    total = sums.sum(axis=0)
    return [((total - s) / (n - c), int(n - c), s / c) for s, c in zip(sums, counts, strict=True)]


def chosen_on_raw_rows(dataset: Dataset, rng: np.random.Generator) -> float:
    """Return the constant with the smallest cross-validated Frobenius loss on the rows. NOT private.

    The moment of the training rows is cut at c sqrt(log d / n) and compared with the held-out one (Bickel and Levina
    2008).
    """
    d, folds = dataset.d, fold_moments(dataset, FOLDS, rng)
    if d == 1:
        return 0.0  # nothing to cut
    off = ~np.eye(d, dtype=bool)
    train = np.array([moment[off] for moment, _, _ in folds])  # folds x entries
    test = np.array([moment[off] for _, _, moment in folds])
    roots = np.array([[math.sqrt(math.log(d) / rows)] for _, rows, _ in folds])
    size = np.abs(train)
    constants = np.linspace(0.0, float((size.max(axis=1, keepdims=True) / roots).max()), CONSTANTS_TRIED)
    loss = [sum(((np.where(size > c * roots, train, 0.0) - test) ** 2).sum(axis=1)) for c in constants]
    return float(constants[int(np.argmin(loss))])
