"""Answers from one noisy moment: right without noise, honest about it with noise, and the same bits everywhere."""

import dataclasses

import numpy as np
import pytest

from privcov.core.guarantees import NoPrivacy, ZCDP
from privcov.measurements.moment import measure_moment
from privcov.postprocess.matrices import MeasuredMoment, derive
from privcov.postprocess.plain_algebra import eigen, product, rebuild
from privcov.tables.dataset import Dataset


def rows(n: int = 3000, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    return np.clip((common + rng.normal(size=(n, d))) * np.arange(1, d + 1) + 20, -40, 80)


def dataset(x: np.ndarray, labels=None) -> Dataset:
    return Dataset.from_rows(x, bounds=[(-40, 80)] * x.shape[1], labels=labels)


def noisy(data: Dataset, guarantee, seed: int = 1):
    """(measurement, the law of its noise)."""
    rng = np.random.default_rng(seed)
    found = measure_moment(data, guarantee, centre="joint", shape="isotropic", rng=rng)
    distribution = found.distribution
    made = MeasuredMoment(
        found.matrix, found.row_bound, data.scale, data.origin, data.n,
        distribution.off_diagonal_std, distribution.diagonal_std,
    )  # fmt: skip
    return made, distribution


# --- the algebra --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 8, 31])
def test_eigenvalues_are_those_of_the_matrix(d):
    a = np.random.default_rng(d).normal(size=(d, d))
    a = a + a.T
    values, vectors = eigen(a)
    assert values == pytest.approx(np.linalg.eigvalsh(a), abs=1e-12 * d)
    assert rebuild(values, vectors) == pytest.approx(a, abs=1e-12 * d)
    assert vectors.T @ vectors == pytest.approx(np.eye(d), abs=1e-12)
    assert (values[:-1] <= values[1:]).all()
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(d)] > 0).all()


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(4), np.ones((4, 4)), np.diag([1e-8, 1.0, 1e8])])
def test_eigenvalues_of_special_matrices(matrix):
    values, vectors = eigen(matrix)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix), abs=1e-8)
    assert rebuild(values, vectors) == pytest.approx(matrix, abs=1e-7)


def test_product_adds_in_a_stated_order():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 7)), rng.normal(size=(7, 3))
    slow = np.zeros((4, 3))
    for i in range(4):
        for j in range(3):
            for k in range(7):
                slow[i, j] += a[i, k] * b[k, j]
    assert np.array_equal(product(a, b), slow)


# --- the answers --------------------------------------------------------------------------------------------


def test_without_noise_the_answers_are_the_samples():
    x = rows()
    made, _ = noisy(dataset(x), NoPrivacy())
    found = derive(made)
    c = np.cov(x, rowvar=False, bias=True)
    assert found.mean == pytest.approx(x.mean(axis=0))
    for matrix in (found.noisy, found.covariance, found.regular):
        assert matrix == pytest.approx(c, rel=1e-9)
    assert found.correlation == pytest.approx(np.corrcoef(x, rowvar=False))
    assert found.precision == pytest.approx(np.linalg.inv(c))
    assert found.eigenvalues == pytest.approx(np.linalg.eigvalsh(c / 60**2)[::-1])


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 1.0])
def test_every_answer_is_usable_at_any_noise(rho):
    found = derive(noisy(dataset(rows()), ZCDP(rho))[0])
    for name in ("covariance", "regular", "precision"):
        assert np.linalg.eigvalsh(getattr(found, name) / np.abs(getattr(found, name)).max())[0] > -1e-12, name
    for name in ("correlation", "partial"):
        assert np.abs(getattr(found, name)).max() <= 1 + 1e-12, name
    assert found.regular @ found.precision == pytest.approx(np.eye(5), abs=1e-8)
    assert 0.01 <= found.floor <= 1


def test_stated_noise_is_that_of_the_unrepaired_covariance():
    """800 draws show a wrong deviation of 12.5 % at five standard errors."""
    made, distribution = noisy(dataset(rows()), ZCDP(0.5))
    rng = np.random.default_rng(0)
    seen = np.array(
        [derive(dataclasses.replace(made, matrix=made.matrix + distribution.draw(rng))).noisy for _ in range(800)]
    )
    stated = derive(made).noise_std
    assert seen.std(axis=0) / stated == pytest.approx(np.ones((5, 5)), abs=0.125)


def test_accurate_variances_survive_the_repair():
    """Noise that is ten times smaller on the diagonal: the repair may not raise the variances; correlations stay."""
    rng, d = np.random.default_rng(5), 30
    truth = 0.1 * 0.5 ** np.abs(np.subtract.outer(range(d), range(d)))
    half = np.triu(rng.normal(0, 0.03, (d, d)), 1)
    noise = half + half.T + np.diag(rng.normal(0, 0.003, d))
    kept, corner = {}, np.diag([0.0] * d + [0.5])
    for name, diagonal_std in (("accurate", 0.003), ("as the rest", 0.03)):
        noisy = MeasuredMoment(
            np.pad(truth + noise, (0, 1)) + corner, 1.0, np.ones(d), np.zeros(d), 1000, 0.03, diagonal_std
        )
        kept[name] = derive(noisy)
    raw = np.diag(truth + noise)
    np.testing.assert_allclose(np.diag(kept["accurate"].covariance), raw, rtol=1e-12)
    assert np.mean(np.diag(kept["as the rest"].covariance) - raw) > 0.02, "without it the repair raises them"
    assert np.linalg.eigvalsh(kept["accurate"].covariance)[0] > -1e-12
    np.testing.assert_allclose(kept["accurate"].correlation, kept["as the rest"].correlation, atol=1e-9)
    error = {name: np.linalg.norm(found.covariance - truth) for name, found in kept.items()}
    assert error["accurate"] < 0.8 * error["as the rest"]
