"""The sorted eigenvalues of the moment matrix, with noise; SeparateCov and EMCov use them.

Neighbours (replace one row, n public): the moment changes by G / n with G = zz' - ww', z and w rows of the unit ball,
with the anchor s appended when the mean is measured too, so |z|^2 <= t = 1 (alone) or 1 + s^2 (joint).

  l2   ||lambda(S) - lambda(S')||_2 <= ||S - S'||_F (Hoffman and Wielandt): the Frobenius sensitivity of moment.py,
       sqrt(2) t / n. Attained: two orthogonal rows of equal length swapped into a moment with distant eigenvalues.
  l1   ||lambda(S) - lambda(S')||_1 <= ||S - S'||_* (Lidskii), and ||G||_* = sqrt((a + b)^2 - 4c^2) <= 2t with
       a = |z|^2, b = |w|^2, c = <z, w>. d = 1 alone: |x^2 - y^2| <= 1.

Reference: Dong et al. 2022, Lemma 10 and Appendix I.

**The trace** of the second moment is (1/n) sum |u|^2. Replacing one row changes it by (|x|^2 - |y|^2) / n, at most 1/n;
attained by a row of norm 1 and a zero row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import BudgetShare, Event, PureDP
from privcov.measurements import moment
from privcov.measurements.moment import rounded_up
from privcov.measurements.sparse_vector import unit_norms
from privcov.tables.dataset import Dataset


@dataclass(frozen=True, eq=False)
class MeasuredValues:
    """Noisy eigenvalues of the moment in unit-ball units.

    values: in descending order of the exact ones, which the noise may break. scale, event: 0 and None for no noise.
    """

    values: np.ndarray
    scale: float
    event: Event | None


def sensitivity(d: int, n: int, *, norm: str, joint: bool) -> float:
    """Return the largest change of the sorted eigenvalues between neighbours, in unit-ball units, rounded up."""
    if checks.one_of("norm", norm, ("l2", "l1")) == "l2":
        return moment.sensitivity(d, n, norm="l2", n_anchors=joint)
    return moment.rounded_up(top(joint) * (2.0 if d + joint > 1 else 1.0), d, n)


def top(joint: int) -> float:
    """Return the largest possible eigenvalue and trace of the moment in unit-ball units, a public fact."""
    return 1 + moment.ANCHOR_SQUARED if joint else 1.0


def noise_scale(d: int, n: int, share: BudgetShare, *, joint: bool) -> float:
    """Return the scale of the noise on each eigenvalue."""
    if isinstance(share, PureDP):
        return accounting.laplace_scale(share, sensitivity(d, n, norm="l1", joint=joint))
    return accounting.gaussian_scale(share, sensitivity(d, n, norm="l2", joint=joint))


def measure_eigenvalues(
    dataset: Dataset, share: BudgetShare, *, centre: str, rng: np.random.Generator
) -> MeasuredValues:
    """Clip the rows and return the eigenvalues of their moment, with noise.

    Guarantee: the share, replace-one. Spends: the whole share. Source: Dong et al. 2022, Lemma 10 and Appendix I; proof
    in the docstring of the module.
    """
    joint = centre == "joint"
    laplace = isinstance(share, PureDP)
    d, n = dataset.d, dataset.n
    scale = noise_scale(d, n, share, joint=joint)
    exact = np.linalg.eigvalsh(moment.clipped_moment(dataset, n_anchors=joint))[::-1]
    unit = rng.laplace(size=d + joint) if laplace else rng.standard_normal(d + joint)
    event = None
    if scale > 0:
        event = Event(
            share="values",
            statistic="eigenvalues of " + ("mean and second moment, jointly" if joint else "the second moment"),
            mechanism="laplace" if laplace else "gaussian",
            norm="l1 norm" if laplace else "l2 norm",
            sensitivity=sensitivity(d, n, norm="l1" if laplace else "l2", joint=joint),
            scale=scale,
            proof="privcov/measurements/eigenvalues.py",
        )
    return MeasuredValues(exact + scale * unit, scale, event)


def measure_trace(
    dataset: Dataset, share: BudgetShare, *, rng: np.random.Generator
) -> tuple[float, float, Event | None]:
    """Clip the rows and return the trace of their second moment, with noise.

    Guarantee: the share, replace-one. Spends: the whole share. Source: Dong et al. 2022, Algorithm 2, line 2; own
    proof, in the docstring of the module.
    """
    laplace = isinstance(share, PureDP)
    delta = rounded_up(1.0, dataset.d, dataset.n)
    scale = (accounting.laplace_scale if laplace else accounting.gaussian_scale)(share, delta)
    exact = float(np.mean(unit_norms(dataset) ** 2))
    unit = rng.laplace() if laplace else rng.standard_normal()
    event = None
    if scale > 0:
        event = Event(
            share="trace",
            statistic="trace of the second moment",
            mechanism="laplace" if laplace else "gaussian",
            norm="absolute value",
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/eigenvalues.py",
        )
    return exact + scale * float(unit), scale, event
