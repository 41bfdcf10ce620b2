"""The error of a released covariance, estimated from the release alone.

With Y = S + E, the noisy covariance before repairs of the (shortened) rows' S, and F the method's answer,

    E |F(Y) - S|^2 = E |F(Y) - Y|^2 - E |E|^2 + 2 E <E, F(Y)>.

The last term is that of Stein's lemma; it is taken from differences of F along drawn noise Z, as for a smooth F and
Gaussian noise (Ramani, Blu and Unser 2008): E <E, F(Y)> = E <Z, F(Y + h Z) - F(Y - h Z)> / (2 h) up to h^2.
Post-processing: it spends nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from privcov.core.randomness import stream
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.matrices import MeasuredMoment, unbiased

_STEP = 0.3
_PROBES, _FEW, _LARGE = 8, 2, 30  # few probes from so many columns on, because their average is over many entries
_GAUSSIAN = ("isotropic", "free-groups", "free-trace", "upper-triangle")
_TOLD = 0.1  # the largest deviation of the squared error, as a part of the squared norm
_SURE = 2.0  # deviations that are added to the squared error and taken from the squared norm


def matrix_error(
    noisy_moment: NoisyMoment, noisy: MeasuredMoment, covariance: Callable[[NoisyMoment], np.ndarray]
) -> float | None:
    """Return how large the relative Frobenius error of ``covariance(noisy_moment)`` is at most, in working units.

    At most: two standard deviations are added to the estimated square and taken from the squared norm. None where the
    noise is too strong to tell, and where missing cells are measured. The error is to the covariance of the rows as
    they were clipped and shortened; zeros have an error of 1. A method that cuts entries is not smooth: its error would
    be told too small.
    """
    if noisy_moment.flags is not None or (noisy.d == 2 and noisy_moment.distribution.shape not in _GAUSSIAN):
        return None  # Stein's lemma is that of Gaussian noise, and two columns average over too little other noise
    scale = np.outer(noisy.scale, noisy.scale)
    _, raw, variance = unbiased(noisy)
    square = float(np.sum(raw**2) - np.sum(variance))
    deviation = math.sqrt(2 * np.sum(variance**2))
    # Noise along the signal makes the norm look larger, and makes it more likely that the error is told.
    least = square - _SURE * math.sqrt(deviation**2 + 4 * float(np.sum(variance * raw**2)))
    if deviation > _TOLD * square or least < square / 2:
        return None

    def at(noise: np.ndarray) -> np.ndarray:
        return covariance(dataclasses.replace(noisy_moment, matrix=noisy_moment.matrix + noise)) / scale

    steps = []
    for k in range(_PROBES if noisy.d < _LARGE else _FEW):
        noise_draw = noisy_moment.distribution.draw(stream(0, "noise", k, "matrix error"))
        apart = unbiased(dataclasses.replace(noisy, matrix=noisy.matrix + noise_draw))[1] - raw
        steps.append(float(np.sum(apart * (at(_STEP * noise_draw) - at(-_STEP * noise_draw)))) / (2 * _STEP))
    apart = at(np.zeros_like(noisy_moment.matrix)) - raw
    error = float(np.sum(apart**2) - np.sum(variance)) + 2 * sum(steps) / len(steps)
    return math.sqrt((max(error, 0.0) + _SURE * deviation) / least)
