"""The ridge estimator of a precision matrix, in closed form. Kuismin, Kemppainen and Sillanpaa (2017), ROPE."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from privcov.core import checks


def ridge_precision(s: np.ndarray, lam: float) -> np.ndarray:
    """Return argmin over T > 0 of ``-log det T + <s, T> + lam |T|_F^2``, for any symmetric s.

    An eigenvalue f of s becomes (sqrt(f^2 + 8 lam) - f) / (4 lam), computed without cancellation for either sign. That
    is at most 1 / sqrt(2 lam) for s >= 0, where the map is also (1 / (4 lam))-Lipschitz in Frobenius norm, and about
    a / (2 lam) for a negative eigenvalue -a.

    Reference: Kuismin, Kemppainen and Sillanpaa (2017), ROPE.
    """
    return ridge_path(s, (lam,))[0]


def ridge_path(s: np.ndarray, lambdas: Iterable[float]) -> list[np.ndarray]:
    """Compute `ridge_precision` at several penalties from one eigendecomposition."""
    values, vectors = np.linalg.eigh(checks.square("s", s))
    answers = []
    for lam in lambdas:
        checks.positive("lam", lam)
        root = np.sqrt(values**2 + 8 * lam)
        theta = np.where(values > 0, 2 / (np.maximum(values, 0) + root), (root - np.minimum(values, 0)) / (4 * lam))
        half = vectors * np.sqrt(theta)
        answers.append(half @ half.T)
    return answers
