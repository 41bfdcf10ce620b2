"""The privacy curve of additive Wishart noise, S + W_d(m, C I).

For one vector added or removed the whole curve equals that of a scalar, t + C chi^2_k with k = m - d + 1, shifted by
|x|^2 / n: the density ratio depends on 1 / (x' W^-1 x) only. Here the scalar is in units of 2C, so its law is
Gamma(a), a = k / 2, and the shift is ``ratio`` = |x|^2 / (2 C n). Sheffet (2017) gives a looser bound.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc, gammaincc

from privcov import checks


def add_delta(epsilon: float, freedom: float, ratio: float) -> float:
    """P against Q at epsilon when Q has one vector more: P alone can fall below the shift."""
    a = freedom / 2
    if a == 1:
        return -math.expm1(-ratio)
    power = (epsilon + ratio) / (a - 1)
    t = ratio / -math.expm1(-power)
    return max(float(gammainc(a, t) - math.exp(epsilon) * gammainc(a, max(t - ratio, 0.0))), 0.0)


def remove_delta(epsilon: float, freedom: float, ratio: float) -> float:
    """P against Q at epsilon when Q has one vector less."""
    if ratio <= epsilon:
        return 0.0
    a = freedom / 2
    if a == 1:
        return -math.expm1(epsilon - ratio)
    power = (ratio - epsilon) / (a - 1)
    t = ratio / -math.expm1(-power)
    return max(float(gammaincc(a, max(t - ratio, 0.0)) - math.exp(epsilon) * gammaincc(a, t)), 0.0)


def wishart_delta(epsilon: float, freedom: float, ratio: float) -> float:
    """Delta at epsilon under replace-one (one vector removed and one added), an upper bound.

    For any split epsilon = e1 + e2 and any data set between the two, delta <= d1(e1) + e^e1 d2(e2). Between them lies
    the one without either vector and the one with both, so the two one-vector curves come in either order; the best
    order and split of a grid is taken, and each is a true bound. freedom 2 (m = d + 1) is exact: 1 - e^-ratio at every
    epsilon, because the loss is constant on the common support and the rest of the mass proves which data set it was.
    """
    checks.in_range("epsilon", epsilon, 0.0, 500.0)
    checks.in_range("freedom", freedom, 2.0, 1e9, "Wishart noise has a density only for m > d.")
    checks.positive("ratio", ratio)
    if freedom == 2:
        return -math.expm1(-ratio)

    def bound(e1: float) -> float:
        e2, grow = epsilon - e1, math.exp(e1)
        return min(
            remove_delta(e1, freedom, ratio) + grow * add_delta(e2, freedom, ratio),
            add_delta(e1, freedom, ratio) + grow * remove_delta(e2, freedom, ratio),
        )

    return min(1.0, min(bound(e1) for e1 in np.linspace(0.0, epsilon, 401)) * (1 + 1e-9))


def wishart_freedom(epsilon: float, delta: float, ratio: float) -> int:
    """Smallest whole freedom k >= 3 whose `wishart_delta` is at most delta."""
    high = 4
    while wishart_delta(epsilon, high, ratio) > delta:
        high *= 2
        if high > 2**26:
            raise ValueError(f"No number of degrees of freedom up to {high:,} gives ({epsilon:g}, {delta:g})-DP.")
    low = max(high // 2, 2)
    while high - low > 1:
        middle = (low + high) // 2
        if wishart_delta(epsilon, middle, ratio) <= delta:
            high = middle
        else:
            low = middle
    return high
