"""Eigenvalues of every stage, also where every class has a mean of its own."""

import numpy as np
import pytest

import privcov
from privcov.core.guarantees import NoPrivacy
from privcov.metrics.errors import spectra
from privcov.metrics.graphs import noisy_matrix


def pooled(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The covariance within classes, from the rows, one at a time."""
    means = {label: rows[labels == label].mean(axis=0) for label in set(labels.tolist())}
    return sum(np.outer(row - means[label], row - means[label]) for row, label in zip(rows, labels, strict=True)) / len(
        rows
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_what_was_measured_with_classes_is_the_covariance_within_them(classes):
    rng = np.random.default_rng(classes)
    labels = np.array(["a", "b", "c"])[np.arange(300) % classes]
    rows = rng.standard_normal((300, 4)) + 2.0 * (labels == "a")[:, None]
    data = privcov.Dataset.from_rows(rows, 50.0, labels=labels)
    rel = privcov.release(data, NoPrivacy(), "gaussian-cov", centre="classes", random_state=0)
    want = pooled(rows, labels)
    np.testing.assert_allclose(noisy_matrix(rel), want, atol=1e-9)
    stages = dict(spectra(rel, data))
    np.testing.assert_allclose(stages["Noisy"], np.linalg.eigvalsh(want), atol=1e-9)
    np.testing.assert_allclose(stages["Post-processed"], stages["Noisy"], atol=1e-9)
