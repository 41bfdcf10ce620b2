"""What a release leaves an attacker, told before any table is at hand."""

import pytest

import privcov
from privcov import accounting
from privcov.audit.risk import trade_off_of_method
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, GaussianDP, PureDP, ZCDP

METHODS_USED = ("auto-cov", "gaussian-cov", "adaptive-cov", "wishart-difference", "laplace-cov", "wishart-approx")
CASES = [(method, claim) for method in METHODS_USED for claim in (PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.1))
         if not METHODS.get(method).refuses(claim.kind)]  # fmt: skip


@pytest.mark.parametrize(("method", "claim"), CASES, ids=str)
def test_the_number_of_a_small_run_is_that_of_a_larger_one(method, claim):
    table = privcov.source("banded-covariance", n=300, d=11, random_state=0)
    larger = privcov.release(method, table, claim, random_state=4).attacker_success
    assert accounting.attacker_success(trade_off_of_method(method, claim)) == pytest.approx(larger)


def test_gaussian_noise_is_judged_by_its_mu_and_not_by_the_worst_mechanism():
    claim = ApproxDP(1.0, 1e-6)
    found = trade_off_of_method("gaussian-cov", claim)
    assert isinstance(found, GaussianDP)
    assert found.mu == pytest.approx(accounting.mu_of(claim))
    assert accounting.attacker_success(found) < accounting.attacker_success(
        trade_off_of_method("wishart-approx", claim)
    )
