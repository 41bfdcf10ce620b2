"""The least error that an answer can have which keeps the eigenvectors of a noisy matrix. It needs the truth.

Any symmetric matrix with the eigenvectors u_i of the noisy matrix is sum a_i u_i u_i', and its squared Frobenius
distance to the reference C is sum (a_i - u_i'C u_i)^2 plus what no a changes. The oracle takes a_i = u_i'C u_i. Every
rule that changes eigenvalues alone has at least its error on the same noisy matrix; a rule that uses the order of the
columns, zeros or another structure may have less.
"""

from __future__ import annotations

import numpy as np

from privcov.dataset import Dataset
from privcov.metrics.errors import reference_matrix
from privcov.metrics.graphs import noisy_matrix
from privcov.releasing.release import Release

ORACLES = ("relative-oracle-to-truth", "relative-oracle-to-sample")


def oracle_error(rel: Release, dataset: Dataset, against: str = "truth") -> float:
    """Return the relative Frobenius error of Ledoit and Peche's (2011) oracle for a release's noisy eigenvectors."""
    if rel.raw is None or rel.raw.flags is not None or rel.target == "precision":
        return float("nan")
    reference = reference_matrix(dataset, rel.target, against)
    vectors = np.linalg.eigh(noisy_matrix(rel))[1]
    turned = vectors.T @ reference @ vectors
    size = float(np.sum(reference**2))
    left = float(np.sum(turned**2) - np.sum(np.diag(turned) ** 2))
    return float(np.sqrt(max(left, 0.0) / size)) if size else float("nan")
