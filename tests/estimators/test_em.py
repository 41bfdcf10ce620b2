"""EMCov: exact accounting of the draws, the exponent, and a literal transcription with another sampler."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privcov.core.guarantees import ApproxDP, PureDP, ZCDP
from privcov.measurements.exponential_vectors import measure_directions
from privcov.releases.public import release
from privcov.tables.dataset import Dataset


def data(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) * np.linspace(2, 0.5, d)
    return Dataset.from_rows(x / np.linalg.norm(x, axis=1, keepdims=True), mean_is_zero=True)


def draws(rel):
    return [e for e in rel.events if e.mechanism == "exponential"]


@pytest.mark.parametrize("budgets", ["auto", "adaptive", "uniform"])
@pytest.mark.parametrize("asked", [ZCDP(0.1), PureDP(1.7), ApproxDP(1.0, 1e-6)])
def test_draws_and_values_spend_the_whole_and_no_more(asked, budgets):
    rel = release(data(d=7), asked, "em-cov", budgets=budgets, random_state=0)
    epsilons = [Fraction(e.sensitivity) / Fraction(e.scale) for e in draws(rel)]
    assert len(epsilons) == 6, "the seventh direction is what six leave"
    if asked.kind == "pure":
        assert float(sum(epsilons)) == pytest.approx(1.7 / 2, rel=1e-12)
    else:
        rho = sum(e * e for e in epsilons) / 8
        values = Fraction(rel.events[0].sensitivity) / Fraction(rel.events[0].scale)
        assert float(rho) == pytest.approx(float(values**2 / 2), rel=1e-12)
        if asked.kind == "zcdp":
            assert float(rho) == pytest.approx(0.05, rel=1e-12)
            assert rho + values**2 / 2 <= Fraction(0.1)
    assert (np.ptp([float(e) for e in epsilons]) < 1e-12) == (
        budgets == "uniform" or (budgets == "auto" and asked.kind != "pure")
    )


def test_uniform_epsilons_under_zcdp():
    """eps_i = 2 sqrt(rho/(d-1)) with half of rho for the vectors; the paper's exponent pays for d."""
    for how, paid in (({}, 4), ({"calibration": "as-published-5"}, 5)):
        events = draws(release(data(d=5), ZCDP(0.2), "em-cov", **how))
        assert len(events) == paid
        waste = 2 if how else 1
        for event in events:
            assert 1 / event.multiplier == pytest.approx(2 * np.sqrt(0.2 / paid) / waste, rel=1e-12)


def test_the_last_direction_is_a_function_of_the_others():
    """With and without its share it spans the same line, draw for draw: only its sign is drawn."""
    for d in (1, 2, 5):
        ds, shares = data(d=d), [ZCDP(0.3)] * d
        paid, events = measure_directions(ds, shares, centre="zero", rng=np.random.default_rng(d))
        free, fewer = measure_directions(ds, shares[: max(d - 1, 1)], centre="zero", rng=np.random.default_rng(d))
        assert len(events) == d
        assert len(fewer) == max(d - 1, 1)
        np.testing.assert_allclose(np.abs(paid.T @ free), np.eye(d), atol=1e-12)
        np.testing.assert_allclose(free[:, -1:] @ free[:, -1:].T, np.eye(d) - free[:, :-1] @ free[:, :-1].T, atol=1e-12)


def test_the_published_exponent_spends_half():
    rel = release(data(), PureDP(2.0), "em-cov", calibration="as-published-5")
    assert float(sum(Fraction(e.sensitivity) / Fraction(e.scale) for e in draws(rel))) == pytest.approx(0.5)
    assert rel.actual_guarantee.epsilon == pytest.approx(1.5)
    with pytest.raises(ValueError, match="stated under pure DP"):
        release(data(), ApproxDP(1.0, 1e-6), "em-cov", calibration="as-published-5", random_state=0)


def slow_em(x, epsilon, rng, factor):
    """Amin et al. (2019), Algorithm 1 with C = X'X: Laplace values, budgets by their roots, and each direction drawn by
    rejection from the uniform sphere with the largest possible density as bound (slow, and obviously exact)."""
    n, d = x.shape
    c = x.T @ x
    half = epsilon / 2
    values = np.clip(np.sort(np.linalg.eigvalsh(c))[::-1] + rng.laplace(scale=2 / half, size=d), 0, n)
    root = np.sqrt(values + 2 / half * np.log(2 * d / 0.1))
    last = d - 1 if factor == 1 / 2 else d  # what the others determine is free, which the paper does not use
    budgets = half * root / root[:last].sum()
    p, thetas = np.eye(d), []
    for i in range(d):
        inner = p.T @ c @ p
        top = np.linalg.eigvalsh(inner)[-1]
        while True:
            u = rng.standard_normal(d - i)
            u /= np.linalg.norm(u)
            if rng.random() < np.exp(factor * budgets[i] * (u @ inner @ u - top)):
                break
        thetas.append(p @ u)
        p = np.linalg.svd(np.array(thetas))[2][i + 1 :].T
    return sum(v * np.outer(t, t) for v, t in zip(values, thetas, strict=True)) / n


@pytest.mark.parametrize(("calibration", "factor"), [("sound", 1 / 2), ("as-published-5", 1 / 4)])
def test_agrees_with_the_literal_steps(calibration, factor):
    """1,500 draws each, KS on the Frobenius error (limit 0.0712 is p = 0.001); the other exponent is seen."""
    ds, rng = data(n=100), np.random.default_rng(1)
    truth = ds.rows.T @ ds.rows / ds.n
    fast = [
        np.linalg.norm(release(ds, PureDP(2.0), "em-cov", random_state=s, calibration=calibration).covariance - truth)
        for s in range(1500)
    ]

    def slow(how):
        return [np.linalg.norm(slow_em(ds.rows, 2.0, rng, how) - truth) for _ in range(1500)]

    assert stats.ks_2samp(fast, slow(factor)).statistic < 0.0712
    assert stats.ks_2samp(fast, slow(0.75 - factor)).statistic > 0.0712


def test_more_columns_than_it_can_do_is_a_sentence_with_a_time():
    with pytest.raises(ValueError, match=r"300 directions one after another, about [\d.]+ seconds"):
        release(data(n=5, d=300), ZCDP(1.0), "em-cov", random_state=0)
