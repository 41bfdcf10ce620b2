"""Events of several kinds together: exact sums, true statements about real mechanisms, splits that never overspend.

Truths: the loss of k coins of randomised response beside one Gaussian is known in closed form, so every composed
statement is checked against the exact delta with 50 digits. Bounded-range pairs are two-point laws.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privcov.core import accounting
from privcov.core.guarantees import PURE_MECHANISMS, ApproxDP, Event, GaussianDP, NoPrivacy, PureDP, ZCDP  # fmt: skip

mpmath.mp.dps = 50


def fixed(examples: int = 100):
    """The same drawn examples in every run."""
    return settings(max_examples=examples, derandomize=True, deadline=None)


def event(mechanism: str, ratio: float, sensitivity: float = 1.0, freedom: float = 0.0) -> Event:
    return Event("a", "s", mechanism, "l2", sensitivity, sensitivity / ratio, "here", freedom=freedom)


def ratio_of(e: Event) -> Fraction:
    return Fraction(e.sensitivity) / Fraction(e.scale)


ratios = st.floats(1e-4, 20.0)
mechanisms = st.sampled_from(("gaussian", *PURE_MECHANISMS))
events_of_any_kind = st.lists(st.builds(event, mechanisms, ratios, st.floats(1e-6, 1e6)), min_size=1, max_size=6)
deltas = st.floats(-15, -0.31).map(lambda t: 10.0**t)
pairs = st.builds(ApproxDP, st.floats(-4, 2).map(lambda t: 10.0**t), deltas)
rhos = st.floats(-8, 3).map(lambda t: 10.0**t)
whole = st.one_of(st.builds(PureDP, st.floats(1e-4, 100)), pairs, st.builds(ZCDP, rhos))


# --- exact sums ---------------------------------------------------------------------------------------------


@fixed()
@given(events_of_any_kind)
def test_zcdp_sum_is_the_exact_sum_of_the_three_rules(events):
    want = Fraction(0)
    for e in events:
        half = {"gaussian": 2, "exponential": 8}.get(e.mechanism, 2)
        want += ratio_of(e) ** 2 / half
    assert accounting.zcdp_sum(tuple(events)) == want
    given_ = accounting.compose(tuple(events), ZCDP(1.0))
    assert Fraction(given_.rho) >= want
    assert Fraction(math.nextafter(given_.rho, 0.0)) < want


@fixed()
@given(events_of_any_kind, st.randoms())
def test_the_order_of_events_does_not_matter(events, random):
    other = list(events)
    random.shuffle(other)
    for asked in (ZCDP(1.0), ApproxDP(1.0, 1e-6)):
        assert accounting.compose(tuple(events), asked) == accounting.compose(tuple(other), asked)


@fixed()
@given(st.lists(st.builds(event, st.sampled_from(PURE_MECHANISMS), ratios), min_size=1, max_size=5))
def test_pure_events_add_up_exactly_and_rounded_up(events):
    want = sum((ratio_of(e) for e in events), Fraction(0))
    found = accounting.compose(tuple(events), PureDP(1.0))
    assert Fraction(found.epsilon) >= want > Fraction(math.nextafter(found.epsilon, 0.0))


def test_an_exponential_mechanism_costs_a_quarter_of_another_pure_step():
    for mechanism in PURE_MECHANISMS:
        rho = accounting.zcdp_sum((event(mechanism, 0.5),))
        assert rho == (Fraction(1, 32) if mechanism == "exponential" else Fraction(1, 8))
    assert accounting.zcdp_sum(()) == 0


# --- the rules are true -------------------------------------------------------------------------------------


def renyi(p: list, q: list, order) -> mpmath.mpf:
    total = sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))
    return mpmath.log(total) / (order - 1)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0, 15.0])
def test_bounded_range_gives_an_eighth_and_pure_a_half(epsilon):
    """Two-point laws are the extreme ones: the losses are t - epsilon and t, all t in [0, epsilon], for bounded range
    (Dong, Durfee and Rogers 2020), and t = epsilon / (1 + ...) symmetric for pure. Orders 1.001 to 500."""
    e = mpmath.mpf(epsilon)
    worst = {"exponential": mpmath.mpf(0), "laplace": mpmath.mpf(0)}
    for order in map(mpmath.mpf, (1.001, 1.5, 2, 5, 30, 500)):
        for k in range(1, 40):
            t = e * k / 40
            p = (1 - mpmath.exp(t - e)) / (1 - mpmath.exp(-e)) * 1  # of the outcome with loss t
            q = p * mpmath.exp(-t)
            # the loss of the other outcome must then be t - epsilon
            assert abs(mpmath.log((1 - p) / (1 - q)) - (t - e)) < 1e-30
            worst["exponential"] = max(worst["exponential"], renyi([p, 1 - p], [q, 1 - q], order) / order)
        p = mpmath.exp(e) / (1 + mpmath.exp(e))
        worst["laplace"] = max(worst["laplace"], renyi([p, 1 - p], [1 - p, p], order) / order)
    for mechanism, found in worst.items():
        bound = accounting.zcdp_sum((event(mechanism, epsilon),))
        assert found <= mpmath.mpf(bound.numerator) / bound.denominator
        if epsilon < 0.5:
            assert found > 0.97 * float(bound)  # and nothing is given away where epsilon is small


def true_gaussian_delta(epsilon, mu):
    """The curve at any real epsilon, 50 digits."""
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def exactly(events: tuple) -> list:
    """Sensitivity over scale with 50 digits."""
    return [mpmath.mpf(ratio_of(e).numerator) / ratio_of(e).denominator for e in events]


def true_delta(epsilon, coins: list, mu) -> mpmath.mpf:
    """Randomised response with these epsilons beside one Gaussian: the coins' loss shifts the Gaussian curve."""
    total = mpmath.mpf(0)
    for signs in itertools.product((1, -1), repeat=len(coins)):
        loss = sum(s * mpmath.mpf(c) for s, c in zip(signs, coins, strict=True))
        chance = mpmath.mpf(1)
        for s, c in zip(signs, coins, strict=True):
            chance *= 1 / (1 + mpmath.exp(-s * mpmath.mpf(c)))
        rest = mpmath.mpf(epsilon) - loss
        total += chance * (true_gaussian_delta(rest, mu) if mu else max(1 - mpmath.exp(rest), 0))
    return total


