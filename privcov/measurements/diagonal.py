"""The diagonal of the second moment (and the mean), for the reference method 'diagonal'.

It is a sub-vector of the moment in `moment.py`, so its l2 sensitivity is at most the same. l1, in the unit ball: a
column with a = max(|x_i|, |y_i|) and t the smaller changes x_i^2 by at most a^2 - t^2, and s x_i by at most s (a + t);
together at most a^2 + s a + s^2 / 4, with t = s / 2. The squares of all a add up to at most |x|^2 + |y|^2 <= 2 (one
column: 1), and all a to sqrt(2 d), so the change is at most 2 + s sqrt(2 d) + d s^2 / 4.
The anchor is s = 1 / sqrt(d): a longer one adds noise to every variance, for means whose noise hardly matters.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import BudgetShare, Event, PureDP
from privcov.measurements.moment import CENTRES, NoisyMoment, clipped_moment, rounded_up, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory.anchor import ANCHOR_SQUARED, with_anchor
from privcov.tables.dataset import Dataset


def measure_diagonal(dataset: Dataset, share: BudgetShare, *, centre: str, rng: np.random.Generator) -> NoisyMoment:
    """Clip the rows and return the diagonal of their second moment, and the mean, with noise.

    Guarantee: the share, replace-one. Spends: the whole share. Source: own proof, in the docstring of the module.
    """
    joint = int(checks.one_of("centre", centre, CENTRES) == "joint")
    d, n = dataset.d, dataset.n
    laplace, squares = isinstance(share, PureDP), 2.0 if d > 1 else 1.0
    if laplace:
        with_mean = math.sqrt(squares) + 0.25 if joint else 0.0
        delta = rounded_up(squares + with_mean, d, n)
        scale = accounting.laplace_scale(share, delta)
    else:
        delta = sensitivity(d, n, norm="l2", n_anchors=joint, anchor_squared=1 / d)
        scale = accounting.gaussian_scale(share, delta)
    distribution = NoiseDistribution("laplace" if laplace else "isotropic", scale, d, joint)
    draw = distribution.draw(rng)
    exact = clipped_moment(dataset, n_anchors=joint, anchor_squared=1 / d)
    keep = np.eye(d + joint, dtype=bool)
    keep[d:, :] = keep[:, d:] = True
    event = None
    if scale > 0:
        event = Event(
            share="diagonal",
            statistic=with_anchor(
                "mean and diagonal of the second moment, jointly" if joint else "diagonal of the second moment",
                1 / d if joint else ANCHOR_SQUARED,
            ),
            mechanism="laplace" if laplace else "gaussian",
            norm="l1 norm" if laplace else "l2 norm",
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/diagonal.py",
            law="laplace" if laplace else "isotropic",
        )
    matrix = np.where(keep, exact + draw, 0.0)
    return NoisyMoment(matrix, distribution, event, centre, n, dataset.row_bound, anchor_squared=1 / d)
