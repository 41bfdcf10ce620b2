"""From a covariance to a correlation matrix, when noise may have made variances tiny or negative."""

from __future__ import annotations

import numpy as np

from privcov.core import checks


def correlation(covariance: np.ndarray, floor: float) -> np.ndarray:
    """Return the correlation matrix D^-1/2 C D^-1/2, with variances below ``floor`` raised to it."""
    checks.positive("floor", floor, "Use the noise deviation of a diagonal entry.")
    c = checks.square("covariance", covariance)
    spread = np.sqrt(np.maximum(np.diag(c), floor))
    r = np.clip(c / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(r, 1.0)
    return r
