"""Graphical lasso by the alternating direction method of multipliers, with a certified duality gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privcov.core import checks

RELAX = 1.6  # over-relaxation, between 1 and 2
LOOK = 4  # iterations between two checks of the gap (two Cholesky factors each)
BALANCE = 5  # iterations between two changes of rho
SETTLE = 300  # from this iteration on the pause doubles, so that rho settles


@dataclass(frozen=True, eq=False)
class AdmmResult:
    """Result of `solve_admm`.

    precision: positive definite, with exact zeros; None if no iterate could be certified. dual: W, positive definite,
    ``|W_ij - S_ij| <= lam`` off the diagonal, ``W_ii = S_ii`` (plus lam where the diagonal is penalised), to rounding.
    gap: certified duality gap per variable in nats, or infinite. iterations: of the largest component. status: "ok",
    "not converged" or "infeasible".
    """

    precision: np.ndarray | None
    dual: np.ndarray | None
    gap: float
    iterations: int
    status: str


def solve_admm(
    s: np.ndarray,
    lam: float,
    *,
    penalise_diagonal: bool = False,
    tol: float = 1e-6,
    start: AdmmResult | None = None,
    most: int = 5000,
) -> AdmmResult:
    """Solve the problem of `privcov.postprocess.glasso` by ADMM, with a certified gap.

    The multiplier keeps W in the box at every iteration, so the gap costs two Cholesky factors. Components of the graph
    ``|S_ij| > lam`` are solved one by one, which is exact for indefinite s too: the blocks' W, filled with zeros, lies
    in the box and is the inverse of the blocks' T.

    Reference: Boyd et al. (2011), section 6.5; Wohlberg (2017) for rho.
    """
    s = checks.square("s", s)
    lam = checks.positive("lam", lam)
    tol = checks.positive("tol", tol)
    most = checks.integer("most", most, 1)
    s = (s + s.T) / 2
    if penalise_diagonal:
        s = s + lam * np.eye(len(s))
    if np.diag(s).min() <= 0:  # that entry of T may grow without bound
        return AdmmResult(None, None, np.inf, 0, "infeasible")
    groups = components(s, lam)
    if len(groups) == 1:
        return _solve_connected(s, lam, tol, start, most)
    precision, dual = np.zeros_like(s), np.zeros_like(s)
    gap, iterations = 0.0, 0
    for group in groups:
        block = np.ix_(group, group)
        warm = start
        if start is not None and start.precision is not None:
            assert start.dual is not None
            warm = AdmmResult(start.precision[block], start.dual[block], start.gap, 0, start.status)
        part = _solve_connected(s[block], lam, tol, warm, most)
        iterations = max(iterations, part.iterations)
        if part.precision is None:
            return AdmmResult(None, None, np.inf, iterations, part.status)
        precision[block], dual[block] = part.precision, part.dual
        gap += part.gap * len(group)
    gap /= len(s)
    return AdmmResult(precision, dual, gap, iterations, "ok" if gap <= tol else "not converged")


def components(s: np.ndarray, lam: float) -> list[np.ndarray]:
    """Return the index sets of the connected components of the graph ``|s_ij| > lam``."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(np.abs(s) > lam, directed=False)
    return [np.flatnonzero(label == k) for k in range(count)]


def _solve_connected(s: np.ndarray, lam: float, tol: float, start: AdmmResult | None, most: int) -> AdmmResult:
    d = len(s)
    diagonal = np.arange(d), np.arange(d)
    if d == 1:
        return AdmmResult(1 / s, s.copy(), 0.0, 0, "ok")
    unit = float(np.mean(np.abs(s[diagonal])))
    s, lam = s / unit, lam / unit
    if start is not None and start.precision is not None:
        assert start.dual is not None
        z = start.precision * unit
        v = np.clip(start.dual / unit - s, -lam, lam)
    else:
        z, v = np.diag(1 / s[diagonal]), np.zeros_like(s)
    v[diagonal] = 0.0
    rho, pause, change = 1.0, BALANCE, BALANCE
    best = AdmmResult(None, None, np.inf, most, "not converged")
    for iteration in range(1, most + 1):
        theta = proximal_logdet(rho * z - v - s, rho)
        pull = rho * (RELAX * theta + (1 - RELAX) * z) + v
        v = np.clip(pull, -lam, lam)
        v[diagonal] = 0.0
        last, z = z, (pull - v) / rho  # exactly zero where the clip did nothing
        if iteration % LOOK == 0 or iteration == most:
            gap = gap_per_variable(s, z, s + v, lam)
            if gap < best.gap:
                best = AdmmResult(z, v, gap, iteration, "not converged")
            if gap <= tol:
                break
        if iteration == change:
            primal = np.linalg.norm(theta - z) / np.linalg.norm(theta)
            dual = rho * float(np.linalg.norm(z - last)) / max(float(np.linalg.norm(v)), 1e-300)
            rho *= float(np.clip(primal / max(dual, 1e-200), 0.2, 5.0))
            pause = 2 * pause if iteration >= SETTLE else pause
            change += pause
    if best.precision is None or best.dual is None:
        return AdmmResult(None, None, np.inf, iteration, "not converged")
    status = "ok" if best.gap <= tol else "not converged"
    return AdmmResult(best.precision / unit, (s + best.dual) * unit, best.gap, iteration, status)


