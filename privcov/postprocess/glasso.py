"""The graphical lasso: a sparse precision matrix from a covariance, with a certificate for every answer.

The problem, to which ``lam tr T`` is added where the diagonal is penalised::

    min over T > 0 of  -log det T + <S, T> + lam sum_{i != j} |T_ij|

S may be the noisy, indefinite matrix of a private release: then the problem has a solution only for lam above a
critical value (`privcov.postprocess.feasibility`), and a smaller lam gets no matrix at all. The solver is block
coordinate descent on W, compiled by numba; without numba, and where the descent fails, ADMM. Both stop on the certified
duality gap per variable, ``f(T) - log det W - d`` over d with W positive definite and ``|W - S| <= lam``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from privcov.core import checks
from privcov.postprocess.admm import AdmmResult, solve_admm
from privcov.postprocess.feasibility import Diagnosis, Infeasible, diagnose, quick_psd
from privcov.postprocess.fit import PathPoint

BLOCK, ADMM, CLOSED = "block descent", "admm", "closed form"
MAX_SWEEPS = 500
SMALLEST_UNIT, LARGEST_UNIT = 1e-150, 1e150  # beyond, products and reciprocals leave the range of a float


def lambda_max(s: np.ndarray) -> float:
    """Return the largest ``|s_ij|``, i != j: the smallest lambda without an edge, where s has a solution there."""
    s = checks.square("s", s)
    return _largest_pair((s + s.T) / 2)


def solve_path(
    s: np.ndarray,
    lambdas: Sequence[float] | np.ndarray | None = None,
    *,
    penalise_diagonal: bool = False,
    tol: float = 1e-6,
    points: int = 20,
    depth: float = 0.01,
    diagnosis: Diagnosis | None = None,
) -> tuple[PathPoint, ...]:
    """Solve the graphical lasso of s at every lambda; references are in glasso_kernel."""
    s = checks.square("s", s)
    if lambdas is None:
        points = checks.integer("points", points, 1)
        depth = checks.in_range("depth", depth, 1e-9, 1.0)
        lambdas = np.geomspace(1.0, depth, points) * (lambda_max(s) or float(np.abs(np.diag(s)).mean()) or 1.0)
    return _path(s, lambdas, penalise_diagonal, tol, diagnosis)


def solve(s: np.ndarray, lam: float, *, penalise_diagonal: bool = False, tol: float = 1e-6) -> PathPoint:
    """Solve the graphical lasso at one lambda; see `solve_path`."""
    s = checks.square("s", s)
    (fit,) = _path(s, [lam], penalise_diagonal, tol)
    if fit.status == "infeasible":
        raise Infeasible(fit.lam, diagnose(s, penalise_diagonal=penalise_diagonal))
    return fit


def warm_up() -> None:
    """Compile the descent, or load it from numba's cache on disk, so that the first path does not have to wait."""
    solve(np.array([[2.0, 1.0], [1.0, 2.0]]), 0.5)


def has_descent() -> bool:
    """Return whether the compiled descent can be used; without numba ADMM solves every path, more slowly."""
    return _kernel() is not None


def _path(
    s: np.ndarray, lambdas: Sequence[float] | np.ndarray, ridged: bool, tol: float, known: Diagnosis | None = None
) -> tuple[PathPoint, ...]:
    s = (s + s.T) / 2
    lams = np.array([checks.positive("lambda", lam) for lam in np.atleast_1d(lambdas).tolist()])
    if not len(lams):
        raise ValueError("lambdas must hold at least one value, got none.")
    tol = checks.positive("tol", tol)
    kernel = _kernel()
    unit = _unit(s, float(lams.max()))
    # Where the diagonal is penalised and a variance is below zero to rounding, W_ii = s_ii + lam must be positive yet.
    distance = max(0.0, -float(np.diag(s).min()))
    anchor: np.ndarray | None = s
    if not ((ridged or np.diag(s).min() > 0) and quick_psd(s)):
        diagnosis = known or diagnose(s, penalise_diagonal=ridged, lambda_range=(float(lams.min()), float(lams.max())))
        distance, anchor = diagnosis.smallest, diagnosis.anchor
    usable = [i for i in np.argsort(-lams, kind="stable") if lams[i] > distance]
    fits = [PathPoint(float(lam), None, "infeasible") for lam in lams]
    if usable:
        assert anchor is not None, "a finite distance has a matrix at it"
        descent = _Descent(s / unit, ridged, anchor / unit, distance / unit, tol, kernel)
        for i, fit in zip(usable, descent.along(lams[usable] / unit), strict=True):
            precision = None if fit.precision is None else fit.precision / unit
            fits[i] = PathPoint(float(lams[i]), precision, fit.status, fit.gap, fit.sweeps, fit.solver)
    return tuple(fits)


