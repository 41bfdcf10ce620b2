"""The compiled loop of the graphical lasso: block coordinate descent on the covariance W. Needs numba.

Only `privcov.postprocess.glasso` imports this file. Everything here works on the problem with an unpenalised diagonal,
scaled to a mean diagonal of about one; the penalised diagonal is s + lam I.

Friedman, Hastie and Tibshirani (2008), with four differences. Every lambda starts from a W that is positive definite
and in the box of that lambda, so that block updates keep it definite (`_start`). The stopping rule is a certified
duality gap, whose dual point is put on the border of the box wherever the precision is not zero: there the gap has no
first-order term (`_certify`). The regression coefficients are continued along the path (`_continue`). A column's
inactive coordinates are only checked, not swept, once its active ones have settled.
"""

from __future__ import annotations

import numpy as np

from privcov.core.extras import compiled

MAX_PASSES = 2000  # over the active coordinates of one column
TIGHTER = 0.3  # factor on the inner tolerance when the gap stalls
LOOSEST = 1e-13  # an inner tolerance below this is rounding
OK, STALLED, LOST = 0, 1, 2  # LOST: an update left W indefinite
CHECK_ALWAYS = 200  # columns up to which the gap is checked after every sweep
CHECK_BELOW = 1e2  # above, only once the sweep moved W by less than this many tolerances


@compiled
def _log_det(a: np.ndarray) -> float:
    """Return log det of the symmetric matrix in the upper triangle of ``a``, which is overwritten; NaN unless definite.

    U'U by rows, four pivots at a time; no fast-math, so that a NaN is never taken for a pivot.
    """
    p = len(a)
    total = 0.0
    for first in range(0, p, 4):
        last = min(first + 4, p)
        for k in range(first, last):
            for h in range(first, k):
                f = a[h, k]
                if f != 0.0:
                    for m in range(k, p):
                        a[k, m] -= f * a[h, m]
            if not a[k, k] > 0.0:
                return np.nan
            root = np.sqrt(a[k, k])
            total += np.log(root)
            for m in range(k, p):
                a[k, m] /= root
        if last < p:
            for i in range(last, p):
                f0, f1, f2, f3 = a[first, i], a[first + 1, i], a[first + 2, i], a[first + 3, i]
                if f0 != 0.0 or f1 != 0.0 or f2 != 0.0 or f3 != 0.0:
                    for m in range(i, p):
                        a[i, m] -= f0 * a[first, m] + f1 * a[first + 1, m] + f2 * a[first + 2, m] + f3 * a[first + 3, m]
    return 2.0 * total


@compiled
def _product(w: np.ndarray, beta: np.ndarray, r: np.ndarray, active: np.ndarray) -> None:
    """Set r = W beta, four rows of W at a time; ``active`` is overwritten."""
    p = len(w)
    n = 0
    for k in range(p):
        if beta[k] != 0.0:
            active[n] = k
            n += 1
    r[:] = 0.0
    whole = n - n % 4
    for a in range(0, whole, 4):
        k0, k1, k2, k3 = active[a], active[a + 1], active[a + 2], active[a + 3]
        b0, b1, b2, b3 = beta[k0], beta[k1], beta[k2], beta[k3]
        for i in range(p):
            r[i] += b0 * w[k0, i] + b1 * w[k1, i] + b2 * w[k2, i] + b3 * w[k3, i]
    for a in range(whole, n):
        k0 = active[a]
        b0 = beta[k0]
        for i in range(p):
            r[i] += b0 * w[k0, i]


@compiled
def _change(gradient: float, lam: float, old: float, curvature: float) -> float:
    """Return how far one coordinate moves to its minimum: soft(gradient + curvature old, lam) / curvature - old."""
    g = gradient + curvature * old
    if g > lam:
        return (g - lam) / curvature - old
    if g < -lam:
        return (g + lam) / curvature - old
    return -old


