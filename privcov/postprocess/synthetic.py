"""A synthetic table of any length with the released mean and covariance; its rows belong to no person."""

from __future__ import annotations

import numpy as np

from privcov.core import checks
from privcov.postprocess.matrices import Matrices
from privcov.postprocess.plain_algebra import eigen

MAX_CELLS = 5_000_000


def synthetic_rows(
    matrices: Matrices, rows: int, rng: np.random.Generator, *, bounds: np.ndarray | None = None, whole: tuple = ()
) -> np.ndarray:
    """Draw Gaussian rows with the released mean and covariance, and nothing of skewness, categories or joint tails.

    Clipping and rounding change the covariance a little.
    """
    d = len(matrices.covariance)
    rows = checks.whole("rows", rows, 1)
    if rows * d > MAX_CELLS:
        raise ValueError(f"rows x columns is {rows * d:,} cells and the limit is {MAX_CELLS:,}: ask for fewer rows.")
    spread = np.sqrt(np.maximum(np.diag(matrices.covariance), 0.0))
    safe = np.where(spread > 0, spread, 1.0)
    values, vectors = eigen(matrices.covariance / np.outer(safe, safe))  # columns may differ much in their units
    root = vectors * np.sqrt(np.maximum(values, 0.0)) * safe[:, None]
    table = matrices.mean + rng.standard_normal((rows, d)) @ root.T
    if bounds is not None:
        table = np.clip(table, bounds[:, 0], bounds[:, 1])
    for column in whole:
        table[:, column] = np.rint(table[:, column])
    return table
