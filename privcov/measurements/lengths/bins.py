"""Rows in bins by their length, exactly: NOT private. The proof and the noise are in exact_norms.py."""

from __future__ import annotations

import math

import numpy as np

from privcov.measurements.integer_gram import UNIT
from privcov.public_facts import PublicFacts

BINS = 28
STEP_BITS = 20  # of the weight of a row that has an id


def edges() -> tuple[int, ...]:
    """Return the largest |k|^2 of each bin."""
    return tuple(math.isqrt(UNIT**4 >> j) for j in range(BINS))


def bins_of(squares: np.ndarray) -> np.ndarray:
    """Return the bin of each row."""
    lower = np.array(edges()[:0:-1], dtype=np.float64)  # whole numbers below 2^53
    return BINS - 1 - np.searchsorted(lower, squares, side="left")


def steps_of(facts: PublicFacts) -> int:
    """Return how many steps a row of the weight 1 counts."""
    return 2**STEP_BITS if facts.person else 1


def by_length(
    squares: np.ndarray, counted: np.ndarray, rows_of_person: np.ndarray | None, most_weight: int
) -> np.ndarray:
    """Return the exact counts of a block of rows: NOT private."""
    if rows_of_person is None:
        weights = counted.astype(np.int64)
    else:
        r = rows_of_person.astype(np.int64)
        weights = np.where(counted & (r > 0), 2**STEP_BITS * most_weight // np.maximum(r, most_weight), 0)
    return np.bincount(bins_of(squares), weights=weights, minlength=BINS).astype(np.int64)  # sums below 2^53
