"""All columns alike, as where they share one influence or compete for one sum: every covariance is the mean of all."""

from __future__ import annotations

import numpy as np

from privcov.postprocess.denoise import BlockNoise
from privcov.postprocess.structure.member import Member, part

KIND = "one level"


def on_one_level(rest: np.ndarray) -> np.ndarray:
    """Return the matrix with the mean of the off-diagonal entries in each of them."""
    d = len(rest)
    flat = np.full((d, d), rest.sum() / (d * (d - 1)))
    np.fill_diagonal(flat, 0.0)
    return flat


def level(rest: np.ndarray, noise: BlockNoise) -> list[Member]:
    """Return the one level, as far as it leaves the noise.

    Reference: the target of constant covariance of Ledoit and Wolf (2004), with the factor of James and Stein (1961).
    """
    return [part(KIND, on_one_level(rest), 1, noise)]
