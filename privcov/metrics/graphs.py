"""Edges found, missed and false; rates along a lambda path; and the ROC curve read at given rates.

The ROC curve is the fraction of edges found against the fraction of absent edges drawn. Between two graphs of a path it
is linear: the rates of choosing one of them at random. It is not continued beyond the densest graph that was solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcov.core import checks
from privcov.estimators.additive import available_of
from privcov.estimators.precision import target
from privcov.inference.unbiased import unbiased_moments
from privcov.metrics.errors import matrix_norm, without_noise
from privcov.postprocess.edge_test import edge_test
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.glasso import solve
from privcov.postprocess.repair import repair_for_lasso
from privcov.releases.display import matrix_of
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

NORMS = ("l1", "frobenius", "spectral")  # of the tables of Su et al. 2019


@dataclass(frozen=True)
class Recovery:
    """Counts over pairs of columns: true edges found and missed, absent edges drawn and not drawn."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def tpr(self) -> float:
        """The fraction of the true edges that were found; NaN without true edges."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else float("nan")

    @property
    def fpr(self) -> float:
        """The fraction of the absent edges that were drawn; NaN without absent edges."""
        return self.fp / (self.fp + self.tn) if self.fp + self.tn else float("nan")

    @property
    def precision(self) -> float:
        """The fraction of the drawn edges that are true; NaN for the empty graph."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else float("nan")


@dataclass(frozen=True, eq=False)
class Rates:
    """False and true positive rates of the solved graphs of a path, in its order; lam: their lambdas."""

    lam: np.ndarray
    fpr: np.ndarray
    tpr: np.ndarray


def edges(precision: np.ndarray, threshold: float = 1e-8) -> np.ndarray:
    """Return where a pair has ``|theta_ij| / sqrt(theta_ii theta_jj)`` above the threshold; the diagonal is False."""
    checks.in_range("threshold", threshold, 0.0, 1.0)
    theta = checks.square("precision", precision)
    return _linked(theta, threshold)


def _linked(theta: np.ndarray, threshold: float) -> np.ndarray:
    spread = np.sqrt(np.abs(np.diagonal(theta, axis1=-2, axis2=-1)))
    scale = np.maximum(spread[..., :, None] * spread[..., None, :], 1e-300)
    return (np.abs(theta) / scale > threshold) & ~np.eye(theta.shape[-1], dtype=bool)


def partial_correlations(precision: np.ndarray) -> np.ndarray:
    """Return the partial correlations: the correlation of two columns given all others."""
    theta = checks.square("precision", precision)
    diagonal = np.diag(theta)
    if diagonal.min() <= 0:
        raise ValueError(
            f"A precision matrix has a positive diagonal, and its smallest entry here is {diagonal.min():.3g}. "
            "Choose a larger lambda, or a repair."
        )
    partial = -theta / np.sqrt(np.outer(diagonal, diagonal))
    np.fill_diagonal(partial, 1.0)
    return partial


def graph_recovery(rel: Release | np.ndarray, truth_precision: np.ndarray, threshold: float = 1e-8) -> Recovery:
    """Compare the edges of a release (or a precision matrix) with those of the true precision matrix.

    Parameters
    ----------
    rel : Release or ndarray of shape (d, d)
        A release of a precision method, or its matrix.
    truth_precision : ndarray of shape (d, d)
        The true precision matrix.
    threshold : float
        See `edges`.

    Returns
    -------
    Recovery
        Counts of pairs.

    Raises
    ------
    ValueError
        Where there is no precision matrix, or the columns differ.

    Examples
    --------
    >>> import privcov
    >>> ds = privcov.source("precision-ar2", n=20_000, d=5, random_state=0)
    >>> rel = privcov.release(ds, privcov.ZCDP(rho=1.0), "auto-precision", random_state=1)
    >>> recovery = privcov.graph_recovery(rel, ds.truth.precision)
    >>> recovery.tp, recovery.fn, recovery.tpr
    (7, 0, 1.0)
    """
    precision = matrix_of(rel, "precision") if isinstance(rel, Release) else rel
    return compare(edges(precision, threshold), edges(truth_precision))


def compare(graph: np.ndarray, true: np.ndarray) -> Recovery:
    """Count the pairs of two graphs on the same columns."""
    if graph.shape != true.shape:
        raise ValueError(f"The two graphs must have the same columns, got {graph.shape[0]} and {true.shape[0]}.")
    pairs = np.triu_indices(len(true), 1)
    tn, fp, fn, tp = np.bincount(2 * true[pairs] + graph[pairs], minlength=4).tolist()
    return Recovery(tp, fp, fn, tn)


def reference_graph(dataset: Dataset, graph: str = "") -> np.ndarray:
    """Return the true graph, or the named published network, as d x d bool. Raises ValueError where there is none."""
    if graph:
        if graph not in dataset.graphs:
            has = ", ".join(dataset.graphs) or "none"
            raise ValueError(f"{dataset.name!r} has no reference network {graph!r}; it has: {has}.")
        return dataset.graphs[graph]
    truth = dataset.truth
    if truth is not None and truth.graph is not None:
        return truth.graph
    if truth is not None and truth.precision is not None:
        return edges(truth.precision)
    raise ValueError(f"The true graph of {dataset.name!r} is not known. Choose a source with a graph.")


