"""The one measurement everything else is made from: the second moment, alone or jointly with the mean.

Rows are clipped inside, to the public row bound R, and scaled to the unit ball, u = y / R. Then

    alone:  S = (1/n) sum u u'                      (d x d)
    joint:  M = (1/n) sum z z',  z = (u, s)         ((d+1) x (d+1)),  s^2 = 1/2

M holds S, the mean (M_12 = s * mean) and the constant s^2. Neighbours: replace one row, n public.

Sensitivities (unit ball; G = the difference of two neighbours, times n):
  l2, alone   sqrt(2)          ||G||_F^2 = |x|^4 + |y|^4 - 2<x,y>^2 <= 2, attained by orthogonal unit rows;
                               d = 1: 1. Upper triangle in the l2 norm: also sqrt(2), attained by two axes.
  l2, joint   sqrt(2)(1+s^2)   ||G||_F^2 <= 2(1+s^2)^2 - 2(<x,y>+s^2)^2, attained at <x,y> = -s^2 (d >= 2).
                               (d = 1: 2 would do for s^2 = 1/2; the same bound is kept.)
                               With the free trace (a - b)^2 is added, a = |x|^2, b = |y|^2. Without the term
                               -2(<x,y>+s^2)^2 the sum is (a+s^2)^2 + (b+s^2)^2 + (a-b)^2, convex in (a, b)
                               and still largest at (1,1), because at (1,0) it is 2 + 2s^2 + 2s^4.
  l2 of the upper triangle, joint (mean entries counted once): |x|^4 + |y|^4 - 2c^2 + s^2 |x - y|^2 with c = <x,y>
                               grows with the norms and is 2 + 2s^2 - 2c^2 - 2s^2 c on the sphere, at most
                               2 + 2s^2 + s^4/2 (c = -s^2/2; a bound, since the triangle of xx' - yy' may be shorter
                               than its Frobenius norm); d = 1: at most 4 s^2 (at -1) and 1 + s^2 (at 0).
  l1 of the upper triangle, alone   d/sqrt(2) + 1  (d = 1: 1): half of (||G||_1 + ||diag G||_1), with
                               ||G||_1 <= d ||G||_F and ||diag G||_1 <= the nuclear norm, 2.
  l1, joint   + 2 s sqrt(d)    the mean part adds s |x - y|_1 <= 2 s sqrt(d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov import accounting, checks
from privcov.dataset import Dataset
from privcov.measurements.clipping import blocks, clip_rows
from privcov.measurements.noise import NoiseLaw
from privcov.privacy import Event

ANCHOR_SQUARED = 0.5
CENTRES = ("none", "zero", "joint")


@dataclass(frozen=True, eq=False)
class Measured:
    """A noisy moment matrix in unit-ball units, and everything public about it.

    matrix: d x d (centre "none" or "zero") or (d+1) x (d+1) ("joint"); unbiased for the clipped moment.
    event:  None when no noise was asked for (a non-private reference).
    """

    matrix: np.ndarray
    law: NoiseLaw
    event: Event | None
    centre: str
    n: int
    row_bound: float


def sensitivity(d: int, n: int, *, norm: str, joint: bool) -> float:
    """Largest change under replace-one, unit ball, rounded up.

    norm: "l2" (Frobenius), "triangle" (l2 of the upper triangle) or "l1" (of the upper triangle).
    """
    checks.one_of("norm", norm, ("l2", "triangle", "l1"))
    if norm == "l2":
        base = math.sqrt(2) * (1 + ANCHOR_SQUARED) if joint else (math.sqrt(2) if d > 1 else 1.0)
    elif norm == "triangle":
        s2 = ANCHOR_SQUARED
        base = math.sqrt(2 + 2 * s2 + s2**2 / 2) if joint else (math.sqrt(2) if d > 1 else 1.0)
    else:
        edge = 2 * math.sqrt(ANCHOR_SQUARED * d) if joint else 0.0
        base = (d / math.sqrt(2) + 1 if d > 1 else 1.0) + edge
    return rounded_up(base, d, n)


def rounded_up(base: float, d: int, n: int) -> float:
    """base / n, and more than the rounding of ``base`` itself and of norms of d numbers can hide."""
    return base / n * (1 + (d + 16) * 2**-52)


def clipped_moment(dataset: Dataset, *, joint: bool) -> np.ndarray:
    """The exact moment of the clipped rows in unit-ball units: NOT private. Kept with the data set."""
    key = ("moment", dataset.row_bound)
    if key not in dataset.memo:
        d = dataset.d
        gram, total = np.zeros((d, d)), np.zeros(d)
        for block in blocks(dataset):
            u = clip_rows(dataset.to_working(block), dataset.row_bound) / dataset.row_bound
            gram += u.T @ u
            total += u.sum(axis=0)
        dataset.memo[key] = ((gram + gram.T) / (2 * dataset.n), total / dataset.n)
    second, mean = dataset.memo[key]
    if not joint:
        return second.copy()
    d, s = dataset.d, math.sqrt(ANCHOR_SQUARED)
    whole = np.empty((d + 1, d + 1))
    whole[:d, :d] = second
    whole[:d, d] = whole[d, :d] = s * mean
    whole[d, d] = ANCHOR_SQUARED
    return whole


def measure_moment(
    dataset: Dataset,
    share,
    *,
    centre: str,
    shape: str,
    rng: np.random.Generator,
    name: str = "matrix",
) -> Measured:
    """Clip, compute, add noise. Guarantee: the share, under replace-one with public n.

    share: ApproxDP, ZCDP or GaussianDP for the Gaussian shapes; PureDP, ApproxDP (its delta stays unused) or
           ZCDP for shape "laplace"; NoPrivacy for no noise. Anything else is a TypeError.
    """
    joint = checks.one_of("centre", centre, CENTRES) == "joint"
    norm = {"laplace": "l1", "upper-triangle": "triangle"}.get(shape, "l2")
    delta = sensitivity(dataset.d, dataset.n, norm=norm, joint=joint)
    if dataset.d == 1 and shape == "free-trace":
        shape = "isotropic"  # one number has no trace to set free
    calibrate = accounting.laplace_scale if shape == "laplace" else accounting.gaussian_scale
    scale = calibrate(share, delta)
    law = NoiseLaw(shape, scale, dataset.d, joint)
    event = None
    if scale > 0:
        event = Event(
            share=name,
            statistic="mean and second moment, jointly" if joint else "second moment",
            mechanism="laplace" if shape == "laplace" else "gaussian",
            norm={
                "l1": "l1 norm of the upper triangle",
                "triangle": "l2 norm of the upper triangle",
                "l2": "Frobenius norm",
            }[norm],
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/moment.py",
        )
    matrix = clipped_moment(dataset, joint=joint) + law.draw(rng)
    return Measured(matrix, law, event, centre, dataset.n, dataset.row_bound)
