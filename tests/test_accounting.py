"""Accounting: exact where it can be, on the safe side everywhere, and equal to two other sources.

The truth is computed here with mpmath at 50 digits. Nothing in this file draws noise.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcov.attacks.bounds import allowed_difference
from privcov.attacks.disclosure import true_positive_rate
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, Event, GaussianDP, NoPrivacy, PureDP, ZCDP

mpmath.mp.dps = 50
many = settings(max_examples=200, deadline=None, derandomize=True)

epsilons = st.floats(-3, 2).map(lambda x: 10**x)
deltas = st.floats(-12, -0.3).map(lambda x: 10**x)
sensitivities = st.floats(-6, 4).map(lambda x: 10**x)
approx = st.builds(ApproxDP, epsilons, deltas)
weights = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6)

# The printed noise (classical, for sensitivity 1/n) breaks its claim under replace-one
# (sensitivity sqrt(2)/n) from this epsilon on. For delta 1e-5 the reference printed 0.37; it is 0.36473.
# B(iv): the classical scale itself is valid up to this epsilon.
TABLE_B_I = {1 / 50: 2.07, 1 / 100: 1.88, 1 / 200: 1.69, 1 / 400: 1.50, 1e-3: 1.25, 1e-4: 0.73, 1e-5: 0.36, 1e-6: 0.16}
TABLE_B_IV = {
    0.05: 6.11,
    0.01: 6.77,
    1 / 200: 7.00,
    1 / 400: 7.21,
    1e-3: 7.46,
    1e-4: 7.99,
    1e-5: 8.42,
    1e-6: 8.78,
    1e-10: 9.85,
}


def true_delta(epsilon, mu):
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    if mu == 0:
        return mpmath.mpf(0)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def gaussian(sensitivity, scale, share="a"):
    return Event(share, "x", "gaussian", "l2", sensitivity, scale, "here")


def laplace(sensitivity, scale, share="a"):
    return Event(share, "x", "laplace", "l1", sensitivity, scale, "here")


# --- the curve ----------------------------------------------------------------------------------------------


@many
@given(epsilon=st.one_of(st.just(0.0), st.floats(-2, 3).map(lambda x: 10**x)), z=st.floats(-8.2, 6))
def test_curve_is_above_the_truth_and_close(epsilon, z):
    # z = mu/2 - epsilon/mu reaches from deltas of 1e-15 to deltas near 1.
    mu = z + math.sqrt(z * z + 2 * epsilon) if epsilon else 10**z
    ours, truth = mpmath.mpf(accounting.delta_of_gaussian(epsilon, mu)), true_delta(epsilon, mu)
    assert ours >= truth or ours == 1
    if truth >= 1e-15:
        assert ours <= truth * (1 + mpmath.mpf("1e-9"))


@pytest.mark.parametrize(("epsilon", "mu"), [(1.0, 0.01), (1e5, 1e-305), (1e-9, 1e-12), (50.0, 1e-3)])
def test_curve_never_rounds_down_to_zero(epsilon, mu):
    assert 0 < accounting.delta_of_gaussian(epsilon, mu) <= 1e-290
    given_guarantee = accounting.compose((gaussian(mu, 1.0),), ApproxDP(epsilon, 1e-5))
    assert accounting.covers(ApproxDP(epsilon, 1e-5), given_guarantee)


def test_curve_at_epsilon_zero_is_the_total_variation_distance():
    for mu in (1e-15, 1e-9, 1e-3, 0.5, 1.0, 5.0):
        truth = mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))
        assert truth <= accounting.delta_of_gaussian(0.0, mu) <= truth * (1 + 1e-13)


@many
@given(epsilon=st.one_of(st.just(0.0), st.floats(-6, 5).map(lambda x: 10**x)), exponent=st.floats(-15, -1e-3))
def test_largest_mu_is_safe_and_largest(epsilon, exponent):
    delta = 10**exponent
    mu = accounting.mu_of_curve(epsilon, delta)
    assert true_delta(epsilon, mu) <= delta
    if epsilon == 0 or epsilon >= 0.01:
        assert true_delta(epsilon, mu * (1 + 1e-8)) > delta


def test_delta_is_added_and_is_no_probability_of_an_exception():
    """With Gaussian noise at (1, 1e-6) the loss exceeds 1 in 20 times delta, and yet P(A) <= e P'(A) + delta."""
    mu, cut = accounting.mu_of(ApproxDP(1.0, 1e-6)), np.linspace(-10, 10, 20_001)
    beyond = statistics.NormalDist().cdf((mu**2 / 2 - 1.0) / mu)
    assert beyond == pytest.approx(20e-6, rel=0.02)
    excess = [statistics.NormalDist().cdf(mu - t) - math.e * statistics.NormalDist().cdf(-t) for t in cut]
    assert max(excess) <= 1e-6


