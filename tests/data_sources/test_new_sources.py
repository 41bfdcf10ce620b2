"""t_5 rows, digits and diabetes: what the truth says is what the rows do, and public facts are public."""

import math

import numpy as np
import pytest
from scipy import stats

import privcov
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.data_sources.gaussian import AR1Covariance, BandedCovariance

T_SOURCES = ["ar1-covariance", "banded-covariance"]


@pytest.mark.parametrize("key", T_SOURCES)
def test_t_rows_have_the_covariance_of_the_truth_and_not_the_scale_matrix(key):
    """n = 200,000, d = 6. Var S_ij under t_5 is 3 (2 s_ij^2 + s_ii s_jj) - s_ij^2 over n, because fourth moments are 3
    times the normal ones. 21 z-scores stay below 5; the scale matrix, 40 % smaller, is over 50 deviations away."""
    n = 200_000
    ds = privcov.source(key, n=n, d=6, family="t5", random_state=2)
    sigma = ds.truth.covariance
    np.testing.assert_allclose(
        sigma, 5 / 3 * privcov.source(key, n=1, d=6, random_state=0).truth.covariance, rtol=1e-15
    )
    v = np.outer(np.diag(sigma), np.diag(sigma))
    deviation = np.sqrt((3 * (2 * sigma**2 + v) - sigma**2) / n)
    z = (ds.rows.T @ ds.rows / n - sigma) / deviation
    assert np.abs(z).max() < 5
    assert 0.4 * sigma[0, 0] / deviation[0, 0] > 50
    assert ds.mean_is_zero


@pytest.mark.parametrize("key", ["ar1-covariance"])
def test_t_rows_follow_the_multivariate_t_law(key):
    """Kolmogorov-Smirnov, n = 20,000, against the exact laws: a column over sqrt(its scale) is t_5, u' Sigma^-1 u / d
    is F(d, 5). One chi^2 for the whole row: independent t columns would fail. Lengths 5 % off are seen."""
    d, n = 5, 20_000
    ds = privcov.source(key, n=n, d=d, family="t5", random_state=4)
    scale = 3 / 5 * ds.truth.covariance
    assert stats.kstest(ds.rows[:, 0] / np.sqrt(scale[0, 0]), stats.t(5).cdf).pvalue > 1e-3
    length = np.einsum("ij,ij->i", ds.rows, np.linalg.solve(scale, ds.rows.T).T) / d
    assert stats.kstest(length, stats.f(d, 5).cdf).pvalue > 1e-3
    assert stats.kstest(length * 1.1, stats.f(d, 5).cdf).pvalue < 1e-6
    # The tails: beyond 2.6 root mean squares lies 1 % of t_5 rows, F(5, 5) > 11.3, and 3e-6 of normal ones.
    normal = privcov.source(key, n=n, d=d, random_state=4)
    squares = [(np.sum(one.rows**2, axis=1), np.trace(one.truth.covariance)) for one in (ds, normal)]
    far = [np.mean(square > 4 * 1.69 * mean) for square, mean in squares]
    assert far[0] == pytest.approx(stats.f(5, 5).sf(4 * 1.69 * 5 / 3), abs=5 * 0.1 / math.sqrt(n))
    assert far[1] < 5e-4
    assert stats.kstest(normal.rows[:, 0], stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("cls", [AR1Covariance, BandedCovariance])
def test_the_law_is_checked_and_the_normal_rows_are_as_before(cls):
    with pytest.raises(ValueError, match="family must be one of"):
        cls(n=3, d=2, family="cauchy")
    with pytest.raises(ValueError, match="family"):
        privcov.source("sparse-covariance", n=3, d=2, family="t5", random_state=0)
    normal, heavy = (make_dataset(cls(n=7, d=3, family=f), seed=1) for f in ("normal", "t5"))
    ratio = heavy.rows / normal.rows  # the same directions, row by row another length
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(3), rtol=1e-12)
    assert len(np.unique(ratio[:, 0].round(9))) == 7
    for d in (1, 2):
        assert make_dataset(cls(n=1, d=d, family="t5"), seed=0).rows.shape == (1, d)


def test_digits_are_whole_numbers_of_dots_and_three_pixels_are_blank():
    ds = make_dataset(SOURCES.get("digits").cls(), seed=0)
    assert np.array_equal(ds.rows, np.round(ds.rows))
    assert ds.rows.min() == 0
    assert ds.rows.max() == 16
    blank = [name for name, column in zip(ds.columns, ds.rows.T, strict=True) if np.ptp(column) == 0]
    assert blank == ["pixel 0,0", "pixel 4,0", "pixel 4,7"]
    longest = np.linalg.norm(ds.to_working(), axis=1).max()
    assert longest < 1.21 * ds.row_bound  # as the docstring says


def test_diabetes_is_the_raw_table():
    ds = make_dataset(SOURCES.get("diabetes").cls(), seed=0)
    column = dict(zip(ds.columns, ds.rows.T, strict=True))
    assert set(np.unique(column["sex"])) == {1.0, 2.0}
    assert 18 <= column["age"].min() < column["age"].max() <= 90
    # what each column is: the ratio of two others, and cholesterol that has LDL as a part
    ratio = column["total cholesterol"] / column["HDL"]
    assert np.corrcoef(ratio, column["cholesterol / HDL"])[0, 1] > 0.95
    assert np.abs(ratio - column["cholesterol / HDL"]).mean() < 0.3  # most were written down as whole numbers
    assert (column["LDL"] < column["total cholesterol"]).all()
    assert np.exp(column["log triglycerides"]).max() < 1100
    # no column was scaled by its own rows to mean 0 and length 1
    assert (np.abs(ds.rows.mean(axis=0)) > 1).all()
