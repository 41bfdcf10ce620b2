"""How well released class means and a covariance separate labelled rows: linear discriminant analysis.

Score of class c for a row y, with class means m_c, shares p_c and one covariance S for all classes (its precision T)::

    d_c(y) = y' T m_c - m_c' T m_c / 2 + log p_c

"Quadratic discriminant analysis with a common covariance", d_c = -log det(S) / 2 - (y - m_c)' T (y - m_c) / 2 + log p_c
(Mathematics 2023, Section 4.2), differs from it by terms that all classes share, so it is the same rule. Everything
here is computed from a release, so it is post-processing of it; only the rows that are scored are read, and the error
rate on them is not private: for synthetic and public rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core import checks
from privcov.core.randomness import stream
from privcov.measurements.labels import class_index, class_list, take
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

FLOOR = 0.01
# Fraction of the end of the noise spectrum; it had the smallest error on the labelled public tables at epsilon 1 to 10.
NOISE_PART = 0.25
METRICS = ("lda-error", "majority-error")


@dataclass(frozen=True)
class SplitSizes:
    """Sizes of a public random split; the rows that are left are tested on.

    The release is made from at least 2 ``training`` rows; ``validation`` rows are kept aside, as in Su et al. 2019.
    ``best`` columns, those of the largest two-sample t statistic on the training rows, are kept as in Mathematics 2023
    (None: all). That reads the raw rows: a release on them has no end-to-end guarantee.
    """

    training: int
    validation: int = 0
    best: int | None = None

    def __post_init__(self) -> None:
        checks.integer("training", self.training, 2)
        checks.integer("validation", self.validation, 0)
        if self.best is not None:
            checks.integer("best", self.best, 1)


def split(dataset: Dataset, sizes: SplitSizes, *, seed: int, repeat: int = 0) -> tuple[Dataset, Dataset]:
    """Split a data set into training and test rows, by the seed, the repetition and the name of the data alone.

    So the split reveals nothing and costs nothing; choosing the best columns does read the training rows.
    """
    n_used = sizes.training + sizes.validation
    if n_used >= dataset.n:
        raise ValueError(
            f"training={sizes.training} and validation={sizes.validation} leave no row of {dataset.name!r} "
            f"({dataset.n} rows) to test on. Use fewer."
        )
    order = stream(seed, "split", repeat, dataset.name).permutation(dataset.n)
    train, test = take(dataset, np.sort(order[: sizes.training])), take(dataset, np.sort(order[n_used:]))
    class_list(train)  # raises for more classes than rows, before anything runs
    if sizes.best is None or sizes.best >= dataset.d:
        return train, test
    columns = t_test_columns(train, sizes.best)
    return _columns(train, columns), _columns(test, columns)


def t_test_columns(dataset: Dataset, best: int) -> np.ndarray:
    """Return the positions of the best columns by absolute two-sample t statistic (equal variances). NOT private."""
    classes, index = class_list(dataset), class_index(dataset)
    if len(classes) != 2:
        raise ValueError(f"A two-sample t test needs two classes, got {len(classes)}. Leave best out.")
    rows = dataset.to_working()
    one, two = rows[index == 0], rows[index == 1]
    if min(len(one), len(two)) < 2:
        raise ValueError(
            f"A two-sample t test needs two rows of each class, got {len(one)} and {len(two)}. Use more training rows."
        )
    pooled = (((one - one.mean(0)) ** 2).sum(0) + ((two - two.mean(0)) ** 2).sum(0)) / (len(rows) - 2)
    spread = np.sqrt(pooled * (1 / len(one) + 1 / len(two)))
    difference = np.abs(one.mean(0) - two.mean(0))
    varies = np.ptp(rows, axis=0) > 0  # a constant column has a spread of rounding errors
    t = np.where(varies, difference / np.maximum(spread, 1e-300), 0.0)
    return np.sort(np.argsort(-t, kind="stable")[:best])


def _columns(dataset: Dataset, columns: np.ndarray) -> Dataset:
    """Return the data set of some columns; the row bound shrinks by sqrt(d), as for a table with fewer columns."""
    bounds = None if dataset.bounds is None else dataset.bounds[columns]
    return Dataset.from_rows(
        dataset.rows[:, columns],
        dataset.row_bound * float(np.sqrt(len(columns) / dataset.d)),
        bounds,
        dataset.labels,
        [dataset.columns[j] for j in columns],
        typical=None if bounds is None else dataset.origin[columns],
        classes=class_list(dataset),
        name=dataset.name,
        provenance=dataset.provenance,
    )


def usable_precision(rel: Release) -> np.ndarray:
    """Return the positive definite precision matrix of the rule, in working units.

    That of a precision method, where positive definite; else the inverse of the released covariance, every eigenvalue
    raised to FLOOR of the mean variance or NOISE_PART of the largest eigenvalue of the known noise, whichever is
    larger. A direction far below is noise, and its inverse would dominate.
    """
    outer = np.outer(rel.scale, rel.scale)
    if "precision" in rel.matrices:
        precision = rel.precision * outer
        if np.linalg.eigvalsh(precision)[0] > 0:
            return precision
    values, vectors = np.linalg.eigh(rel.covariance / outer)
    values = np.maximum(values, 0.0)
    noise = (
        0.0 if rel.noisy_moment is None else NOISE_PART * rel.noisy_moment.distribution.spectral_edge * rel.row_bound**2
    )
    ridge = max(FLOOR * float(values.mean()), noise, 1e-12 * rel.row_bound**2)
    return (vectors / np.maximum(values, ridge)) @ vectors.T


def scores(rel: Release, rows: np.ndarray) -> np.ndarray:
    """Compute the linear discriminant scores of rows; -inf for a noisy class count below one, unless all are."""
    if rel.class_means is None:
        raise ValueError(
            f"The release of {rel.method} has no class means. Make it with centre='classes' and a method that lists it."
        )
    y = (np.asarray(rows, dtype=np.float64) - rel.origin) / rel.scale
    means = (rel.class_means - rel.origin) / rel.scale
    towards = usable_precision(rel) @ means.T
    assert rel.class_counts is not None  # measured with the means
    counts = np.where(rel.class_counts >= 1, rel.class_counts, 0.0)
    counts = counts if counts.any() else np.ones_like(counts)
    shares = counts / counts.sum()
    prior = np.log(shares, out=np.full_like(shares, -np.inf), where=shares > 0)
    return y @ towards - np.einsum("cd,dc->c", means, towards) / 2 + prior


def classification_error(rel: Release, dataset: Dataset) -> float:
    """Return the fraction of rows, clipped to their bounds, whose label the rule of a release misses. NOT private.

    Its binomial standard deviation on n rows is sqrt(e (1 - e) / n); repetitions of split and noise show the rest.
    """
    if rel.columns != dataset.columns:
        raise ValueError("The release and the rows to classify differ in their columns.")
    rows = np.asarray(dataset.rows)
    if dataset.bounds is not None:
        rows = np.clip(rows, *dataset.bounds.T)
    if tuple(rel.classes) != class_list(dataset):
        raise ValueError(
            f"The release knows the classes {', '.join(rel.classes)}, the rows {', '.join(class_list(dataset))}."
        )
    return float(np.mean(np.argmax(scores(rel, rows), axis=1) != class_index(dataset)))


def majority_error(train: Dataset, test: Dataset) -> float:
    """Return the error rate of the class that is most frequent among the training rows: NOT private."""
    most = int(np.argmax(np.bincount(class_index(train), minlength=len(class_list(train)))))
    return float(np.mean(class_index(test) != most))
