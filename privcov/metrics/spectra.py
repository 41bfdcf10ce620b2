"""Eigenvalues before and after: of the truth, the sample, the noisy matrix and the post-processed matrix."""

from __future__ import annotations

import numpy as np

from privcov.metrics.errors import of_target, reference_matrix, working
from privcov.postprocess.joint import unpack
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset


def spectra(rel: Release, dataset: Dataset) -> list[tuple[str, np.ndarray]]:
    """Return the eigenvalues of every stage, in working units."""
    if rel.target == "precision":
        raise ValueError("Spectra compares covariance matrices; choose a covariance method.")
    stages = [
        (name.capitalize(), reference_matrix(dataset, rel.target, name))
        for name in ("truth", "sample")
        if name == "sample" or dataset.truth is not None
    ]
    if rel.raw is not None:
        anchors = rel.raw.distribution.n_anchors
        moments = unpack(rel.raw.matrix, centre=rel.raw.centre, row_bound=rel.row_bound, n_anchors=anchors)
        stages.append(("Noisy", of_target(moments, rel.target)))
    stages.append(("Post-processed", working(rel.matrix, rel.scale, rel.target)))
    return [(name, np.linalg.eigvalsh(matrix)) for name, matrix in stages]


def noise_edge(rel: Release) -> float:
    """Return where the eigenvalues of the noise alone end, in working units."""
    return 0.0 if rel.raw is None else rel.raw.distribution.edge * rel.row_bound**2