@many
@given(delta=deltas, mu=st.floats(-3, 2).map(lambda x: 10**x))
def test_smallest_epsilon_is_safe_and_smallest(delta, mu):
    epsilon = accounting.epsilon_of_gaussian(delta, mu)
    assert true_delta(epsilon, mu) <= delta
    if epsilon > 1e-3:
        assert true_delta(epsilon * (1 - 1e-8), mu) > delta


@many
@given(asked=approx)
def test_the_two_inverses_agree(asked):
    mu = accounting.mu_of(asked)
    back = accounting.epsilon_of_gaussian(asked.delta, mu)
    assert back <= asked.epsilon
    assert back == pytest.approx(asked.epsilon, rel=1e-7, abs=1e-9)


def test_curve_is_monotone_and_goes_to_its_limits():
    mus = np.geomspace(0.05, 30, 40)
    for epsilon in (0.0, 0.1, 1.0, 10.0):
        assert np.all(np.diff([accounting.delta_of_gaussian(epsilon, m) for m in mus]) >= 0)
    for mu in (0.1, 1.0, 10.0):
        assert np.all(np.diff([accounting.delta_of_gaussian(e, mu) for e in np.linspace(0, 20, 40)]) <= 0)
    assert accounting.delta_of_gaussian(1.0, 200.0) == pytest.approx(1.0)


def test_large_groups_and_large_epsilons_have_numbers_too():
    # For a large mu: epsilon = mu^2/2 + mu z, with Phi(-z) about delta.
    expected = 3000**2 / 2 + 4.2649 * 3000
    assert accounting.epsilon_of_gaussian(1e-5, 3000.0) == pytest.approx(expected, rel=1e-5)
    mu = accounting.mu_of(ApproxDP(1e6, 1e-5))
    assert true_delta(1e6, mu) <= 1e-5 < true_delta(1e6, mu * (1 + 1e-6))


@pytest.mark.parametrize("delta", [1e-300, 0.0, 1.0, -0.1])
def test_impossible_deltas_are_refused_in_a_sentence(delta):
    with pytest.raises(ValueError, match="delta must be"):
        accounting.epsilon_of_gaussian(delta, 1.0)
    with pytest.raises(ValueError, match="delta must be"):
        accounting.mu_of_curve(1.0, delta)


# --- against the published tables and the other library -----------------------------------------------------


def _break_even(delta, sensitivity):
    """Epsilon where classical noise for sensitivity 1 stops covering the given sensitivity, by bisection."""
    low, high = 1e-3, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        mu = sensitivity / accounting.classical_gaussian_scale(middle, delta, 1.0)
        low, high = (middle, high) if accounting.delta_of_gaussian(middle, mu) <= delta else (low, middle)
    return low


@pytest.mark.parametrize(("delta", "printed"), TABLE_B_I.items())
def test_table_b_i(delta, printed):
    assert round(_break_even(delta, math.sqrt(2)), 2) == printed


@pytest.mark.parametrize(("delta", "printed"), TABLE_B_IV.items())
def test_table_b_iv(delta, printed):
    assert round(_break_even(delta, 1.0), 2) == printed


