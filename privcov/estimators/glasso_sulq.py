"""The graphical lasso on MOD-SULQ's noisy covariance: the row that paper 3's Table 2 calls "SQLU"."""

from __future__ import annotations

from dataclasses import dataclass

from privcov import accounting
from privcov.estimators.additive import printed_share
from privcov.estimators.base import METHODS, Ask
from privcov.estimators.glasso import TUNINGS, Glasso
from privcov.estimators.sulq import printed_scale
from privcov.measurements.moment import ALL_CENTRES, Measured, measure_moment
from privcov.privacy import ApproxDP


@METHODS.add(
    key="glasso-sulq",
    label="Graphical lasso, MOD-SULQ noise",
    target="precision",
    family="Graph",
    guarantees=(ApproxDP,),
    standing="historical",
    relations=("replace-one", "zero-out"),
    centres=ALL_CENTRES,
    order=94,
    tunings=(TUNINGS[1], TUNINGS[2]),
    summary="Adds symmetric Gaussian noise whose scale grows with the number of columns, then finds a sparse precision "
    "matrix: the baseline of paper 3.",
    formula=r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}-\log|\Theta|+\mathrm{tr}((S+N)\Theta)+\lambda\|\Theta\|_1,"
    r"\quad N_{ij}\sim\mathcal N(0,\beta^2),\quad"
    r"\beta=\frac{(d+1)R^2}{n\epsilon}\sqrt{2\ln\frac{d^2+d}{2\delta\sqrt{2\pi}}}+\frac{R^2}{n\sqrt\epsilon}",
    avoid="For accuracy: glasso-gaussian gives the same guarantee with about d times less noise.",
    reference="Paper 3, Table 2 (there SQLU); Blum, Dwork, McSherry and Nissim (2005); Chaudhuri, Sarwate and Sinha "
    "(2013).",
    differs="The statement gives the guarantee it really has, which is stronger than the claim. Where the table prints "
    "NA, the paper does not say why; here penalties without a solution are marked as such and left out.",
    calibrations={
        "as-published": "the printed scale beta; every entry penalised, nothing repaired, so that small penalties may "
        "have no solution",
    },
)
@dataclass(frozen=True)
class GlassoSulq(Glasso):
    """Guarantee: more than the printed (epsilon, delta); the proof of its event is in measurements/moment.py.

    There is no sound form: with the exact calibration it is glasso-gaussian.
    """

    def measure(self, ask: Ask) -> Measured:
        share = printed_share(ask, {"as-published": (ApproxDP, printed_scale)}, "triangle", accounting.gaussian_scale)
        share = accounting.split(share, matrix=1)["matrix"]
        return measure_moment(
            ask.dataset, share, centre=ask.centre, shape="upper-triangle", rng=ask.rng, relation=ask.relation
        )
