"""The single Wishart matrix of Wang et al. 2018 as noise, for a covariance and for a graphical lasso.

The approximate form has many more degrees of freedom than its claim needs; the claim of the pure form is false.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core.guarantees import ApproxDP, PureDP
from privcov.core.parameters import parameter
from privcov.estimators.additive import REPAIR_HELP, REPAIRS, repair
from privcov.estimators.base import METHODS, MethodInput, Outcome, moments_of
from privcov.estimators.glasso import TUNINGS, Glasso
from privcov.estimators.mechanisms import SOUND, MechanismMethod, WishartNoise, mean_left_in, with_mean
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment
from privcov.measurements.wishart import approx_noise_as_published, approx_noise_sound, pure_noise_as_published
from privcov.postprocess.fit import PathPoint

LASSO = (
    r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}-\log|\Theta|+\mathrm{tr}(\tilde S\,\Theta)+\lambda\|\Theta\|_1,\quad "
)


class _WishartCov(MechanismMethod):
    """Base of the two covariance methods."""

    repair: str = "none"

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Return the moments of the repaired matrix; as published, with the mean of the noise."""
        published = inputs.calibration != "sound"
        matrix = with_mean(noisy_moment) if published else repair(noisy_moment, self.repair)
        moments = moments_of(noisy_moment, matrix)
        return Outcome(noisy_moment, moments, notes=mean_left_in(noisy_moment) if published else ())


class _WishartLasso(Glasso):
    """Base of the two graphical lassos."""

    def as_printed(self, noisy_moment: NoisyMoment) -> np.ndarray:
        """Return the matrix with the mean of the noise."""
        return with_mean(noisy_moment)

    def path_as_published(
        self, s: np.ndarray, noisy_moment: NoisyMoment, inputs: MethodInput
    ) -> tuple[tuple[PathPoint, ...], tuple[str, ...]]:
        """Solve the published path, and note that the mean of the noise stays."""
        path, notes = super().path_as_published(s, noisy_moment, inputs)
        return path, mean_left_in(noisy_moment) + notes


@METHODS.add(
    key="wishart-approx",
    label="Wishart (approximate DP)",
    target="covariance",
    family="Additive",
    guarantees=(ApproxDP,),
    standing="proved",
    centres=ALL_CENTRES,
    order=35,
    summary="Adds a Wishart matrix with enough degrees of freedom for approximate DP, less its mean.",
    formula=r"\hat\Sigma=(S+W-mC\,I)_+,\quad W\sim\mathcal W_d(m,\,C\,I),\quad C=R^2/n",
    avoid="For accuracy: Gaussian noise is smaller, and this noise stops falling with epsilon.",
    reference="Wang et al. 2018, Algorithm 2, approximate DP; Sheffet (2019), Old Techniques in Differentially Private "
    "Linear Regression.",
    differs="The fewest degrees of freedom by the curve itself instead of 14 ln(4/delta)/epsilon^2, for replacing "
    "a row; the mean of the noise is subtracted.",
    calibrations={
        "sound": SOUND + "; the mean of the noise is subtracted",
        "as-published": "Wang et al. 2018: m = d + 14 ln(4/delta)/epsilon^2, true and several times more than needed; "
        "the mean of the noise, m R^2/n, stays on the diagonal and nothing is repaired",
    },
)
@dataclass(frozen=True)
class WishartApprox(_WishartCov):
    """A Wishart matrix with enough degrees of freedom for approximate DP, minus its mean.

    Guarantee
    ---------
    (epsilon, delta)-DP, replace-one with public n; the curve is in wishart_curve.py.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS[:3], help=REPAIR_HELP, advanced=True)
    mechanism = WishartNoise(approx_noise_as_published, approx_noise_sound)


@METHODS.add(
    key="wishart-pure",
    label="Wishart (false pure claim)",
    target="covariance",
    family="Additive",
    guarantees=(PureDP,),
    standing="historical",
    centres=ALL_CENTRES,
    order=90,
    summary="Adds a Wishart matrix with d + 1 degrees of freedom. It was published as pure DP; the released matrix can "
    "rule out neighbouring tables, so it is not.",
    formula=r"\hat\Sigma=S+W,\quad W\sim\mathcal W_d\big(d+1,\,\tfrac{3R^2}{2n\epsilon}I\big),\quad "
    r"\delta=1-e^{-\epsilon/3}\ \text{at every}\ \epsilon'",
    avoid="Always: it has no pure guarantee at any epsilon. Use wishart-difference.",
    reference="Wang et al. 2018, Algorithm 2, pure DP; Jiang, Xie and Zhang (2016). Sarwate (2017) retracted a "
    "similar claim.",
    differs="The statement gives the actual guarantee.",
    calibrations={
        "as-published": "Wang et al. 2018: W_d(d + 1, 3 R^2/(2 n epsilon) I). Not pure DP: (0, delta)-DP with "
        "delta = 1 - exp(-epsilon/3), and no less at any epsilon"
    },
)
@dataclass(frozen=True)
class WishartPure(_WishartCov):
    """A Wishart matrix with d + 1 degrees of freedom, published as pure DP.

    Guarantee
    ---------
    None of the kind that was claimed: (0, 1 - exp(-epsilon/3))-DP and no better at any epsilon (wishart_curve.py,
    freedom 2; measured with the mean, that delta is an upper bound).

    Spends
    ------
    The whole guarantee, in one measurement; the actual guarantee is not the claimed one.

    Notes
    -----
    There is no sound form; wishart-difference replaces it.
    """

    mechanism = WishartNoise(pure_noise_as_published)


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
    reference="Wang et al. 2018, Algorithm 2, approximate DP; Sheffet (2019), Old Techniques in Differentially Private "
    "Linear Regression.",
    differs="The fewest degrees of freedom by the curve itself instead of 14 ln(4/delta)/epsilon^2, for replacing "
    "a row; the mean of the noise is subtracted; the diagonal is not penalised.",
    calibrations={
        "sound": SOUND + "; the mean of the noise is subtracted",
        "as-published": "Wang et al. 2018: m = d + 14 ln(4/delta)/epsilon^2, true and several times more than needed; "
        "the mean of the noise, m R^2/n, stays on the diagonal and pulls the answer towards zero; every entry "
        "penalised",
    },
)
@dataclass(frozen=True)
class GlassoWishartApprox(_WishartLasso):
    """A Wishart matrix with enough degrees of freedom for approximate DP, minus its mean, then a graphical lasso.

    Guarantee
    ---------
    (epsilon, delta)-DP, replace-one with public n; the curve is in wishart_curve.py.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    mechanism = WishartNoise(approx_noise_as_published, approx_noise_sound)


