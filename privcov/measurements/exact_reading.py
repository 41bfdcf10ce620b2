"""From the whole noisy numbers of a private measurement to the moment matrix that methods work on: free.

Every quotient of whole numbers is rounded once, so the same sum gives the same matrix, bit for bit, on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.measurements.exact_moment import NoisySum
from privcov.measurements.integer_gram import ANCHOR, UNIT
from privcov.measurements.moment import ANCHOR_SQUARED, Measured
from privcov.measurements.noise import COUPLED, NoiseDistribution
from privcov.public_facts import PublicFacts


def read_sum(noisy: NoisySum, centre: str) -> Measured:
    """The matrix in unit-ball units, as `measure_moment` gives it: centre "none", "joint" or "classes".

    The anchor of the integers is a hair below s m; the answer has s^2 = 1/2 exactly, and its noise law is right to six
    digits. Classes read as "joint": the k columns of class sums add up to one with k times the noise variance, so it is
    written with the anchor s / sqrt(k), at which its noise has the law of the rest and the corner is s^2 / k.
    """
    facts, d, k = noisy.facts, noisy.facts.d, noisy.n_anchors
    counts = [int(t) / ANCHOR**2 for t in np.diag(noisy.total)[d:]]
    # With classes a row whose label is not in the list counts as no row, so how many rows do is known from the counts.
    count = None if facts.n is not None and not facts.classes else max(math.fsum(counts), 1.0)
    rows = facts.n if count is None else count
    assert rows is not None, "without a noisy count the number of rows is public"
    n_anchors = {"none": 0, "zero": 0, "joint": 1}.get(centre, len(facts.classes) or k + 1)
    if n_anchors > k:
        raise ValueError(f"centre={centre!r} was not measured: the sum has {k} anchored rows. Use centre='none'.")
    block = _over(*_freed(noisy), rows)
    matrix = np.zeros((d + n_anchors, d + n_anchors))
    matrix[:d, :d] = block
    if n_anchors:
        s, sums = math.sqrt(ANCHOR_SQUARED), noisy.total[:d, d:].astype(object)
        if n_anchors == 1:
            shrink = math.sqrt(k)
            edge = s / shrink * _over(sums.sum(axis=1, keepdims=True), ANCHOR * UNIT, rows)
            corner = np.array([[ANCHOR_SQUARED / k]])
        else:
            edge = s * _over(sums, ANCHOR * UNIT, rows)
            corner = np.diag(ANCHOR_SQUARED * np.array(counts) / rows)
        matrix[:d, d:], matrix[d:, :d], matrix[d:, d:] = edge, edge.T, corner
    distribution = noise_of(facts, noisy.shape, noisy.scale, k, n_anchors, rows)
    return Measured(matrix, distribution, noisy.event, centre, facts.n, facts.row_bound, count)


def noise_of(
    facts: PublicFacts, shape: str, scale: float, measured: int, n_anchors: int, rows: float
) -> NoiseDistribution:
    """The noise of what `read_sum` gives: scale in steps; anchors measured, and those of them that are read."""
    d, unit = facts.d, scale / UNIT**2 / rows
    if shape == COUPLED:
        return NoiseDistribution(shape, unit, d, n_anchors, measured=measured)
    if shape == "wishart-difference":
        # A block of a Wishart matrix keeps the degrees of freedom of the whole, d + k + 1, when fewer anchors are read.
        unit *= math.sqrt((d + measured + 1) / (d + n_anchors + 1))
    return NoiseDistribution(shape, unit, d, n_anchors)


def count_std(noisy: NoisySum) -> float:
    """Standard deviation of the noisy number of rows, the sum of what the anchors' diagonal says."""
    distribution = noise_of(noisy.facts, noisy.shape, noisy.scale, noisy.n_anchors, noisy.n_anchors, 1)
    return math.sqrt(noisy.n_anchors) * distribution.diagonal_std / ANCHOR_SQUARED


def _freed(noisy: NoisySum) -> tuple[np.ndarray, int]:
    """(block of columns, what it is to be divided by to be in units of R^2), in whole numbers.

    Two looks at the trace are taken together. Coupled noise has a far quieter trace as a whole than in any block, so
    with one anchor, whose corner is public (n a^2), the trace of the block is that of the whole less the corner.
    """
    facts, d = noisy.facts, noisy.facts.d
    block, times, more = noisy.total[:d, :d].astype(object), 1, 0
    if noisy.trace is not None:
        times, more = d + 1, noisy.trace - sum(int(t) for t in np.diag(noisy.total)[:d])
    elif noisy.shape == COUPLED and noisy.n_anchors == 1:
        assert facts.n is not None, "coupled noise is for a public number of rows only"
        times, more = d, int(noisy.total[d, d]) - facts.n * ANCHOR**2
    block = block * times
    block[np.diag_indices(d)] += more
    return block, times * UNIT**2


def _over(whole: np.ndarray, divisor: int, rows: int | float) -> np.ndarray:
    """Whole numbers (object array) over divisor and rows."""
    if isinstance(rows, int):
        return np.array([[int(v) / (divisor * rows) for v in line] for line in whole], dtype=np.float64)
    return np.array([[int(v) / divisor for v in line] for line in whole], dtype=np.float64) / rows
