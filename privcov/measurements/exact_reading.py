"""From the whole noisy numbers of a private measurement to the moment matrix that methods use; nothing is spent.

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
    """Return the moment matrix in unit-ball units, as `measure_moment` gives it.

    The anchor of the integers is slightly below s m; the result has s^2 = 1/2 exactly, and the distribution of its
    noise is right to six digits. Classes read as "joint": the k columns of class sums add up to one with k times the
    noise variance, so it is written with the anchor s / sqrt(k), at which its noise has the distribution of the rest
    and the corner is s^2 / k.

    Parameters
    ----------
    noisy : NoisySum
        The private answer.
    centre : {"none", "zero", "joint", "classes"}
        What is read of it: the second moment alone ("none", "zero"), with the mean, or with the class sums.

    Returns
    -------
    Measured
        With the event of ``noisy``. ``count`` is given where n is not public or classes are declared.

    Raises
    ------
    ValueError
        For a centre that was not measured.

    Guarantee
    ---------
    That of ``noisy``: reading it is post-processing.

    Spends
    ------
    Nothing: it sees only noisy numbers and public facts.

    Reference
    ---------
    Own derivation, in the docstring above; exact_moment.py for the measurement.
    """
    facts, d, k = noisy.facts, noisy.facts.d, noisy.n_anchors
    counts = [int(t) / ANCHOR**2 for t in np.diag(noisy.total)[d:]]
    # With classes a row whose label is not in the list counts as no row, so the number of rows comes from the counts;
    # so does the total weight where a person may have more than one.
    count = None if facts.weight_is_public and not facts.classes else max(math.fsum(counts), 1.0)
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
    """Return the distribution of the noise of what `read_sum` gives.

    Parameters
    ----------
    facts : PublicFacts
        What was declared.
    shape : str
        Shape of the noise, as in `NoisySum`.
    scale : float
        Scale of the noise, in steps of R^2 / 2^40.
    measured : int
        Number of anchors that were measured.
    n_anchors : int
        Number of anchors that are read.
    rows : float
        Number of rows that the sum is divided by, public or noisy.

    Returns
    -------
    NoiseDistribution
        In unit-ball units.
    """
    d, unit = facts.d, scale / UNIT**2 / rows
    if shape == COUPLED:
        hidden = measured == 1 and not facts.weight_is_public
        return NoiseDistribution(shape, unit, d, n_anchors, corner=hidden, measured=measured)
    if shape == "wishart-difference":
        # A block of a Wishart matrix keeps the degrees of freedom of the whole, d + k + 1, when fewer anchors are read.
        unit *= math.sqrt((d + measured + 1) / (d + n_anchors + 1))
    return NoiseDistribution(shape, unit, d, n_anchors)


def count_std(noisy: NoisySum) -> float:
    """Return the standard deviation of the noisy number of rows, the sum of the counts on the anchors' diagonal.

    Parameters
    ----------
    noisy : NoisySum
        With at least one anchor.

    Returns
    -------
    float
        In rows.
    """
    distribution = noise_of(noisy.facts, noisy.shape, noisy.scale, noisy.n_anchors, noisy.n_anchors, 1)
    return math.sqrt(noisy.n_anchors) * distribution.diagonal_std / ANCHOR_SQUARED


def _freed(noisy: NoisySum) -> tuple[np.ndarray, int]:
    """Return (block of columns, what to divide it by for units of R^2), in whole numbers.

    Two measured traces are combined. Coupled noise is far smaller on the trace of the whole than on that of any block,
    so with one anchor whose corner is public (n a^2), the trace of the block is that of the whole less the corner.
    """
    facts, d = noisy.facts, noisy.facts.d
    block, times, more = noisy.total[:d, :d].astype(object), 1, 0
    if noisy.trace is not None:
        times, more = d + 1, noisy.trace - sum(int(t) for t in np.diag(noisy.total)[:d])
    elif noisy.shape == COUPLED and noisy.n_anchors == 1 and facts.weight_is_public:
        assert facts.n is not None, "coupled noise is for a public number of rows only"
        times, more = d, int(noisy.total[d, d]) - facts.n * ANCHOR**2
    block = block * times
    block[np.diag_indices(d)] += more
    return block, times * UNIT**2


def _over(whole: np.ndarray, divisor: int, rows: int | float) -> np.ndarray:
    """Divide whole numbers (object array) by divisor and rows."""
    if isinstance(rows, int):
        return np.array([[int(v) / (divisor * rows) for v in line] for line in whole], dtype=np.float64)
    return np.array([[int(v) / divisor for v in line] for line in whole], dtype=np.float64) / rows
