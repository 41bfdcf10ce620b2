"""The first side of a report: whose odds it tells, what it advises at each limit, and how eigenvalues are counted."""

import itertools

import pytest

import privcov
from pages.estimate import shown
from privcov.attacks import disclosure
from privcov.bundle import summary
from privcov.core.guarantees import ApproxDP, GaussianDP, NoPrivacy, PureDP, ZCDP
from privcov.metrics.errors import error


@pytest.fixture(scope="module")
def data():
    return privcov.source("ar1-covariance", n=400, d=5, random_state=0)


@pytest.fixture(scope="module")
def rel(data):
    return privcov.release(data, ZCDP(1.0), "gaussian-cov", random_state=1)


@pytest.fixture(scope="module")
def published(data):
    found = privcov.release(data, ApproxDP(1.0, 1e-6), "gaussian-cov", calibration="as-published-1", random_state=1)
    assert found.claim_is_false
    return found


# --- odds -----------------------------------------------------------------------------------------------------------

# By what an attacker can guess: 51.6, 73.1, 84.1 and 99.97 of a hundred.
RISING = (ZCDP(0.002), PureDP(1.0), GaussianDP(2.0), ApproxDP(8.0, 1e-6))


@pytest.mark.parametrize("claims", [*itertools.permutations(RISING)], ids=str)
def test_the_odds_are_those_of_the_strongest_and_of_the_weakest(claims):
    strongest, weakest = (disclosure.suspicion(claim) for claim in (RISING[0], RISING[-1]))
    text = summary.odds([*claims, NoPrivacy(), *claims])
    assert text.startswith("Under 0.002-zCDP: " + strongest + " Under (8, ")
    assert text.endswith(": " + weakest)
    assert text.count("Under") == 2


# --- what to do -----------------------------------------------------------------------------------------------------


def test_a_false_claim_is_not_released_however_small_its_error(published, data):
    for wrong in (0.01, 2.0):
        assert summary._advised(published, data, wrong, correlations=False) == summary.FALSE


def test_a_report_and_its_page_say_the_same(rel, data):
    for wrong in (0.01, 0.5, 2.0):
        said = summary._advised(rel, data, wrong, correlations=False)
        assert f"**{said.split('.')[0]}.** {said.split('. ', 1)[1]}" == shown.verdict(wrong, data, rel)
    wine = privcov.source("wine", random_state=0)
    other = privcov.release(wine, ZCDP(0.01), "auto-cov", random_state=1)
    found = summary.summarize_release(other, wine, correlations=True).recommendation
    assert "typical error of a correlation" in found
    assert found == shown.verdict(error(other, wine, relative=True), wine, other, shown.CORRELATIONS).replace("*", "")


# --- eigenvalues ----------------------------------------------------------------------------------------------------
