"""What follows from columns of two values: blocks that agree with the mean, in every matrix and every answer."""

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov import Dataset, Kind
from privcov.inference.unbiased import REASONS
from privcov.postprocess.binary_columns import BinaryColumns, same_column, with_identities

KINDS = {
    "age": Kind("number", 0, 100),
    "region": Kind("category", values=["N", "S", "E"]),
    "yes": Kind("yes-no", values=("n", "y"), typical="n"),
}
LEVELS = [1, 2, 3]


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.choice(list("NSE"), n, p=[0.14, 0.4, 0.46])
    yes = np.where(rng.random(n) < np.where(region == "N", 0.3, 0.05), "y", "n")
    return pd.DataFrame({"age": rng.normal(50, 15, n), "region": region, "yes": yes})


def released(method="auto-cov", rho=0.02, bound=1.0, seed=1, n=600):
    data = Dataset.from_rows(rows(n), kinds=KINDS)
    return privcov.release(data.with_row_bound(data.row_bound * bound), privcov.ZCDP(rho), method, random_state=seed)


@pytest.mark.parametrize("method", ["auto-cov", "gaussian-cov"])
@pytest.mark.parametrize("bound", [0.6, 1.0])
def test_no_release_has_levels_of_one_column_that_go_together(method, bound):
    """Under strong noise most seeds had a positive pair; the matrix stays positive semi-definite."""
    for seed in range(10):
        rel = released(method, bound=bound, seed=seed)
        c = rel.covariance
        block = c[np.ix_(LEVELS, LEVELS)]
        assert (block[np.triu_indices(3, 1)] <= 0).all()
        assert (rel.correlation[np.ix_(LEVELS, LEVELS)][np.triu_indices(3, 1)] <= 0).all()
        assert np.linalg.eigvalsh(c)[0] >= -1e-9 * np.abs(c).max()
        assert rel.second_moment == pytest.approx(c + np.outer(rel.mean - rel.origin, rel.mean - rel.origin))
        if bound == 1.0:  # whole rows: a level is 0 or 1
            p = np.clip(rel.mean[[*LEVELS, 4]], 0, 1)
            p[:3] /= max(p[:3].sum(), 1)
            assert np.diag(c)[[*LEVELS, 4]] == pytest.approx(p * (1 - p))


def test_without_noise_nothing_changes():
    data = Dataset.from_rows(rows(), kinds=KINDS)
    rel = privcov.release(data, privcov.ZCDP(1e9), "gaussian-cov", random_state=0)
    table = pd.get_dummies(rows()[["age", "region", "yes"]], columns=["region", "yes"], dtype=float)
    table = table[["age", "region_N", "region_S", "region_E", "yes_y"]]
    assert rel.covariance == pytest.approx(np.cov(table.to_numpy().T, ddof=0), rel=1e-3, abs=1e-3)


def test_a_block_is_exact_and_the_rest_keeps_its_place():
    """A positive definite matrix stays one, its other columns stay, and a block that fits already changes nothing."""
    rng = np.random.default_rng(4)
    root = rng.standard_normal((5, 5))
    c, mean = root @ root.T, np.array([0.3, 0.2, 0.5, 0.1, -0.4])
    two = BinaryColumns(
        np.zeros(5), np.array([0.0, 1, 1, 1, 0]), ((1, 2, 3),), exact=np.array([False, True, True, True, False])
    )
    found = with_identities(c, mean, two)
    p = mean[1:4]
    assert found[1:4, 1:4] == pytest.approx(np.diag(p) - np.outer(p, p))
    assert found[np.ix_([0, 4], [0, 4])].tolist() == c[np.ix_([0, 4], [0, 4])].tolist()
    assert np.linalg.eigvalsh(found)[0] > 0
    assert found.tolist() == found.T.tolist()
    assert with_identities(found, mean, two) == pytest.approx(found)


def test_which_pairs_are_of_one_column():
    assert np.argwhere(np.triu(same_column(tuple(KINDS.items())))).tolist() == [[1, 2], [1, 3], [2, 3]]
    assert same_column((("age", KINDS["age"]),)) is None


