"""Paper 3's Wishart noise that was claimed to be pure DP and is not. Kept to show what it really gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.estimators.base import METHODS, Ask, Method, Outcome
from privcov.measurements.moment import ALL_CENTRES, Measured
from privcov.measurements.wishart import measure_wishart, pure_noise_as_published
from privcov.postprocess.joint import unpack
from privcov.privacy import PureDP


def with_mean(measured: Measured) -> np.ndarray:
    """The matrix as the paper prints it: with the mean m C I of the noise. The anchors keep their counts."""
    diagonal = np.full(len(measured.matrix), measured.law.removed_mean)
    diagonal[measured.law.dimension :] = 0.0
    return measured.matrix + np.diag(diagonal)


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
    reference="Paper 3, Algorithm 2, pure DP; Jiang, Xie and Zhang (2016). Sarwate (2017) retracted a like claim.",
    differs="The statement gives the guarantee it really has.",
    calibrations={
        "as-published": "paper 3: W_d(d + 1, 3 R^2/(2 n epsilon) I). Not pure DP: (0, delta)-DP with "
        "delta = 1 - exp(-epsilon/3), and no less at any epsilon"
    },
)
@dataclass(frozen=True)
class WishartPure(Method):
    """Guarantee: none of the kind that was claimed; (0, 1 - exp(-epsilon/3))-DP and no better at any epsilon
    (wishart_curve.py, freedom 2; measured with the mean, that delta is an upper bound).
    There is no sound form: for that, wishart-difference was made.
    """

    def run(self, ask: Ask) -> Outcome:
        noise = pure_noise_as_published(ask.guarantee)
        measured = measure_wishart(ask.dataset, **noise, centre=ask.centre, rng=ask.rng)
        moments = unpack(
            with_mean(measured), centre=ask.centre, row_bound=measured.row_bound, anchors=measured.law.joint
        )
        return Outcome(measured, moments, notes=mean_left_in(measured))


def mean_left_in(measured: Measured) -> tuple[str, ...]:
    """The note that the published form leaves the mean of its noise on the diagonal, or ()."""
    bias = measured.law.removed_mean * measured.row_bound**2
    return (f"As published, the mean of the noise stays on the diagonal: {bias:.4g}.",) if bias else ()
