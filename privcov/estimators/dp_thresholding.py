"""Papers 1 and 4, the central model: a curator adds noise to the moment matrix once and sets small entries to zero.

The steps are those of thresholding.py; the two methods differ in the constant of the papers' threshold and, when
calibrated as published, in the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privcov.estimators.base import METHODS
from privcov.estimators.thresholding import SOUND, TUNINGS, WithEta, WithGamma
from privcov.measurements.moment import ALL_CENTRES
from privcov.privacy import RELATIONS, ApproxDP, ZCDP

CENTRAL = {
    "target": "covariance",
    "family": "Threshold",
    "guarantees": (ApproxDP, ZCDP),
    "standing": "proved",
    "centres": ALL_CENTRES,
}


@METHODS.add(
    key="dp-thresholding",
    label="DP thresholding",
    **CENTRAL,
    tunings=TUNINGS,
    relations=tuple(RELATIONS),
    order=40,
    calibrations={
        "sound": SOUND,
        "as-published": "paper 1: sigma = sqrt(2 ln(1.25/delta)) R^2/(n epsilon), which misses a factor sqrt(2) when a "
        "row is replaced; one threshold for every entry, the diagonal included",
    },
    summary="Adds Gaussian noise once, then sets off-diagonal entries to zero that the noise and the sample size could "
    "have made.",
    formula=r"\hat\Sigma=(T_\tau(S+N))_+,\quad T_\tau(s)_{ij}=s_{ij}\,1\{|s_{ij}|>\tau_{ij}\},\ i\ne j",
    avoid="When most pairs of columns are truly related: nothing is sparse, and auto-cov does better with the same "
    "noise.",
    reference="Wang, Xu and He (2019), paper 1, Algorithm 1.",
    differs="Sensitivity sqrt(2)/n and exact calibration; the least noisy shape; only off-diagonal entries are cut, by "
    "the noise they really carry; the diagonal is shrunk; gamma, which the paper leaves open, is replaced by free "
    "rules.",
)
@dataclass(frozen=True)
class DpThresholding(WithGamma):
    """Guarantee: as asked; one Gaussian measurement (measurements/moment.py), the rest is post-processing.

    tuning "raw-cv" chooses gamma on the raw rows for the papers' threshold: no end-to-end guarantee.
    """

    variance_factor: ClassVar[float] = 2.0


@METHODS.add(
    key="modified-dp-thresholding",
    label="Modified DP thresholding",
    **CENTRAL,
    tunings=TUNINGS,
    relations=tuple(RELATIONS),
    order=41,
    calibrations={
        "sound": SOUND,
        "as-published": "paper 4: sigma = sqrt(4 ln(1.25/delta)) R^2/(n epsilon), the right sensitivity with the "
        "classical constant; one threshold for every entry, the diagonal included",
    },
    summary="DP thresholding with a constant made for columns with few moments; the same noise and the same free "
    "rules.",
    formula=r"\tau=\xi\sqrt{\tfrac{\log d}{n}}+4\sigma\sqrt{\log d},\quad"
    r"\xi=\tfrac{4\sqrt2}{3}\,\eta\,K^{2/(4+\varepsilon_m)}M",
    avoid="When most pairs of columns are truly related, or with the paper's eta >= 2 on fewer than thousands of rows: "
    "its threshold then removes everything.",
    reference="Paper 4 (Mathematics 2023, 11(17), 3670), Algorithm 1.",
    differs="Exact calibration, the least noisy shape, the diagonal is never cut, only shrunk; free rules beside the "
    "paper's.",
)
@dataclass(frozen=True)
class ModifiedDpThresholding(WithEta):
    """Guarantee: as asked; one Gaussian measurement (measurements/moment.py), the rest is post-processing.

    tuning "raw-cv" chooses eta on the raw rows, as the paper does: no end-to-end guarantee.
    """

    variance_factor: ClassVar[float] = 4.0