@compiled
def _pass(
    w: np.ndarray, target: np.ndarray, lam: float, beta: np.ndarray, r: np.ndarray, active: np.ndarray, n: int
) -> float:
    """Make one pass over n coordinates of a column's lasso, and return the largest squared gradient error / curvature.

    Four coordinates move one after the other, but r = W beta is updated for all four in one pass through memory.
    """
    p = len(r)
    worst = 0.0
    whole = n - n % 4
    for a in range(0, whole, 4):
        k0, k1, k2, k3 = active[a], active[a + 1], active[a + 2], active[a + 3]
        h0, h1, h2, h3 = w[k0, k0], w[k1, k1], w[k2, k2], w[k3, k3]
        c0 = _change(target[k0] - r[k0], lam, beta[k0], h0)
        c1 = _change(target[k1] - r[k1] - c0 * w[k0, k1], lam, beta[k1], h1)
        c2 = _change(target[k2] - r[k2] - c0 * w[k0, k2] - c1 * w[k1, k2], lam, beta[k2], h2)
        c3 = _change(target[k3] - r[k3] - c0 * w[k0, k3] - c1 * w[k1, k3] - c2 * w[k2, k3], lam, beta[k3], h3)
        beta[k0] += c0
        beta[k1] += c1
        beta[k2] += c2
        beta[k3] += c3
        for i in range(p):
            r[i] += c0 * w[k0, i] + c1 * w[k1, i] + c2 * w[k2, i] + c3 * w[k3, i]
        worst = max(worst, c0 * c0 * h0, c1 * c1 * h1, c2 * c2 * h2, c3 * c3 * h3)
    for a in range(whole, n):
        k0 = active[a]
        c0 = _change(target[k0] - r[k0], lam, beta[k0], w[k0, k0])
        beta[k0] += c0
        for i in range(p):
            r[i] += c0 * w[k0, i]
        worst = max(worst, c0 * c0 * w[k0, k0])
    return worst


@compiled
def _candidates(
    w: np.ndarray, target: np.ndarray, lam: float, beta: np.ndarray, r: np.ndarray, active: np.ndarray, j: int
) -> tuple[int, float]:
    """List the support and the zeros that should change; return how many, and the largest error of such a zero."""
    n, worst = 0, 0.0
    for k in range(len(beta)):
        excess = abs(target[k] - r[k]) - lam
        if k != j and (beta[k] != 0.0 or excess > 0.0):
            active[n] = k
            n += 1
            if beta[k] == 0.0:
                worst = max(worst, excess * excess / w[k, k])
    return n, worst


@compiled
def _column(
    s: np.ndarray, lam: float, w: np.ndarray, beta: np.ndarray, r: np.ndarray, active: np.ndarray, j: int, inner: float
) -> None:
    """Minimise ``beta' W beta / 2 - s_j' beta + lam |beta|_1`` over beta, beta_j = 0, warm from beta; r = W beta."""
    limit = inner * inner * s[j, j]  # inner is a tolerance on correlations
    _product(w, beta, r, active)
    n, _ = _candidates(w, s[j], lam, beta, r, active, j)
    for _ in range(MAX_PASSES):
        if _pass(w, s[j], lam, beta, r, active, n) <= limit:
            n, fresh = _candidates(w, s[j], lam, beta, r, active, j)
            if fresh <= limit:
                return


@compiled
def _certify(s: np.ndarray, lam: float, w: np.ndarray, theta: np.ndarray, work: np.ndarray) -> float:
    """Return the duality gap of theta, exactly as it stands; ``work`` keeps the dual point, below its diagonal only.

    Dual point: s_ij + lam sign(theta_ij) where theta_ij is not zero, w_ij clipped to the box elsewhere, s_ii. With it
    ``<S, T> + lam |T| = <W, T>``, and the gap is ``<W, T> - log det T - log det W - p``. NaN where either is not
    definite.
    """
    p = len(s)
    for i in range(p):
        for j in range(i, p):
            work[i, j] = theta[i, j]
    both = _log_det(work)
    inner = 0.0
    for i in range(p):
        work[i, i] = s[i, i]
        inner += s[i, i] * theta[i, i]
        for j in range(i + 1, p):
            if theta[i, j] > 0.0:
                border = s[i, j] + lam
            elif theta[i, j] < 0.0:
                border = s[i, j] - lam
            else:
                border = min(max(w[i, j], s[i, j] - lam), s[i, j] + lam)
            work[i, j] = border
            work[j, i] = border
            inner += 2.0 * border * theta[i, j]
    both += _log_det(work)
    return max(inner - both - p, 0.0)  # below zero only by rounding


