"""Noisy counts of the row norms in bins that halve, from which a smaller row bound can be chosen.

Bin k counts the rows with 2^-(k+1) < |y| / R <= 2^-k, k = 0 .. bins - 1 (rows beyond R count in bin 0); shorter rows
are not counted.

**Sensitivity.** A row is in one bin or in none. Replacing a row lowers one count by 1 and raises one by 1, or moves
less: l1 norm 2, l2 norm sqrt(2), attained by two rows of different bins. A row more or less moves one count: 1 and 1.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import BudgetShare, Event, PureDP
from privcov.measurements.clipping import row_norms
from privcov.measurements.moment import rounded_up
from privcov.tables.dataset import Dataset

BINS = 20


def exact_histogram(dataset: Dataset) -> np.ndarray:
    """Return the counts per bin: NOT private. They are kept with the data set."""

    def compute() -> np.ndarray:
        norms = row_norms(dataset) / dataset.row_bound
        with np.errstate(divide="ignore"):
            k = np.clip(np.floor(-np.log2(norms)), 0, BINS)  # a zero row falls beyond the last bin
        return np.bincount(k.astype(int), minlength=BINS + 1)[:BINS].astype(float)

    return dataset.kept.once(("norm histogram", dataset.row_bound), compute)


def _scale(share: BudgetShare, relation: str) -> tuple[float, float]:
    """Return (sensitivity, noise scale) of the counts."""
    pure = isinstance(share, PureDP)
    delta = rounded_up(math.sqrt((4 if pure else 2) if relation == "replace-one" else 1), 1, 1)
    return delta, (accounting.laplace_scale if pure else accounting.gaussian_scale)(share, delta)


def norm_noise(share: BudgetShare, relation: str) -> float:
    """Return the standard deviation of the noise on one count: public before anything is measured."""
    return _scale(share, relation)[1] * (math.sqrt(2) if isinstance(share, PureDP) else 1.0)


def measure_norms(
    dataset: Dataset, share: BudgetShare, *, rng: np.random.Generator, relation: str
) -> tuple[np.ndarray, float, Event]:
    """Return the counts of row norms in bins that halve, with noise.

    Guarantee: the share, under the named relation. Spends: the whole share. Source: own proof, in the docstring of the
    module.
    """
    pure = isinstance(share, PureDP)
    delta, scale = _scale(share, relation)
    noise = rng.laplace(size=BINS) if pure else rng.standard_normal(BINS)
    event = Event(
        share="norms",
        statistic="row norms counted in bins that halve",
        mechanism="laplace" if pure else "gaussian",
        norm="l1 norm" if pure else "l2 norm",
        sensitivity=delta,
        scale=scale,
        proof="privcov/measurements/norm_histogram.py",
        unit="a count of rows",
    )
    return exact_histogram(dataset) + scale * noise, norm_noise(share, relation), event
