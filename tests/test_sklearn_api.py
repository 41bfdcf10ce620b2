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


@pytest.mark.parametrize("classifier", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_use_in_discriminant_analysis(classifier):
    """Groups 3 deviations apart: the best rule is right about 95 times in 100. With rho = 10 and 1000 rows
    a group the noise is small, so the private covariance must come within 2 points of the exact one."""
    x, y = three_groups()
    solver = {"solver": "lsqr"} if classifier is LinearDiscriminantAnalysis else {"solver": "eigen"}
    private = PrivateCovariance(guarantee=privcov.ZCDP(10.0), row_bound=8.0, random_state=0)
    exact = classifier(**solver).fit(x, y).score(x, y)
    found = classifier(**solver, covariance_estimator=clone(private)).fit(x, y).score(x, y)
    assert exact > 0.9
    assert found > exact - 0.02
