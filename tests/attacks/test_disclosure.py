"""What an attacker may conclude: limits, symmetries, and the slow literal way."""

import math
import re

import numpy as np
import pytest
from scipy.stats import norm

from privcov.attacks import disclosure
from privcov.attacks.disclosure import posterior, privacy_loss, suspicion, true_positive_rate, usual_chance
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, GaussianDP, PureDP, ZCDP

GRID = np.linspace(0, 1, 101)
KINDS = [PureDP(0.8), ApproxDP(0.8, 0.01), ZCDP(0.2), GaussianDP(0.7)]


@pytest.mark.parametrize("claim", [PureDP(1e-9), ApproxDP(1e-9, 1e-12), ZCDP(1e-18), GaussianDP(1e-9)], ids=str)
def test_without_information_the_belief_stays(claim):
    np.testing.assert_allclose(posterior(GRID, privacy_loss(claim, 0.01)), GRID, atol=1e-7)
    np.testing.assert_allclose(true_positive_rate(claim, GRID), GRID, atol=1e-6)


@pytest.mark.parametrize("claim", [PureDP(60.0), ApproxDP(60.0, 1e-9), ZCDP(1e3), GaussianDP(60.0)], ids=str)
def test_without_privacy_the_belief_is_certain(claim):
    assert posterior(0.01, privacy_loss(claim, 0.01)) > 0.999999
    assert true_positive_rate(claim, 1e-6) > 0.999999


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_certainties_do_not_move_and_more_belief_means_more(claim):
    after = posterior(GRID, privacy_loss(claim, 0.02))
    assert after[0] == 0
    assert after[-1] == 1
    assert (np.diff(after) > 0).all()
    assert (after[1:-1] > GRID[1:-1]).all()
    found = true_positive_rate(claim, GRID)
    assert (np.diff(found) >= 0).all()
    assert (found >= GRID).all()
    assert (np.diff(found, 2) <= 1e-9).all()  # concave: else mixing two tests would beat it


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_the_best_guess_is_the_curve_at_its_widest(claim):
    """(1 + max(true_positive_rate - alarm)) / 2, the advantage; for zCDP both are bounds over nearly the same pairs."""
    fine = np.linspace(0, 1, 20_001)
    widest = (1 + np.max(true_positive_rate(claim, fine) - fine)) / 2
    assert widest == pytest.approx(accounting.attacker_success(claim), abs=0.003 if isinstance(claim, ZCDP) else 1e-4)


def test_the_gaussian_curve_is_that_of_two_normals():
    """Against simulation of nothing: the likelihood ratio test, written out."""
    mu, cut = 1.3, 0.4
    assert true_positive_rate(GaussianDP(mu), norm.sf(cut)) == pytest.approx(norm.sf(cut - mu))


def exceeded(p: np.ndarray, q: np.ndarray, nats: float) -> float:
    """P(ln P/Q > nats) of two distributions on the same values, with room for rounding."""
    with np.errstate(divide="ignore"):
        return float(p[np.log(p) - np.log(q) > nats + 1e-9].sum())


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.02, 0.001])
def test_no_mechanism_of_the_pair_exceeds_the_loss_more_often(chance):
    """2,000 mechanisms with up to six answers at four levels; delta is what each needs there, in both directions."""
    rng = np.random.default_rng(7)
    for _ in range(2_000):
        p, q = rng.dirichlet(np.full(rng.integers(2, 7), 0.4), size=2) + 1e-12
        p, q = p / p.sum(), q / q.sum()
        for epsilon in (0.1, 0.5, 1.0, 3.0):
            delta = max(np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum())
            if 0 < delta < 1:
                assert exceeded(p, q, privacy_loss(ApproxDP(epsilon, float(delta)), chance)) <= chance


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("chance", [0.4, 0.05, 0.001])
def test_whatever_is_computed_from_a_gaussian_release_keeps_the_loss_and_one_answer_attains_it(mu, chance):
    rng = np.random.default_rng(3)
    grid = np.linspace(-9, 9 + mu, 4_001)
    p, q = np.diff(norm.cdf(grid - mu)), np.diff(norm.cdf(grid))
    p, q = p / p.sum(), q / q.sum()
    for _ in range(300):  # cells of the real line put together at random, by intervals and anyhow
        groups = np.sort(rng.integers(0, 5, p.size)) if rng.random() < 0.5 else rng.integers(0, 5, p.size)
        merged = [np.bincount(groups, weights=w, minlength=5) + 1e-15 for w in (p, q)]
        assert exceeded(*merged, privacy_loss(GaussianDP(mu), chance)) <= chance
    cut = norm.isf(chance) + mu  # "above the cut or not", the answer that moves a belief most
    above = chance, norm.sf(cut)
    assert privacy_loss(GaussianDP(mu), chance) == pytest.approx(math.log(above[0] / above[1]))
    full = mu**2 / 2 + mu * norm.isf(chance)  # exceeded with this chance by who reads the whole release
    assert full < privacy_loss(GaussianDP(mu), chance)


