"""Rows as whole numbers, and their Gram matrix without a rounding error.

A clipped row u of the unit ball becomes k, whole numbers with sum_j k_j^2 <= m^2, m = 2^20. Each row is treated alone
and by operations whose result does not depend on its place in the table, so neighbouring tables give neighbouring
integers. Whatever the rounding errors of floating point before, the norm is checked in integers: the sensitivity needs
no rounding margin. Cutting to whole numbers moves an entry of u by less than 2^-20, towards zero.

**Persons.** Where rows have ids, a row of a person with r rows has the weight 1 / r, by its root: every number k_j of
the row becomes the root of k_j^2 / r, cut to a whole number, and so does its anchor. r counts every row with the
id in the whole table, also those that a rule leaves out of the sums (a missing cell, an unlisted class): the weights
depend on nothing but ids. A row without an id becomes zeros.

**Flags of missing cells.** With the rule "pairs" a row is (y_j o_j for every column j, c u_j for every flagged column
j), o_j = 1 where the cell is there, u_j = 1 - o_j, c = R / sqrt(d). In whole numbers y becomes k and c is f = isqrt(m^2
// d), so that d f^2 <= m^2. A cell is there or missing, never both, so a row of h missing flagged cells has the squared
length |k|^2 + h f^2, and |k|^2 <= m^2 - h f^2 is enforced: the row is within m, as one without flags. h f^2 <= d f^2 <=
m^2, so the bound of k is never negative. Where a row is too long, its cells are shortened and its flags are not, so
every flag is exactly 0 or f and the sums of flags are numbers of rows times f or f^2: 1 - q_i - q_j + q_ij is the share
of rows that have both cells, whatever was shortened. (Shortening the flags too would shrink q and q_ij but not the 1.)
The row bound of the cells that are there is R sqrt(1 - h / d), the part of R that belongs to as many columns. With
bounds and R = sqrt(d) half-ranges no row is shortened.

Where columns have weights or form the blocks of categories, f is `flag_value`: no larger than any flagged column's own
bound, so that all flags together are within m as well, and a row inside the bounds is not shortened for a missing cell.
A category has no flag.

Every bound that holds for rows of length at most m holds with flags: the Frobenius and the nuclear norm, the sums of
groups measured a second time, the coupled distribution; they do not depend on the number of coordinates. Two things
differ: the l1 norm (triangle_l1.py), and that y_j o_j u_j = 0 in every row, so the entry of a column and its own flag
is zero in every table. It is published as zero; a change of two tables has no part there. Weights of persons apply to
flags as to cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from privcov.tables.declared_columns import MAX_COLUMNS
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import MAX_ROWS, PublicFacts
from privcov.tables.units import Units

BITS = 20
UNIT = 2**BITS  # m
STEPS = 2**20  # of a count of rows, where rows have the weights of persons
ANCHOR = math.isqrt(UNIT * UNIT // 2)  # s m, s^2 = 1/2, rounded down
# Products are below m^2, so as many of them add up exactly in float64.
_BLOCK_ROWS = 2**53 // UNIT**2
_BLOCK_ENTRIES = 400_000
# Larger coordinates belong to rows that are scaled down anyway; their squares must fit into 64 bits.
_LARGEST = float(2**27)

assert MAX_ROWS * 2 * UNIT**2 < 2**63, "the largest table must fit into 64 bits"
assert MAX_COLUMNS * int(_LARGEST) ** 2 < 2**63, "the squared norm of the longest row must fit into 64 bits"


def block_squares(units: Units) -> tuple[int, ...]:
    """Return the bound of the sum of squares of every block of columns, for rows that are not shortened.

    A block of weight c is at most c long of R, R^2 = sum c^2. In a block of a category one entry at most is not zero,
    so the bound of every entry, `max_entries`, is that of the block.
    """
    squares = [Fraction(c) ** 2 for _, c in units.blocks]
    return tuple(math.floor(UNIT**2 * square / sum(squares)) for square in squares)


def max_entries(units: Units) -> np.ndarray:
    """Return `max_entry` of every column, which differs where columns form blocks or have weights."""
    if not units.blocks or not units.fits_bounds:
        return np.full(len(units.scale), max_entry(units))
    return np.repeat([math.isqrt(square) for square in block_squares(units)], [size for size, _ in units.blocks])


def keep_one_level(whole: np.ndarray, units: Units) -> None:
    """Zero every block with more than one non-zero number, in place.

    No coder makes such a block, but the bounds on blocks and on the number of nonzero entries rely on this function.
    """
    ends = itertools.accumulate(size for size, _ in units.blocks)
    for (size, _), end in zip(units.blocks, ends, strict=True):
        block = whole[:, end - size : end]
        if size > 1:
            block[np.count_nonzero(block, axis=1) > 1] = 0


def max_entry(units: Units) -> int:
    """Return the bound on every entry of a whole-number row: one half-range where R is the norm of a corner, else m.

    With bounds the cut below changes no row; the sensitivity of the groups of free_groups.py relies on it all the same.
    """
    return math.isqrt(UNIT**2 // len(units.scale)) if units.fits_bounds else UNIT


def plain_flag_value(d: int) -> int:
    """Return f, the whole number that a flag has where its cell is missing, of columns without blocks."""
    return math.isqrt(UNIT**2 // d)


def flag_value(units: Units, flagged: tuple[int, ...]) -> int:
    """Return f, the whole number that a flag has where its cell is missing."""
    if not units.blocks:
        return plain_flag_value(len(units.scale))
    block_of = [at for at, (size, _) in enumerate(units.blocks) for _ in range(size)]
    squares = block_squares(units)
    return math.isqrt(min((squares[block_of[j]] for j in flagged), default=0))


def integer_rows(
    working: np.ndarray, row_bound: float, most: int | np.ndarray = UNIT, squares_left: np.ndarray | None = None
) -> np.ndarray:
    """Return every row as whole numbers k: clipped to row_bound, times m / row_bound, cut towards zero."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        y = np.nan_to_num(working, nan=0.0, posinf=np.finfo(float).max, neginf=-np.finfo(float).max)
        largest = np.abs(y).max(axis=1, keepdims=True)
        scaled = y * (UNIT / row_bound) if row_bound >= 1e-90 else y / row_bound * UNIT
        far = ~(largest / row_bound * UNIT <= _LARGEST)
        scaled = np.where(far, y / np.where(far, largest, 1.0) * _LARGEST, scaled)
    k = np.trunc(scaled).astype(np.int64)
    squares = (k * k).sum(axis=1)  # exact, so the order of summation does not matter
    square_bound = np.full(len(k), UNIT**2) if squares_left is None else squares_left
    long = squares > square_bound
    if long.any():
        # One factor per row from an exact number; `_shorten` corrects the last digits.
        factor = np.sqrt(square_bound[long].astype(np.float64)) / np.sqrt(squares[long].astype(np.float64))
        k[long] = np.trunc(k[long] * factor[:, None]).astype(np.int64)
        _shorten(k, np.flatnonzero(long), square_bound)
    return np.clip(k, -most, most)


