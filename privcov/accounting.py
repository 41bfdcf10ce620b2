"""Calibrate, convert, compose, split and group. Every answer is rounded to the safe side.

Safe side means: a noise scale is never too small and a reported guarantee never too strong, also after
floating-point error. Exact sums are done with ``fractions.Fraction``; special functions get a margin that
is wider than their error (see ``_MARGIN``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from privcov import checks
from privcov.privacy import ApproxDP, BudgetShare, Event, GaussianDP, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.wishart_curve import wishart_delta

# The Gaussian curve is a difference of two terms. Against 60 digits its error stayed below 1e-15 times
# e^a (1 + |a| + epsilon), see `_curve`; the margin is five times that.
_MARGIN = 5e-15
# Below e^_LOG_TINY the curve is only bounded (by _TINY); a delta down there is not accepted.
_LOG_TINY, _TINY, _SMALLEST_DELTA = -690.0, 1e-299, 1e-290
_LARGEST_EPSILON = 1e12
_LARGEST_SCALE = 1e300

_Claim = PureDP | ApproxDP | ZCDP | GaussianDP
# What comes out is of the kind that went in.
Given = TypeVar("Given", PureDP, ApproxDP, ZCDP, GaussianDP, _Claim, Guarantee | GaussianDP)


# --- the exact Gaussian curve -------------------------------------------------------------------------------


def _curve(epsilon: float, mu: float) -> tuple[float, float]:
    """(value, bound on its error) of delta(epsilon; mu) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
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
    """Smallest delta such that Gaussian noise with sensitivity/scale = mu is (epsilon, delta)-DP, rounded up.

    Valid for every epsilon >= 0. Balle and Wang (2018), Theorem 8; Dong, Roth and Su (2022), Corollary 1.
    """
    epsilon = checks.in_range("epsilon", epsilon, 0.0, _LARGEST_EPSILON)
    mu = checks.positive("mu", mu)
    value, error = _curve(epsilon, mu)
    return min(value + error, 1.0)


def epsilon_of_gaussian(delta: float, mu: float) -> float:
    """Smallest epsilon >= 0 such that mu-GDP implies (epsilon, delta)-DP, rounded up."""
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
    """Largest mu such that mu-GDP implies the guarantee, rounded down. Exact for Gaussian noise.

    TypeError for PureDP and NoPrivacy, which no Gaussian noise gives.
    """
    if isinstance(guarantee, GaussianDP):
        return guarantee.mu
    if isinstance(guarantee, ZCDP):
        limit = Fraction(guarantee.rho)
        return _first_safe(math.sqrt(2 * guarantee.rho), lambda m: Fraction(m) ** 2 / 2 <= limit, up=False)
    if isinstance(guarantee, ApproxDP):
        return mu_of_curve(guarantee.epsilon, guarantee.delta)
    raise TypeError(f"Gaussian noise cannot give {guarantee}; ask for ApproxDP or ZCDP, or use Laplace noise.")


def mu_of_curve(epsilon: float, delta: float) -> float:
    """Largest mu with delta(epsilon; mu) <= delta, for every epsilon >= 0 and 0 < delta < 1, rounded down.

    Keeps the margin of the curve twice, once more than `delta_of_gaussian` adds: the curve wiggles in its
    last digits, and a mu one unit in the last place smaller must not read as a larger delta than was asked.
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
    remedy = "Smaller values are lost in floating point; use PureDP for delta = 0."
    return checks.strictly_between("delta", delta, _SMALLEST_DELTA, 1.0, remedy)


def _root(f: Callable[[float], float], low: float, high: float, xtol: float = 1e-300) -> float:
    from scipy.optimize import brentq

    return brentq(f, low, high, xtol=xtol, rtol=1e-15, maxiter=1000)


def _first_safe(start: float, safe: Callable[[float], bool], *, up: bool) -> float:
    """The value nearest to ``start`` in the given direction that is safe, by growing steps from 1 ulp."""
    value, step = start, math.ulp(start)
    for _ in range(200):
        if safe(value):
            return value
        value = start + step if up else start - step
        step *= 2
    raise ArithmeticError(f"no safe value near {start}")


# --- conversions --------------------------------------------------------------------------------------------


def zcdp_to_approx(rho: float, delta: float, *, tight: bool = True) -> float:
    """Epsilon of the (epsilon, delta)-DP that rho-zCDP implies, rounded up.

    simple: rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016, Proposition 1.3).
    tight:  smallest epsilon with min over a > 1 of exp((a-1)(a rho - epsilon))/(a-1) (1-1/a)^a <= delta
            (Canonne, Kamath and Steinke 2020, Corollary 13).
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
    """The epsilon that the order a = 1 + e^t of rho-zCDP gives at delta.

    Canonne, Kamath and Steinke (2020), Corollary 13. For a fixed order the condition is linear in epsilon. Written so
    that nothing cancels for a near 1.
    """
    gap = math.exp(t)  # a - 1
    return (1 + gap) * rho + t - math.log(delta) / gap - (1 + gap) * math.log1p(gap) / gap


