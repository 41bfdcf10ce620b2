"""Thresholding in the central model of Wang, Xu & He 2019 and Mathematics 2023.

A curator adds noise to the moment matrix once and sets small entries to zero. The steps are those of thresholding.py;
the two methods differ in the constant of the papers' threshold and, when calibrated as published, in the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privcov.core.guarantees import RELATIONS, ApproxDP, ZCDP
from privcov.estimators.base import METHODS
from privcov.estimators.thresholding import SOUND, WithEta, WithGamma
from privcov.measurements.moment import ALL_CENTRES

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
    relations=tuple(RELATIONS),
    order=40,
    calibrations={
        "sound": SOUND,
        "as-published": "Wang, Xu & He 2019: sigma = sqrt(2 ln(1.25/delta)) R^2/(n epsilon), which misses a factor "
        "sqrt(2) when a row is replaced; one threshold for every entry, the diagonal included",
    },
    version=2,
    summary="Adds Gaussian noise, then sets off-diagonal entries to zero that noise or sampling could have made.",
    formula=r"\hat\Sigma=(T_\tau(S+N))_+,\quad T_\tau(s)_{ij}=s_{ij}\,1\{|s_{ij}|>\tau_{ij}\},\ i\ne j",
    avoid="When most pairs are truly related: auto-cov does better with the same noise.",
    reference="Wang, Xu & He 2019, Algorithm 1.",
    differs="Sensitivity sqrt(2)/n and exact calibration; a less noisy shape; only off-diagonal entries are cut, by "
    "the noise they actually carry; the diagonal is shrunk; gamma, which the paper leaves open, is replaced by free "
    "rules.",
)
@dataclass(frozen=True)
class DpThresholding(WithGamma):
    """Central thresholding with the constant gamma of Wang, Xu & He 2019.

    Guarantee
    ---------
    As asked; one Gaussian measurement, whose proof is in measurements/moment.py. The rest is post-processing.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    variance_factor: ClassVar[float] = 2.0


@METHODS.add(
    key="modified-dp-thresholding",
    label="Modified DP thresholding",
    **CENTRAL,
    relations=tuple(RELATIONS),
    order=41,
    calibrations={
        "sound": SOUND,
        "as-published": "Mathematics 2023: sigma = sqrt(4 ln(1.25/delta)) R^2/(n epsilon), the right sensitivity with "
        "the classical constant; one threshold for every entry, the diagonal included",
    },
    version=2,
    summary="DP thresholding with a constant for columns with few moments.",
    formula=r"\tau=\xi\sqrt{\tfrac{\log d}{n}}+4\sigma\sqrt{\log d},\quad"
    r"\xi=\tfrac{4\sqrt2}{3}\,\eta\,K^{2/(4+\varepsilon_m)}M",
    avoid="When most pairs are truly related, or with the paper's eta >= 2 below thousands of rows, which "
    "removes everything.",
    reference="Mathematics 2023, 11(17), 3670, Algorithm 1.",
    differs="Exact calibration, a less noisy shape, the diagonal is never cut, only shrunk; free rules beside the "
    "paper's.",
)
@dataclass(frozen=True)
class ModifiedDpThresholding(WithEta):
    """Central thresholding with the constant eta of Mathematics 2023.

    Guarantee
    ---------
    As asked; one Gaussian measurement, whose proof is in measurements/moment.py. The rest is post-processing.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    variance_factor: ClassVar[float] = 4.0
