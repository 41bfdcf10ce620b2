"""Linear discriminant analysis from a noisy moment with class sums: free post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_psd


@dataclass(frozen=True, eq=False)
class Discriminant:
    """A linear discriminant rule (Fisher 1936), in the data's units.

    A row x is of the class k with the largest score, slopes_k . x + constants_k. means: k x d. shares: fraction of the
    rows in each class. slopes: pooled covariance^-1 times each mean less their average, k x d. constants: log fraction
    of the class included (one below 1e-6 counts as 1e-6).
    """

    means: np.ndarray
    shares: np.ndarray
    slopes: np.ndarray
    constants: np.ndarray


def discriminant(
    matrix: np.ndarray, classes: int, row_bound: float, scale: np.ndarray, origin: np.ndarray, floor: float
) -> Discriminant:
    """Compute the linear discriminant rule, with the covariance within classes, from a noisy moment with class sums."""
    moments = unpack(clip_psd(matrix), centre="classes", row_bound=row_bound, n_anchors=classes)
    means, shares, covariance = moments.class_means, moments.class_shares, moments.covariance
    assert means is not None, "the centre is classes"
    assert shares is not None
    assert covariance is not None
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    pooled = clip_psd(covariance / np.outer(spread, spread), floor) * np.outer(spread, spread)
    inverse = np.linalg.inv(pooled)
    centre = shares @ means
    slopes = (means - centre) @ inverse / scale
    middle = (means + centre) / 2
    constants = np.log(np.maximum(shares, 1e-6)) - np.einsum("kd,kd->k", slopes * scale, middle) - slopes @ origin
    return Discriminant(origin + scale * means, shares, slopes, constants)
