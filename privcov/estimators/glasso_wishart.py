"""Paper 3's covariance perturbation with Wishart noise, then the graphical lasso: the approximate form, whose claim is
true and loose, and the pure one, whose claim is false.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.estimators.additive import SOUND
from privcov.estimators.base import METHODS, Ask
from privcov.estimators.glasso import TUNINGS, Glasso
from privcov.estimators.wishart_pure import mean_left_in, with_mean
from privcov.measurements.moment import ALL_CENTRES, Measured
from privcov.measurements.wishart import (
    approx_noise_as_published,
    approx_noise_sound,
    measure_wishart,
    pure_noise_as_published,
)
from privcov.privacy import ApproxDP, PureDP

LASSO = (
    r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}-\log|\Theta|+\mathrm{tr}(\tilde S\,\Theta)+\lambda\|\Theta\|_1,\quad "
)


class _Wishart(Glasso):
    def as_printed(self, measured: Measured) -> np.ndarray:
        return with_mean(measured)

    def path_as_published(self, s: np.ndarray, measured: Measured, ask: Ask):
        path, notes = super().path_as_published(s, measured, ask)
        return path, mean_left_in(measured) + notes


@METHODS.add(
    key="glasso-wishart-approx",
    label="Graphical lasso, Wishart noise",
    target="precision",
    family="Graph",
    guarantees=(ApproxDP,),
    standing="proved",
    centres=ALL_CENTRES,
    order=66,
    tunings=TUNINGS,
    summary="Adds a Wishart matrix with enough degrees of freedom for approximate DP, subtracts its mean, then finds a "
    "sparse precision matrix.",
    formula=LASSO + r"\tilde S=(S+W-mC\,I)_+,\quad W\sim\mathcal W_d(m,\,C\,I),\quad C=R^2/n",
    avoid="For accuracy: Gaussian noise is smaller, and this noise stops falling with epsilon.",
    reference="Paper 3, Algorithm 2, approximate DP; Sheffet (2017).",
    differs="The fewest degrees of freedom by the curve itself instead of 14 ln(4/delta)/epsilon^2, for replacing "
    "a row; the mean of the noise is subtracted; the diagonal is not penalised.",
    calibrations={
        "sound": SOUND + "; the mean of the noise is subtracted",
        "as-published": "paper 3: m = d + 14 ln(4/delta)/epsilon^2, true and several times more than needed; the mean "
        "of the noise, m R^2/n, stays on the diagonal and pulls the answer towards zero; every entry penalised",
    },
)
@dataclass(frozen=True)
class GlassoWishartApprox(_Wishart):
    """Guarantee: (epsilon, delta)-DP, replace-one with public n; the curve is in wishart_curve.py."""

    def measure(self, ask: Ask) -> Measured:
        noise = approx_noise_sound if ask.calibration == "sound" else approx_noise_as_published
        return measure_wishart(ask.dataset, **noise(ask.guarantee), centre=ask.centre, rng=ask.rng)


@METHODS.add(
    key="glasso-wishart-pure",
    label="Graphical lasso, Wishart noise (false pure claim)",
    target="precision",
    family="Graph",
    guarantees=(PureDP,),
    standing="historical",
    centres=ALL_CENTRES,
    order=95,
    tunings=(TUNINGS[1], TUNINGS[2]),
    summary="Adds a Wishart matrix with d + 1 degrees of freedom, then finds a sparse precision matrix. It was "
    "published as pure DP; the noisy matrix can rule out neighbouring tables, so it is not.",
    formula=LASSO + r"\tilde S=S+W,\quad W\sim\mathcal W_d\big(d+1,\,\tfrac{3R^2}{2n\epsilon}I\big),\quad "
    r"\delta=1-e^{-\epsilon/3}\ \text{at every}\ \epsilon'",
    avoid="Always: its noisy matrix has no pure guarantee at any epsilon. Use auto-precision.",
    reference="Paper 3, Algorithm 2, pure DP; Jiang, Xie and Zhang (2016). Sarwate (2017) retracted a like claim.",
    differs="The statement gives the guarantee that the noisy matrix really has.",
    calibrations={
        "as-published": "paper 3: W_d(d + 1, 3 R^2/(2 n epsilon) I), its mean left in; every entry penalised. Not pure "
        "DP: (0, delta)-DP with delta = 1 - exp(-epsilon/3), and no less at any epsilon"
    },
)
@dataclass(frozen=True)
class GlassoWishartPure(_Wishart):
    """Guarantee: none of the kind that was claimed; the noisy matrix, from which everything is made, is
    (0, 1 - exp(-epsilon/3))-DP and no better at any epsilon (wishart_curve.py). There is no sound form: for that,
    auto-precision uses the difference of two Wishart matrices.
    """

    def measure(self, ask: Ask) -> Measured:
        noise = pure_noise_as_published(ask.guarantee)
        return measure_wishart(ask.dataset, **noise, centre=ask.centre, rng=ask.rng)
