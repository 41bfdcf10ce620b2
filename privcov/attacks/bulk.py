"""Many draws of one noise distribution at once, equal number by number to `NoiseDistribution.draw`, for few columns."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from privcov.measurements.noise import FREE_GROUPS, NoiseDistribution


def draw_many(distribution: NoiseDistribution, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw count x d x d noise matrices from a distribution without anchors.

    One draw equals ``distribution.draw`` on the same stream, and so do many, except for "wishart", whose normals and
    uniforms are drawn in two blocks.
    """
    if distribution.n_anchors or distribution.corner:
        raise ValueError("draw_many is for laws without anchored rows; measure with centre='none'.")
    d = distribution.dimension
    if distribution.shape == "wishart":
        return distribution.scale * wishart(distribution, rng.standard_normal((count, d, d)), rng.random((count, d)))
    if distribution.shape == "wishart-difference":
        plus, minus = np.moveaxis(rng.standard_normal((count, 2, d, d + 1)), 1, 0)
        return distribution.scale * ((plus @ plus.swapaxes(1, 2) - minus @ minus.swapaxes(1, 2)) / 2)
    if distribution.shape in ("isotropic", "free-trace", FREE_GROUPS):
        free = distribution.shape == "free-trace"
        numbers = rng.standard_normal((count, d * d + free))
        a = numbers[:, : d * d].reshape(count, d, d)
        block = (a + a.swapaxes(1, 2)) / 2
        if free:
            shift = numbers[:, -1] / np.sqrt(d * (d + 1)) - np.trace(block, axis1=1, axis2=2) / d
            block[:, np.arange(d), np.arange(d)] += shift[:, None]
        if distribution.shape == FREE_GROUPS:
            on = np.diagonal(block, axis1=1, axis2=2)
            block[:, np.arange(d), np.arange(d)] += on @ np.array([distribution.group_correction(e) for e in np.eye(d)])
        return distribution.scale * block
    a = (rng.laplace if distribution.shape == "laplace" else rng.standard_normal)(size=(count, d, d))
    upper = np.triu(a)
    return distribution.scale * (upper + np.triu(upper, 1).swapaxes(1, 2))


def wishart(distribution: NoiseDistribution, normals: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Return additive Wishart noise less its mean, at scale 1, from given numbers, as `NoiseDistribution` has it."""
    d = distribution.dimension
    factor = np.tril(normals, -1)
    half = (distribution.degrees_of_freedom - np.arange(d)) / 2
    factor[:, np.arange(d), np.arange(d)] = np.sqrt(2 * gammaincinv(half, uniforms))
    return (factor @ factor.swapaxes(1, 2) - distribution.degrees_of_freedom * np.eye(d)) / 2
