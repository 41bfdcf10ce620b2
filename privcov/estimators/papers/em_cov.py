"""EMCov: noisy eigenvalues, and eigenvectors drawn one after another by the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, BudgetShare, NoPrivacy, PureDP
from privcov.core.parameters import parameter
from privcov.estimators.base import ALL_KINDS, METHODS, Method, MethodInput, Outcome
from privcov.estimators.papers.separate_cov import PUBLISHED, SHARE
from privcov.measurements.eigenvalues import measure_eigenvalues, top
from privcov.measurements.exponential_vectors import measure_directions
from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import assemble

LARGEST = 256
SECONDS_AT_100 = 0.05  # one release at d = 100 on one core; grows with the fourth power of d
TAIL = 0.1  # failure probability in the adaptive budgets' offset


@METHODS.add(
    key="em-cov",
    label="EMCov",
    target="covariance",
    family="Spectral",
    guarantees=ALL_KINDS,
    standing="proved",
    version=2,
    order=43,
    summary="Draws eigenvectors one by one from the exponential mechanism, and measures eigenvalues with noise.",
    formula=r"\hat\Sigma=\sum_i\tilde\lambda_i\theta_i\theta_i^\top,\quad "
    r"p(\theta_i)\propto\exp\big(\tfrac{\varepsilon_i}{2\Delta}\theta_i^\top S\,\theta_i\big),\ "
    r"\theta_i\perp\theta_1,\dots,\theta_{i-1}",
    avoid="Beyond some dozens of columns: every direction takes a share of the guarantee.",
    reference="Amin, Dick, Kulesza, Munoz Medina and Vassilvitskii (2019); sampler of Kent, Ganeiber and Mardia "
    "(2018); a comparison method of Dong et al. 2022, Section 6.",
    differs="Exponent epsilon_i/2 where the paper has epsilon_i/4, since the score has sensitivity 1; the last "
    "direction, which the others determine, costs nothing; under zCDP each draw is accounted with its bounded range, "
    "rho_i = epsilon_i^2/8.",
    calibrations={
        "sound": "right sensitivities, exact calibration, exponent epsilon_i/2, the last direction free",
        PUBLISHED: "the exponent epsilon_i/4 of the paper and of the public code, which spends half of each epsilon, "
        "and a share for the last direction too",
    },
)
@dataclass(frozen=True)
class EMCov(Method):
    """Noisy eigenvalues and eigenvectors from the exponential mechanism.

    Guarantee
    ---------
    As asked, replace-one with public n; the proofs are in measurements/eigenvalues.py and
    measurements/exponential_vectors.py. An (epsilon, delta) guarantee is turned into the largest rho whose tight
    conversion stays within it.

    Spends
    ------
    The whole guarantee (as published, half of each epsilon of the directions).
    """

    values_share: float = parameter(
        0.5,
        "Share for the eigenvalues",
        **SHARE,
        help="Of epsilon (pure DP) or rho; the rest goes to the eigenvectors.",
    )
    budgets: str = parameter(
        "auto",
        "Shares of the directions",
        choices=("auto", "adaptive", "uniform"),
        help="adaptive: by the roots of the released eigenvalues. auto: adaptive under pure DP, else uniform.",
    )

    def run(self, inputs: MethodInput) -> Outcome:
        """Measure the eigenvalues, then draw the directions."""
        d, joint = inputs.dataset.d, inputs.centre == "joint"
        if d > LARGEST:
            seconds = SECONDS_AT_100 * (d / 100) ** 4
            raise ValueError(
                f"EMCov draws {d} directions one after another, about {seconds:.3g} seconds for one "
                f"release. It is offered up to d={LARGEST}; use separate-cov or auto-cov."
            )
        published = inputs.calibration == PUBLISHED
        if published and isinstance(inputs.guarantee, ApproxDP):
            raise ValueError(
                "The published EMCov is stated under pure DP; its (epsilon, delta) form is an approximate composition. "
                "Ask for PureDP or ZCDP, or use calibration='sound'."
            )
        draws = d + joint if published else max(d + joint - 1, 1)
        shares = accounting.split_mixed(inputs.guarantee, values=self.values_share, vectors=1 - self.values_share)
        spectrum = measure_eigenvalues(inputs.dataset, shares["values"], centre=inputs.centre, rng=inputs.rng)
        values = np.clip(spectrum.values, 0.0, top(joint))
        weights = self._weights(values, shares["values"], inputs.dataset.n)[:draws]
        parts = accounting.split(shares["vectors"], **{f"vector{i}": w for i, w in enumerate(weights)})
        vectors, draw_events = measure_directions(
            inputs.dataset, list(parts.values()), centre=inputs.centre, rng=inputs.rng, waste=2.0 if published else 1.0
        )
        moments = unpack(assemble(values, vectors), centre=inputs.centre, row_bound=inputs.dataset.row_bound)
        first = () if spectrum.event is None else (spectrum.event,)
        return Outcome(None, moments, steps=first + draw_events)

    def _weights(self, values: np.ndarray, share: BudgetShare, n: int) -> list[float]:
        """Return the shares of the directions from released eigenvalues: proportional to sqrt(lambda + tau), or equal.

        tau = (2/epsilon_0) log(2d/beta)/n lets a direction whose eigenvalue was lost in the noise keep a share.
        """
        pure = isinstance(share, PureDP)
        adaptive = self.budgets == "adaptive" or (self.budgets == "auto" and pure)
        if not adaptive or isinstance(share, NoPrivacy):
            return [1.0] * len(values)
        tau = 2 / accounting.pure_epsilon(share) * math.log(2 * len(values) / TAIL) / n
        root = np.sqrt(values + tau)
        # Under zCDP a share of rho is proportional to a squared epsilon.
        weights = root if pure else root**2
        return [float(w) for w in np.maximum(weights / weights.max(), 1e-12)]
