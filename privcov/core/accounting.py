"""Calibrate, convert, compose, split and group guarantees, each result rounded to the safe side.

Sums are exact (``fractions.Fraction``), and special functions get a margin wider than their error (``_MARGIN``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import ApproxDP, BudgetShare, Event, GaussianDP, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.core.wishart_curve import wishart_delta

# The Gaussian curve is a difference of two terms. Compared with 60 digits, its error stayed below 1e-15 times
# e^a (1 + |a| + epsilon), see `_curve`; the margin is five times as wide.
_MARGIN = 5e-15
# Below e^_LOG_TINY the curve is only bounded (by _TINY); a delta down there is not accepted.
_LOG_TINY, _TINY, _SMALLEST_DELTA = -690.0, 1e-299, 1e-290
_LARGEST_EPSILON = 1e12
_LARGEST_SCALE = 1e300

_Claim = PureDP | ApproxDP | ZCDP | GaussianDP
# The result is of the same kind as the argument.
Given = TypeVar("Given", PureDP, ApproxDP, ZCDP, GaussianDP, _Claim, Guarantee | GaussianDP)


# --- the exact Gaussian curve -------------------------------------------------------------------------------


def _curve(epsilon: float, mu: float) -> tuple[float, float]:
    """Return Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), the delta of Gaussian noise, and a bound on its error."""
    from scipy.special import erf, log_ndtr

    if epsilon == 0:
        value = float(erf(mu / math.sqrt(8)))
        return value, value * _MARGIN
    a = log_ndtr(mu / 2 - epsilon / mu)
    if a < _LOG_TINY:
        return 0.0, _TINY
    b = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    # The log terms are themselves of size |a|, so their exponentials lose about |a| units in the last place.
    error = math.exp(a) * _MARGIN * (1 + abs(a) + epsilon)
    return math.exp(a) * -math.expm1(min(b - a, 0.0)), error


def delta_of_gaussian(epsilon: float, mu: float) -> float:
    """Return the smallest delta for which Gaussian noise is (epsilon, delta)-DP, epsilon >= 0, rounded up.

    Reference: Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 1.
    """
    epsilon = checks.in_range("epsilon", epsilon, 0.0, _LARGEST_EPSILON)
    mu = checks.positive("mu", mu)
    value, error = _curve(epsilon, mu)
    return min(value + error, 1.0)


def epsilon_of_gaussian(delta: float, mu: float) -> float:
    """Return the smallest epsilon >= 0 for which mu-GDP implies (epsilon, delta)-DP, rounded up."""
    delta = _usable(delta)
    mu = checks.positive("mu", mu)
    if delta_of_gaussian(0.0, mu) <= delta:
        return 0.0
    high = 1.0
    while delta_of_gaussian(high, mu) > delta:
        high *= 2
    root = _root(lambda e: math.log(delta_of_gaussian(e, mu)) - math.log(delta), 0.0, high)
    return _first_safe(root, lambda e: delta_of_gaussian(e, mu) <= delta, up=True)


def mu_of(guarantee: Guarantee | GaussianDP) -> float:
    """Return the largest mu for which mu-GDP implies the guarantee, rounded down; exact for Gaussian noise."""
    if isinstance(guarantee, GaussianDP):
        return guarantee.mu
    if isinstance(guarantee, ZCDP):
        limit = Fraction(guarantee.rho)
        return _first_safe(math.sqrt(2 * guarantee.rho), lambda m: Fraction(m) ** 2 / 2 <= limit, up=False)
    if isinstance(guarantee, ApproxDP):
        return mu_of_curve(guarantee.epsilon, guarantee.delta)
    raise TypeError(f"Gaussian noise cannot give {guarantee}; ask for ApproxDP or ZCDP, or use Laplace noise.")


def mu_of_curve(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta(epsilon; mu) <= delta, rounded down.

    The margin of the curve is added twice, once more than in `delta_of_gaussian`, because the computed curve is not
    monotone in its last digits. So a mu that is one unit in the last place smaller still keeps the requested delta.
    """
    epsilon = checks.in_range("epsilon", epsilon, 0.0, _LARGEST_EPSILON)
    delta = _usable(delta)

    def cautious(m: float) -> float:
        value, error = _curve(epsilon, m)
        return value + 2 * error

    if epsilon == 0:
        from scipy.special import erfinv

        root = math.sqrt(8) * float(erfinv(delta))
    else:
        # At the low end the larger argument, mu/2 - epsilon/mu, is below -39; at the high end it is 40.
        low, high = min(1.0, epsilon) / 40, 40 + math.sqrt(1600 + 2 * epsilon)
        root = _root(lambda m: math.log(cautious(m)) - math.log(delta), low, high)
    return _first_safe(root, lambda m: cautious(m) <= delta, up=False)


