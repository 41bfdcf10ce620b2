"""Edges found, missed and false, and the ROC curve of a lambda path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov import checks
from privcov._release import Release


@dataclass(frozen=True)
class Recovery:
    """Counts over unordered pairs of columns. tpr is NaN without true edges, fpr without absent ones."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def tpr(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else float("nan")

    @property
    def fpr(self) -> float:
        return self.fp / (self.fp + self.tn) if self.fp + self.tn else float("nan")


def edges(precision: np.ndarray, threshold: float = 1e-8) -> np.ndarray:
    """d x d bool: pairs whose partial correlation exceeds ``threshold`` in absolute value; False on the diagonal.

    On partial correlations the threshold has no unit; the graphical lasso's zeros are exact, so 1e-8 keeps
    what it found.
    """
    checks.in_range("threshold", threshold, 0.0, 1.0)
    theta = checks.square("precision", precision)
    spread = np.sqrt(np.abs(np.diag(theta)))
    partial = np.abs(theta) / np.maximum(np.outer(spread, spread), 1e-300)
    found = partial > threshold
    np.fill_diagonal(found, False)
    return found


def graph_recovery(rel, truth_precision, threshold: float = 1e-8) -> Recovery:
    """Compare the edges of a release (or a precision matrix) with those of the true precision matrix."""
    precision = rel.precision if isinstance(rel, Release) else rel
    if precision is None:
        who = rel.method if isinstance(rel, Release) else "This release"
        raise ValueError(f"{who} has no precision matrix; use a method whose target is precision.")
    found, true = edges(precision, threshold), edges(truth_precision)
    if found.shape != true.shape:
        raise ValueError(f"The two graphs must have the same columns, got {found.shape[0]} and {true.shape[0]}.")
    pair = np.triu(np.ones_like(true), 1)
    return Recovery(
        tp=int((found & true & pair).sum()),
        fp=int((found & ~true & pair).sum()),
        fn=int((~found & true & pair).sum()),
        tn=int((~found & ~true & pair).sum()),
    )


def roc_points(rel: Release, truth_precision: np.ndarray) -> list[tuple[float, float, float]]:
    """(lambda, false positive rate, true positive rate) along the path, solved lambdas only."""
    if rel.path is None:
        raise ValueError(f"{rel.method} has no lambda path; use glasso-gaussian.")
    true = edges(truth_precision)
    linked, pairs = int(true.sum()), true.shape[0] * (true.shape[0] - 1)
    if linked in (0, pairs):
        raise ValueError(
            f"A ROC curve needs linked and unlinked pairs, and here {'none' if linked == 0 else 'all'} of the "
            f"{pairs // 2} pairs are linked. Use more columns."
        )
    out = []
    for fit in rel.path:
        if fit.precision is not None:
            counts = graph_recovery(fit.precision, truth_precision)
            out.append((fit.lam, counts.fpr, counts.tpr))
    return out
