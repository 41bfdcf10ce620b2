"""Exact binomial bounds, what they prove about epsilon and delta, and what a number of draws can detect at all.

An audit draws two neighbours n times each and counts how often the answer falls into a set A. Clopper and Pearson
(1934): k of n hits give P(A) >= `binomial_low` and P(A) <= `binomial_high`, each wrong with probability at most alpha,
for every n and every P(A). If P(A) >= p on one table and <= q on the other, no (epsilon, delta) with
p > e^epsilon q + delta can hold, so epsilon >= ln((p - delta) / q) is proved; rho of a zCDP claim: concentrated.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtr
from scipy.stats import binom

from privcov.attacks.concentrated import rho_low
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, PureDP, ZCDP, level_of

AuditableGuarantee = PureDP | ApproxDP | ZCDP

ERROR = 1e-3  # of a whole audit: the chance that a bound it states is wrong, whatever the mechanism
SETS = 2  # sets that are tested: the best one for epsilon (or rho) and the best one for delta
_MISSED = 0.1  # probability of missing a fault that the audit "can see"


def alpha_per_bound(error: float) -> float:
    """Return each bound's error, for every set and table, so that all together err at most ``error`` (Bonferroni)."""
    return error / (2 * SETS)


ALPHA = alpha_per_bound(ERROR)


def binomial_low(hits: ArrayLike, n: int, alpha: float = ALPHA) -> np.ndarray:
    """Return a lower bound on a set's probability, with ``hits`` of n draws in it; wrong at most alpha of the time."""
    hits = np.asarray(hits, dtype=float)
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, alpha), 0.0)


def binomial_high(hits: ArrayLike, n: int, alpha: float = ALPHA) -> np.ndarray:
    """Return an upper bound; see `binomial_low`."""
    return 1.0 - binomial_low(n - np.asarray(hits, dtype=float), n, alpha)


def epsilon_low(p_low: float | np.ndarray, q_high: float | np.ndarray, delta: float = 0.0) -> np.ndarray:
    """Return the epsilon that is proved at delta; negative or -inf where nothing is proved."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p_low - delta, 0.0)) - np.log(q_high)


def level_low(claim: AuditableGuarantee, p_low: float | np.ndarray, q_high: float | np.ndarray) -> np.ndarray:
    """Return what two probabilities prove in the unit of the claim; not positive where they prove nothing."""
    if isinstance(claim, ZCDP):
        return rho_low(p_low, q_high)
    return epsilon_low(p_low, q_high, getattr(claim, "delta", 0.0))


def allowed_difference(claim: AuditableGuarantee) -> float:
    """Return the largest delta at epsilon 0 (total variation) under the claim.

    It is (e^epsilon - 1 + 2 delta)/(e^epsilon + 1). zCDP: an upper bound, that of `accounting.attacker_success`.
    """
    if isinstance(claim, ZCDP):
        return 2 * accounting.attacker_success(claim) - 1
    delta = getattr(claim, "delta", 0.0)
    return min(1.0, math.tanh(claim.epsilon / 2) + 2 * delta / (1 + math.exp(claim.epsilon)))


def max_provable_level(claim: AuditableGuarantee, n: int) -> float:
    """Return the largest level that n draws of either table can prove: every draw of one in the set, none of the other.

    -inf when not even that proves anything.
    """
    return float(level_low(claim, binomial_low(n, n), binomial_high(0, n)))


@dataclass(frozen=True)
class DetectionLimit:
    """What n test draws of either table can detect.

    factor: noise so many times too small is caught with probability 90 % in the most favourable case, inf when none is;
    level: what such noise gives, in the unit of the claim; ceiling: see `max_provable_level`.
    """

    factor: float
    level: float
    ceiling: float


def detection_limit(claim: AuditableGuarantee, n: int) -> DetectionLimit:
    """Return what n draws can detect in the most favourable case.

    For pure DP this case is two outcomes with the odds e^epsilon. For (epsilon, delta) and zCDP it is Gaussian noise,
    projected on the difference of the two answers.
    """
    mu = math.nan if isinstance(claim, PureDP) else accounting.mu_of(claim)

    def refutes(factor: float) -> bool:
        if isinstance(claim, PureDP):
            q = np.array([1 / (1 + math.exp(factor * claim.epsilon))])
            p = 1 - q
        else:
            cut = np.linspace(-3, 6, 400)
            p, q = ndtr(factor * mu - cut), ndtr(-cut)
        few, many = binom.ppf(_MISSED / 2, n, p), binom.ppf(1 - _MISSED / 2, n, q)
        return bool((level_low(claim, binomial_low(few, n), binomial_high(many, n)) > level_of(claim)).any())

    most = max_provable_level(claim, n)
    grid = np.geomspace(1.001, 100.0, 300) if most > level_of(claim) else ()
    factor = next((float(f) for f in grid if refutes(f)), math.inf)
    if factor == math.inf:
        return DetectionLimit(math.inf, math.inf, most)
    return DetectionLimit(factor, level_of(weaker(claim, factor)), most)


def weaker(claim: AuditableGuarantee, times: float) -> AuditableGuarantee:
    """Return the guarantee for which the noise is so many times smaller."""
    if isinstance(claim, PureDP):
        return PureDP(claim.epsilon * times)
    if isinstance(claim, ZCDP):
        return ZCDP(claim.rho * times**2)
    return ApproxDP(accounting.epsilon_of_gaussian(claim.delta, accounting.mu_of(claim) * times), claim.delta)
