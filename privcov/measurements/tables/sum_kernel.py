"""The two inner loops of a pass over a table, compiled; cells lie column by column. Needs numba.

`whole_cells` is `integer_gram.whole_rows` after `to_working`, for the rows that it finds short: the same operations in
the same order, one cell at a time. Its test of the length is exact although it is made in float64. Squares of whole
numbers are not negative and rounding is monotone, so once a partial sum is above 2^40 it stays there; and while it is
not, every partial sum is a whole number up to 2^40, which float64 holds. A row that is too long, or too large for
floating point, shows a sum above 2^40 (or infinite), and is left to `whole_rows`.

Public rows are judged by their own length, before they are rounded: rounding makes half of the rows that lie on the
bound longer, and in memory none of these is shortened.

`hash_cells` and `hash_pairs` are `sketch.rounded`, `sketch.Mixer` and the search for the lowest hashes.
"""

from __future__ import annotations

import numpy as np

from privcov.compiled import compiled
from privcov.measurements.tables.sketch import COARSE_KEPT, COARSE_THIRD


@compiled
def whole_cells(
    cells: np.ndarray,
    factor: float,
    nearest: bool,
    bounded: bool,
    low: np.ndarray,
    high: np.ndarray,
    origin: np.ndarray,
    scale: np.ndarray,
    whole: np.ndarray,
    squares: np.ndarray,
    hole: np.ndarray,
    holes: np.ndarray,
) -> None:
    """Fill ``whole``, the sum of squares of every row, and which rows have a missing cell."""
    d, b = cells.shape
    for i in range(b):
        squares[i] = 0.0
        hole[i] = 0
    for j in range(d):
        column, out = cells[j], whole[j]
        lowest, highest, middle, size = low[j], high[j], origin[j], scale[j]
        missing = 0
        for i in range(b):
            x = column[i]
            here = x - x == 0.0
            missing += not here
            hole[i] |= not here
            if bounded:
                x = (min(max(x, lowest), highest) - middle) / size
            t = x * factor if here else 0.0
            t = t if nearest else np.trunc(t)
            out[i] = np.rint(t)
            squares[i] += t * t
        holes[j] += missing


_SIGN, _ZERO, _INFINITE = np.uint64(1 << 63), np.uint64(0), np.uint64(0x7FF0000000000000)
_NAN, _FAR, _NEAR, _TWO = np.array([np.nan]).view(np.uint64)[0], np.uint64(32), np.uint64(29), np.uint64(2)
_THIRD, _KEPT = COARSE_THIRD, COARSE_KEPT  # numba takes the constants of this module


@compiled
def _stirred(x: np.uint64, odd: np.uint64, other: np.uint64) -> np.uint64:
    """Mix the bits of one number, as `sketch.Mixer`."""
    x = x * odd
    x = (x ^ (x >> _FAR)) * other
    x = (x ^ (x >> _NEAR)) * odd
    return x ^ (x >> _FAR)


@compiled
def _canonical(x: np.uint64) -> np.uint64:
    """Return the number with one zero and one NaN."""
    x = _ZERO if x == _SIGN else x  # one zero
    return _NAN if (x & ~_SIGN) > _INFINITE else x  # one NaN


@compiled
def _coarse(x: np.uint64, tiny: np.uint64) -> np.uint64:
    """Return `sketch.rounded` of one cell."""
    size = x & ~_SIGN
    near = (x + _THIRD) & _KEPT if size < _INFINITE else x
    return _canonical(_ZERO if size <= tiny else near)


@compiled
def _count(mixed: np.ndarray, lowest: np.ndarray, counts: np.ndarray, n: int) -> int:
    """Count the lowest different hashes of one column, ascending, and return their number; n: that number before."""
    most = len(lowest)
    for i in range(len(mixed)):
        x = mixed[i]
        if n == most and x > lowest[most - 1]:
            continue
        at = 0
        while at < n and lowest[at] < x:
            at += 1
        if at < n and lowest[at] == x:
            counts[at] += 1
            continue
        n = min(n + 1, most)
        for k in range(n - 1, at, -1):
            lowest[k], counts[k] = lowest[k - 1], counts[k - 1]
        lowest[at], counts[at] = x, 1
    return n


@compiled
def hash_cells(
    bits: np.ndarray,
    keys: np.ndarray,
    coarse: bool,
    tiny: np.ndarray,
    labels: np.ndarray,
    lowest: np.ndarray,
    counts: np.ndarray,
    filled: np.ndarray,
    mixed: np.ndarray,
    lines: np.ndarray,
) -> None:
    """Hash every cell, add the hashes up by row and keep the lowest different ones of each column with their counts."""
    d, b = bits.shape
    first, odd, other, last = keys[0], keys[1], keys[2], keys[3]
    for i in range(b):
        lines[i] = _ZERO
    for j in range(d):
        column, limit, label = bits[j], tiny[j], labels[j]
        if coarse:
            for i in range(b):
                x = _stirred(_coarse(column[i], limit) ^ first, odd, other)
                mixed[i] = x
                lines[i] += x * label
        else:
            for i in range(b):
                x = _stirred(_canonical(column[i]) ^ first, odd, other)
                mixed[i] = x
                lines[i] += x
        filled[j] = _count(mixed, lowest[j], counts[j], filled[j])
    for i in range(b):
        lines[i] = _stirred(lines[i] ^ last, odd, other)


@compiled
def hash_pairs(
    bits: np.ndarray,
    keys: np.ndarray,
    tiny: np.ndarray,
    pairs: np.ndarray,
    few: np.ndarray,
    lowest: np.ndarray,
    counts: np.ndarray,
    filled: np.ndarray,
    mixed: np.ndarray,
) -> None:
    """Hash pairs of rounded cells and keep the lowest different hashes of each pair with their counts."""
    first, odd, other = keys[0], keys[1], keys[2]
    for p in range(len(pairs)):
        one, two = pairs[p]
        if not (few[one] and few[two]):
            continue
        left, right, tiny_left, tiny_right = bits[one], bits[two], tiny[one], tiny[two]
        for i in range(bits.shape[1]):
            x = _stirred(_coarse(left[i], tiny_left) ^ first, odd, other) * odd
            x += _stirred(_coarse(right[i], tiny_right) ^ first, odd, other)
            mixed[i] = _stirred((x >> _TWO) ^ first, odd, other)
        filled[p] = _count(mixed, lowest[p], counts[p], filled[p])
