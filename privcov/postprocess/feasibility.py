"""The penalties for which the graphical lasso of a symmetric, possibly indefinite, matrix has a solution.

There is one exactly when the box ``|W_ij - S_ij| <= lam`` (diagonal held, or free by lam where it is penalised)
contains a positive definite matrix, that is for lam above a critical value: the distance from S to the positive
semi-definite cone in the largest entry. Both sides of that value carry a witness that can be checked by multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.core import checks

EPS = np.finfo(float).eps
AGREE = 1e-3  # the two bounds meet to this relative accuracy
ROOM = 0.9  # of the least penalty asked about: an anchor at the edge of its box would be nearly singular
MAX_ITERATIONS, WORK = 3000, 40_000_000  # and at most WORK / d^2 iterations (from 115 columns on)
RELAX = 1.6
BALANCE = 10


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Where solutions begin, with both witnesses.

    smallest: every lam > smallest has a solution (0 for a positive definite matrix; inf where no lam has one). below:
    where above 0, no lam <= below has a solution. reason: a sentence on the cause.

    anchor: positive semi-definite A with ``max |A - S| <= smallest`` (A_ii = S_ii where the diagonal is not penalised);
    None where ``smallest`` is inf. ray: positive semi-definite D with ``<S, D> + below |D|_1 <= 0`` (the norm without
    an unpenalised diagonal): along I + t D the objective falls without end for every lam <= below. None where ``below``
    is 0.
    """

    smallest: float
    below: float
    anchor: np.ndarray | None
    ray: np.ndarray | None
    reason: str


class Infeasible(ValueError):
    """Raised where a penalty has no solution; the penalty and the diagnosis are kept as attributes."""

    def __init__(self, lam: float, diagnosis: Diagnosis):
        self.lam, self.diagnosis = lam, diagnosis
        super().__init__(_sentence(lam, diagnosis))


def _sentence(lam: float, bounds: Diagnosis) -> str:
    repairs = "repair the matrix: clip its eigenvalues (psd), or add a ridge (ridge)."
    if math.isinf(bounds.smallest):
        return f"No lambda has a solution: {bounds.reason}. Penalise the diagonal too, or {repairs}"
    low, high = _digits(bounds.below, math.floor), _digits(bounds.smallest, math.ceil)
    if lam <= bounds.below:
        return (
            f"lambda = {lam:.3g} has no solution: {bounds.reason}, and along a certified direction the objective falls "
            f"without end up to lambda = {low:.3g}. Use lambda above {high:.3g}, or {repairs}"
        )
    return (
        f"lambda = {lam:.6g} is not known to have a solution: {bounds.reason}, and the smallest usable lambda lies "
        f"between {bounds.below:.6g} and {bounds.smallest:.6g}. Use lambda above {bounds.smallest:.6g}, or {repairs}"
    )


def _digits(x: float, turn: Callable[[float], int]) -> float:
    """Return x to three digits, rounded by ``turn`` (math.floor or math.ceil)."""
    if x <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(x)) - 2)
    return turn(x / unit + (1e-9 if turn is math.floor else -1e-9)) * unit


def quick_psd(s: np.ndarray) -> bool:
    """Return whether a matrix is positive semi-definite to rounding, by a Cholesky factor where that is enough."""
    from scipy.linalg.lapack import dpotrf

    if dpotrf(np.asarray(s, dtype=float), lower=1)[1] == 0:
        return True
    values = np.linalg.eigvalsh(s)
    return bool(values[0] >= -4 * len(s) * EPS * np.abs(values).max())


