"""The repair of auto-cov: no worse than zero in the noise, its unbiased products, the identity without noise."""

import numpy as np
import pytest

from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess import denoise as module
from privcov.postprocess.denoise import BlockNoise, denoise
from privcov.postprocess.spectrum import clip_psd, shrunk_values, shrunk_values_wishart


def noise_of(law: NoiseDistribution) -> BlockNoise:
    """The definition, from every entry's variance and the variance of the trace."""
    d = law.dimension
    gaussian = law.shape not in ("wishart-difference", "coupled-wishart", "laplace")
    rest = d * (d - 1) * law.off_diagonal_std**2
    return BlockNoise(rest, law.diagonal_stds**2, law.form_variance(np.eye(d)), law.off_diagonal_std, gaussian)


def spiked(d: int, rng: np.random.Generator) -> np.ndarray:
    u = rng.random((d, d))
    s = u.T @ u / d**2
    return s / np.trace(s)


def test_without_noise_it_changes_nothing():
    s = spiked(20, np.random.default_rng(0))
    assert np.allclose(denoise(s, noise_of(NoiseDistribution("free-trace", 0.0, 20))), s)
    assert np.allclose(denoise(s, noise_of(NoiseDistribution("free-trace", 1e-9, 20))), s, atol=1e-7)


@pytest.mark.parametrize("shape", ["free-trace", "isotropic", "wishart-difference"])
def test_pure_noise_is_answered_with_zero(shape):
    """Of 200 draws at most one in twelve leaves the band (24 has probability below 1e-3 at a rate of 1 in 20)."""
    rng = np.random.default_rng(1)
    law = NoiseDistribution(shape, 0.05, 30)
    found = [np.linalg.norm(denoise(law.draw(rng), noise_of(law))) for _ in range(200)]
    assert sum(f > 0 for f in found) <= 16


@pytest.mark.parametrize("shape", ["free-trace", "isotropic", "wishart-difference"])
@pytest.mark.parametrize("scale", [1e-4, 1e-3, 1e-2, 1e-1, 1.0])
def test_it_is_no_worse_than_zero_nor_the_noisy_diagonal_nor_the_noisy_matrix(shape, scale):
    """Mean of 40 draws at d = 20, on related and on unrelated columns, from hardly any noise to nothing but noise."""
    d, rng = 20, np.random.default_rng(2)
    law = NoiseDistribution(shape, scale, d)
    noise = noise_of(law)
    decaying = np.exp(-np.arange(d) / 5.0)
    for s in (spiked(d, rng), np.diag(decaying / decaying.sum())):
        errors = []
        for _ in range(40):
            noisy = s + law.draw(rng)
            answers = denoise(noisy, noise), np.zeros((d, d)), np.diag(np.maximum(np.diag(noisy), 0.0)), clip_psd(noisy)
            errors.append([np.linalg.norm(a - s) for a in answers])
        ours, *others = np.mean(errors, axis=0)
        assert ours <= 1.25 * min(others)  # 1.02 on bundled and simulated data; here columns are unrelated too


def test_the_answer_is_a_covariance_of_the_unit_ball():
    rng = np.random.default_rng(3)
    for shape in ("free-trace", "wishart-difference"):
        for scale in (1e-3, 1e-2, 0.3):
            law = NoiseDistribution(shape, scale, 12)
            found = denoise(spiked(12, rng) + law.draw(rng), noise_of(law))
            assert np.array_equal(found, found.T)
            assert np.linalg.eigvalsh(found)[0] >= -1e-12
            assert np.trace(found) <= 1 + 1e-12


