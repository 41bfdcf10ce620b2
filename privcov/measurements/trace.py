"""The trace of the second moment, (1/n) sum |u|^2 over clipped rows in the unit ball, with noise.

Replacing one row changes it by (|x|^2 - |y|^2) / n, at most 1/n; attained by a row of norm 1 and a zero row.
"""

from __future__ import annotations

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import BudgetShare, Event, PureDP
from privcov.measurements.moment import rounded_up
from privcov.measurements.sparse_vector import unit_norms
from privcov.tables.dataset import Dataset


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
            proof="privcov/measurements/trace.py",
        )
    return exact + scale * float(unit), scale, event
