"""Paper 3's covariance perturbation with Laplace noise: pure DP, then the graphical lasso."""

from __future__ import annotations

from dataclasses import dataclass

from privcov import accounting
from privcov.estimators.additive import PRINTED_LAPLACE, SOUND, printed_share
from privcov.estimators.base import METHODS, Ask
from privcov.estimators.glasso import TUNINGS, Glasso
from privcov.measurements.moment import ALL_CENTRES, Measured, measure_moment
from privcov.privacy import RELATIONS, PureDP


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
    reference="Paper 3, Algorithm 2 with symmetric Laplace noise.",
    differs="l1 sensitivity sqrt(d^2/2 + d + 1) of the upper triangle, attained for even d, instead of 2 d; PSD "
    "repair; the diagonal is not penalised; lambda from the noisy matrix.",
    calibrations={
        "sound": SOUND,
        "as-published": "paper 3: b = 2 d R^2/(n epsilon), valid and up to 2.8 times too much; every entry penalised, "
        "nothing repaired, so that small penalties may have no solution",
    },
)
@dataclass(frozen=True)
class GlassoLaplace(Glasso):
    """Guarantee: pure epsilon-DP; proof in measurements/moment.py. Everything after the measurement is free."""

    def measure(self, ask: Ask) -> Measured:
        share = ask.guarantee
        if ask.calibration != "sound":
            printed = {"as-published": PRINTED_LAPLACE["as-published-3"]}
            share = printed_share(ask, printed, "l1", accounting.laplace_scale)
        share = accounting.split(share, matrix=1)["matrix"]
        return measure_moment(
            ask.dataset, share, centre=ask.centre, shape="laplace", rng=ask.rng, relation=ask.relation
        )
