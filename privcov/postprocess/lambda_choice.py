"""Rules that choose lambda on a path of precision matrices, from the noisy matrix and the known noise distribution.

Nothing here reads rows, so every rule is free. ``noise_std`` is the standard deviation of the privacy noise on an
off-diagonal entry of s, ``rows`` the number of rows (public or noisy), both in the units of s. Sampling and privacy
noise together are like sampling noise of fewer rows: 1 / n_eff = 1 / n + noise_std^2 / mean(s_ii s_jj).

ebic
    The smallest n_eff (-log det T + <s, T>) + k log n_eff + 4 gamma k log d, k edges, gamma = 1/2: aims at the
    likelihood. Foygel and Drton (2010), with n_eff for n.
fission
    The matrix is split into T1 = s + g Z and T2 = s - Z / g, Z an independent draw of the whole noise. For Gaussian
    noise T1 and T2 are independent, so -log det T + <T2, T> judges the T of T1 like fresh data: aims at estimation
    error. Oliveira, Lei and Tibshirani (2021). For other noise T1 and T2 are only uncorrelated, and the score is an
    approximation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from privcov.postprocess.fit import PathPoint

RULES = ("ebic", "fission")
FISSION_GAIN = 0.5  # T1 has variance (1 + g^2) v, T2 has (1 + 1/g^2) v
FISSION_SPLITS = 5
EBIC_GAMMA = 0.5


def solved_positions(path: Sequence[PathPoint]) -> list[int]:
    """Return the positions with a precision matrix: neither infeasible nor failed."""
    return [i for i, fit in enumerate(path) if fit.precision is not None]


def choices(
    path: Sequence[PathPoint], s: np.ndarray, noise_std: float, rows: float, *, scores: np.ndarray | None = None
) -> dict[str, int]:
    """Return the position on the path of the lambda of every rule."""
    usable = solved_positions(path)
    if not usable:
        return {}
    thetas = np.stack([fit.precision for fit in path if fit.precision is not None])
    bic = extended_bics(thetas, s, effective_rows(s, noise_std, rows))
    positions = {"ebic": usable[int(np.argmin(bic))]}
    if scores is not None:
        positions["fission"] = min(usable, key=lambda i: scores[i])
    return positions


def nearest(path: Sequence[PathPoint], lam: float) -> int:
    """Return the position of the solved lambda nearest to ``lam`` on a log scale."""
    return min(solved_positions(path), key=lambda i: abs(math.log(path[i].lam / lam)))


def typical_product(s: np.ndarray) -> float:
    """Return the mean of s_ii s_jj over pairs i != j (of s_11 squared when d = 1)."""
    v = np.diag(s)
    if len(v) == 1:
        return float(v[0] ** 2)
    return float((v.sum() ** 2 - (v**2).sum()) / (len(v) * (len(v) - 1)))


def effective_rows(s: np.ndarray, noise_std: float, rows: float) -> float:
    """Return how many rows would have as much sampling error as the sampling and the privacy noise together.

    A raw noisy matrix may have a mean product of variances that is not positive: then there is nothing but noise, and
    the result is the smallest positive number that still divides safely.
    """
    product = typical_product(s)
    if noise_std == 0:
        return float(rows)
    return 1 / (1 / rows + noise_std**2 / product) if product > 1e-12 * noise_std**2 else 1e-12


def extended_bics(thetas: np.ndarray, s: np.ndarray, n_eff: float, gamma: float = EBIC_GAMMA) -> np.ndarray:
    """Return the extended BIC of each of a stack of precision matrices; smaller is better."""
    logdets = _log_dets(thetas)
    rows, columns = np.triu_indices(len(s), 1)
    edges = np.count_nonzero(thetas[:, rows, columns], axis=1)
    fit = np.sum(s * thetas, axis=(1, 2)) - logdets
    scores = n_eff * fit + edges * math.log(max(n_eff, 2.0)) + 4 * gamma * edges * math.log(len(s))
    return np.where(np.isnan(logdets), math.inf, scores)


def _log_dets(thetas: np.ndarray) -> np.ndarray:
    """Return the logarithms of the determinants, NaN where a matrix is not positive definite."""
    try:
        factors = np.linalg.cholesky(thetas)
    except np.linalg.LinAlgError:  # the last iterate of a diverging solver need not be definite
        if len(thetas) == 1:
            return np.array([math.nan])
        return np.concatenate([_log_dets(theta[None]) for theta in thetas])
    return 2 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)


def fission_scores(
    halves: Callable[[], tuple[np.ndarray, np.ndarray]],
    solve: Callable[[np.ndarray], Sequence[np.ndarray | None]],
    splits: int = FISSION_SPLITS,
) -> np.ndarray:
    """Return the mean over the splits of -log det T + <T2, T> for every candidate T made from T1."""
    total: Any = 0.0
    for _ in range(splits):
        first, second = halves()
        total = total + np.array([likelihood_loss(theta, second) for theta in solve(first)])
    return total / splits


def likelihood_loss(theta: np.ndarray | None, s: np.ndarray) -> float:
    """Return -log det T + <s, T>."""
    if theta is None:
        return math.inf
    sign, logdet = np.linalg.slogdet(theta)
    return float(np.sum(s * theta)) - float(logdet) if sign > 0 else math.inf