def certainly_definite(a: np.ndarray) -> bool:
    """Return True only if the exact matrix held in ``a`` is positive definite, rounding included.

    A Cholesky factorisation of a - c I that runs through proves it for c >= (d + 2) eps trace, up to terms that the
    factor 2 covers. A congruence by powers of two, which is exact, first brings the diagonal to [1/2, 2).

    Reference: Rump (2006), Verification of positive definiteness.
    """
    from scipy.linalg.lapack import dpotrf

    diagonal = np.diag(a)
    if not np.isfinite(a).all() or diagonal.min() <= 0:
        return False
    power = -(np.frexp(diagonal)[1] // 2)
    scaled = np.ldexp(a, power[:, None] + power[None, :])
    shift = 2 * (len(a) + 2) * EPS * float(np.trace(scaled))
    scaled[np.diag_indices_from(scaled)] -= shift
    return dpotrf(scaled, lower=1)[1] == 0


def diagnose(
    s: np.ndarray, *, penalise_diagonal: bool = False, lambda_range: tuple[float, float] = (0.0, math.inf)
) -> Diagnosis:
    """Return the penalties that have a solution, with certificates.

    Cheapest test first: diagonal, Cholesky factor and eigenvalues, then ADMM on ``min max|A - S|`` over A >= 0, stopped
    when the certified bounds agree to 1e-3, or decide every penalty between the two that are ``lambda_range`` about.
    From about 300 columns on it may stop sooner; the interval [below, smallest] is then wider but just as true.
    """
    s = checks.square("s", s)
    s = (s + s.T) / 2
    d = len(s)
    if not penalise_diagonal and (bad := np.flatnonzero(np.diag(s) <= 0)).size:
        ray = np.zeros_like(s)
        ray[bad[0], bad[0]] = 1.0
        return Diagnosis(math.inf, math.inf, None, ray, _diagonal_reason(bad, s))
    if certainly_definite(s):
        return Diagnosis(0.0, 0.0, s, None, "the matrix is positive definite")
    if not s.any():
        return Diagnosis(0.0, 0.0, s, None, "the matrix is zero")
    values, vectors = np.linalg.eigh(s)
    lowest = float(values[0])
    if lowest >= -4 * d * EPS * np.abs(values).max():
        smallest, anchor = _anchor(s, s, penalise_diagonal)
        return Diagnosis(smallest, 0.0, anchor, None, "the matrix is positive semi-definite to rounding")
    reason = f"the matrix is indefinite (smallest eigenvalue {lowest:.3g})"
    if (bad := np.flatnonzero(np.diag(s) < 0)).size:
        reason += f" and {_diagonal_reason(bad, s)}"
    most = min(MAX_ITERATIONS, max(WORK // d**2, 10))
    return _project(s, values, vectors, penalise_diagonal, lambda_range, most, reason)


def _diagonal_reason(bad: np.ndarray, s: np.ndarray) -> str:
    entries = ", ".join(f"{i} ({s[i, i]:.3g})" for i in bad[:5]) + (", ..." if len(bad) > 5 else "")
    if len(bad) == 1:
        return f"diagonal entry {entries} is not positive"
    return f"{len(bad)} diagonal entries are not positive: {entries}"


def _project(
    s: np.ndarray,
    values: np.ndarray,
    vectors: np.ndarray,
    free: bool,
    lambda_range: tuple[float, float],
    most: int,
    reason: str,
) -> Diagnosis:
    """Run ADMM for ``min |Y - S|_max`` over Y = X >= 0, the diagonal of Y held where it is not ``free``.

    X is the positive part of Y - U and the negative part N is a candidate for the ray: ``-<S, N> / |N|_1`` bounds the
    distance from below for every N >= 0, because <A, N> >= 0. Y - S is the proximal point of the largest entry, the
    rest of a projection on an L1 ball (Moreau). Both bounds are certified once, on the best pair.
    """
    unit = float(np.abs(s).max())
    least, largest = lambda_range[0] * ROOM / unit, lambda_range[1] / unit
    target, corner = s / unit, np.diag_indices_from(s)
    u = (vectors * np.maximum(-values / unit, 0.0)) @ vectors.T
    y, rho = target, 1 / _norm(u, free)
    low, high, rising, nearest = -math.inf, math.inf, u, None
    pause = change = BALANCE
    for iteration in range(1, most + 1):
        x, negative = _parts(y - u)
        slope = -float(np.sum(target * negative)) / _norm(negative, free) if negative.any() else 0.0
        if slope > low:
            low, rising = slope, negative
        near = x if free else _with_diagonal(x, target)
        if near is not None and (reach := float(np.abs(near - target).max())) < high:
            high, nearest = reach, near
        if high - low <= AGREE * high or high <= least or low >= largest:
            break
        shift = RELAX * x + (1 - RELAX) * y + u - target
        theta = _threshold(shift, 1 / rho, free)
        move = np.clip(shift, -theta, theta)
        if not free:
            move[corner] = 0.0
        last, y, u = y, target + move, shift - move
        if iteration == change:
            ratio = np.linalg.norm(x - y) / max(float(np.linalg.norm(y - last)), 1e-300)
            factor = float(np.clip(np.sqrt(ratio), 0.5, 2.0))
            rho, u = rho * factor, u / factor
            pause = 2 * pause if iteration >= 200 else pause
            change += pause
    smallest, anchor = _anchor(s, target * unit if nearest is None else nearest * unit, free)
    below, ray = _ray(s, rising, free)
    return Diagnosis(smallest, below, anchor, ray, reason)


def _parts(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive and the negative part: m = x - n, both positive semi-definite."""
    from scipy.linalg.lapack import dsyevd

    values, vectors, info = dsyevd(m.T, compute_v=1, lower=1, overwrite_a=0)
    if info:
        raise np.linalg.LinAlgError("The eigenvalues of an iterate did not converge.")
    k = int(np.searchsorted(values, 0.0))
    if 2 * k <= len(values):
        half = vectors[:, :k] * np.sqrt(-values[:k])
        negative = half @ half.T
        return m + negative, negative
    half = vectors[:, k:] * np.sqrt(values[k:])
    x = half @ half.T
    return x, x - m


def _norm(a: np.ndarray, free: bool) -> float:
    """Return the sum of absolute entries, without the diagonal where that is held."""
    size = float(np.abs(a).sum())
    return size if free else size - float(np.abs(np.diag(a)).sum())


def _threshold(a: np.ndarray, radius: float, free: bool) -> float:
    """Return theta >= 0 with ``sum max(|a_ij| - theta, 0) = radius``, 0 if the sum is smaller, by Newton's method."""
    size = np.abs(a)
    if not free:
        np.fill_diagonal(size, 0.0)
    size = size.ravel()
    theta = 0.0
    while True:
        size = size[size > theta]
        step = (float(size.sum()) - radius) / len(size) if len(size) else 0.0
        if step <= theta * (1 + 4 * EPS):  # the sum is convex in theta: the steps rise and stop
            return theta
        theta = step


def _with_diagonal(x: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """Return D x D with the diagonal of the target, still positive semi-definite; None where x has a zero on it."""
    diagonal = np.diag(x)
    if diagonal.min() <= 0:
        return None
    scale = np.sqrt(np.diag(target) / diagonal)
    a = x * np.outer(scale, scale)
    a[np.diag_indices_from(a)] = np.diag(target)
    return a


def _anchor(s: np.ndarray, x: np.ndarray, free: bool) -> tuple[float, np.ndarray]:
    """Return a certified definite matrix near x, and its distance to s in the largest entry, rounded up.

    Free diagonal: x + c I. Held: the off-diagonal entries shrink by 1 - c, and the diagonal is that of s exactly.
    """
    x, corner = (x + x.T) / 2, np.diag_indices_from(s)
    size, c = float(np.abs(s).max()), 8 * len(s) ** 2 * EPS
    while True:
        a = x.copy() if free else (1 - min(c, 1.0)) * x
        a[corner] = x[corner] + c * size if free else s[corner]
        if certainly_definite(a):
            return float(np.abs(a - s).max()) * (1 + 4 * EPS), a
        c *= 4


def _ray(s: np.ndarray, n: np.ndarray, free: bool) -> tuple[float, np.ndarray | None]:
    """Return the largest lam that a certified definite matrix near n excludes, rounded down, and that matrix."""
    n = (n + n.T) / 2
    c = 8 * len(s) ** 2 * EPS
    while not certainly_definite(d := n + c * np.abs(n).max() * np.eye(len(s))):
        c *= 4
    d /= 2.0 ** np.frexp(np.abs(d).max())[1]  # exact
    terms = s * d
    fall = -math.fsum(terms.ravel()) - 1e-12 * float(np.abs(terms).sum())
    if fall <= 0:
        return 0.0, None
    return fall / (_norm(d, free) * (1 + 1e-12)), d