def orders(rho: float, delta: float) -> tuple[float, float]:
    """The range of t in which the best order of `epsilon_at_order` lies."""
    centre = math.log(max(math.sqrt(-math.log(delta) / rho), 1e-12))
    return centre - 12, centre + 12


def pure_to_zcdp(epsilon: float) -> float:
    """epsilon-DP implies (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4), rounded up."""
    epsilon = checks.positive("epsilon", epsilon)
    return math.nextafter(epsilon * epsilon / 2, math.inf)


def to_approx(guarantee: Guarantee | GaussianDP, delta: float) -> ApproxDP | PureDP:
    """The (epsilon, delta) statement a guarantee implies. PureDP stays as it is (delta 0 is stronger)."""
    if isinstance(guarantee, PureDP):
        return guarantee
    if isinstance(guarantee, ZCDP):
        epsilon = zcdp_to_approx(guarantee.rho, delta)
    elif isinstance(guarantee, GaussianDP):
        epsilon = epsilon_of_gaussian(delta, guarantee.mu)
    elif isinstance(guarantee, ApproxDP) and guarantee.delta <= delta:
        epsilon = guarantee.epsilon
    else:
        raise TypeError(
            f"{guarantee} does not say anything at delta={delta:g}: an (epsilon, delta) pair cannot be moved "
            "to a smaller delta without knowing the mechanism. Convert the events instead."
        )
    return ApproxDP(max(epsilon, 1e-300), delta)


# --- composing and grouping events --------------------------------------------------------------------------


def gaussian_square(events: tuple[Event, ...]) -> Fraction:
    """Exact sum of mu^2 over the Gaussian events."""
    return sum(
        ((Fraction(e.sensitivity) / Fraction(e.scale)) ** 2 for e in events if e.mechanism == "gaussian"),
        Fraction(0),
    )


def pure_sum(events: tuple[Event, ...]) -> Fraction:
    """Exact sum of epsilon over the pure events."""
    return sum((Fraction(e.sensitivity) / Fraction(e.scale) for e in events if e.pure), Fraction(0))


def zcdp_sum(events: tuple[Event, ...]) -> Fraction:
    """Exact sum of rho. Gaussian, also discrete, mu^2/2; exponential mechanism epsilon^2/8 (bounded range: Cesar and
    Rogers 2021, Lemma 17); other pure events epsilon^2/2. Raises TypeError for a mechanism without zCDP."""
    total = gaussian_square(events) / 2
    for e in events:
        if e.pure:
            step = Fraction(e.sensitivity) / Fraction(e.scale)
            total += step * step / (8 if e.mechanism == "exponential" else 2)
        elif e.mechanism == "discrete-gaussian":
            total += (Fraction(e.sensitivity) / Fraction(e.scale)) ** 2 / 2
        elif e.mechanism != "gaussian":
            raise TypeError("Additive Wishart noise gives no zCDP; ask for ApproxDP.")
    return total


def _up(x: Fraction) -> float:
    f = float(x)
    return f if Fraction(f) >= x else math.nextafter(f, math.inf)