def proximal_logdet(m: np.ndarray, rho: float) -> np.ndarray:
    """Return argmin over T > 0 of ``-logdet T + rho/2 |T|^2 - <m, T>``.

    Its eigenvalues are (q + sqrt(q^2 + 4 rho)) / (2 rho), q those of m.
    """
    from scipy.linalg.lapack import dsyevd

    q, vectors, info = dsyevd(m.T, compute_v=1, lower=1, overwrite_a=1)  # m is symmetric: m.T needs no copy
    if info:
        raise np.linalg.LinAlgError("The eigenvalues of an iterate did not converge.")
    root = np.sqrt(q * q + 4 * rho)
    t = np.where(q > 0, (q + root) / (2 * rho), 2 / (root - np.minimum(q, 0.0)))
    half = vectors * np.sqrt(t)
    return half @ half.T


def logdet(matrix: np.ndarray) -> float:
    """Return log det of a symmetric matrix, or -inf where its Cholesky factorisation fails."""
    from scipy.linalg.lapack import dpotrf

    factor, info = dpotrf(matrix.T, lower=1)
    return -np.inf if info else 2 * float(np.log(np.diag(factor)).sum())


def gap_per_variable(s: np.ndarray, t: np.ndarray, w: np.ndarray, lam: float) -> float:
    """Return the duality gap per variable, (f(t) - logdet w - d) / d, for an unpenalised diagonal."""
    both = logdet(t) + logdet(w)
    if not np.isfinite(both):
        return np.inf
    size = np.abs(t)
    value = float(np.sum(s * t)) + lam * float(size.sum() - np.trace(size))
    return max((value - both) / len(s) - 1, 0.0)


@dataclass(frozen=True, eq=False)
class Published:
    """State of the printed loop when it was stopped; nothing is certified.

    precision: the sparse Z, symmetric, possibly indefinite. theta: the other iterate, positive definite and not sparse.
    sizes: ``|Z|_F`` after each iteration.
    """

    precision: np.ndarray
    theta: np.ndarray
    sizes: np.ndarray


def published_admm(s: np.ndarray, lam: float, *, rho: float = 100.0, iterations: int = 1000) -> Published:
    """Run the loop that Su et al. 2019 prints, on the matrix as it is, for a stated number of iterations.

    ``Theta = argmin -logdet Theta + <S, Theta> + rho/2 |Theta - Z + U|^2``; ``Z = soft(Theta + U, lam / rho)``;
    ``U = U + Theta - Z``. The paper states no rule to stop and no initial values; here Z = U = 0. On an indefinite s
    with a small lam there is nothing to converge to, and ``|Z|_F`` grows by a constant at every iteration.

    Reference: Su et al. 2019, Algorithm 2 (DP-AGL).
    """
    s = checks.square("s", s)
    lam, rho = checks.positive("lam", lam), checks.positive("rho", rho)
    iterations = checks.integer("iterations", iterations, 1)
    z, u = np.zeros_like(s), np.zeros_like(s)
    sizes = np.empty(iterations)
    for k in range(iterations):
        theta = proximal_logdet(rho * (z - u) - s, rho)
        argument = theta + u
        z = np.sign(argument) * np.maximum(np.abs(argument) - lam / rho, 0.0)
        u = argument - z
        sizes[k] = np.linalg.norm(z)
    return Published(z, theta, sizes)
