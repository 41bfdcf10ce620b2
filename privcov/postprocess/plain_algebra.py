"""Linear algebra whose every bit is fixed: only + - * / and square roots of doubles, each in a stated order.

IEEE 754 rounds these five operations in one way on every machine, whereas a LAPACK may sum in another order, about
twenty times faster. What is published with a release uses these functions, so it can be derived again, bit for bit.
"""

from __future__ import annotations

import numpy as np

from privcov.core import checks

_SWEEPS = 40
_SMALL = 2.0**-52


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a b for two matrices, the terms of each entry added in order of the inner index."""
    answer = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        answer += a[:, k, None] * b[None, k, :]
    return answer


def eigen(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's method (Brent and Luk 1985).

    The d/2 rotations of a round of a round robin touch different rows, so they are made at once.
    """
    a = checks.square("matrix", matrix).astype(np.float64, copy=True)
    d = len(a)
    a = (a + a.T) / 2
    vectors = np.eye(d)
    rounds = _round_robin(d)
    for _ in range(_SWEEPS):
        off = np.abs(a - np.diag(np.diag(a))).max(initial=0.0)
        if off <= _SMALL * np.abs(a).max(initial=0.0):
            break
        for p, q in rounds:
            c, s = _rotation(a[p, p], a[q, q], a[p, q])
            for columns in (a, vectors):
                left, right = columns[:, p], columns[:, q]
                columns[:, p], columns[:, q] = c * left - s * right, s * left + c * right
            upper, lower = a[p], a[q]
            a[p], a[q] = c[:, None] * upper - s[:, None] * lower, s[:, None] * upper + c[:, None] * lower
            a[p, q] = a[q, p] = 0.0
    else:
        raise ArithmeticError("The eigenvalues did not settle: the matrix holds numbers too far apart in size.")
    values = np.diag(a).copy()
    order = np.argsort(values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(d)]
    return values, vectors * np.where(largest < 0, -1.0, 1.0)


def rebuild(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix with these eigenvalues and eigenvectors."""
    matrix = product(vectors * values, vectors.T)
    return (matrix + matrix.T) / 2


def _round_robin(d: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return every pair once, in rounds of disjoint pairs."""
    size = d + d % 2
    ring = list(range(size))
    rounds = []
    for _ in range(size - 1):
        pairs = [(ring[k], ring[-1 - k]) for k in range(size // 2)]
        pairs = [(min(i, j), max(i, j)) for i, j in pairs if max(i, j) < d]
        if pairs:
            p, q = np.array(sorted(pairs)).T
            rounds.append((p, q))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _rotation(one: np.ndarray, other: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return cosines and sines that make the entries ``off`` vanish, by the smaller of the two angles."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        tau = (other - one) / (2 * off)
        tangent = np.where(tau < 0, -1.0, 1.0) / (np.abs(tau) + np.sqrt(1 + tau * tau))
    tangent = np.where(off == 0, 0.0, tangent)  # 0/0, or an angle of zero
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    return cosine, tangent * cosine
