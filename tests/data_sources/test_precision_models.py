"""Paper 2's four models and paper 3's sparse inverse: the matrix is the one described, and its graph is its zeros."""

import math

import numpy as np
import pytest
from scipy import stats

import privcov
from privcov.data_sources.base import SOURCES, make_dataset

MODELS = ["precision-wishart", "precision-full", "precision-ar2", "precision-random"]


def theta(key, **parameters):
    seed = parameters.pop("seed", 0)
    return SOURCES.get(key).cls(**parameters).truth(seed).precision


def test_wishart_has_the_law_of_w_w_transposed_over_ten_thousand():
    """Against literal draws of W W' / 10000, 400 matrices of each, d = 3: Kolmogorov-Smirnov on a diagonal entry, an
    entry off the diagonal and the log determinant. A missing
    square root or a wrong divisor is seen at once; one degree of freedom in a thousand would not be."""
    made = np.array([theta("precision-wishart", n=1, d=3, seed=s) for s in range(400)])
    rng = np.random.default_rng(1)
    literal = np.array([w @ w.T / 10_000 for w in (rng.standard_normal((3, 10_000)) for _ in range(400))])
    for number in (lambda m: m[:, 2, 2], lambda m: m[:, 0, 1], lambda m: np.linalg.slogdet(m)[1]):
        assert stats.ks_2samp(number(made), number(literal)).pvalue > 1e-3
    # W_11 of 10,000 degrees of freedom: mean 1, deviation sqrt(2 / 10000); 5 deviations of the mean of 400
    assert abs(made[:, 0, 0].mean() - 1) < 5 * math.sqrt(2 / 10_000 / 400)


def test_full_model_in_closed_form():
    for d in (1, 2, 20):
        made = SOURCES.get("precision-full").cls(n=1, d=d).truth(0)
        np.testing.assert_array_equal(made.precision, 0.5 * (np.eye(d) + np.ones((d, d))))
        # (I + J) / 2 has the inverse 2 (I - J / (d + 1))
        np.testing.assert_allclose(made.covariance, 2 * (np.eye(d) - 1 / (d + 1)), atol=1e-13)
        assert made.graph.sum() == d * (d - 1)


def test_printed_ar2_is_no_precision_matrix_and_ours_is():
    """Diagonal 0, as printed, has trace 0 and a negative eigenvalue; with 1 the eigenvalues lie in (1/4, 5/2)."""
    for d in (2, 3, 20, 100):
        ours = theta("precision-ar2", n=1, d=d)
        assert np.linalg.eigvalsh(ours - np.eye(d))[0] < -0.4
        low, high = np.linalg.eigvalsh(ours)[[0, -1]]
        assert low > 0.25
        assert high < 2.5


@pytest.mark.parametrize("d", [20, 100])
def test_random_model_is_that_of_the_paper(d):
    """d(d-1)/2 pairs, each linked with probability .1: within 5 binomial deviations."""
    matrix = theta("precision-random", n=1, d=d, seed=4)
    np.testing.assert_array_equal(np.diag(matrix), 1)
    assert np.linalg.cond(matrix) == pytest.approx(d, rel=1e-8)
    upper = matrix[np.triu_indices(d, 1)]
    assert len(np.unique(upper[upper != 0])) == 1  # all links alike, and positive
    assert upper.max() > 0
    pairs = d * (d - 1) / 2
    assert abs(np.count_nonzero(upper) - 0.1 * pairs) < 5 * math.sqrt(pairs * 0.09)


def test_sparse_inverse_reads_r_as_rows_per_column():
    for r, d in [(0.5, 100), (1.0, 100), (1.5, 30), (0.1, 2)]:
        ds = privcov.source("sparse-inverse", r=r, d=d, random_state=0)
        assert ds.rows.shape == (max(1, round(r * d)), d)
    card = SOURCES.get("sparse-inverse")
    assert "guess" in card.summary
    assert "guess" in card.parameters[0].help


def test_sparse_inverse_is_sparse_and_well_conditioned():
    """Expected links d = 300 (two neighbours each), binomial deviation 17; strengths at least half the strongest."""
    truth = SOURCES.get("sparse-inverse").cls(d=300).truth(2)
    links = truth.precision[np.triu_indices(300, 1)]
    assert abs(np.count_nonzero(links) - 300) < 5 * math.sqrt(300)
    sizes = np.abs(links[links != 0])
    assert sizes.min() > 0.5 * sizes.max()
    assert (links < 0).any()
    assert (links > 0).any()
    np.testing.assert_array_equal(np.diag(truth.precision), 1)
    assert np.linalg.eigvalsh(truth.precision)[0] > 0.1
    np.testing.assert_array_equal(truth.graph, (truth.precision != 0) & ~np.eye(300, dtype=bool))
    np.testing.assert_allclose(truth.covariance @ truth.precision, np.eye(300), atol=1e-10)


@pytest.mark.parametrize("key", [*MODELS, "sparse-inverse"])
def test_truth_follows_the_seed_and_not_the_repeat(key):
    make = SOURCES.get(key).cls
    source = make(r=2.0, d=12) if key == "sparse-inverse" else make(n=24, d=12)
    one, two = (make_dataset(source, seed=3, repeat=k) for k in (0, 1))
    assert (one.rows != two.rows).any()
    np.testing.assert_array_equal(one.truth.precision, two.truth.precision)
    other = make_dataset(source, seed=4).truth.precision
    assert (other != one.truth.precision).any() == (key not in ("precision-full", "precision-ar2"))
