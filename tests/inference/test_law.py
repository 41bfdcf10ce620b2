"""N(A), the variance of the noise on <A, C>, against the draws of every shape of noise and of the private sampler."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

import privcov
from privcov.bundle.read import OpenedBundle
from privcov.core.guarantees import PureDP, ZCDP
from privcov.inference import entries, regression
from privcov.inference.unbiased import combine_moments, merge_class_anchors, unbiased_moments
from privcov.measurements.exact.private_moment import measure_exactly
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory import tails
from privcov.measurements.noise_theory.noise_law import NoiseLaw, law_of

D, R = 4, 2.0
MEAN = np.array([0.5, -0.3, 0.2, 0.6])
COVARIANCE = 0.09 * 0.5 ** np.abs(np.subtract.outer(np.arange(D), np.arange(D)))
SHAPES = {
    "isotropic": NoiseDistribution("isotropic", 0.004, D, 1),
    "upper-triangle": NoiseDistribution("upper-triangle", 0.004, D, 1),
    "free-trace": NoiseDistribution("free-trace", 0.004, D, 1),
    "one group": NoiseDistribution("free-groups", 0.004, D, 1, groups=(0,) * D, weights=(2.0,)),
    "free diagonal": NoiseDistribution("free-groups", 0.004, D, 1, groups=(0, 1, 2, 3), weights=(8.0, 8.0, 6.0, 9.0)),
    "laplace": NoiseDistribution("laplace", 0.004, D, 1),
    "wishart-difference": NoiseDistribution("wishart-difference", 0.002, D, 1),
    "coupled": NoiseDistribution("coupled-wishart", 0.0005, D, 1, measured=1),
}


def form(seed: int) -> np.ndarray:
    """A symmetric matrix of no special shape."""
    a = np.random.default_rng(seed).standard_normal((D, D))
    return a + a.T


def moment(covariance: np.ndarray, mean: np.ndarray, square: float) -> np.ndarray:
    """The exact joint moment in unit-ball units."""
    edge = math.sqrt(square) * mean[:, None] / R
    return np.block([[(covariance + np.outer(mean, mean)) / R**2, edge], [edge.T, np.array([[square]])]])


def release(noise: NoiseDistribution, rng: np.random.Generator, square: float = 0.5) -> NoisyMoment:
    """The measurement of rows with exactly this mean and covariance."""
    whole = moment(COVARIANCE, MEAN, square) + noise.draw(rng)
    whole[-1, -1] = square
    return NoisyMoment(whole, noise, None, "joint", 10**9, R, anchor_squared=square)


def covariance_of(measured: NoisyMoment) -> np.ndarray:
    return combine_moments(measured, 0.0, 1e9, ("a", "b", "c", "d"), np.ones(D), np.zeros(D), None).covariance


@pytest.mark.parametrize("name", SHAPES)
def test_the_variance_of_a_form_is_that_of_the_draws(name):
    """3,000 draws: a variance that is off by 13 % is seen (5 standard deviations of the estimate, more for Laplace)."""
    rng = np.random.default_rng(3)
    drawn = [covariance_of(release(SHAPES[name], rng)) for _ in range(3000)]
    law = law_of(release(SHAPES[name], rng))
    for seed in range(3):
        seen = np.array([np.sum(form(seed) * (c - COVARIANCE)) for c in drawn])
        expected = law.form_variance(form(seed), MEAN, COVARIANCE)
        fourth = stats.kurtosis(seen) + 2
        assert abs(seen.var() / expected - 1) < 5 * math.sqrt(fourth / len(seen))
        assert abs(seen.mean()) < 5 * math.sqrt(expected / len(seen))  # the square of a noisy mean is taken out


@pytest.mark.parametrize("name", [n for n in SHAPES if not n.startswith("coupled")])
def test_the_law_is_that_of_the_distribution(name):
    """Without a mean the covariance is the block: the same number by another way, to rounding."""
    noise = dataclasses.replace(SHAPES[name], n_anchors=0)
    measured = NoisyMoment(COVARIANCE / R**2, noise, None, "none", 100, R)
    for seed in range(3):
        expected = R**4 * noise.form_variance(form(seed))
        assert law_of(measured).form_variance(form(seed), 0 * MEAN, COVARIANCE) == pytest.approx(expected)


def test_a_noisy_number_of_rows_moves_the_covariance_by_its_part():
    """C over n (1 + u) is C - u (C - m m') to first order: 4,000 draws of u, deviation 1 %; sees 12 %."""
    noise, rng = NoiseDistribution("isotropic", 1e-9, D, 1), np.random.default_rng(0)
    law = law_of(release(noise, rng), count=0.01)
    a, seen = form(1), []
    for _ in range(4000):
        u = 1 + 0.01 * rng.standard_normal()
        second = (COVARIANCE + np.outer(MEAN, MEAN)) / u - np.outer(MEAN, MEAN) / u**2
        seen.append(np.sum(a * second))
    assert np.var(seen) == pytest.approx(law.form_variance(a, MEAN, COVARIANCE), rel=0.12)


@pytest.mark.parametrize("name", ["laplace", "wishart-difference"])
def test_the_excess_kurtosis_of_an_entry(name):
    """20,000 draws with one seed: entries above and on the diagonal, within 0.35 of the formula."""
    rng, noise = np.random.default_rng(4), dataclasses.replace(SHAPES[name], n_anchors=0)
    drawn = np.array([noise.draw(rng) for _ in range(20_000)])
    law = law_of(NoisyMoment(COVARIANCE, noise, None, "none", 100, R))
    off, on = stats.kurtosis(drawn[:, 0, 1]), stats.kurtosis(drawn[:, 1, 1])
    assert abs(off - float(law.excess_kurtosis(1.0, 0.0))) < 0.35
    assert abs(on - float(law.excess_kurtosis(1.0, 1.0))) < 0.6


def test_gaussian_noise_has_no_excess():
    assert float(law_of(release(SHAPES["isotropic"], np.random.default_rng(0))).excess_kurtosis(1.0, 0.5)) == 0.0


# --- the private sampler ---------------------------------------------------


@pytest.mark.parametrize(
    ("guarantee", "shape", "n_public"),
    [
        (ZCDP(0.5), "isotropic", True),
        (ZCDP(0.5), "isotropic", False),
        (PureDP(2.0), "laplace", True),
        (PureDP(2.0), "wishart-difference", True),
        (PureDP(2.0), "wishart-difference", False),
    ],
)
def test_the_private_sampler_has_the_law(guarantee, shape, n_public):
    """60 measurements of one table; the noise is the system's, so each bound has a chance below 1e-8 of a false alarm.

    It sees a variance that is wrong by a factor of 3.
    """
    rows = np.random.default_rng(0).uniform(0.2, 0.9, size=(400, 3))
    private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 1)] * 3, name="t", n_public=n_public)
    known = [
        unbiased_moments(OpenedBundle(measure_exactly(private, guarantee, shape=shape), {}, {}, ())) for _ in range(60)
    ]
    work = 2 * (rows - 0.5)
    truth = np.cov(work.T)
    a = form(2)[:3, :3]
    law = known[0].law
    expected = law.form_variance(a, work.mean(axis=0), truth)
    seen = np.array([np.sum(a * (k.covariance - truth)) for k in known])
    ratio = float(np.mean(seen**2)) / expected
    assert 0.3 < ratio < 3.0, ratio
    means = np.array([k.mean - work.mean(axis=0) for k in known])
    assert (
        0.3
        < float(np.mean(means**2)) / float(np.mean(law.mean_variance + law.count_variance * work.mean(axis=0) ** 2))
        < 2.2
    )


