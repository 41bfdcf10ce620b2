"""Read noisy whole numbers as a moment matrix, each quotient rounded once: the same bits on every machine."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privcov.measurements.exact.integer_gram import ANCHOR, UNIT, flag_value, plain_flag_value
from privcov.measurements.exact.private_moment import NoisySum, weights
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import COUPLED, FREE_GROUPS, NoiseDistribution
from privcov.measurements.noise_theory.anchor import anchor_squared, choose_anchor_for
from privcov.measurements.noise_theory.free_groups import labels_of
from privcov.tables.public_facts import Flags, PublicFacts


def read_sum(noisy: NoisySum, centre: str) -> NoisyMoment:
    """Return the moment matrix in unit-ball units, as `measure_moment` gives it.

    The anchor of the integers is slightly below s m; the result has s^2 of anchor.py exactly, and the distribution of
    its noise is right to six digits. Classes may be read as "joint". The sum of the k class columns has k times the
    noise variance, so the sum gets the anchor s / sqrt(k). Its noise is then distributed like that of the other
    entries, and the corner is s^2 / k.

    Guarantee: that of ``noisy``: reading it is post-processing. Spends: nothing: it sees only noisy numbers and public
    facts. Source: own derivation, in the docstring above; exact/private_moment.py for the measurement.
    """
    facts, d, k = noisy.facts, noisy.facts.width, noisy.n_anchors
    counts = [int(t) / noisy.anchor**2 for t in np.diag(noisy.total)[d:]]
    # With classes a row whose label is not in the list counts as no row, so the number of rows comes from the counts.
    count = None if facts.n is not None and not facts.classes else max(math.fsum(counts), 1.0)
    rows = facts.n if count is None else count
    assert rows is not None, "without a noisy count the number of rows is public"
    n_anchors = 1 if centre == "joint" else len(facts.classes)
    if not n_anchors:
        raise ValueError(f"centre={centre!r} was not measured: no classes are declared. Use centre='joint'.")
    block, square = _freed_block(noisy, rows), squared_anchor(noisy)
    matrix = np.zeros((d + n_anchors, d + n_anchors))
    matrix[:d, :d] = block
    s, sums = math.sqrt(square), noisy.total[:d, d:].astype(object)
    if n_anchors == 1:
        shrink = math.sqrt(k)
        edge = s / shrink * _over(sums.sum(axis=1, keepdims=True), noisy.anchor * UNIT, rows)
        corner = np.array([[square / k]])
    else:
        edge = s * _over(sums, noisy.anchor * UNIT, rows)
        corner = np.diag(square * np.array(counts) / rows)
    matrix[:d, d:], matrix[d:, :d], matrix[d:, d:] = edge, edge.T, corner
    distribution = noise_of(facts, noisy.shape, noisy.scale, k, n_anchors, rows, noisy.anchor)
    weight, deviation = flag_value(facts.units, facts.flagged), 0.0 if count is None else count_std(noisy) / count
    flags = flags_of(facts.d, facts.flagged, distribution, deviation, weight)
    return NoisyMoment(
        matrix, distribution, noisy.event, centre, facts.n, facts.row_bound, count, square, flags, noisy.search
    )


def flags_of(
    d: int, flagged: tuple[int, ...], distribution: NoiseDistribution, count_std: float = 0.0, weight: int | None = None
) -> Flags | None:
    """Return where the flags of missing cells are in the moment matrix of a private table, and the noise there."""
    if not flagged:
        return None
    own: float | tuple[float, ...] = 0.0
    if distribution.shape == FREE_GROUPS:
        groups = [distribution.groups[j] for j in flagged]
        group_terms = [(distribution.weights[group], distribution.groups.count(group)) for group in groups]
        own = tuple(
            -distribution.scale * distribution.scale * kappa / (1 + size * kappa) for kappa, size in group_terms
        )
    stds = tuple(float(std) for std in distribution.diagonal_stds)
    steps = plain_flag_value(d) if weight is None else weight
    return Flags(d, flagged, steps / UNIT, distribution.off_diagonal_std, stds, own, count_std)


def squared_anchor(noisy: NoisySum) -> float:
    """Return s^2 of a measurement, the number for which its whole anchor stands."""
    arguments = noisy.facts.d, noisy.n_anchors, noisy.facts.relation
    return anchor_squared(choose_anchor_for(noisy.anchor, *arguments), *arguments)


def noise_of(
    facts: PublicFacts, shape: str, scale: float, drawn_anchors: int, n_anchors: int, rows: float, anchor: int = ANCHOR
) -> NoiseDistribution:
    """Return the distribution of the noise of what `read_sum` gives."""
    d, unit = facts.width, scale / UNIT**2 / rows
    if shape == COUPLED:  # for a public number of rows only
        return NoiseDistribution(shape, unit, d, n_anchors, measured=drawn_anchors)
    if shape == FREE_GROUPS:
        groups, kappas = weights(facts, anchor)
        labels, group_weights = labels_of(groups), tuple(float(kappa) for kappa in kappas)
        return NoiseDistribution(shape, unit, d, n_anchors, groups=labels, weights=group_weights)
    if shape == "wishart-difference":
        # A block of a Wishart matrix keeps the degrees of freedom of the whole, d + k + 1, when fewer anchors are read.
        unit *= math.sqrt((d + drawn_anchors + 1) / (d + n_anchors + 1))
    return NoiseDistribution(shape, unit, d, n_anchors)


def count_std(noisy: NoisySum) -> float:
    """Return the standard deviation of the noisy number of rows, the sum of the counts on the anchors' diagonal."""
    distribution = noise_of(noisy.facts, noisy.shape, noisy.scale, noisy.n_anchors, noisy.n_anchors, 1, noisy.anchor)
    return math.sqrt(noisy.n_anchors) * distribution.count_std / squared_anchor(noisy)