def _usable(delta: float) -> float:
    """Return a delta that is large enough for floating point, or raise ValueError."""
    remedy = "Smaller values are lost in floating point; use PureDP for delta = 0."
    return checks.strictly_between("delta", delta, _SMALLEST_DELTA, 1.0, remedy)


def _root(f: Callable[[float], float], low: float, high: float, xtol: float = 1e-300) -> float:
    from scipy.optimize import brentq

    return brentq(f, low, high, xtol=xtol, rtol=1e-15, maxiter=1000)


def _first_safe(start: float, safe: Callable[[float], bool], *, up: bool) -> float:
    """Return a safe value close to ``start``, by steps in the given direction that begin at 1 ulp and double."""
    value, step = start, math.ulp(start)
    for _ in range(200):
        if safe(value):
            return value
        value = start + step if up else start - step
        step *= 2
    raise ArithmeticError(f"no safe value near {start}")


# --- conversions --------------------------------------------------------------------------------------------


def zcdp_to_approx(rho: float, delta: float, *, tight: bool = True) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that rho-zCDP implies, rounded up.

    Simple: rho + 2 sqrt(rho ln(1/delta)), Bun and Steinke 2016, Proposition 1.3. Tight: the smallest epsilon with min
    over a > 1 of exp((a-1)(a rho - epsilon))/(a-1) (1-1/a)^a <= delta, Canonne, Kamath and Steinke 2020, Corollary 13.
    """
    rho = checks.positive("rho", rho)
    delta = checks.strictly_between("delta", delta, 0.0, 1.0)
    log_delta = math.log(delta)
    simple = (rho + 2 * math.sqrt(-rho * log_delta)) * (1 + 1e-14)
    if not tight:
        return simple

    # Every order is valid, so a numerical minimiser that is slightly off still gives a true, merely weaker, statement.
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(
        epsilon_at_order, bounds=orders(rho, delta), args=(rho, delta), method="bounded", options={"xatol": 1e-10}
    )
    return max(0.0, min(simple, best.fun + 1e-13 * (1 + abs(best.fun))))


def epsilon_at_order(t: float, rho: float, delta: float) -> float:
    """Return the epsilon that the order a = 1 + e^t of rho-zCDP gives at delta.

    For a fixed order the condition is linear in epsilon. The formula is written so that nothing cancels where a is
    near 1. Reference: Canonne, Kamath and Steinke 2020, Corollary 13.
    """
    gap = math.exp(t)  # a - 1
    return (1 + gap) * rho + t - math.log(delta) / gap - (1 + gap) * math.log1p(gap) / gap


def orders(rho: float, delta: float) -> tuple[float, float]:
    """Return the range of t in which the best order of `epsilon_at_order` lies."""
    centre = math.log(max(math.sqrt(-math.log(delta) / rho), 1e-12))
    return centre - 12, centre + 12


# --- composing and grouping events --------------------------------------------------------------------------


def _ratio(event: Event) -> Fraction:
    return Fraction(event.sensitivity) / Fraction(event.scale)


def gaussian_square(events: tuple[Event, ...]) -> Fraction:
    """Return the exact sum of mu^2 over the Gaussian events."""
    return sum((_ratio(e) ** 2 for e in events if e.mechanism == "gaussian"), Fraction(0))


def pure_sum(events: tuple[Event, ...]) -> Fraction:
    """Return the exact sum of epsilon over the pure events."""
    return sum((_ratio(e) for e in events if e.pure), Fraction(0))


def zcdp_sum(events: tuple[Event, ...]) -> Fraction:
    """Return the exact sum of rho over the events: mu^2/2 of Gaussian ones, also discrete, epsilon^2/2 of pure ones.

    The exponential mechanism has epsilon^2/8, because its range is bounded (Cesar and Rogers 2021, Lemma 17).
    """
    total = gaussian_square(events) / 2
    for e in events:
        if e.pure:
            total += _ratio(e) ** 2 / (8 if e.mechanism == "exponential" else 2)
        elif e.mechanism == "discrete-gaussian":
            total += _ratio(e) ** 2 / 2
        elif e.mechanism != "gaussian":
            raise TypeError("Additive Wishart noise gives no zCDP; ask for ApproxDP.")
    return total


def _up(x: Fraction) -> float:
    f = float(x)
    return f if Fraction(f) >= x else math.nextafter(f, math.inf)


def compose(events: tuple[Event, ...], target: Guarantee) -> Guarantee | None:
    """Return the guarantee that the events give, in the kind that was asked for.

    Gaussian steps compose exactly (mu^2 adds) and pure steps add epsilon. A mixture under (epsilon, delta) is computed
    in both valid ways, the pure part with the Gaussian curve, and all of it as zCDP; the better result counts. With a
    discrete Gaussian step, all steps are composed as zCDP. A Wishart step has a curve of its own, and must be alone.
    """
    if not events or isinstance(target, NoPrivacy):
        return None
    wishart = [e for e in events if e.mechanism == "wishart"]
    mu2, pure = gaussian_square(events), pure_sum(events)
    discrete = any(e.mechanism == "discrete-gaussian" for e in events)
    if isinstance(target, PureDP):
        if mu2 or wishart or discrete:
            raise TypeError("Gaussian and additive Wishart noise give no pure DP; ask for ApproxDP or ZCDP.")
        return PureDP(_up(pure))
    if isinstance(target, ZCDP):
        return ZCDP(_up(zcdp_sum(events)))
    if wishart:
        if len(events) > 1:
            raise TypeError("Additive Wishart noise is accounted alone, not together with other steps.")
        delta = max(delta_of_wishart_event(wishart[0], target.epsilon), _SMALLEST_DELTA)
        # A delta of 1 guarantees nothing; the type ends just below, and the statement prints it as 1.
        return ApproxDP(target.epsilon, min(delta, math.nextafter(1.0, 0.0)))
    if discrete:
        return _through_zcdp(events, target)
    if not mu2:
        total = PureDP(_up(pure))
        return total if total.epsilon <= target.epsilon else _smaller(total, _through_zcdp(events, target))
    mu = math.nextafter(math.sqrt(_up(mu2)), math.inf) if len(events) > 1 else _up(_ratio(events[0]))
    remaining_epsilon = _down(max(Fraction(target.epsilon) - pure, Fraction(0)))
    if pure <= Fraction(target.epsilon) and delta_of_gaussian(remaining_epsilon, mu) <= target.delta:
        return ApproxDP(target.epsilon, delta_of_gaussian(remaining_epsilon, mu))
    direct = ApproxDP(_up(pure + Fraction(epsilon_of_gaussian(target.delta, mu))), target.delta)
    return direct if not pure else _smaller(direct, _through_zcdp(events, target))


def _through_zcdp(events: tuple[Event, ...], target: ApproxDP) -> ApproxDP:
    """Return the (epsilon, delta) statement of the events by way of zCDP, at the delta that was asked for."""
    rho = zcdp_sum(events)
    epsilon = max(zcdp_to_approx(_up(rho), target.delta), 1e-300)
    # The numerical conversion is not monotone in its last digits, so a smaller rho may give a larger epsilon. But a rho
    # below one that implies the pair implies it too, whatever the digits.
    if epsilon > target.epsilon and rho <= Fraction(approx_to_zcdp(target.epsilon, target.delta)):
        epsilon = target.epsilon
    return ApproxDP(epsilon, target.delta)


def _smaller(one: PureDP | ApproxDP, other: ApproxDP) -> PureDP | ApproxDP:
    return other if other.epsilon < one.epsilon else one


def actual_guarantee(events: tuple[Event, ...], target: Guarantee) -> Guarantee | None:
    """Return the guarantee that the events give when the claim may be false, as for a published calibration.

    Like `compose`, but where pure DP was claimed and the steps give none, the result is their (epsilon, delta).
    """
    try:
        return compose(events, target)
    except TypeError:
        if isinstance(target, PureDP):
            return compose(events, ApproxDP(target.epsilon, 0.5))
        raise


def covers(target: Guarantee, actual: Guarantee | None) -> bool:
    """Return True when ``actual``, from `compose`, is at least as strong as ``target``."""
    if actual is None or isinstance(target, NoPrivacy):
        return actual is None
    if isinstance(target, ZCDP):
        return isinstance(actual, ZCDP) and actual.rho <= target.rho
    if isinstance(actual, PureDP):
        return actual.epsilon <= target.epsilon
    if not (isinstance(target, ApproxDP) and isinstance(actual, ApproxDP)):
        return False
    return actual.epsilon <= target.epsilon and actual.delta <= target.delta


def group_privacy(guarantee: Given, k: int) -> Given:
    """Return the guarantee for k rows of one person, all of which may change, rounded up.

    PureDP: k epsilon. ZCDP: k^2 rho. GaussianDP: k mu. ApproxDP: (k epsilon, delta (e^{k epsilon}-1)/(e^epsilon-1)).
    """
    k = checks.integer("k", k, 1)
    if k == 1:
        return guarantee
    if isinstance(guarantee, PureDP):
        return PureDP(_up(k * Fraction(guarantee.epsilon)))
    if isinstance(guarantee, ZCDP):
        return ZCDP(_up(k * k * Fraction(guarantee.rho)))
    if isinstance(guarantee, GaussianDP):
        return GaussianDP(_up(k * Fraction(guarantee.mu)))
    if isinstance(guarantee, ApproxDP):
        e = guarantee.epsilon
        log_delta = math.log(guarantee.delta) + (k - 1) * e + math.log(math.expm1(-k * e) / math.expm1(-e))
        delta = math.exp(min(log_delta, 0.0)) * (1 + 1e-12)
        if delta >= 1:
            raise ValueError(
                f"A group of k={k} rows has no guarantee from {guarantee} alone (its delta would reach 1). "
                "Ask for ZCDP, or start from a smaller epsilon."
            )
        return ApproxDP(_up(k * Fraction(e)), delta)
    raise TypeError(f"{guarantee} has no group form")


def self_compose(guarantee: Given, k: int) -> Given:
    """Return the guarantee of k releases with the same guarantee from the same rows, rounded up.

    PureDP and ApproxDP add epsilon and delta (basic composition), ZCDP adds rho, GaussianDP adds mu^2.
    """
    k = checks.integer("k", k, 1)
    if isinstance(guarantee, PureDP):
        return PureDP(_up(k * Fraction(guarantee.epsilon)))
    if isinstance(guarantee, ZCDP):
        return ZCDP(_up(k * Fraction(guarantee.rho)))
    if isinstance(guarantee, GaussianDP):
        square = k * Fraction(guarantee.mu) ** 2
        return GaussianDP(_first_safe(guarantee.mu * math.sqrt(k), lambda m: Fraction(m) ** 2 >= square, up=True))
    if isinstance(guarantee, ApproxDP):
        delta = _up(k * Fraction(guarantee.delta))
        if delta >= 1:
            raise ValueError(
                f"Over {k:,} releases the deltas add up to {delta:.3g}, and a delta of 1 promises nothing. "
                "Use a smaller delta or fewer releases, or account in zCDP."
            )
        return ApproxDP(_up(k * Fraction(guarantee.epsilon)), delta)
    raise TypeError(f"{guarantee} cannot be given several times")


# --- additive Wishart noise ---------------------------------------------------------------------------------


def delta_of_wishart_event(event: Event, epsilon: float) -> float:
    """Return delta at epsilon of S + W_d(m, C I) under replace-one, rounded up."""
    # Beyond 500 e^epsilon would overflow. Delta falls with epsilon, so its value at 500 is a bound.
    return wishart_delta(min(epsilon, 500.0), event.freedom, _up(_ratio(event)))


# --- splitting ----------------------------------------------------------------------------------------------


def split(guarantee: BudgetShare, **weights: float) -> dict[str, BudgetShare]:
    """Return named shares whose exact composition never exceeds the whole.

    PureDP shares add in epsilon, ZCDP shares in rho, and those of ApproxDP, converted once to GaussianDP, in mu^2.
    """
    total = sum((Fraction(checks.positive(f"weight of {k}", w)) for k, w in weights.items()), Fraction(0))
    parts = {k: Fraction(w) / total for k, w in weights.items()}
    if isinstance(guarantee, NoPrivacy) or len(parts) == 1:
        return dict.fromkeys(parts, guarantee)
    if isinstance(guarantee, PureDP):
        return {k: PureDP(_down(p * Fraction(guarantee.epsilon))) for k, p in parts.items()}
    if isinstance(guarantee, ZCDP):
        return {k: ZCDP(_down(p * Fraction(guarantee.rho))) for k, p in parts.items()}
    whole = Fraction(mu_of(guarantee)) ** 2
    return {k: GaussianDP(_root_down(p * whole)) for k, p in parts.items()}


def _root_down(square: Fraction) -> float:
    """Return the largest float near the root whose square does not exceed ``square``."""
    return _first_safe(math.sqrt(square), lambda m: Fraction(m) ** 2 <= square, up=False)


def split_mixed(guarantee: Guarantee, **weights: float) -> dict[str, BudgetShare]:
    """Return shares for a method that mixes Gaussian and pure steps: PureDP shares of PureDP, else ZCDP shares.

    An ApproxDP whole is converted into the largest rho whose tight conversion stays within it.
    """
    if isinstance(guarantee, ApproxDP):
        guarantee = ZCDP(approx_to_zcdp(guarantee.epsilon, guarantee.delta))
    return split(guarantee, **weights)


@lru_cache(maxsize=1024)
def approx_to_zcdp(epsilon: float, delta: float) -> float:
    """Return the largest rho whose zCDP implies (epsilon, delta)-DP by the tight conversion, rounded down."""
    epsilon = checks.positive("epsilon", epsilon)
    high = 1.0
    while zcdp_to_approx(high, delta) <= epsilon:
        high *= 2
    low = high
    while zcdp_to_approx(low, delta) > epsilon:
        low /= 2
    root = _root(lambda t: zcdp_to_approx(math.exp(t), delta) - epsilon, math.log(low), math.log(high), xtol=1e-13)
    return _first_safe(math.exp(root), lambda r: zcdp_to_approx(r, delta) <= epsilon, up=False)


def pure_epsilon(share: BudgetShare, *, exponential: bool = False) -> float:
    """Return the epsilon of a pure step; for ZCDP sqrt(2 rho), exponential mechanism sqrt(8 rho)."""
    if isinstance(share, NoPrivacy):
        return math.inf
    if isinstance(share, PureDP):
        return share.epsilon
    if isinstance(share, ZCDP):
        return mu_of(share) * (2 if exponential else 1)
    raise TypeError(f"a pure step cannot be calibrated to {share}")


def _down(x: Fraction) -> float:
    f = float(x)
    return f if Fraction(f) <= x else math.nextafter(f, 0.0)


# --- from a share to a noise scale --------------------------------------------------------------------------


def gaussian_scale(share: BudgetShare, sensitivity: float) -> float:
    """Return the standard deviation of Gaussian noise that spends a share."""
    if isinstance(share, NoPrivacy):
        return 0.0
    limit = Fraction(mu_of(share))
    delta2 = Fraction(checks.positive("sensitivity", sensitivity))
    return _smallest_scale(share, delta2, limit)


def laplace_scale(share: BudgetShare, sensitivity: float) -> float:
    """Return the scale of Laplace noise that spends a share; the delta of an ApproxDP stays unused."""
    if isinstance(share, NoPrivacy):
        return 0.0
    if isinstance(share, (PureDP, ApproxDP)):
        limit = Fraction(share.epsilon)
    elif isinstance(share, ZCDP):
        limit = Fraction(mu_of(share))  # sqrt(2 rho), the same number
    else:
        raise TypeError(f"Laplace noise cannot be calibrated to {share}")
    delta1 = Fraction(checks.positive("sensitivity", sensitivity))
    return _smallest_scale(share, delta1, limit)


def _smallest_scale(share: BudgetShare, sensitivity: Fraction, limit: Fraction) -> float:
    """Return the smallest scale near sensitivity / limit at which their quotient does not exceed the limit."""
    start = float(sensitivity) / float(limit)
    if start > _LARGEST_SCALE:
        raise ValueError(f"{share} needs a noise scale above 1e300, which is never drawn. Ask for a weaker guarantee.")
    return _first_safe(start, lambda s: sensitivity / Fraction(s) <= limit, up=True)


def classical_gaussian_scale(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return the textbook scale sensitivity * sqrt(2 ln(1.25/delta)) / epsilon, proved for epsilon < 1 only.

    Reference: Dwork and Roth 2014, Theorem A.1.
    """
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


