"""Methods that add noise to the moment matrix once and repair its spectrum: Gaussian and Laplace.

Both are one measurement and one free repair; they differ in the noise law. The scales that the papers print are
calibrations of their own; what those really give is computed from their events.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov import accounting
from privcov.estimators.base import METHODS, Ask, Method, Outcome
from privcov.measurements.labels import anchors
from privcov.measurements.moment import ALL_CENTRES, ANCHOR_SQUARED, Measured, measure_moment, sensitivity
from privcov.parameters import parameter
from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_box, clip_psd, shrink_spectrum, shrink_wishart_difference
from privcov.privacy import RELATIONS, ApproxDP, GaussianDP, NoPrivacy, PureDP, ZCDP

REPAIRS = ("none", "psd", "box", "shrink")
SOUND = "right sensitivity, exact calibration, rounded to the safe side"
REPAIR_HELP = (
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
    if measured.law.shape in ("wishart-difference", "coupled-wishart"):
        return shrink_wishart_difference(measured.matrix, measured.law.wishart_scale / 2)
    return shrink_spectrum(measured.matrix, measured.law.off_diagonal_std)


# calibration -> (the kind it is printed for, the printed scale times n for unit vectors of p numbers).
PRINTED = {
    "as-published-1": (ApproxDP, lambda g, p: accounting.classical_gaussian_scale(g.epsilon, g.delta, 1.0)),
    "as-published-3": (ApproxDP, lambda g, p: accounting.classical_gaussian_scale(g.epsilon, g.delta, 1.0)),
    "as-published-4": (ApproxDP, lambda g, p: accounting.classical_gaussian_scale(g.epsilon, g.delta, math.sqrt(2))),
    "as-published-5": (ZCDP, lambda g, p: 1 / math.sqrt(g.rho)),
}
PRINTED_LAPLACE = {
    "as-published-3": (PureDP, lambda g, p: 2 * p / g.epsilon),
    "as-published-5": (PureDP, lambda g, p: math.sqrt(2) * p / g.epsilon),
}


def refuse_unknown_count(ask: Ask) -> None:
    """No paper hides the number of rows."""
    if ask.relation == "add-remove":
        raise ValueError(
            "The papers take the number of rows as public, so there is no published calibration for add-remove. "
            "Use calibration='sound'."
        )


def printed_share(ask: Ask, printed: dict, norm: str, sound_scale):
    """The share that makes `measure_moment` add noise of the printed scale; its event has the true sensitivity.

    In joint centring the paper's mechanism is applied to z / sqrt(1 + s^2), a unit vector of d + 1 numbers (d + k with
    k classes). Where the printed scale is the right one, it is rounded to the safe side like any other.
    """
    refuse_unknown_count(ask)
    if isinstance(ask.guarantee, NoPrivacy):
        return ask.guarantee
    kind, formula = printed[ask.calibration]
    if not isinstance(ask.guarantee, kind):
        raise ValueError(
            f"The scale of {ask.calibration} is printed for {kind.name}, not for {ask.guarantee}. "
            f"Ask for {kind.__name__}, or use calibration='sound'."
        )
    joint = anchors(ask.dataset, ask.centre)
    d, n = ask.dataset.d, ask.dataset.n
    scale = formula(ask.guarantee, d + joint) * (1 + ANCHOR_SQUARED * (joint > 0)) / n
    delta = sensitivity(d, n, norm=norm, joint=joint, relation=ask.relation)
    if abs(sound_scale(ask.guarantee, delta) / scale - 1) < 1e-9:
        return ask.guarantee
    return PureDP(delta / scale) if kind is PureDP else GaussianDP(delta / scale)


class _Additive(Method):
    repair: str

    @property
    def shape(self) -> str:
        """Of the noise; see `measure_moment`."""
        raise NotImplementedError

    def run(self, ask: Ask) -> Outcome:
        share = ask.guarantee if ask.calibration == "sound" else self.as_printed(ask)
        share = accounting.split(share, matrix=1)["matrix"]
        measured = measure_moment(
            ask.dataset, share, centre=ask.centre, shape=self.shape, rng=ask.rng, relation=ask.relation
        )
        how, notes = self.repair, ()
        if ask.calibration == "as-published-5" and how != "box":
            how, notes = "box", ("Eigenvalues clipped to [0, R^2], as the code of paper 5 does, whatever the repair.",)
        moments = unpack(
            repair(measured, how), centre=ask.centre, row_bound=measured.row_bound, anchors=measured.law.joint
        )
        return Outcome(measured, moments, count=measured.count, notes=notes)

    def as_printed(self, ask: Ask):
        """The share of a published calibration."""
        raise NotImplementedError


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
    summary="Adds symmetric Gaussian noise to the moment matrix, then removes negative eigenvalues.",
    formula=r"\hat\Sigma = (S + N)_+,\quad N_{ij}\sim\mathcal N(0,\sigma^2),\quad \sigma=\frac{\sqrt2\,R^2}{n\,\mu}",
    avoid="When d is large against n epsilon: the noise then fills the whole spectrum, and auto-cov does "
    "better with the same noise.",
    reference="Dwork, Talwar, Thakurta and Zhang (2014); papers 1-5, among them paper 5, Section 3.1.",
    differs="Exact calibration for every epsilon instead of sqrt(2 ln(1.25/delta))/epsilon, and sensitivity "
    "sqrt(2)/n (replace one row) where papers 1 and 3 use 1/n.",
    calibrations={
        "sound": SOUND,
        "as-published-1": "paper 1: sigma = sqrt(2 ln(1.25/delta)) R^2/(n epsilon), the classical constant with "
        "sensitivity 1/n, which misses a factor sqrt(2) when a row is replaced",
        "as-published-3": "paper 3: the same scale as paper 1",
        "as-published-4": "paper 4: sigma = sqrt(4 ln(1.25/delta)) R^2/(n epsilon), the right sensitivity with the "
        "classical constant",
        "as-published-5": "paper 5: sigma = R^2/(sqrt(rho) n), zCDP only; it is the right scale. Eigenvalues are "
        "clipped to [0, R^2]",
    },
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
    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS, help=REPAIR_HELP, advanced=True)

    def as_printed(self, ask: Ask):
        norm = "triangle" if self.shape == "upper-triangle" else "l2"
        return printed_share(ask, PRINTED, norm, accounting.gaussian_scale)


@METHODS.add(
    key="laplace-cov",
    label="Laplace mechanism",
    target="covariance",
    family="Additive",
    guarantees=(PureDP,),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=30,
    version=2,
    summary="Adds Laplace noise to every entry on and above the diagonal: pure differential privacy.",
    formula=r"\hat\Sigma = (S + N)_+,\quad N_{ij}\sim\mathrm{Lap}(b),\quad b=\frac{\sqrt{d^2/2+d+1}\,R^2}{n\,\epsilon}",
    avoid="Beyond a handful of columns: its noise per entry grows with d.",
    reference="Dwork, McSherry, Nissim and Smith (2006); papers 3 and 5.",
    differs="l1 sensitivity sqrt(d^2/2 + d + 1) of the upper triangle, attained for even d; paper 3 uses 2d, paper 5 "
    "sqrt(2) d.",
    calibrations={
        "sound": SOUND,
        "as-published-3": "paper 3: b = 2 d R^2/(n epsilon), valid and up to 2.8 times too much",
        "as-published-5": "paper 5: b = sqrt(2) d R^2/(n epsilon), valid and up to 2 times too much. "
        "Eigenvalues are clipped to [0, R^2]",
    },
)
@dataclass(frozen=True)
class LaplaceCov(_Additive):
    """Guarantee: pure epsilon-DP, replace-one with public n; proof in measurements/moment.py."""

    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS[:3], help=REPAIR_HELP, advanced=True)
    shape: ClassVar[str] = "laplace"

    def as_printed(self, ask: Ask):
        return printed_share(ask, PRINTED_LAPLACE, "l1", accounting.laplace_scale)