@fixed(150)
@given(st.lists(st.floats(1e-3, 3), max_size=4), st.floats(1e-3, 4), pairs)
def test_every_statement_about_a_mixture_is_true(coins, mu, asked):
    events = (*(event("laplace", c) for c in coins), event("gaussian", mu))
    given_ = accounting.compose(events, asked)
    assert true_delta(given_.epsilon, exactly(events[:-1]), exactly(events)[-1]) <= given_.delta * (
        1 + mpmath.mpf(1e-13)
    )


@fixed(100)
@given(st.lists(st.floats(1e-2, 2), min_size=1, max_size=5), pairs)
def test_every_statement_about_pure_steps_under_a_pair_is_true(coins, asked):
    events = tuple(event("sparse-vector", c) for c in coins)
    given_ = accounting.compose(events, asked)
    delta = 0.0 if isinstance(given_, PureDP) else given_.delta
    assert true_delta(given_.epsilon, exactly(events), 0) <= delta * (1 + 1e-13) + 1e-40


def test_a_mixture_is_read_the_better_way():
    """Many small pure steps: zCDP is better than adding epsilons. One large pure step: adding is better."""
    many = (*(event("laplace", 0.1) for _ in range(100)), event("gaussian", 0.5))
    asked = ApproxDP(3.0, 1e-6)
    found = accounting.compose(many, asked)
    assert found.epsilon == pytest.approx(accounting.zcdp_to_approx(0.625, 1e-6), rel=1e-6)
    assert found.epsilon < 10
    one = (event("laplace", 2.0), event("gaussian", 0.1))
    found = accounting.compose(one, asked)
    assert found.epsilon == 3.0
    assert found.delta == pytest.approx(accounting.delta_of_gaussian(1.0, 0.1), rel=1e-9)
    pure_only = tuple(event("laplace", 0.1) for _ in range(100))
    assert accounting.compose(pure_only, ApproxDP(10.1, 1e-6)).kind == "pure"
    assert accounting.compose(pure_only, asked).kind == "approx"
    assert accounting.compose(pure_only, asked).epsilon == pytest.approx(accounting.zcdp_to_approx(0.5, 1e-6))


# --- from a pair to rho -------------------------------------------------------------------------------------


def true_epsilon(rho, delta) -> mpmath.mpf:
    """Canonne, Kamath and Steinke (2020), Corollary 13, minimised by golden section over log(a - 1) with 50 digits."""
    r, log_delta = mpmath.mpf(rho), mpmath.log(mpmath.mpf(delta))

    def at(t):
        gap = mpmath.exp(t)
        return (1 + gap) * r + t - log_delta / gap - (1 + gap) / gap * mpmath.log1p(gap)

    low, high = mpmath.mpf(-40), mpmath.mpf(80)
    step = (mpmath.sqrt(5) - 1) / 2
    for _ in range(110):
        a, b = high - step * (high - low), low + step * (high - low)
        low, high = (low, b) if at(a) < at(b) else (a, high)
    return max(at((low + high) / 2), mpmath.mpf(0))


