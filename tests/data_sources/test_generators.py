"""Generators: the sample tends to the truth they state, and everything public is public."""

import math

import numpy as np
import pytest

import privcov
from privcov.core.randomness import stream
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.data_sources.gaussian import Gaussian

ALL = [card.key for card in SOURCES.all() if {"n", "d"} <= {s.name for s in card.parameters}]
GAUSSIAN = [key for key in ALL if issubclass(SOURCES.get(key).cls, Gaussian)]


@pytest.mark.parametrize("key", GAUSSIAN)
def test_sample_covariance_approaches_the_truth(key):
    """n = 100,000. Var S_ij = (s_ii s_jj + s_ij^2) / n, so E |S - Sigma|_F^2 = (tr^2 + |Sigma|_F^2) / n;
    z-scores of 55 entries stay below 5 (chance 3e-5). A wrong entry is seen from about 2 % on."""
    n, d = 100_000, 10
    ds = privcov.source(key, n=n, d=d, random_state=3)
    sigma = ds.truth.covariance
    sample = ds.rows.T @ ds.rows / n
    v = np.diag(sigma)
    z = (sample - sigma) / np.sqrt((np.outer(v, v) + sigma**2) / n)
    assert np.abs(z).max() < 5
    assert np.abs(z).max() > 0.5  # the rows are random, not made to fit
    expected = (np.trace(sigma) ** 2 + np.sum(sigma**2)) / n
    assert np.sum((sample - sigma) ** 2) < 4 * expected
    assert np.abs(ds.rows.mean(axis=0) / np.sqrt(v / n)).max() < 5
    assert ds.mean_is_zero
    assert ds.provenance == "simulated"


@pytest.mark.parametrize("key", GAUSSIAN)
@pytest.mark.parametrize("d", [1, 2, 3, 30])
def test_truth_is_a_covariance(key, d):
    truth = privcov.source(key, n=3, d=d, random_state=0).truth
    np.testing.assert_array_equal(truth.covariance, truth.covariance.T)
    assert np.linalg.eigvalsh(truth.covariance)[0] > 0
    if truth.precision is not None:
        np.testing.assert_allclose(truth.precision @ truth.covariance, np.eye(d), atol=1e-10)
        np.testing.assert_array_equal(truth.graph, (truth.precision != 0) & ~np.eye(d, dtype=bool))


@pytest.mark.parametrize("key", ALL)
def test_row_bound_comes_from_public_parameters_only(key):
    """Other rows, same R."""
    source = SOURCES.get(key).cls(n=40, d=6)
    one, two = (make_dataset(source, seed=2, repeat=k) for k in (0, 1))
    assert (one.rows != two.rows).any()
    assert one.row_bound == two.row_bound
    more = make_dataset(SOURCES.get(key).cls(n=4000, d=6), seed=2)
    assert more.row_bound == one.row_bound
    if key in GAUSSIAN:
        np.testing.assert_array_equal(one.truth.covariance, two.truth.covariance)
        np.testing.assert_array_equal(one.truth.covariance, more.truth.covariance)
    assert make_dataset(source, seed=2, row_bound=0.5).row_bound == 0.5


@pytest.mark.parametrize("family", ["normal", "t5"])
@pytest.mark.parametrize("d", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("rho", [0.0, 0.6, 0.95])
def test_the_default_row_bound_shortens_a_few_rows_at_every_number_of_columns(d, rho, family):
    """Of 20,000 rows between 2 % and 5.5 %; it was 26 % for one column, and none for a hundred."""
    data = make_dataset(SOURCES.get("ar1-covariance").cls(n=20_000, d=d, rho=rho, family=family), seed=1)
    assert 0.02 < np.mean(np.linalg.norm(data.rows, axis=1) > data.row_bound) < 0.055


@pytest.mark.parametrize("key", ALL)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 3), (2, 1), (2, 2), (5, 1), (3, 8)])
def test_small_tables(key, n, d):
    ds = privcov.source(key, n=n, d=d, random_state=0)
    assert ds.rows.shape == (n, d)
    assert np.isfinite(ds.rows).all()


@pytest.mark.parametrize("key", [card.key for card in SOURCES.all()])
def test_same_seed_same_rows(key):
    small = {"n": 30, "d": 4} if key in ALL else {}
    np.testing.assert_array_equal(
        privcov.source(key, random_state=1, **small).rows, privcov.source(key, random_state=1, **small).rows
    )
    if small:
        assert (
            privcov.source(key, random_state=1, **small).rows != privcov.source(key, random_state=2, **small).rows
        ).any()


