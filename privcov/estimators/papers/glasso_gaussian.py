"""DP-AGL of Su et al. 2019, which is also the covariance perturbation with Gaussian noise of Wang et al. 2018."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core.guarantees import RELATIONS, ApproxDP, ZCDP
from privcov.core.parameters import parameter
from privcov.estimators.base import METHODS, MethodInput
from privcov.estimators.glasso import NO_VARIANCE, PATH_DEPTH, PATH_POINTS, SMALLEST, TUNINGS, Glasso
from privcov.estimators.mechanisms import PRINTED, SOUND, Mechanism
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment
from privcov.postprocess.admm import gap_per_variable, published_admm
from privcov.postprocess.feasibility import diagnose
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.glasso import lambda_max
from privcov.postprocess.lambda_choice import nearest

# Su et al. 2019 and Mathematics 2023 print the same scale.
SCALES = {"as-published-2": PRINTED["as-published-4"], "as-published-3": PRINTED["as-published-3"]}
RHO = 100.0  # of the ADMM of Su et al. 2019
TOLERANCE = 1e-6  # a certified gap per variable, in nats, below which the loop's answer counts as converged


@METHODS.add(
    key="glasso-gaussian",
    label="Graphical lasso (DP-AGL)",
    target="precision",
    family="Graph",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=60,
    version=3,
    tunings=TUNINGS,
    summary="Adds Gaussian noise, repairs the spectrum, then finds a sparse precision matrix. The whole path of "
    "penalties is free.",
    formula=r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}\;-\log|\Theta|+\mathrm{tr}(\tilde S_+\Theta)"
    r"+\lambda\sum_{i\ne j}|\Theta_{ij}|",
    avoid="When noise per entry exceeds the correlations you look for: edges then come from noise.",
    reference="Su et al. 2019, Algorithm 2 (DP-AGL); Wang et al. 2018, Algorithm 2 with Gaussian noise.",
    differs="Least noisy shape, exact calibration, PSD repair with a floor before the lasso (without it the "
    "problem may be unbounded), diagonal not penalised, lambda from the released matrix, every lambda certified.",
    calibrations={
        "sound": SOUND,
        "as-published-2": "Su et al. 2019: sigma = sqrt(2) sqrt(2 ln(1.25/delta)) R^2/(n epsilon), the right "
        "sensitivity with the classical constant; every entry penalised, nothing repaired, and ADMM with rho = 100 "
        "stopped after the stated number of iterations, converged or not",
        "as-published-3": "Wang et al. 2018: sigma = sqrt(2 ln(1.25/delta)) R^2/(n epsilon), the classical constant "
        "with sensitivity 1/n, which misses a factor sqrt(2) when a row is replaced; every entry penalised, nothing "
        "repaired, so that small penalties may have no solution",
    },
)
@dataclass(frozen=True)
class GlassoGaussian(Glasso):
    """Gaussian noise, then a graphical lasso.

    Guarantee
    ---------
    As asked; one Gaussian measurement, whose proof is in measurements/moment.py. The rest is post-processing.

    Spends
    ------
    The whole guarantee, in one measurement.
    """

    iterations: int = parameter(
        500,
        "ADMM iterations",
        low=1,
        high=20_000,
        advanced=True,
        help="As published by Su et al. 2019 only. An indefinite matrix never converges and rho = 100 is slow: "
        "the answer depends on where it stopped.",
    )

    mechanism = Mechanism("free-trace", SCALES, "upper-triangle")

    def path_as_published(
        self, s: np.ndarray, noisy_moment: NoisyMoment, inputs: MethodInput
    ) -> tuple[tuple[PathPoint, ...], tuple[str, ...]]:
        """Return the answers of the loop that Su et al. 2019 prints, one for every lambda, and notes."""
        if inputs.calibration != "as-published-2":
            return super().path_as_published(s, noisy_moment, inputs)
        size = float(np.abs(np.diag(s)).mean())
        if size <= SMALLEST:
            raise ValueError(NO_VARIANCE)
        top = lambda_max(s) or size
        path = tuple(self._stopped(s, float(lam)) for lam in np.geomspace(top, PATH_DEPTH * top, PATH_POINTS))
        below = diagnose(s, penalise_diagonal=True).below
        n_infeasible = sum(fit.lam <= below for fit in path)
        short = sum(fit.status != "ok" for fit in path)
        position = nearest(path, self.penalty * top)
        precision = path[position].precision
        assert precision is not None, "where the loop stopped there is a matrix"
        length = float(np.linalg.norm(precision)) / inputs.facts.row_bound**2
        notes = (
            f"As published, every entry is penalised, nothing is repaired, and ADMM with rho = {RHO:g} was stopped "
            f"after {self.iterations} iterations; {short} of {PATH_POINTS} penalties had not converged.",
            f"At {self.penalty:g} of the largest penalty |Z|_F was {length:.4g} at the stop.",
        )
        if n_infeasible:
            notes += (
                f"{n_infeasible} penalties have no solution, because the noisy matrix is indefinite: there |Z|_F "
                "grows with the number of iterations for ever, and what is shown is where it stood.",
            )
        return path, notes

    def _stopped(self, s: np.ndarray, lam: float) -> PathPoint:
        """Return Z after the stated number of iterations; its status is "ok" only if its gap is certified."""
        loop = published_admm(s, lam, rho=RHO, iterations=self.iterations)
        z = (loop.precision + loop.precision.T) / 2
        # A dual point: the inverse of the other iterate, moved into the box. Penalising the diagonal adds lam I to s.
        box = np.clip(np.linalg.inv(loop.theta), s - lam, s + lam)
        np.fill_diagonal(box, np.diag(s) + lam)
        gap = gap_per_variable(s + lam * np.eye(len(s)), z, (box + box.T) / 2, lam)
        gap = gap if np.isfinite(gap) else float("nan")
        status = "ok" if gap <= TOLERANCE else "not converged"
        return PathPoint(lam, z, status, gap, self.iterations, "admm as published")