# --- exact tails ---------------------------------------------------


def test_tails_of_a_normal_plus_a_laplace_number():
    """Against the integral of the density, over 18 orders of magnitude of the probability, to 1 %."""
    from scipy.integrate import quad

    for g, t in ((0.5, 1.0), (0.5, 4.0), (0.1, 8.0), (2.0, 6.0)):
        exact = (
            2
            * quad(
                lambda x, g=g, t=t: 0.5 * math.exp(-abs(x)) * stats.norm.sf((t - x) / math.sqrt(g)),
                -60,
                60,
                points=[0, t],
                limit=400,
            )[0]
        )
        assert float(tails.tail(np.array(t), np.array(g), np.array(2.0), 1.0)) == pytest.approx(exact, rel=0.01)


def test_quantiles_between_normal_and_laplace():
    """Exact at both ends; between them 200,000 draws of a Wishart entry, whose tail is off by at most 0.2 points."""
    assert tails.quantile(0.95, np.array([0.0]))[0] == pytest.approx(stats.norm.ppf(0.975))
    assert tails.quantile(0.95, np.array([3.0]))[0] == pytest.approx(math.log(20) / math.sqrt(2), rel=1e-3)
    rng, f = np.random.default_rng(8), 6
    x, y = rng.standard_normal((2, 200_000, f))
    p, q = rng.standard_normal((2, 200_000, f))
    entry = ((x * y).sum(axis=1) - (p * q).sum(axis=1)) / math.sqrt(2 * f)
    z = tails.quantile(0.95, np.array([3 / f]))[0]
    assert abs(float(np.mean(np.abs(entry) <= z)) - 0.95) < 0.002


# --- slow literal formulas ---------------------------------------------------


