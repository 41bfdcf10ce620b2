"""SeparateCov: eigenvalues from one noisy measurement, eigenvectors from another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, BudgetShare, PureDP
from privcov.core.parameters import parameter
from privcov.estimators.base import ALL_KINDS, METHODS, Method, MethodCard, MethodInput, Outcome
from privcov.measurements.eigenvalues import MeasuredValues, measure_eigenvalues, top
from privcov.measurements.moment import ANCHOR_SQUARED, NoisyMoment, measure_moment, sensitivity
from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import assemble
from privcov.tables.dataset import Dataset

PUBLISHED = "as-published-5"
SHARE = {"low": 0.05, "high": 0.95, "ends": ("better eigenvectors", "better eigenvalues")}


def published_share(share: BudgetShare, d: int, joint: bool) -> BudgetShare:
    """Return the share that a published Laplace matrix of Dong et al. 2022 actually spends.

    Its scale sqrt(2) d / (n epsilon) suits a larger sensitivity than that of triangle_l1.py. Gaussian shares are spent
    whole. With the mean, for which the paper prints none, the scale here is (1 + s/2)^2 times the printed one for one
    column, and 1 + sqrt(2 d) / (d / sqrt(2) + 1) times for more: more than the sensitivity needs.
    """
    if not isinstance(share, PureDP):
        return share
    growth = (1 + math.sqrt(ANCHOR_SQUARED) / 2) ** 2 if d == 1 else 1 + math.sqrt(2 * d) / (d / math.sqrt(2) + 1)
    scale = math.sqrt(2) * d * (growth if joint else 1.0)
    return PureDP(share.epsilon * sensitivity(d, 1, norm="l1", n_anchors=joint) / scale)


def matrix_shape(guarantee: BudgetShare, calibration: str) -> str:
    """Return the shape of the noise of the matrix."""
    if isinstance(guarantee, PureDP):
        return "laplace"
    return "upper-triangle" if calibration == PUBLISHED else "isotropic"


def eigenvectors(matrix: np.ndarray, how: str) -> np.ndarray:
    """Return the eigenvectors as columns, largest eigenvalue first; "svd-authors" is the code of Dong et al. 2022."""
    if how == "svd-authors":
        return np.linalg.svd(matrix)[0]
    return np.linalg.eigh(matrix)[1][:, ::-1]


def tidy(values: np.ndarray, ceiling: float) -> np.ndarray:
    """Return the noisy eigenvalues clipped to [0, ceiling], in descending order."""
    return np.sort(np.clip(values, 0.0, ceiling))[::-1]


def measure_both(
    dataset: Dataset, shares: dict, *, centre: str, calibration: str, rng: np.random.Generator
) -> tuple[MeasuredValues, NoisyMoment]:
    """Take both measurements of SeparateCov (Dong et al. 2022, Algorithm 1), of the shares "values" and "vectors"."""
    values = measure_eigenvalues(dataset, shares["values"], centre=centre, rng=rng)
    share, shape = shares["vectors"], matrix_shape(shares["vectors"], calibration)
    if calibration == PUBLISHED:
        share = published_share(share, dataset.d, centre == "joint")
    return values, measure_moment(dataset, share, centre=centre, shape=shape, rng=rng, name="vectors")


def published_guard(inputs: MethodInput, card: MethodCard) -> None:
    """Raise ValueError for a published calibration under approximate DP, for which Dong et al. 2022 state nothing."""
    if inputs.calibration == PUBLISHED and isinstance(inputs.guarantee, ApproxDP):
        raise ValueError(
            f"Dong et al. 2022 state {card.label} under zCDP and pure DP, so there is no published form under "
            "(epsilon, delta). Ask for ZCDP or PureDP, or use calibration='sound'."
        )


@METHODS.add(
    key="separate-cov",
    label="SeparateCov",
    target="covariance",
    family="Spectral",
    guarantees=ALL_KINDS,
    standing="proved",
    order=40,
    version=2,
    summary="Measures eigenvalues with little noise, and takes eigenvectors from a noisier matrix.",
    formula=r"\hat\Sigma=\tilde V\,\mathrm{diag}(\tilde\lambda)\,\tilde V^\top,\quad "
    r"\tilde\lambda=\lambda(S)+\sigma_\lambda z,\quad \tilde V=\mathrm{eigvec}(S+N)",
    avoid="For few columns and many rows: splitting the guarantee costs more than it saves; auto-cov does better.",
    reference="Dong et al. 2022, Algorithm 1 and Theorem 1; pure DP: its Appendix I.",
    differs="Isotropic noise for the eigenvectors, eigenvalues clipped to [0, R^2] and sorted, and under pure DP the "
    "l1 sensitivity of the triangle.",
    calibrations={
        "sound": "right sensitivities, exact calibration, rounded to the safe side",
        PUBLISHED: "Algorithm 1 as printed: noise on the upper triangle, eigenvalues neither clipped nor sorted, "
        "Laplace scale sqrt(2) d/(n epsilon); zCDP and pure DP only",
    },
)
@dataclass(frozen=True)
class SeparateCov(Method):
    """Eigenvalues from one noisy measurement, eigenvectors from another.

    Guarantee
    ---------
    As asked, replace-one with public n; the proofs are in measurements/eigenvalues.py and moment.py.

    Spends
    ------
    The whole guarantee, in two measurements.

    Notes
    -----
    Eigenvectors are ordered by descending algebraic eigenvalue of the noisy matrix. The published code orders them by
    absolute value (an svd), which gives large eigenvalues to negative noise; eig "svd-authors" repeats that.
    """

    values_share: float = parameter(
        0.5,
        "Share for the eigenvalues",
        **SHARE,
        help="Of epsilon (pure DP), rho (zCDP) or squared mu (approximate DP); the rest goes to the eigenvectors.",
    )
    eig: str = parameter(
        "eigh",
        "Order of eigenvectors",
        choices=("eigh", "svd-authors"),
        advanced=True,
        help="svd-authors repeats a fault of the published code; only with the calibration as-published-5.",
    )

    def run(self, inputs: MethodInput) -> Outcome:
        """Measure eigenvalues and eigenvectors, and put them together."""
        published_guard(inputs, self.card)
        published = inputs.calibration == PUBLISHED
        shares = accounting.split(inputs.guarantee, values=self.values_share, vectors=1 - self.values_share)
        noisy, noisy_moment = measure_both(
            inputs.dataset, shares, centre=inputs.centre, calibration=inputs.calibration, rng=inputs.rng
        )
        values = noisy.values if published else tidy(noisy.values, top(inputs.centre == "joint"))
        matrix = assemble(values, eigenvectors(noisy_moment.matrix, self.eig if published else "eigh"))
        notes = ()
        if self.eig == "svd-authors" and not published:
            notes = ("Eigenvectors in descending order of eigenvalue: the published order needs as-published-5.",)
        moments = unpack(matrix, centre=inputs.centre, row_bound=noisy_moment.row_bound)
        return Outcome(noisy_moment, moments, notes=notes, steps=() if noisy.event is None else (noisy.event,))
