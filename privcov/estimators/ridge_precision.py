"""DP-RP of Su et al. 2019: noise on the moment matrix, then the ridge estimator of the precision matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import RELATIONS, ApproxDP, BudgetShare, ZCDP
from privcov.core.parameters import parameter
from privcov.estimators.base import METHODS, MeasurementRequest, MethodInput, OneMeasurement, Outcome, moments_of
from privcov.estimators.mechanisms import SOUND, printed_share
from privcov.estimators.precision import fission_halves, target
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment
from privcov.postprocess.lambda_choice import fission_scores
from privcov.postprocess.ridge import ridge_path, ridge_precision
from privcov.postprocess.spectrum import clip_psd

PENALTIES = np.geomspace(1e-4, 10.0, 41)  # tried by the rules, in the unit of the parameter
SPLITS = 10


@METHODS.add(
    key="ridge-precision",
    label="Ridge precision (DP-RP)",
    target="precision",
    family="Graph",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=62,
    tunings=("released", "fixed"),
    version=2,
    summary="Adds Gaussian noise, removes negative eigenvalues, then inverts with a ridge.",
    formula=r"\hat\Theta=V\,\mathrm{diag}\Big(\tfrac{2}{\varphi_i+\sqrt{\varphi_i^2+8\lambda}}\Big)V^\top,\quad "
    r"\tilde S_+=V\,\mathrm{diag}(\varphi_i)V^\top",
    avoid="For a graph: no entry is ever zero. Use a graphical lasso.",
    reference="Su et al. 2019, Algorithm 1 (DP-RP); Kuismin, Kemppainen and Sillanpaa (2017).",
    differs="Negative eigenvalues are removed before the ridge (as published, one of -a becomes a/(2 lambda)), exact "
    "calibration, a less noisy shape, lambda from the noisy matrix. Algorithm 1 prints its noise without 1/n; the "
    "paper's experiments must have had it, as their errors show, so as-published has it and as-printed has not.",
    calibrations={
        "sound": SOUND,
        "as-published": "Su et al. 2019: sigma = sqrt(2) sqrt(2 ln(1.25/delta)) R^2/(n epsilon), the right sensitivity "
        "with the classical constant; the noisy matrix is not repaired",
        "as-printed": "Su et al. 2019, Algorithm 1 to the letter: the same sigma without 1/n, n times more noise than "
        "needed",
    },
)
@dataclass(frozen=True)
class RidgePrecision(OneMeasurement):
    """Gaussian noise, then the ridge estimator of the precision matrix.

    Guarantee
    ---------
    As asked; one Gaussian measurement, whose proof is in measurements/moment.py. The rest is post-processing.

    Spends
    ------
    The whole guarantee, in one measurement.

    Notes
    -----
    Tuning "released" chooses lambda by data fission, the smallest mean of -log det T + <T2, T> (lambda_choice.py); the
    rule is free, has no constant and aims at estimation error, which is the purpose of a ridge. "fixed" takes
    ``penalty``. As published there is no free rule, so "released" uses ``penalty`` as well.
    """

    penalty: float = parameter(
        0.1,
        "Penalty",
        low=1e-4,
        high=10.0,
        log=True,
        unit="R squared / d",
        help="sqrt(8 lambda): eigenvalues well below are levelled. For fixed or as-published tuning.",
        ends=("noisier inverse", "smoother inverse"),
    )

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return one Gaussian measurement of the whole guarantee."""
        if inputs.calibration == "sound":
            return MeasurementRequest(inputs.guarantee, "free-trace")
        return MeasurementRequest(self._printed(inputs), "upper-triangle")

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Repair the noisy matrix, choose the penalty, and invert with the ridge."""
        published = inputs.calibration != "sound"
        repaired = noisy_moment.matrix if published else clip_psd(noisy_moment.matrix)
        s = target(repaired, inputs.centre, noisy_moment.distribution.n_anchors)
        penalty, notes = self._penalty(inputs, noisy_moment, len(s))
        lam = ridge_lambda(penalty, len(s))
        below = np.linalg.eigvalsh(s)
        if published and below[0] < 0:
            notes += (
                f"{np.count_nonzero(below < 0)} eigenvalue(s) of the noisy matrix are negative and, as published, "
                f"stay so; the lowest, {below[0]:.3g} R^2, alone makes an eigenvalue of "
                f"{-below[0] / (2 * lam):.3g} / R^2 or more.",
            )
        r2 = inputs.facts.row_bound**2
        moments = moments_of(noisy_moment, repaired)
        return Outcome(noisy_moment, moments, ridge_precision(s, lam) / r2, notes=notes, count=noisy_moment.count)

    def _printed(self, inputs: MethodInput) -> BudgetShare:
        """Return the share that makes the measurement use the printed scale."""
        n = 1 if inputs.calibration == "as-published" else inputs.n

        def scale(g: ApproxDP, p: int) -> float:
            return n * accounting.classical_gaussian_scale(g.epsilon, g.delta, math.sqrt(2))

        return printed_share(inputs, {inputs.calibration: (ApproxDP, scale)}, "triangle", accounting.gaussian_scale)

    def _penalty(self, inputs: MethodInput, noisy_moment: NoisyMoment, d: int) -> tuple[float, tuple[str, ...]]:
        lambdas = [ridge_lambda(x, d) for x in PENALTIES]
        if inputs.tuning == "released" and inputs.calibration == "sound":
            halves = fission_halves(noisy_moment, inputs.rng)
            scores = fission_scores(halves, lambda s: ridge_path(clip_psd(s), lambdas), SPLITS)
            how = f"by fission of the noisy matrix ({SPLITS} splits)"
        else:
            return self.penalty, (f"Penalty as set: sqrt(8 lambda) = {self.penalty:.4g} R^2 / d.",)
        best = int(np.argmin(scores))
        edge = ", at the end of the range tried" if best in (0, len(scores) - 1) else ""
        return float(PENALTIES[best]), (f"Penalty sqrt(8 lambda) = {PENALTIES[best]:.4g} R^2 / d, {how}{edge}.",)


def ridge_lambda(penalty: float, d: int) -> float:
    """Return lambda for sqrt(8 lambda) = penalty / d; no row in the unit ball has a mean square above 1/d."""
    return (penalty / d) ** 2 / 8
