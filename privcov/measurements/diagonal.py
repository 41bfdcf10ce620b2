"""The diagonal of the second moment (and the mean), for the reference method 'diagonal'.

It is a sub-vector of the moment in `moment.py`, so its l2 sensitivity is at most the same; l1 (unit ball):
sum |x_i^2 - y_i^2| <= |x|^2 + |y|^2 <= 2, plus s |x - y|_1 <= 2 s sqrt(d) when the mean is measured too.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import BudgetShare, Event, PureDP
from privcov.measurements.moment import ANCHOR_SQUARED, CENTRES, NoisyMoment, clipped_moment, rounded_up, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.tables.dataset import Dataset


def measure_diagonal(dataset: Dataset, share: BudgetShare, *, centre: str, rng: np.random.Generator) -> NoisyMoment:
    """Clip the rows and return the diagonal of their second moment, and the mean, with noise.

    Guarantee: the share, replace-one. Spends: the whole share. Source: own proof, in the docstring of the module.
    """
    joint = int(checks.one_of("centre", centre, CENTRES) == "joint")
    d, n = dataset.d, dataset.n
    laplace = isinstance(share, PureDP)
    if laplace:
        edge = 2 * math.sqrt(ANCHOR_SQUARED * d) if joint else 0.0
        delta = rounded_up((2.0 if d > 1 else 1.0) + edge, d, n)
        scale = accounting.laplace_scale(share, delta)
    else:
        delta = sensitivity(d, n, norm="l2", n_anchors=joint)
        scale = accounting.gaussian_scale(share, delta)
    distribution = NoiseDistribution("laplace" if laplace else "isotropic", scale, d, joint)
    draw = distribution.draw(rng)
    exact = clipped_moment(dataset, n_anchors=joint)
    keep = np.eye(d + joint, dtype=bool)
    keep[d:, :] = keep[:, d:] = True
    event = None
    if scale > 0:
        event = Event(
            share="diagonal",
            statistic="mean and diagonal of the second moment, jointly" if joint else "diagonal of the second moment",
            mechanism="laplace" if laplace else "gaussian",
            norm="l1 norm" if laplace else "l2 norm",
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/diagonal.py",
            law="laplace" if laplace else "isotropic",
        )
    return NoisyMoment(np.where(keep, exact + draw, 0.0), distribution, event, centre, n, dataset.row_bound)
