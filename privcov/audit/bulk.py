"""Many draws of one noise law at once, number by number those of `NoiseLaw.draw`, for tables of very few columns."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from privcov.measurements.noise import NoiseLaw


def draw_many(law: NoiseLaw, count: int, rng: np.random.Generator) -> np.ndarray:
    """count x d x d noise matrices; law without anchors. One draw equals ``law.draw`` on the same stream, and so do
    many, except for "wishart", whose normals and uniforms are drawn in two blocks."""
    if law.joint or law.corner:
        raise ValueError("draw_many is for laws without anchored rows; measure with centre='none'.")
    d = law.dimension
    if law.shape == "wishart":
        return law.scale * wishart(law, rng.standard_normal((count, d, d)), rng.random((count, d)))
    if law.shape == "wishart-difference":
        plus, minus = np.moveaxis(rng.standard_normal((count, 2, d, d + 1)), 1, 0)
        return law.scale * ((plus @ plus.swapaxes(1, 2) - minus @ minus.swapaxes(1, 2)) / 2)
    if law.shape in ("isotropic", "free-trace"):
        free = law.shape == "free-trace"
        numbers = rng.standard_normal((count, d * d + free))
        a = numbers[:, : d * d].reshape(count, d, d)
        block = (a + a.swapaxes(1, 2)) / 2
        if free:
            moved = numbers[:, -1] / np.sqrt(d * (d + 1)) - np.trace(block, axis1=1, axis2=2) / d
            block[:, np.arange(d), np.arange(d)] += moved[:, None]
        return law.scale * block
    a = (rng.laplace if law.shape == "laplace" else rng.standard_normal)(size=(count, d, d))
    upper = np.triu(a)
    return law.scale * (upper + np.triu(upper, 1).swapaxes(1, 2))


def wishart(law: NoiseLaw, normals: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Additive Wishart noise less its mean, at scale 1: the Bartlett factors of `NoiseLaw`, from given numbers."""
    d = law.dimension
    factor = np.tril(normals, -1)
    half = (law.degrees - np.arange(d)) / 2
    factor[:, np.arange(d), np.arange(d)] = np.sqrt(2 * gammaincinv(half, uniforms))
    return (factor @ factor.swapaxes(1, 2) - law.degrees * np.eye(d)) / 2
