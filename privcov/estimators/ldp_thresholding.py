"""Papers 1 and 4, the local model: every user sends a noisy report, the server averages and sets small entries to zero.

The same post-processing as in thresholding.py, on the averaged noise; no trusted curator, so sqrt(n) times the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privcov.estimators.base import METHODS, Method, MethodInput, Request
from privcov.estimators.thresholding import SOUND, TUNINGS, Thresholding, WithEta, WithGamma
from privcov.measurements.local_moment import measure_reports, report_sensitivity
from privcov.measurements.moment import ALL_CENTRES, Measured
from privcov.privacy import ApproxDP, ZCDP

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
    """Measure user by user. Comes before the class with the constant."""

    variance_factor: ClassVar[float] = 2.0

    def request(self, ask: MethodInput) -> Request:
        """Never: the users add the noise."""
        return Method.request(self, ask)

    def measure(self, ask: MethodInput) -> Measured:
        """The average of the users' reports, each under the whole guarantee."""
        wanted = super().request(ask)
        return measure_reports(ask.dataset, wanted.share, centre=wanted.centre, shape=wanted.shape, rng=ask.rng)

    def printed_std(self, ask: MethodInput) -> float:
        """Of one user's report: papers 1 and 4 put this, not that of the average, into the threshold."""
        assert isinstance(ask.guarantee, ApproxDP)
        epsilon, delta = ask.guarantee.epsilon, ask.guarantee.delta
        return math.sqrt(self.variance_factor * math.log(1.25 / delta)) / epsilon

    def true_sensitivity(self, ask: MethodInput) -> float:
        """Of one user's report, whatever the paper used: l2 of the upper triangle, unit ball."""
        return report_sensitivity(ask.d, shape="upper-triangle", n_anchors=ask.n_anchors)


@METHODS.add(
    key="ldp-thresholding",
    label="LDP thresholding",
    **LOCAL,
    tunings=TUNINGS,
    order=42,
    calibrations={"sound": SOUND, "as-published": f"as paper 4 prints the local algorithm, with gamma: {PRINTED}"},
    summary="Every user adds noise before anything leaves the device; the server averages the reports and sets small "
    "off-diagonal entries to zero.",
    formula=r"\hat\Sigma=\Big(T_\tau\big(\tfrac1n\sum_k (x_kx_k^\top+R_k)\big)\Big)_+",
    avoid=AVOID,
    reference="Wang and Xu (2019), the local extension of paper 1, as restated in paper 4, Algorithm 2.",
    differs="Sensitivity sqrt(2), exact calibration, the least noisy shape; the threshold follows the noise of the "
    "average; the diagonal is never cut, only shrunk.",
)
@dataclass(frozen=True)
class LdpThresholding(Local, WithGamma):
    """Guarantee: as asked, local, to every user's whole row; proof in measurements/local_moment.py."""


@METHODS.add(
    key="modified-ldp-thresholding",
    label="Modified LDP thresholding",
    **LOCAL,
    tunings=TUNINGS,
    order=43,
    calibrations={"sound": SOUND, "as-published": f"paper 4, Algorithm 2: {PRINTED}"},
    summary="LDP thresholding with a constant made for columns with few moments; the same noise and the same free "
    "rules.",
    formula=r"\tau=\xi\sqrt{\tfrac{\log d}{n}}+4\sigma\sqrt{\tfrac{\log d}{n}},\quad"
    r"\xi=\tfrac{4\sqrt2}{3}\,\eta\,K^{2/(4+\varepsilon_m)}M",
    avoid=AVOID,
    reference="Paper 4 (Mathematics 2023, 11(17), 3670), Algorithm 2.",
    differs="Sensitivity sqrt(2), exact calibration, the least noisy shape; the threshold follows the noise of the "
    "average; the diagonal is never cut, only shrunk.",
)
@dataclass(frozen=True)
class ModifiedLdpThresholding(Local, WithEta):
    """Guarantee: as asked, local, to every user's whole row; proof in measurements/local_moment.py."""
