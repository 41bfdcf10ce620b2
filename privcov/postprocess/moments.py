"""From a (repaired) moment matrix back to second moment, mean and covariance, in working units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moment, mean and covariance; None where not measured.

    second_moment: about the public origin. covariance: with classes, pooled within them. class_means: k x d, each
    inside the ball of the row bound. class_shares: fractions >= 0 that add up to 1, as the repaired matrix has them.
    """

    second_moment: np.ndarray | None
    mean: np.ndarray | None
    covariance: np.ndarray | None
    class_means: np.ndarray | None = None
    class_shares: np.ndarray | None = None

    @property
    def target(self) -> np.ndarray:
        """The covariance, or the second moment where no mean is known."""
        matrix = self.second_moment if self.covariance is None else self.covariance
        assert matrix is not None, "moments have one of the two"
        return matrix


def unpack(matrix: np.ndarray, *, centre: str, row_bound: float, n_anchors: int = 1) -> Moments:
    """Return the moments of a matrix in unit-ball units.

    joint: with corner c, covariance = R^2 (M_11 - M_12 M_21 / c), the Schur complement, which is positive semi-definite
    whenever the matrix is; mean = R M_12 / sqrt(c), so that covariance = second moment - mean mean' holds exactly.
    Without repairs c = s^2. classes: see `_by_class`.
    """
    r2 = row_bound * row_bound  # not **: a release is verified bit for bit, and pow is not fixed by IEEE 754
    if centre == "classes":
        return _by_class(matrix, row_bound, n_anchors)
    if centre != "joint":
        second = r2 * matrix
        return Moments(second, None, second if centre == "zero" else None)
    corner = max(float(matrix[-1, -1]), 1e-12)
    mean = row_bound * matrix[:-1, -1] / math.sqrt(corner)
    second = r2 * matrix[:-1, :-1]
    return Moments(second, mean, second - np.outer(mean, mean))


def _by_class(matrix: np.ndarray, row_bound: float, k: int) -> Moments:
    """Return class means, shares and the pooled covariance from the moment of (x/R, s e_label).

    A class mean is its noisy sum over its noisy count, shortened to the row bound, which no mean of clipped rows
    exceeds; a class whose noisy count is not positive gets the overall mean and share zero. The pooled covariance is
    the second moment about these means, R^2 [I, -B] M [I, -B]' with B = means / (R s): for any B positive
    semi-definite whenever M is, and without noise M_11 - M_12 M_22^-1 M_21, the covariance within classes over n.
    """
    d = len(matrix) - k
    counts = np.diag(matrix)[d:]
    root = math.sqrt(max(float(counts.sum()), 1e-12))  # s, in a matrix without repairs
    nonempty = counts > 1e-12
    shares = np.where(nonempty, counts, 0.0) / max(float(counts[nonempty].sum()), 1e-12)
    means = np.where(nonempty, _inside_ball(root * matrix[:d, d:] / np.where(nonempty, counts, 1.0)), 0.0)
    overall = means @ shares
    means = np.where(nonempty, means, overall[:, None])
    b = means / root
    inner = matrix[:d, :d] - b @ matrix[d:, :d] - matrix[:d, d:] @ b.T + b @ matrix[d:, d:] @ b.T
    r2 = row_bound**2
    return Moments(
        r2 * matrix[:d, :d],
        row_bound * overall,
        r2 * (inner + inner.T) / 2,
        row_bound * means.T,
        shares if nonempty.any() else np.full(k, 1 / k),
    )


def _inside_ball(columns: np.ndarray) -> np.ndarray:
    return columns / np.maximum(np.linalg.norm(columns, axis=0), 1.0)