def _kernel() -> ModuleType | None:
    """Return the compiled descent, or None where ADMM is used. Every PathPoint names its solver."""
    try:
        from privcov.postprocess import glasso_kernel
    except ImportError:
        return None
    return glasso_kernel


def _largest_pair(s: np.ndarray) -> float:
    size = np.abs(s)
    np.fill_diagonal(size, 0.0)
    return float(size.max())


def _unit(s: np.ndarray, otherwise: float) -> float:
    """Return a power of two near the mean absolute diagonal, the largest entry where that is zero, or ``otherwise``.

    Dividing by a power of two and multiplying back is exact, so a gap in scaled units is that of the answer.
    """
    size = float(np.abs(np.diag(s)).mean()) or float(np.abs(s).max()) or otherwise
    checks.in_range("mean absolute diagonal entry", size, SMALLEST_UNIT, LARGEST_UNIT, "Rescale s.")
    return math.ldexp(1.0, round(math.log2(size)))


class _Descent:
    """The descent along the path of one scaled matrix."""

    def __init__(
        self, s: np.ndarray, ridged: bool, anchor: np.ndarray, distance: float, tol: float, kernel: ModuleType | None
    ) -> None:
        self.s, self.ridged, self.tol, self.kernel = s, ridged, tol, kernel
        self.anchor, self.distance = np.ascontiguousarray(anchor), distance
        self.top = _largest_pair(s)

    def along(self, lams: np.ndarray) -> list[PathPoint]:
        """Return the fits at falling lambdas above the distance."""
        empty = int(np.count_nonzero(lams >= self.top))
        # without an edge T_ii = 1 / W_ii; W is the inverse, so the gap is zero
        fits = [PathPoint(lam, np.diag(1 / self._diagonal(lam)), "ok", 0.0, 0, CLOSED) for lam in lams[:empty]]
        rest = np.ascontiguousarray(lams[empty:])
        if not len(rest):
            return fits
        return fits + (self._split(rest, None) if self.kernel is None else self._descend(rest, self.kernel))

    def _diagonal(self, lam: float) -> np.ndarray:
        return np.diag(self.s) + (lam if self.ridged else 0.0)

    def _split(self, lams: np.ndarray, start: AdmmResult | None) -> list[PathPoint]:
        """Solve by ADMM, each lambda from the one before."""
        fits = []
        for lam in lams:
            start = solve_admm(self.s, lam, penalise_diagonal=self.ridged, tol=self.tol, start=start)
            fits.append(_as_fit(lam, start))
        return fits

    def _descend(self, lams: np.ndarray, kernel: ModuleType) -> list[PathPoint]:
        """Run block descent; a lambda where it fails goes to ADMM, and the descent goes on from there."""
        fits: list[PathPoint] = []
        start, w, b = self.top, np.diag(self._diagonal(self.top)), np.zeros_like(self.s)
        while len(fits) < len(lams):
            rest = lams[len(fits) :]
            precisions, gaps, sweeps, codes = kernel.descend_path(
                self.s, rest, self.ridged, self.anchor, self.distance, w, b, start, self.tol, MAX_SWEEPS
            )
            good = int(np.count_nonzero(codes == kernel.OK))
            fits += [
                PathPoint(rest[i], precisions[i], "ok", float(gaps[i]), int(sweeps[i]), BLOCK) for i in range(good)
            ]
            if good == len(rest):
                break
            lam = rest[good]
            other = solve_admm(self.s, lam, penalise_diagonal=self.ridged, tol=self.tol)
            fits.append(_as_fit(lam, other))
            if other.status == "ok":
                assert other.dual is not None
                assert other.precision is not None
                start, w, b = lam, other.dual.copy(), _coefficients(other.precision)
            else:
                start, w, b = self.top, np.diag(self._diagonal(self.top)), np.zeros_like(self.s)
        return fits


def _as_fit(lam: float, result: AdmmResult) -> PathPoint:
    gap = result.gap if math.isfinite(result.gap) else math.nan
    return PathPoint(lam, result.precision, result.status, gap, result.iterations, ADMM)


def _coefficients(precision: np.ndarray) -> np.ndarray:
    """Return in row j the coefficients of column j on the others, -T_kj / T_jj."""
    b = -precision / np.diag(precision)[:, None]
    np.fill_diagonal(b, 0.0)
    return b