def compose(events: tuple[Event, ...], asked: Guarantee) -> Guarantee | None:
    """What the events really give, in the kind that was asked for; None when nothing was measured.

    Gaussian steps compose exactly (mu^2 adds) and pure steps add epsilon. A mixture under (epsilon, delta) is read
    both ways that are valid, the pure part first and then the Gaussian curve, and all of it as zCDP; the better one
    counts. Discrete Gaussian steps are read as zCDP, with all the others. One Wishart step is read off its own curve.
    Raises TypeError when the events cannot give that kind at all.
    """
    if not events or isinstance(asked, NoPrivacy):
        return None
    wishart = [e for e in events if e.mechanism == "wishart"]
    mu2, pure = gaussian_square(events), pure_sum(events)
    discrete = any(e.mechanism == "discrete-gaussian" for e in events)
    if isinstance(asked, PureDP):
        if mu2 or wishart or discrete:
            raise TypeError("Gaussian and additive Wishart noise give no pure DP; ask for ApproxDP or ZCDP.")
        return PureDP(_up(pure))
    if isinstance(asked, ZCDP):
        return ZCDP(_up(zcdp_sum(events)))
    if wishart:
        if len(events) > 1:
            raise TypeError("Additive Wishart noise is accounted alone, not together with other steps.")
        delta = max(delta_of_wishart_event(wishart[0], asked.epsilon), _SMALLEST_DELTA)
        # A delta of 1 promises nothing; the type ends just below, and the statement prints it as 1.
        return ApproxDP(asked.epsilon, min(delta, math.nextafter(1.0, 0.0)))
    if discrete:
        return _through_zcdp(events, asked)
    if not mu2:
        found = PureDP(_up(pure))
        return found if found.epsilon <= asked.epsilon else _smaller(found, _through_zcdp(events, asked))
    mu = math.nextafter(math.sqrt(_up(mu2)), math.inf) if len(events) > 1 else _single_mu(events[0])
    left = _down(max(Fraction(asked.epsilon) - pure, Fraction(0)))
    if pure <= Fraction(asked.epsilon) and delta_of_gaussian(left, mu) <= asked.delta:
        return ApproxDP(asked.epsilon, delta_of_gaussian(left, mu))
    direct = ApproxDP(_up(pure + Fraction(epsilon_of_gaussian(asked.delta, mu))), asked.delta)
    return direct if not pure else _smaller(direct, _through_zcdp(events, asked))


def _through_zcdp(events: tuple[Event, ...], asked: ApproxDP) -> ApproxDP:
    rho = zcdp_sum(events)
    epsilon = max(zcdp_to_approx(_up(rho), asked.delta), 1e-300)
    # The numerical conversion wiggles in its last digits, so a smaller rho may read as a larger epsilon; that a rho
    # below one that implies the pair implies it as well needs no digits.
    if epsilon > asked.epsilon and rho <= Fraction(approx_to_zcdp(asked.epsilon, asked.delta)):
        epsilon = asked.epsilon
    return ApproxDP(epsilon, asked.delta)


def _smaller(one: PureDP | ApproxDP, other: ApproxDP) -> PureDP | ApproxDP:
    """The statement with the smaller epsilon, the first when equal."""
    return other if other.epsilon < one.epsilon else one


def actual_guarantee(events: tuple[Event, ...], asked: Guarantee) -> Guarantee | None:
    """What the events give when the claim may be false, as for a published calibration.

    Like `compose`, but an additive Wishart step under a pure claim is answered with the (epsilon, delta) it has.
    """
    try:
        return compose(events, asked)
    except TypeError:
        if isinstance(asked, PureDP):
            return compose(events, ApproxDP(asked.epsilon, 0.5))
        raise


def _single_mu(event: Event) -> float:
    return _up(Fraction(event.sensitivity) / Fraction(event.scale))


def covers(asked: Guarantee, given: Guarantee | None) -> bool:
    """True when ``given`` (from `compose`) is at least as strong as ``asked``."""
    if given is None or isinstance(asked, NoPrivacy):
        return given is None
    if isinstance(asked, ZCDP):
        return isinstance(given, ZCDP) and given.rho <= asked.rho
    if isinstance(given, PureDP):
        return given.epsilon <= asked.epsilon
    if not (isinstance(asked, ApproxDP) and isinstance(given, ApproxDP)):
        return False
    return given.epsilon <= asked.epsilon and given.delta <= asked.delta


def group(guarantee: Given, k: int) -> Given:
    """The guarantee for k rows of one person (replace k rows).

    PureDP k*epsilon; ZCDP k^2*rho; GaussianDP k*mu; ApproxDP, knowing no more than the pair,
    (k*epsilon, delta (e^{k epsilon}-1)/(e^epsilon-1)). Raises ValueError when that delta reaches 1:
    then the pair says nothing about the group, and the events have to be converted instead.
    """
    k = checks.whole("k", k, 1)
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
    """The same guarantee given k times on the same rows, rounded up.

    PureDP and ApproxDP add epsilon and delta (basic composition), ZCDP adds rho, GaussianDP adds mu^2.
    Raises ValueError when the deltas add up to 1 or more.
    """
    k = checks.whole("k", k, 1)
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
    """Delta at epsilon of S + W_d(m, C I) under replace-one, rounded up; C = scale / 2, freedom = m - d + 1."""
    # Beyond 500 e^epsilon overflows; delta falls with epsilon, so the one there is a bound.
    return wishart_delta(min(epsilon, 500.0), event.freedom, _up(Fraction(event.sensitivity) / Fraction(event.scale)))


# --- splitting ----------------------------------------------------------------------------------------------


