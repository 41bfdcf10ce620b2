"""The four thresholding methods: what they give, what they keep secret, and the papers' steps written out."""

import itertools
import math

import numpy as np
import pytest

import privcov
from privcov.core.guarantees import LOCAL, ApproxDP, NoPrivacy
from privcov.estimators import base, thresholding
from privcov.estimators.papers import ldp_thresholding
from privcov.measurements.local_moment import measure_reports
from privcov.measurements.moment import measure_moment
from privcov.releases.public import release
from privcov.tables.dataset import Dataset

CENTRAL = ["dp-thresholding", "modified-dp-thresholding"]
LOCALS = ["ldp-thresholding", "modified-ldp-thresholding"]
KEYS = CENTRAL + LOCALS
RULES = thresholding.RULES
ASKED = ApproxDP(1.0, 1e-5)


def banded_rows(n, d, seed=0, band=(1.0, 0.6, 0.3)):
    gap = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    truth = sum(value * (gap == k) for k, value in enumerate(band)) * 1.0
    return np.random.default_rng(seed).standard_normal((n, d)) @ np.linalg.cholesky(truth).T, truth


def unit_rows(n, d, seed=0):
    """Rows in the unit ball whose second moment is far from diagonal."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) * 0.1 + rng.standard_normal((n, 1)) * np.linspace(1, 0, d)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)


def data(x, row_bound, **more):
    return Dataset.from_rows(x, row_bound, **{"mean_is_zero": True, **more})


# --- what comes out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_a_sparse_truth_is_found_better_than_by_noise_alone(rule):
    """Banded truth, d = 40, n = 30,000: every rule beats the plain Gaussian mechanism and the diagonal answer."""
    x, truth = banded_rows(30_000, 40)
    ds = data(x, 8.5, truth=privcov.Truth(truth))
    ours, plain, trivial = (
        np.mean([privcov.error(release(ds, ASKED, key, random_state=s, **own), ds, against="truth") for s in range(3)])
        for key, own in (("dp-thresholding", {"rule": rule}), ("gaussian-cov", {}), ("diagonal", {}))
    )
    assert ours < 0.85 * plain < trivial


@pytest.mark.parametrize("key", KEYS)
def test_the_diagonal_is_never_cut_when_sound(key):
    x, _ = banded_rows(50, 6)
    rel = release(data(x, 4.0), NoPrivacy(), key, rule="paper", diagonal="keep", **biggest(key))
    clipped = x * np.minimum(1, 4 / np.linalg.norm(x, axis=1))[:, None]
    np.testing.assert_allclose(np.diag(rel.covariance), np.mean(clipped**2, axis=0), rtol=1e-12)
    assert not rel.covariance[~np.eye(6, dtype=bool)].any()


def biggest(key):
    return {"eta": 100.0} if key.startswith("modified") else {"gamma": 100.0}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("rule", ["hard-universal", "soft-sure"])
def test_free_rules_keep_everything_when_noise_and_sampling_vanish(key, rule):
    """40,000 rows: a correlation of 0.1 is 20 deviations; the enormous epsilon leaves no noise."""
    x, _ = banded_rows(40_000, 3, band=(1.0, 0.3, 0.1))
    rel = release(data(x, 6.0), ApproxDP(1e5, 0.1), key, rule=rule, random_state=0)
    x = x * np.minimum(1, 6 / np.linalg.norm(x, axis=1))[:, None]
    assert (rel.covariance[~np.eye(3, dtype=bool)] != 0).all()
    np.testing.assert_allclose(rel.covariance, x.T @ x / len(x), rtol=0, atol=0.02)


# --- the raw rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_the_rows_are_read_by_the_measurement_alone(key, monkeypatch):
    """Give the method the same noisy matrix for two different tables: the answers are equal, so no constant, no cut
    and no note can carry more about the rows than the matrix does."""
    x, _ = banded_rows(200, 5)
    one, two = data(x, 4.0), data(np.flip(x, axis=1) * np.linspace(0.1, 1, 5), 4.0)
    stored = {}

    def once(measure):
        def wrapped(dataset, *args, **kw):
            fresh = measure(dataset, *args, **kw)  # also moves the noise stream as it does in real life
            return stored.setdefault("matrix", fresh)

        return wrapped

    monkeypatch.setattr(base, "measure_moment", once(measure_moment))
    monkeypatch.setattr(ldp_thresholding, "measure_reports", once(measure_reports))
    own = {"eta": 0.1} if key.startswith("modified") else {"gamma": 0.1}
    for rule, calibration in itertools.product(RULES, ("sound", "as-published")):
        stored.clear()
        a = release(one, ASKED, key, rule=rule, calibration=calibration, **{"random_state": 0, **own})
        b = release(two, ASKED, key, rule=rule, calibration=calibration, **{"random_state": 0, **own})
        assert a.to_json() == b.to_json()


# --- the local model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", LOCALS)
def test_a_local_release_speaks_of_one_users_report(key):
    ds = data(unit_rows(500, 4), 1.0)
    rel = release(ds, ASKED, key, random_state=0)
    (event,) = rel.events
    assert rel.neighbours == LOCAL
    assert event.sensitivity == pytest.approx(math.sqrt(2), rel=1e-12)
    assert rel.noisy_moment.distribution.scale == pytest.approx(event.scale / math.sqrt(500), rel=1e-15)
    central = release(ds, ASKED, "dp-thresholding", random_state=0)
    assert rel.noisy_moment.distribution.scale == pytest.approx(
        central.noisy_moment.distribution.scale * math.sqrt(500), rel=1e-9
    )


# --- defects seen elsewhere ------------------------------------------------------