def test_examples_of_the_reference():
    def actual_guarantee(epsilon, delta, sensitivity):
        mu = sensitivity / accounting.classical_gaussian_scale(epsilon, delta, 1.0)
        return accounting.delta_of_gaussian(epsilon, mu)

    assert f"{actual_guarantee(10, 1e-5, 1):.2e}" == "2.27e-05"
    assert f"{actual_guarantee(1, 1e-5, math.sqrt(2)):.1e}" == "3.7e-05"
    assert f"{actual_guarantee(2, 1e-5, math.sqrt(2)):.1e}" == "1.2e-04"
    for delta, ratios in ((1e-3, (0.61, 0.68, 0.77)), (1e-5, (0.73, 0.77, 0.82))):
        for epsilon, ratio in zip((0.5, 1, 2), ratios, strict=True):
            exact = accounting.gaussian_scale(ApproxDP(epsilon, delta), 1.0)
            assert round(exact / accounting.classical_gaussian_scale(epsilon, delta, 1.0), 2) == ratio
    # "k=140, (1, 1e-5) Gaussian is really epsilon 863", not 140.
    mu = accounting.mu_of(ApproxDP(1.0, 1e-5))
    assert round(accounting.epsilon_of_gaussian(1e-5, accounting.group_privacy(GaussianDP(mu), 140).mu)) == 863


EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
DELTAS = (1e-10, 1e-8, 1e-6, 1e-5, 1e-3, 0.01, 0.1)


def test_agrees_with_dp_accounting_on_the_gaussian_curve():
    library = pytest.importorskip("dp_accounting.gaussian_mechanism")
    for epsilon, delta in itertools.product(EPSILONS, DELTAS):
        ours = accounting.gaussian_scale(ApproxDP(epsilon, delta), 1.0)
        assert ours == pytest.approx(library.get_sigma_gaussian(epsilon, delta), rel=1e-7)
        theirs = library.get_epsilon_gaussian(ours, delta)
        assert accounting.epsilon_of_gaussian(delta, 1 / ours) == pytest.approx(theirs, rel=1e-7, abs=1e-9)


def test_tight_zcdp_is_valid_and_no_looser_than_dp_accounting():
    rdp = pytest.importorskip("dp_accounting.rdp")
    orders = 1 + np.geomspace(1e-3, 1e4, 3000)
    for rho, delta in itertools.product((1e-4, 1e-2, 0.1, 1.0, 10.0), DELTAS[:-1]):
        ours = accounting.zcdp_to_approx(rho, delta)
        theirs = rdp.compute_epsilon(orders, orders * rho, delta)[0]
        assert ours <= theirs + 1e-9
        assert ours >= theirs * 0.999 - 1e-6  # the same theorem, on their grid of orders
        # Gaussian noise is rho-zCDP, so no valid conversion can be below the exact curve.
        assert ours >= accounting.epsilon_of_gaussian(delta, math.sqrt(2 * rho))


# --- conversions --------------------------------------------------------------------------------------------


@many
@given(rho=st.floats(-6, 3).map(lambda x: 10**x), delta=deltas)
def test_tight_zcdp_is_a_true_statement(rho, delta):
    # Some order a > 1 must prove it at 50 digits; the best one solves a quadratic to first order.
    tight, simple = accounting.zcdp_to_approx(rho, delta), accounting.zcdp_to_approx(rho, delta, tight=False)
    exact = mpmath.mpf(rho) + 2 * mpmath.sqrt(mpmath.mpf(rho) * mpmath.log(1 / mpmath.mpf(delta)))
    assert exact <= simple <= exact * (1 + 1e-12)
    assert tight <= simple

    def proved(log_gap):
        gap = mpmath.exp(log_gap)
        a = 1 + gap
        return mpmath.exp(gap * (a * rho - mpmath.mpf(tight))) / gap * (1 - 1 / a) ** a

    centre = math.log(math.sqrt(math.log(1 / delta) / rho))
    low, high = centre - 12, centre + 12
    for _ in range(70):  # golden section on a unimodal function of log(a - 1)
        left, right = high - (high - low) / 1.618, low + (high - low) / 1.618
        low, high = (low, right) if proved(left) < proved(right) else (left, high)
    assert min(proved(low), proved(high)) <= delta * (1 + 1e-12)


# --- groups -------------------------------------------------------------------------------------------------