def flagged_rows(
    working: np.ndarray, row_bound: float, holes: np.ndarray, most: int | np.ndarray = UNIT, flag: int | None = None
) -> np.ndarray:
    """Return the rows as `integer_rows`, with a flag beside each column that can be missing."""
    flag = plain_flag_value(working.shape[1]) if flag is None else flag
    square_bound = UNIT**2 - holes.sum(axis=1) * flag**2
    return np.concatenate([integer_rows(working, row_bound, most, square_bound), holes * flag], axis=1)


def _shorten(k: np.ndarray, rows: np.ndarray, square_bound: np.ndarray) -> None:
    """Lower the largest entry of each listed row until its sum of squares is at most ``square_bound``."""
    while len(rows):
        rows = rows[(k[rows] * k[rows]).sum(axis=1) > square_bound[rows]]
        column = np.abs(k[rows]).argmax(axis=1)
        k[rows, column] -= np.sign(k[rows, column])


def weigh_rows(whole: np.ndarray, rows_of_person: np.ndarray) -> np.ndarray:
    """Return whole numbers times the root of their person's weight for one row, cut towards zero.

    The new number v has v^2 <= k^2 / r, in whole numbers: the division of squares is exact, and the root of a whole
    number up to 2^40 rounds to the right whole part in float64. So a row with |k|^2 <= m^2 gets |v|^2 <= m^2 / r, and
    the r rows of a person together at most m^2.
    """
    light = np.flatnonzero(rows_of_person > 1)
    out = whole.copy()
    out[rows_of_person == 0] = 0
    squares = whole[light].astype(np.int64) ** 2 // rows_of_person[light, None]
    out[light] = np.copysign(np.floor(np.sqrt(squares.astype(np.float64))), whole[light]).astype(whole.dtype)
    return out


