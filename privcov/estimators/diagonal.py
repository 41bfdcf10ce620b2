"""Only the variances, privately: the answer 'no two columns are related'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.estimators.base import ALL_KINDS, METHODS, MethodInput, OneMeasurement, Outcome
from privcov.measurements.diagonal import measure_diagonal
from privcov.measurements.moment import Measured
from privcov.postprocess.joint import Moments, unpack


@METHODS.add(
    key="diagonal",
    label="Diagonal only",
    target="covariance",
    family="Reference",
    guarantees=ALL_KINDS,
    standing="reference",
    order=91,
    summary="Releases noisy variances and sets every covariance to zero.",
    formula=r"\hat\Sigma = \mathrm{diag}(S + N)_+",
    avoid="When relations between columns are the question: it denies all of them.",
    reference="The trivial estimator for nearly uncorrelated columns.",
)
@dataclass(frozen=True)
class Diagonal(OneMeasurement):
    """Guarantee: as asked; Gaussian noise, or Laplace under PureDP, on the diagonal (and mean) only."""

    def measure(self, ask: MethodInput) -> Measured:
        """Noise on the diagonal (and mean) only."""
        return measure_diagonal(ask.dataset, ask.guarantee, centre=ask.centre, rng=ask.rng)

    def finish(self, ask: MethodInput, measured: Measured) -> Outcome:
        """No two columns are related."""
        found = unpack(measured.matrix, centre=ask.centre, row_bound=measured.row_bound)

        def keep(matrix: np.ndarray | None) -> np.ndarray | None:
            return None if matrix is None else np.diag(np.maximum(np.diag(matrix), 0.0))

        # With a mean, the off-diagonal of the second moment is mean_i mean_j, not zero; only the
        # covariance is diagonal by assumption.
        second = found.second_moment
        if ask.centre == "joint":
            covariance = keep(found.covariance)
            assert covariance is not None, "the mean was measured"
            assert found.mean is not None
            second = covariance + np.outer(found.mean, found.mean)
            return Outcome(measured, Moments(second, found.mean, covariance))
        return Outcome(measured, Moments(keep(second), None, keep(found.covariance)))
