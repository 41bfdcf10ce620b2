"""The first side of a report: whose odds it tells, what it advises at each limit, and how eigenvalues are counted."""

import itertools

import pytest

import privcov
from pages.estimate import shown
from privcov.attacks import disclosure
from privcov.bundle import front
from privcov.core.guarantees import ApproxDP, GaussianDP, NoPrivacy, PureDP, ZCDP
from privcov.metrics.errors import error
from privcov.plots.words import percent


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
    text = front.odds([*claims, NoPrivacy(), *claims])
    assert text.startswith("Under 0.002-zCDP: " + strongest + " Under (8, ")
    assert text.endswith(": " + weakest)
    assert text.count("Under") == 2


def test_one_guarantee_is_one_sentence_and_none_a_certainty():
    assert front.odds([ZCDP(0.5), NoPrivacy(), ZCDP(0.5)]) == f"Under 0.5-zCDP: {disclosure.suspicion(ZCDP(0.5))}"
    for claims in ([], [NoPrivacy()]):
        assert front.odds(claims) == "A 10\u00a0% suspicion about one row can become certainty."


# --- what to do -----------------------------------------------------------------------------------------------------


def test_a_false_claim_is_not_released_however_small_its_error(published, data):
    for wrong in (0.01, 2.0):
        assert front._advised(published, data, wrong, correlations=False) == front.FALSE


def test_a_report_and_its_page_say_the_same(rel, data):
    for wrong in (0.01, 0.5, 2.0):
        said = front._advised(rel, data, wrong, correlations=False)
        assert f"**{said.split('.')[0]}.** {said.split('. ', 1)[1]}" == shown.verdict(wrong, data, rel)
    wine = privcov.source("wine", random_state=0)
    other = privcov.release(wine, ZCDP(0.01), "auto-cov", random_state=1)
    found = front.of_release(other, wine, correlations=True).recommendation
    assert "typical error of a correlation" in found
    assert found == shown.verdict(error(other, wine, relative=True), wine, other, shown.CORRELATIONS).replace("*", "")


def test_a_precision_is_used_where_it_is_better_than_zero(data):
    precision = privcov.release(data, ZCDP(1.0), "auto-precision", random_state=1)
    assert front._advised(precision, data, 1.0, correlations=False) == front.HOPELESS
    fit = front._advised(precision, data, 0.01, correlations=False)
    assert fit == f"Use it where an error of {percent(0.01)} is small enough."


# --- eigenvalues ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_one_step_is_said_as_the_relation_has_it(relation):
    """A value under replace-one; elsewhere the presence of a row, as two values of it are two steps apart."""
    data = privcov.source("ar1-covariance", n=2000, d=2, random_state=0)
    rel = privcov.release(data, ZCDP(0.1), "gaussian-cov", neighbours=relation, random_state=0)
    words = front.risk_of(rel)
    assert ("suspicion about one row" in words) is (relation == "replace-one")
    assert ("Which of two values one given row has" in words) is (relation == "replace-one")
    assert ("presence of one row" in words) is (relation != "replace-one")
