"""Cuts and the rules for them: against slow formulas, oracles and limits. All draws have fixed seeds."""

import math

import numpy as np
import pytest

from privcov.postprocess import threshold
from privcov.postprocess.threshold import Cut, apply_cut, cut_off_diagonal, sure_level

OFF = {d: ~np.eye(d, dtype=bool) for d in (5, 30, 40, 50)}


def goe(rng, d, off_diagonal_std):
    a = rng.standard_normal((d, d))
    return off_diagonal_std * (a + a.T) / math.sqrt(2)


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


# --- invariance, limits, edges ------------------------------------------------------------------------------


# --- the diagonal -------------------------------------------------------------------------------------------


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
