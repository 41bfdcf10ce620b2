"""What an attacker may conclude: limits, symmetries, and the slow literal way."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from privcov import accounting
from privcov.audit.disclosure import loss, posterior, power, sentences
from privcov.privacy import ApproxDP, GaussianDP, PureDP, ZCDP, shown

GRID = np.linspace(0, 1, 101)
KINDS = [PureDP(0.8), ApproxDP(0.8, 0.01), ZCDP(0.2), GaussianDP(0.7)]


@pytest.mark.parametrize("claim", [PureDP(1e-9), ApproxDP(1e-9, 1e-12), ZCDP(1e-18), GaussianDP(1e-9)], ids=str)
def test_without_information_the_belief_stays(claim):
    np.testing.assert_allclose(posterior(GRID, loss(claim, 0.01)), GRID, atol=1e-7)
    np.testing.assert_allclose(power(claim, GRID), GRID, atol=1e-6)


@pytest.mark.parametrize("claim", [PureDP(60.0), ApproxDP(60.0, 1e-9), ZCDP(1e3), GaussianDP(60.0)], ids=str)
def test_without_privacy_the_belief_is_certain(claim):
    assert posterior(0.01, loss(claim, 0.01)) > 0.999999
    assert power(claim, 1e-6) > 0.999999


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_certainties_do_not_move_and_more_belief_means_more(claim):
    after = posterior(GRID, loss(claim, 0.02))
    assert after[0] == 0
    assert after[-1] == 1
    assert (np.diff(after) > 0).all()
    assert (after[1:-1] > GRID[1:-1]).all()
    found = power(claim, GRID)
    assert (np.diff(found) >= 0).all()
    assert (found >= GRID).all()
    assert (np.diff(found, 2) <= 1e-9).all()  # concave: else mixing two tests would beat it


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_the_best_guess_is_the_curve_at_its_widest(claim):
    """(1 + max(power - alarm)) / 2, the advantage; for zCDP both are bounds over nearly the same pairs."""
    fine = np.linspace(0, 1, 20_001)
    widest = (1 + np.max(power(claim, fine) - fine)) / 2
    assert widest == pytest.approx(accounting.attacker_success(claim), abs=0.003 if isinstance(claim, ZCDP) else 1e-4)


def test_the_gaussian_is_that_of_two_normals():
    """Bayes' rule and the likelihood ratio test, written out, for the answer whether an observation exceeds a cut."""
    mu, chance = 1.3, 0.05
    cut = norm.isf(chance) + mu  # exceeded with this chance under N(mu, 1)
    odds = chance / norm.sf(cut)
    assert posterior(0.3, loss(GaussianDP(mu), chance)) == pytest.approx(0.3 * odds / (0.3 * odds + 0.7))
    observed = norm.pdf(cut, mu) / norm.pdf(cut)  # the loss of the release read in full: less with the same chance
    assert observed < odds
    cut = 0.4
    assert power(GaussianDP(mu), norm.sf(cut)) == pytest.approx(norm.sf(cut - mu))


def test_a_pair_allows_everything_with_probability_delta():
    claim = ApproxDP(1.0, 0.01)
    assert loss(claim, 0.009) == math.inf
    assert posterior(0.2, math.inf) == 1
    assert posterior(0.0, math.inf) == 0
    assert power(claim, 0.0) == pytest.approx(0.01)
    assert loss(claim, 0.01) == math.inf
    assert loss(claim, 0.011) == pytest.approx(1 + math.log(11))


def test_a_mechanism_that_merges_releases_is_covered():
    """P(A) = .021 and Q(A) = .011/e keep (1, .01)-DP: a belief of 10 % becomes 36.6 % with a chance of 2.1 %."""
    claim, p, q = ApproxDP(1.0, 0.01), 0.021, 0.011 / math.e
    for one, other in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
        assert one <= math.e * other + 0.01 + 1e-12
    after = 0.1 * p / (0.1 * p + 0.9 * q)
    assert float(posterior(0.1, loss(claim, p))) == pytest.approx(after)
    assert after > float(posterior(0.1, claim.epsilon))


def test_the_worst_belief_of_a_pair_has_no_mechanism_above_it():
    """Random mechanisms with three releases that keep the pair: the loss of the worst of them is below the bound."""
    claim, rng, tried = ApproxDP(0.7, 0.05), np.random.default_rng(2), 0
    for _ in range(4_000):
        p, q = rng.dirichlet([0.5, 1, 1], 2)
        apart = max(np.maximum(p - math.exp(0.7) * q, 0).sum(), np.maximum(q - math.exp(0.7) * p, 0).sum())
        if apart > 0.05:
            continue
        tried += 1
        for k in range(3):
            assert math.log(p[k] / q[k]) <= loss(claim, p[k]) + 1e-9
    assert tried > 300


def test_zcdp_bounds_the_gaussian_that_has_it():
    mu = 0.9
    zcdp, exact = ZCDP(mu**2 / 2), GaussianDP(mu)
    assert (power(zcdp, GRID) >= power(exact, GRID) - 1e-12).all()
    for chance in (0.2, 0.01, 1e-6):
        assert loss(zcdp, chance) >= loss(exact, chance)


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_sentences_carry_the_numbers(claim):
    told = " ".join(sentences(claim, 0.1, 0.02))
    after = float(posterior(0.1, loss(claim, 0.02)))
    assert f"{shown(accounting.attacker_success(claim) * 100, 3)}\u00a0%" in told
    assert f"{shown(after * 100, 3)}\u00a0%" in told
    assert ("whatever is released" in told) == isinstance(claim, PureDP)
    assert ("printed in clear" in " ".join(sentences(ApproxDP(1.0, 0.1), 0.1, 0.05))) is True


def test_a_probability_is_no_chance():
    with pytest.raises(ValueError, match="chance"):
        loss(PureDP(1.0), 0.0)
