"""Laplace noise on every entry on and above the diagonal: pure DP, for a covariance and for a graphical lasso."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.core.guarantees import RELATIONS, PureDP
from privcov.core.parameters import parameter
from privcov.estimators.additive import REPAIR_HELP, REPAIRS, AdditiveCov
from privcov.estimators.base import METHODS
from privcov.estimators.glasso import TUNINGS, Glasso
from privcov.estimators.mechanisms import PRINTED_LAPLACE, SOUND, Mechanism
from privcov.measurements.moment import ALL_CENTRES


@METHODS.add(
    key="laplace-cov",
    label="Laplace mechanism",
    target="covariance",
    family="Additive",
    guarantees=(PureDP,),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    missing_cells=True,
    order=30,
    version=2,
    summary="Adds Laplace noise to every entry on and above the diagonal, for pure DP.",
    formula=r"\hat\Sigma = (S + N)_+,\quad N_{ij}\sim\mathrm{Lap}(b),\quad b=\frac{\sqrt{d^2/2+d+1}\,R^2}{n\,\epsilon}",
    avoid="Beyond a few columns: noise per entry grows with d.",
    reference="Dwork, McSherry, Nissim and Smith (2006); Wang et al. 2018; Dong et al. 2022.",
    differs="l1 sensitivity sqrt(d^2/2 + d + 1) of the upper triangle, attained for even d; Wang et al. 2018 uses 2d, "
    "Dong et al. 2022 sqrt(2) d.",
    calibrations={
        "sound": SOUND,
        "as-published-3": "Wang et al. 2018: b = 2 d R^2/(n epsilon), valid and up to 2.8 times too much",
        "as-published-5": "Dong et al. 2022: b = sqrt(2) d R^2/(n epsilon), valid and up to 2 times too much. "
        "Eigenvalues are clipped to [0, R^2]",
    },
)
@dataclass(frozen=True)
class LaplaceCov(AdditiveCov):
    """Laplace noise on the upper triangle of the moment matrix.

    Guarantee
    ---------
    Pure epsilon-DP, replace-one with public n; the proof, also for the other neighbouring relations, is in
    measurements/moment.py.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS[:3], help=REPAIR_HELP, advanced=True)
    mechanism = Mechanism("laplace", PRINTED_LAPLACE)


@METHODS.add(
    key="glasso-laplace",
    label="Graphical lasso, Laplace noise",
    target="precision",
    family="Graph",
    guarantees=(PureDP,),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=64,
    version=2,
    tunings=TUNINGS,
    summary="Adds Laplace noise to every entry on and above the diagonal, repairs the spectrum, then finds a sparse "
    "precision matrix: pure differential privacy.",
    formula=r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}-\log|\Theta|+\mathrm{tr}((S+N)_+\Theta)"
    r"+\lambda\sum_{i\ne j}|\Theta_{ij}|,\quad "
    r"N_{ij}\sim\mathrm{Lap}\Big(\tfrac{\sqrt{d^2/2+d+1}\,R^2}{n\,\epsilon}\Big)",
    avoid="Beyond a handful of columns: its noise per entry grows with d, and auto-precision needs less for pure DP.",
    reference="Wang et al. 2018, Algorithm 2 with symmetric Laplace noise.",
    differs="l1 sensitivity sqrt(d^2/2 + d + 1) of the upper triangle, attained for even d, instead of 2 d; PSD "
    "repair; the diagonal is not penalised; lambda from the noisy matrix.",
    calibrations={
        "sound": SOUND,
        "as-published": "Wang et al. 2018: b = 2 d R^2/(n epsilon), valid and up to 2.8 times too much; every entry "
        "penalised, nothing repaired, so that small penalties may have no solution",
    },
)
@dataclass(frozen=True)
class GlassoLaplace(Glasso):
    """Laplace noise on the upper triangle, then a graphical lasso.

    Guarantee
    ---------
    Pure epsilon-DP; the proof is in measurements/moment.py. Everything after the measurement is free.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    mechanism = Mechanism("laplace", {"as-published": PRINTED_LAPLACE["as-published-3"]})
