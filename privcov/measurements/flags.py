"""Missing cells that are measured: a flag beside each column that can be missing; the proof, and the whole numbers.

A row is v = (y_j o_j for every column j, c u_j for every flagged column j), o_j = 1 where the cell is there, u_j = 1 -
o_j, and c = R / sqrt(d). In whole numbers y becomes k as in integer_gram.py, and c is f = isqrt(m^2 // d), so that
d f^2 <= m^2. A cell is there or missing, never both, so a row of h missing flagged cells has

    |v|^2 = |k|^2 + h f^2,   and   |k|^2 <= m^2 - h f^2   is enforced:

**|v| <= m**: the bound of a row without flags. h f^2 <= d f^2 <= m^2, so the bound of k is never negative. Where a row
is too long, its cells are shortened and its flags are not, so every flag is exactly 0 or f and the sums of flags are
numbers of rows times f or f^2: 1 - q_i - q_j + q_ij is the share of rows that have both cells, whatever was shortened.
(Shortening the flags too would shrink q and q_ij but not the 1.) The row bound of the cells that are there is R sqrt(1
- h / d), the part of R that belongs to as many columns. With bounds and R = sqrt(d) half-ranges no row is shortened.

Every bound that holds for rows of length at most m holds for v: the Frobenius and the nuclear norm, the trace measured
a second time, the coupled distribution; they do not depend on the number of coordinates. Two things differ.

**Structural zeros.** y_j o_j u_j = 0 in every row, so the entry of a column and its own flag is zero in every table. It
is published as zero, without noise; a change of two tables has no part there.

**l1 norm of the upper triangle.** A row has at most d numbers that are not zero, whatever the number of flags. With x,
y the two rows, V = sum_{i<=j} |x_i x_j - y_i y_j| <= (|x|_1^2 + |x|^2 + |y|_1^2 + |y|^2) / 2 <= (d + 1) m^2, because
|x|_1^2 <= d |x|^2. Attained where every column has a flag: x without a missing cell, y with no other, all entries m /
sqrt(d). With an anchor a the edges add a |x - y|_1 <= a (|x|_1 + |y|_1) <= 2 a sqrt(d) m, attained by the same rows;
two classes add 2 a^2. The bound of triangle_l1.py for as many coordinates holds too and is smaller for few flags: the
smaller of the two is taken. Add-remove: |z|_1 <= sqrt(d) m + a as without flags.

**Persons** of weight up to M (integer_gram.py, "Persons"): the weights are applied to the flags as well, which then are
smaller than f, and a row still has at most d numbers that are not zero. Every bound holds times M; the l1 bound is
rounded down after it is multiplied. Against no row at all the corner of an anchor changes by a^2 <= m^2, less than the
missing half of the rest.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.measurements.triangle_l1 import l1_change
from privcov.public_facts import PublicFacts


def flag_weight(d: int, square: int) -> int:
    """Return f, the whole number that a flag has where its cell is missing.

    Parameters
    ----------
    d : int
        Number of columns.
    square : int
        Square of the largest length of a row, m^2.

    Returns
    -------
    int
        isqrt(square // d): d of them fit into the square.
    """
    return math.isqrt(square // d)


def own_flags(facts: PublicFacts) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the entries, above the diagonal, where a column meets its own flag: always zero.

    Parameters
    ----------
    facts : PublicFacts
        Columns and flags.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Rows and columns of the entries; empty without flags.
    """
    return np.array(facts.flagged, dtype=np.int64), np.arange(facts.d, facts.width)


def flagged_l1(facts: PublicFacts, m: int, anchor: int, n_anchors: int) -> int:
    """Return an upper bound of the l1 change of the upper triangle when a row is replaced, flags included.

    Parameters
    ----------
    facts : PublicFacts
        Columns and flags.
    m : int
        Largest length of a row.
    anchor : int
        Length of the anchor, in the steps of m.
    n_anchors : int
        0 alone, 1 with the mean, else the number of classes.

    Returns
    -------
    int
        In squared steps; replace-one.

    Reference
    ---------
    Own proof, in the docstring of the module, and triangle_l1.py.
    """
    weight = facts.most_weight
    wide = l1_change(facts.width, m, anchor, n_anchors, weight)
    if not facts.flagged:
        return wide
    edges = math.isqrt(4 * facts.d * anchor**2 * m**2 * weight**2) if n_anchors else 0
    corner = 2 * weight * anchor**2 if n_anchors > 1 else 0
    return min(wide, weight * (facts.d + 1) * m**2 + edges + corner)
