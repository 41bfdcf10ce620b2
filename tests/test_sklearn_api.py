"""`PrivateCovariance` behaves like an estimator of scikit-learn, and says where it cannot."""

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import privcov
from privcov.releases.scikit_learn import PrivateCovariance

# A row bound as one has to give it, and noise that leaves a precision matrix of the ten rows that some checks fit.
CHECKED = {
    method: PrivateCovariance(method, privcov.ZCDP(1e6), row_bound=10.0, random_state=0)
    for method in ("auto-cov", "wishart-approx", "glasso-gaussian")
}
CHECKED["wishart-approx"].guarantee = privcov.ApproxDP(1.0, 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore:Can't check dok sparse")
@parametrize_with_checks(list(CHECKED.values()))
def test_estimator_checks_of_scikit_learn(estimator, check):
    """No check is expected to fail."""
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore:Can't check dok sparse")
def test_the_checks_are_those_of_scikit_learn_and_find_a_defect():
    class Defective(PrivateCovariance):
        def fit(self, X, y=None):
            X = np.nan_to_num(np.asarray(X, dtype=float))
            return super().fit(X)

    results = check_estimator(Defective(row_bound=10.0, random_state=0), on_fail=None, on_skip=None)
    assert sum(r["status"] == "passed" for r in results) >= 30
    assert "check_estimators_nan_inf" in {r["check_name"] for r in results if r["status"] == "failed"}


def three_groups(seed: int = 0):
    """3 x 1000 rows in 4 columns, groups 3 standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 1000)
    root = np.eye(4) + 0.3 * rng.random((4, 4))
    return (rng.standard_normal((3000, 4)) + 3 * np.eye(4)[y]) @ root, y


def test_attributes_are_those_of_the_release():
    x, _ = three_groups()
    fitted = PrivateCovariance("auto-cov", privcov.ApproxDP(1.0, 1e-6), row_bound=5.0, random_state=3).fit(x)
    rel = privcov.release(privcov.Dataset.from_rows(x, 5.0), privcov.ApproxDP(1.0, 1e-6), "auto-cov", random_state=3)
    np.testing.assert_array_equal(fitted.covariance_, rel.covariance)
    np.testing.assert_array_equal(fitted.location_, rel.mean)
    np.testing.assert_allclose(fitted.precision_ @ fitted.covariance_, np.eye(4), atol=1e-8)
    np.testing.assert_array_equal(fitted.get_precision(), fitted.precision_)
    assert fitted.release_.guarantee == privcov.ApproxDP(1.0, 1e-6)
    assert fitted.n_features_in_ == 4
    assert PrivateCovariance().fit(x).release_.guarantee == privcov.ZCDP(0.1)


def test_methods_own_precision_and_parameters_are_used():
    x, _ = three_groups()
    fitted = PrivateCovariance("glasso-gaussian", row_bound=5.0, random_state=0).fit(x)
    np.testing.assert_array_equal(fitted.precision_, fitted.release_.precision)
    raw = PrivateCovariance("gaussian-cov", row_bound=5.0, parameters={"repair": "none"}, random_state=0).fit(x)
    assert raw.release_.parameters["repair"] == "none"


def test_random_state():
    x, _ = three_groups()

    def fit(state):
        return PrivateCovariance(row_bound=5.0, random_state=state).fit(x).covariance_

    np.testing.assert_array_equal(fit(0), fit(0))
    np.testing.assert_array_equal(fit(np.random.RandomState(1)), fit(np.random.RandomState(1)))
    assert (fit(0) != fit(1)).any()
    assert (fit(None) != fit(None)).any()
    assert PrivateCovariance().random_state is None  # equal noise in two fits would reveal what one hides


def test_bad_choices_are_the_sentences_of_release():
    x, _ = three_groups()
    with pytest.raises(ValueError, match="There is no method"):
        PrivateCovariance("best").fit(x)
    with pytest.raises(TypeError, match="guarantee must be"):
        PrivateCovariance(guarantee=1.0).fit(x)
    with pytest.raises(ValueError, match="row_bound must be > 0"):
        PrivateCovariance(row_bound=0).fit(x)


# --- what it has from EmpiricalCovariance -------------------------------------------------------------------


def gaussian_log_density(rows, mean, precision) -> float:
    """The mean over the rows of the log density of a normal distribution, literally."""
    sign, logdet = np.linalg.slogdet(precision)
    assert sign == 1
    squared = [(row - mean) @ precision @ (row - mean) for row in rows]
    return float(np.mean([(logdet - len(mean) * np.log(2 * np.pi) - s) / 2 for s in squared]))


@pytest.mark.parametrize("method", ["auto-cov", "glasso-gaussian"])
def test_score_mahalanobis_and_error_norm_are_of_the_release(method):
    x, _ = three_groups()
    fitted = PrivateCovariance(method, privcov.ZCDP(1.0), row_bound=12.0, random_state=0).fit(x)
    assert isinstance(fitted, EmpiricalCovariance)
    new = x[:50] + 0.1
    expected = gaussian_log_density(new, fitted.location_, fitted.precision_)
    assert fitted.score(new) == pytest.approx(expected, rel=1e-10)
    squared = [(row - fitted.location_) @ fitted.precision_ @ (row - fitted.location_) for row in new]
    np.testing.assert_allclose(fitted.mahalanobis(new), squared, rtol=1e-8)
    other = np.diag([1.0, 2.0, 3.0, 4.0])
    apart = np.sqrt(((fitted.covariance_ - other) ** 2).sum())
    assert fitted.error_norm(other, scaling=False, squared=False) == pytest.approx(apart)


def test_a_singular_matrix_scores_minus_infinity_and_a_floor_helps():
    x, _ = three_groups()
    few = PrivateCovariance("gaussian-cov", privcov.ZCDP(1e-4), row_bound=12.0, random_state=0)
    assert all(few.set_params(random_state=seed).fit(x).score(x) == -np.inf for seed in range(6))
    assert np.isfinite(few.set_params(floor=0.1).fit(x).score(x))


def test_floor_raises_small_eigenvalues_and_nothing_else():
    x, _ = three_groups()

    def fit(floor):
        return PrivateCovariance(guarantee=privcov.ZCDP(1e-3), row_bound=20.0, random_state=0, floor=floor).fit(x)

    plain, raised = fit(0.0).covariance_, fit(0.5)
    low = 0.5 * np.trace(plain) / 4
    found, wanted = np.linalg.eigvalsh(raised.covariance_), np.maximum(np.linalg.eigvalsh(plain), low)
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
    np.testing.assert_allclose(raised.precision_ @ raised.covariance_, np.eye(4), atol=1e-10)
    with pytest.raises(ValueError, match="floor must lie in"):
        fit(2.0)


def test_a_floor_under_nothing_is_refused():
    """At this guarantee nothing is left of the covariance; without a floor its pseudo-inverse is zero too."""
    x, _ = three_groups()

    def fit(floor):
        private = PrivateCovariance(guarantee=privcov.ZCDP(1e-9), row_bound=20.0, random_state=0, floor=floor)
        return private.fit(x)

    plain = fit(0.0)
    assert not plain.covariance_.any()
    assert not plain.precision_.any()
    with pytest.raises(ValueError, match=r"floor=0\.1 is a fraction of the mean released variance, .* none"):
        fit(0.1)
