"""MOD-SULQ: the noisy covariance that paper 3 compares with (as "SQLU"). About d times more noise than it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privcov import accounting
from privcov.estimators.additive import REPAIR_HELP, REPAIRS, printed_share, repair
from privcov.estimators.base import METHODS, Ask, Method, Outcome
from privcov.measurements.moment import ALL_CENTRES, measure_moment
from privcov.parameters import parameter
from privcov.postprocess.joint import unpack
from privcov.privacy import ApproxDP


def printed_scale(guarantee: ApproxDP, p: int) -> float:
    """beta times n, for unit vectors of p numbers."""
    inside = (p * p + p) / (guarantee.delta * 2 * math.sqrt(2 * math.pi))
    if inside <= 1:
        raise ValueError(
            f"The printed scale of MOD-SULQ has no value at delta={guarantee.delta:g} with {p} column(s). "
            "Use a smaller delta."
        )
    return (p + 1) / guarantee.epsilon * math.sqrt(2 * math.log(inside)) + 1 / math.sqrt(guarantee.epsilon)


@METHODS.add(
    key="sulq",
    label="MOD-SULQ",
    target="covariance",
    family="Additive",
    guarantees=(ApproxDP,),
    standing="historical",
    relations=("replace-one", "zero-out"),
    centres=ALL_CENTRES,
    order=92,
    summary="Adds symmetric Gaussian noise whose scale grows with the number of columns: the baseline of early work on "
    "private principal components.",
    formula=r"\hat\Sigma=S+N,\quad N_{ij}\sim\mathcal N(0,\beta^2),\quad "
    r"\beta=\frac{(d+1)R^2}{n\epsilon}\sqrt{2\ln\frac{d^2+d}{2\delta\sqrt{2\pi}}}+\frac{R^2}{n\sqrt\epsilon}",
    avoid="For accuracy: gaussian-cov gives the same guarantee with about d times less noise.",
    reference="Blum, Dwork, McSherry and Nissim (2005); Chaudhuri, Sarwate and Sinha (2013); comparison of paper 3, "
    "Table 2.",
    differs="The statement gives the guarantee it really has, which is stronger than the claim.",
    calibrations={
        "as-published": "the printed scale beta, proved entry by entry; the claim is true and far from tight",
    },
)
@dataclass(frozen=True)
class Sulq(Method):
    """Guarantee: more than the printed (epsilon, delta); the proof of its event is in measurements/moment.py.

    There is no sound calibration: with the exact one, its noise shape is gaussian-cov with shape "upper-triangle".
    """

    repair: str = parameter("none", "Repair of the spectrum", choices=REPAIRS, help=REPAIR_HELP, advanced=True)

    def run(self, ask: Ask) -> Outcome:
        printed = {"as-published": (ApproxDP, printed_scale)}
        share = printed_share(ask, printed, "triangle", accounting.gaussian_scale)
        measured = measure_moment(
            ask.dataset, share, centre=ask.centre, shape="upper-triangle", rng=ask.rng, relation=ask.relation
        )
        moments = unpack(
            repair(measured, self.repair), centre=ask.centre, row_bound=measured.row_bound, anchors=measured.law.joint
        )
        return Outcome(measured, moments)
