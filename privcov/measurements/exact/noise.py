"""Noise of private releases: whole numbers, from the operating system's randomness, and no seed anywhere.

Discrete Gaussian and discrete Laplace noise is drawn and added inside OpenDP, in exact rational and big-integer
arithmetic (Canonne, Kamath and Steinke 2020). There a sum beyond 64 bits is replaced by the largest number, which is
post-processing, and useless. So where sum and noise together may need more, OpenDP draws the noise around zero and the
sum is computed in Python integers: the same distribution, but for noise beyond 2^63, which OpenDP would cut there. At
the largest scale that is allowed, 2^54, that has probability below 2 exp(-2^9) for Laplace and below 2 exp(-2^17) for
Gaussian noise: less than 10^-200, far below the accuracy of any generator of random bits. Which of the two ways is
taken follows from public facts alone.

Scales are rounded up, and paid from no more than what the ledger counts (`calibrated`).

The Wishart noises are whole numbers as well, exact at every scale (exact/wishart.py), and meet the data in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, BudgetShare, NoPrivacy, PureDP, ZCDP
from privcov.measurements.exact import wishart as exact_wishart
from privcov.measurements.exact.wishart import as_int64

LARGEST_SCALE = 2.0**54  # of noise that OpenDP draws
_FAR = 2**9  # noise beyond so many scales is practically impossible


def add_discrete_gaussian(values: np.ndarray, scale: float) -> np.ndarray:
    """Return the values plus independent discrete Gaussians, P(k) proportional to exp(-k^2 / (2 scale^2))."""
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    return _add(make_gaussian, l2_distance, values, scale)


def add_discrete_laplace(values: np.ndarray, scale: float) -> np.ndarray:
    """Return the values plus independent discrete Laplaces, P(k) proportional to exp(-|k| / scale)."""
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    return _add(make_laplace, l1_distance, values, scale)


def add_wishart_difference(values: np.ndarray, scale: float) -> np.ndarray:
    """Return the values plus floor(A - B + 1/2), A and B independent W_p(p + 1, scale / 2 I)."""
    return _plus(values, exact_wishart.wishart_difference_noise(len(values), scale))


def add_coupled_wishart(values: np.ndarray, scale: float) -> np.ndarray:
    """Return the values plus floor(A - B + 1/2), (A, B) of the coupled distribution with t = scale."""
    return _plus(values, exact_wishart.coupled_noise(len(values), scale))


def fits(largest: int, scale: float) -> bool:
    """Return whether numbers up to ``largest`` and noise of this scale may be added in 64 bits."""
    return largest + _FAR * scale < 2**63


def check_scale(scale: float) -> None:
    """Raise ValueError for discrete Gaussian or Laplace noise that cannot be drawn exactly."""
    if scale > LARGEST_SCALE:
        raise ValueError(
            f"The noise scale must be at most 2^54 steps, got {scale:g}: beyond, sums of 64 bits would end at the "
            "largest number. Ask for a weaker guarantee, or declare fewer rows per person."
        )


def _add(make: Callable, distance: Callable, values: np.ndarray, scale: float) -> np.ndarray:
    from opendp.domains import atom_domain, vector_domain
    from opendp.mod import enable_features

    check_scale(scale)
    if not len(values):
        return values.copy()
    if values.dtype == object:
        return _plus(values, _add(make, distance, np.zeros(len(values), dtype=np.int64), scale))
    enable_features("contrib")  # OpenDP's name for constructors whose published proofs are not fully vetted yet
    mechanism = make(vector_domain(atom_domain(T="i64")), distance(T="f64"), float(scale))
    return np.array(mechanism(np.ascontiguousarray(values, dtype=np.int64)), dtype=np.int64)


def _plus(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Add in Python integers, so that nothing can wrap around; int64 again where it fits."""
    return as_int64(values.astype(object) + noise.astype(object))


def calibrated(share: BudgetShare, square: int, noise: str, *, pure: bool) -> tuple[float, float]:
    """Return (sensitivity rounded up, scale): sensitivity / scale is within the share in exact arithmetic."""
    if isinstance(share, NoPrivacy) or not isinstance(share, (PureDP, ApproxDP, ZCDP)):
        raise TypeError(f"Private rows need a guarantee, and {share} is none. Ask for PureDP, ApproxDP or ZCDP.")
    share = no_more_than_typed(share)
    bound = root_up(Fraction(square))
    if pure:
        if isinstance(share, ApproxDP):
            raise TypeError(f"{noise} noise gives pure DP, and {share} was asked for. Ask for PureDP or ZCDP.")
        return bound, accounting.laplace_scale(share, bound)
    if isinstance(share, PureDP):
        raise TypeError(f"Gaussian noise cannot give {share}; ask for ApproxDP or ZCDP.")
    if isinstance(share, ApproxDP):
        share = ZCDP(accounting.approx_to_zcdp(share.epsilon, share.delta))
    return bound, accounting.gaussian_scale(share, bound)


def no_more_than_typed(share: PureDP | ApproxDP | ZCDP) -> PureDP | ApproxDP | ZCDP:
    """Return a share of at most the decimal it prints as: the double 0.1 exceeds the 1/10 that the ledger counts."""
    if isinstance(share, ApproxDP):
        return share
    level = share.epsilon if isinstance(share, PureDP) else share.rho
    if Fraction(level) <= Fraction(repr(float(level))):
        return share
    return type(share)(math.nextafter(level, 0.0))


def root_up(square: Fraction) -> float:
    """Return the square root, rounded up."""
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
