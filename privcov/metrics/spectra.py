"""Eigenvalues before and after: of the truth, the sample, the noisy matrix and what was made of it."""

from __future__ import annotations

import numpy as np

from privcov.dataset import Dataset
from privcov.metrics.errors import of_target, reference_matrix, working
from privcov.postprocess.joint import unpack
from privcov.releasing.release import Release


def spectra(rel: Release, dataset: Dataset) -> list[tuple[str, np.ndarray]]:
    """(name, ascending eigenvalues) in working units: Truth where it is known, Sample, Noisy where something was
    measured, Post-processed. Raises ValueError for a precision matrix."""
    if rel.target == "precision":
        raise ValueError("Spectra compares covariance matrices; choose a covariance method in the sidebar.")
    found = [
        (name.capitalize(), reference_matrix(dataset, rel.target, name))
        for name in ("truth", "sample")
        if name == "sample" or dataset.truth is not None
    ]
    if rel.raw is not None:
        parts = unpack(rel.raw.matrix, centre=rel.raw.centre, row_bound=rel.row_bound)
        found.append(("Noisy", of_target(parts, rel.target)))
    found.append(("Post-processed", working(rel.matrix, rel.scale, rel.target)))
    return [(name, np.linalg.eigvalsh(matrix)) for name, matrix in found]


def noise_edge(rel: Release) -> float:
    """Where the eigenvalues of the noise alone end, in working units; 0 without noise."""
    return 0.0 if rel.raw is None else rel.raw.distribution.edge * rel.row_bound**2
