"""The zero matrix: it reads no rows, so it is private for free, and every method has to do better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.estimators.base import (
    ALL_KINDS,
    METHODS,
    MeasurementRequest,
    Method,
    MethodInput,
    NothingMeasured,
    Outcome,
)
from privcov.postprocess.moments import Moments


@METHODS.add(
    key="zero",
    label="Zero matrix",
    target="covariance",
    family="Reference",
    guarantees=ALL_KINDS,
    standing="reference",
    order=90,
    summary="Always answers 0. Its relative error is 1: any method above is worse.",
    formula=r"\hat\Sigma = 0",
    avoid="As an answer, always; as a reference, never.",
    reference="The trivial estimator.",
)
@dataclass(frozen=True)
class Zero(Method):
    """The zero matrix.

    Guarantee
    ---------
    Perfect: nothing is measured.

    Spends
    ------
    Nothing: it reads no rows.
    """

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Raise NothingMeasured: there is nothing to measure."""
        raise NothingMeasured(f"{self.card.label} reads no rows, so there is nothing to release.")

    def run(self, inputs: MethodInput) -> Outcome:
        """Return zero moments."""
        zero = np.zeros((inputs.d, inputs.d))
        return Outcome(
            None, Moments(zero if inputs.centre != "joint" else None, None, zero if inputs.centre != "none" else None)
        )
