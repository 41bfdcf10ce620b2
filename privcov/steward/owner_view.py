"""The owner's view of a private table: the exact answer, what clipping does to it, and a throw-away draw of the noise.

For the owner alone. NOT private, and no part of a release: a release measures the rows anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core.guarantees import Guarantee
from privcov.postprocess.matrices import derive
from privcov.steward.example_rows import ExampleRows
from privcov.steward.preview import planned_noise
from privcov.tables.private_dataset import PrivateDataset


class OwnerViewError(ValueError):
    """Error: there is nothing to show; its sentence quotes no cell."""


@dataclass(frozen=True, eq=False, repr=False)
class OwnerView:
    """Exact answers and one throw-away draw, not private.

    raw, clipped, draw: correlations d x d, of the rows as they are, of the clipped rows, and of one throw-away release;
    the last two from the measurement of a release, without its noise and with it.
    beyond:  fraction of each column's cells beyond its bounds. missing: fraction of its cells that are missing.
    bias:    relative Frobenius change of the covariance (working units) by clipping. noise: the same by the draw.
    rows:    how many rows were used.
    """

    raw: np.ndarray
    clipped: np.ndarray
    draw: np.ndarray
    beyond: np.ndarray
    missing: np.ndarray
    bias: float
    noise: float
    rows: int


def compute_owner_view(private: PrivateDataset, guarantee: Guarantee, rng: np.random.Generator) -> OwnerView:
    """Return the exact answer and a draw. rng: for the throw-away noise; it is simulated and never released."""
    facts = private.facts
    if facts.bounds is None:
        raise OwnerViewError("The owner's view needs bounds per column: without them there is no clipping to show.")
    cells = private._rows
    mask = np.ones(len(cells), dtype=bool) if private._class_of is None else private._class_of >= 0
    each = private._rows_of_person
    weight = np.ones(len(cells)) if each is None else np.minimum(each, 1) / np.maximum(each, 1)
    mask &= weight > 0  # a row without an id counts as none
    holes = ~np.isfinite(cells)
    if facts.missing == "drop-row":
        mask &= ~holes.any(axis=1)
    if mask.sum() < 2:
        raise OwnerViewError("Fewer than two rows are left by the declared rules, so there is nothing to look at.")
    cells, holes, weight = cells[mask], holes[mask], weight[mask, None]
    y = np.where(holes, 0.0, (np.where(holes, 0.0, cells) - facts.origin) / facts.scale)
    low, high = ((facts.bounds - facts.origin[:, None]) / facts.scale[:, None]).T
    beyond = ((y < low) | (y > high)).mean(axis=0)
    same = ExampleRows(private, len(y), "the rows themselves")
    distribution = planned_noise(facts, guarantee, same.weight)
    there = np.ones(y.shape)
    there[:, facts.flagged] -= holes[:, facts.flagged]
    # About the mean of what is there: squares of cells far from zero would leave nothing of their differences.
    y -= (weight * there * y).sum(axis=0) / np.maximum((weight * there).sum(axis=0), 1e-300)
    y *= there
    both = np.maximum(there.T @ (weight * there), 1e-300)  # weight of the rows that have both columns
    means = (y.T @ (weight * there)) / both
    raw = y.T @ (weight * y) / both - means * means.T
    clipped, noisy = (derive(same.noisy(distribution, seed)) for seed in (None, int(rng.integers(2**62))))
    return OwnerView(
        _correlation(raw),
        clipped.correlation,
        noisy.correlation,
        beyond,
        holes.mean(axis=0),
        _relative(clipped.covariance - raw, raw),
        _relative(noisy.covariance - clipped.covariance, clipped.covariance),
        len(y),
    )


def _correlation(covariance: np.ndarray) -> np.ndarray:
    spread = np.sqrt(np.diag(covariance))
    spread = np.where(spread > 0, spread, 1.0)
    return covariance / np.outer(spread, spread)


def _relative(difference: np.ndarray, reference: np.ndarray) -> float:
    size = float(np.linalg.norm(reference))
    return float(np.linalg.norm(difference)) / size if size > 0 else math.inf
