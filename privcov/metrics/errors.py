"""Distance of a release from the truth, from the sample, or from the same method without noise."""

from __future__ import annotations

from typing import Literal

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import NoPrivacy
from privcov.measurements.labels import CLASSES, class_index
from privcov.measurements.moment import clipped_moment
from privcov.postprocess.moments import unpack
from privcov.releases.public import build_method, run_method
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset
from privcov.tables.private_dataset import RELEASE_PRIVATE

NORMS = ("frobenius", "spectral", "l1", "max")
_ORDERS: dict[str, Literal["fro", 1, 2]] = {"frobenius": "fro", "spectral": 2, "l1": 1}  # as numpy names them
REFERENCES = ("truth", "sample", "nonprivate")


def matrix_norm(matrix: np.ndarray, norm: str) -> float:
    """Return a norm of a matrix."""
    checks.one_of("norm", norm, NORMS)
    if norm == "max":
        return float(np.abs(matrix).max())
    return float(np.linalg.norm(matrix, _ORDERS[norm]))


def to_working_units(matrix: np.ndarray, scale: np.ndarray, target: str) -> np.ndarray:
    """Turn a matrix in the data's units into working units (each column divided by its public scale)."""
    outer = np.outer(scale, scale)
    return matrix * outer if target == "precision" else matrix / outer


def reference_matrix(dataset: Dataset, target: str, against: str, rel: Release | None = None) -> np.ndarray:
    """Return the matrix that a release is compared with, in working units."""
    checks.one_of("against", against, REFERENCES)
    if against == "nonprivate":
        if rel is None:
            raise ValueError("against='nonprivate' needs the release whose method is to run without noise.")
        return to_working_units(without_noise(rel, dataset).matrix, dataset.scale, rel.target)
    if against == "truth":
        if dataset.truth is None:
            raise ValueError(f"{dataset.name!r} has no known truth; use against='sample'.")
        if target == "precision":
            theta = dataset.truth.precision
            reference = np.linalg.inv(dataset.truth.covariance) if theta is None else theta
        else:
            reference = dataset.truth.covariance
            if target == "second moment":  # about the public origin
                beside = dataset.origin if dataset.truth.mean is None else dataset.origin - dataset.truth.mean
                reference = reference + np.outer(beside, beside)
        return to_working_units(reference, dataset.scale, target)
    centre = "auto" if rel is None else rel.parameters["centre"]
    centre = "none" if target == "second moment" else centre if centre in ("none", CLASSES) else "joint"
    key = ("sample", target, centre)
    reference = dataset.cache.once(key, lambda: _sample(dataset, target, centre))
    reference.flags.writeable = False
    return reference


def _sample(dataset: Dataset, target: str, centre: str) -> np.ndarray:
    if centre == "joint" and dataset.mean_is_zero:
        centre = "none"
    moment = _moment_of(dataset, centre)
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


def _stage(rel: Release, matrix: np.ndarray) -> np.ndarray:
    """Return the covariance or second moment in a joint moment like the one that a release measured."""
    noisy = rel.noisy_moment
    assert noisy is not None
    anchors = noisy.distribution.n_anchors
    moments = unpack(matrix, centre=noisy.centre, row_bound=rel.row_bound, n_anchors=anchors)
    target = moments.covariance if rel.target == "covariance" else moments.second_moment
    assert target is not None
    return target


def without_noise(rel: Release, dataset: Dataset) -> Release:
    """Run the same method with the same parameters on the same rows, with no noise: a non-private reference."""
    options = {k: rel.parameters[k] for k in ("calibration", "centre", "tuning", "neighbours")}
    own = {k: v for k, v in rel.parameters.items() if k not in options and k != "version"}
    same_bound = dataset.with_row_bound(rel.row_bound)
    return run_method(build_method(rel.method, own), same_bound, NoPrivacy(), seed=0, **options)