@fixed(60)
@given(pairs)
def test_approx_to_zcdp_is_the_inverse_on_the_safe_side(asked):
    rho = accounting.approx_to_zcdp(asked.epsilon, asked.delta)
    assert accounting.zcdp_to_approx(rho, asked.delta) <= asked.epsilon
    assert true_epsilon(rho, asked.delta) <= asked.epsilon
    assert true_epsilon(rho * (1 + 1e-6), asked.delta) > asked.epsilon
    # what the pair allows is at least what the textbook conversion allows
    assert accounting.zcdp_to_approx(rho, asked.delta, tight=False) >= asked.epsilon * (1 - 1e-9)


@fixed()
@given(st.floats(-8, 2.5).map(lambda t: 10.0**t), deltas)
def test_there_and_back_never_gains(rho, delta):
    epsilon = accounting.zcdp_to_approx(rho, delta)
    assume(epsilon > 1e-9)  # for a large delta a small rho needs no epsilon at all
    back = accounting.approx_to_zcdp(epsilon, delta)
    assert back == pytest.approx(rho, rel=1e-6)
    assert accounting.zcdp_to_approx(back, delta) <= epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 1e-3])
def test_dp_accounting_agrees_on_rho(epsilon, delta):
    """Google's RDP accountant on a grid of orders: it says at most one per cent more epsilon, and never less."""
    from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon

    rho = accounting.approx_to_zcdp(epsilon, delta)
    orders = 1 + np.exp(np.linspace(-3, 8, 4000))
    theirs, _ = compute_epsilon(orders, rho * orders, delta)
    assert epsilon * (1 - 1e-9) <= theirs <= epsilon * 1.01


def test_approx_to_zcdp_refuses_nonsense():
    for epsilon, delta in ((0.0, 1e-6), (-1, 1e-6), (float("nan"), 1e-6), (1.0, 0.0), (1.0, 1.0)):
        with pytest.raises(ValueError, match=r"epsilon|delta"):
            accounting.approx_to_zcdp(epsilon, delta)


# --- splits -------------------------------------------------------------------------------------------------


def spend(share, how: str, sensitivity: float) -> Event:
    """One calibrated step out of a share, as a measurement makes it."""
    if how == "gaussian":
        scale = accounting.gaussian_scale(share, sensitivity)
    elif how == "exponential":
        scale = accounting.laplace_scale(PureDP(accounting.pure_epsilon(share, exponential=True)), sensitivity)
    else:
        scale = accounting.laplace_scale(share, sensitivity)
    return Event("a", "s", how, "l2", sensitivity, scale, "here")


steps = st.lists(
    st.tuples(st.sampled_from(("gaussian", *PURE_MECHANISMS)), st.floats(1e-3, 1e3), st.floats(1e-9, 1e6)),
    min_size=1, max_size=6,
)  # fmt: skip


@fixed(300)
@given(whole, steps)
def test_a_mixed_split_never_exceeds_the_whole(asked, plan):
    if isinstance(asked, PureDP):
        plan = [("laplace" if how == "gaussian" else how, w, s) for how, w, s in plan]
    shares = accounting.split_mixed(asked, **{f"s{i}": w for i, (_, w, _) in enumerate(plan)})
    events = tuple(spend(shares[f"s{i}"], how, s) for i, (how, _, s) in enumerate(plan))
    given_ = accounting.compose(events, asked)
    assert accounting.covers(asked, given_)
    assert accounting.actual_guarantee(events, asked) == given_
    if isinstance(asked, ZCDP):
        assert accounting.zcdp_sum(events) <= Fraction(asked.rho)
        assert given_.rho >= asked.rho * (1 - 1e-12)  # and nothing is lost


def test_no_mixed_release_is_refused_because_a_conversion_wiggles():
    """The tight conversion is a numerical minimum: of 400 drawn pairs about 25 shares read, all of them together, as an
    epsilon some 1e-11 above the one they were made from. That is no overspending."""
    rng, wiggled = np.random.default_rng(0), 0
    for _ in range(400):
        asked = ApproxDP(10 ** rng.uniform(-4, 2), 10 ** rng.uniform(-15, -0.31))
        weights = {f"s{i}": float(w) for i, w in enumerate(rng.random(rng.integers(2, 5)) + 0.01)}
        shares = accounting.split_mixed(asked, **weights)
        kinds = ["gaussian", *["laplace"] * (len(shares) - 1)]
        events = tuple(spend(s, how, 1.0) for s, how in zip(shares.values(), kinds, strict=True))
        rho = float(accounting.zcdp_sum(events))
        wiggled += accounting.zcdp_to_approx(rho, asked.delta) > asked.epsilon
        assert accounting.covers(asked, accounting.compose(events, asked))
    assert wiggled > 5