def test_groups_of_rows():
    assert accounting.group_privacy(PureDP(0.5), 3) == PureDP(1.5)
    assert accounting.group_privacy(ZCDP(0.5), 3) == ZCDP(4.5)
    assert accounting.group_privacy(GaussianDP(0.5), 3) == GaussianDP(1.5)
    for guarantee in (PureDP(0.3), ZCDP(0.3), ApproxDP(0.3, 1e-6), NoPrivacy()):
        assert accounting.group_privacy(guarantee, 1) == guarantee
    with pytest.raises(TypeError):
        accounting.group_privacy(NoPrivacy(), 2)
    with pytest.raises(ValueError, match="k must be"):
        accounting.group_privacy(PureDP(1.0), 0)


@many
@given(epsilon=st.floats(1e-3, 1.0), delta=st.floats(1e-12, 1e-6), k=st.integers(2, 8))
def test_group_of_a_pair_is_the_geometric_sum(epsilon, delta, k):
    # Going over one row at a time: delta_k = delta (1 + e^eps + ... + e^((k-1) eps)).
    exact = mpmath.mpf(delta) * sum(mpmath.exp(i * mpmath.mpf(epsilon)) for i in range(k))
    ours = accounting.group_privacy(ApproxDP(epsilon, delta), k)
    assert exact <= ours.delta <= exact * (1 + 1e-10)
    assert Fraction(ours.epsilon) >= k * Fraction(epsilon)
    # The pair knows less than the mechanism: through the exact curve the group is never worse.
    mu = accounting.mu_of(ApproxDP(epsilon, delta))
    assert accounting.delta_of_gaussian(ours.epsilon, k * mu) <= ours.delta


def test_a_group_without_a_guarantee_says_so():
    with pytest.raises(ValueError, match="k=140"):
        accounting.group_privacy(ApproxDP(1.0, 1e-5), 140)


@many
@given(value=st.floats(1e-6, 1e3), k=st.integers(1, 1000))
def test_groups_never_round_down(value, k):
    assert Fraction(accounting.group_privacy(PureDP(value), k).epsilon) >= k * Fraction(value)
    assert Fraction(accounting.group_privacy(ZCDP(value), k).rho) >= k * k * Fraction(value)
    assert Fraction(accounting.group_privacy(GaussianDP(value), k).mu) >= k * Fraction(value)


# --- splitting ----------------------------------------------------------------------------------------------


def _named(values):
    return {f"part{i}": w for i, w in enumerate(values)}


@many
@given(value=epsilons, parts=weights)
def test_splits_never_sum_above_the_whole_and_lose_nothing(value, parts):
    named = _named(parts)
    pure = accounting.split(PureDP(value), **named)
    zcdp = accounting.split(ZCDP(value), **named)
    gdp = accounting.split(GaussianDP(value), **named)
    whole, nearly = Fraction(value), 1 - Fraction(1, 10**12)
    assert list(pure) == list(zcdp) == list(gdp) == list(named)
    assert nearly * whole <= sum(Fraction(s.epsilon) for s in pure.values()) <= whole
    assert nearly * whole <= sum(Fraction(s.rho) for s in zcdp.values()) <= whole
    assert nearly * whole**2 <= sum(Fraction(s.mu) ** 2 for s in gdp.values()) <= whole**2
    for name, share in pure.items():
        assert share.epsilon == pytest.approx(value * named[name] / sum(parts), rel=1e-12)


@many
@given(asked=approx, parts=weights)
def test_shares_of_a_pair_are_covered_again_after_calibration(asked, parts):
    shares = accounting.split(asked, **_named(parts))
    assert all(isinstance(s, GaussianDP) for s in shares.values())
    assert sum(Fraction(s.mu) ** 2 for s in shares.values()) <= Fraction(accounting.mu_of(asked)) ** 2
    events = tuple(gaussian(0.3, accounting.gaussian_scale(s, 0.3), name) for name, s in shares.items())
    assert accounting.covers(asked, accounting.compose(events, asked))


