"""The second moment of linearly transformed rows, clipped after the transformation. One step of CoinPress.

Rows are clipped to R, scaled to the unit ball and, with a joint mean, given the anchor s; then w = A z for a matrix A
that is public (constant or made from earlier releases), clipped to norm <= radius. The rows w lie in the ball of that
radius, so its Frobenius sensitivity is sqrt(2) radius^2 / n (moment.py, alone; size 1: radius^2 / n), and noise of
the free-trace shape has the same guarantee as in the unit ball.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import BudgetShare, Event
from privcov.measurements import moment
from privcov.measurements.clipping import blocks, clip_rows
from privcov.measurements.noise import NoiseDistribution
from privcov.tables.dataset import Dataset


def sensitivity(size: int, n: int, radius: float) -> float:
    """Return the largest Frobenius change of the moment of rows of norm <= radius, rounded up."""
    # Squaring the radius rounds twice more; the clip itself never exceeds the radius.
    return moment.sensitivity(size, n, norm="l2", n_anchors=0) * radius**2 * (1 + 2**-50)


def measure_whitened(
    dataset: Dataset,
    share: BudgetShare,
    whiten: np.ndarray,
    *,
    radius: float,
    joint: bool,
    rng: np.random.Generator,
    name: str,
) -> tuple[np.ndarray, NoiseDistribution, Event | None]:
    """Clip the rows, transform them, clip again, and add noise to their moment.

    Guarantee: the share, replace-one. Spends: the whole share. Source: one step of CoinPress; own proof, in the
    docstring of the module.
    """
    size, n = len(whiten), dataset.n
    delta = sensitivity(size, n, radius)
    distribution = NoiseDistribution(
        "free-trace" if size > 1 else "isotropic", accounting.gaussian_scale(share, delta), size
    )
    total = np.zeros((size, size))
    for block in blocks(dataset):
        z = clip_rows(dataset.to_working(block), dataset.row_bound) / dataset.row_bound
        if joint:
            z = np.column_stack([z, np.full(len(z), math.sqrt(moment.ANCHOR_SQUARED))])
        w = clip_rows(z @ whiten.T, radius)
        total += w.T @ w
    event = None
    if distribution.scale > 0:
        event = Event(
            share=name,
            statistic="whitened " + ("mean and second moment, jointly" if joint else "second moment"),
            mechanism="gaussian",
            norm="Frobenius norm",
            sensitivity=delta,
            scale=distribution.scale,
            proof="privcov/measurements/whitened.py",
            law=distribution.shape,
            unit="whitened rows",
        )
    return (total + total.T) / (2 * n) + distribution.draw(rng), distribution, event
