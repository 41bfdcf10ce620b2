"""The central measurement: the second moment of the rows, alone or jointly with the mean.

Rows are clipped inside, to the public row bound R, and scaled to the unit ball, u = y / R. Then

    alone:    S = (1/n) sum u u'                    (d x d)
    joint:    M = (1/n) sum z z',  z = (u, s)       ((d+1) x (d+1)),  s^2 = 1/2
    classes:  M = (1/n) sum z z',  z = (u, s e_c)   ((d+k) x (d+k)),  e_c the one-hot label among k public classes

The extra entries s are called anchors. In the joint form M holds S, the mean (M_12 = s * mean) and the constant s^2.
With classes it holds S, the sum of each class over n (column j of M_12 is s times it) and its fraction of the rows
(M_22 = s^2 diag(counts / n)). The rest of M_22 is zero in every data set, so it needs no noise, and the counts add up
to the public n. Neighbours differ in one replaced row, its label included, and n is public (other relations below).

Sensitivities (unit ball; x and y are the replaced rows, G is the difference of two neighbours, times n):
  l2, alone   sqrt(2)          ||G||_F^2 = |x|^4 + |y|^4 - 2<x,y>^2 <= 2, attained by orthogonal unit rows;
                               d = 1: 1. Upper triangle in the l2 norm: also sqrt(2), attained by two axes.
  l2, joint   sqrt(2)(1+s^2)   ||G||_F^2 <= 2(1+s^2)^2 - 2(<x,y>+s^2)^2, attained at <x,y> = -s^2 (d >= 2).
                               (d = 1: 2 would do for s^2 = 1/2; the same bound is kept.)
                               Free groups: the sums of squares over groups of columns, weighted, cost nothing
                               beside it, see free_groups.py.
  l2 of the upper triangle, joint (mean entries counted once): |x|^4 + |y|^4 - 2c^2 + s^2 |x - y|^2 with c = <x,y>
                               grows with the norms and is 2 + 2s^2 - 2c^2 - 2s^2 c on the sphere, at most
                               2 + 2s^2 + s^4/2 (c = -s^2/2), attained by x = (cos t, sin t), y = (sin t, cos t) with
                               sin 2t = c, because xx' - yy' is diagonal then; d = 1: `_on_a_line`, 4 s^2 for
                               s^2 = 1/2, attained by 1 and -1.
  l1 of the upper triangle     alone sqrt(d^2/2 + d + 1), attained for even d (d = 1: 1); joint and classes: see
                               triangle_l1.py.

Classes, replace-one. Two rows of one class differ as in the joint form. Two rows of different classes have <z,w> =
<x,y>, and G has the entries s x and -s y in two columns and s^2, -s^2 on the diagonal of the corner:
  l2        (|x|^2 + s^2)^2 + (|y|^2 + s^2)^2 - 2<x,y>^2 <= 2(1+s^2)^2, attained by orthogonal rows: the joint bound.
            (d = 1: 2 would do here too.)
  triangle  |x|^4 + |y|^4 - 2<x,y>^2 + s^2 (|x|^2 + |y|^2) + 2 s^4 <= 2 + 2s^2 + 2s^4, attained by two axes;
            d = 1: (a-b)^2 + s^2 (a+b) + 2 s^4 in a = x^2, b = y^2 is convex, largest at (1,0): 1 + s^2 + 2 s^4.
  l1        alone + 2 s sqrt(d) + 2 s^2, see triangle_l1.py.
  nuclear   sqrt((a+b+2s^2)^2 - 4<x,y>^2) <= 2(1+s^2); d = 1: at s^2 = 1/2 sqrt(8s^2 + 4s^4), less than the
            4s of two rows of one class.
The joint bounds hold for every s^2 <= 1; those for classes are used, and stated for d = 1, at s^2 = 1/2.

Add-remove (n not public): the sum of zz' is measured, always jointly, its corner s^2 n included; dividing by the noisy
count is post-processing. l2 1 + s^2; l2 of the triangle sqrt(1 + s^2 + s^4), since sum_{i<=j} x_i^2 x_j^2 <= |x|^4 with
equality on an axis; l1 of the triangle (|z|_1^2 + |z|^2)/2 with |z|_1 <= sqrt(d) + s. Free groups gain nothing: with
the trace the squared length of xx' would be 2, not 1, so isotropic noise is drawn in their place. With classes one row
touches one anchor only, so nothing changes; the trace of the corner is the count.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import RELATIONS, BudgetShare, Event
from privcov.measurements.clipping import blocks, clip_rows
from privcov.measurements.labels import CLASSES, class_index, class_list, count_anchors
from privcov.measurements.noise import FREE_GROUPS, NoiseDistribution
from privcov.measurements.noise_theory.anchor import ANCHOR_SQUARED, BOTH, anchor_squared, with_anchor
from privcov.measurements.noise_theory.free_groups import in_unit_ball
from privcov.measurements.triangle_l1 import l1_change
from privcov.tables.dataset import Dataset
from privcov.tables.public_facts import Flags

if TYPE_CHECKING:
    from privcov.measurements.norm_histogram import RowBoundSearch

CENTRES = ("none", "zero", "joint")
ALL_CENTRES = (*CENTRES, CLASSES)
STATISTICS = {
    0: ("second moment", "second moment"),
    1: ("mean and second moment, jointly", "sum of mean and second moment and the count, jointly"),
    2: ("class counts, class means and second moment, jointly", "class sums, class counts and second moment, jointly"),
}
ASKED_SHAPES = ("upper-triangle", "isotropic", "free-trace", "laplace", "wishart-difference")  # that may be asked for


@dataclass(frozen=True, eq=False)
class NoisyMoment:
    """A noisy moment matrix in unit-ball units, with what is public about it.

    matrix: unbiased for the moment of the clipped rows; where n is not public, the unbiased sum divided by ``count``.
    It is p x p, p = d for the centres "none" and "zero", d + 1 for "joint" and d + k for "classes". event: None without
    noise.

    n: number of rows; None when it is not public. row_bound: R > 0. count: noisy number of rows, where n is not public
    and for private rows with classes; else None. anchor_squared: s^2 of the anchors, see anchor.py. flags: where the
    flags of missing cells are in ``matrix``, which then has p = facts.width and the anchors; None without flags.
    bound_search: how ``row_bound`` was found before; None where it was declared.
    """

    matrix: np.ndarray
    distribution: NoiseDistribution
    event: Event | None
    centre: str
    n: int | None
    row_bound: float
    count: float | None = None
    anchor_squared: float = ANCHOR_SQUARED
    flags: Flags | None = None
    bound_search: RowBoundSearch | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """What was done to the rows, in order."""
        steps = (None if self.bound_search is None else self.bound_search.event, self.event)
        return tuple(event for event in steps if event is not None)

    @property
    def n_rows(self) -> float:
        """Number of rows that the matrix was divided by, public or noisy."""
        rows = self.n if self.count is None else self.count
        assert rows is not None, "one of the two is there"
        return rows

    @property
    def max_trace(self) -> float:
        """The largest trace and eigenvalue that the matrix can have without noise: 1, or 1 + s^2 with anchors."""
        return 1 + self.anchor_squared if self.distribution.n_anchors else 1.0

    @property
    def class_counts(self) -> np.ndarray | None:
        """Noisy number of rows of each class, >= 0 and adding up to ``rows``; None without classes."""
        if self.centre != CLASSES:
            return None
        counts = np.maximum(np.diag(self.matrix)[self.distribution.dimension :], 0.0)
        return self.n_rows * (counts / counts.sum() if counts.any() else np.full(len(counts), 1 / len(counts)))


def sensitivity(
    d: int, n: int, *, norm: str, n_anchors: int, relation: str = "replace-one", anchor_squared: float = ANCHOR_SQUARED
) -> float:
    """Return the largest change of the moment (add-remove: of the sum) between neighbours, unit-ball units, rounded up.

    Own proofs: the docstring of this module, triangle_l1.py for the l1 norm, wishart.py for the nuclear norm. Su et al.
    2019, Eq. (3.2), has sqrt(2) / n for the second moment alone.
    """
    checks.one_of("norm", norm, ("l2", "triangle", "l1", "nuclear"))
    checks.one_of("relation", relation, tuple(RELATIONS))
    s2, root = anchor_squared, math.sqrt
    if relation == "add-remove":
        whole = {"l2": 1 + s2, "triangle": root(1 + s2 + s2**2), "l1": ((root(d) + root(s2)) ** 2 + 1 + s2) / 2}
        whole["nuclear"] = 1 + s2
        return rounded_up(whole[norm], d, 1)
    alone = {"l2": root(2) if d > 1 else 1.0, "l1": _l1(d, 0, s2), "nuclear": 2.0 if d > 1 else 1.0}
    alone["triangle"] = alone["l2"]
    both = {
        "l2": root(2) * (1 + s2),
        "triangle": root(2 + 2 * s2 + s2**2 / 2) if d > 1 else _on_a_line(s2),
        "l1": _l1(d, n_anchors, s2),
        "nuclear": 2 * (1 + s2) if d > 1 else _on_a_line(4 * s2),
    }
    if n_anchors > 1:
        both["triangle"] = root(2 + 2 * s2 + 2 * s2**2) if d > 1 else root(max(4 * s2, 1 + s2 + 2 * s2**2))
    return rounded_up((both if n_anchors else alone)[norm], d, n)


def _on_a_line(q: float) -> float:
    """Return the largest (1 + r) sqrt((1 - r)^2 + q) of 0 <= r <= 1: how far apart the rows 1 and -r of one column are.

    q = s^2 for the l2 norm of the triangle, 4 s^2 for the nuclear norm. The square has the derivative
    (1 + r) (2 q - 4 r (1 - r)): for q >= 1/2 it grows up to r = 1, else it has a peak before that.
    """
    if q >= 0.5:
        return 2 * math.sqrt(q)
    peak = (1 - math.sqrt(1 - 2 * q)) / 2
    return max(2 * math.sqrt(q), (1 + peak) * math.sqrt((1 - peak) ** 2 + q))


def _l1(d: int, n_anchors: int, s2: float) -> float:
    """Return `l1_change` in unit-ball units, computed in steps finer than a float's last digit."""
    unit = 2**60
    anchor = math.isqrt(int(s2 * unit**2)) + 1
    return (l1_change(d, unit, anchor, n_anchors) + 1) / unit**2


