"""The covariance block of a noisy moment: unbiased about visible means, its noise as large as it says, no anchors."""

import numpy as np
import pytest

import privcov
from privcov.estimators.auto_cov import centred, shrunk_moments
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution

S2 = 0.2


def joint(second: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The moment of z = (u, s)."""
    edge = np.sqrt(S2) * mean
    return np.block([[second, edge[:, None]], [edge[None, :], np.array([[S2]])]])


def made(d: int, length: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A covariance of trace 0.3, and a mean of this length."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((d, d))
    covariance, mean = factor @ factor.T, rng.standard_normal(d)
    return 0.3 * covariance / np.trace(covariance), length * mean / np.linalg.norm(mean)


def measured(matrix: np.ndarray, law: NoiseDistribution, centre: str) -> NoisyMoment:
    return NoisyMoment(matrix, law, None, centre, 1000, 2.0, None, S2)


def test_without_noise_it_is_the_covariance():
    covariance, mean = made(6, 0.5)
    law = NoiseDistribution("free-trace", 0.0, 6, 1)
    found = shrunk_moments(measured(joint(covariance + np.outer(mean, mean), mean), law, "joint"))
    assert np.allclose(found.covariance, 4 * covariance)
    assert np.allclose(found.mean, 2 * mean)
    assert np.allclose(found.second_moment, 4 * (covariance + np.outer(mean, mean)))


def test_without_noise_classes_are_pooled():
    rng = np.random.default_rng(1)
    rows, labels = rng.uniform(-1, 1, (200, 3)), [("a", "b")[i] for i in rng.integers(0, 2, 200)]
    rows[np.array(labels) == "a"] += 0.7
    data = privcov.Dataset.from_rows(rows, 4.0, labels=labels)
    rel = privcov.release(data, privcov.NoPrivacy(), "auto-cov", centre="classes", random_state=0)
    inside = [rows[np.array(labels) == c] for c in ("a", "b")]
    assert np.allclose(rel.class_means, [x.mean(axis=0) for x in inside])
    assert np.allclose(rel.covariance, sum(len(x) * np.cov(x.T, bias=True) for x in inside) / 200)


@pytest.mark.parametrize("shape", ["free-trace", "isotropic", "wishart-difference"])
@pytest.mark.parametrize("length", [0.0, 0.1, 0.8])
def test_its_noise_is_as_large_as_it_says(shape, length):
    """Mean squares of 300 draws: at most 1.15 times what is stated, and with a visible mean at least 0.8 times."""
    d, rng = 8, np.random.default_rng(2)
    covariance, mean = made(d, length)
    whole = joint(covariance + np.outer(mean, mean), mean)
    law = NoiseDistribution(shape, 0.01 if shape != "wishart-difference" else 0.003, d, 1)
    squares, stated, sums = [], [], []
    for _ in range(300):
        found = centred(measured(whole + law.draw(rng), law, "joint"))
        off = found.covariance - covariance
        on = np.diag(off)
        squares.append([np.sum(off**2) - on @ on, on @ on, on.sum() ** 2])
        stated.append([found.noise.rest, found.noise.diagonal.sum(), found.noise.trace])
        sums.append(off)
    ratio = np.mean(squares, axis=0) / np.mean(stated, axis=0)
    assert (ratio <= 1.15).all()
    if length == 0.8:
        assert (ratio >= 0.8).all()
        assert np.abs(np.mean(sums, axis=0)).max() <= 4.5 * np.std(sums, axis=0).max() / np.sqrt(300)


def test_a_rare_class_costs_no_more_than_its_rows():
    """Ten of 2,000 rows in a class whose mean is noise: the covariance errs as it does without that class."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1, 1, (2000, 5)) * np.linspace(0.3, 1, 5)
    errors = []
    for rare in (0, 10):
        labels = ["a" if i < 1000 else "c" if i >= 2000 - rare else "b" for i in range(2000)]
        data = privcov.Dataset.from_rows(rows, 2.3, labels=labels)
        rels = [
            privcov.release(data, privcov.ZCDP(0.05), "auto-cov", centre="classes", random_state=s) for s in range(20)
        ]
        errors.append(np.mean([privcov.error(rel, data) for rel in rels]))
    assert errors[1] <= 1.2 * errors[0]


def test_a_mean_that_is_noise_is_shortened_and_a_visible_one_is_kept():
    d, law = 12, NoiseDistribution("free-trace", 0.01, 12, 1)
    for length, low, high in ((0.0, 0.0, 0.5), (0.9, 0.98, 1.0)):
        covariance, mean = made(d, length)
        noisy = measured(
            joint(covariance + np.outer(mean, mean), mean) + law.draw(np.random.default_rng(4)), law, "joint"
        )
        own = noisy.matrix[:d, d] / np.sqrt(noisy.matrix[d, d])
        (kept,) = centred(noisy).means
        assert low <= np.linalg.norm(kept) / np.linalg.norm(own) <= high
