"""Orthonormal directions of large variance, one exponential mechanism after another (Amin et al. 2019).

Direction i is drawn on the unit sphere of the complement of the earlier ones with density proportional to
exp(epsilon_i u'S_i u / (2 Delta)), S_i the moment compressed to that complement: the exponential mechanism with score
u'Su (McSherry and Talwar 2007), epsilon_i-DP and (epsilon_i^2/8)-zCDP. The earlier directions are already public. The
last one spans what they leave: its sign apart, which no product u u' has, it is a function of them and costs nothing.

Score sensitivity Delta (replace one row, n public): |u'Gu| / n with G = zz' - ww' has eigenvalues between -|w|^2 and
|z|^2, so Delta = 1/n alone and (1 + s^2)/n with the anchor s of a joint mean; both attained by orthogonal z, w along u.
The paper and its public code have epsilon_i/4 in place of epsilon_i/2, which is the noise of half the epsilon.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import Event, NoPrivacy, PureDP
from privcov.measurements.eigenvalues import top
from privcov.measurements.moment import clipped_moment, rounded_up
from privcov.tables.dataset import Dataset

_BATCH = 8  # proposals drawn at a time; the first accepted one counts


def score_sensitivity(d: int, n: int, *, joint: bool) -> float:
    """Return the largest change of u'Su over unit vectors u between neighbours, in unit-ball units, rounded up."""
    return rounded_up(top(joint), d, n)


def measure_directions(
    dataset: Dataset, shares: list, *, centre: str, rng: np.random.Generator, waste: float = 1.0
) -> tuple[np.ndarray, tuple[Event, ...]]:
    """Draw orthonormal directions of large variance, one exponential mechanism after another.

    Guarantee: each draw its share, replace-one. With one share fewer than directions, the last is what the others
    leave. Spends: every share whole with waste 1; with waste 2 half the epsilon of each, as the events say. Source:
    Amin et al. 2019; McSherry and Talwar 2007. The paper and its public code write epsilon_i/4, see the docstring of
    the module.
    """
    joint = centre == "joint"
    exact = clipped_moment(dataset, n_anchors=joint)
    values, basis = np.linalg.eigh(exact)
    if isinstance(shares[0], NoPrivacy):
        return basis[:, ::-1], ()
    delta = score_sensitivity(dataset.d, dataset.n, joint=joint)
    epsilons = {share: accounting.pure_epsilon(share, exponential=True) for share in set(shares)}  # of one draw
    scale_of = {share: accounting.laplace_scale(PureDP(e), delta) * waste for share, e in epsilons.items()}
    scales = [scale_of[share] for share in shares]
    columns = np.empty_like(basis)
    for i, scale in enumerate(scales):
        v = sample_bingham((values[-1] - values) / (2 * scale), rng)
        columns[:, i] = basis @ v
        if i + 1 < len(scales):
            values, basis = deflate(values, basis, v)
    if len(scales) < len(columns):  # from the others alone, its sign too
        columns[:, -1] = np.linalg.qr(columns[:, :-1], mode="complete")[0][:, -1]
    # One correction of the rounding of up to q products: orthonormal to the last digit, and post-processing.
    columns, triangle = np.linalg.qr(columns)
    columns *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
    statistic = "mean and second moment, jointly" if joint else "the second moment"
    events = tuple(
        Event(
            share="vectors",
            statistic=f"one direction of {statistic}, given the earlier ones",
            mechanism="exponential",
            norm="score u'Su",
            sensitivity=delta,
            scale=scale,
            proof="privcov/measurements/exponential_vectors.py",
        )
        for scale in scales
    )
    return columns, events


def deflate(values: np.ndarray, basis: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues and eigenvectors of the compression to the complement of ``basis @ v``.

    In the eigenbasis the matrix is diagonal; the Householder reflection that takes v to an axis leaves a diagonal plus
    rank two, whose other rows and columns are the compression. One eigendecomposition and one product per step.
    """
    w = v.copy()
    w[0] += math.copysign(1.0, v[0])
    beta = 2 / (w @ w)
    lw = values * w
    half = np.outer(w[1:], beta**2 * (w @ lw) / 2 * w[1:] - beta * lw[1:])
    inner = half + half.T
    inner[np.diag_indices(len(inner))] += values[1:]
    rest = basis[:, 1:] - np.outer(beta * (basis @ w), w[1:])
    values, turn = np.linalg.eigh(inner)
    return values, rest @ turn


# --- the draw of one direction ------------------------------------------------------------------------------
#
# Exact draws from the Bingham distribution on the sphere, density proportional to exp(-sum_j a_j v_j^2).
#
# Rejection from the angular central Gaussian envelope of Kent, Ganeiber and Mardia (2018). The loop ends when a
# proposal is accepted and never before: cut short, or run on a finite set of candidates, it would not be private.


def envelope(a: np.ndarray) -> float:
    """Return the best envelope, b in [1, q] with sum_j 1 / (b + 2 a_j) = 1 (Kent, Ganeiber and Mardia 2018)."""
    b, twice = 1.0, 2 * a
    for _ in range(100):  # Newton from the left: the sum is convex and falls, so b never overshoots
        terms = 1 / (b + twice)
        step = (terms.sum() - 1) / (terms @ terms)
        b += step
        if step <= 1e-9 * b:
            break
    return min(max(b, 1.0), float(len(a)))


def sample_bingham(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one unit vector, density proportional to exp(-sum_j a_j v_j^2), exactly (Kent, Ganeiber and Mardia 2018).

    With t = v'Av and the proposal's density proportional to (1 + 2t/b)^(-q/2), target over proposal is
    e^-t (1 + 2t/b)^(q/2), largest at t = (q - b)/2; any b > 0 gives exact draws, the best one wastes least.
    """
    q = len(a)
    if q == 1:
        return np.array([1.0 if rng.random() < 0.5 else -1.0])
    a = a - a.min()
    b = envelope(a)
    spread = 1 / np.sqrt(1 + 2 * a / b)
    peak = (b - q) / 2 + q / 2 * math.log(q / b)
    while True:
        z = rng.standard_normal((_BATCH, q)) * spread
        length2 = np.einsum("ij,ij->i", z, z)
        t = (z * z) @ a / length2
        log_ratio = q / 2 * np.log1p(2 * t / b) - t - peak
        accepted = np.flatnonzero(-rng.standard_exponential(_BATCH) < log_ratio)
        if len(accepted):
            first = accepted[0]
            return z[first] / math.sqrt(length2[first])
