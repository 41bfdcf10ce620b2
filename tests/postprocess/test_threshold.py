"""Cuts and the rules for them: against slow formulas, oracles and limits. All draws have fixed seeds."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from privcov.postprocess import threshold
from privcov.postprocess.threshold import Cut, apply_cut, cut_off_diagonal, entry_variance, sure_level, universal_level

OFF = {d: ~np.eye(d, dtype=bool) for d in (5, 30, 40, 50)}


def goe(rng, d, off_diagonal_std):
    a = rng.standard_normal((d, d))
    return off_diagonal_std * (a + a.T) / math.sqrt(2)


def banded(d, *band):
    gap = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return sum(value * (gap == k) for k, value in enumerate(band)) * 1.0


def noisy_sample(rng, sigma, n, std):
    x = rng.standard_normal((n, len(sigma))) @ np.linalg.cholesky(sigma).T
    return x.T @ x / n + goe(rng, len(sigma), std)


def loss(answer, truth):
    return float(((answer - truth)[OFF[len(truth)]] ** 2).sum())


# --- the cut itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_a_cut_keeps_symmetry_and_the_diagonal_and_never_enlarges(kind):
    rng = np.random.default_rng(0)
    s = goe(rng, 30, 1.0)
    variance = np.square(1 + rng.random((30, 30)))
    variance = (variance + variance.T) / 2
    before = s.copy()
    for level in (0.0, 0.7, 2.0, 50.0, math.inf):
        out = apply_cut(s, variance, Cut(kind, level))
        np.testing.assert_array_equal(out, out.T)
        np.testing.assert_array_equal(np.diag(out), np.diag(s))
        assert (np.abs(out) <= np.abs(s)).all()
        if level >= 50:
            assert not out[OFF[30]].any()
        if kind == "hard":
            assert ((out == 0) | (out == s)).all()
    np.testing.assert_array_equal(s, before)
    assert np.isfinite(cut_off_diagonal(np.zeros((3, 3)), np.inf, kind)).all()


def test_a_negative_diagonal_is_left_for_the_spectrum_repair():
    s = np.array([[-1.0, 0.1], [0.1, 2.0]])
    np.testing.assert_array_equal(np.diag(cut_off_diagonal(s, 5.0)), [-1.0, 2.0])


@pytest.mark.parametrize("d", [30, 50])
def test_hard_universal_keeps_next_to_nothing_of_pure_noise(d):
    """Expected number kept: 2 m Q(sqrt(2 log m)), about 0.2. 400 draws: a level 10 % lower would keep 3 times that."""
    rng, m = np.random.default_rng(1), d * (d - 1) / 2
    expected = 2 * m * norm.sf(universal_level(d))
    kept = []
    for _ in range(400):
        out = apply_cut(goe(rng, d, 0.3), np.full((d, d), 0.09), Cut("hard", universal_level(d)))
        kept.append(np.count_nonzero(np.triu(out, 1)))
    assert expected < 0.3
    assert abs(np.mean(kept) - expected) < 4 * math.sqrt(expected / 400)


# --- Stein's estimate ---------------------------------------------------------------------------------------


def slow_risk(s, v, t):
    """C.6, written out: sum over i < j of v - 2 v 1{|z| <= t} + min(z^2, t^2) v."""
    total = 0.0
    for i in range(len(s)):
        for j in range(i + 1, len(s)):
            z = s[i, j] / math.sqrt(v[i, j])
            total += v[i, j] - 2 * v[i, j] * (abs(z) <= t) + min(z * z, t * t) * v[i, j]
    return total


def test_sure_level_minimises_the_written_out_estimate():
    rng = np.random.default_rng(2)
    for _ in range(20):
        d = 5
        v = np.square(0.5 + rng.random((d, d)))
        v = (v + v.T) / 2
        s = goe(rng, d, 1.0) * np.sqrt(v) + rng.choice([0, 3.0])
        best = slow_risk(s, v, sure_level(s, v) + 1e-12)  # the level is one of the |z|, up to the rounding of a root
        tried = [0.0, *np.abs(s / np.sqrt(v)).ravel(), *np.linspace(0, 8, 200)]
        assert best <= min(slow_risk(s, v, t + 1e-12) for t in tried) + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("level", [0.5, 1.5, 3.0])
def test_steins_estimate_is_unbiased_for_the_soft_threshold_and_not_for_the_hard_one(level):
    """Fixed truth, 1,500 draws; the means agree within 4 standard errors. The same estimate of the hard threshold's
    risk, v 1{kept} + (s^2 - v) 1{killed}, is off by more than 20: minimising it cuts far too little."""
    rng, d = np.random.default_rng(3), 30
    truth, v = banded(d, 1.0, 2.0, 1.0), np.ones((d, d))
    soft, hard = [], []
    upper = np.triu_indices(d, 1)
    for _ in range(1500):
        s = truth + goe(rng, d, 1.0)
        z = np.abs(s[upper])
        estimate = (1 - 2 * (z <= level) + np.minimum(z, level) ** 2).sum()
        soft.append(estimate - loss(apply_cut(s, v, Cut("soft", level)), truth) / 2)
        naive = np.where(z > level, 1.0, z**2 - 1).sum()
        hard.append(naive - loss(apply_cut(s, v, Cut("hard", level)), truth) / 2)
    assert abs(np.mean(soft)) < 4 * np.std(soft) / math.sqrt(1500)
    assert np.mean(hard) < -20 * np.std(hard) / math.sqrt(1500)


# --- against the oracle -------------------------------------------------------------------------------------

# name: truth, rows n, noise deviation per entry, how near hard-universal comes to its oracle (Frobenius, off-diagonal)
SETUPS = {
    "banded 1/.6/.3": (banded(40, 1.0, 0.6, 0.3), 3000, 0.03, 1.05),
    "banded 1/.4": (banded(40, 1.0, 0.4), 2000, 0.03, 1.05),
    "many small: 1/.3/.2/.1": (banded(40, 1.0, 0.3, 0.2, 0.1), 4000, 0.03, 1.35),
    "AR(.6)": (0.6 ** np.abs(np.subtract.outer(np.arange(40), np.arange(40))), 2000, 0.05, 1.35),
}
LEVELS = np.linspace(0, 8, 81)


@pytest.mark.parametrize("name", SETUPS)
def test_rules_come_near_their_oracles(name):
    """Gaussian rows plus isotropic noise, 48 draws. An oracle knows the truth and takes the best level of its kind.

    soft-SURE: within 4 % of the soft oracle. hard-universal: within 5 % where every true entry is clear of the noise,
    35 % where many are not.
    """
    truth, n, std, near = SETUPS[name]
    rng, d = np.random.default_rng(4), 40
    found = []
    for _ in range(48):
        s = noisy_sample(rng, truth, n, std)
        v = entry_variance(s, std**2, n)

        def at(kind, level, s=s, v=v):
            return math.sqrt(loss(apply_cut(s, v, Cut(kind, level)), truth))

        found.append(
            {
                "hard": at("hard", universal_level(d)),
                "soft": at("soft", sure_level(s, v)),
                "hard oracle": min(at("hard", t) for t in LEVELS),
                "soft oracle": min(at("soft", t) for t in LEVELS),
            }
        )
    mean = {key: np.mean([f[key] for f in found]) for key in found[0]}
    assert mean["soft"] <= 1.04 * mean["soft oracle"]
    assert mean["hard"] <= near * mean["hard oracle"]


# --- invariance, limits, edges ------------------------------------------------------------------------------


def test_rules_do_not_depend_on_units():
    rng = np.random.default_rng(5)
    s = noisy_sample(rng, banded(30, 1.0, 0.5), 500, 0.05)
    unit = np.exp(rng.uniform(-8, 8, 30))
    outer = np.outer(unit, unit)
    v = entry_variance(s, 0.05**2, 500)
    moved = entry_variance(s * outer, (0.05 * outer) ** 2, 500)
    np.testing.assert_allclose(moved, v * outer**2, rtol=1e-12)
    for c in (1e-6, 1.0, 1e6):
        assert sure_level(c * s, c * c * v) == pytest.approx(sure_level(s, v), rel=1e-12)
    cut = Cut("hard", universal_level(30))
    np.testing.assert_allclose(apply_cut(s * outer, moved, cut), apply_cut(s, v, cut) * outer, rtol=1e-12)


def test_everything_is_kept_when_noise_and_sampling_vanish():
    s = banded(5, 1.0, 0.3, 0.1, 0.05, 0.01)
    for noise, n in [(1e-9, 1e12), (1e-14, 1e20), (0.0, 1e300)]:
        v = entry_variance(s, noise**2, n)
        for cut in (Cut("hard", universal_level(5)), Cut("soft", sure_level(s, v))):
            np.testing.assert_allclose(apply_cut(s, v, cut), s, rtol=0, atol=1e-4 if noise == 1e-9 else 1e-6)


def test_edges_give_numbers():
    for s in (np.zeros((3, 3)), np.ones((1, 1)), np.full((2, 2), 1e-300), -np.eye(4)):
        v = entry_variance(s, 0.0, 1)
        assert np.isfinite(v).all()
        level = sure_level(s, v)
        assert np.isfinite(level)
        for cut in (Cut("soft", level), Cut("hard", universal_level(len(s))), Cut("hard", math.inf)):
            assert np.isfinite(apply_cut(s, v, cut)).all()
        assert np.isfinite(threshold.shrink_diagonal(s, 1.0)).all()


# --- the diagonal -------------------------------------------------------------------------------------------


def test_shrunk_variances_are_never_worse_in_total_and_untouched_without_noise():
    """1,000 draws each, d = 30: the mean loss is below that of the noisy diagonal by more than 4 standard errors for
    equal, spread and very unequal truths."""
    rng, d = np.random.default_rng(7), 30
    for truth in (np.ones(d), np.linspace(0, 4, d), np.geomspace(0.01, 8, d)):
        gain = []
        for _ in range(1000):
            x = truth + rng.standard_normal(d)
            out = np.diag(threshold.shrink_diagonal(np.diag(x), 1.0))
            gain.append(((x - truth) ** 2).sum() - ((out - truth) ** 2).sum())
        assert np.mean(gain) > 4 * np.std(gain) / math.sqrt(1000)
    s = goe(rng, d, 1.0)
    np.testing.assert_array_equal(threshold.shrink_diagonal(s, 0.0), s)
    np.testing.assert_array_equal(threshold.shrink_diagonal(s[:3, :3], 1.0), s[:3, :3])
    out = threshold.shrink_diagonal(s, 0.5)
    np.testing.assert_array_equal(out[OFF[30]], s[OFF[30]])
    assert np.trace(out) == pytest.approx(np.trace(s), rel=1e-12)


# --- variances by simulation --------------------------------------------------------------------------------


def test_the_variance_of_a_covariance_with_a_noisy_mean():
    """60,000 draws, d = 5: sample variances have a relative error of 0.6 %; 4 % is asked for."""
    rng, d, block, edge = np.random.default_rng(8), 5, 0.3, 0.4
    mu = np.array([0.0, 0.2, -0.5, 1.0, 2.0])
    errors = np.empty((60_000, d, d))
    estimates = np.zeros((d, d))
    for k in range(len(errors)):
        e = edge * rng.standard_normal(d)
        errors[k] = goe(rng, d, block) - np.outer(mu, e) - np.outer(e, mu) - np.outer(e, e)
        if k < 20_000:
            estimates += threshold.noise_variance(mu + e, block, edge) / 20_000
    want = block**2 + np.add.outer(mu**2, mu**2) * edge**2 + edge**4
    np.testing.assert_allclose(errors.var(axis=0)[OFF[5]], want[OFF[5]], rtol=0.04)
    # The positive part makes the estimate too large where the mean is small against its noise, never too small.
    assert (estimates[OFF[5]] > 0.97 * want[OFF[5]]).all()
    assert (estimates[OFF[5]] < want[OFF[5]] + 0.6 * edge**4 * 2).all()
    assert threshold.noise_variance(None, block, edge) == block**2


def test_sampling_noise_has_the_covariance_of_a_sample_covariance():
    """20,000 draws against the Gaussian fourth moments (C_ik C_jl + C_il C_jk) / n, all pairs of entries, d = 3."""
    rng, n = np.random.default_rng(9), 7
    c = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])
    draw = threshold.sampling_noise(c, n)
    draws = np.array([draw(rng) for _ in range(20_000)]).reshape(-1, 9)
    want = (np.einsum("ik,jl->ijkl", c, c) + np.einsum("il,jk->ijkl", c, c)).reshape(9, 9) / n
    np.testing.assert_allclose(draws.T @ draws / len(draws), want, rtol=0, atol=0.05 * want.max())
    x = rng.standard_normal((20_000, n, 3)) @ np.linalg.cholesky(c).T
    samples = np.einsum("rki,rkj->rij", x, x).reshape(-1, 9) / n
    np.testing.assert_allclose(np.cov(samples.T), want, rtol=0, atol=0.06 * want.max())
