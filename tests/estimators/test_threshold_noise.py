"""The variance that thresholds use with class means, against simulated noise."""

import numpy as np
import pytest

import privcov
from privcov.core.guarantees import ZCDP
from privcov.estimators.papers.threshold_noise import (
    diagonal_variance,
    off_diagonal_variance,
    subtracted,
    target,
    unit_moments,
)
from privcov.measurements.moment import measure_moment
from privcov.tables.dataset import Dataset


def test_variances_and_bias_with_class_means_against_draws():
    """4,000 draws of the noise around a fixed moment: average variances to 8 %, each entry's to 25 % (one standard
    error of an entry's is 2 %; the formula estimates the means' squares from one noisy matrix). The bias of the
    variances is a second-order effect: to 30 %."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, 2000, p=[0.5, 0.3, 0.2])
    x = 0.15 * rng.standard_normal((2000, 4)) + np.array([[0.5, 0, 0.2, 0], [0, 0.4, 0, -0.4], [-0.3, 0, 0, 0.3]])[y]
    ds = Dataset.from_rows(x, 1.0, labels=y)
    measured = measure_moment(ds, ZCDP(0.05), centre="classes", shape="free-trace", rng=np.random.default_rng(1))
    exact = measure_moment(ds, privcov.NoPrivacy(), centre="classes", shape="free-trace", rng=rng).matrix
    draws = np.array([target(unit_moments(exact + measured.distribution.draw(rng), measured)) for _ in range(4000)])
    whole = unit_moments(measured.matrix, measured)
    off = ~np.eye(4, dtype=bool)
    guess, seen = off_diagonal_variance(whole, measured)[off], draws.var(axis=0)[off]
    assert guess.mean() == pytest.approx(seen.mean(), rel=0.08)
    np.testing.assert_allclose(guess, seen, rtol=0.25)
    assert diagonal_variance(whole, measured) == pytest.approx(np.diag(draws.var(axis=0)).mean(), rel=0.1)
    bias = np.diag(target(unit_moments(exact, measured)) - draws.mean(axis=0)).mean()
    assert subtracted(whole, measured) == pytest.approx(bias, rel=0.3)
