"""Norms by hand, every reference, and the waterfall that ends at the error."""

import math

import numpy as np
import pytest

import privcov
from privcov.data_sources.base import make_dataset
from privcov.data_sources.gaussian import AR1Covariance
from privcov.metrics.errors import NORMS, baseline_errors, error, matrix_norm, reference_matrix, waterfall
from privcov.tables.dataset import Dataset, Truth

ENOUGH = privcov.ZCDP(0.5)


def test_norms_by_hand():
    a = np.array([[1.0, -2.0], [-2.0, 4.0]])  # rank one: eigenvalues 5 and 0
    assert matrix_norm(a, "frobenius") == 5.0  # sqrt(1 + 4 + 4 + 16)
    assert matrix_norm(a, "spectral") == pytest.approx(5.0)
    assert matrix_norm(a, "l1") == 6.0  # second column
    assert matrix_norm(a, "max") == 4.0
    b = np.array([[3.0, 0, 0], [0, 0, -4.0], [0, -4.0, 0]])  # eigenvalues 3, 4, -4
    assert matrix_norm(b, "frobenius") == pytest.approx(math.sqrt(41))
    assert matrix_norm(b, "spectral") == pytest.approx(4.0)
    assert matrix_norm(b, "l1") == 4.0
    assert matrix_norm(b, "max") == 4.0


def test_sample_reference_by_hand():
    """Rows (0,0), (2,0), (0,4): mean (2/3, 4/3); the zero matrix misses the whole covariance."""
    data = privcov.Dataset.from_rows([[0, 0], [2, 0], [0, 4]], row_bound=5.0)
    want = np.array([[8 / 9, -8 / 9], [-8 / 9, 32 / 9]])
    np.testing.assert_allclose(reference_matrix(data, "covariance", "sample"), want)
    zero = privcov.release(data, ENOUGH, "zero", random_state=0)
    assert error(zero, data) == pytest.approx(np.linalg.norm(want))
    assert error(zero, data, relative=True) == 1.0
    about_origin = privcov.release(data, ENOUGH, "zero", centre="none", random_state=0)
    assert error(about_origin, data, "max") == pytest.approx(16 / 3)  # mean of 0, 0, 16
    assert reference_matrix(data, "second moment", "sample")[1, 1] == pytest.approx(16 / 3)
    assert waterfall(about_origin, data) == [("Sample", 0.0), ("Post-processed", 1.0)]


def test_truth_and_nonprivate_references():
    data = privcov.source("ar1-covariance", n=2000, d=3, rho=0.5, random_state=0)
    truth = np.array([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]])
    rel = privcov.release(data, ENOUGH, "gaussian-cov", random_state=3)
    clean = privcov.release(data, privcov.NoPrivacy(), "gaussian-cov", random_state=0)
    for norm in NORMS:
        assert error(rel, data, norm, against="truth") == pytest.approx(matrix_norm(rel.covariance - truth, norm))
        assert error(rel, data, norm, against="nonprivate") == pytest.approx(
            matrix_norm(rel.covariance - clean.covariance, norm)
        )
        assert error(clean, data, norm, against="nonprivate") == 0.0
    graph = privcov.source("precision-ar2", n=3000, d=4, random_state=0)
    rel = privcov.release(graph, ENOUGH, "glasso-gaussian", random_state=0)
    assert error(rel, graph, against="truth") == pytest.approx(np.linalg.norm(rel.precision - graph.truth.precision))
    inverse = np.linalg.inv(graph.rows.T @ graph.rows / graph.n)
    assert error(rel, graph, against="sample") == pytest.approx(np.linalg.norm(rel.precision - inverse))


def test_precision_about_the_origin_is_compared_with_its_own_kind():
    """centre='none' inverts the uncentred second moment; so must the reference."""
    rows = np.random.default_rng(0).uniform(0, 1, (4000, 3))
    data = privcov.Dataset.from_rows(rows, row_bound=2.0)
    for centre, moment in (("none", rows.T @ rows / 4000), ("joint", np.cov(rows.T, bias=True))):
        rel = privcov.release(data, ENOUGH, "glasso-gaussian", centre=centre, random_state=0)
        want = np.linalg.norm(rel.precision - np.linalg.inv(moment))
        assert error(rel, data) == pytest.approx(want, rel=1e-9)


def test_second_moment_of_the_truth_is_about_the_public_origin():
    """Mean zero, origin 1: E (x - 1)^2 = variance + 1."""
    rows = np.random.default_rng(0).choice([-1.0, 1.0], (50, 1))
    data = privcov.Dataset.from_rows(rows, bounds=[(-2, 4)], truth=privcov.Truth(np.eye(1)))
    assert reference_matrix(data, "second moment", "truth")[0, 0] == pytest.approx(2 / 3**2)


