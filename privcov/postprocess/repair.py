"""Repairs that give an indefinite matrix a graphical lasso at every penalty, each with a sentence on what it did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core import checks
from privcov.postprocess.spectrum import clip_psd

REPAIRS = {
    "psd": "raise the eigenvalues below the floor to it: nearest in Frobenius norm",
    "ridge": "add one number to the whole diagonal, the smallest that lifts every eigenvalue to the floor",
    "none": "leave the matrix as it is: small penalties may then have no solution",
}


@dataclass(frozen=True, eq=False)
class Repaired:
    """A matrix after its repair.

    matrix: eigenvalues >= floor times the mean diagonal, to rounding, unless ``how``, a key of REPAIRS, is "none".
    clipped: number of eigenvalues of the input below the floor. mass: what was added to the trace. max_change: largest
    change of an entry. sentence: what was done, for the notes of a release.
    """

    matrix: np.ndarray
    how: str
    clipped: int
    mass: float
    max_change: float
    sentence: str


def repair_for_lasso(s: np.ndarray, how: str = "psd", floor: float = 0.01) -> Repaired:
    """Make a noisy matrix fit for the graphical lasso, with eigenvalues of at least floor times its mean diagonal."""
    s = checks.square("s", s)
    checks.one_of("how", how, tuple(REPAIRS))
    floor = checks.in_range("floor", floor, 0.0, np.nextafter(1.0, 0.0))
    s = (s + s.T) / 2
    mean = float(np.trace(s)) / len(s)
    if mean <= 0:
        raise ValueError(
            f"The noisy matrix has no variance left (mean diagonal {mean:.3g}), so there is no precision matrix. "
            "Use a larger epsilon, more rows, or fewer columns."
        )
    values = np.linalg.eigvalsh(s)
    lowest = floor * mean
    # An eigenvalue that a former repair left on the floor is not below it.
    low = values[values < lowest - 8 * len(s) * np.finfo(float).eps * np.abs(values).max()]
    matrix = s if how == "none" or not low.size else _repair(s, how, lowest, float(values[0]))
    mass, max_change = float(np.trace(matrix) - np.trace(s)), float(np.abs(matrix - s).max())
    return Repaired(matrix, how, len(low), mass, max_change, _sentence(how, low, len(s), floor, mean, mass, max_change))


def _repair(s: np.ndarray, how: str, lowest: float, eigmin: float) -> np.ndarray:
    if how == "psd":
        return clip_psd(s, lowest)
    return s + (lowest - eigmin) * np.eye(len(s))


def _sentence(how: str, low: np.ndarray, d: int, floor: float, mean: float, mass: float, max_change: float) -> str:
    bound = f"{floor:g} of the mean variance" if floor else "zero"
    if not low.size:
        return f"The noisy matrix needed no repair before the lasso: no eigenvalue lies below {bound}."
    below = f"{len(low)} of {d} eigenvalues lay below {bound} (the smallest at {low[0] / mean:.3g} of it)"
    if not floor:
        below = (
            f"{len(low)} of {d} eigenvalues lay below zero (the smallest at {low[0] / mean:.3g} of the mean variance)"
        )
    if how == "none":
        return f"The noisy matrix was not repaired before the lasso, although {below}."
    step = {"psd": "were raised to it", "ridge": "one number was added to the whole diagonal"}[how]
    link = " and " if how == "psd" else "; "
    return (
        f"Before the lasso {below}{link}{step}. This added {mass / mean:.3g} mean variances to the eigenvalues in all "
        f"and changed entries by at most {max_change:.3g}."
    )