def counts_of(squares: np.ndarray, rows_of_person: np.ndarray | None, bins: int) -> np.ndarray:
    """Return the counts of rows per bin of their squared norms, whole numbers, in steps; see norm_counts.py."""
    # 2^(e - 1) < q <= 2^e, with e the number of bits of q - 1.
    at = 2 * BITS - np.frexp(squares - 1)[1]
    weights = np.ones(len(squares), dtype=np.int64)
    if rows_of_person is not None:
        weights = np.where(rows_of_person > 0, STEPS // np.maximum(rows_of_person, 1), 0)
    in_range, counts = (squares > 0) & (at < bins), np.zeros(bins, dtype=np.int64)
    np.add.at(counts, at[in_range], weights[in_range])
    return counts


def noiseless_gram(private: PrivateDataset, n_anchors: int, anchor: int = ANCHOR) -> np.ndarray:
    """Return the exact sum of z z' over the rows: NOT private. Only the exact measurement calls it.

    A row without a listed class, left out by the rule for missing cells, or without the id of a person counts as zeros.
    """
    size = private.facts.width + n_anchors
    gram = np.zeros((size, size), dtype=np.int64)
    for z, rows_of_person in integer_blocks(private, n_anchors, anchor):
        v = z if rows_of_person is None else weigh_rows(z, rows_of_person)
        gram += (v.T @ v).astype(np.int64)
    return gram


def integer_blocks(
    private: PrivateDataset, n_anchors: int, anchor: int = ANCHOR
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """Yield the rows z as whole numbers, block by block: NOT private. Only the exact measurements call it."""
    facts, d = private.facts, private.facts.width
    size, most, flag = d + n_anchors, max_entries(facts.units), flag_value(facts.units, facts.flagged)
    for start in range(0, len(private._rows), block_rows(size)):
        z = np.zeros((min(block_rows(size), len(private._rows) - start), size))
        rows = private._rows[start : start + len(z)]
        holes = ~np.isfinite(rows[:, facts.flagged])
        z[:, :d] = flagged_rows(to_working(facts.units, rows), facts.row_bound, holes, most, flag)
        keep_one_level(z, facts.units)
        if n_anchors == 1:
            z[:, d] = anchor
        else:
            assert private._class_of is not None, "there are as many anchors as classes, and rows have one each"
            label = private._class_of[start : start + len(z)]
            z[np.flatnonzero(label >= 0), d + label[label >= 0]] = anchor
        if private._class_of is not None:
            z[private._class_of[start : start + len(z)] < 0] = 0.0
        if facts.missing == "drop-row":
            z[~np.isfinite(rows).all(axis=1)] = 0.0
        yield z, None if private._rows_of_person is None else private._rows_of_person[start : start + len(z)]


def with_public_corner(gram: np.ndarray, facts: PublicFacts, n_anchors: int, anchor: int) -> np.ndarray:
    """Set the corner of one anchor to its public value n a^2 where it has one, in place, and return the sum.

    With persons the squares of the cut anchors of a person add up to a little less than a^2.
    """
    if facts.person and facts.n is not None and not facts.classes:
        gram[-1, -1] = facts.n * anchor**2
    return gram


def block_rows(size: int) -> int:
    """Return the rows per block: few enough for every partial sum to be an exact float64, and for a small block."""
    return max(1, min(_BLOCK_ROWS, _BLOCK_ENTRIES // size))


def to_working(units: Units, rows: np.ndarray) -> np.ndarray:
    """Return rows in working units; a missing or infinite cell is NaN, which counts as the typical value."""
    return units.to_working(np.where(np.isfinite(rows), rows, np.nan))