def literal_bias(law: NoiseLaw, mean: np.ndarray, v: np.ndarray, e: np.ndarray, q: np.ndarray) -> float:
    """sum_ab Q_ab Cov((E v)_a, (E e)_b) from the covariance of every pair of entries of E, written out."""
    d = len(v)

    def block(a: int, c: int, b: int, g: int) -> float:
        """Cov(W_ac, W_bg)."""
        if a == c and b == g:
            return (law.diagonal_excess[a] + 2 * law.entry_variance if a == b else 0.0) + law.diagonal_covariance
        return law.entry_variance * float(sorted((a, c)) == sorted((b, g)))

    def square(a: int, c: int, b: int, g: int) -> float:
        """Cov of (e e')_ac and (e e')_bg, and of m e' + e m', for independent normal e of variance law.mean."""
        same = np.eye(d)
        pure = law.mean_variance**2 * (same[a, b] * same[c, g] + same[a, g] * same[c, b])
        m = mean
        mixed = law.mean_variance * (
            m[a] * m[b] * same[c, g] + m[a] * m[g] * same[c, b] + m[c] * m[b] * same[a, g] + m[c] * m[g] * same[a, b]
        )
        return pure + mixed

    span = range(d)
    return sum(
        q[a, b] * v[c] * e[g] * (block(a, c, b, g) + square(a, c, b, g))
        for a in span
        for b in span
        for c in span
        for g in span
    )


def test_the_bias_of_noisy_regressors_is_the_sum_over_all_entries():
    rng = np.random.default_rng(5)
    for common in (0.0, -1e-4):
        law = NoiseLaw(1e-3, np.array([-1e-3, -2e-4, 0.0, -5e-4]), common, 4e-4)
        part = regression._Part(law, MEAN, COVARIANCE, 1e4, law.entry_variance)
        v, e = rng.standard_normal((2, D))
        q = np.zeros((D, D))
        a = rng.standard_normal((2, 2))
        q[2:, 2:] = a @ a.T
        assert part.bias(v, e, q) == pytest.approx(literal_bias(law, MEAN, v, e, q))


def test_partial_correlations_at_once_are_those_of_one_pair_at_a_time():
    """The estimate and N(A_r) of the vectorised pairs, against the literal steps for one pair."""
    rng = np.random.default_rng(6)
    known = combine_moments(
        release(SHAPES["free diagonal"], rng), 0.0, 5_000.0, ("a", "b", "c", "d"), np.ones(D), np.zeros(D), None
    )
    part = regression._part(known, [0, 1, 2, 3])
    found = regression.partial_correlations(known, 0.95)
    for i, j in ((0, 1), (1, 3), (0, 3)):
        rest = [k for k in range(D) if k not in (i, j)]
        q = np.zeros((D, D))
        q[np.ix_(rest, rest)] = np.linalg.inv(known.covariance[np.ix_(rest, rest)])
        vectors = []
        for k in (i, j):
            v = -q @ known.covariance[:, k]
            v[k] = 1.0
            vectors.append(v)
        t = [[float(v @ known.covariance @ w) + part.bias(v, w, q) for w in vectors] for v in vectors]
        assert found.estimate[i, j] == pytest.approx(t[0][1] / math.sqrt(t[0][0] * t[1][1]))


def test_the_noise_of_a_correlation_is_that_of_its_form():
    known = combine_moments(
        release(SHAPES["free diagonal"], np.random.default_rng(6)),
        0.02,
        5_000.0,
        ("a", "b", "c", "d"),
        np.ones(D),
        np.zeros(D),
        None,
    )
    on = np.diag(known.covariance)
    a = np.sqrt(on[None, :] / on[:, None])
    n0, n1, n2 = entries._correlation_noise(known, a)
    i, j = 0, 2
    r = known.covariance[i, j] / math.sqrt(on[i] * on[j])
    shaped = np.zeros((D, D))
    shaped[i, j] = shaped[j, i] = 0.5
    shaped[i, i], shaped[j, j] = -r * a[i, j] / 2, -r / (2 * a[i, j])
    size = float(np.sum(shaped**2))
    exact = known.law.form_variance(shaped, known.mean, known.covariance)
    # Entries take the noise in m out of |A m|^2 at r = 0.
    assert n0[i, j] + r * (n1[i, j] + r * n2[i, j]) == pytest.approx(
        exact, rel=4 * known.law.mean_variance**2 * size / exact + 1e-9
    )


def test_class_sums_read_as_one_mean():
    """k noisy columns add up to one with k times the variance, written with the anchor s / sqrt(k)."""
    data = privcov.source("breast-cancer")
    rel = privcov.release(data, ZCDP(1.0), "auto-cov", random_state=0, centre="classes")
    joint = merge_class_anchors(rel.noisy_moment)
    mean = R * 0 + rel.row_bound * joint.matrix[:-1, -1] / math.sqrt(joint.matrix[-1, -1])
    sums = rel.noisy_moment.matrix[: data.d, data.d :].sum(axis=1) / math.sqrt(rel.noisy_moment.anchor_squared)
    assert np.allclose(mean, rel.row_bound * sums)