@many
@given(rho=epsilons, parts=weights, sensitivity=sensitivities)
def test_shares_of_pure_and_zcdp_are_covered_again_after_calibration(rho, parts, sensitivity):
    for asked, scale, event in (
        (ZCDP(rho), accounting.gaussian_scale, gaussian),
        (ZCDP(rho), accounting.laplace_scale, laplace),
        (PureDP(rho), accounting.laplace_scale, laplace),
    ):
        shares = accounting.split(asked, **_named(parts))
        events = tuple(event(sensitivity, scale(s, sensitivity), name) for name, s in shares.items())
        assert accounting.covers(asked, accounting.compose(events, asked))


def test_split_of_one_part_of_nothing_and_of_no_privacy():
    assert accounting.split(ApproxDP(1.0, 1e-5), matrix=3.0) == {"matrix": ApproxDP(1.0, 1e-5)}
    assert accounting.split(NoPrivacy(), a=1, b=2) == {"a": NoPrivacy(), "b": NoPrivacy()}
    with pytest.raises(ValueError, match="weight of b"):
        accounting.split(PureDP(1.0), a=1.0, b=0.0)


# --- calibrating and composing ------------------------------------------------------------------------------


@settings(max_examples=600, deadline=None, derandomize=True)
@given(asked=approx, sensitivity=sensitivities)
def test_one_calibrated_gaussian_is_covered_without_tolerance(asked, sensitivity):
    scale = accounting.gaussian_scale(asked, sensitivity)
    assert accounting.covers(asked, accounting.compose((gaussian(sensitivity, scale),), asked))
    truth = true_delta(asked.epsilon, mpmath.mpf(sensitivity) / mpmath.mpf(scale))
    assert truth <= asked.delta
    smaller = gaussian(sensitivity, scale * (1 - 1e-6))  # and the scale is the smallest
    if asked.epsilon >= 0.01:
        assert not accounting.covers(asked, accounting.compose((smaller,), asked))


@pytest.mark.parametrize(
    ("share", "scale"), [(PureDP(1e-300), accounting.laplace_scale), (ZCDP(1e-320), accounting.gaussian_scale)]
)
def test_a_share_too_small_for_any_scale_is_refused_in_a_sentence(share, scale):
    with pytest.raises(ValueError, match="needs a noise scale above 1e300, which is never drawn"):
        scale(share, 1e150)


@many
@given(value=epsilons, sensitivity=sensitivities)
def test_calibrated_zcdp_and_pure_are_exact(value, sensitivity):
    nearly = 1 - Fraction(1, 10**14)
    mu = Fraction(sensitivity) / Fraction(accounting.gaussian_scale(ZCDP(value), sensitivity))
    assert nearly * Fraction(value) <= mu**2 / 2 <= Fraction(value)
    spent = Fraction(sensitivity) / Fraction(accounting.laplace_scale(PureDP(value), sensitivity))
    assert nearly * Fraction(value) <= spent <= Fraction(value)
    spent = Fraction(sensitivity) / Fraction(accounting.laplace_scale(ZCDP(value), sensitivity))
    assert nearly * Fraction(value) <= spent**2 / 2 <= Fraction(value)


def test_scales_refuse_what_the_noise_cannot_give():
    with pytest.raises(TypeError, match="Gaussian noise cannot give"):
        accounting.gaussian_scale(PureDP(1.0), 1.0)
    with pytest.raises(TypeError, match="Laplace noise cannot"):
        accounting.laplace_scale(GaussianDP(1.0), 1.0)
    assert accounting.gaussian_scale(NoPrivacy(), 1.0) == accounting.laplace_scale(NoPrivacy(), 1.0) == 0.0
    assert accounting.laplace_scale(ApproxDP(0.5, 1e-5), 1.0) == 2.0


@many
@given(mus=st.lists(st.floats(0.01, 3.0), min_size=1, max_size=6), delta=deltas)
def test_gaussian_steps_compose_like_one(mus, delta):
    events = tuple(gaussian(m, 1.0) for m in mus)
    exact = sum(Fraction(m) ** 2 for m in mus)
    assert accounting.gaussian_square(events) == exact
    rho = accounting.compose(events, ZCDP(1.0)).rho
    assert exact / 2 <= Fraction(rho) <= exact / 2 * (1 + Fraction(1, 2**51))
    # Asked for far too little: the answer is what the events really give, at the delta that was asked.
    real = accounting.compose(events, ApproxDP(1e-9, delta))
    mu = mpmath.sqrt(mpmath.mpf(exact.numerator) / exact.denominator)
    assert true_delta(real.epsilon, mu) <= real.delta


