"""Noise on a matrix that was computed from the moment of the rows, for maps whose Lipschitz constant is proved.

Rows are clipped to the public bound R and scaled to the unit ball; jointly with the mean, z = (u, s) is scaled by
1 / sqrt(1 + s^2), so that the p x p moment M is always that of vectors of norm at most 1. The caller gives a map f, a
proof that |f(M) - f(M')|_F <= L |M - M'|_F for all symmetric M, M', and a bound (``slack``) on how far the matrix it
computes may lie from f(M), for every M. Then what is computed changes by at most

    Delta_F = L Delta_F(M) + 2 slack,       nuclear norm and trace of either sign: at most sqrt(p) Delta_F,

with Delta_F(M) from moment.py. A slack that held only for some M would not do: a solver that may fail on one of two
neighbours, and then return something else, makes them distinguishable.

Gaussian noise, the same in every direction, is calibrated to Delta_F; the difference of two Wishart matrices (pure DP,
wishart.py) to the nuclear norm.

**One Wishart matrix, W_p(p + 1, C I), as printed in Wang et al. 2018.** Its density is proportional to e^(-tr W / 2C)
on the positive semi-definite cone. Let P and Q be the distributions of A + W and A' + W, G = A' - A = G+ - G-. On
B >= A, B >= A' both have densities, e^((tr A - tr B) / 2C) and the same with A', times one constant. Every B >= A + G+
lies there, because A + G+ = A' + G-. P gives {B >= A + G+} the mass e^(-tr G+ / 2C), Q the mass e^(-tr G- / 2C), and
their densities have a constant ratio, so the smaller of the two has mass at least e^(-max(tr G+, tr G-) / 2C) there.
The total variation is therefore at most 1 - e^(-r), r = max(tr G+, tr G-) / 2C <= sqrt(p) Delta_F / 2C:
(0, 1 - e^(-r))-DP, which is what `accounting` gives for a Wishart event with freedom 2. No finite epsilon helps much:
{not B >= A'} has positive probability under P and none under Q.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import BudgetShare, Event, NoPrivacy, PureDP
from privcov.measurements.moment import ANCHOR_SQUARED, CENTRES, clipped_moment, rounded_up, sensitivity
from privcov.measurements.noise import NoiseDistribution
from privcov.tables.dataset import Dataset

PROOF = "privcov/measurements/output_noise.py"


def unit_sensitivity(d: int, n: int, *, joint: bool) -> float:
    """Return the largest Frobenius change of the moment of vectors of norm at most 1, rounded up."""
    delta = sensitivity(d, n, norm="l2", n_anchors=joint)
    return rounded_up(delta / (1 + ANCHOR_SQUARED * joint), d, 1)


def unit_moment(dataset: Dataset, *, joint: bool) -> np.ndarray:
    """Return the exact moment of vectors of norm at most 1: NOT private."""
    return clipped_moment(dataset, n_anchors=joint) / (1 + ANCHOR_SQUARED * joint)


def measure_map(
    dataset: Dataset,
    share: BudgetShare,
    solve: Callable[[np.ndarray], np.ndarray],
    *,
    lipschitz: float,
    slack: float,
    centre: str,
    rng: np.random.Generator,
    wishart_scale: float | None = None,
) -> tuple[np.ndarray, NoiseDistribution, Event | None]:
    """Compute a map of the moment of the clipped rows and add noise to what it gives.

    Guarantee: the share, under replace-one, provided that ``lipschitz`` and ``slack`` are true. With
    ``wishart_scale`` not the share, but (0, 1 - e^(-r))-DP, r = sensitivity / scale of the event. Spends: the whole
    share; with ``wishart_scale`` what the event says. Source: own proof, in the docstring of the module. One Wishart
    matrix as in Wang et al. 2018.
    """
    joint = checks.one_of("centre", centre, CENTRES) == "joint"
    p = dataset.d + joint
    change = lipschitz * unit_sensitivity(dataset.d, dataset.n, joint=joint) + 2 * slack
    if wishart_scale is not None:
        shape, norm, delta = "wishart", "trace of the positive part of the change", math.sqrt(p) * change
    elif isinstance(share, PureDP):
        shape, norm, delta = "wishart-difference", "nuclear norm", math.sqrt(p) * change
    else:
        shape, norm, delta = "isotropic", "Frobenius norm", change
    delta = rounded_up(delta, p, 1)
    if isinstance(share, NoPrivacy):
        scale = 0.0
    elif wishart_scale is not None:
        scale = 2 * wishart_scale
    else:
        scale = (accounting.laplace_scale if isinstance(share, PureDP) else accounting.gaussian_scale)(share, delta)
    distribution = NoiseDistribution(shape, scale, p, freedom=2.0 if shape == "wishart" else 0.0)
    answer = solve(unit_moment(dataset, joint=joint)) + distribution.draw(rng) + distribution.removed_mean * np.eye(p)
    if not scale:
        return answer, distribution, None
    event = Event(
        share="matrix",
        statistic="graphical lasso of " + ("mean and second moment, jointly" if joint else "the second moment"),
        mechanism=shape if shape != "isotropic" else "gaussian",
        norm=norm,
        sensitivity=delta,
        scale=scale,
        proof=PROOF,
        law=shape if shape != "wishart" else f"m = {distribution.degrees_of_freedom:g}",
        unit="precision of rows scaled by 1/R",
        freedom=distribution.freedom,
    )
    return answer, distribution, event