def split(guarantee: BudgetShare, **weights: float) -> dict[str, BudgetShare]:
    """Named shares whose composition never exceeds the whole, also in exact arithmetic.

    PureDP shares add in epsilon and ZCDP shares in rho. An ApproxDP whole is opened once into mu-GDP and
    its shares (GaussianDP) add in mu^2. NoPrivacy splits into NoPrivacy.
    weights: positive, any sum; a single weight receives the whole.
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
    return _first_safe(math.sqrt(square), lambda m: Fraction(m) ** 2 <= square, up=False)


def split_mixed(guarantee: Guarantee, **weights: float) -> dict[str, BudgetShare]:
    """Shares for a method that mixes Gaussian and pure steps: PureDP shares of PureDP, else ZCDP shares.

    An ApproxDP whole is opened into the largest rho whose tight conversion stays within it.
    """
    if isinstance(guarantee, ApproxDP):
        guarantee = ZCDP(approx_to_zcdp(guarantee.epsilon, guarantee.delta))
    return split(guarantee, **weights)


def approx_to_zcdp(epsilon: float, delta: float) -> float:
    """Largest rho whose zCDP implies (epsilon, delta)-DP by the tight conversion, rounded down."""
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
    """Epsilon a pure step may spend of a share: PureDP epsilon; ZCDP sqrt(2 rho), or sqrt(8 rho) for an exponential
    mechanism. Infinite for NoPrivacy."""
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
    """Standard deviation of Gaussian noise for a statistic of this l2 sensitivity; 0 for NoPrivacy."""
    if isinstance(share, NoPrivacy):
        return 0.0
    limit = Fraction(mu_of(share))
    delta2 = Fraction(checks.positive("sensitivity", sensitivity))
    return _smallest_scale(share, delta2, limit)


def laplace_scale(share: BudgetShare, sensitivity: float) -> float:
    """Scale of Laplace noise for a statistic of this l1 sensitivity; 0 for NoPrivacy.

    Accepts PureDP; ApproxDP spends its epsilon (delta stays unused); ZCDP spends epsilon = sqrt(2 rho).
    """
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
    """The smallest scale near sensitivity / limit at which their quotient does not exceed the limit."""
    start = float(sensitivity) / float(limit)
    if start > _LARGEST_SCALE:
        raise ValueError(f"{share} needs a noise scale above 1e300, which is never drawn. Ask for a weaker guarantee.")
    return _first_safe(start, lambda s: sensitivity / Fraction(s) <= limit, up=True)


def classical_gaussian_scale(epsilon: float, delta: float, sensitivity: float) -> float:
    """The textbook scale sensitivity * sqrt(2 ln(1.25/delta)) / epsilon, proved for epsilon < 1 only.

    For comparison and for as-published calibrations; what it really gives is `delta_of_gaussian`.
    Dwork and Roth (2014), Theorem A.1.
    """
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


# --- what an attacker can do --------------------------------------------------------------------------------


def attacker_success(guarantee: Guarantee | GaussianDP | None) -> float:
    """Best possible probability of guessing which of two equally likely neighbours is the real one.

    0.5 is no information. Exact for Gaussian noise (mu-GDP): Phi(mu/2). For PureDP e^eps/(1+e^eps); for
    ApproxDP the tight (e^eps + delta)/(1+e^eps). The success is (1 + TV)/2, TV the total variation of the two laws.
    For ZCDP an upper bound, the smaller of two. The Renyi divergence of order a > 1 is at most a rho, so its limit at
    a = 1, the Kullback-Leibler divergence, is at most rho, and TV <= sqrt(rho/2) (Pinsker): 1/2 + sqrt(rho/8). And
    the smallest of the bounds that follow from its (epsilon, delta) curve, the better one from about rho = 1.4 on.
    Kairouz, Oh and Viswanath (2015), Theorem 2.1; Dong, Roth and Su (2022), Section 2.
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
    by_pairs = (
        attacker_success(ApproxDP(max(zcdp_to_approx(guarantee.rho, d), 1e-300), d))
        for d in np.logspace(-12, math.log10(0.5), 60)
    )
    return min(0.5 + math.sqrt(guarantee.rho / 8), *by_pairs)


def attacker_on_events(events: tuple[Event, ...], asked: Guarantee) -> float:
    """`attacker_success` from the events themselves: exact when every step is Gaussian."""
    if not events:
        return attacker_success(asked if isinstance(asked, NoPrivacy) else None)
    mu2 = gaussian_square(events)
    if any(e.mechanism == "discrete-gaussian" for e in events):
        return attacker_success(ZCDP(_up(zcdp_sum(events))))
    if mu2 and not pure_sum(events):
        return attacker_success(GaussianDP(math.sqrt(_up(mu2))))
    return attacker_success(actual_guarantee(events, asked))
