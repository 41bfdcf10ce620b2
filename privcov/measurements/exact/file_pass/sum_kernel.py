"""The inner loop of a pass over a table, compiled; cells lie column by column. Needs numba.

`whole_cells` is `integer_gram.integer_rows` after `to_working`, for the rows that it finds short: the same operations
in the same order, one cell at a time. Its test of the length is exact although it is made in float64. Squares of whole
numbers are not negative and rounding is monotone, so once a partial sum is above 2^40 it stays there; and while it is
not, every partial sum is a whole number up to 2^40, which float64 holds. A row that is too long, or too large for
floating point, shows a sum above 2^40 (or infinite), and is left to `integer_rows`.
"""

from __future__ import annotations

import numpy as np

from privcov.core.extras import compiled


@compiled
def whole_cells(
    cells: np.ndarray,
    factor: float,
    bounded: bool,
    low: np.ndarray,
    high: np.ndarray,
    origin: np.ndarray,
    scale: np.ndarray,
    whole: np.ndarray,
    squares: np.ndarray,
    hole: np.ndarray,
) -> None:
    """Fill ``whole``, the sum of squares of every row, and which rows have a missing cell."""
    d, b = cells.shape
    for i in range(b):
        squares[i] = 0.0
        hole[i] = 0
    for j in range(d):
        column, out = cells[j], whole[j]
        lowest, highest, middle, size = low[j], high[j], origin[j], scale[j]
        for i in range(b):
            x = column[i]
            here = x - x == 0.0
            hole[i] |= not here
            if bounded:
                x = (min(max(x, lowest), highest) - middle) / size
            t = np.trunc(x * factor if here else 0.0)
            out[i] = t
            squares[i] += t * t