@pytest.mark.parametrize("bound", [0.6, 1.0])
def test_a_variance_agrees_with_its_mean(bound):
    """It had estimates below zero: region=N with the share .142 [.089, .196] and the variance -.024 [0, .115]."""
    for seed in range(10):
        found = privcov.answers(released(bound=bound, seed=seed))
        mean, variance = found.means().iloc[LEVELS], found.variances().iloc[LEVELS]
        low, high = (np.clip(mean[end], 0, 1) for end in ("ci_low", "ci_high"))
        most = np.where((low < 0.5) & (high > 0.5), 0.25, np.maximum(low * (1 - low), high * (1 - high)))
        assert (variance["estimate"] >= 0).all()
        assert (variance["ci_high"] <= most + 1e-9).all()
        assert ((variance["ci_low"] <= variance["estimate"]) & (variance["estimate"] <= variance["ci_high"])).all()
        if bound == 1.0:
            assert variance["estimate"].to_numpy() == pytest.approx(mean["estimate"] * (1 - mean["estimate"]))


def test_a_cell_between_the_two_values_is_not_ruled_out_by_a_declaration():
    """A missing yes-no cell counts as the middle, so its variance does not follow from its mean."""
    kinds = KINDS | {"yes": Kind("yes-no", values=("n", "y"))}
    rel = privcov.release(Dataset.from_rows(rows(), kinds=kinds), privcov.ZCDP(0.5), "gaussian-cov", random_state=0)
    mean, variance = rel.mean[4], rel.covariance[4, 4]
    assert variance != pytest.approx(mean * (1 - mean))


def test_eigenvalues_of_few_rows_are_refused():
    """Of 15 rows of 4 columns the smallest was inside its interval in .76."""
    few, many = (privcov.source("ar1-covariance", n=n, d=4, random_state=0) for n in (79, 80))
    answers = [
        privcov.answers(privcov.release(x, privcov.ZCDP(5.0), "gaussian-cov", random_state=0)) for x in (few, many)
    ]
    assert not answers[0].eigenvalues()["identified"].any()
    assert "20 rows" in answers[0].eigenvalues()["reason"][0]
    assert answers[0].eigenvalues()["reason"][0] in REASONS
    assert answers[1].eigenvalues()["identified"].all()


def test_an_unbiased_correlation_is_not_clipped():
    """Of a correlation of 1 about half of the estimates lie above it."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 0.3, 2000)
    estimates = []
    for seed in range(20):
        data = Dataset.from_rows(np.column_stack([x, x]), bounds=[(-1, 1)] * 2)
        found = privcov.answers(
            privcov.release(data, privcov.ZCDP(0.05), "gaussian-cov", random_state=seed, centre="joint")
        )
        estimates.append(found.correlations()["estimate"][0])
    assert 2 <= np.sum(np.array(estimates) > 1) <= 18


@pytest.mark.parametrize("method", ["gaussian-cov", "auto-cov", "em-cov", "coinpress"])
@pytest.mark.parametrize(("rho", "levels"), [(1e9, 5), (1e-4, 30), (0.5, 5)])
def test_every_method_with_kinds_has_levels_that_fit_together(method, rho, levels):
    """All levels of a category together are a singular block, and some noisy shares leave 0 to 1."""
    rng = np.random.default_rng(levels)
    names = [f"l{k}" for k in range(levels)]
    kinds = {"x": Kind("number", -1, 1), "of": Kind("category", values=names), "yes": KINDS["yes"]}
    table = pd.DataFrame(
        {"x": rng.uniform(-1, 1, 1500), "of": rng.choice(names, 1500), "yes": rng.choice(["n", "y"], 1500)}
    )
    data, at = Dataset.from_rows(table, kinds=kinds), np.arange(1, levels + 1)
    for seed in range(3):
        of_rows = {"target": "sample", "row_bound_search": "off"} if method == "auto-cov" else {}  # whole rows
        rel = privcov.release(data, privcov.ZCDP(rho), method, random_state=seed, centre="joint", **of_rows)
        c, share = rel.covariance, rel.mean[at]
        assert np.linalg.eigvalsh(c)[0] >= -1e-9 * np.abs(c).max()
        assert (c[np.ix_(at, at)][np.triu_indices(levels, 1)] <= 0).all()
        assert (share >= 0).all()
        assert share.sum() <= 1 + 1e-9
        assert np.diag(c)[at] == pytest.approx(share * (1 - share))
        if rho == 1e9 and method in ("gaussian-cov", "auto-cov"):
            sample = np.cov(data.rows.T, ddof=0)
            spread = np.sqrt(np.diag(sample))
            assert np.abs((c - sample) / np.outer(spread, spread)).max() < 1e-4