def _check_pair(rel: Release, dataset: Dataset) -> None:
    """Raise TypeError for private rows, and ValueError where the units of a release and a data set differ."""
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
    """Return the error of a release: a norm of (release - reference), in working units.

    The target is the release's own: covariance, second moment or precision (``rel.target``).

    Parameters
    ----------
    rel : Release
        The release.
    dataset : Dataset
        The rows that it was made from.
    norm : {"frobenius", "spectral", "l1", "max"}
        See `matrix_norm`.
    relative : bool
        Whether to divide by the norm of the reference.
    against : {"truth", "sample", "nonprivate"}
        The reference, see `reference_matrix`.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    TypeError
        For private rows.
    ValueError
        Where release and rows differ in columns or bounds, and where there is no such reference.

    Guarantee
    ---------
    None: the sample and its matrix are not private. For synthetic and public rows.

    Examples
    --------
    >>> import privcov
    >>> ds = privcov.source("ar1-covariance", n=2_000, d=4, random_state=0)
    >>> rel = privcov.release(ds, privcov.ZCDP(rho=0.1), "auto-cov", random_state=1)
    >>> round(privcov.error(rel, ds), 3)
    0.168
    >>> round(privcov.error(rel, ds, relative=True, against="truth"), 3)
    0.079
    """
    checks.one_of("relative", relative, (True, False))
    if not isinstance(rel, Release):
        raise TypeError(f"rel must be a privcov.Release, got {checks.describe(rel)}.")
    _check_pair(rel, dataset)
    reference = reference_matrix(dataset, rel.target, against, rel)
    distance = matrix_norm(to_working_units(rel.matrix, rel.scale, rel.target) - reference, norm)
    if not relative:
        return distance
    return _ratio(distance, matrix_norm(reference, norm))


def _ratio(distance: float, size: float) -> float:
    """Return distance over size; inf where only the size is zero, 0 where both are."""
    return distance / size if size > 0 else float("inf") if distance > 0 else 0.0


def waterfall(rel: Release, dataset: Dataset, norm: str = "frobenius") -> list[tuple[str, float]]:
    """Return the cumulative relative error after each stage of a release of a covariance or second moment.

    It is against the truth where one is known (then "Sample" is the sampling error), else against the sample.
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
    if rel.noisy_moment is not None:
        exact = clipped_moment(dataset.with_row_bound(rel.row_bound), n_anchors=rel.noisy_moment.distribution.n_anchors)
        for name, matrix in (("Clipped", exact), ("Noisy", rel.noisy_moment.matrix)):
            stages.append((name, distance(_stage(rel, matrix))))
    stages.append(("Post-processed", error(rel, dataset, norm, relative=True, against=against)))
    return stages


def baseline_errors(dataset: Dataset, target: str, norm: str = "frobenius") -> list[tuple[str, float]]:
    """Return the relative errors of the answers that take no noise: zero, the diagonal, a sample of known truth.

    For covariance and second-moment targets, against the truth where known, else the sample. None is private but zero.
    """
    sample = reference_matrix(dataset, target, "sample")
    reference = sample if dataset.truth is None else reference_matrix(dataset, target, "truth")
    size = matrix_norm(reference, norm)
    answers = [
        ("zero matrix", np.zeros_like(sample)),
        ("diagonal of the sample (not private)", np.diag(np.diag(sample))),
    ]
    if dataset.truth is not None:
        answers.append(("sample (not private)", sample))
    return [(name, _ratio(matrix_norm(matrix - reference, norm), size)) for name, matrix in answers]


def spectra(rel: Release, dataset: Dataset) -> list[tuple[str, np.ndarray]]:
    """Return the eigenvalues of every stage, in working units."""
    if rel.target == "precision":
        raise ValueError("Spectra compares covariance matrices; choose a covariance method.")
    stages = [
        (name.capitalize(), reference_matrix(dataset, rel.target, name))
        for name in ("truth", "sample")
        if name == "sample" or dataset.truth is not None
    ]
    if rel.noisy_moment is not None:
        stages.append(("Noisy", _stage(rel, rel.noisy_moment.matrix)))
    stages.append(("Post-processed", to_working_units(rel.matrix, rel.scale, rel.target)))
    return [(name, np.linalg.eigvalsh(matrix)) for name, matrix in stages]


def noise_edge(rel: Release) -> float:
    """Return where the eigenvalues of the noise alone end, in working units."""
    return 0.0 if rel.noisy_moment is None else rel.noisy_moment.distribution.spectral_edge * rel.row_bound**2
