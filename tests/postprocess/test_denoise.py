"""The repair of auto-cov: never worse than zero in the noise, accurate in the trace, the identity without noise."""

import numpy as np
import pytest

from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess.denoise import denoise
from privcov.postprocess.spectrum import shrink_spectrum


def spiked(d: int, rng: np.random.Generator) -> np.ndarray:
    u = rng.random((d, d))
    s = u.T @ u / d**2
    return s / np.trace(s)


def test_without_noise_it_changes_nothing():
    s = spiked(20, np.random.default_rng(0))
    assert np.allclose(denoise(s, 0.0), s)
    assert np.allclose(denoise(s, 1e-9), s, atol=1e-7)


def test_pure_noise_is_answered_with_its_trace_spread_evenly():
    """Of 200 draws at most a few leave the band (about 2 % by the Tracy-Widom law; 12 has probability below 1e-3)."""
    d, rng = 100, np.random.default_rng(1)
    distribution = NoiseDistribution("free-trace", 1.0, d)
    found = [denoise(distribution.draw(rng), distribution.off_diagonal_std) for _ in range(200)]
    flat = [np.allclose(f, f[0, 0] * np.eye(d)) for f in found]
    assert sum(flat) >= 188


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 1e-2, 1e-1])
def test_it_is_never_clearly_worse_than_zero_nor_than_shrinkage_alone(scale):
    """Mean of 20 draws at d = 60, from hardly any noise to noise that hides everything."""
    d, rng = 60, np.random.default_rng(2)
    s = spiked(d, rng)
    distribution = NoiseDistribution("free-trace", scale, d)
    ours, alone = [], []
    for _ in range(20):
        noisy = s + distribution.draw(rng)
        ours.append(np.linalg.norm(denoise(noisy, distribution.off_diagonal_std) - s))
        alone.append(np.linalg.norm(shrink_spectrum(noisy, distribution.off_diagonal_std) - s))
    assert np.mean(ours) <= 1.05 * np.linalg.norm(s)
    assert np.mean(ours) <= 1.01 * np.mean(alone)


def test_the_trace_never_exceeds_that_of_the_noisy_matrix_and_the_result_is_psd():
    d, rng = 30, np.random.default_rng(3)
    for scale in (1e-3, 1e-2, 1.0):
        distribution = NoiseDistribution("free-trace", scale, d)
        noisy = spiked(d, rng) + distribution.draw(rng)
        found = denoise(noisy, distribution.off_diagonal_std)
        assert np.trace(found) <= max(np.trace(noisy), 0) + 1e-9
        assert np.linalg.eigvalsh(found)[0] >= -1e-12