def test_errors_are_in_working_units():
    """The same rows in metres and in millimetres, with bounds to match, have the same error."""
    rows = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    scale = np.array([1.0, 1000.0, 0.01])
    bound = np.array([[-1.0, 1.0]] * 3)
    plain = privcov.Dataset.from_rows(rows, bounds=bound)
    scaled = privcov.Dataset.from_rows(rows * scale, bounds=bound * scale[:, None])
    for method in ("auto-cov", "glasso-gaussian"):
        one, two = (privcov.release(data, ENOUGH, method, random_state=1) for data in (plain, scaled))
        for against in ("sample", "nonprivate"):
            assert error(one, plain, against=against) == pytest.approx(error(two, scaled, against=against), rel=1e-6)


def test_the_release_remembers_its_own_row_bound():
    """The same method without noise is the same release, also when the data set now says another R."""
    data = privcov.source("ar1-covariance", n=400, d=3, random_state=0)
    tight = data.with_row_bound(1.0)
    rel = privcov.release(tight, privcov.NoPrivacy(), "gaussian-cov", random_state=0)
    assert error(rel, data, against="nonprivate") == 0.0
    assert waterfall(rel, data) == waterfall(rel, tight)
    assert error(rel, data) > 0.1  # R = 1 clips most rows


@pytest.mark.parametrize("centre", ["joint", "none"])
@pytest.mark.parametrize("method", ["gaussian-cov", "auto-cov", "diagonal", "zero"])
@pytest.mark.parametrize("source", ["ar1-covariance", "zipf-norms"])
def test_waterfall_ends_at_the_error(method, centre, source):
    data = (
        make_dataset(AR1Covariance(n=500, d=4), seed=0)
        if source[0] == "a"
        else privcov.source(source, n=500, d=4, random_state=0)
    )
    rel = privcov.release(data, privcov.ZCDP(0.01), method, centre=centre, random_state=2)
    stages = waterfall(rel, data, "spectral")
    against = "truth" if data.truth is not None else "sample"
    assert stages[-1] == ("Post-processed", error(rel, data, "spectral", relative=True, against=against))
    assert [name for name, _ in stages] == (
        ["Sample", "Post-processed"] if method == "zero" else ["Sample", "Clipped", "Noisy", "Post-processed"]
    )
    if against == "sample":
        assert stages[0][1] == 0.0
        if method != "zero" and centre == "none":
            assert stages[1][1] == pytest.approx(0.0, abs=1e-12)  # zipf norms: R clips nothing


def test_nothing_to_compare_with_is_a_sentence():
    data = privcov.Dataset.from_rows(np.eye(3) * 0.5)
    rel = privcov.release(data, ENOUGH, "gaussian-cov", random_state=0)
    with pytest.raises(ValueError, match="no known truth"):
        error(rel, data, against="truth")
    with pytest.raises(ValueError, match="singular"):
        reference_matrix(privcov.Dataset.from_rows(np.ones((5, 3)), 2.0), "precision", "sample")
    with pytest.raises(ValueError, match="norm must be one of"):
        error(rel, data, norm="nuclear")
    with pytest.raises(ValueError, match="against must be one of"):
        error(rel, data, against="oracle")
    with pytest.raises(ValueError, match="differ in columns"):
        error(rel, privcov.Dataset.from_rows(np.ones((3, 1))))
    with pytest.raises(TypeError, match=r"dataset must be a privcov\.Dataset, got ndarray"):
        error(rel, np.eye(3))
    graph = privcov.release(
        privcov.source("precision-ar2", n=2000, d=3, random_state=0), ENOUGH, "glasso-gaussian", random_state=0
    )
    with pytest.raises(ValueError, match="waterfall explains covariance"):
        waterfall(graph, privcov.source("precision-ar2", n=2000, d=3, random_state=0))


def test_a_data_set_of_zeros_has_no_relative_error_to_divide_by():
    data = privcov.Dataset.from_rows(np.zeros((10, 2)))
    noisy = privcov.release(data, ENOUGH, "gaussian-cov", random_state=0)
    assert error(noisy, data, relative=True) == math.inf
    assert error(privcov.release(data, ENOUGH, "zero", random_state=0), data, relative=True) == 0.0
    with pytest.raises(ValueError, match="sample is zero"):
        waterfall(noisy, data)


def test_answers_to_beat_by_hand():
    truth = Truth(np.array([[1.0, 0.5], [0.5, 1.0]]))
    ds = Dataset.from_rows([[1.0, 1.0], [1.0, -1.0]], 2.0, truth=truth, mean_is_zero=True)  # sample: the identity
    found = dict(baseline_errors(ds, "covariance"))
    assert found["zero matrix"] == 1.0
    assert found["sample (not private)"] == pytest.approx(np.sqrt(0.5) / np.sqrt(2.5))
    assert found["diagonal of the sample (not private)"] == found["sample (not private)"]
    public = Dataset.from_rows([[1.0, 1.0], [1.0, -1.0], [0.0, 3.0]], 2.0)
    assert set(dict(baseline_errors(public, "covariance"))) == {"zero matrix", "diagonal of the sample (not private)"}
