"""What a set proves about rho: the formula the slow way, its proof at random places, and audits of zCDP claims."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from privcov.attacks.bounds import allowed_difference, detection_limit
from privcov.attacks.concentrated import rho_low
from privcov.attacks.disclosure import true_positive_rate
from privcov.attacks.live_audit import AuditSettings, audit
from privcov.attacks.mechanisms import find, sampler
from privcov.attacks.pairs import catalogue, tables
from privcov.core.guarantees import ZCDP

COINS = [(0.6, 0.4), (0.9, 0.5), (0.51, 0.5), (0.2, 0.001), (0.999, 0.7), (1e-3, 1e-6)]


def renyi(p: float, q: float, a: float) -> float:
    return math.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)) / (a - 1)


@pytest.mark.parametrize(("p", "q"), COINS)
def test_it_is_the_largest_divergence_over_its_order(p, q):
    """The definition on orders of another grid, in plain arithmetic: the best one is missed by at most 1 %."""
    orders = 1 + np.geomspace(1e-3, 40, 2_000)
    slow = max(max(renyi(p, q, a) / a, renyi(q, p, a) / a) for a in orders)
    found = float(rho_low(p, q))
    assert found == pytest.approx(slow, rel=0.01)
    assert found >= p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)) > 0
    assert float(rho_low(1 - q, 1 - p)) == pytest.approx(found)  # the complement proves the same


@pytest.mark.parametrize(("p", "q"), COINS)
def test_two_coins_keep_the_rho_that_is_proved_of_them(p, q):
    """Sound and tight: a coin is a mechanism too. 1.01 times what is proved of it, it satisfies at every order."""
    rho = 1.01 * float(rho_low(p, q))
    for a in 1 + np.geomspace(1e-4, 1e3, 400):
        for x, y in ((p, q), (q, p)):
            logs = (a * math.log(x) + (1 - a) * math.log(y), a * math.log1p(-x) + (1 - a) * math.log1p(-y))
            assert np.logaddexp(*logs) / (a - 1) <= a * rho


def test_wider_bounds_prove_less():
    """The step of the proof from probabilities to bounds, at 20,000 random places."""
    p_low, p, q, q_high = np.random.default_rng(0).random((4, 20_000))
    (q, q_high, p_low, p) = np.sort([p_low, p, q, q_high], axis=0)
    assert (rho_low(p_low, q_high) <= rho_low(p, q) * (1 + 1e-9)).all()


@pytest.mark.parametrize("rho", [1e-3, 0.01, 0.1, 0.5, 2.0])
def test_gaussian_noise_is_never_refuted_and_half_of_it_is(rho):
    """With the exact probabilities of half-lines; the set half way shows 2/pi of a small rho, further out more."""
    mu = math.sqrt(2 * rho)
    cut = np.linspace(mu - 6, 6, 2_001)
    proved = rho_low(ndtr(mu - cut), ndtr(-cut))
    assert proved.max() <= rho
    assert proved.max() > 0.63 * rho
    if rho < 0.2:
        assert float(rho_low(ndtr(mu / 2), ndtr(-mu / 2))) / rho == pytest.approx(2 / math.pi, abs=0.01)
    assert rho_low(ndtr(2 * mu - cut), ndtr(-cut)).max() > 1.9 * rho


@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0])
def test_what_breaks_the_trade_off_bound_refutes_rho(rho):
    """`true_positive_rate` bounds true accusations through (epsilon, delta); whatever lies above it is refuted here,
    up to the grid of orders (half a percent)."""
    alarm = np.linspace(0.001, 0.999, 500)
    above = np.minimum(true_positive_rate(ZCDP(rho), alarm) + 1e-9, 1.0)
    seen = above < 1
    assert (rho_low(above[seen], alarm[seen]) > 0.995 * rho).all()
    widest = np.max(np.where(rho_low(p := np.linspace(0, 1, 201)[:, None], p.T) <= rho, p - p.T, 0.0))
    assert widest <= allowed_difference(ZCDP(rho)) < 1.3 * widest + 0.01


def test_certainty_and_ignorance():
    assert rho_low(1.0, 0.0) == rho_low(0.5, 0.0) == rho_low(1.0, 0.5) == math.inf
    assert rho_low(0.3, 0.3) == rho_low(0.2, 0.6) == rho_low(0.0, 0.0) == 0
    assert rho_low(np.full((2, 1), 0.6), np.full(3, 0.4)).shape == (2, 3)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0])
def test_sound_noise_is_not_caught_and_half_of_it_is(rho, d):
    """20,000 draws of either table on a pair that attains the sensitivity. Five audits of sound noise for each of nine
    claims: one of these 45 errs with a probability of at most 4.5 % by the bound, and next to never in fact, as a
    set shows two thirds of rho. Half the noise is four times rho, of which a set shows more than twice rho."""
    pair = "unit-zero" if d == 1 else "orthogonal"
    proved = []
    for seed in range(5):
        found = audit(AuditSettings("gaussian-cov:sound:zcdp", d=d, rho=rho, pair=pair, draws=20_000, seed=seed))
        assert not found.refutes_claim
        assert found.proved_level <= rho
        proved.append(found.proved_level)
    assert max(proved) > 0.03 * rho  # and it is not blind
    draws = 50_000 if rho < 0.1 else 20_000
    assert detection_limit(ZCDP(rho), draws // 2).factor < 2
    broken = audit(AuditSettings("half-noise:gaussian-cov:zcdp", d=d, rho=rho, pair=pair, draws=draws))
    assert broken.proved_level > rho
    assert broken.sentence.startswith("Caught: rho is at least")


@pytest.mark.parametrize("rho", [0.01, 1.0])
def test_half_the_noise_is_four_times_rho(rho):
    """Exactly: the noise of either event against the sensitivity of the sound one."""
    first, _ = tables(catalogue(2)[0])
    sound, half = (
        sampler(find(key), first, ZCDP(rho)).events[0]
        for key in ("gaussian-cov:sound:zcdp", "half-noise:gaussian-cov:zcdp")
    )
    assert (sound.sensitivity / sound.scale) ** 2 / 2 == pytest.approx(rho)
    assert (sound.sensitivity / half.scale) ** 2 / 2 == pytest.approx(4 * rho)
