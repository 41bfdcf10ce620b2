"""Noise on the moment matrix, added once, then a repair of its spectrum; with Gaussian noise as the simplest case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.estimators.base import METHODS, MethodInput, Outcome
from privcov.estimators.mechanisms import PRINTED, SOUND, Mechanical, Mechanism
from privcov.measurements.moment import ALL_CENTRES, Measured
from privcov.parameters import parameter
from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_box, clip_psd, shrink_spectrum, shrink_wishart_difference
from privcov.privacy import RELATIONS, ApproxDP, ZCDP

REPAIRS = ("none", "psd", "box", "shrink")
REPAIR_HELP = (
    "Free: it only touches the released matrix. none: keep the unbiased noisy matrix. psd: set negative "
    "eigenvalues to zero. box: also cap them at R squared. shrink: pull eigenvalues in by what the known noise "
    "pushed them out."
)


def repair(measured: Measured, how: str) -> np.ndarray:
    """Return the measured matrix after a repair of its spectrum.

    Parameters
    ----------
    measured : Measured
        The noisy moment.
    how : {"none", "psd", "box", "shrink"}
        "none" returns the matrix unchanged; "psd" sets negative eigenvalues to zero; "box" also caps them at their
        public bound; "shrink" pulls them in by what the known noise pushed them out.

    Returns
    -------
    ndarray
        Matrix of the measured shape, in unit-ball units.
    """
    if how == "none":
        return measured.matrix
    if how == "psd":
        return clip_psd(measured.matrix)
    if how == "box":
        return clip_box(measured.matrix, measured.top)
    if measured.distribution.shape in ("wishart-difference", "coupled-wishart"):
        return shrink_wishart_difference(measured.matrix, measured.distribution.wishart_scale / 2)
    return shrink_spectrum(measured.matrix, measured.distribution.off_diagonal_std)


class AdditiveCov(Mechanical):
    """Base of the methods that add noise to the moment matrix and then repair its spectrum.

    Attributes
    ----------
    repair : {"none", "psd", "box", "shrink"}
        Repair of the spectrum; a field of the subclasses.
    """

    repair: str

    def finish(self, ask: MethodInput, measured: Measured) -> Outcome:
        """Return the moments of the repaired matrix."""
        how, notes = self.repair, ()
        if ask.calibration == "as-published-5" and how != "box":
            how, notes = "box", ("Eigenvalues clipped to [0, R^2], as the code of paper 5 does, whatever the repair.",)
        moments = unpack(
            repair(measured, how),
            centre=ask.centre,
            row_bound=measured.row_bound,
            n_anchors=measured.distribution.n_anchors,
        )
        return Outcome(measured, moments, count=measured.count, notes=notes)


@METHODS.add(
    key="gaussian-cov",
    label="Gaussian mechanism",
    target="covariance",
    family="Additive",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=20,
    version=2,
    summary="Adds symmetric Gaussian noise to the moment matrix, then removes negative eigenvalues.",
    formula=r"\hat\Sigma = (S + N)_+,\quad N_{ij}\sim\mathcal N(0,\sigma^2),\quad \sigma=\frac{\sqrt2\,R^2}{n\,\mu}",
    avoid="When d is large against n epsilon: the noise then fills the whole spectrum, and auto-cov does "
    "better with the same noise.",
    reference="Dwork, Talwar, Thakurta and Zhang (2014); all five papers, among them Dong et al. 2022, Section 3.1.",
    differs="Exact calibration for every epsilon instead of sqrt(2 ln(1.25/delta))/epsilon, and sensitivity "
    "sqrt(2)/n (replace one row) where Wang, Xu & He 2019 and Wang et al. 2018 use 1/n.",
    calibrations={
        "sound": SOUND,
        "as-published-1": "Wang, Xu & He 2019: sigma = sqrt(2 ln(1.25/delta)) R^2/(n epsilon), the classical constant "
        "with sensitivity 1/n, which misses a factor sqrt(2) when a row is replaced",
        "as-published-3": "Wang et al. 2018: the same scale as Wang, Xu & He 2019",
        "as-published-4": "Mathematics 2023: sigma = sqrt(4 ln(1.25/delta)) R^2/(n epsilon), the right sensitivity "
        "with the classical constant",
        "as-published-5": "Dong et al. 2022: sigma = R^2/(sqrt(rho) n), zCDP only; it is the right scale. Eigenvalues "
        "are clipped to [0, R^2]",
    },
)
@dataclass(frozen=True)
class GaussianCov(AdditiveCov):
    """Gaussian noise on the moment matrix.

    Parameters
    ----------
    shape : {"upper-triangle", "isotropic", "free-trace"}
        Shape of the noise. The papers print "upper-triangle"; from three columns on the other two have less noise.
    repair : {"none", "psd", "box", "shrink"}
        Repair of the spectrum.

    Guarantee
    ---------
    As asked, replace-one with public n; sensitivity and proof, also for the other neighbouring relations, are in
    measurements/moment.py.

    Spends
    ------
    The whole guarantee, in one measurement.

    Reference
    ---------
    Dwork, Talwar, Thakurta and Zhang (2014); all five papers, among them Dong et al. 2022, Section 3.1.
    """

    shape: str = parameter(
        "upper-triangle",
        "Noise shape",
        choices=("upper-triangle", "isotropic", "free-trace"),
        advanced=True,
        help="upper-triangle is what the papers print; from three columns on the other two have less noise.",
    )
    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS, help=REPAIR_HELP, advanced=True)

    @property
    def mechanism(self) -> Mechanism:
        """Gaussian noise of the chosen shape, at the printed scale too."""
        return Mechanism(self.shape, PRINTED)
