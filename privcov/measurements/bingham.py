"""Exact draws from the Bingham distribution on the sphere, density proportional to exp(-sum_j a_j v_j^2).

Rejection from the angular central Gaussian envelope of Kent, Ganeiber and Mardia (2018). The loop ends when a proposal
is accepted and never before: cut short, or run on a finite set of candidates, it would not be private.
"""

from __future__ import annotations

import math

import numpy as np

_BATCH = 8  # proposals drawn at a time; the first accepted one counts


def envelope(a: np.ndarray) -> float:
    """b in [1, q] with sum_j 1 / (b + 2 a_j) = 1: the best envelope. a >= 0 with smallest entry 0."""
    b, twice = 1.0, 2 * a
    for _ in range(100):  # Newton from the left: the sum is convex and falls, so b never overshoots
        terms = 1 / (b + twice)
        step = (terms.sum() - 1) / (terms @ terms)
        b += step
        if step <= 1e-9 * b:
            break
    return min(max(b, 1.0), float(len(a)))


def sample_bingham(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One unit vector (q,) with density proportional to exp(-sum_j a_j v_j^2); a (q,) finite, any sign.

    With t = v'Av and the proposal's density proportional to (1 + 2t/b)^(-q/2), target over proposal is
    e^-t (1 + 2t/b)^(q/2), largest at t = (q - b)/2; any b > 0 gives exact draws, the best one wastes least.
    """
    q = len(a)
    if q == 1:
        return np.array([1.0 if rng.random() < 0.5 else -1.0])
    a = a - a.min()
    b = envelope(a)
    spread = 1 / np.sqrt(1 + 2 * a / b)
    peak = (b - q) / 2 + q / 2 * math.log(q / b)
    while True:
        z = rng.standard_normal((_BATCH, q)) * spread
        length2 = np.einsum("ij,ij->i", z, z)
        t = (z * z) @ a / length2
        log_ratio = q / 2 * np.log1p(2 * t / b) - t - peak
        accepted = np.flatnonzero(-rng.standard_exponential(_BATCH) < log_ratio)
        if len(accepted):
            first = accepted[0]
            return z[first] / math.sqrt(length2[first])