@compiled
def _descend(
    s: np.ndarray, lam: float, w: np.ndarray, b: np.ndarray, theta: np.ndarray, work: np.ndarray, tol: float, most: int
) -> tuple[float, int, int]:
    """Sweep over the columns until the gap per variable is certified; return the gap, the sweeps and a code.

    w is in the box and definite; it is replaced by the certified dual point. Row j of b holds column j's coefficients.
    """
    p = len(s)
    r, active = np.empty(p), np.empty(p, np.int64)
    inner, last = np.sqrt(tol), np.inf
    gap = np.nan
    for sweep in range(1, most + 1):
        change = 0.0
        for j in range(p):
            beta = b[j]
            _column(s, lam, w, beta, r, active, j, inner)
            explained = 0.0
            for k in range(p):
                explained += beta[k] * r[k]
            schur = s[j, j] - explained
            if not schur > 0.0:  # the other rows are definite, so this number decides
                return np.nan, sweep, LOST
            theta[j, j] = 1.0 / schur
            r[j] = s[j, j]
            for k in range(p):
                change += (r[k] - w[j, k]) ** 2 / (s[k, k] * schur)
                w[j, k] = r[k]
                w[k, j] = r[k]
        if p > CHECK_ALWAYS and change > CHECK_BELOW * p * tol:
            continue
        for i in range(p):
            for j in range(i + 1, p):
                theta[i, j] = -(b[i, j] * theta[i, i] + b[j, i] * theta[j, j]) * 0.5
                theta[j, i] = theta[i, j]
        gap = _certify(s, lam, w, theta, work) / p
        if gap <= tol:
            for i in range(p):
                for j in range(i):
                    w[i, j] = work[i, j]
                    w[j, i] = work[i, j]
            return gap, sweep, OK
        if not gap < 0.5 * last:
            inner = max(inner * TIGHTER, LOOSEST)
        last = gap
    return gap, most, STALLED


@compiled
def _start(s: np.ndarray, anchor: np.ndarray, fraction: float, w: np.ndarray) -> None:
    """Set w <- anchor + fraction (w - anchor), with the diagonal of s, definite and in the smaller box by convexity."""
    p = len(s)
    for i in range(p):
        for j in range(p):
            w[i, j] = anchor[i, j] + fraction * (w[i, j] - anchor[i, j])
        w[i, i] = s[i, i]


@compiled
def _continue(b: np.ndarray, before: np.ndarray, step: float) -> None:
    """Move the coefficients on along the secant of the path, unless that would change a sign; ``before`` <- old b."""
    p = len(b)
    for i in range(p):
        for j in range(p):
            now = b[i, j]
            ahead = now + step * (now - before[i, j])
            before[i, j] = now
            if now * ahead > 0.0:
                b[i, j] = ahead


@compiled
def descend_path(
    s: np.ndarray,
    lambdas: np.ndarray,
    ridged: bool,
    anchor: np.ndarray,
    distance: float,
    w: np.ndarray,
    b: np.ndarray,
    start: float,
    tol: float,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Solve along falling ``lambdas``, up to the first failure."""
    p, m = len(s), len(lambdas)
    thetas = np.zeros((m, p, p))
    gaps, sweeps, codes = np.full(m, np.nan), np.zeros(m, np.int64), np.full(m, LOST)
    work, before, target = np.empty((p, p)), b.copy(), s.copy()
    last = start
    for i in range(m):
        lam = lambdas[i]
        if ridged:
            for k in range(p):
                target[k, k] = s[k, k] + lam
        if lam < last:
            _start(target, anchor, (lam - distance) / (last - distance), w)
        if i > 1 and lambdas[i - 2] > last:
            _continue(b, before, (lam - last) / (last - lambdas[i - 2]))
        else:
            before[:] = b
        gaps[i], sweeps[i], codes[i] = _descend(target, lam, w, b, thetas[i], work, tol, most)
        if codes[i] != OK:
            break
        last = lam
    return thetas, gaps, sweeps, codes
