"""Scores of several items: the release with a score in place of its items, and Cronbach's alpha.

**Score.** The mean of k items in their own units is w'x / k in working units, w_j the half-range of item j, or less
that where it is reversed. Along u = w / |w| the noise has the law that it has along a column: u and the axes of the
other columns are orthonormal, isotropic noise is the same along any such axes, and of the differences x_a on the
diagonal (forms.py) the score has sum_a u_a^4 x_a. Laplace noise along u has this variance; its tails are between
Laplace and normal, and Laplace tails are used. So every answer holds for the columns with the score. A score of columns
of two values lies between two ends as a shortened column does, and has its bounds.

**Alpha** of items with the covariance Y, in their own units, is the a with <A(a), C> = 0 for

    A(a) = (1 - a (k - 1) / k) w w' - diag(w^2),    as    a = k / (k - 1) (1 - tr Y / 1'Y 1).

The interval is all a with <A, C>^2 <= z^2 [N(A) + 2 tr(A C A C) / n]: a quadratic inequality, as A is linear in a
(Fieller 1954). The second term is the sampling variance for Gaussian rows; for items of two values none is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from privcov.inference.unbiased import NO_END, NO_VARIANCE, Intervals, UnbiasedMoments, within
from privcov.postprocess.two_values import TwoValues


def with_score(known: UnbiasedMoments, name: str, items: Sequence[int], signs: np.ndarray) -> UnbiasedMoments:
    """Return what is known of the other columns, in their order, and last of the score, as derived above."""
    at, rest = list(items), [j for j in range(known.d) if j not in items]
    w = signs * known.scale[at] / len(at)
    size = float(np.linalg.norm(w))
    turn = np.zeros((len(rest) + 1, known.d))
    turn[np.arange(len(rest)), rest] = 1.0
    turn[-1, at] = w / size
    law = dataclasses.replace(known.law, extra=turn**4 @ known.law.extra)
    return dataclasses.replace(
        known,
        columns=(*(known.columns[j] for j in rest), name),
        mean=None if known.mean is None else turn @ known.mean,
        covariance=turn @ known.covariance @ turn.T,
        law=law,
        scale=np.append(known.scale[rest], size),
        origin=np.append(known.origin[rest], float(np.mean(signs * known.origin[at]))),
        two=None if known.two is None else _two(known.two, rest, at, turn[-1, at]),
        turn=turn if known.turn is None else turn @ known.turn,
    )


def _two(two: TwoValues, rest: list[int], at: list[int], u: np.ndarray) -> TwoValues:
    """Return which columns have two values, and the ends of a score of such columns."""
    some = two.span[at] > 0
    if some.any() and not some.all():
        raise ValueError("items has columns of two values and others, and no interval is known of such a score.")
    ends = np.stack([u * two.low[at], u * (two.low[at] + two.span[at])])
    low, span = float(ends.min(axis=0).sum()), float(np.abs(ends[1] - ends[0]).sum())
    kept = {}
    for name, block in zip(two.names, two.blocks, strict=True):
        if left := tuple(rest.index(j) for j in block if j in rest):
            kept[name] = left
    if span:
        kept[""] = (len(rest),)
    whole, exact = (np.append(np.broadcast_to(x, len(two.span))[rest], False) for x in (two.whole, two.exact))
    ends_of = np.append(two.low[rest], low), np.append(two.span[rest], span)
    return TwoValues(*ends_of, tuple(kept.values()), whole, tuple(kept), exact)


def alpha(known: UnbiasedMoments, items: Sequence[int], signs: np.ndarray, level: float) -> Intervals:
    """Return Cronbach's alpha of some items (Cronbach 1951), with its interval as derived in the module's docstring."""
    at, k = np.array(items), len(items)
    law, m, c = known.law.of(at), known.centre[at], known.covariance[np.ix_(at, at)]
    w = signs * known.scale[at] / float(np.linalg.norm(known.scale[at]))
    whole, each = np.outer(w, w), np.diag(w * w)

    def form(a: float) -> np.ndarray:
        return (1 - a * (k - 1) / k) * whole - each

    def error(a: float) -> tuple[float, float]:
        turned = form(a) @ c
        return law.cleared_variance(form(a), m, c), 2 * max(float(np.sum(turned * turned.T)), 0.0) / known.rows

    total = float(np.sum(whole * c))
    if not total > 0:
        none = np.array([np.nan])
        return Intervals(none, none, none, np.array([NO_VARIANCE]))
    seen = k / (k - 1) * (1 - float(np.sum(each * c)) / total)
    noise, own = error(seen)
    z = float(known.z(level, np.array(noise), np.array(own), law.excess(1.0, 1.0)))
    line = float(np.sum(form(0.0) * c)), float(np.sum((form(1.0) - form(0.0)) * c))
    low, high, ended = within(line, [sum(error(a)) for a in (-1.0, 0.0, 1.0)], z)
    estimate, low, high = (np.array([x]) for x in (seen if ended else np.nan, low, min(high, 1.0)))
    one = Intervals(estimate, low, high, np.array([0 if ended else NO_END]))
    return one.refusing(np.array([bool((known.span[at] > 0).any())]))