@many
@given(pure=st.floats(0.01, 2.0), mu=st.floats(0.05, 2.0), epsilon=st.floats(0.1, 5.0), delta=deltas)
def test_laplace_and_gaussian_together(pure, mu, epsilon, delta):
    events = (laplace(pure, 1.0), gaussian(mu, 1.0))
    asked = ApproxDP(epsilon, delta)
    real = accounting.compose(events, asked)
    # Either pure first, then the curve, (pure, 0) + (rest, delta_gaussian(rest)) in exact arithmetic, or all as zCDP.
    rest = Fraction(real.epsilon) - Fraction(pure)
    first = rest >= 0 and true_delta(mpmath.mpf(rest.numerator) / rest.denominator, mu) <= real.delta
    through = accounting.zcdp_to_approx((pure**2 + mu**2) / 2, real.delta)
    assert first or real.epsilon >= through * (1 - 1e-9)
    hopeless = epsilon < pure or true_delta(epsilon - pure, mu) > delta
    if hopeless and accounting.zcdp_to_approx((pure**2 + mu**2) / 2, delta) > epsilon * (1 + 1e-9):
        assert not accounting.covers(asked, real)
    if epsilon - pure > 0 and true_delta(epsilon - pure, mu) < delta * (1 - 1e-6):
        assert accounting.covers(asked, real)
    rho = Fraction(accounting.compose(events, ZCDP(1.0)).rho)
    exact = (Fraction(pure) ** 2 + Fraction(mu) ** 2) / 2
    assert exact <= rho <= exact * (1 + Fraction(1, 2**51))
    with pytest.raises(TypeError, match="no pure DP"):
        accounting.compose(events, PureDP(10.0))


def test_what_composes_to_what():
    assert accounting.compose((), ZCDP(1.0)) is None
    assert accounting.compose((gaussian(1, 1),), NoPrivacy()) is None
    assert accounting.compose((laplace(1, 2), laplace(1, 4)), PureDP(1.0)) == PureDP(0.75)
    assert accounting.compose((laplace(1, 2), laplace(1, 4)), ApproxDP(1.0, 1e-5)) == PureDP(0.75)
    assert accounting.compose((laplace(1, 2), gaussian(1, 2)), ZCDP(1.0)) == ZCDP(0.25)


def test_covers():
    yes = [
        (PureDP(1.0), PureDP(1.0)),
        (ApproxDP(1.0, 1e-5), PureDP(1.0)),
        (ZCDP(1.0), ZCDP(0.9)),
        (ApproxDP(1.0, 1e-5), ApproxDP(0.9, 1e-6)),
        (ZCDP(1.0), None),
        (NoPrivacy(), None),
    ]
    no = [
        (PureDP(1.0), PureDP(1.1)),
        (PureDP(1.0), ApproxDP(0.5, 1e-9)),
        (ZCDP(1.0), ZCDP(1.1)),
        (ApproxDP(1.0, 1e-5), ApproxDP(0.9, 1e-4)),
        (ApproxDP(1.0, 1e-5), ApproxDP(1.1, 1e-6)),
        (NoPrivacy(), PureDP(1.0)),
    ]
    assert all(accounting.covers(*pair) for pair in yes)
    assert not any(accounting.covers(*pair) for pair in no)


# --- what an attacker can do --------------------------------------------------------------------------------


def test_attacker_limits_and_monotone():
    families = (PureDP, ZCDP, GaussianDP, lambda x: ApproxDP(x, 1e-9))
    grid = np.geomspace(1e-7, 400, 50)
    for make in families:
        values = np.array([accounting.attacker_success(make(x)) for x in grid])
        assert np.all(np.diff(values) >= 0)
        assert values[0] == pytest.approx(0.5, abs=1e-3)
        assert values[-1] == pytest.approx(1.0, abs=1e-9)
        assert np.all((values >= 0.5) & (values <= 1))
    assert accounting.attacker_success(None) == 0.5
    assert accounting.attacker_success(NoPrivacy()) == 1.0
    assert np.all(np.diff([accounting.attacker_success(ApproxDP(1.0, d)) for d in (1e-6, 1e-3, 0.5)]) > 0)


