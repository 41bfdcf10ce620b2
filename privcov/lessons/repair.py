"""What the lessons show of repairs that cost no privacy: thresholding and shrinkage of a noisy matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov._running import release
from privcov.lessons.numbers import SEED, made
from privcov.metrics.errors import matrix_norm
from privcov.metrics.graphs import noisy_matrix
from privcov.postprocess.threshold import cut_off_diagonal
from privcov.privacy import ZCDP

# --- 6: thresholding ----------------------------------------------------------------------------------------

CUT_RHO = 0.01
CUT_DATA = {"n": 5_000, "d": 20}


@dataclass(frozen=True, eq=False)
class Cut:
    """truth, noisy, kept: d x d. pairs: (pairs that are not zero, pairs that are); true, false: how many were kept.

    error: relative Frobenius error of ``kept`` against the truth. noise_std: of an entry.
    """

    truth: np.ndarray
    noisy: np.ndarray
    kept: np.ndarray
    pairs: tuple[int, int]
    true: int
    false: int
    error: float
    noise_std: float


def cut(level: float) -> Cut:
    """Off-diagonal entries smaller than ``level`` deviations of the known noise are set to zero."""
    data = made("banded-covariance", **CUT_DATA)
    rel = release("gaussian-cov", data, ZCDP(CUT_RHO), seed=SEED, repair="none")
    noisy, truth = noisy_matrix(rel), data.truth.covariance
    std = rel.raw.law.off_diagonal_std * rel.row_bound**2
    kept = cut_off_diagonal(noisy, level * std)
    upper = np.triu_indices(data.d, 1)
    real, chosen = truth[upper] != 0, kept[upper] != 0
    return Cut(
        truth,
        noisy,
        kept,
        (int(real.sum()), int((~real).sum())),
        int((real & chosen).sum()),
        int((~real & chosen).sum()),
        matrix_norm(kept - truth, "frobenius") / matrix_norm(truth, "frobenius"),
        std,
    )


# --- 7: shrinkage -------------------------------------------------------------------------------------------

SHRINK_DATA = {"n": 5_000, "d": 40}


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Eigenvalues (ascending, length d) of the truth, the noisy and the shrunken matrix; edge: of the noise alone.

    errors: relative Frobenius error against the truth before and after the shrinkage.
    """

    truth: np.ndarray
    noisy: np.ndarray
    shrunk: np.ndarray
    edge: float
    errors: tuple[float, float]


def shrunk(rho: float) -> Shrunk:
    """The Gaussian mechanism at rho-zCDP, before and after its spectrum is pulled in by the known noise."""
    data = made("ar1-covariance", **SHRINK_DATA)
    rel = release("gaussian-cov", data, ZCDP(rho), seed=SEED, repair="shrink")
    noisy, truth = noisy_matrix(rel), data.truth.covariance
    size = matrix_norm(truth, "frobenius")
    before, after = (matrix_norm(m - truth, "frobenius") / size for m in (noisy, rel.covariance))
    return Shrunk(
        np.linalg.eigvalsh(truth),
        np.linalg.eigvalsh(noisy),
        np.linalg.eigvalsh(rel.covariance),
        rel.raw.law.edge * rel.row_bound**2,
        (before, after),
    )