@fixed(200)
@given(whole, steps)
def test_part_of_a_covered_whole_is_covered(asked, plan):
    """Leaving a step out never makes a statement weaker, although it may be read another way then."""
    if isinstance(asked, PureDP):
        plan = [("laplace" if how == "gaussian" else how, w, s) for how, w, s in plan]
    shares = accounting.split_mixed(asked, **{f"s{i}": w for i, (_, w, _) in enumerate(plan)})
    events = tuple(spend(shares[f"s{i}"], how, s) for i, (how, _, s) in enumerate(plan))
    for i in range(len(events)):
        rest = events[:i] + events[i + 1 :]
        assert accounting.covers(asked, accounting.compose(rest, asked))


@fixed(200)
@given(
    pairs,
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5),
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=4),
)
def test_a_gaussian_split_of_a_split_never_exceeds_the_whole(asked, weights, second):
    """Shares of shares, as a method with rounds makes them."""
    shares = list(accounting.split(asked, **{f"s{i}": w for i, w in enumerate(weights)}).values())
    inner = list(accounting.split(shares[0], **{f"t{i}": w for i, w in enumerate(second)}).values())
    events = tuple(spend(share, "gaussian", 0.3) for share in (*inner, *shares[1:]))
    assert accounting.covers(asked, accounting.compose(events, asked))


def test_a_mixed_split_opens_a_pair_once():
    rho = accounting.approx_to_zcdp(1.0, 1e-6)
    shares = accounting.split_mixed(ApproxDP(1.0, 1e-6), a=1, b=3)
    assert {type(s) for s in shares.values()} == {ZCDP}
    assert sum(Fraction(s.rho) for s in shares.values()) <= Fraction(rho)
    assert shares["b"].rho == pytest.approx(0.75 * rho, rel=1e-14)
    assert accounting.split_mixed(ApproxDP(1.0, 1e-6), a=2) == {"a": ZCDP(rho)}
    assert accounting.split_mixed(PureDP(1.0), a=1, b=1) == {"a": PureDP(0.5), "b": PureDP(0.5)}
    assert accounting.split_mixed(NoPrivacy(), a=1, b=1) == {"a": NoPrivacy(), "b": NoPrivacy()}


@fixed()
@given(rhos)
def test_pure_epsilon_of_rho_is_the_largest_whose_square_fits(rho):
    for exponential, divisor in ((False, 2), (True, 8)):
        epsilon = accounting.pure_epsilon(ZCDP(rho), exponential=exponential)
        assert Fraction(epsilon) ** 2 / divisor <= Fraction(rho)
        assert Fraction(epsilon * (1 + 1e-15)) ** 2 / divisor >= Fraction(rho) * (1 - Fraction(1, 10**14))


def test_pure_epsilon_of_the_other_kinds():
    assert accounting.pure_epsilon(PureDP(0.7)) == accounting.pure_epsilon(PureDP(0.7), exponential=True) == 0.7
    assert accounting.pure_epsilon(NoPrivacy()) == math.inf
    for share in (GaussianDP(1.0), ApproxDP(1.0, 1e-6)):
        with pytest.raises(TypeError, match="pure step"):
            accounting.pure_epsilon(share)


# --- really: when a claim may be false ----------------------------------------------------------------------


def wishart(ratio: float, freedom: float) -> Event:
    return event("wishart", ratio, freedom=freedom)


def test_additive_wishart_noise_under_a_pure_claim_has_a_delta():
    step = (wishart(0.05, 40.0),)
    with pytest.raises(TypeError, match="no pure DP"):
        accounting.compose(step, PureDP(1.0))
    found = accounting.actual_guarantee(step, PureDP(1.0))
    assert isinstance(found, ApproxDP)
    assert found == accounting.compose(step, ApproxDP(1.0, 0.5))
    assert not accounting.covers(PureDP(1.0), found)
    assert 0.5 < accounting.attacker_on_events(step, PureDP(1.0)) <= 1
    with pytest.raises(TypeError, match="zCDP"):
        accounting.actual_guarantee(step, ZCDP(1.0))
    with pytest.raises(TypeError, match="accounted alone"):
        accounting.compose((*step, event("gaussian", 0.1)), ApproxDP(1.0, 1e-6))


