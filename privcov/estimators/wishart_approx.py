"""Paper 3's Wishart noise under (epsilon, delta): a true claim with many more degrees of freedom than it needs."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.estimators.additive import REPAIR_HELP, REPAIRS, SOUND, repair
from privcov.estimators.base import METHODS, Ask, Method, Outcome
from privcov.estimators.wishart_pure import mean_left_in, with_mean
from privcov.measurements.moment import ALL_CENTRES
from privcov.measurements.wishart import approx_noise_as_published, approx_noise_sound, measure_wishart
from privcov.parameters import parameter
from privcov.postprocess.joint import unpack
from privcov.privacy import ApproxDP


@METHODS.add(
    key="wishart-approx",
    label="Wishart (approximate DP)",
    target="covariance",
    family="Additive",
    guarantees=(ApproxDP,),
    standing="proved",
    centres=ALL_CENTRES,
    order=35,
    summary="Adds a Wishart matrix with enough degrees of freedom for approximate DP and subtracts its mean.",
    formula=r"\hat\Sigma=(S+W-mC\,I)_+,\quad W\sim\mathcal W_d(m,\,C\,I),\quad C=R^2/n",
    avoid="For accuracy: Gaussian noise is smaller, and this noise stops falling with epsilon.",
    reference="Paper 3, Algorithm 2, approximate DP; Sheffet (2017).",
    differs="The fewest degrees of freedom by the curve itself instead of 14 ln(4/delta)/epsilon^2, for replacing "
    "a row; the mean of the noise is subtracted.",
    calibrations={
        "sound": SOUND + "; the mean of the noise is subtracted",
        "as-published": "paper 3: m = d + 14 ln(4/delta)/epsilon^2, true and several times more than needed; the mean "
        "of the noise, m R^2/n, stays on the diagonal and nothing is repaired",
    },
)
@dataclass(frozen=True)
class WishartApprox(Method):
    """Guarantee: (epsilon, delta)-DP, replace-one with public n; the curve is in wishart_curve.py."""

    repair: str = parameter("psd", "Repair of the spectrum", choices=REPAIRS[:3], help=REPAIR_HELP, advanced=True)

    def run(self, ask: Ask) -> Outcome:
        published = ask.calibration != "sound"
        noise = (approx_noise_as_published if published else approx_noise_sound)(ask.guarantee)
        measured = measure_wishart(ask.dataset, **noise, centre=ask.centre, rng=ask.rng)
        matrix = with_mean(measured) if published else repair(measured, self.repair)
        moments = unpack(matrix, centre=ask.centre, row_bound=measured.row_bound, anchors=measured.law.joint)
        return Outcome(measured, moments, notes=mean_left_in(measured) if published else ())
