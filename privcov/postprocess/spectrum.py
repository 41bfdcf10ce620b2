"""Repairs of the spectrum of a symmetric matrix. All keep the eigenvectors and change the eigenvalues."""

from __future__ import annotations

import numpy as np

from privcov.core import checks


def assemble(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix sum_i values_i v_i v_i'; v_i are the columns of ``vectors``."""
    matrix = (vectors * values) @ vectors.T
    return (matrix + matrix.T) / 2


def clip_psd(matrix: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Return the nearest symmetric matrix with eigenvalues >= floor in Frobenius norm.

    It is the projection onto a convex set that contains every covariance (floor 0), so the Frobenius error never grows.
    """
    values, vectors = np.linalg.eigh(checks.square("matrix", matrix))
    if values[0] >= floor:
        return (matrix + matrix.T) / 2
    return assemble(np.maximum(values, floor), vectors)


def clip_box(matrix: np.ndarray, top: float) -> np.ndarray:
    """Return the nearest symmetric matrix with eigenvalues in [0, top]."""
    checks.positive("top", top)
    values, vectors = np.linalg.eigh(checks.square("matrix", matrix))
    return assemble(np.clip(values, 0.0, top), vectors)


def project_trace(matrix: np.ndarray, trace: float) -> np.ndarray:
    """Return the nearest positive semi-definite matrix with trace <= ``trace`` (Nikolov, Talwar and Zhang 2016).

    In Frobenius norm: eigenvalues become max(lambda - theta, 0) with the smallest theta >= 0 that meets the trace.
    """
    trace = checks.in_range("trace", trace, 0.0, 1e300)
    values, vectors = np.linalg.eigh(checks.square("matrix", matrix))
    return assemble(np.maximum(values - excess(values, trace), 0.0), vectors)


def excess(values: np.ndarray, trace: float) -> float:
    """Return the smallest theta >= 0 at which the numbers max(value - theta, 0) add up to at most ``trace``."""
    if np.maximum(values, 0.0).sum() <= trace:
        return 0.0
    high = np.sort(values)[::-1]
    theta = (np.cumsum(high) - trace) / np.arange(1, len(high) + 1)
    last = np.flatnonzero(high > theta)
    return float(theta[last[-1]] if len(last) else high[0])


def shrink_spectrum(matrix: np.ndarray, noise_std: float) -> np.ndarray:
    """Shrink the eigenvalues for known symmetric Gaussian noise, rotationally invariant.

    xi_i = lambda_i - 2 v h_i, v = d noise_std^2,
    h_i = (1/d) sum_j (lambda_i - lambda_j) / ((lambda_i - lambda_j)^2 + eta^2), eta = noise_std; then max(xi, 0).

    Reference: Bun, Allez, Bouchaud and Potters (2016), additive noise.
    """
    checks.in_range("noise_std", noise_std, 0.0, 1e150)
    values, vectors = np.linalg.eigh(checks.square("matrix", matrix))
    # |2 v h| <= d noise_std: below the rounding of the matrix nothing is left to pull (and its square underflows).
    if len(values) * noise_std <= np.finfo(float).eps / 8 * np.abs(values).max():
        return clip_psd(matrix)
    return assemble(np.maximum(shrunk_values(values, noise_std)[0], 0.0), vectors)


def shrunk_values(values: np.ndarray, noise_std: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of `shrink_spectrum` before they are clipped at zero, and their derivatives."""
    d = len(values)
    gap = values[:, None] - values[None, :]
    pull = np.mean(gap / (gap**2 + noise_std**2), axis=1)
    steep = (noise_std**2 - gap**2) / (gap**2 + noise_std**2) ** 2
    np.fill_diagonal(steep, 0.0)  # lambda_i stays at no distance from itself
    return values - 2 * d * noise_std**2 * pull, 1 - 2 * d * noise_std**2 * np.mean(steep, axis=1)


def shrink_wishart_difference(matrix: np.ndarray, c: float) -> np.ndarray:
    """Shrink the eigenvalues as `shrink_spectrum`, for the noise A - B, with A, B independent W_d(d + 1, c I).

    g_i = (1/d) sum_j 1 / (lambda_i - i eta - lambda_j) = h + i pi rho, eta = c sqrt(2 d), K = c d. The noise is the
    free difference of two Marchenko-Pastur distributions of ratio 1, so its R-transform is
    R(g) = 2 K^2 g / (1 - K^2 g^2), and xi = lambda - Re R(g) - Im R(g) Re g / Im g; then max(xi, 0). Own calculation.
    """
    checks.in_range("c", c, 0.0, 1e150)
    values, vectors = np.linalg.eigh(checks.square("matrix", matrix))
    if len(values) * c <= np.finfo(float).eps / 8 * np.abs(values).max():  # nothing is left to pull
        return clip_psd(matrix)
    return assemble(np.maximum(shrunk_values_wishart(values, c)[0], 0.0), vectors)


def shrunk_values_wishart(values: np.ndarray, c: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of `shrink_wishart_difference` before they are clipped at zero, and their derivatives."""
    d = len(values)
    unit = values / (c * d)  # in units of K nothing can overflow
    gap = unit[:, None] - unit[None, :]
    terms = 1 / (gap - 1j * np.sqrt(2 / d))
    g = np.mean(terms, axis=1)
    # |1 - g^2| stays away from 0: the imaginary part of g is at least that of the term j = i, 1 / sqrt(2 d).
    pull = 2 * g / (1 - g**2)
    steep = -(terms**2)
    np.fill_diagonal(steep, 0.0)  # lambda_i stays at no distance from itself
    derivative = np.mean(steep, axis=1)
    turned = 2 * (1 + g**2) / (1 - g**2) ** 2 * derivative
    ratio, ratio_moved = g.real / g.imag, (derivative.real * g.imag - g.real * derivative.imag) / g.imag**2
    slope = 1 - turned.real - turned.imag * ratio - pull.imag * ratio_moved
    return c * d * (unit - pull.real - pull.imag * g.real / g.imag), slope


def divided_differences(values: np.ndarray, new_values: np.ndarray, slope: np.ndarray, near: float) -> np.ndarray:
    """Return (f_i - f_j) / (l_i - l_j) for eigenvalues l that become f; the mean slope of f where two l are near."""
    gap = values[:, None] - values[None, :]
    same = np.abs(gap) < near
    apart = (new_values[:, None] - new_values[None, :]) / np.where(same, 1.0, gap)
    return np.where(same, (slope[:, None] + slope[None, :]) / 2, apart)
