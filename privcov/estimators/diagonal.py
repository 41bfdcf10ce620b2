"""The variances alone, privately: the answer in which no two columns are related."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.estimators.base import ALL_KINDS, METHODS, MethodInput, OneMeasurement, Outcome
from privcov.measurements.diagonal import measure_diagonal
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.moments import Moments, unpack


@METHODS.add(
    key="diagonal",
    label="Diagonal only",
    target="covariance",
    family="Reference",
    guarantees=ALL_KINDS,
    standing="reference",
    order=91,
    version=2,
    summary="Releases noisy variances and sets every covariance to zero.",
    formula=r"\hat\Sigma = \mathrm{diag}(S + N)_+",
    avoid="When relations between columns are the question: it denies all.",
    reference="The trivial estimator for nearly uncorrelated columns.",
)
@dataclass(frozen=True)
class Diagonal(OneMeasurement):
    """Noisy variances, with every covariance set to zero.

    Guarantee
    ---------
    As asked: Gaussian noise, or Laplace noise under pure DP, on the diagonal (and the mean) only.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure the diagonal (and the mean) with noise."""
        return measure_diagonal(inputs.dataset, inputs.guarantee, centre=inputs.centre, rng=inputs.rng)

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Return the moments of unrelated columns."""
        moments = unpack(noisy_moment.matrix, centre=inputs.centre, row_bound=noisy_moment.row_bound)

        def keep(matrix: np.ndarray | None) -> np.ndarray | None:
            return None if matrix is None else np.diag(np.maximum(np.diag(matrix), 0.0))

        # With a mean, the off-diagonal of the second moment is mean_i mean_j, not zero; only the
        # covariance is diagonal by assumption.
        second = moments.second_moment
        if inputs.centre == "joint":
            covariance = keep(moments.covariance)
            assert covariance is not None, "the mean was measured"
            assert moments.mean is not None
            second = covariance + np.outer(moments.mean, moments.mean)
            return Outcome(noisy_moment, Moments(second, moments.mean, covariance))
        return Outcome(noisy_moment, Moments(keep(second), None, keep(moments.covariance)))