@METHODS.add(
    key="glasso-wishart-pure",
    label="Graphical lasso, Wishart noise (false pure claim)",
    target="precision",
    family="Graph",
    guarantees=(PureDP,),
    standing="historical",
    centres=ALL_CENTRES,
    order=95,
    tunings=("fixed",),
    summary="Adds a Wishart matrix with d + 1 degrees of freedom, then finds a sparse precision matrix. It was "
    "published as pure DP; the noisy matrix can rule out neighbouring tables, so it is not.",
    formula=LASSO + r"\tilde S=S+W,\quad W\sim\mathcal W_d\big(d+1,\,\tfrac{3R^2}{2n\epsilon}I\big),\quad "
    r"\delta=1-e^{-\epsilon/3}\ \text{at every}\ \epsilon'",
    avoid="Always: its noisy matrix has no pure guarantee at any epsilon. Use auto-precision.",
    reference="Wang et al. 2018, Algorithm 2, pure DP; Jiang, Xie and Zhang (2016). Sarwate (2017) retracted a "
    "similar claim.",
    differs="The statement gives the actual guarantee of the noisy matrix.",
    calibrations={
        "as-published": "Wang et al. 2018: W_d(d + 1, 3 R^2/(2 n epsilon) I), its mean left in; every entry penalised. "
        "Not pure DP: (0, delta)-DP with delta = 1 - exp(-epsilon/3), and no less at any epsilon"
    },
)
@dataclass(frozen=True)
class GlassoWishartPure(_WishartLasso):
    """A Wishart matrix with d + 1 degrees of freedom, published as pure DP, then a graphical lasso.

    Guarantee
    ---------
    None of the kind that was claimed: the noisy matrix, from which everything is computed, is
    (0, 1 - exp(-epsilon/3))-DP and no better at any epsilon (wishart_curve.py).

    Spends
    ------
    The whole guarantee, in one measurement; the actual guarantee is not the claimed one.

    Notes
    -----
    There is no sound form; auto-precision uses the difference of two Wishart matrices instead.
    """

    mechanism = WishartNoise(pure_noise_as_published)
