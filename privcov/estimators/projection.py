"""The projection mechanism: one Gaussian measurement, projected on the matrices that a bounded data set can have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core.guarantees import RELATIONS, ApproxDP, ZCDP
from privcov.core.parameters import parameter
from privcov.estimators.base import METHODS, MethodInput, Outcome, moments_of
from privcov.estimators.mechanisms import Mechanism, MechanismMethod
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment
from privcov.postprocess.spectrum import project_trace


@METHODS.add(
    key="projection",
    label="Projection mechanism",
    target="covariance",
    family="Spectral",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=42,
    version=2,
    summary="Adds Gaussian noise, then takes the nearest positive semi-definite matrix of bounded trace.",
    formula=r"\hat\Sigma=\arg\min_{\Sigma\succeq0,\ \mathrm{tr}\,\Sigma\le t}\|\Sigma-(S+N)\|_F",
    avoid="When the spectrum is flat and d moderate: auto-cov removes more noise.",
    reference="Nikolov, Talwar and Zhang (2016); for covariances Dong et al. 2022, Appendix E.",
    differs="The bound on the trace may come from the measurement itself, whose trace is accurate at no cost.",
)
@dataclass(frozen=True)
class Projection(MechanismMethod):
    """Gaussian noise, then the nearest positive semi-definite matrix with bounded trace.

    Guarantee
    ---------
    As asked; one measurement, whose proof is in measurements/moment.py. The projection is post-processing.

    Spends
    ------
    The whole guarantee, in one measurement.

    Notes
    -----
    Under replace-one the trace is measured once more at no cost, so it is as accurate as a single entry.
    """

    trace: str = parameter(
        "released",
        "Bound on the trace",
        choices=("released", "bound"),
        help="Free: the noisy trace, or the public bound R^2.",
    )

    mechanism = Mechanism("free-trace")

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Return the moments of the nearest positive semi-definite matrix whose trace is not too large."""
        largest = noisy_moment.max_trace  # rows of the unit ball: no trace is larger
        trace = float(np.trace(noisy_moment.matrix)) if self.trace == "released" else largest
        trace = float(np.clip(trace, 0.0, largest))
        moments = moments_of(noisy_moment, project_trace(noisy_moment.matrix, trace))
        bound = f"Projected on trace at most {trace:.4g} R^2"
        notes = (bound + (", the public anchor of the mean included." if noisy_moment.distribution.n_anchors else "."),)
        return Outcome(noisy_moment, moments, notes=notes, count=noisy_moment.count)