@many
@given(mu=st.floats(0.01, 8.0))
def test_attacker_on_gaussian_noise_is_exact(mu):
    # The best test between N(0,1) and N(mu,1) succeeds with (1 + TV)/2, and TV is the curve at epsilon 0.
    exact = (1 + true_delta(0, mu)) / 2
    assert accounting.attacker_success(GaussianDP(mu)) == pytest.approx(float(exact), rel=1e-14)
    events = (gaussian(mu * 0.6, 1.0), gaussian(mu * 0.8, 1.0))
    assert accounting.attacker_on_events(events, ZCDP(100.0)) == pytest.approx(float(exact), rel=1e-12)


@many
@given(mu=st.floats(0.05, 4.0), delta=deltas)
def test_attacker_is_bounded_by_what_a_pair_or_a_rho_implies(mu, delta):
    exact = accounting.attacker_success(GaussianDP(mu))
    pair = ApproxDP(max(accounting.epsilon_of_gaussian(delta, mu), 1e-9), delta)
    assert accounting.attacker_success(pair) >= exact
    assert accounting.attacker_success(ZCDP(mu * mu / 2 * (1 + 1e-12))) >= exact


@pytest.mark.parametrize("rho", [*np.geomspace(1e-6, 30, 10), 1.2])
def test_attacker_of_zcdp_lies_between_gaussian_noise_and_pinsker(rho):
    """Gaussian noise of this rho is one mechanism it allows; the pairs alone allow more below rho = 1."""
    found = accounting.attacker_success(ZCDP(rho))
    assert accounting.attacker_success(GaussianDP(math.sqrt(2 * rho))) <= found <= 0.5 + math.sqrt(rho / 8)
    deltas_ = np.logspace(-12, math.log10(0.5), 60)
    pairs = min(
        accounting.attacker_success(ApproxDP(max(accounting.zcdp_to_approx(rho, d), 1e-300), d)) for d in deltas_
    )
    assert found == min(pairs, 0.5 + math.sqrt(rho / 8))
    assert found < pairs or rho > 1.3
    assert 2 * found - 1 == pytest.approx(allowed_difference(ZCDP(rho)), abs=1e-12)
    alarm = np.linspace(0, 1, 2001)
    assert (true_positive_rate(ZCDP(rho), alarm) - alarm).max() <= 2 * found - 1 + 0.01


def test_attacker_on_a_pair_attains_kairouz_oh_viswanath():
    # The extreme mechanism of Theorem 2.1: reveal with probability delta, else randomised response.
    epsilon, delta = 0.7, 0.05
    rr = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert accounting.attacker_success(ApproxDP(epsilon, delta)) == pytest.approx(delta + (1 - delta) * rr)
    assert accounting.attacker_success(PureDP(epsilon)) == pytest.approx(rr)


def test_discrete_gaussian_noise_is_read_as_zcdp_alone():
    """It has no proved curve; that of continuous Gaussian noise of the same rho would say less than is known."""
    event = dataclasses.replace(gaussian(1, 2), mechanism="discrete-gaussian")
    found = accounting.trade_off_of((event, event), ZCDP(1.0))
    assert isinstance(found, ZCDP)
    assert found.rho == pytest.approx(2 * (1 / 2) ** 2 / 2)


def test_attacker_on_events_of_other_kinds():
    assert accounting.attacker_on_events((), ZCDP(1.0)) == 0.5
    assert accounting.attacker_on_events((), NoPrivacy()) == 1.0
    half = accounting.attacker_success(PureDP(0.5))
    assert accounting.attacker_on_events((laplace(1, 2),), PureDP(1.0)) == half
    mixed = (laplace(1, 2), gaussian(1, 4))
    asked = ApproxDP(2.0, 1e-5)
    expected = accounting.attacker_success(accounting.compose(mixed, asked))
    assert accounting.attacker_on_events(mixed, asked) == expected
