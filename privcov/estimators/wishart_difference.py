"""Pure DP by the difference of two Wishart matrices: noise shaped like a covariance, not like a table of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.core.guarantees import RELATIONS, PureDP, ZCDP
from privcov.core.parameters import parameter
from privcov.estimators.additive import REPAIR_HELP, REPAIRS, AdditiveCov
from privcov.estimators.base import METHODS
from privcov.estimators.mechanisms import Mechanism
from privcov.measurements.moment import ALL_CENTRES


@METHODS.add(
    key="wishart-difference",
    label="Wishart difference",
    target="covariance",
    family="Additive",
    guarantees=(PureDP, ZCDP),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    missing_cells=True,
    order=25,
    summary="Adds one random Wishart matrix and subtracts another, for pure DP, then shrinks eigenvalues by the "
    "known noise.",
    formula=r"\hat\Sigma=\mathrm{shrink}(S+A-B),\quad A,B\sim\mathcal W_d(d+1,\,C\,I),\quad C=\frac{R^2}{n\,\epsilon}",
    avoid="Under zCDP, or approximate DP with more than ten columns: Gaussian noise is smaller.",
    reference="Own construction and proof; it repairs the Wishart noise of Wang et al. 2018 and of Jiang, Xie and "
    "Zhang (2016).",
)
@dataclass(frozen=True)
class WishartDifference(AdditiveCov):
    """The difference of two Wishart matrices as noise on the moment matrix.

    Guarantee
    ---------
    Pure epsilon-DP; the proof is in measurements/wishart.py. Under zCDP it is run at epsilon = sqrt(2 rho), and pure
    epsilon-DP is (epsilon^2 / 2)-zCDP. On private rows whose number is public, up to ten columns and anchors have the
    coupled distribution of measurements/exact/wishart.py instead: the same guarantee with a quieter trace.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    repair: str = parameter("shrink", "Repair of the spectrum", choices=REPAIRS, help=REPAIR_HELP, advanced=True)
    mechanism = Mechanism("wishart-difference")
