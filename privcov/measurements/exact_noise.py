"""Noise of private releases: whole numbers, from the operating system's randomness, and no seed anywhere.

Discrete Gaussian and discrete Laplace noise is drawn and added inside OpenDP, in exact rational and big-integer
arithmetic (Canonne, Kamath and Steinke 2020); a sum beyond 64 bits ends at the largest number, which is
post-processing.

Sums of more than 5.59 million rows may not fit into 64 bits. They come as Python integers, and OpenDP draws the noise
around zero; added to whole numbers that is the same distribution, but for noise beyond 2^63, which OpenDP would end
there. At the largest scale that a table in files may have, 2^54, that has probability below 2 exp(-2^9) for Laplace and
below 2 exp(-2^17) for Gaussian noise: less than 10^-200, far below what any generator of random bits can be held to.

Wishart noise is drawn in floating point from the same kind of randomness and becomes whole numbers
before it meets the data: the sum is then exact, and equals the rounded sum with continuous noise, which is
post-processing of it. What stays idealised there is the sampler: 64 random bits per normal deviate, so no deviate
beyond 9.2, and its rounding.
"""

from __future__ import annotations

import os

import numpy as np

_LARGEST = 2.0**61
LARGEST_SCALE = 2.0**54  # of noise that may be drawn around zero


def add_discrete_gaussian(values: np.ndarray, scale: float) -> np.ndarray:
    """values plus independent discrete Gaussians, P(k) proportional to exp(-k^2 / (2 scale^2)).

    values: any number of whole numbers, int64 or Python integers; the answer is of the same kind.
    """
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    return _add(make_gaussian, l2_distance, values, scale)


def add_discrete_laplace(values: np.ndarray, scale: float) -> np.ndarray:
    """values plus independent discrete Laplaces, P(k) proportional to exp(-|k| / scale).

    values: any number of whole numbers, int64 or Python integers; the answer is of the same kind.
    """
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    return _add(make_laplace, l1_distance, values, scale)


def check_scale(scale: float) -> None:
    """ValueError for noise that is too large for a table whose sums may need more than 64 bits."""
    if scale > LARGEST_SCALE:
        raise ValueError(
            f"The noise scale for a table in files must be at most 2^54 steps, got {scale:g}. "
            "Ask for a weaker guarantee, or declare fewer rows per person."
        )


def _add(make, distance, values: np.ndarray, scale: float) -> np.ndarray:
    from opendp.domains import atom_domain, vector_domain
    from opendp.mod import enable_features

    if not len(values):
        return values.copy()
    if values.dtype == object:
        check_scale(scale)
        return values + _add(make, distance, np.zeros(len(values), dtype=np.int64), scale).astype(object)
    enable_features("contrib")  # OpenDP's word for constructors whose published proofs it has not finished vetting
    mechanism = make(vector_domain(atom_domain(T="i64")), distance(T="f64"), float(scale))
    return np.array(mechanism(np.ascontiguousarray(values, dtype=np.int64)), dtype=np.int64)


def add_wishart_difference(values: np.ndarray, scale: float) -> np.ndarray:
    """values (p x p int64, symmetric) plus floor(A - B + 1/2), A and B independent W_p(p + 1, scale / 2 I)."""
    p = len(values)
    plus, minus = secure_normals((2, p, p + 1))
    noise = scale / 2 * (plus @ plus.T - minus @ minus.T)
    noise = np.triu(noise) + np.triu(noise, 1).T  # the two triangles of a product may differ in the last digit
    whole = np.floor(np.clip(noise, -_LARGEST, _LARGEST) + 0.5).astype(np.int64)
    return values + whole


def secure_normals(shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal deviates from the operating system's randomness, 64 bits each, by inversion."""
    from scipy.special import ndtri

    size = int(np.prod(shape))
    bits = np.frombuffer(os.urandom(8 * size), dtype=np.uint64)
    half = ((bits >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64  # in (0, 1/2]; small numbers keep their digits
    sign = np.where(bits & np.uint64(1), 1.0, -1.0)
    return (sign * -ndtri(half)).reshape(shape)