def test_a_pair_allows_everything_with_probability_delta():
    claim = ApproxDP(1.0, 0.01)
    assert privacy_loss(claim, 0.009) == privacy_loss(claim, 0.01) == math.inf
    assert posterior(0.2, math.inf) == 1
    assert posterior(0.0, math.inf) == 0
    assert privacy_loss(claim, 0.02) == pytest.approx(1.0 + math.log(2))
    assert true_positive_rate(claim, 0.0) == pytest.approx(0.01)
    assert privacy_loss(claim, 0.01) == math.inf
    assert privacy_loss(claim, 0.011) == pytest.approx(1 + math.log(11))


def test_a_mechanism_that_merges_releases_is_covered():
    """P(A) = .021 and Q(A) = .011/e keep (1, .01)-DP: a belief of 10 % becomes 36.6 % with a chance of 2.1 %."""
    claim, p, q = ApproxDP(1.0, 0.01), 0.021, 0.011 / math.e
    for one, other in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
        assert one <= math.e * other + 0.01 + 1e-12
    after = 0.1 * p / (0.1 * p + 0.9 * q)
    assert float(posterior(0.1, privacy_loss(claim, p))) == pytest.approx(after)
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
            assert math.log(p[k] / q[k]) <= privacy_loss(claim, p[k]) + 1e-9
    assert tried > 300


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_a_suspicion_is_bounded_upwards(claim):
    chance = usual_chance(claim)
    assert chance == (0.02 if isinstance(claim, ApproxDP) else 0.001)
    said = float(re.search(r"at most ([\d.]+)", suspicion(claim, 0.1))[1]) / 100
    assert 0 <= said - float(posterior(0.1, privacy_loss(claim, chance))) < 0.001 + 1e-9  # one decimal of a percent
    assert ("except" in suspicion(claim)) != isinstance(claim, PureDP)


def test_a_bound_below_one_never_reads_as_certainty_and_rises_with_what_it_bounds():
    chances = 1 - np.geomspace(0.5, 1e-10, 400)
    said = [float(disclosure._share(float(chance)).removesuffix("\u00a0%")) for chance in chances]
    assert (np.array(said) >= 100 * chances - 1e-9).all()
    assert (np.diff(said) >= 0).all()
    assert max(said) < 100
    assert disclosure._share(0.9996) == "99.96\u00a0%"


def test_zcdp_bounds_the_gaussian_that_has_it():
    mu = 0.9
    zcdp, exact = ZCDP(mu**2 / 2), GaussianDP(mu)
    assert (true_positive_rate(zcdp, GRID) >= true_positive_rate(exact, GRID) - 1e-12).all()
    for chance in (0.2, 0.01, 1e-6):
        assert privacy_loss(zcdp, chance) >= privacy_loss(exact, chance)
