"""The two inner loops of a pass over a table, compiled; cells lie column by column. Needs numba.

`whole_cells` is `integer_gram.whole_rows` after `to_working`, for the rows that it finds short: the same operations in
the same order, one cell at a time. Its test of the length is exact although it is made in float64. Squares of whole
numbers are not negative and rounding is monotone, so once a partial sum is above 2^40 it stays there; and while it is
not, every partial sum is a whole number up to 2^40, which float64 holds. A row that is too long, or too large for
floating point, shows a sum above 2^40 (or infinite), and is left to `whole_rows`.

Public rows are judged by their own length, before they are rounded: rounding makes half of the rows that lie on the
bound longer, and none of them was shortened in memory.

`hash_cells` is `sketch.Mixer` and the search for the lowest hashes of each column.
"""

from __future__ import annotations

import numpy as np

from privcov.compiled import compiled


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
    """Fills ``whole`` (d x b), the float64 sum of squares of every row, and which rows have a missing cell.

    squares: of the whole numbers; for public rows of the numbers that are rounded to them.

    factor: UNIT / row_bound. nearest: rounds, for public rows; private rows are cut towards zero.
    holes: missing or infinite cells by column, added to what is there.
    """
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


@compiled
def hash_cells(
    bits: np.ndarray,
    keys: np.ndarray,
    not_a_number: np.uint64,
    lowest: np.ndarray,
    counts: np.ndarray,
    filled: np.ndarray,
    mixed: np.ndarray,
    lines: np.ndarray,
) -> None:
    """Hashes every cell, adds them up by row and keeps the lowest different ones of each column with their counts.

    bits: d x b uint64, the cells as they lie in memory. lowest, counts: d x 16, ascending up to filled[j]. mixed: work
    space for b numbers. lines: b sums, set here.
    """
    d, b = bits.shape
    most = lowest.shape[1]
    first, odd, other, last = keys[0], keys[1], keys[2], keys[3]
    sign, zero = np.uint64(1 << 63), np.uint64(0)
    exponent, far, near = np.uint64(0x7FF0000000000000), np.uint64(32), np.uint64(29)
    for i in range(b):
        lines[i] = zero
    for j in range(d):
        column = bits[j]
        for i in range(b):
            x = column[i]
            x = zero if x == sign else x  # one zero
            x = not_a_number if (x & ~sign) > exponent else x  # one NaN
            x = (x ^ first) * odd
            x = (x ^ (x >> far)) * other
            x = (x ^ (x >> near)) * odd
            x = x ^ (x >> far)
            mixed[i] = x
            lines[i] += x
        n = filled[j]
        for i in range(b):
            x = mixed[i]
            if n == most and x > lowest[j, most - 1]:
                continue
            at = 0
            while at < n and lowest[j, at] < x:
                at += 1
            if at < n and lowest[j, at] == x:
                counts[j, at] += 1
                continue
            n = min(n + 1, most)
            for k in range(n - 1, at, -1):
                lowest[j, k], counts[j, k] = lowest[j, k - 1], counts[j, k - 1]
            lowest[j, at], counts[j, at] = x, 1
        filled[j] = n
    for i in range(b):
        x = (lines[i] ^ last) * odd
        x = (x ^ (x >> far)) * other
        x = (x ^ (x >> near)) * odd
        lines[i] = x ^ (x >> far)
