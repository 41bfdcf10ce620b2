"""Rows as whole numbers, and their Gram matrix without a rounding error.

A clipped row u of the unit ball becomes k, whole numbers with sum_j k_j^2 <= m^2, m = 2^20. Each row is treated alone
and by operations whose result does not depend on its place in the table, so neighbouring tables give neighbouring
integers. Whatever the rounding errors of floating point before, the norm is checked in integers: the sensitivity needs
no rounding margin. Cutting to whole numbers moves an entry of u by less than 2^-20, towards zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privcov.private_dataset import PrivateDataset
from privcov.public_facts import MOST_COLUMNS, MOST_ROWS
from privcov.units import Units

BITS = 20
UNIT = 2**BITS  # m
ANCHOR = math.isqrt(UNIT * UNIT // 2)  # s m, s^2 = 1/2, rounded down
# Products are below m^2, so as many of them add up exactly in float64.
_BLOCK_ROWS = 2**53 // UNIT**2
_BLOCK_ENTRIES = 400_000
# Larger coordinates belong to rows that are scaled down anyway; their squares must fit into 64 bits.
_LARGEST = float(2**27)

assert MOST_ROWS * (UNIT**2 + ANCHOR**2) < 2**63, "the largest table must fit into 64 bits"
assert MOST_COLUMNS * int(_LARGEST) ** 2 < 2**63, "the squared norm of the longest row must fit into 64 bits"


def whole_rows(working: np.ndarray, row_bound: float) -> np.ndarray:
    """Return the rows as whole numbers k: clipped to row_bound, times m / row_bound, cut towards zero.

    It is defined for every row: none makes it fail.

    Parameters
    ----------
    working : ndarray of shape (b, d)
        Rows in working units. Missing cells count as zero, infinite ones as very large.
    row_bound : float
        R > 0.

    Returns
    -------
    ndarray of shape (b, d)
        int64, with sum_j k_j^2 <= m^2 in every row.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        y = np.nan_to_num(working, nan=0.0, posinf=np.finfo(float).max, neginf=-np.finfo(float).max)
        largest = np.abs(y).max(axis=1, keepdims=True)
        scaled = y * (UNIT / row_bound) if row_bound >= 1e-90 else y / row_bound * UNIT
        far = ~(largest / row_bound * UNIT <= _LARGEST)
        scaled = np.where(far, y / np.where(far, largest, 1.0) * _LARGEST, scaled)
    k = np.trunc(scaled).astype(np.int64)
    squares = (k * k).sum(axis=1)  # exact, so the order of summation does not matter
    long = squares > UNIT**2
    if long.any():
        # One factor per row from an exact number; `_shorten` corrects the last digits.
        factor = UNIT / np.sqrt(squares[long].astype(np.float64))
        k[long] = np.trunc(k[long] * factor[:, None]).astype(np.int64)
        _shorten(k, np.flatnonzero(long))
    return k


def _shorten(k: np.ndarray, rows: np.ndarray) -> None:
    """Lower the largest entry of each listed row until its norm is at most m."""
    while len(rows):
        rows = rows[(k[rows] * k[rows]).sum(axis=1) > UNIT**2]
        column = np.abs(k[rows]).argmax(axis=1)
        k[rows, column] -= np.sign(k[rows, column])


def noiseless_gram(private: PrivateDataset, n_anchors: int) -> np.ndarray:
    """Return the exact sum of z z' over the rows: NOT private. Only the exact measurement calls it.

    A row without a listed class is zero throughout; so is one that the declared rule for missing cells leaves out.

    Parameters
    ----------
    private : PrivateDataset
        With rows in memory.
    n_anchors : int
        0 (z = k), 1 (z = (k, a)) or the number of classes (z = (k, a e_class)).

    Returns
    -------
    ndarray of shape (d + n_anchors, d + n_anchors)
        int64.
    """
    size = private.facts.d + n_anchors
    gram = np.zeros((size, size), dtype=np.int64)
    for z in whole_blocks(private, n_anchors):
        gram += (z.T @ z).astype(np.int64)
    return gram


def whole_blocks(private: PrivateDataset, n_anchors: int) -> Iterator[np.ndarray]:
    """Yield the rows z as whole numbers, block by block: NOT private. Only the exact measurements call it.

    Parameters
    ----------
    private : PrivateDataset
        With rows in memory.
    n_anchors : int
        As for `noiseless_gram`; a row that counts as none is zero throughout, its anchors too.

    Yields
    ------
    ndarray of shape (b, d + n_anchors)
        float64, few enough rows for every sum of products to be exact.
    """
    facts, d = private.facts, private.facts.d
    size = d + n_anchors
    for start in range(0, len(private._rows), block_rows(size)):
        z = np.zeros((min(block_rows(size), len(private._rows) - start), size))
        rows = private._rows[start : start + len(z)]
        z[:, :d] = whole_rows(to_working(facts.units, rows), facts.row_bound)
        if n_anchors == 1:
            z[:, d] = ANCHOR
        elif n_anchors:
            assert private._class_of is not None, "there are as many anchors as classes, and rows have one each"
            label = private._class_of[start : start + len(z)]
            z[np.flatnonzero(label >= 0), d + label[label >= 0]] = ANCHOR
        if private._class_of is not None:
            z[private._class_of[start : start + len(z)] < 0] = 0.0
        if facts.missing == "drop-row":
            z[~np.isfinite(rows).all(axis=1)] = 0.0
        yield z


def block_rows(size: int) -> int:
    """Return the rows per block: few enough for every partial sum to be an exact float64, and for a small block.

    Parameters
    ----------
    size : int
        Length of z, at least 1.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, min(_BLOCK_ROWS, _BLOCK_ENTRIES // size))


def to_working(units: Units, rows: np.ndarray) -> np.ndarray:
    """Return rows in working units; a missing or infinite cell is NaN, which counts as the typical value.

    Parameters
    ----------
    units : Units
        The declared units.
    rows : ndarray of shape (b, d)
        In the data's units.

    Returns
    -------
    ndarray of shape (b, d)
        float64, NaN where a cell is missing or infinite.
    """
    return units.to_working(np.where(np.isfinite(rows), rows, np.nan))