def rounded_up(base: float, d: int, n: int) -> float:
    """Return base / n, enlarged by more than the rounding errors of ``base`` and of norms of d numbers."""
    return base / n * (1 + (d + 16) * 2**-52)


def clipped_moment(dataset: Dataset, *, n_anchors: int, anchor_squared: float = ANCHOR_SQUARED) -> np.ndarray:
    """Return the moment of the clipped rows in unit-ball units, kept with the data set, without noise: NOT private."""
    key = ("moment", dataset.row_bound)
    second, mean = dataset.cache.once(key, lambda: _moments(dataset))
    if not n_anchors:
        return second.copy()
    d, s = dataset.d, math.sqrt(anchor_squared)
    sums, shares = (mean[:, None], np.ones(1)) if n_anchors == 1 else _class_sums(dataset)
    whole = np.empty((d + n_anchors, d + n_anchors))
    whole[:d, :d] = second
    whole[:d, d:] = s * sums
    whole[d:, :d] = whole[:d, d:].T
    whole[d:, d:] = np.diag(anchor_squared * shares)
    return whole


def _moments(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return (second moment, mean) of the clipped rows in unit-ball units; rows within the bound are not copied."""
    d, bound = dataset.d, dataset.row_bound
    gram, total = np.zeros((d, d)), np.zeros(d)
    for block in blocks(dataset):
        rows = dataset.rows[block] if dataset.bounds is None else dataset.to_working(block)
        rows = clip_rows(rows, bound, copy=False)
        gram += rows.T @ rows
        total += rows.sum(axis=0)
    return (gram + gram.T) / 2 / bound / bound / dataset.n, total / bound / dataset.n


def _class_sums(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return each class's sum of clipped rows over n (d x k) and its fraction of the rows (k). NOT private."""
    key = ("class sums", dataset.row_bound)
    return dataset.cache.once(key, lambda: _by_class(dataset))


def _by_class(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    index, k = class_index(dataset), len(class_list(dataset))
    sums = np.zeros((dataset.d, k))
    for block in blocks(dataset):
        u = clip_rows(dataset.to_working(block), dataset.row_bound) / dataset.row_bound
        sums += u.T @ np.eye(k)[index[block]]
    return sums / dataset.n, np.bincount(index, minlength=k) / dataset.n


def measure_moment(
    dataset: Dataset,
    share: BudgetShare,
    *,
    centre: str,
    shape: str,
    rng: np.random.Generator,
    name: str = "matrix",
    relation: str = "replace-one",
    anchor_for: str = BOTH,
) -> NoisyMoment:
    """Clip the rows, compute their moment and add noise.

    Guarantee: the share, under the named neighbouring relation. Spends: the whole share. Source: own proofs: the
    docstrings of this module and of free_groups.py for Gaussian and Laplace noise, wishart.py for the Wishart
    difference.
    """
    checks.one_of("shape", shape, ASKED_SHAPES)  # an unknown shape would be calibrated as Gaussian
    unknown = relation == "add-remove"
    n_anchors = count_anchors(dataset, centre) or int(unknown)
    norm = {"laplace": "l1", "upper-triangle": "triangle", "wishart-difference": "nuclear"}.get(shape, "l2")
    pure = shape in ("laplace", "wishart-difference")
    s2 = anchor_squared(anchor_for, dataset.d, n_anchors, relation)
    delta = sensitivity(dataset.d, dataset.n, norm=norm, n_anchors=n_anchors, relation=relation, anchor_squared=s2)
    groups: tuple[tuple[int, ...], tuple[float, ...]] = ((), ())
    if shape == "free-trace" and (dataset.d + n_anchors == 1 or relation != "replace-one"):
        shape = "isotropic"  # no free groups: see the docstring of the module
    elif shape == "free-trace":
        shape, groups = FREE_GROUPS, in_unit_ball(dataset, s2 if n_anchors else 0.0)
    calibrate = accounting.laplace_scale if pure else accounting.gaussian_scale
    scale = calibrate(share, delta)
    distribution = NoiseDistribution(
        shape, scale, dataset.d, n_anchors, corner=unknown, groups=groups[0], weights=groups[1]
    )
    event = None
    if scale > 0:
        event = Event(
            share=name,
            statistic=with_anchor(STATISTICS[min(n_anchors, 2)][unknown], s2),
            mechanism=shape if pure else "gaussian",
            norm={
                "l1": "l1 norm of the upper triangle",
                "triangle": "l2 norm of the upper triangle",
                "l2": "Frobenius norm",
                "nuclear": "nuclear norm",
            }[norm],
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/" + ("wishart.py" if norm == "nuclear" else "moment.py"),
            law=shape,
        )
    exact, noise = clipped_moment(dataset, n_anchors=n_anchors, anchor_squared=s2), distribution.draw(rng)
    if not unknown:
        return NoisyMoment(exact + noise, distribution, event, centre, dataset.n, dataset.row_bound, anchor_squared=s2)
    total = dataset.n * exact + noise
    count = max(np.trace(total[dataset.d :, dataset.d :]) / ANCHOR_SQUARED, 1.0)
    matrix, distribution = total / count, dataclasses.replace(distribution, scale=scale / count, corner=False)
    if n_anchors == 1:
        matrix[-1, -1] = ANCHOR_SQUARED  # what the division gives, unless the count was raised to 1
    if centre in ("none", "zero"):  # the mean was measured for the count only, so its row is not kept
        matrix, distribution = matrix[:-1, :-1], dataclasses.replace(distribution, n_anchors=0)
    return NoisyMoment(matrix, distribution, event, centre, None, dataset.row_bound, count)
