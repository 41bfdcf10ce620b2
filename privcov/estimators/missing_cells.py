"""What a covariance method makes of a measurement with flags of missing cells: the matrix of the available cases.

Its noise differs from entry to entry, the matrix may have negative eigenvalues, and some entries may be refused
(postprocess/available.py). A repair of the spectrum that expects the same noise everywhere gets its root mean square.
Measured against two other ways on simulated Likert tables (20 and 40 columns, 2,000 to 50,000 rows, up to half of the
cells missing, one with up to 90 %): bringing all entries to the same noise first, by the shares of the columns, is a
tie, and 1.4 times worse at 90 %; setting negative eigenvalues to zero alone is up to 1.6 times worse, and .88 at 90 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privcov.estimators.base import MethodInput, Outcome
from privcov.measurements.moment import Measured
from privcov.measurements.noise import COUPLED
from privcov.postprocess.available import Available, available_cases
from privcov.postprocess.joint import Moments
from privcov.postprocess.spectrum import clip_box, clip_psd, shrink_spectrum, shrink_wishart_difference

_NAMED = 5  # columns or pairs in a note


def finish_available(
    ask: MethodInput, measured: Measured, repair: Callable[[np.ndarray, float], np.ndarray], notes: tuple[str, ...] = ()
) -> Outcome:
    """Return the moments of the available cases, their covariance repaired.

    A pair that is refused is zero before the repair, and a note names it: a repair needs the whole matrix. A column
    that is refused takes no part in the repair, and stays zero.

    Parameters
    ----------
    ask : MethodInput
        The input; only its public facts are used.
    measured : Measured
        The noisy moment, with flags.
    repair : callable
        From the unrepaired covariance and the root mean square deviation of the noise on its off-diagonal entries, both
        in working units, to the answer.
    notes : tuple of str
        Remarks of the method, which come first.

    Returns
    -------
    Outcome
        With the covariance, or without a mean the second moment about the origin.

    Spends
    ------
    Nothing: it uses only a noisy matrix.
    """
    available, distribution = available_of(measured), measured.distribution
    known = ~available.refused
    off = known & ~np.eye(ask.d, dtype=bool)
    std = float(np.sqrt(available.variance[off].mean())) if off.any() else 0.0
    there = np.flatnonzero(np.diag(known))
    matrix, block = np.zeros((ask.d, ask.d)), np.ix_(there, there)
    if len(there):
        matrix[block] = repair(np.where(known, available.covariance, 0.0)[block], std)
    notes = (*notes, *_refusals(available, ask.facts.columns))
    if not distribution.n_anchors:
        return Outcome(measured, Moments(matrix, None, None), count=measured.count, notes=notes)
    assert available.mean is not None, "the mean was measured"
    mean = np.where(np.diag(known), available.mean, 0.0)
    return Outcome(measured, Moments(matrix + np.outer(mean, mean), mean, matrix), count=measured.count, notes=notes)


def available_of(measured: Measured) -> Available:
    """Return the available cases of a measurement with flags.

    Parameters
    ----------
    measured : Measured
        The noisy moment, with flags.

    Returns
    -------
    Available
        In working units.
    """
    assert measured.flags is not None, "missing cells were measured"
    joint = bool(measured.distribution.n_anchors)
    return available_cases(measured.matrix, measured.flags, joint=joint, row_bound=measured.row_bound)


def repaired(matrix: np.ndarray, noise_std: float, how: str, shape: str, top: float) -> np.ndarray:
    """Return a covariance of available cases after a repair of its spectrum.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        Symmetric.
    noise_std : float
        Root mean square deviation of the noise on its off-diagonal entries.
    how : {"none", "psd", "box", "shrink"}
        See `privcov.estimators.additive.repair`.
    shape : str
        Shape of the noise.
    top : float
        Largest eigenvalue that "box" leaves.

    Returns
    -------
    ndarray of shape (d, d)
        Symmetric; positive semi-definite except for "none".
    """
    if how == "none":
        return matrix
    if how == "psd":
        return clip_psd(matrix)
    if how == "box":
        return clip_box(matrix, top)
    if shape in ("wishart-difference", COUPLED):  # C of the Wishart difference of this size with as much noise
        return shrink_wishart_difference(matrix, noise_std / np.sqrt(2 * (len(matrix) + 1)))
    return shrink_spectrum(matrix, noise_std)


def _refusals(available: Available, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes that name what is refused."""
    bad = np.diag(available.refused)
    rows, others = np.nonzero(np.triu(available.refused, 1) & ~bad[:, None] & ~bad[None, :])
    said = []
    for what, pairs in (
        ("columns", [(j, j) for j in np.flatnonzero(bad)]),
        ("pairs", list(zip(rows, others, strict=True))),
    ):
        if pairs:
            named = ", ".join(
                f"{columns[i]}{'' if i == j else f' with {columns[j]}'} (share {available.shares[i, j]:.2g} +- "
                f"{available.share_std[i, j]:.2g})"
                for i, j in pairs[:_NAMED]
            )
            more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
            said.append(
                f"Not estimated, and written as zero: {what} that too few rows have, less than three deviations of the "
                f"noise on their share: {named}{more}."
            )
    return tuple(said)
