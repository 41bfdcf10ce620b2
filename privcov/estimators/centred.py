"""The covariance block of a noisy moment, and the size of its noise: what `auto-cov` shrinks.

A mean (or the mean of a class) is measured beside the second moment, with noise of variance tau^2 = s_o^2 / s^2 per
coordinate, s_o that of an off-diagonal entry and s the anchor; a class with the fraction p of the rows has tau / p. The
covariance is the second moment less p m m' for every mean. A noisy square has the noise (m + e)(m + e)' - m m', of
    E |.|^2 = 2 tau^2 (d + 1) |m|^2 + tau^4 d (d + 1)
about its mean tau^2 I, so a mean that is not visible is better left out. Along the eigenvectors P of the noisy second
moment that leave its noise the mean is kept, and tau^2 P P' is added. The rest is shortened by the factor of James and
Stein (1961), with the d - r dimensions that remain; with q that factor, the formula above holds with r + q^2 (d - r)
for d. What shortening leaves of a mean in the covariance, at most (1 - q^2) |v|^2 for the rest v, would look like a
signal; its square is added to what is taken for noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.measurements.labels import CLASSES
from privcov.measurements.moment import Measured
from privcov.postprocess.denoise import BlockNoise, denoise
from privcov.postprocess.joint import Moments


@dataclass(frozen=True, eq=False)
class Centred:
    """A noisy covariance in unit-ball units, with its means.

    Attributes
    ----------
    covariance : ndarray of shape (d, d)
        Symmetric; with classes pooled within them; the second moment where no mean was measured.
    noise : BlockNoise
        Size of its noise.
    means : ndarray of shape (k, d)
        The mean, or those of the classes, shortened; k = 0 where none was measured.
    shares : ndarray of shape (k,)
        Fraction of the rows of each, at least 0, adding up to 1.
    """

    covariance: np.ndarray
    noise: BlockNoise
    means: np.ndarray
    shares: np.ndarray


def centred(measured: Measured) -> Centred:
    """Return the noisy covariance of a measurement.

    Parameters
    ----------
    measured : Measured
        The noisy moment.

    Returns
    -------
    Centred
        In unit-ball units.

    Spends
    ------
    Nothing: it uses only a noisy matrix.
    """
    law, matrix = measured.distribution, measured.matrix
    d, std = law.dimension, law.off_diagonal_std
    gaussian = law.shape in ("upper-triangle", "isotropic", "free-trace", "free-groups")
    own, trace = law.diagonal_stds**2, law.form_variance(np.diag(np.append(np.ones(d), np.zeros(law.n_anchors))))
    block, rest = matrix[:d, :d], d * (d - 1) * std**2
    plain = BlockNoise(rest, own, trace, std, gaussian)
    if not law.n_anchors:
        return Centred(block, plain, np.zeros((0, d)), np.zeros(0))
    means, shares, taus = _means(measured)
    values, vectors = np.linalg.eigh(block)
    kept = vectors[:, values > plain.edge(d)] if std > 0 else vectors
    covariance, left = block.copy(), 0.0
    for j, (mean, share, tau) in enumerate(zip(means, shares, taus, strict=True)):
        along, flat = kept, kept.shape[1]
        sure = along @ (along.T @ mean)
        if tau > 0 and sure @ sure <= 2 * flat * tau**2:  # a rare class, whose mean is noise along them too
            along, flat, sure = vectors[:, :0], 0, np.zeros(d)
        other = mean - sure
        square = float(other @ other)
        shorter = max(1 - max(d - flat - 2, 0) * tau**2 / square, 0.0) if square > 0 else 0.0
        means[j] = found = sure + shorter * other
        covariance -= share * (np.outer(found, found) - tau**2 * (along @ along.T))
        # What follows is noise of the subtracted square, spread over the entries as that of an isotropic matrix.
        size, free = max(float(mean @ mean) - d * tau**2, 0.0), flat + shorter**2 * (d - flat)
        per_entry = share**2 * tau**2 * (2 * size * (free + 1) + tau**2 * free * (free + 1)) / (d * (d + 1))
        rest += d * (d - 1) * per_entry
        own = own + 2 * per_entry
        trace += share**2 * tau**2 * (4 * size + 2 * tau**2 * free)
        left += share**2 * ((1 - shorter**2) * square) ** 2
    std = math.sqrt((rest + float(own.sum())) / (d * (d + 1)))
    rest, own = rest + left * (d - 1) / d, own + left / d**2
    return Centred(covariance, BlockNoise(rest, own, trace + left, std, gaussian), means, shares)


def _means(measured: Measured) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (means (k, d), shares (k), standard deviation of the noise on a coordinate of each mean (k)).

    Every mean is shortened to the unit ball. Classes whose noisy count is not positive have share zero, the overall
    mean and no noise: they take no part.
    """
    law, d = measured.distribution, measured.distribution.dimension
    counts = np.diag(measured.matrix)[d:]
    known = counts > 1e-12
    total = max(float(counts[known].sum()), 1e-12)
    counts = np.where(known, counts, total)
    means = math.sqrt(total) * measured.matrix[:d, d:].T / counts[:, None]
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1.0)
    shares = np.where(known, counts / total, 0.0) if known.any() else np.full(len(counts), 1 / len(counts))
    taus = np.where(known, law.off_diagonal_std * math.sqrt(total) / counts, 0.0)
    means[~known] = shares @ np.where(known[:, None], means, 0.0)
    return means, shares, taus


def shrunk_moments(measured: Measured) -> Moments:
    """Return the moments of a measurement with the covariance block shrunk for the known noise.

    Parameters
    ----------
    measured : Measured
        The noisy moment.

    Returns
    -------
    Moments
        In working units.

    Spends
    ------
    Nothing: it uses only a noisy matrix.
    """
    found, bound = centred(measured), measured.row_bound
    square = bound * bound  # not **: a release is verified bit for bit, and pow is not fixed by IEEE 754
    covariance = square * denoise(found.covariance, found.noise)
    if not len(found.shares):
        return Moments(covariance, None, covariance if measured.centre == "zero" else None)
    means = bound * found.means
    between = (means.T * found.shares) @ means
    second = covariance + (between + between.T) / 2
    if measured.centre != CLASSES:
        return Moments(second, means[0], covariance)
    return Moments(second, found.shares @ means, covariance, means, found.shares)
