"""A mixture of estimates of the off-diagonal entries, weighted by their unbiased risk.

The weights w >= 0 add up to one and minimise
    |sum_k w_k F_k - Y|^2 + 2 sum_k w_k (D_k + c_k),
the unbiased risk of the mixture for weights that are fixed (member.py), plus c_k = sqrt(2 v) |F_k - F_1|, the standard
deviation of the noise of <F_k - F_1, W>: a pattern must be better than F_1 by more than what noise may say of it. F_1
is the answer of denoise.py, between the estimates by parts and by eigenvalues, so that where no pattern shows nothing
is lost; c_k is 0 for zero, which has no noise. The problem is convex, so the mixture is continuous in Y, but where
denoise.py admits the eigenvalues. Its smallest value is optimistic, as it was minimised over w, and is not reported as
a risk.

The diagonal is that of denoise.py. The last step is the projection on covariances of rows in the unit ball, a convex
set that contains S, so the error only falls.

Measured on fresh seeds and settings by `make bench ARGS=structure`. Thresholds of single entries gained less than 1 %,
and cost half as much again where nothing shows; they are left out.

Reference: Leung and Barron (2006) and Dalalyan and Salmon (2012) for mixing estimates by unbiased risk; the penalty is
own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.postprocess.denoise import BlockNoise, before_projection, inside
from privcov.postprocess.structure import band, level, similar
from privcov.postprocess.structure.member import Member

PATTERNS = (level.level, band.band, similar.similar)
NOTHING, SHRUNK = "diagonal", "shrinkage"
_ROUNDS, _CLOSE = 10_000, 1e-12  # of the search for the weights, which ends when no exchange gains more


@dataclass(frozen=True, eq=False)
class Mixture:
    """A covariance, positive semi-definite with a trace of at most one, and the estimates that it combines.

    shares: the weight of every kind of estimate that has one, largest first, adding up to one.
    """

    matrix: np.ndarray
    shares: dict[str, float]

    def __str__(self) -> str:
        return ", ".join(f"{100 * share:.0f} % {kind}" for kind, share in self.shares.items() if share >= 0.005)


def mix(matrix: np.ndarray, noise: BlockNoise) -> Mixture:
    """Estimate the covariance under Gaussian noise whose off-diagonal entries follow a pattern."""
    rest = matrix - np.diag(np.diag(matrix))
    shrunk = before_projection(matrix, noise)
    diagonal = np.diag(shrunk.matrix)
    own = shrunk.matrix - np.diag(diagonal)
    members = [Member(NOTHING, np.zeros_like(rest), 0.0)]
    members.append(Member(SHRUNK, own, float(np.sum(own * rest)) - shrunk.rest))
    for pattern in PATTERNS:
        members += [member for member in pattern(rest, noise) if member.matrix.any()]
    stacked = np.array([member.matrix.ravel() for member in members])
    products = stacked @ stacked.T
    squares = np.diag(products)
    doubt = noise.std * np.sqrt(2 * np.maximum(squares - 2 * products[1] + squares[1], 0.0))
    doubt[0] = 0.0  # zeros have no noise
    towards = stacked @ rest.ravel() - np.array([member.with_noise for member in members]) - doubt
    weights = _weights(products, towards)
    mixed = (weights @ stacked).reshape(rest.shape)
    shares: dict[str, float] = {}
    for member, weight in zip(members, weights, strict=True):
        if weight > 0:
            shares[member.kind] = shares.get(member.kind, 0.0) + float(weight)
    ordered = dict(sorted(shares.items(), key=lambda item: -item[1]))
    return Mixture(inside(np.diag(diagonal) + (mixed + mixed.T) / 2), ordered)


def _weights(products: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return the w >= 0 with sum 1 that minimises w'Gw - 2 b'w, by exchanges from the largest slope to the smallest."""
    weights = np.zeros(len(towards))
    weights[np.argmin(np.diag(products) - 2 * towards)] = 1.0
    close = _CLOSE * max(float(np.abs(products).max()), float(np.abs(towards).max()))
    for _ in range(_ROUNDS):
        slopes = products @ weights - towards
        best = int(np.argmin(slopes))
        worst = int(np.argmax(np.where(weights > 0, slopes, -np.inf)))
        gain = slopes[worst] - slopes[best]
        if gain <= close:
            break
        bend = products[worst, worst] + products[best, best] - 2 * products[worst, best]
        step = min(gain / bend, weights[worst]) if bend > 0 else weights[worst]
        weights[best] += step
        weights[worst] = weights[worst] - step if step < weights[worst] else 0.0
    return weights
