"""The simulated tables of owners: the stated truth is that of the rows, which have ids and missing cells too."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import privcov
from privcov.core.randomness import stream
from privcov.data_sources.simulated_tables import HospitalVisits, LikertSurvey
from privcov.metrics.errors import reference_matrix

PATIENTS = 20_000


def z_scores(rows: np.ndarray, truth, n: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Errors of the second moments about the true mean, over what chance explains for n independent normal rows."""
    beside = rows - truth.mean
    weights = np.ones(len(rows)) if weights is None else weights
    sample = (beside * weights[:, None]).T @ beside / weights.sum()
    spread = np.diag(truth.covariance)
    return (sample - truth.covariance) / np.sqrt((np.outer(spread, spread) + truth.covariance**2) / n)


@pytest.fixture(scope="module")
def visits():
    source = HospitalVisits(patients=PATIENTS, missing=0.15)
    whose, rows = source._drawn(stream(5, "data", 0, "hospital-visits"))
    return source, whose, rows


def test_the_truth_of_the_visits_is_that_of_the_rows(visits):
    """Visits of one patient are correlated: the rows count as PATIENTS / 1.6 independent ones (E k^2 over (E k)^2 is
    1.54). 55 entries stay below 5; an entry that is 5 % off is seen. Also with one weight per patient."""
    source, whose, rows = visits
    k = np.bincount(whose)[whose]
    for weights in (None, 1 / k):
        z = z_scores(rows, source.truth(), PATIENTS / 1.6, weights)
        assert 0.3 < np.abs(z).max() < 5
    off = (rows.mean(axis=0) - source.truth().mean) / np.sqrt(np.diag(source.truth().covariance) / (PATIENTS / 1.6))
    assert np.abs(off).max() < 5


def test_half_of_the_variance_is_the_patients(visits):
    source, whose, rows = visits
    first, second = (rows[np.flatnonzero(np.diff(whose, prepend=0))[np.bincount(whose)[1:] > 1] + at] for at in (0, 1))
    mean, covariance = source.truth().mean, source.truth().covariance
    shared = (first - mean).T @ (second - mean) / len(first)
    spread = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(shared / np.outer(spread, spread), covariance / np.outer(spread, spread) / 2, atol=0.05)


def test_the_patients(visits):
    _, whose, _ = visits
    k = np.bincount(whose)[1:]
    assert len(k) == PATIENTS
    assert (k.min(), k.max()) == (1, 10)
    assert k.mean() == pytest.approx(2.84, abs=0.07)  # 5 standard errors of about 0.014


def test_an_owner_holds_the_same_rows_with_gaps(visits):
    source, whose, rows = visits
    held = source.as_owned(stream(5, "data", 0, "hospital-visits"), 5)
    np.testing.assert_array_equal(held[:, 0], whose)
    gaps = np.isnan(held[:, 1:])
    np.testing.assert_array_equal(held[:, 1:][~gaps], rows[~gaps])
    assert gaps.mean() == pytest.approx(0.15, abs=5 * np.sqrt(0.15 * 0.85 / gaps.size))
    np.testing.assert_array_equal(
        privcov.source("hospital-visits", random_state=5, patients=PATIENTS).rows, rows
    )  # what a study sees
    survey = LikertSurvey(n=20_000, d=4, missing=0.3)
    held = survey.as_owned(stream(5, "data", 0, "likert-survey"), 5)
    whole = privcov.source("likert-survey", random_state=5, n=20_000, d=4).rows
    np.testing.assert_array_equal(np.where(np.isnan(held), whole, held), whole)
    np.testing.assert_allclose(np.isnan(held).mean(axis=0), [0, 0.1, 0.2, 0.3], atol=0.02)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_truth_of_the_answers_is_the_sum_over_all_pairs_of_answers(seed):
    """The chance of every pair of answers by the normal distribution in two dimensions, for each pair of questions."""
    survey = LikertSurvey(n=1, d=4)
    loadings, cuts = survey._model(seed)
    edges = np.column_stack([np.full(4, -12.0), cuts, np.full(4, 12.0)])
    truth, answers = survey.truth(seed), np.arange(1, 6)
    chances = np.diff(norm.cdf(edges), axis=1)
    means = chances @ answers
    np.testing.assert_allclose(truth.mean, means, atol=1e-12)
    np.testing.assert_allclose(np.diag(truth.covariance), chances @ answers**2 - means**2, atol=1e-12)
    for i, j in ((0, 1), (0, 3), (2, 3)):
        r = float(loadings[:, i] @ loadings[:, j])
        law = multivariate_normal([0, 0], [[1, r], [r, 1]])
        below = np.array([[law.cdf([a, b]) for b in edges[j]] for a in edges[i]])
        both = np.diff(np.diff(below, axis=0), axis=1)
        assert truth.covariance[i, j] == pytest.approx(answers @ both @ answers - means[i] * means[j], abs=1e-6)
        assert truth.covariance[i, j] == truth.covariance[j, i]


def test_the_truth_of_the_answers_is_that_of_the_rows():
    """n = 200,000; answers have lighter tails than normal variables, so the z-scores of 210 entries are below 5; an
    entry that is 2 % off is seen."""
    ds = privcov.source("likert-survey", n=200_000, random_state=3)
    assert set(np.unique(ds.rows)) == {1, 2, 3, 4, 5}
    assert 0.5 < np.abs(z_scores(ds.rows, ds.truth, ds.n)).max() < 5
    assert np.abs((ds.rows.mean(axis=0) - ds.truth.mean) / ds.rows.std(axis=0)).max() < 5 / np.sqrt(ds.n)
    assert np.linalg.eigvalsh(ds.truth.covariance)[0] > 0


@pytest.mark.parametrize("key", ["hospital-visits", "likert-survey"])
def test_a_second_moment_about_the_typical_value_knows_the_mean(key):
    """30,000 rows or more, and errors below 5 %: without the mean the second moments of most columns are far off."""
    ds = privcov.source(key, random_state=2)
    for target in ("covariance", "second moment"):
        truth, sample = (reference_matrix(ds, target, against) for against in ("truth", "sample"))
        assert np.abs(truth - sample).max() < 0.05 * np.abs(truth).max()
