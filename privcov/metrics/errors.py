"""Distance of a release from the truth, from the sample, or from the same method without noise."""

from __future__ import annotations

from typing import Literal

import numpy as np

from privcov import checks
from privcov.dataset import Dataset, FileRows
from privcov.measurements.labels import CLASSES, class_index, count_anchors
from privcov.measurements.moment import clipped_moment
from privcov.measurements.tables.file_moment import rows_shortened
from privcov.postprocess.joint import Moments, unpack
from privcov.privacy import NoPrivacy
from privcov.private_dataset import RELEASE_PRIVATE
from privcov.releasing.release import Release
from privcov.releasing.run import build_method, run_method

NORMS = ("frobenius", "spectral", "l1", "max")
_ORDERS: dict[str, Literal["fro", 1, 2]] = {"frobenius": "fro", "spectral": 2, "l1": 1}  # as numpy names them
REFERENCES = ("truth", "sample", "nonprivate")


def matrix_norm(matrix: np.ndarray, norm: str) -> float:
    """frobenius; spectral (largest singular value); l1 (largest absolute column sum); max (largest entry)."""
    checks.one_of("norm", norm, NORMS)
    if norm == "max":
        return float(np.abs(matrix).max())
    return float(np.linalg.norm(matrix, _ORDERS[norm]))


def working(matrix: np.ndarray, scale: np.ndarray, target: str) -> np.ndarray:
    """A matrix of the data's units in working units (each column divided by its public scale)."""
    outer = np.outer(scale, scale)
    return matrix * outer if target == "precision" else matrix / outer


def reference_matrix(dataset: Dataset, target: str, against: str, rel: Release | None = None) -> np.ndarray:
    """What a release is compared with, in working units. Raises ValueError where there is none.

    truth: population matrix of a generator. sample: matrix of the rows as they are, before row clipping (values are
    already inside the column bounds; about the class means for a release of centre "classes"). nonprivate: ``rel``'s
    method and parameters without noise, same rows.
    """
    checks.one_of("against", against, REFERENCES)
    if against == "nonprivate":
        if rel is None:
            raise ValueError("against='nonprivate' needs the release whose method is to run without noise.")
        return working(without_noise(rel, dataset).matrix, dataset.scale, rel.target)
    if against == "truth":
        if dataset.truth is None:
            raise ValueError(f"{dataset.name!r} has no known truth; use against='sample'.")
        if target == "precision":
            theta = dataset.truth.precision
            found = np.linalg.inv(dataset.truth.covariance) if theta is None else theta
        else:
            found = dataset.truth.covariance
            if target == "second moment":  # about the public origin, and the mean of a truth is zero
                found = found + np.outer(dataset.origin, dataset.origin)
        return working(found, dataset.scale, target)
    centre = "auto" if rel is None else rel.parameters["centre"]
    centre = "none" if target == "second moment" else centre if centre in ("none", CLASSES) else "joint"
    key = ("sample", target, centre)
    found = dataset.kept.once(key, lambda: _sample(dataset, target, centre))
    found.flags.writeable = False
    return found


def _sample(dataset: Dataset, target: str, centre: str) -> np.ndarray:
    if centre == "joint" and dataset.mean_is_zero:
        centre = "none"
    in_files = isinstance(dataset.rows, FileRows)
    moment = _moment_in_files(dataset, centre) if in_files else _moment_of(dataset, centre)
    moment = (moment + moment.T) / 2
    if target != "precision":
        return moment
    if np.linalg.matrix_rank(moment, hermitian=True) < dataset.d:
        raise ValueError(
            f"The sample covariance of {dataset.name!r} is singular, so it has no precision matrix to compare with. "
            "Use against='nonprivate', more rows, or fewer columns."
        )
    inverse = np.linalg.inv(moment)
    return (inverse + inverse.T) / 2


def _moment_of(dataset: Dataset, centre: str) -> np.ndarray:
    rows = dataset.to_working()
    if centre == CLASSES:
        index = class_index(dataset)
        for j in np.unique(index):
            rows[index == j] -= rows[index == j].mean(axis=0)
    elif centre == "joint":
        rows -= rows.mean(axis=0)
    return rows.T @ rows / dataset.n


def _moment_in_files(dataset: Dataset, centre: str) -> np.ndarray:
    """The same from the sums of the clipped rows, which are those of the rows as they are where none was shortened."""
    if shortened := rows_shortened(dataset):
        raise ValueError(
            f"The sample of {dataset.name!r} is known after its row bound only, which shortens {shortened:,} of "
            f"{dataset.n:,} rows. Use against='nonprivate', or a larger row_bound."
        )
    joint = count_anchors(dataset, centre)
    found = unpack(
        clipped_moment(dataset, n_anchors=joint), centre=centre, row_bound=dataset.row_bound, n_anchors=joint
    )
    return of_target(found, "second moment" if centre == "none" else "covariance")