def check_reference(true: np.ndarray) -> None:
    """Raise ValueError for a graph that no rate can be measured against: empty, or complete."""
    linked, pairs = int(true.sum()), true.shape[0] * (true.shape[0] - 1)
    if linked in (0, pairs):
        raise ValueError(
            f"A ROC curve needs linked and unlinked pairs, and here {'none' if linked == 0 else 'all'} of the "
            f"{pairs // 2} pairs are linked. Use more columns."
        )


def path_rates(path: Sequence[PathPoint], true: np.ndarray, threshold: float = 1e-8) -> Rates:
    """Return the rates along a path against a reference graph."""
    check_reference(true)
    solved = [fit for fit in path if fit.precision is not None]
    matrices = [fit.precision for fit in path if fit.precision is not None]
    if not solved:
        return Rates(np.empty(0), np.empty(0), np.empty(0))
    graphs = _linked(np.stack(matrices), threshold)
    absent = ~true & ~np.eye(len(true), dtype=bool)
    return Rates(
        lam=np.array([fit.lam for fit in solved]),
        fpr=(graphs & absent).sum(axis=(1, 2)) / absent.sum(),
        tpr=(graphs & true).sum(axis=(1, 2)) / true.sum(),
    )


def graph_auc(rel: Release, dataset: Dataset) -> float:
    """Return `auc` of a release's lambda path against the true graph. Raises ValueError without a path or a graph."""
    if rel.path is None:
        raise ValueError(f"{rel.method} has no lambda path, so it has no ROC curve. Choose a graphical lasso.")
    return auc(path_rates(rel.path, reference_graph(dataset)))


def auc(rates: Rates) -> float:
    """Return the area under the ROC curve, from 0 to 1; guessing has 0.5.

    A path that ends before the complete graph is joined to (1, 1), as if the other pairs were drawn in random order.
    """
    x, y = _rising(rates)
    return float(np.trapezoid([*y, 1.0], [*x, 1.0]))


def roc_at(rates: Rates, grid: np.ndarray) -> np.ndarray:
    """Return the true positive rate at false positive rates: from (0, 0) on the best so far, so it never falls."""
    x, y = _rising(rates)
    return np.where(grid <= x[-1] + 1e-9, np.interp(grid, x, y), np.nan)


def _rising(rates: Rates) -> tuple[np.ndarray, np.ndarray]:
    """Return increasing false positive rates and the best true positive rate up to each, from (0, 0)."""
    order = np.lexsort((rates.tpr, rates.fpr))
    x = np.concatenate([[0.0], rates.fpr[order]])
    y = np.maximum.accumulate(np.concatenate([[0.0], rates.tpr[order]]))
    return x, y


def losses(estimate: np.ndarray, reference: np.ndarray) -> dict[str, float]:
    """Return the norm of (estimate - reference) over that of the reference, by `NORMS` (Su et al. 2019, 5.1)."""
    apart = estimate - reference
    return {name: matrix_norm(apart, name) / matrix_norm(reference, name) for name in NORMS}


def noisy_matrix(rel: Release) -> np.ndarray:
    """Return what the release measured, in working units and before any repair."""
    if rel.noisy_moment is None:
        raise ValueError(f"{rel.method} did not measure one noisy matrix, so there is none to look at.")
    if rel.noisy_moment.flags is not None:
        return np.nan_to_num(available_of(rel.noisy_moment).covariance)
    return rel.row_bound**2 * target(
        rel.noisy_moment.matrix, rel.noisy_moment.centre, rel.noisy_moment.distribution.n_anchors
    )


def without_noise_at(rel: Release, dataset: Dataset, lam: float) -> np.ndarray:
    """Solve the same problem at the same lambda without noise. NOT private.

    The matrix is that of the same clipped rows; one without full rank gets the same floor under its eigenvalues as a
    noisy one. As published, the diagonal is penalised too.
    """
    exact = noisy_matrix(without_noise(rel, dataset))
    matrix = repair_for_lasso(exact, "psd").matrix
    published = rel.parameters["calibration"] != "sound"
    return solve_precision(matrix, lam, penalise_diagonal=published)


def solve_precision(matrix: np.ndarray, lam: float, *, penalise_diagonal: bool = False) -> np.ndarray:
    """Return the precision matrix of `privcov.postprocess.glasso.solve`."""
    precision = solve(matrix, lam, penalise_diagonal=penalise_diagonal).precision
    if precision is None:
        raise ValueError(f"The graphical lasso did not converge at lambda = {lam:g}. Choose a larger lambda.")
    return precision


def tested_states(rel: Release) -> np.ndarray:
    """Return the edge test's state of every pair: an edge, no relevant edge, or undecided."""
    moments = unbiased_moments(rel)
    test = edge_test(moments.covariance, moments.centre, moments.n_rows, moments.law)
    none = np.zeros((moments.d, moments.d), dtype=np.int8)
    return none if test is None else test.states(float(rel.parameters["rate"]))
