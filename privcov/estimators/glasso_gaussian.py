"""DP-AGL in a first, sound form: one Gaussian measurement, a PSD repair, then the graphical lasso."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from privcov import accounting
from privcov.estimators.base import METHODS, Ask, Method, Outcome
from privcov.measurements.moment import Measured, measure_moment
from privcov.parameters import parameter
from privcov.postprocess.fit import Fit
from privcov.postprocess.joint import unpack
from privcov.postprocess.spectrum import clip_psd
from privcov.privacy import ApproxDP, ZCDP

FLOOR = 0.01  # eigenvalue floor of the repair, as a share of the mean variance
ROUNDING = 1e-12  # a variance below this share of the second moment is what cancellation left
SMALLEST = 1e-100  # below this share of R squared, products of two variances underflow
PATH_POINTS = 20
TOLERANCE = 1e-4  # on the duality gap, in nats
PATH_DEPTH = 0.01  # the smallest lambda, as a share of the largest


@METHODS.add(
    key="glasso-gaussian",
    label="Graphical lasso (DP-AGL)",
    target="precision",
    family="Graph",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    order=60,
    tunings=("released", "fixed"),
    summary="Adds Gaussian noise once, repairs the spectrum, then finds a sparse precision matrix. The whole "
    "path of penalties is free, because it only reads the noisy matrix.",
    formula=r"\hat\Theta_\lambda=\arg\min_{\Theta\succ0}\;-\log|\Theta|+\mathrm{tr}(\tilde S_+\Theta)"
    r"+\lambda\sum_{i\ne j}|\Theta_{ij}|",
    avoid="When the noise per entry exceeds the correlations you look for: edges are then drawn from noise.",
    reference="Paper 2, Algorithm 2 (DP-AGL).",
    differs="Least noisy shape, exact calibration, PSD repair with a floor before the lasso (without it the "
    "problem may be unbounded), diagonal not penalised, lambda from the released matrix.",
)
@dataclass(frozen=True)
class GlassoGaussian(Method):
    """Guarantee: as asked, replace-one with public n; everything after the measurement is post-processing.

    tuning "released", rule "ebic": lambda by the extended BIC on the path with the effective sample size
    1/n_eff = 1/n + s^2 / mean(S_ii S_jj), s the noise deviation of an off-diagonal entry.
    tuning "released", rule "half-universal": lambda = sqrt(2 log(d(d-1)/2)) / 2 times the deviation of an entry,
    sqrt(s^2 + mean(S_ii S_jj)/n): fewer edges, more of them true.
    tuning "fixed": lambda = ``penalty`` times the smallest lambda that empties the graph.
    """

    rule: str = parameter(
        "ebic",
        "Rule for lambda",
        choices=("ebic", "half-universal"),
        group="Path",
        help="Free: both read the released matrix only. ebic aims at the likelihood, half-universal at the edges.",
    )
    penalty: float = parameter(
        0.2,
        "Penalty",
        low=0.001,
        high=1.0,
        log=True,
        group="Path",
        help="Share of the largest useful lambda; used when tuning is fixed.",
    )

    def run(self, ask: Ask) -> Outcome:
        share = accounting.split(ask.guarantee, matrix=1)["matrix"]
        measured = measure_moment(ask.dataset, share, centre=ask.centre, shape="free-trace", rng=ask.rng)
        moments = unpack(clip_psd(measured.matrix), centre=ask.centre, row_bound=measured.row_bound)
        noisy = moments.covariance if moments.covariance is not None else moments.second_moment
        mean_variance = float(np.trace(noisy)) / ask.dataset.d
        size = float(np.trace(moments.second_moment)) / ask.dataset.d
        if mean_variance <= max(ROUNDING * size, SMALLEST * ask.dataset.row_bound**2):
            raise ValueError(
                "The noisy matrix has no variance left, so there is no precision matrix. "
                "Use a larger epsilon, more rows, or fewer columns."
            )
        repaired = clip_psd(noisy, FLOOR * mean_variance)
        lowest = float(np.linalg.eigvalsh(noisy)[0])
        notes = (
            f"Eigenvalues below {FLOOR:g} of the mean variance were raised to it before the lasso."
            if lowest < FLOOR * mean_variance
            else "The noisy matrix needed no repair before the lasso.",
        )
        path = solve_path(repaired)
        best = self._choose(path, repaired, measured, ask.tuning)
        if best is None:
            raise ValueError(
                "The graphical lasso failed at every lambda on this noisy matrix. "
                "Use a larger epsilon, more rows, or fewer columns."
            )
        notes += (f"Chosen lambda: {path[best].lam:.4g} (point {best + 1} of {len(path)}).",)
        return Outcome(measured, moments, path[best].precision, path, notes)

    def _choose(self, path: tuple[Fit, ...], s: np.ndarray, measured: Measured, tuning: str) -> int | None:
        solved = [i for i, fit in enumerate(path) if fit.precision is not None]
        if len(solved) < 2:
            return solved[0] if solved else None
        n_eff = effective_samples(s, measured)
        if tuning == "released" and self.rule == "ebic":
            return min(solved, key=lambda i: extended_bic(path[i].precision, s, n_eff))
        pairs = len(s) * (len(s) - 1) / 2
        want = (
            self.penalty * path[0].lam
            if tuning == "fixed"
            else np.sqrt(2 * np.log(max(pairs, 2)) * typical_product(s) / n_eff) / 2
        )
        return min(solved, key=lambda i: abs(np.log(path[i].lam / want)))


def effective_samples(s: np.ndarray, measured: Measured) -> float:
    """Rows that would carry as much sampling error as the sampling and the privacy noise together."""
    noise = measured.law.off_diagonal_std * measured.row_bound**2
    return 1 / (1 / measured.rows + noise**2 / typical_product(s))


def typical_product(s: np.ndarray) -> float:
    """Mean of S_ii S_jj over pairs i != j (of S_11 squared when d = 1)."""
    v = np.diag(s)
    if len(v) == 1:
        return float(v[0] ** 2)
    return float((v.sum() ** 2 - (v**2).sum()) / (len(v) * (len(v) - 1)))


def extended_bic(theta: np.ndarray, s: np.ndarray, n_eff: float, gamma: float = 0.5) -> float:
    """Extended BIC of a precision matrix (Foygel and Drton 2010); smaller is better."""
    d = len(s)
    if np.linalg.eigvalsh(theta)[0] <= 0:  # an unconverged solution need not be a precision matrix
        return float("inf")
    edges = np.count_nonzero(np.triu(theta, 1))
    fit = float(np.sum(s * theta)) - np.linalg.slogdet(theta)[1]
    return n_eff * fit + edges * np.log(max(n_eff, 2.0)) + 4 * gamma * edges * np.log(d)


def solve_path(s: np.ndarray) -> tuple[Fit, ...]:
    """Twenty graphical lassos from the empty graph down, on a positive definite s; failures are reported.

    scikit-learn's coordinate descent on s divided by its mean variance (the solution scales along).
    """
    from sklearn.covariance import graphical_lasso  # heavy: only when a path is asked for

    d = len(s)
    unit = float(np.trace(s)) / d
    scaled = s / unit
    top = float(np.abs(scaled[~np.eye(d, dtype=bool)]).max()) if d > 1 else 0.0
    if top == 0.0:
        return (Fit(0.0, np.diag(1 / np.diag(s)), "ok", 0.0),)
    path = []
    for lam in np.geomspace(top, PATH_DEPTH * top, PATH_POINTS):
        with warnings.catch_warnings():
            # scikit-learn warns where it stops early; the gap it ends with says so more exactly.
            warnings.simplefilter("ignore")
            try:
                _, theta, costs = graphical_lasso(scaled, float(lam), tol=TOLERANCE, max_iter=200, return_costs=True)
            except FloatingPointError:
                path.append(Fit(float(lam) * unit, None, "failed"))
                continue
        gap = abs(float(costs[-1][1])) / d
        status = "ok" if gap * d < TOLERANCE else "not converged"
        path.append(Fit(float(lam) * unit, (theta + theta.T) / (2 * unit), status, gap))
    return tuple(path)
