"""Binomial bounds against another implementation, and what they are worth."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

from privcov.attacks import bounds
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, PureDP, ZCDP


@pytest.mark.parametrize("n", [1, 7, 500, 50_000])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 1.0])
@pytest.mark.parametrize("alpha", [0.025, bounds.ALPHA])
def test_they_are_those_of_clopper_and_pearson(n, share, alpha):
    k = round(share * n)
    one_sided = binomtest(k, n).proportion_ci(1 - 2 * alpha, method="exact")
    assert float(bounds.binomial_low(k, n, alpha)) == pytest.approx(one_sided.low, rel=1e-8, abs=1e-15)
    assert float(bounds.binomial_high(k, n, alpha)) == pytest.approx(one_sided.high, rel=1e-8)


@pytest.mark.parametrize("p", [0.001, 0.2, 0.7])
def test_the_bound_is_wrong_at_most_so_often(p):
    """Exactly, by summing the binomial law over every outcome."""
    from scipy.stats import binom

    n, alpha, k = 60, 0.05, np.arange(61)
    assert binom.pmf(k, n, p)[bounds.binomial_low(k, n, alpha) > p].sum() <= alpha
    assert binom.pmf(k, n, p)[bounds.binomial_high(k, n, alpha) < p].sum() <= alpha


def test_epsilon_and_difference_of_the_worst_mechanisms():
    """Two outcomes with odds e^epsilon, and the same after a coin of bias delta that reveals all."""
    epsilon, delta = 1.3, 0.07
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    assert float(bounds.epsilon_low(p, q)) == pytest.approx(epsilon)
    p2 = delta + (1 - delta) * p
    q2 = (1 - delta) * q
    assert float(bounds.epsilon_low(p2, q2, delta)) == pytest.approx(epsilon)
    assert bounds.allowed_difference(PureDP(epsilon)) == pytest.approx(p - q)
    assert bounds.allowed_difference(ApproxDP(epsilon, delta)) == pytest.approx(p2 - q2)
    assert bounds.epsilon_low(0.0, 0.5) == -math.inf


@pytest.mark.parametrize("rho", [1e-3, 0.1, 0.5, 1.0, 3.0])
def test_the_difference_that_zcdp_allows(rho):
    """Never less than Gaussian noise shows, never more than Pinsker's inequality or the attacker meter permits."""
    found, guess = bounds.allowed_difference(ZCDP(rho)), accounting.attacker_success(ZCDP(rho))
    assert 2 * ndtr(math.sqrt(rho / 2)) - 1 <= found <= math.sqrt(rho / 2) + 1e-12
    assert (1 + found) / 2 <= guess + 1e-12


@pytest.mark.parametrize("claim", [PureDP(0.7), ZCDP(0.3), ApproxDP(1.0, 1e-5)], ids=str)
def test_a_weaker_claim_is_the_one_with_so_much_less_noise(claim):
    made = accounting.laplace_scale if isinstance(claim, PureDP) else accounting.gaussian_scale
    for times in (1.5, 4.0):
        assert made(bounds.weaker(claim, times), 1.0) == pytest.approx(made(claim, 1.0) / times, rel=1e-6)


def test_the_sets_of_an_audit_share_its_chance_of_error():
    """Two sets, a bound for either table each: together they may be wrong as often as the page says, and no more."""
    from privcov.attacks import bounds

    assert 2 * bounds.SETS * bounds.ALPHA <= bounds.ERROR
