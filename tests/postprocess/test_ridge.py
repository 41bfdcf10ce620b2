"""The ridge estimator's closed form against an optimiser, its limits, and what a negative eigenvalue does to it."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from privcov.postprocess.ridge import ridge_path, ridge_precision
from privcov.postprocess.spectrum import clip_psd


def matrix(seed: int = 0, indefinite: bool = False) -> np.ndarray:
    a = np.random.default_rng(seed).standard_normal((3, 3))
    return (a + a.T) / 2 if indefinite else a @ a.T / 3


@pytest.mark.parametrize("indefinite", [False, True])
@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_it_is_the_minimum(indefinite, lam):
    """Against a general optimiser over Cholesky factors."""
    s = matrix(1, indefinite)
    lower = np.tril_indices(3)

    def loss(v):
        factor = np.zeros((3, 3))
        factor[lower] = v
        t = factor @ factor.T
        return -2 * np.log(np.abs(np.diag(factor))).sum() + np.sum(s * t) + lam * np.sum(t * t)

    theta = ridge_precision(s, lam)
    start = np.linalg.cholesky(theta)[lower] * 1.3
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-9})
    factor = np.zeros((3, 3))
    factor[lower] = found.x
    np.testing.assert_allclose(theta, factor @ factor.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(-np.linalg.inv(theta) + s + 2 * lam * theta, 0, atol=1e-12)


def test_limits():
    s = matrix(2)
    np.testing.assert_allclose(ridge_precision(s, 1e-14), np.linalg.inv(s), rtol=1e-6)
    np.testing.assert_allclose(ridge_precision(s, 1e12) * math.sqrt(2e12), np.eye(3), atol=1e-5)
    top = np.linalg.eigvalsh(ridge_precision(np.diag([0.0, 1.0, 2.0]), 0.3))[-1]
    assert top == pytest.approx(1 / math.sqrt(0.6))  # the largest that a positive semi-definite matrix can give
    one, two = ridge_path(s, (0.1, 0.2))
    np.testing.assert_array_equal(one, ridge_precision(s, 0.1))
    np.testing.assert_array_equal(two, ridge_precision(s, 0.2))
    with pytest.raises(ValueError, match="lam must be > 0"):
        ridge_precision(s, 0.0)


def test_an_eigenvalue_below_zero_is_blown_up_by_the_inverse_of_the_penalty():
    """-a becomes a / (2 lam), to a relative lam / a^2; stable forms on both sides, against long arithmetic."""
    a = 0.3
    for lam in (1e-4, 1e-6, 1e-8):
        top = np.linalg.eigvalsh(ridge_precision(np.diag([-a, 1.0]), lam))[-1]
        assert top == pytest.approx(a / (2 * lam), rel=4 * lam / a**2 + 1e-12)
        assert np.linalg.eigvalsh(ridge_precision(clip_psd(np.diag([-a, 1.0])), lam))[-1] <= 1 / math.sqrt(2 * lam) + 1
    lam, phi = 1e-12, np.longdouble(1.0)
    want = 2 / (phi + np.sqrt(phi**2 + 8 * np.longdouble(lam)))
    assert ridge_precision(np.array([[1.0]]), lam)[0, 0] == pytest.approx(float(want), rel=1e-15)


def test_the_map_is_lipschitz_on_positive_semi_definite_matrices():
    """1 / (4 lam), nearly reached at zero by the derivative."""
    lam = 0.05
    for k in range(200):
        a, b = (clip_psd(x) for x in (matrix(k, True), matrix(k, True) + 0.1 * matrix(1000 + k, True)))
        change = np.linalg.norm(ridge_precision(a, lam) - ridge_precision(b, lam))
        assert change <= np.linalg.norm(a - b) / (4 * lam) * (1 + 1e-9)
    step = (ridge_precision(np.array([[0.0]]), lam) - ridge_precision(np.array([[1e-6]]), lam))[0, 0] / 1e-6
    assert step == pytest.approx(1 / (4 * lam), rel=1e-4)
