"""Factor analysis of the correlations: maximum likelihood, turned by varimax, as factanal in R does it.

The correlations are those of the unbiased covariance, their eigenvalues raised to the typical noise on a correlation
(at least `LEAST`), the diagonal then made 1 again. With s the uniquenesses, e the eigenvalues of s^-1/2 R s^-1/2 and V
their vectors, the likelihood is largest where the sum of e - log e over all but the first k is least, and the loadings
are s^1/2 V_k (e_k - 1)^1/2 (Lawley and Maxwell 1971). With several maxima (too many factors), the one that factanal's
start leads to is taken. No interval is known for them here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privcov.inference.unbiased import UnbiasedMoments

LEAST = 0.01  # of an eigenvalue
NO_FIT = (
    "Tests and indices of the fit of a factor model do not hold under privacy noise: they reject true models. Whether "
    "a correlation is real, the intervals of the correlations say."
)
_LEAST_UNIQUE = 0.005  # as in factanal


def warning(raised: int, d: int) -> str:
    """Return a warning on the loadings."""
    low = f"{raised} of {d} eigenvalues are below the noise and were raised to it. " if raised else ""
    return low + NO_FIT


def raised_correlation(known: UnbiasedMoments, columns: Sequence[int]) -> tuple[np.ndarray, int]:
    """Return the correlations with eigenvalues above the noise (NaN: a variance below it), and how many were raised."""
    c, off = known.covariance[np.ix_(columns, columns)], math.sqrt(known.law.off)
    std = np.sqrt(np.where(np.diag(c) > off, np.diag(c), np.nan))
    r = c / np.outer(std, std)
    if np.isnan(r).any():
        return r, 0
    noise = (off / np.outer(std, std))[np.triu_indices(len(c), 1)]
    values, axes = np.linalg.eigh(r)
    least = min(max(float(np.median(noise)), LEAST), 1.0)
    r = (axes * np.maximum(values, least)) @ axes.T
    root = np.sqrt(np.diag(r))
    return r / np.outer(root, root), int(np.sum(values < least))


def loadings(r: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return loadings, d x k, by explained variance, and uniquenesses (Lawley and Maxwell 1971; Kaiser 1958)."""
    from scipy.optimize import minimize

    d = len(r)

    def spectrum(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, axes = np.linalg.eigh(r / np.sqrt(np.outer(s, s)))
        return values[::-1], axes[:, ::-1]

    def turned(s: np.ndarray) -> np.ndarray:
        values, axes = spectrum(s)
        return np.sqrt(s)[:, None] * axes[:, :k] * np.sqrt(np.maximum(values[:k] - 1, 0.0))

    def loss(s: np.ndarray) -> tuple[float, np.ndarray]:
        rest, found = spectrum(s)[0][k:], turned(s)
        slope = (np.sum(found * found, axis=1) + s - np.diag(r)) / s**2
        return float(np.sum(rest - np.log(rest)) + k - d), slope

    start = np.clip((1 - k / (2 * d)) / np.diag(np.linalg.inv(r)), _LEAST_UNIQUE, 1.0)
    tight = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 2000}
    unique = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(_LEAST_UNIQUE, 1.0)] * d, options=tight).x
    found = turned(unique)
    found = found if k == 1 else _varimax(found)
    found = found[:, np.argsort(-np.sum(found * found, axis=0), kind="stable")]
    return found * np.where(found.sum(axis=0) < 0, -1.0, 1.0), unique


def _varimax(found: np.ndarray) -> np.ndarray:
    """Return the loadings, turned so that the squares in a column differ most, every row taken at length 1."""
    length = np.sqrt(np.sum(found * found, axis=1, keepdims=True))
    rows = found / np.where(length > 0, length, 1.0)
    turn, before = np.eye(found.shape[1]), 0.0
    for _ in range(1000):
        seen = rows @ turn
        u, s, v = np.linalg.svd(rows.T @ (seen**3 - seen * np.mean(seen * seen, axis=0)))
        turn, before, last = u @ v, float(s.sum()), before
        if before < last * (1 + 1e-12):
            break
    return found @ turn