def test_a_hopeless_wishart_step_has_a_statement_too():
    """A delta that rounds to 1 must not crash the release that has to say so; nor an epsilon beyond exp's range."""
    step = (wishart(1e3, 2.0),)
    found = accounting.actual_guarantee(step, PureDP(1.0))
    assert found.delta < 1
    assert str(found) == "(1, 1)-DP"
    assert not accounting.covers(ApproxDP(1.0, 0.999999), found)
    assert accounting.attacker_on_events(step, PureDP(1.0)) == pytest.approx(1.0)
    large = accounting.compose((wishart(0.05, 40.0),), ApproxDP(1e4, 1e-6))
    assert (large.epsilon, large.delta <= 1e-6) == (1e4, True)


def test_gaussian_noise_under_a_pure_claim_has_a_delta():
    step = (event("gaussian", 0.5),)
    found = accounting.actual_guarantee(step, PureDP(1.0))
    assert found == ApproxDP(1.0, accounting.delta_of_gaussian(1.0, 0.5))
    mixed = (event("laplace", 0.4), event("gaussian", 0.5))
    found = accounting.actual_guarantee(mixed, PureDP(1.0))
    assert true_delta(found.epsilon, [0.4], 0.5) <= found.delta


@fixed()
@given(events_of_any_kind, whole)
def test_really_is_compose_wherever_compose_has_an_answer(events, asked):
    try:
        want = accounting.compose(tuple(events), asked)
    except TypeError:
        assert isinstance(asked, PureDP)
        assert isinstance(accounting.actual_guarantee(tuple(events), asked), ApproxDP)
        return
    assert accounting.actual_guarantee(tuple(events), asked) == want


def test_nothing_measured_gives_nothing():
    for asked in (PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(1.0), NoPrivacy()):
        assert accounting.actual_guarantee((), asked) is None
    assert accounting.actual_guarantee((event("gaussian", 1.0),), NoPrivacy()) is None


# --- many times ---------------------------------------------------------------------------------------------


@fixed()
@given(st.floats(1e-6, 10), st.integers(1, 1000))
def test_repeated_is_the_exact_sum_rounded_up(value, k):
    tight = Fraction(1) + Fraction(1, 2**50)
    pure = accounting.self_compose(PureDP(value), k)
    assert k * Fraction(value) <= Fraction(pure.epsilon) <= k * Fraction(value) * tight
    rho = accounting.self_compose(ZCDP(value), k)
    assert k * Fraction(value) <= Fraction(rho.rho) <= k * Fraction(value) * tight
    mu = accounting.self_compose(GaussianDP(value), k)
    assert k * Fraction(value) ** 2 <= Fraction(mu.mu) ** 2 <= k * Fraction(value) ** 2 * tight
    pair = accounting.self_compose(ApproxDP(value, 1e-7), k)
    assert Fraction(pair.delta) >= k * Fraction(1e-7)
    assert Fraction(pair.epsilon) >= k * Fraction(value)


@fixed()
@given(st.floats(1e-3, 1), st.integers(1, 30), mechanisms)
def test_repeated_agrees_with_the_composed_events(ratio, k, mechanism):
    one = event(mechanism, ratio)
    many = (one,) * k
    exact = ratio_of(one)
    up = math.nextafter(float(exact), math.inf)
    if mechanism == "gaussian":
        epsilon = accounting.epsilon_of_gaussian(1e-6, accounting.self_compose(GaussianDP(up), k).mu)
        assert accounting.compose(many, ApproxDP(1e-3, 1e-6)).epsilon <= max(epsilon, 1e-3) * (1 + 1e-9)
    else:
        assert accounting.compose(many, PureDP(1.0)).epsilon <= accounting.self_compose(PureDP(up), k).epsilon
    single = accounting.compose((one,), ZCDP(1.0))
    assert accounting.compose(many, ZCDP(1.0)).rho <= accounting.self_compose(single, k).rho


def test_repeated_refuses_a_delta_of_one():
    with pytest.raises(ValueError, match="add up to"):
        accounting.self_compose(ApproxDP(1.0, 0.1), 10)
    assert accounting.self_compose(ApproxDP(1.0, 0.1), 9).delta == pytest.approx(0.9)
    with pytest.raises(TypeError, match="several times"):
        accounting.self_compose(NoPrivacy(), 2)
    for wrong in (0, 1.5, "2"):
        with pytest.raises(ValueError, match="k must be"):
            accounting.self_compose(PureDP(1.0), wrong)
