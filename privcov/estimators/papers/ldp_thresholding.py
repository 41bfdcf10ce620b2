"""Thresholding in the local model of Wang, Xu & He 2019 and Mathematics 2023.

Every user sends a noisy report; the server averages the reports and sets small entries to zero. The post-processing is
that of thresholding.py, on the averaged noise. There is no trusted curator, so the noise is sqrt(n) times as large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privcov.core.guarantees import ApproxDP, ZCDP
from privcov.estimators.base import METHODS, MeasurementRequest, Method, MethodInput
from privcov.estimators.thresholding import SOUND, Thresholding, WithEta, WithGamma
from privcov.measurements.local_moment import measure_reports, report_sensitivity
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment

PRINTED = (
    "sigma = sqrt(2 ln(1.25/delta)) R^2/epsilon per user, which misses a factor sqrt(2); the threshold "
    "uses the noise of one user although the average has 1/sqrt(n) of it, so it removes nearly everything"
)
LOCAL = {
    "target": "covariance",
    "family": "Local",
    "guarantees": (ApproxDP, ZCDP),
    "standing": "proved",
    "trust": "local",
    "centres": ALL_CENTRES,
}
AVOID = (
    "When a trusted curator exists: the noise is sqrt(n) times that of the central method, so it needs about n times "
    "as many users for the same error."
)


class Local(Thresholding):
    """Base of the local methods, which measure user by user; it comes before the class with the constant."""

    variance_factor: ClassVar[float] = 2.0

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Raise NotOneMeasurementError: the users add the noise, so there is no central measurement."""
        return Method.request(self, inputs)

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure the average of the users' reports, each under the whole guarantee."""
        request = super().request(inputs)
        return measure_reports(inputs.dataset, request.share, centre=inputs.centre, shape=request.shape, rng=inputs.rng)

    def printed_std(self, inputs: MethodInput) -> float:
        """Return the standard deviation of one user's report as printed, in unit-ball units.

        Both papers put this into the threshold, not the standard deviation of the average.
        """
        assert isinstance(inputs.guarantee, ApproxDP)
        epsilon, delta = inputs.guarantee.epsilon, inputs.guarantee.delta
        return math.sqrt(self.variance_factor * math.log(1.25 / delta)) / epsilon

    def true_sensitivity(self, inputs: MethodInput) -> float:
        """Return the sensitivity of one user's report, whatever the paper used: l2 of the upper triangle, unit ball."""
        return report_sensitivity(inputs.d, shape="upper-triangle", n_anchors=inputs.n_anchors)


@METHODS.add(
    key="ldp-thresholding",
    label="LDP thresholding",
    **LOCAL,
    order=42,
    calibrations={
        "sound": SOUND,
        "as-published": f"as Mathematics 2023 prints the local algorithm, with gamma: {PRINTED}",
    },
    summary="Every user adds noise on their device; the server averages the reports and sets small off-diagonal "
    "entries to zero.",
    formula=r"\hat\Sigma=\Big(T_\tau\big(\tfrac1n\sum_k (x_kx_k^\top+R_k)\big)\Big)_+",
    avoid=AVOID,
    reference="Wang and Xu (2019), the local extension of Wang, Xu & He 2019, as restated in Mathematics 2023, "
    "Algorithm 2.",
    differs="Sensitivity sqrt(2), exact calibration, a less noisy shape; the threshold follows the noise of the "
    "average; the diagonal is never cut, only shrunk.",
)
@dataclass(frozen=True)
class LdpThresholding(Local, WithGamma):
    """Local thresholding with the constant gamma.

    Guarantee
    ---------
    As asked, local, for the whole row of every user; the proof is in measurements/local_moment.py.

    Spends
    ------
    The whole guarantee of every user, in one report.
    """


@METHODS.add(
    key="modified-ldp-thresholding",
    label="Modified LDP thresholding",
    **LOCAL,
    order=43,
    calibrations={"sound": SOUND, "as-published": f"Mathematics 2023, Algorithm 2: {PRINTED}"},
    summary="LDP thresholding with a constant for columns with few moments.",
    formula=r"\tau=\xi\sqrt{\tfrac{\log d}{n}}+4\sigma\sqrt{\tfrac{\log d}{n}},\quad"
    r"\xi=\tfrac{4\sqrt2}{3}\,\eta\,K^{2/(4+\varepsilon_m)}M",
    avoid=AVOID,
    reference="Mathematics 2023, 11(17), 3670, Algorithm 2.",
    differs="Sensitivity sqrt(2), exact calibration, a less noisy shape; the threshold follows the noise of the "
    "average; the diagonal is never cut, only shrunk.",
)
@dataclass(frozen=True)
class ModifiedLdpThresholding(Local, WithEta):
    """Local thresholding with the constant eta.

    Guarantee
    ---------
    As asked, local, for the whole row of every user; the proof is in measurements/local_moment.py.

    Spends
    ------
    The whole guarantee of every user, in one report.
    """
