"""Linear discriminant analysis from a release: the printed rule, its limits, and what it says about real tables."""

import math

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import privcov
from privcov.core.guarantees import NoPrivacy, ZCDP
from privcov.measurements.labels import class_index, class_list
from privcov.metrics.classification import (
    NOISE_PART,
    SplitSizes,
    classification_error,
    majority_error,
    scores,
    split,
    usable_precision,
)
from privcov.metrics.errors import error, waterfall
from privcov.tables.dataset import Dataset


def three_groups(n=900, d=4, seed=0, apart=2.5) -> Dataset:
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    root = np.eye(d) + 0.3 * rng.random((d, d))
    x = (rng.standard_normal((n, d)) + apart * np.eye(3, d)[y]) @ root
    return Dataset.from_rows(x, 12.0, labels=np.array(["a", "b", "c"])[y])


def exact(ds, method="gaussian-cov"):
    return privcov.release(ds, NoPrivacy(), method, centre="classes", random_state=0)


def predict(rel, rows):
    return np.array(rel.classes)[scores(rel, rows).argmax(axis=1)]


def test_the_printed_qda_score_with_a_common_covariance_is_the_same_rule():
    """Paper 4's delta_k literally, with the raw means, shares and covariance; 300 new rows get the same class."""
    ds, new = three_groups(), three_groups(300, seed=1)
    rel = exact(ds)
    index, n = class_index(ds), ds.n
    means = [ds.rows[index == k].mean(axis=0) for k in range(3)]
    pooled = sum((ds.rows[index == k] - means[k]).T @ (ds.rows[index == k] - means[k]) for k in range(3)) / n
    inverse, log_det = np.linalg.inv(pooled), math.log(np.linalg.det(pooled))
    printed = np.array(
        [
            [
                -log_det / 2 - (y - means[k]) @ inverse @ (y - means[k]) / 2 + math.log((index == k).mean())
                for k in range(3)
            ]
            for y in new.rows
        ]
    )
    ours = scores(rel, new.rows)
    # A score differs by what the classes share, so differences between classes agree.
    np.testing.assert_allclose(ours - ours[:, :1], printed - printed[:, :1], atol=1e-8)
    np.testing.assert_array_equal(predict(rel, new.rows), np.array(rel.classes)[printed.argmax(axis=1)])


def test_without_noise_it_is_scikit_learns_lda():
    ds, new = three_groups(), three_groups(400, seed=2)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(ds.rows, ds.labels)
    assert (predict(exact(ds), new.rows) == theirs.predict(new.rows)).mean() == 1
    assert classification_error(exact(ds), new) == pytest.approx(1 - theirs.score(new.rows, new.labels))


def test_bounds_and_units_do_not_matter_without_noise():
    """Columns in other units, with public bounds: the same answers."""
    ds, new = three_groups(), three_groups(300, seed=3)
    unit = np.array([1.0, 100.0, 0.01, 5.0])
    bounds = np.array([(-20, 20)] * 4) * unit[:, None]
    scaled = Dataset.from_rows(ds.rows * unit, 12.0, bounds, ds.labels)
    other = Dataset.from_rows(new.rows * unit, 12.0, bounds, new.labels)
    np.testing.assert_array_equal(predict(exact(scaled), other.rows), predict(exact(ds), new.rows))
    assert classification_error(exact(scaled), other) == classification_error(exact(ds), new)


def test_the_ridge_is_what_the_docstring_says():
    ds = three_groups(200)
    rel = privcov.release(ds, ZCDP(0.05), "auto-cov", centre="classes", random_state=0)
    found = 1 / np.linalg.eigvalsh(usable_precision(rel))
    values = np.linalg.eigvalsh(rel.covariance)
    ridge = max(0.01 * values.clip(0).mean(), NOISE_PART * rel.noisy_moment.distribution.spectral_edge * 12.0**2)
    np.testing.assert_allclose(np.sort(found), np.sort(np.maximum(values, ridge)), rtol=1e-8)


