"""Regression beside its slopes: p-values, intercept, expected responses, ridge; axes, and tables of correlations."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import privcov

SLOPES, START = np.array([0.5, -0.3, 0.0]), 0.1
NAMES = list("abcy")


def rows(n, seed):
    rng = np.random.default_rng([8, seed])
    x = rng.normal(0.2, 0.25, (n, 3))
    x[:, 1] += 0.4 * x[:, 0]
    return np.column_stack([x, START + x @ SLOPES + rng.normal(0, 0.2, n)])


def answers(rho, seed=0, n=5000, **how):
    data = privcov.Dataset.from_rows(rows(n, seed), bounds=[(-2, 2)] * 4, columns=NAMES)
    return privcov.answers(
        privcov.release(data, privcov.ZCDP(rho), "gaussian-cov", random_state=seed, centre="joint"), **how
    )


def test_without_noise_the_numbers_are_those_of_least_squares():
    found, table = answers(1e9), rows(5000, 0)
    model = LinearRegression().fit(table[:, :3], table[:, 3])
    fit = found.regress("y")
    assert fit["estimate"].to_numpy() == pytest.approx(model.coef_, abs=1e-4)
    assert fit.attrs["intercept"]["estimate"] == pytest.approx(model.intercept_, abs=1e-4)
    at = pd.DataFrame({"c": [0.1, 1.0], "a": [0.0, -1.0], "b": [0.5, 2.0]}, index=["one", "two"])
    told = found.predict("y", at)
    assert told["estimate"].to_numpy() == pytest.approx(model.predict(at[["a", "b", "c"]].to_numpy()), abs=1e-3)
    assert list(told["row"]) == ["one", "two"]
    fit = found.regress("y", on=["a", "b", "c"])  # classical tests and intervals, of many rows
    x = np.column_stack([np.ones(5000), table[:, :3]])
    residual = table[:, 3] - x @ np.linalg.lstsq(x, table[:, 3], rcond=None)[0]
    std = np.sqrt(residual @ residual / 4996 * np.diag(np.linalg.inv(x.T @ x)))
    intercept = fit.attrs["intercept"]
    assert intercept["ci_high"] - intercept["ci_low"] == pytest.approx(2 * 1.96 * std[0], rel=0.01)
    assert fit["std_error"].to_numpy() == pytest.approx(std[1:], rel=0.01)


def test_a_p_value_and_its_interval_agree():
    """At the level 1 - p one end of the interval is 0."""
    fit = answers(0.3).regress("y")
    for k in range(3):
        p = float(fit["p_value"][k])
        if 0.001 < p < 0.5:
            at = answers(0.3, level=1 - p).regress("y")
            assert min(abs(at["ci_low"][k]), abs(at["ci_high"][k])) < 1e-3 * (at["ci_high"][k] - at["ci_low"][k])


def test_the_smallest_ridge_with_which_there_are_slopes_is_taken():
    clear, noisy = answers(0.3), answers(3e-5)
    assert clear.regress("y", ridge="auto").attrs["ridge"] == 0
    assert noisy.regress("y")["estimate"].isna().all()
    fit = noisy.regress("y", ridge="auto")
    assert fit["estimate"].notna().all()
    assert noisy.regress("y", ridge=0.99 * fit.attrs["ridge"])["estimate"].isna().all()


def test_partial_correlations_given_some_columns_are_those_of_the_residuals():
    found, table = answers(1e9), rows(5000, 0)
    pairs = found.partial_correlations(given="a")
    assert list(zip(pairs["first"], pairs["second"], strict=True)) == [("b", "c"), ("b", "y"), ("c", "y")]
    x = np.column_stack([np.ones(5000), table[:, 0]])
    left = table[:, 1:] - x @ np.linalg.lstsq(x, table[:, 1:], rcond=None)[0]
    assert pairs["estimate"].to_numpy() == pytest.approx(np.corrcoef(left.T)[np.triu_indices(3, 1)], abs=1e-3)
    assert found.partial_correlations(given=["a", "b"])["estimate"][0] == pytest.approx(
        found.partial_correlations().set_index(["first", "second"])["estimate"]["c", "y"]
    )
    with pytest.raises(ValueError, match="given names 'z'"):
        found.partial_correlations(given="z")


def test_what_is_missing_for_a_prediction_is_named():
    with pytest.raises(ValueError, match="at has no column 'c'"):
        answers(0.5).predict("y", {"a": 1.0}, on=["a", "c"])
    with pytest.raises(ValueError, match="finite"):
        answers(0.5).predict("y", {"a": np.nan})


def test_a_delta_that_a_random_row_satisfies_is_warned_of():
    data = privcov.Dataset.from_rows(rows(500, 0), bounds=[(-2, 2)] * 4)
    with pytest.warns(UserWarning, match="Delta 0.5 is not below 1/n"):
        privcov.release(data, privcov.ApproxDP(1.0, 0.5), "gaussian-cov")


def test_the_length_of_an_interval_is_the_spread_of_the_responses_over_noise():
    """The same rows, with means far from the typical values, which tie the noise on slopes to that on the means."""
    rng = np.random.default_rng(3)
    x = rng.normal([0.7, -0.6], 0.1, (20_000, 2))
    table = np.column_stack([x, 0.6 + 0.3 * (x[:, 0] - 0.7) + rng.normal(0, 0.1, 20_000)])
    data = privcov.Dataset.from_rows(table, bounds=[(-1, 1)] * 3, columns=list("aby"))
    points = pd.DataFrame({"a": [0.72, 0.68, 0.7, 0.9], "b": [-0.6, -0.6, -0.58, -0.6]})
    found, half = [], []
    for seed in range(400):
        rel = privcov.release(data, privcov.ZCDP(0.5), "gaussian-cov", random_state=seed, centre="joint")
        told = privcov.answers(rel).predict("y", points)
        found.append(told["estimate"])
        half.append((told["ci_high"] - told["ci_low"]) / 2 / 1.96)
    noise = np.sqrt(np.median(np.square(half), axis=0) - sampling_of(table, points.to_numpy()))
    assert noise == pytest.approx(np.std(found, axis=0), rel=0.12)  # one standard error is 3.5 %


def sampling_of(table, points):
    """The variance of the expected response over rows alone, as least squares have it."""
    x = np.column_stack([np.ones(len(table)), table[:, :-1]])
    residual = table[:, -1] - x @ np.linalg.lstsq(x, table[:, -1], rcond=None)[0]
    at = np.column_stack([np.ones(len(points)), points])
    return residual @ residual / len(table) * np.einsum("ij,jk,ik->i", at, np.linalg.inv(x.T @ x), at)


def test_the_interval_of_a_variance_grows_with_the_kurtosis():
    """Without noise its square is (2 + kurtosis) v^2 / n, for elliptical rows."""
    data = privcov.Dataset.from_rows(rows(20_000, 0), bounds=[(-9, 9)] * 4)
    rel = privcov.release(data, privcov.ZCDP(1e9), "auto-cov", random_state=0, centre="joint")
    plain, heavy = (privcov.answers(rel, kurtosis=k).variances() for k in (0.0, 3.0))
    ratio = (heavy["ci_high"] - heavy["ci_low"]) / (plain["ci_high"] - plain["ci_low"])
    assert ratio.to_numpy() == pytest.approx(np.sqrt(5 / 2), rel=0.02)
