"""CoinPress: the last congruence, the clip, budgets and limits."""

from fractions import Fraction

import numpy as np
import pytest

from privcov.core.guarantees import ApproxDP, NoPrivacy, ZCDP
from privcov.estimators.papers import coinpress
from privcov.postprocess.spectrum import clip_psd
from privcov.releases.public import release
from privcov.tables.dataset import Dataset


def ellipsoid(n=4000, d=5, seed=0, small=0.03):
    """Rows on an ill-conditioned, rotated ellipsoid: whitened they all have norm about sqrt(d), below the clip."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    s = rng.standard_normal((n, d))
    s /= np.linalg.norm(s, axis=1, keepdims=True)
    return s * np.geomspace(1, small, d) @ q.T


def data(**more):
    return Dataset.from_rows(ellipsoid(**more), mean_is_zero=True)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
def test_without_noise_the_sample_comes_back_at_every_number_of_steps(steps):
    """coin-press#5: the public code ends with A^-1 Z A^-1, right only for symmetric A, that is for at most 2 steps."""
    ds = data()
    rel = release(ds, NoPrivacy(), "coinpress", steps=steps, random_state=0)
    truth = ds.rows.T @ ds.rows / ds.n
    np.testing.assert_allclose(rel.covariance, truth, rtol=0, atol=1e-13)


@pytest.mark.parametrize("steps", [2, 3, 4, 5])
def test_the_published_congruence_would_be_seen(steps, monkeypatch):
    """The same noisy steps ended both ways: equal at two steps, where A is symmetric; from three on the published
    answer is not symmetric, and its median Frobenius error over 20 seeds is at least 5 % larger."""
    ds, last = data(n=2000), {}
    honest = coinpress.measure_whitened

    def recorded(dataset, share, whiten, **more):
        z, distribution, event = honest(dataset, share, whiten, **more)
        last.update(a=whiten, z=clip_psd(z))
        return z, distribution, event

    monkeypatch.setattr(coinpress, "measure_whitened", recorded)
    truth, ours, theirs = ds.rows.T @ ds.rows / ds.n, [], []
    for seed in range(20):
        found = release(ds, ZCDP(0.05), "coinpress", random_state=seed, steps=steps).covariance
        back = np.linalg.inv(last["a"])
        np.testing.assert_allclose(found, back @ last["z"] @ back.T, rtol=0, atol=1e-10)
        ours.append(np.linalg.norm(found - truth))
        published = back @ last["z"] @ back
        theirs.append(np.linalg.norm(published - truth))
        skew = np.linalg.norm(published - published.T) / np.linalg.norm(truth)
        assert (skew > 1e-3) == (steps > 2)
    if steps == 2:
        np.testing.assert_allclose(theirs, ours, rtol=1e-8)
    else:
        assert np.median(theirs) > 1.05 * np.median(ours)


def test_one_step_is_the_gaussian_mechanism():
    rel = release(data(), ZCDP(0.5), "coinpress", steps=1, random_state=0)
    plain = release(data(), ZCDP(0.5), "gaussian-cov", shape="free-trace", random_state=0)
    assert rel.events[0].scale == pytest.approx(plain.events[0].scale, rel=1e-12)
    assert rel.events[0].sensitivity == pytest.approx(np.sqrt(2) / 4000, rel=1e-12)


@pytest.mark.parametrize("asked", [ZCDP(0.5), ApproxDP(1.0, 1e-6)])
def test_the_last_step_has_three_quarters(asked):
    rel = release(data(), asked, "coinpress", steps=4, random_state=0)
    square = [(Fraction(e.sensitivity) / Fraction(e.scale)) ** 2 for e in rel.events]
    assert [float(s / sum(square)) for s in square] == pytest.approx([1 / 12] * 3 + [3 / 4], rel=1e-12)
    if asked.kind == "zcdp":
        assert float(sum(square) / 2) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("u", [1e-6, 1e-3, 1.0])
def test_a_wrong_bound_costs_accuracy_not_privacy(u):
    ds = data()
    rel = release(ds, ZCDP(0.5), "coinpress", steps=1, largest_eigenvalue=u, random_state=0)
    assert rel.actual_guarantee.rho <= 0.5
    top = np.linalg.eigvalsh(rel.covariance)[-1]
    # Whitened rows have norm at most gamma = 4.05: the answer cannot exceed gamma^2 u by more than noise.
    assert top <= 4.2**2 * u


def test_the_clip_of_a_step_is_no_longer_than_the_rows():
    rel = release(data(), ZCDP(0.5), "coinpress", steps=1, random_state=0)
    assert rel.notes == ("Clipping norms of the whitened rows, step by step: 1.",)
