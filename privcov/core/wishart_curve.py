"""The privacy curve of additive Wishart noise, S + W_d(m, C I).

For one vector added or removed the whole curve equals that of a scalar, t + C chi^2_k with k = m - d + 1, shifted by
|x|^2 / n: the density ratio depends on 1 / (x' W^-1 x) only, and that is C chi^2_k / |x|^2. Here the scalar is in units
of 2C, so its distribution is Gamma(a), a = k / 2, and the shift is ``ratio`` = |x|^2 / (2 C n). A longer vector or less
freedom never lowers the curve: the Gamma distribution is log-concave, and Gamma(a + b) is Gamma(a) convolved with an
independent Gamma(b).

Sheffet (2019) gives a looser bound.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import checks

LARGEST_EPSILON = 500.0  # beyond it e^epsilon overflows
_SPLITS = 401
# The series behind scipy's incomplete gamma functions stops after 2,000 terms: at 3e6 degrees of freedom it was wrong
# by 3e-7. Up to this many it stayed within 6e-12 of the sum of both terms (against 40 digits); more freedom only helps.
LARGEST_FREEDOM = 2**18
_MARGIN, _TINY = 2e-11, 1e-300


def add_delta(epsilon: float | np.ndarray, freedom: float, ratio: float) -> np.ndarray:
    """Return a bound on delta at epsilon of the answer against the one with one vector more, rounded up."""
    from scipy.special import gammainc

    a = freedom / 2
    if a == 1:
        return -np.expm1(-ratio) + 0.0 * np.asarray(epsilon)
    t = ratio / -np.expm1(-(epsilon + ratio) / (a - 1))
    return _rounded_up(gammainc(a, t), np.exp(epsilon) * gammainc(a, np.maximum(t - ratio, 0.0)))


def remove_delta(epsilon: float | np.ndarray, freedom: float, ratio: float) -> np.ndarray:
    """Return a bound on delta at epsilon of the answer against the one with one vector less, rounded up."""
    from scipy.special import gammaincc

    a, epsilon = freedom / 2, np.asarray(epsilon, dtype=float)
    if a == 1:
        return np.maximum(-np.expm1(epsilon - ratio), 0.0)
    gain = np.maximum(ratio - epsilon, 1e-12 * ratio)  # the loss never exceeds the ratio; the rest is masked below
    t = ratio / -np.expm1(-gain / (a - 1))
    delta = _rounded_up(gammaincc(a, np.maximum(t - ratio, 0.0)), np.exp(epsilon) * gammaincc(a, t))
    return np.where(epsilon < ratio, delta, 0.0)


def _rounded_up(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return p - q, at least 0, with a margin for the error of both."""
    return np.maximum(p - q, 0.0) + _MARGIN * (p + q) + _TINY


def wishart_delta(epsilon: float, freedom: float, ratio: float) -> float:
    """Return an upper bound on delta at epsilon under replace-one (one vector removed and one added).

    Own derivation: let M be the distribution of the answer from any data set between the two, and epsilon = e1 + e2.
    From P(E) <= e^e1 M(E) + d1 and M(E) <= e^e2 Q(E) + d2 follows P(E) <= e^epsilon Q(E) + d1 + e^e1 d2. Between them
    lie the set without either vector (first removed, then added) and the set with both (first added, then removed).
    Each order and each split is a true bound on the same P and Q, so the smallest counts. freedom 2 (m = d + 1) is
    exact: 1 - e^-ratio at every epsilon, because the loss is constant on the common support and the rest of the mass
    proves which data set it was; so it is a bound for more freedom too.
    """
    epsilon = checks.in_range("epsilon", epsilon, 0.0, LARGEST_EPSILON)
    checks.in_range("freedom", freedom, 2.0, 1e9, "Wishart noise has a density only for m > d.")
    checks.positive("ratio", ratio)
    if freedom == 2:
        return -math.expm1(-ratio)
    freedom = min(freedom, LARGEST_FREEDOM)
    first = np.linspace(0.0, epsilon, _SPLITS)
    second, grow = epsilon - first, np.exp(first)
    with np.errstate(over="ignore", under="ignore"):
        without = remove_delta(first, freedom, ratio) + grow * add_delta(second, freedom, ratio)
        both = add_delta(first, freedom, ratio) + grow * remove_delta(second, freedom, ratio)
    return min(float(np.minimum(without, both).min()) * (1 + 1e-9), -math.expm1(-ratio))


def wishart_freedom(epsilon: float, delta: float, ratio: float) -> int:
    """Return the smallest whole freedom k >= 3 whose `wishart_delta` is at most delta."""
    high = 4
    while wishart_delta(epsilon, high, ratio) > delta:
        high *= 2
        if high > LARGEST_FREEDOM:
            raise ValueError(
                f"No Wishart noise with up to {LARGEST_FREEDOM:,} degrees of freedom gives ({epsilon:g}, "
                f"{delta:g})-DP. Use Gaussian noise (gaussian-cov), or a larger epsilon."
            )
    low = max(high // 2, 2)
    while high - low > 1:
        middle = (low + high) // 2
        if wishart_delta(epsilon, middle, ratio) <= delta:
            high = middle
        else:
            low = middle
    return high
