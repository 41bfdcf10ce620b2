"""Output perturbation of Wang et al. 2018 (a graphical lasso, then noise on its answer), and a form that is private.

What is measured is smoothed.py's lasso, whose distance from the exact optimum is bounded before the rows are read, so
that the sensitivity covers what was computed and not only what should have been. Everything is in units of rows
scaled by 1/R, jointly with the mean of z = (u, s) / sqrt(1 + s^2); the block of the inverse of that moment is the
precision of the rows about their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from privcov.core.guarantees import NoPrivacy, PureDP
from privcov.core.parameters import parameter
from privcov.estimators.base import ALL_KINDS, METHODS, Method, MethodInput, Outcome
from privcov.estimators.mechanisms import SOUND
from privcov.measurements.moment import ANCHOR_SQUARED
from privcov.measurements.output_noise import measure_map, unit_sensitivity
from privcov.postprocess.moments import Moments
from privcov.postprocess.smoothed import smoothed_lasso
from privcov.postprocess.spectrum import clip_box, clip_psd
from privcov.postprocess.threshold import cut_off_diagonal, universal_level

WIDTH = 1e-3  # where the penalty is rounded at zero; the diagonal of the answer is at least 1 / (1 + penalty)
SHARE_OF_CHANGE = 0.01  # distance from the optimum, as a fraction of the largest change between neighbours
SHARE_OF_TOP = 1e-6  # and as a fraction of the cap, below which floating point cannot certify


@METHODS.add(
    key="output-perturbation",
    label="Output perturbation",
    target="precision",
    family="Graph",
    guarantees=ALL_KINDS,
    standing="proved",
    order=93,
    tunings=("fixed",),
    summary="Solves a graphical lasso with capped eigenvalues on the rows, then adds noise.",
    formula=r"\hat\Theta=\Theta^*_\rho+N,\quad \Theta^*_\rho=\arg\min_{0\prec\Theta\preceq\tau I}"
    r"-\log|\Theta|+\mathrm{tr}(S\Theta)+\rho\|\Theta\|_1,\quad \Delta_F=\frac{\sqrt2\,\tau^2}{n}",
    avoid="When noise on the covariance is an option: its error is never larger (the same Lipschitz constant "
    "times the same noise), and its whole path of penalties is free.",
    reference="Wang et al. 2018, Algorithm 1. Sensitivity and repair: own derivation.",
    differs="The published noise is no differential privacy: the released matrix can rule out neighbouring tables. "
    "Here eigenvalues are capped at tau, which bounds the change by sqrt(2) tau^2/n, and the noise is Gaussian or, for "
    "pure DP, the difference of two Wishart matrices. The penalty is rounded at zero over a width of 0.001. The "
    "output perturbation with Laplace noise that Wang et al. 2018 mentions has no printed scale, so it is not "
    "specified and not offered.",
    calibrations={
        "sound": SOUND + "; the sensitivity includes the distance that the solver may keep from the optimum",
        "as-published": "Wang et al. 2018: W_d(d + 1, C I) with C = d^2.5/(n epsilon rho^2), its mean left in. Not "
        "pure DP; proved here: (0, delta)-DP with delta = 1 - exp(-epsilon/sqrt(2)), up to 2 % of epsilon for the "
        "solver",
    },
)
@dataclass(frozen=True)
class OutputPerturbation(Method):
    """A graphical lasso with capped eigenvalues on the rows, then noise on its answer.

    Guarantee
    ---------
    As asked, replace-one with public n. The proofs are in postprocess/smoothed.py (the Lipschitz constant
    tau^2, and a number of steps that is enough for every matrix) and measurements/output_noise.py. Assumed, not proved:
    that floating point follows the exact steps to well within the distance of the optimum.

    Spends
    ------
    The whole guarantee, in one measurement.

    Notes
    -----
    "as-published" runs with ``tau = d / rho``, which every optimum obeys (``rho |Theta|_1 <= d``), so that the cap is
    idle.
    """

    penalty: float = parameter(
        0.02,
        "Penalty rho",
        low=1e-3,
        high=10.0,
        log=True,
        unit="R squared",
        help="Fixed before rows are seen: it enters the sensitivity.",
        ends=("more noise", "fewer edges"),
    )
    cap: float = parameter(
        0.5,
        "Cap on eigenvalues",
        low=0.05,
        high=20.0,
        log=True,
        unit="1/rho",
        help="tau in units of 1/rho. The noise grows with its square; larger true eigenvalues are cut.",
        ends=("less noise", "cuts less"),
    )
    threshold: str = parameter(
        "universal",
        "Edges",
        choices=("universal", "none"),
        advanced=True,
        help="universal: entries that noise could have made become zero. none: keep all.",
    )

    def run(self, inputs: MethodInput) -> Outcome:
        """Solve the lasso on the rows with noise on its answer, then repair the answer."""
        joint, published = inputs.centre == "joint", inputs.calibration != "sound"
        if published and not isinstance(inputs.guarantee, (PureDP, NoPrivacy)):
            raise ValueError(
                f"The published noise is printed for Pure DP, not for {inputs.guarantee}. "
                "Ask for PureDP, or use calibration='sound'."
            )
        p, n = inputs.dataset.d + joint, inputs.dataset.n
        top = (p if published else self.cap) / self.penalty
        change = top**2 * unit_sensitivity(inputs.dataset.d, n, joint=joint)
        distance = max(SHARE_OF_CHANGE * change, SHARE_OF_TOP * top)
        wishart = None
        if published and isinstance(inputs.guarantee, PureDP):
            wishart = p**2.5 / (n * inputs.guarantee.epsilon * self.penalty**2)
        noisy, distribution, event = measure_map(
            inputs.dataset,
            inputs.guarantee,
            partial(smoothed_lasso, lam=self.penalty, top=top, width=WIDTH, distance=distance),
            lipschitz=top**2,
            slack=distance,
            centre=inputs.centre,
            rng=inputs.rng,
            wishart_scale=wishart,
        )
        block = noisy[: inputs.dataset.d, : inputs.dataset.d]
        notes = (f"Lasso at rho = {self.penalty:g} R^2 with eigenvalues up to {top:.4g} / R^2, fixed in advance.",)
        if published:
            if event is not None:
                stays = f"{distribution.removed_mean:.4g} / R^2"
                notes += (f"As published, the mean of the noise stays on the diagonal: {stays}.",)
        else:
            block, note = self._repaired(
                block, distribution.off_diagonal_std, min(top, 1 / (1 + self.penalty * p)), top
            )
            notes += (note,)
        # The moment of z is (1 + s^2) times that of z / sqrt(1 + s^2), so its inverse is that much smaller.
        precision = block / ((1 + ANCHOR_SQUARED * joint) * inputs.dataset.row_bound**2)
        return Outcome(
            None, _implied(precision, inputs.centre), precision, None, notes, () if event is None else (event,)
        )

    def _repaired(self, noisy: np.ndarray, std: float, low: float, top: float) -> tuple[np.ndarray, str]:
        """Move the answer back to what an optimum can be, with eigenvalues in the public range [low, top]; free."""
        d = len(noisy)
        if self.threshold == "none":
            return clip_psd(clip_box(noisy, top), low), "Eigenvalues were moved into the range an optimum can have."
        thresholded = cut_off_diagonal(noisy, universal_level(d) * std)
        n_pairs = np.count_nonzero(np.triu(thresholded, 1))
        variance = np.clip(np.diag(thresholded), low, top)
        off = thresholded - np.diag(np.diag(thresholded))
        root = 1 / np.sqrt(variance - low / 2)
        lowest = float(np.linalg.eigvalsh(root[:, None] * off * root)[0])
        factor = min(1.0, -1 / lowest) if lowest < 0 else 1.0
        note = f"Kept {n_pairs} of {d * (d - 1) // 2} pairs, those that noise alone would hardly reach"
        note += f"; all were multiplied by {factor:.3g} to keep the matrix positive definite." if factor < 1 else "."
        return np.diag(variance) + factor * off, note


def _implied(precision: np.ndarray, centre: str) -> Moments:
    """Return the moments that a positive definite precision matrix stands for; no other was measured."""
    values, vectors = np.linalg.eigh(precision)
    inverse = (vectors / values) @ vectors.T
    inverse = (inverse + inverse.T) / 2
    if centre == "joint":
        return Moments(None, None, inverse)
    return Moments(inverse, None, inverse if centre == "zero" else None)
