"""Columns of two values: x^2 = x of a yes or a level, and x y = 0 of two levels of one column.

With p_j the mean of column j as a share, (m_j - low_j) / span_j, the covariance of two levels of one column is
-p_i p_j span_i span_j, also where rows are shortened, which leaves a zero what it is. The variance is
p_j (1 - p_j) span_j^2 where no cell lies between the two values, and at most that where some do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.postprocess.plain_algebra import eigen, product, rebuild
from privcov.tables.declared_columns import Kinds
from privcov.tables.readers.kinds import CATEGORY, INTEGER, ORDINAL, YES_NO
from privcov.tables.units import Units

_LEAST = 1e-4  # of the largest eigenvalue of a block, to which others are raised before it is inverted


@dataclass(frozen=True, eq=False)
class BinaryColumns:
    """Which columns have two values, in working units.

    low, span: the lower value, and the distance to the higher one; 0 for other columns. blocks: their positions, those
    of one category together. unshortened: which columns still have these two values and no others, unlike shortened
    rows. names: the declared column of each block. exact: which columns have no cell between the two values, where a
    missing cell lies that counts as a typical value.
    """

    low: np.ndarray
    span: np.ndarray
    blocks: tuple[tuple[int, ...], ...]
    unshortened: np.ndarray | bool = True
    names: tuple[str, ...] = ()
    exact: np.ndarray | bool = False


def find_binary_columns(kinds: Kinds, units: Units, missing: str = "typical") -> BinaryColumns | None:
    """Return which columns have two values by their declaration; None where there is none.

    A missing cell that counts as a typical value between the two makes (x - mean)^2 vary less than the formulas say.
    """
    is_two: list[bool] = []
    blocks: list[tuple[int, ...]] = []
    names: list[str] = []
    for name, kind in kinds:
        levels = len(kind.values) if kind.kind == ORDINAL else 0
        from_zero = kind.kind == INTEGER and (kind.low, kind.high) == (0, 1)
        two = kind.kind in (YES_NO, CATEGORY) or levels == 2 or from_zero
        if two:
            blocks.append(tuple(range(len(is_two), len(is_two) + kind.width)))
            names.append(name)
        is_two += [two] * kind.width
    if not blocks:
        return None
    assert units.bounds is not None, "declared columns have bounds"
    ends = (units.bounds - units.origin[:, None]) / units.scale[:, None] * np.array(is_two)[:, None]
    whole = units.fits_bounds
    exact = whole & (np.array(is_two) if missing != "typical" else np.array(is_two) & (ends == 0).any(axis=1))
    return BinaryColumns(ends[:, 0], ends[:, 1] - ends[:, 0], tuple(blocks), whole, tuple(names), exact)


def same_column(kinds: Kinds) -> np.ndarray | None:
    """Return which pairs are two levels of one declared column, d x d; None where there is none."""
    block = np.repeat(np.arange(len(kinds)), [kind.width for _, kind in kinds])
    same = (block[:, None] == block) & ~np.eye(len(block), dtype=bool)
    return same if same.any() else None


def within_values(mean: np.ndarray, two: BinaryColumns | None) -> np.ndarray:
    """Return the mean, clipped to the two values of a column; shares of levels of one column add up to at most 1."""
    mean = mean.copy()
    for at in [] if two is None else map(list, two.blocks):
        assert two is not None
        share = np.clip((mean[at] - two.low[at]) / two.span[at], 0.0, 1.0)
        mean[at] = two.low[at] + two.span[at] * (share / max(float(share.sum()), 1.0))
    return mean


def with_identities(covariance: np.ndarray, mean: np.ndarray, two: BinaryColumns | None) -> np.ndarray:
    """Return the covariance whose entries within a declared column are those that follow from `within_values`.

    A block C of the columns of one becomes B by T = C^-1/2 (C^1/2 B C^1/2)^1/2 C^-1/2, by which its covariances with
    all other columns are multiplied too: what was positive semi-definite stays so, and with B = C nothing changes.
    """
    for at in [] if two is None else map(list, two.blocks):
        assert two is not None
        own, exact = covariance[np.ix_(at, at)], np.broadcast_to(two.exact, len(mean))[at]
        span = two.span[at]
        p = (mean[at] - two.low[at]) / span
        square = np.maximum(np.diag(own), 0.0) / (span * span) + p * p
        if np.isnan(p).any() or (len(at) == 1 and square <= p and not exact.all()):
            continue
        square = np.where(exact, p, np.minimum(square, p))
        square = square * max(float(np.sum(p * p / np.maximum(square, 1e-300))), 1.0)
        block = (np.diag(square) - p[:, None] * p[None, :]) * (span[:, None] * span[None, :])
        values, axes = eigen(own)
        if values[-1] <= 0 or values[0] < -1e-9 * values[-1]:
            turn = np.eye(len(at))  # as it was measured, without a repair
        else:
            values = np.sqrt(np.maximum(values, _LEAST * values[-1]))
            root, inverse = rebuild(values, axes), rebuild(1 / values, axes)
            middle, turned = eigen(product(product(root, block), root))
            turn = product(product(inverse, rebuild(np.sqrt(np.maximum(middle, 0.0)), turned)), inverse)
        covariance = covariance.copy()
        covariance[at] = product(turn, covariance[at])
        covariance[:, at] = covariance[at].T
        covariance[np.ix_(at, at)] = block
    return covariance
