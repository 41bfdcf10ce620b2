"""Columns in an order that means something: a covariance depends on how far apart two columns are, and fades.

Every off-diagonal entry becomes the mean of its diagonal, up to a lag, and zero beyond. There is one estimate for each
of the lags 1, 2, 4, ..., so that a mixture of them falls with the lag. It is right for times of measurement, ages or
places along a line, and for no others: the order of the columns is all that it knows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from privcov.postprocess.denoise import BlockNoise
from privcov.postprocess.structure.member import Member, part

KIND = "band"


def bands(rest: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Yield the means of the diagonals up to the lags 1, 2, 4, ..., and the number of diagonals."""
    at = np.arange(len(rest))
    lag = np.abs(at[:, None] - at)
    means = np.bincount(lag.ravel(), rest.ravel()) / np.bincount(lag.ravel())
    last = 1
    while last < len(rest):
        yield np.where((lag > 0) & (lag <= last), means[lag], 0.0), last
        last *= 2


def band(rest: np.ndarray, noise: BlockNoise) -> list[Member]:
    """Return the means of the diagonals up to each lag, as far as they leave the noise.

    Reference: own combination of means along diagonals, cut at a lag as in Bickel and Levina (2008), and the factor of
    James and Stein (1961).
    """
    return [part(KIND, projection, k, noise) for projection, k in bands(rest)]
