"""Unpacking the joint moment of (x/R, s): identities that hold whatever the noise and the repair did."""

import numpy as np
import pytest

from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import clip_box, clip_psd, shrink_spectrum

S2 = 0.5  # the anchor's square


def joint_moment(rows: np.ndarray, row_bound: float) -> np.ndarray:
    """The slow definition: mean of z z', z = (x/R, s)."""
    return np.mean([np.outer(z, z) for z in (np.append(x / row_bound, S2**0.5) for x in rows)], axis=0)


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 2, (30, 4))


def test_without_noise_it_is_the_sample(rows):
    found = unpack(joint_moment(rows, 7.0), centre="joint", row_bound=7.0)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.second_moment, rows.T @ rows / 30, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(rows.T, bias=True), rtol=1e-11)


@pytest.mark.parametrize(
    "repair", [lambda m: m, clip_psd, lambda m: clip_box(m, 1.5), lambda m: shrink_spectrum(m, 0.3)]
)
def test_identities_survive_noise_and_repair(rows, repair):
    noise = np.random.default_rng(1).standard_normal((5, 5)) * 0.4
    noise[4, 4] = 0.0  # the corner is a public constant
    m = repair(joint_moment(rows, 5.0) + (noise + noise.T) / 2)
    found = unpack(m, centre="joint", row_bound=5.0)
    np.testing.assert_allclose(found.covariance, found.second_moment - np.outer(found.mean, found.mean), atol=1e-13)
    schur = m[:4, :4] - np.outer(m[:4, 4], m[4, :4]) / m[4, 4]
    np.testing.assert_allclose(found.covariance, 25 * schur, atol=1e-12)


def test_a_psd_matrix_gives_a_psd_covariance():
    """The Schur complement of a positive semi-definite matrix is one; 50 heavily noisy draws, repaired."""
    for k in range(50):
        a = np.random.default_rng(k).standard_normal((6, 6))
        found = unpack(clip_psd((a + a.T) / 2), centre="joint", row_bound=1.0)
        assert np.linalg.eigvalsh(found.covariance)[0] >= -1e-12


@pytest.mark.parametrize(("centre", "has_covariance"), [("none", False), ("zero", True)])
def test_without_the_mean_nothing_is_claimed_about_it(centre, has_covariance):
    m = np.array([[0.5, 0.1], [0.1, 0.2]])
    found = unpack(m, centre=centre, row_bound=3.0)
    np.testing.assert_allclose(found.second_moment, 9 * m)
    assert found.mean is None
    assert (found.covariance is not None) == has_covariance
