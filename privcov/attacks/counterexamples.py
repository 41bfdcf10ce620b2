"""Preparing steps of the papers' experiments that read the raw rows, and two tables that show what one row then does.

Each function returns the Frobenius change (unit-ball units) of the matrix to which noise is then added, computed from
two explicit neighbouring tables of n rows: a lower bound on the sensitivity, where sqrt(2)/n was assumed.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import checks


def moment(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (1/n) sum of x x' over rows that occur ``weights`` times."""
    return (rows * weights[:, None]).T @ rows / weights.sum()


def by_the_longest_row(n: int) -> float:
    """Divide every row by the largest norm in the table: n - 1 rows 0.01 e_1 and one e_2, or n rows 0.01 e_1."""
    checks.whole("n", n, 2)
    few, many = np.array([[0.01, 0.0], [0.0, 1.0]]), np.array([[0.01, 0.0]])
    tables = [(few, np.array([n - 1.0, 1.0])), (many, np.array([float(n)]))]
    first, second = (moment(x / np.linalg.norm(x, axis=1).max(), w) for x, w in tables)
    return float(np.linalg.norm(first - second))


def by_the_sample_mean(n: int) -> float:
    """Subtract the mean of the table first: n - 1 rows -e_1 and one e_1, or n rows -e_1."""
    checks.whole("n", n, 2)
    tables = [
        (np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([n - 1.0, 1.0])),
        (np.array([[-1.0, 0.0]]), np.array([float(n)])),
    ]
    first, second = (moment(x - (x * w[:, None]).sum(axis=0) / w.sum(), w) for x, w in tables)
    return float(np.linalg.norm(first - second))


def rows_of_typical_length(squared: float, n: int) -> float:
    """Use rows without clipping: two orthogonal rows of this squared norm where the noise was made for norm 1."""
    x, y = math.sqrt(squared) * np.eye(2)
    return float(np.linalg.norm(np.outer(x, x) - np.outer(y, y))) / checks.whole("n", n, 1)
