"""The second moment without a trusted server: each of n users sends a noisy report, and the server averages them.

User k clips the row to the public bound R, u = y / R, and sends z z' + W_k, z = u (or (u, s), s^2 = 1/2, when the mean
is wanted too, or (u, s e_label) for the class means). Neighbours: any two rows of one user, labels included. The
sensitivity of one report is that of the moment of one row, so the proofs of moment.py hold with n = 1: sqrt(2) in
Frobenius norm, sqrt(2)(1 + s^2) jointly; the upper triangle alone also sqrt(2). The free trace of noise.py compares two
rows, so it holds for one report as well. Mathematics 2023, Algorithm 2, calibrates to 1 instead.

The server sees every report, so the event holds the noise of one report. The average of n independent N(0, sigma^2)
is exactly N(0, sigma^2 / n): the simulation draws that in one go, and its cost does not grow with n. ``distribution``
describes the averaged noise, ``event`` the noise of one user.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import BudgetShare, Event
from privcov.measurements.labels import count_anchors
from privcov.measurements.moment import STATISTICS, NoisyMoment, clipped_moment, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.tables.dataset import Dataset

LOCAL_SHAPES = ("free-trace", "isotropic", "upper-triangle")


def report_sensitivity(d: int, *, shape: str, n_anchors: int) -> float:
    """Return the largest change of one user's report, in unit-ball units, rounded up."""
    norm = "triangle" if shape == "upper-triangle" else "l2"
    return sensitivity(d, 1, norm=norm, n_anchors=n_anchors)


def measure_reports(
    dataset: Dataset, share: BudgetShare, *, centre: str, shape: str, rng: np.random.Generator
) -> NoisyMoment:
    """Return the average of the noisy reports of n users.

    Guarantee: the share, to every user, against every other party, the server included: any two rows of the user are
    neighbours. Spends: the whole share of every user. Source: Mathematics 2023, Algorithm 2, with the sensitivity
    corrected; own proof, in the docstring of the module.
    """
    n_anchors = count_anchors(dataset, centre)
    checks.one_of("shape", shape, LOCAL_SHAPES)
    if shape == "free-trace" and dataset.d == 1:
        shape = "isotropic"  # with one column the trace is all there is
    delta = report_sensitivity(dataset.d, shape=shape, n_anchors=n_anchors)
    scale = accounting.gaussian_scale(share, delta)
    distribution = NoiseDistribution(shape, scale / math.sqrt(dataset.n), dataset.d, n_anchors)
    event = None
    if scale > 0:
        event = Event(
            share="reports",
            statistic="one user's " + STATISTICS[min(n_anchors, 2)][0],
            mechanism="gaussian",
            norm="l2 norm of the upper triangle" if shape == "upper-triangle" else "Frobenius norm",
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/local_moment.py",
            law=shape,
        )
    matrix = clipped_moment(dataset, n_anchors=n_anchors) + distribution.draw(rng)
    return NoisyMoment(matrix, distribution, event, centre, dataset.n, dataset.row_bound)
