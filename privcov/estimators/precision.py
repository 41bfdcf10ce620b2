"""What the precision methods that read one noisy moment matrix share. Unit-ball units throughout."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.lambda_choice import FISSION_GAIN
from privcov.postprocess.moments import unpack
from privcov.postprocess.threshold import sampling_noise


def target(matrix: np.ndarray, centre: str, k: int = 1) -> np.ndarray:
    """Return what is inverted: the covariance about the measured or publicly zero mean(s), else the second moment."""
    return unpack(matrix, centre=centre, row_bound=1.0, n_anchors=k).target


def fission_halves(noisy_moment: NoisyMoment, rng: np.random.Generator) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Return a sampler of (T1, T2) = target(M + g Z), target(M - Z / g), each with g Y or -Y / g on top.

    Z is a draw of the privacy noise, whose distribution is known exactly; Y has the covariance of the sampling error of
    Gaussian rows with the released covariance.
    """
    sampling = sampling_noise(
        target(noisy_moment.matrix, noisy_moment.centre, noisy_moment.distribution.n_anchors), noisy_moment.n_rows
    )
    # Streams of their own, so that without noise the splits are the same whatever shape the noise would have had.
    first, second = rng.spawn(2)

    def halves() -> tuple[np.ndarray, np.ndarray]:
        noise, more = noisy_moment.distribution.draw(first), sampling(second)
        centre, k = noisy_moment.centre, noisy_moment.distribution.n_anchors
        one, other = (
            target(noisy_moment.matrix + f * noise, centre, k) + f * more for f in (FISSION_GAIN, -1 / FISSION_GAIN)
        )
        return one, other

    return halves
