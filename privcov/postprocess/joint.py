"""From a (repaired) moment matrix back to second moment, mean and covariance, in working units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Moments:
    """second_moment and covariance d x d, mean length d; None where not measured."""

    second_moment: np.ndarray | None
    mean: np.ndarray | None
    covariance: np.ndarray | None


def unpack(matrix: np.ndarray, *, centre: str, row_bound: float) -> Moments:
    """Moments from a matrix in unit-ball units.

    joint: with corner c, covariance = R^2 (M_11 - M_12 M_21 / c), the Schur complement, which is positive
    semi-definite whenever the matrix is; mean = R M_12 / sqrt(c), so that
    covariance = second moment - mean mean' holds exactly. Without repairs c = s^2.
    """
    r2 = row_bound**2
    if centre != "joint":
        second = r2 * matrix
        return Moments(second, None, second if centre == "zero" else None)
    corner = max(float(matrix[-1, -1]), 1e-12)
    mean = row_bound * matrix[:-1, -1] / math.sqrt(corner)
    second = r2 * matrix[:-1, :-1]
    return Moments(second, mean, second - np.outer(mean, mean))