def of_target(found: Moments, target: str) -> np.ndarray:
    """The covariance or the second moment; a release has the first as its target only where it was measured."""
    picked = found.covariance if target == "covariance" else found.second_moment
    assert picked is not None
    return picked


def without_noise(rel: Release, dataset: Dataset) -> Release:
    """The same method and parameters on the same rows, with no noise: a non-private reference."""
    options = {k: rel.parameters[k] for k in ("calibration", "centre", "tuning", "neighbours")}
    own = {k: v for k, v in rel.parameters.items() if k not in options and k != "version"}
    same_bound = dataset.with_row_bound(rel.row_bound)
    return run_method(build_method(rel.method, own), same_bound, NoPrivacy(), seed=0, **options)


def _check_pair(rel: Release, dataset: Dataset) -> None:
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"dataset must be a privcov.Dataset, got {type(dataset).__name__}: an error compares with the rows, which "
            f"private data do not allow. Private rows are for {RELEASE_PRIVATE} alone."
        )
    same_units = np.array_equal(rel.scale, dataset.scale) and np.array_equal(rel.origin, dataset.origin)
    if not same_units:
        raise ValueError(
            f"The release and {dataset.name!r} differ in columns or column bounds, so they cannot be compared. "
            "Use the data set the release was made from."
        )


def error(
    rel: Release, dataset: Dataset, norm: str = "frobenius", relative: bool = False, against: str = "sample"
) -> float:
    """Norm of (release - reference), in working units; divided by the norm of the reference when relative.

    The target is the release's own: covariance, second moment or precision (``rel.target``).
    """
    _check_pair(rel, dataset)
    reference = reference_matrix(dataset, rel.target, against, rel)
    distance = matrix_norm(working(rel.matrix, rel.scale, rel.target) - reference, norm)
    if not relative:
        return distance
    return _ratio(distance, matrix_norm(reference, norm))


def _ratio(distance: float, size: float) -> float:
    return distance / size if size > 0 else float("inf") if distance > 0 else 0.0


def waterfall(rel: Release, dataset: Dataset, norm: str = "frobenius") -> list[tuple[str, float]]:
    """Relative error after each stage: (stage, error), cumulative; the last equals ``error(..., relative=True)``.

    Against the truth where one is known (then "Sample" is the sampling error), else against the sample. For
    covariance and second-moment targets. Stages: Sample, Clipped, Noisy, Post-processed. Raises ValueError when that
    reference is zero.
    """
    if rel.target == "precision":
        raise ValueError("waterfall explains covariance targets; a precision matrix has no noisy stage of its own.")
    _check_pair(rel, dataset)
    against = "truth" if dataset.truth is not None else "sample"
    reference = reference_matrix(dataset, rel.target, against)
    size = matrix_norm(reference, norm)
    if size == 0:
        raise ValueError(f"The {against} is zero, so errors relative to it say nothing. Use more rows.")

    def distance(matrix: np.ndarray) -> float:
        return _ratio(matrix_norm(matrix - reference, norm), size)

    stages = [("Sample", distance(reference_matrix(dataset, rel.target, "sample")))]
    if rel.raw is not None:
        centre = rel.raw.centre
        exact = clipped_moment(dataset.with_row_bound(rel.row_bound), n_anchors=rel.raw.distribution.n_anchors)
        for name, matrix in (("Clipped", exact), ("Noisy", rel.raw.matrix)):
            found = unpack(matrix, centre=centre, row_bound=rel.row_bound, n_anchors=rel.raw.distribution.n_anchors)
            stages.append((name, distance(of_target(found, rel.target))))
    stages.append(("Post-processed", error(rel, dataset, norm, relative=True, against=against)))
    return stages


def answers_to_beat(dataset: Dataset, target: str, norm: str = "frobenius") -> list[tuple[str, float]]:
    """(name, relative error) of the answers that take no noise, for covariance and second-moment targets.

    The zero matrix (always 1), the diagonal of the sample, and, where the truth is known, the sample itself. Errors are
    against the truth where one is known, else against the sample. None of them is private but zero.
    """
    sample = reference_matrix(dataset, target, "sample")
    reference = sample if dataset.truth is None else reference_matrix(dataset, target, "truth")
    size = matrix_norm(reference, norm)
    found = [("zero matrix", np.zeros_like(sample)), ("diagonal of the sample (not private)", np.diag(np.diag(sample)))]
    if dataset.truth is not None:
        found.append(("sample (not private)", sample))
    return [(name, _ratio(matrix_norm(matrix - reference, norm), size)) for name, matrix in found]
