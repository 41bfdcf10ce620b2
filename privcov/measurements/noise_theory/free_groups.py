"""Which sums of squares are measured once more at no cost, beside the second moment: the proof, and the groups.

The columns of a row split into groups g, and public bounds c_g say that sum_{j in g} x_j^2 <= c_g^2. R^2 = sum c_g^2;
the row is z = (x, a), or (x, a e_class), A = a^2 (0 without anchors). x and y are the two rows of replace-one, alpha_g
and beta_g their sums of squares over g, G = zz' - ww'. Then, with kappa_g = (R^2 + 2 A) / c_g^2,

    F = ||G||_F^2 + sum_g kappa_g (alpha_g - beta_g)^2 <= 2 (R^2 + A)^2,

the bound of ||G||_F^2 alone. So, where the noise is calibrated to that bound, every group's sum of squares may be
measured once more, with variance sigma^2 / kappa_g, at no cost.

**Proof.** ||G||_F^2 = |z|^4 + |w|^4 - 2 <z,w>^2 is at most (sum alpha + A)^2 + (sum beta + A)^2. With the second term F
becomes a convex function of (alpha, beta) on the box of all 0 <= alpha_g, beta_g <= c_g^2, so it is largest where each
is an end of its range. There, with P = sum alpha, Q = sum beta, S = P + Q and delta the sum of c_g^2 over the groups in
which they differ, kappa_g c_g^4 = (R^2 + 2 A) c_g^2 and
    F <= P^2 + Q^2 + 2 A S + 2 A^2 + (R^2 + 2 A) delta,   delta <= min(S, 2 R^2 - S).
S <= R^2:  P^2 + Q^2 <= S^2, which leaves at most S^2 + (R^2 + 4 A) S + 2 A^2 <= 2 (R^2 + A)^2.
S >= R^2:  P^2 + Q^2 <= R^4 + (S - R^2)^2, as neither exceeds R^2. What is left is convex in S, and at both ends,
           S = R^2 and S = 2 R^2, it is 2 (R^2 + A)^2.
A row of another class changes the anchors only, and without the term -2 <z,w>^2 nothing depends on them. A row that
counts as zeros, anchor included, has less than one with x = 0. Several rows of one person, k of them or weighted ones:
the root of F is a norm of the pair (G, alpha - beta), so k rows have at most k times its bound.

**The weights are the best**: all groups full in one row and empty in the other give (R^2 + A)^2 + A^2 + (R^2 + 2 A) R^2
= 2 (R^2 + A)^2, less the term that was dropped, 2 A^2 (nothing without anchors, or for two classes).

**The groups.** Columns with bounds lie within one half-range of the typical value, c_j = 1, and R = sqrt(d) half-ranges
is the norm of a corner: every column is a group, with kappa = d (1 + 2 s^2). In whole numbers c_j becomes `max_entry`,
which `integer_gram.integer_rows` and `file_pass.table_sums` keep to. Under a smaller R the entries of a row compete,
and the diagonal alone would cost up to 3 times the bound: there, and without bounds, all columns are one group, c = R,
and the trace has kappa = 1 + 2 s^2. Two columns of which one is always zero and the other is within c may be one group:
a column and its flag of missing cells, whose weight `integer_gram.flag_value` is at most the column's bound.

**Categories and weights.** A column of weight c lies within c, and R^2 = sum c^2. A category is a block: of its
columns, zeros and ones times c, one at most is not zero, so its sum of squares is at most c^2. Each is a group of bound
c^2 and kappa = (R^2 + 2 A) / c^2, in whole numbers `integer_gram.block_squares`, with `keep_one_level`. The groups are
as many as the declared columns. The sum of squares of a category is the number of rows whose cell is listed, known that
much better; its levels share what this corrects.

The slack of the single group could measure E |u|^4 instead, with weight 2 s^2 beside kappa = 1. It is not done: the
slack vanishes with the anchor, and there is none with bounds.

Add-remove has no room: there xx' alone reaches the bound, and each sum would add to it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

from privcov.measurements.exact.integer_gram import UNIT, block_squares, max_entry
from privcov.tables.units import InUnits


@dataclass(frozen=True)
class Group:
    """Columns, by position, whose whole numbers have a sum of squares of at most ``square`` in every row."""

    columns: tuple[int, ...]
    square: int


def groups_of(facts: InUnits, flagged: tuple[int, ...] = ()) -> tuple[Group, ...]:
    """Return the groups of columns of a table, from public facts alone."""
    d = len(facts.units.scale)
    if not facts.units.fits_bounds:
        return (Group(tuple(range(d + len(flagged))), UNIT**2),)
    flag_value = {j: d + at for at, j in enumerate(flagged)}
    if facts.units.blocks:
        ends = list(itertools.accumulate(size for size, _ in facts.units.blocks))
        members = (tuple(range(*ends_of)) for ends_of in itertools.pairwise([0, *ends]))
        of_blocks = zip(members, block_squares(facts.units), strict=True)
        return tuple(Group((*js, *(flag_value[j] for j in js if j in flag_value)), square) for js, square in of_blocks)
    square = max_entry(facts.units) ** 2
    return tuple(Group((j, flag_value[j]) if j in flag_value else (j,), square) for j in range(d))


def weights_of(groups: tuple[Group, ...], anchor: int) -> tuple[Fraction, ...]:
    """Return kappa of every group, exact."""
    whole = sum(g.square for g in groups) + 2 * anchor**2
    return tuple(Fraction(whole, g.square) for g in groups)


def labels_of(groups: tuple[Group, ...]) -> tuple[int, ...]:
    """Return the number of the group of every column, as `NoiseDistribution.groups` has it."""
    place = {column: number for number, group in enumerate(groups) for column in group.columns}
    return tuple(place[column] for column in range(len(place)))


def in_unit_ball(facts: InUnits, anchor_squared: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return groups and weights as `NoiseDistribution` has them, for rows of floating-point numbers."""
    labels = labels_of(groups_of(facts))
    # c_g^2 in unrounded numbers: in the whole numbers of a group, a small one would be off by its last digit.
    squares = [c * c for _, c in facts.units.blocks] if facts.units.fits_bounds else []
    squares = squares or [1.0] * len(set(labels))
    return labels, tuple(sum(squares) * (1 + 2 * anchor_squared) / square for square in squares)


def noise_description(groups: tuple[Group, ...], kappas: tuple[Fraction, ...]) -> str:
    """Return what is drawn with which scale, in the words of an event."""
    alone = sorted({1 + k for g, k in zip(groups, kappas, strict=True) if len(g.columns) == 1})
    more = sorted({k for g, k in zip(groups, kappas, strict=True) if len(g.columns) > 1})
    words = [f"exact, off-diagonal scale / sqrt(2), diagonal scale / sqrt({float(k):.6g})" for k in alone]
    if more:
        whole = len(groups) == 1
        words += [] if words else ["exact, off-diagonal scale / sqrt(2)"]
        words += [f"{'the trace' if whole else 'sums of groups'} again, scale / sqrt({float(k):.6g})" for k in more]
    return ", ".join(words)