def test_a_precision_methods_own_matrix_is_used():
    ds = three_groups()
    rel = privcov.release(ds, ZCDP(5.0), "ridge-precision", centre="classes", random_state=0)
    np.testing.assert_array_equal(usable_precision(rel), rel.precision)
    assert classification_error(rel, three_groups(300, seed=5)) < 0.2


def test_a_class_without_rows_is_not_predicted():
    ds = three_groups()
    train, _ = split(ds, SplitSizes(600), seed=0)
    absent = train.rows[train.labels != "c"]
    part = Dataset.from_rows(absent, 12.0, labels=train.labels[train.labels != "c"], classes=class_list(ds))
    rel = exact(part)
    assert set(predict(rel, ds.rows)) == {"a", "b"}
    assert classification_error(rel, ds) >= (ds.labels == "c").mean()


def test_majority_error_by_counting():
    train = Dataset.from_rows(np.ones((5, 1)), labels=list("aabbb"))
    test = Dataset.from_rows(np.ones((4, 1)), labels=list("abaa"))
    assert majority_error(train, test) == 0.75


# --- the split ----------------------------------------------------------------------------------------------


def test_a_split_is_public_disjoint_and_redrawn():
    ds = three_groups(100)
    train, test = split(ds, SplitSizes(40, 25), seed=3)
    assert (train.n, test.n) == (40, 35)
    assert not {tuple(r) for r in train.rows} & {tuple(r) for r in test.rows}
    other = Dataset.from_rows(np.roll(ds.rows, 1, axis=1), 12.0, labels=ds.labels[::-1])
    again, _ = split(other, SplitSizes(40, 25), seed=3)
    np.testing.assert_array_equal(np.roll(train.rows, 1, axis=1), again.rows)  # neither rows nor labels moved it
    for change in ({"seed": 4}, {"seed": 3, "repeat": 1}):
        assert (split(ds, SplitSizes(40, 25), **change)[0].rows != train.rows).any()


def test_sizes_that_cannot_be():
    with pytest.raises(ValueError, match="leave no row"):
        split(three_groups(50), SplitSizes(40, 10), seed=0)
    for bad in ((1,), (10, -1), (10, 0, 0)):
        with pytest.raises(ValueError, match="must be >="):
            SplitSizes(*bad)
    with pytest.raises(ValueError, match="two classes, got 3"):
        split(three_groups(50), SplitSizes(40, 5, best=2), seed=0)
    few = Dataset.from_rows(np.random.default_rng(0).random((20, 3)), labels=["a", *["b"] * 19])
    with pytest.raises(ValueError, match="two rows of each class"):
        split(few, SplitSizes(15, best=1), seed=0)


# --- what is refused, and the errors of the matrix ----------------------------------------------------------


def test_what_does_not_fit_together_is_a_sentence():
    ds = three_groups()
    with pytest.raises(ValueError, match="no class means"):
        scores(privcov.release(ds, ZCDP(1.0), "auto-cov", random_state=0), ds.rows)
    other = Dataset.from_rows(ds.rows[:, :3], 12.0, labels=ds.labels)
    with pytest.raises(ValueError, match="differ in their columns"):
        classification_error(exact(ds), other)
    renamed = Dataset.from_rows(ds.rows, 12.0, labels=np.char.upper(ds.labels.astype(str)))
    with pytest.raises(ValueError, match="knows the classes a, b, c, the rows A, B, C"):
        classification_error(exact(ds), renamed)


def test_errors_of_the_pooled_covariance_compare_with_the_pooled_sample():
    ds = three_groups().with_row_bound(1e6)
    rel = exact(ds)
    assert error(rel, ds, relative=True) == pytest.approx(0, abs=1e-9)
    assert waterfall(rel, ds)[-1][1] == pytest.approx(0, abs=1e-9)
    whole = privcov.release(ds, NoPrivacy(), "gaussian-cov", centre="joint", random_state=0)
    assert error(whole, ds, relative=True) == pytest.approx(0, abs=1e-9)
    assert np.trace(rel.covariance) < np.trace(whole.covariance)


# --- the tables that are always there -----------------------------------------------------------------------
