"""`PrivateCovariance` behaves like an estimator of scikit-learn, and says where it cannot."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.utils.estimator_checks import check_estimator

import privcov
from privcov.sklearn_api import PrivateCovariance

NOT_PROMISED: dict[str, str] = {}  # check -> reason


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore:Can't check dok sparse")
def test_estimator_checks_of_scikit_learn():
    results = check_estimator(
        PrivateCovariance(guarantee=privcov.ZCDP(0.1), row_bound=10.0, random_state=0),
        expected_failed_checks=NOT_PROMISED,
        on_fail=None,
        on_skip=None,
    )
    failed = {r["check_name"]: repr(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(NOT_PROMISED)
    assert sum(r["status"] == "passed" for r in results) >= 30


def three_groups(seed: int = 0):
    """3 x 1000 rows in 4 columns, groups 3 standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 1000)
    root = np.eye(4) + 0.3 * rng.random((4, 4))
    return (rng.standard_normal((3000, 4)) + 3 * np.eye(4)[y]) @ root, y


def test_attributes_are_those_of_the_release():
    x, _ = three_groups()
    fitted = PrivateCovariance("auto-cov", privcov.ApproxDP(1.0, 1e-6), row_bound=5.0, random_state=3).fit(x)
    rel = privcov.release("auto-cov", privcov.Dataset.from_rows(x, 5.0), privcov.ApproxDP(1.0, 1e-6), seed=3)
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


WAYS = [
    (LinearDiscriminantAnalysis, "lsqr"),
    (LinearDiscriminantAnalysis, "eigen"),
    (QuadraticDiscriminantAnalysis, "eigen"),
]


@pytest.mark.parametrize(("classifier", "solver"), WAYS)
def test_use_in_discriminant_analysis(classifier, solver):
    """Groups 3 deviations apart: the best rule is right about 95 times in 100. With rho = 10 and 1000 rows
    a group the noise is small, so the private covariance must come within 2 points of the exact one."""
    x, y = three_groups()
    private = PrivateCovariance(guarantee=privcov.ZCDP(10.0), row_bound=8.0, random_state=0)
    exact = classifier(solver=solver).fit(x, y).score(x, y)
    found = classifier(solver=solver, covariance_estimator=clone(private)).fit(x, y).score(x, y)
    assert exact > 0.9
    assert found > exact - 0.02


@pytest.mark.parametrize(("classifier", "solver"), WAYS)
def test_the_classifier_makes_a_release_per_class_and_looks_at_the_rows_for_means(classifier, solver):
    """The limits that the docstring states: how often it fits, on which rows, and whose means it keeps."""
    x, y = three_groups()
    seen = []

    class Counting(PrivateCovariance):
        def fit(self, X, y=None):
            seen.append(len(X))
            return super().fit(X)

    private = Counting(guarantee=privcov.ZCDP(10.0), row_bound=8.0, random_state=0)
    fitted = classifier(solver=solver, covariance_estimator=private).fit(x, y)
    linear_eigen = classifier is LinearDiscriminantAnalysis and solver == "eigen"
    assert seen == [1000] * 3 + [3000] * linear_eigen
    np.testing.assert_allclose(fitted.means_, [x[y == k].mean(axis=0) for k in range(3)])


def test_a_singular_covariance_needs_a_floor_in_the_quadratic_classifier():
    ds = privcov.source("breast-cancer")
    rows = ds.to_working()

    def fit(floor):
        private = PrivateCovariance(guarantee=privcov.ZCDP(1.0), row_bound=ds.row_bound, random_state=0, floor=floor)
        return QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=private).fit(rows, ds.labels)

    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        fit(0.0)
    assert fit(0.1).score(rows, ds.labels) > 0.8