def _freed_block(noisy: NoisySum, rows: int | float) -> np.ndarray:
    """Return the block of columns over the rows, in units of R^2, from whole numbers."""
    d = noisy.facts.width
    diagonal = [int(t) for t in np.diag(noisy.total)[:d]]
    matrix = _over(noisy.total[:d, :d].astype(object), UNIT**2, rows)
    for columns, added in _diagonal_corrections(noisy, diagonal):
        numerator, denominator = added
        for j in columns:
            exact = np.array([[diagonal[j] * denominator + numerator]], dtype=object)
            matrix[j, j] = _over(exact, denominator * UNIT**2, rows)[0, 0]
    return matrix


def _diagonal_corrections(noisy: NoisySum, diagonal: list[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
    """Yield columns, and the fraction (numerator, denominator) that is added to the diagonal entry of each of them.

    Coupled noise is far smaller on the trace of the whole than on that of any block. So with one anchor whose corner is
    public (n a^2) the trace of the block becomes that of the whole less the corner. A group of several columns whose
    sum was measured a second time is averaged with that sum, see exact/private_moment.py.
    """
    facts, d = noisy.facts, noisy.facts.width
    if noisy.shape == COUPLED and noisy.n_anchors == 1 and facts.n is not None:
        yield tuple(range(d)), (int(noisy.total[d, d]) - facts.n * noisy.anchor**2, d)
    elif noisy.shape == FREE_GROUPS:
        second_sums = iter(noisy.sums)
        for group, kappa in zip(*weights(facts, noisy.anchor), strict=True):
            size = len(group.columns)
            if size > 1:
                share = kappa / (1 + size * kappa)
                difference = next(second_sums) - sum(diagonal[j] for j in group.columns)
                yield group.columns, (share.numerator * difference, share.denominator)


def _over(whole: np.ndarray, divisor: int, rows: int | float) -> np.ndarray:
    """Divide whole numbers (object array) by divisor and rows."""
    if isinstance(rows, int):
        return np.array([[int(v) / (divisor * rows) for v in line] for line in whole], dtype=np.float64)
    return np.array([[int(v) / divisor for v in line] for line in whole], dtype=np.float64) / rows
