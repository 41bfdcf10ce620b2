"""Methods that add noise to the moment matrix once and repair its spectrum: Gaussian and Laplace.

Both are one measurement and one free repair; they differ in the noise law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov import accounting
from privcov.estimators.base import METHODS, Ask, Method, Outcome
from privcov.measurements.moment import ANCHOR_SQUARED, Measured, measure_moment
from privcov.parameters import parameter
from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_box, clip_psd, shrink_spectrum
from privcov.privacy import RELATIONS, ApproxDP, PureDP, ZCDP

REPAIRS = ("none", "psd", "box", "shrink")
_REPAIR_HELP = (
    "Free: it only touches the released matrix. none: keep the unbiased noisy matrix. psd: set negative "
    "eigenvalues to zero. box: also cap them at R squared. shrink: pull eigenvalues in by what the known noise "
    "pushed them out."
)


def repair(measured: Measured, how: str) -> np.ndarray:
    """The measured matrix (unit-ball units) after a spectrum repair; "none" returns it unchanged."""
    if how == "none":
        return measured.matrix
    if how == "psd":
        return clip_psd(measured.matrix)
    if how == "box":
        # z = (u, s) has norm at most sqrt(1 + s^2) when the mean is measured too.
        return clip_box(measured.matrix, 1 + ANCHOR_SQUARED if measured.law.joint else 1.0)
    return shrink_spectrum(measured.matrix, measured.law.off_diagonal_std)


class _Additive(Method):
    repair: str
    shape: str

    def run(self, ask: Ask) -> Outcome:
        share = accounting.split(ask.guarantee, matrix=1)["matrix"]
        measured = measure_moment(
            ask.dataset, share, centre=ask.centre, shape=self.shape, rng=ask.rng, relation=ask.relation
        )
        matrix = repair(measured, self.repair)
        moments = unpack(matrix, centre=ask.centre, row_bound=measured.row_bound)
        return Outcome(measured, moments, count=measured.count)


@METHODS.add(
    key="gaussian-cov",
    label="Gaussian mechanism",
    target="covariance",
    family="Additive",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    relations=tuple(RELATIONS),
    order=20,
    summary="Adds symmetric Gaussian noise to the moment matrix, then removes negative eigenvalues.",
    formula=r"\hat\Sigma = (S + N)_+,\quad N_{ij}\sim\mathcal N(0,\sigma^2),\quad \sigma=\frac{\sqrt2\,R^2}{n\,\mu}",
    avoid="When d is large against n epsilon: the noise then fills the whole spectrum, and auto-cov does "
    "better with the same noise.",
    reference="Dwork, Talwar, Thakurta and Zhang (2014); papers 1-5, among them paper 5, Section 3.1.",
    differs="Exact calibration for every epsilon instead of sqrt(2 ln(1.25/delta))/epsilon, and sensitivity "
    "sqrt(2)/n (replace one row) where papers 1 and 3 use 1/n.",
)
@dataclass(frozen=True)
class GaussianCov(_Additive):
    """Guarantee: as asked, replace-one with public n; sensitivity and proof in measurements/moment.py."""

    shape: str = parameter(
        "upper-triangle",
        "Noise shape",
        choices=("upper-triangle", "isotropic", "free-trace"),
        advanced=True,
        help="upper-triangle is what the papers print; the other two are less noise for the same guarantee.",
    )
    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS, help=_REPAIR_HELP, advanced=True)


@METHODS.add(
    key="laplace-cov",
    label="Laplace mechanism",
    target="covariance",
    family="Additive",
    guarantees=(PureDP,),
    standing="proved",
    relations=tuple(RELATIONS),
    order=30,
    summary="Adds Laplace noise to every entry on and above the diagonal: pure differential privacy.",
    formula=r"\hat\Sigma = (S + N)_+,\quad N_{ij}\sim\mathrm{Lap}(b),\quad b=\frac{(d/\sqrt2+1)\,R^2}{n\,\epsilon}",
    avoid="Beyond a handful of columns: its noise per entry grows with d.",
    reference="Dwork, McSherry, Nissim and Smith (2006); papers 3 and 5.",
    differs="Tight l1 sensitivity d/sqrt(2) + 1 of the upper triangle; paper 3 uses 2d, paper 5 sqrt(2) d.",
)
@dataclass(frozen=True)
class LaplaceCov(_Additive):
    """Guarantee: pure epsilon-DP, replace-one with public n; proof in measurements/moment.py."""

    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS[:3], help=_REPAIR_HELP, advanced=True)
    shape: ClassVar[str] = "laplace"
