"""MOD-SULQ (SQLU in Wang et al. 2018), with about d times the noise needed: a covariance, and a graphical lasso."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.core.guarantees import ApproxDP
from privcov.core.parameters import parameter
from privcov.estimators.additive import REPAIR_HELP, REPAIRS, AdditiveCov
from privcov.estimators.base import METHODS
from privcov.estimators.glasso import Glasso
from privcov.estimators.mechanisms import SULQ
from privcov.measurements.moment import ALL_CENTRES


@METHODS.add(
    key="sulq",
    label="MOD-SULQ",
    target="covariance",
    family="Additive",
    guarantees=(ApproxDP,),
    standing="historical",
    centres=ALL_CENTRES,
    order=92,
    summary="Adds symmetric Gaussian noise whose scale grows with d: the baseline of early work on private "
    "principal components.",
    formula=r"\hat\Sigma=S+N,\quad N_{ij}\sim\mathcal N(0,\beta^2),\quad "
    r"\beta=\frac{(d+1)R^2}{n\epsilon}\sqrt{2\ln\frac{d^2+d}{2\delta\sqrt{2\pi}}}+\frac{R^2}{n\sqrt\epsilon}",
    avoid="For accuracy: gaussian-cov gives the same guarantee with about d times less noise.",
    reference="Blum, Dwork, McSherry and Nissim (2005); Chaudhuri, Sarwate and Sinha (2013); comparison of Wang "
    "et al. 2018, Table 2.",
    differs="The statement gives the actual guarantee, which is stronger than the claim.",
    calibrations={
        "as-published": "the printed scale beta, proved entry by entry; the claim is true and far from tight"
    },
)
@dataclass(frozen=True)
class Sulq(AdditiveCov):
    """Gaussian noise of the MOD-SULQ scale on the moment matrix.

    Guarantee
    ---------
    More than the printed (epsilon, delta); the proof of its event is in measurements/moment.py.

    Spends
    ------
    The whole guarantee, in one measurement.

    Notes
    -----
    There is no sound calibration: with the exact one, its noise is that of gaussian-cov with shape "upper-triangle".
    """

    repair: str = parameter("none", "Repair of the spectrum", choices=REPAIRS, help=REPAIR_HELP, advanced=True)
    mechanism = SULQ


@METHODS.add(
    key="glasso-sulq",
    label="Graphical lasso, MOD-SULQ noise",
    target="precision",
    family="Graph",
    guarantees=(ApproxDP,),
    standing="historical",
    centres=ALL_CENTRES,
    order=94,
    tunings=("fixed",),
    summary="Adds symmetric Gaussian noise whose scale grows with the number of columns, then finds a sparse precision "
    "matrix: the baseline of Wang et al. 2018.",
    formula=r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}-\log|\Theta|+\mathrm{tr}((S+N)\Theta)+\lambda\|\Theta\|_1,"
    r"\quad N_{ij}\sim\mathcal N(0,\beta^2),\quad"
    r"\beta=\frac{(d+1)R^2}{n\epsilon}\sqrt{2\ln\frac{d^2+d}{2\delta\sqrt{2\pi}}}+\frac{R^2}{n\sqrt\epsilon}",
    avoid="For accuracy: glasso-gaussian gives the same guarantee with about d times less noise.",
    reference="Wang et al. 2018, Table 2 (there SQLU); Blum, Dwork, McSherry and Nissim (2005); Chaudhuri, Sarwate and "
    "Sinha (2013).",
    differs="The statement gives the actual guarantee, which is stronger than the claim. Where the table prints "
    "NA, the paper does not say why; here penalties without a solution are marked as such and left out.",
    calibrations={
        "as-published": "the printed scale beta; every entry penalised, nothing repaired, so that small penalties may "
        "have no solution"
    },
)
@dataclass(frozen=True)
class GlassoSulq(Glasso):
    """Gaussian noise of the MOD-SULQ scale, then a graphical lasso.

    Guarantee
    ---------
    More than the printed (epsilon, delta); the proof of its event is in measurements/moment.py.

    Spends
    ------
    The whole guarantee, in one measurement.

    Notes
    -----
    There is no sound form: with the exact calibration it is glasso-gaussian.
    """

    mechanism = SULQ
