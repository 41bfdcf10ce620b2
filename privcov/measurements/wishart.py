"""Wishart noise on the moment matrix: the difference of two (pure DP), and one alone (an (epsilon, delta) curve).

**Difference, S + A - B** with A, B independent W_p(p + 1, C I), p the size of the matrix; `measure_moment` draws it,
shape "wishart-difference". The density of A is proportional to e^(-tr A / 2C) on the positive semi-definite cone (the
determinant has power 0), so p(A + G) >= e^(-tr G / 2C) p(A) for G >= 0: adding G never leaves the cone. The density of
the noise is f(W) = integral p(A) p(A - W) dA. Shifting A by G gives f(W + G) >= e^(-tr G / 2C) f(W); writing A - W as
(A - W - G) + G gives f(W) >= e^(-tr G / 2C) f(W + G). A change of S is G+ - G-, its positive and its negative part, so
the loss is at most (tr G+ + tr G-) / 2C = ||G||_* / 2C: pure DP with epsilon = nuclear sensitivity / (2C), and
therefore epsilon^2 / 2 zCDP. In one dimension A - B is Laplace(2C).

Nuclear sensitivities (unit ball, times n). ||zz' - ww'||_* = sqrt((a + b)^2 - 4 <z,w>^2), a = |z|^2, b = |w|^2.
  alone     2, attained by orthogonal unit rows; d = 1: |x^2 - y^2| <= 1.
  joint     2 (1 + s^2), attained at <x,y> = -s^2; d = 1: 4 s, attained by 1 and -1.
  add-remove  1 + s^2, of the sum.

**One alone, S + W_p(m, C I).** Its curve is in wishart_curve.py; it depends on m and p through freedom = m - p + 1 and
on C through the ratio |z|^2 / (2 C n). The mean m C I is public and subtracted here, so the matrix is unbiased;
the published biased form is the matrix plus ``distribution.removed_mean`` times I. In joint centring the vectors z have
|z|^2 <= 1 + s^2 and C grows with it, so that a theorem for unit vectors says the same about z / sqrt(1 + s^2).

In joint centring the corner of the matrix is noisy too; it is then replaced by the public constant under the noise.
With classes its off-diagonal is set to the zeros under the noise, and its diagonal moved so that the counts add up
to n.
Reference: the difference is our own construction; Jiang, Xie and Zhang (2016) and Sheffet (2019) for one alone.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import ApproxDP, Event, Guarantee, NoPrivacy, PureDP
from privcov.core.wishart_curve import LARGEST_EPSILON, LARGEST_FREEDOM, wishart_freedom
from privcov.measurements.labels import count_anchors
from privcov.measurements.moment import ANCHOR_SQUARED, STATISTICS, NoisyMoment, clipped_moment, rounded_up
from privcov.measurements.noise import NoiseDistribution
from privcov.tables.dataset import Dataset

UNIT_RATIO = 0.5  # C = |z|^2 / n


def pure_noise_as_published(guarantee: Guarantee) -> dict:
    """Return W_d(d + 1, 3/(2 n epsilon) I), the pure-DP noise of Wang et al. 2018, for `measure_wishart`."""
    if isinstance(guarantee, NoPrivacy):
        return {"freedom": 0, "ratio": UNIT_RATIO}
    assert isinstance(guarantee, PureDP)
    return {"freedom": 2, "ratio": guarantee.epsilon / 3}


def approx_noise_as_published(guarantee: Guarantee) -> dict:
    """Return W_d(m, I/n), m = d + 14 ln(4/delta) / epsilon^2 rounded up, of Wang et al. 2018, for `measure_wishart`."""
    if isinstance(guarantee, NoPrivacy):
        return {"freedom": 0, "ratio": UNIT_RATIO}
    assert isinstance(guarantee, ApproxDP)
    more = 14 * math.log(4 / guarantee.delta) / guarantee.epsilon**2
    if more > LARGEST_FREEDOM:
        raise ValueError(
            f"The published noise would have {more:.3g} degrees of freedom, and what it really gives is known up to "
            f"{LARGEST_FREEDOM:,}. Use a larger epsilon."
        )
    return {"freedom": math.ceil(more) + 1, "ratio": UNIT_RATIO}


def approx_noise_sound(guarantee: Guarantee) -> dict:
    """Return the published C and the fewest degrees of freedom that keep the guarantee under replace-one."""
    if isinstance(guarantee, NoPrivacy):
        return {"freedom": 0, "ratio": UNIT_RATIO}
    assert isinstance(guarantee, ApproxDP)
    epsilon = min(guarantee.epsilon, LARGEST_EPSILON)
    return {"freedom": wishart_freedom(epsilon, guarantee.delta, UNIT_RATIO), "ratio": UNIT_RATIO}


def measure_wishart(
    dataset: Dataset, *, freedom: int, ratio: float, centre: str, rng: np.random.Generator
) -> NoisyMoment:
    """Clip the rows, compute their moment, add Wishart noise and subtract its mean.

    Guarantee: the (epsilon, delta) curve of the event, see wishart_curve.py; replace-one, n public. Spends: that whole
    curve: no share is given, freedom and ratio determine it. Source: Jiang, Xie and Zhang (2016) and Sheffet (2019);
    the curve is that of wishart_curve.py.
    """
    n_anchors = count_anchors(dataset, centre)
    checks.positive("ratio", ratio)
    d, n = dataset.d, dataset.n
    delta = rounded_up(1 + ANCHOR_SQUARED if n_anchors else 1.0, d, n)
    exact = clipped_moment(dataset, n_anchors=n_anchors)
    if not freedom:
        return NoisyMoment(
            exact, NoiseDistribution("wishart", 0.0, d, n_anchors, freedom=2), None, centre, n, dataset.row_bound
        )
    checks.in_range("freedom", freedom, 2, 1e9, "Wishart noise has a density only for m > d.")
    distribution = NoiseDistribution("wishart", delta / ratio, d, n_anchors, freedom=float(freedom))
    event = Event(
        share="matrix",
        statistic=STATISTICS[min(n_anchors, 2)][0],
        mechanism="wishart",
        norm="squared length of one vector, over n",
        sensitivity=delta,
        scale=distribution.scale,
        proof="privcov/core/wishart_curve.py",
        law=f"m = {distribution.degrees_of_freedom:g}",
        freedom=float(freedom),
    )
    return NoisyMoment(exact + distribution.draw(rng), distribution, event, centre, n, dataset.row_bound)