# --- the attacker's success ---------------------------------------------------------------------------------


def attacker_success(guarantee: Guarantee | GaussianDP | None) -> float:
    """Return the best possible probability of guessing which of two equally likely neighbours is the actual one.

    It is (1 + TV)/2, where TV is the total variation distance between the two distributions of the answer.

    GaussianDP: Phi(mu/2), exact for Gaussian noise. PureDP: e^eps/(1+e^eps). ApproxDP: (e^eps + delta)/(1+e^eps), which
    is tight.

    ZCDP: an upper bound, the smaller of two. The first is 1/2 + sqrt(rho/8). The Renyi divergence of order a > 1 is at
    most a rho, so its limit at a = 1, the Kullback-Leibler divergence, is at most rho, and TV <= sqrt(rho/2) (Pinsker).
    The second is the smallest bound that follows from the (epsilon, delta) curve, better from about rho = 1.3 on.

    Reference: Kairouz, Oh and Viswanath 2015, Theorem 2.1; Dong, Roth and Su 2022, Section 2.
    """
    if guarantee is None:
        return 0.5
    if isinstance(guarantee, NoPrivacy):
        return 1.0
    if isinstance(guarantee, GaussianDP):
        from scipy.special import log_ndtr

        return float(np.exp(log_ndtr(guarantee.mu / 2)))
    if isinstance(guarantee, PureDP):
        return 1 / (1 + math.exp(-guarantee.epsilon))
    if isinstance(guarantee, ApproxDP):
        tail = math.exp(-guarantee.epsilon)
        return min(1.0, (1 + guarantee.delta * tail) / (1 + tail))
    by_pinsker = 0.5 + math.sqrt(guarantee.rho / 8)
    if guarantee.rho <= _PINSKER:
        return by_pinsker
    by_pairs = (
        attacker_success(ApproxDP(max(zcdp_to_approx(guarantee.rho, d), 1e-300), d))
        for d in np.logspace(-12, math.log10(0.5), 60)
    )
    return min(by_pinsker, *by_pairs)


_PINSKER = 1.2  # rho to which the curve gives nothing better


def trade_off_of(events: tuple[Event, ...], target: Guarantee) -> Guarantee | GaussianDP | None:
    """Return the tightest known guarantee of the events, from which an attacker's success follows."""
    if not events:
        return target if isinstance(target, NoPrivacy) else None
    mu2 = gaussian_square(events)
    if any(e.mechanism == "discrete-gaussian" for e in events):
        return ZCDP(_up(zcdp_sum(events)))
    if mu2 and not pure_sum(events):
        return GaussianDP(math.sqrt(_up(mu2)))
    return actual_guarantee(events, target)


def attacker_on_events(events: tuple[Event, ...], target: Guarantee) -> float:
    """Return `attacker_success` for the events: exact when every step is continuous Gaussian noise."""
    return attacker_success(trade_off_of(events, target))