def test_streams_are_keyed_by_name_not_by_order():
    """Rows come from (seed, "data", repeat, key) alone: other sources, before or beside, change nothing."""
    want = stream(7, "data", 0, "ar1-covariance").standard_normal((5, 1))
    for key in ALL:
        privcov.source(key, n=5, d=1, random_state=7)
    found = privcov.source("ar1-covariance", n=5, d=1, random_state=7).rows  # Sigma = 1, so the rows are the draw
    np.testing.assert_array_equal(np.abs(found), np.abs(want))
    draws = [stream(*words).random() for words in [(7, "a", "b"), (7, "ab"), (7, "b", "a"), (8, "a", "b"), (7, "a")]]
    assert len(set(draws)) == 5
    assert stream(7, "a", "b").random() == draws[0]


def test_parameters_of_the_papers():
    ar1 = privcov.source("ar1-covariance", n=2, d=3, random_state=0).truth.covariance
    np.testing.assert_allclose(ar1, [[1, 0.6, 0.36], [0.6, 1, 0.6], [0.36, 0.6, 1]])
    banded = privcov.source("banded-covariance", n=2, d=4, random_state=0).truth.covariance
    np.testing.assert_array_equal(banded[0], [1, 0.6, 0.3, 0])
    wide = privcov.source("banded-covariance", n=2, d=400, random_state=0).truth.covariance
    assert np.linalg.eigvalsh(wide)[0] == pytest.approx(0.1, abs=1e-3)  # the smallest value of its symbol
    block = privcov.source("block-covariance", n=2, d=5, size=3, random_state=0).truth.covariance
    np.testing.assert_allclose(block, np.eye(5) + 0.6 * np.array([[0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0],
                                                                  [0, 0, 0, 0, 1], [0, 0, 0, 1, 0]]))  # fmt: skip
    ar2 = privcov.source("precision-ar2", n=2, d=100, random_state=0).truth
    np.testing.assert_array_equal(ar2.precision[0, :4], [1, 0.5, 0.25, 0])
    # Eigenvalues in [.251, 2.50] at p = 100.
    assert np.linalg.eigvalsh(ar2.precision)[[0, -1]] == pytest.approx([0.251, 2.50], rel=5e-3)
    assert ar2.graph.sum() == 2 * (99 + 98)


def test_sparse_covariance_is_sparse():
    """d = 200, 20 % of 19,900 pairs: 3,980, deviation 56; 5 of them are 7 %. Sigma = (U + 50 I) / 200."""
    sigma = privcov.source("sparse-covariance", n=2, d=200, sparsity=0.2, random_state=0).truth.covariance
    off = sigma[np.triu_indices(200, 1)]
    assert abs(np.count_nonzero(off) - 3980) < 5 * math.sqrt(19_900 * 0.2 * 0.8)
    assert np.abs(off).max() <= 1 / 200
    assert np.abs(np.diag(sigma) - 0.25).max() <= 1 / 200
    empty = privcov.source("sparse-covariance", n=2, d=5, sparsity=0.0, random_state=0).truth.covariance
    np.testing.assert_allclose(empty, 0.25 * np.eye(5))


def test_zipf_norms_and_shares():
    """n = 100,000, 4 bins with shares k^-3 / 1.1777; counts within 5 binomial deviations (0.6 % of n)."""
    n = 100_000
    ds = privcov.source("zipf-norms", n=n, d=5, bins=4, skew=3.0, random_state=1)
    norms = np.linalg.norm(ds.rows, axis=1)
    bins = np.round(np.log2(norms)).astype(int)
    np.testing.assert_allclose(norms, 2.0**bins, rtol=1e-12)
    share = np.arange(1, 5) ** -3.0
    share /= share.sum()
    for k in range(1, 5):
        p = share[k - 1]
        assert abs(np.sum(bins == k - 4) - n * p) < 5 * math.sqrt(n * p * (1 - p)), k
    flat = privcov.source("zipf-norms", n=n, d=5, bins=2, skew=0.0, random_state=0)
    assert abs(np.mean(np.linalg.norm(flat.rows, axis=1) > 0.75) - 0.5) < 5 * 0.5 / math.sqrt(n)


@pytest.mark.parametrize("key", ALL)
def test_wrong_parameters_are_sentences(key):
    for wrong in ({"n": 0}, {"d": 0}, {"n": 2.5}, {"d": "3"}, {"colour": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            privcov.source(key, **wrong)
    with pytest.raises(ValueError, match="row_bound must be > 0"):
        privcov.source(key, n=3, d=2, row_bound=0, random_state=0)
    with pytest.raises(ValueError, match="There is no source"):
        privcov.source("nothing", random_state=0)
