"""What a release leaves an attacker, told before any table is at hand."""

import math

import pytest

import privcov
from privcov.audit.disclosure import loss, posterior
from privcov.audit.risk import PRIOR, UNLUCKY, risk
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, GaussianDP, PureDP, ZCDP

METHODS_USED = ("auto-cov", "gaussian-cov", "adaptive-cov", "wishart-difference", "laplace-cov")
CASES = [(method, claim) for method in METHODS_USED for claim in (PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.1))
         if not METHODS.get(method).refuses(claim.kind)]  # fmt: skip


@pytest.mark.parametrize(("method", "claim"), CASES, ids=str)
def test_the_number_of_a_small_run_is_that_of_a_larger_one(method, claim):
    table = privcov.source("banded-covariance", n=300, d=11)
    assert risk(method, claim).success == pytest.approx(privcov.release(method, table, claim, seed=4).attacker_success)


def test_pure_odds_grow_by_e_to_the_epsilon_whatever_comes_out():
    found = risk("laplace-cov", PureDP(1.0))
    odds = PRIOR / (1 - PRIOR) * math.e
    assert found.after == pytest.approx(odds / (1 + odds))
    assert found.always


def test_gaussian_noise_is_judged_by_its_mu_and_not_by_the_worst_mechanism():
    found = risk("gaussian-cov", ApproxDP(1.0, 1e-6))
    mu = privcov.accounting.mu_of(ApproxDP(1.0, 1e-6))
    assert found.after == pytest.approx(float(posterior(PRIOR, loss(GaussianDP(mu), UNLUCKY))), rel=1e-6)
    assert not found.always
    assert found.success < risk("wishart-approx", ApproxDP(1.0, 1e-6)).success


def test_approximate_dp_bounds_a_mechanism_that_uses_its_delta_up():
    """Two outcomes, P(A) = 0.021 and Q(A) = 0.011 / e, are (1, 0.01)-DP, and lift 10 % to 36.6 %."""
    epsilon, delta, chance = 1.0, 0.01, 0.021
    lifted = float(posterior(PRIOR, math.log(chance / (0.011 / math.e))))
    assert lifted == pytest.approx(0.366, abs=0.001)
    assert lifted <= float(posterior(PRIOR, epsilon - math.log1p(-delta / chance))) + 1e-12