@pytest.mark.parametrize("pulled", [shrunk_values, shrunk_values_wishart])
def test_the_slopes_are_those_of_an_eigenvalue_that_moves_alone(pulled):
    """Against differences: lambda_i moves, and its distance from itself stays zero."""
    values = np.sort(np.random.default_rng(4).standard_normal(9))
    noise, step = 0.3, 1e-6
    shrunk, slope = pulled(values, noise)
    for i in range(len(values)):
        moved = []
        for by in (step, -step):
            away = values.copy()
            away[i] += by
            moved.append(pulled(away, noise)[0][i])
        assert (moved[0] - moved[1]) / (2 * step) == pytest.approx(slope[i], rel=1e-4, abs=1e-6)
    assert np.allclose(shrunk, pulled(values, noise)[0])


@pytest.mark.parametrize("shape", ["isotropic", "free-trace", "wishart-difference"])
@pytest.mark.parametrize("estimate", ["_by_parts", "_by_eigenvalues"])
def test_the_products_with_the_matrix_under_the_noise_are_unbiased(estimate, shape):
    """Mean of 400 draws within 4 standard errors, and a quarter of what the noise would add if it were forgotten.

    Stein's identity is exact for Gaussian noise and to first order for the other, so a bias of a tenth of the
    correction is let through there.
    """
    d, rng = 8, np.random.default_rng(5)
    s = 0.7 * spiked(d, rng) + 0.3 * np.diag(np.arange(1.0, d + 1)) / 36
    law = NoiseDistribution(shape, {"wishart-difference": 0.004}.get(shape, 0.02), d)
    noise, off, plain = noise_of(law), [], []
    for _ in range(400):
        noisy = s + law.draw(rng)
        values, vectors = np.linalg.eigh(noisy)
        how = (noisy, noise) if estimate == "_by_parts" else (noisy, values, vectors, noise)
        found = getattr(module, estimate)(*how)
        rest = found.matrix - np.diag(np.diag(found.matrix))
        true = np.array([np.diag(found.matrix) @ np.diag(s), np.sum(rest * s)])
        off.append(np.array([found.diagonal, found.rest]) - true)
        plain.append(np.array([np.diag(found.matrix) @ np.diag(noisy), np.sum(rest * noisy)]) - true)
    mean, error = np.mean(off, axis=0), np.std(off, axis=0) / np.sqrt(len(off))
    assert (np.abs(mean) <= 4 * error + 0.1 * np.abs(np.mean(plain, axis=0))).all()
    assert (np.mean(plain, axis=0) > 4 * error).all()  # it can fail: without the correction it does


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("shape", ["laplace", "wishart-difference"])
def test_few_columns_keep_what_the_noise_of_pure_dp_leaves_visible(d, shape):
    """Means of 400 draws: a signal of twice the noise is at most a tenth worse than the noisy matrix repaired alone."""
    rng = np.random.default_rng(3)
    signal = 0.5 * (0.6 * np.ones((d, d)) + 0.4 * np.eye(d)) / d
    law = NoiseDistribution(shape, 1.0, d)
    law = NoiseDistribution(
        shape, np.linalg.norm(signal) / 2 / np.sqrt(noise_of(law).rest + law.diagonal_stds @ law.diagonal_stds), d
    )
    noisy = [signal + law.draw(rng) for _ in range(400)]

    def risk(estimate):
        return np.mean([np.linalg.norm(estimate(y) - signal) for y in noisy])

    answered = risk(lambda y: denoise(y, noise_of(law)))
    assert answered <= 1.1 * risk(clip_psd)
    assert answered < 0.8 * np.linalg.norm(signal)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_few_columns_are_covariances_of_the_unit_ball_and_small_where_all_is_noise(d):
    """Of pure noise a quarter is left at most, in the mean of 400 draws."""
    rng = np.random.default_rng(5)
    law = NoiseDistribution("wishart-difference", 0.02, d)
    draws = [law.draw(rng) for _ in range(400)]
    answers = [denoise(w, noise_of(law)) for w in draws]
    assert min(np.linalg.eigvalsh(a)[0] for a in answers) >= -1e-12
    assert max(np.trace(a) for a in answers) <= 1 + 1e-12
    assert np.mean([np.linalg.norm(a) for a in answers]) <= 0.25 * np.mean([np.linalg.norm(w) for w in draws])
