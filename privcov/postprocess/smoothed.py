"""A graphical lasso whose distance from the exact optimum is known before it reads the matrix.

The problem::

    T(S) = argmin over 0 < T <= top I of -log det T + <S, T> + sum_ij h(T_ij)
    h(t) = lam |t| - lam width / 2 for |t| >= width, lam t^2 / (2 width) below: the l1 penalty, rounded at zero.

**Lipschitz.** On T <= top I the function -log det T is (1/top^2)-strongly convex, and so is the objective. The
subgradient conditions at S and S' then give ``|T(S) - T(S')|_F <= top^2 |S - S'|_F``, for every symmetric S and S'. The
rounding costs nothing of this: any convex penalty will do.

**Dual.** With ``h(t) = max over |u| <= lam of u t - gamma u^2 / 2``, ``gamma = width / lam``, the dual is to maximise
over the box ``|U_ij| <= lam``::

    g(U) = min over 0 < T <= top I of -log det T + <S + U, T>  -  gamma |U|_F^2 / 2.

The inner minimiser replaces the eigenvalues w of S + U by min(1/w, top) (top where w <= 0) and is top^2-Lipschitz in U.
So g is gamma-strongly concave and its gradient T - gamma U is (top^2 + gamma)-Lipschitz: accelerated projected gradient
with constant momentum loses a factor 1 - 1/sqrt(Q) of the dual gap per step, Q = 1 + top^2 / gamma, whatever S is
(Nesterov 2004, section 2.2; Beck 2017, Theorem 10.42). At the start U = 0 the gap plus ``gamma |U - U*|^2 / 2`` is at
most ``lam d^1.5 top + lam width d^2 / 2``, because ``h(t) <= lam |t|``, the l1 norm is at most d times the Frobenius
norm, and that is at most sqrt(d) top.

**Distance.** With T the inner minimiser at U, ``|T - T(S)|_F^2 <= 2 top^2 (g* - g(U))``: the inner objective is
strongly convex, T(S) is feasible in it, and its value there is at most ``g*``. So a number of steps that is fixed by
lam, top, width, d and the distance wanted brings T that close for **every** S. Stopping earlier is allowed where the
gap itself, ``sum_ij h(T_ij) - U_ij T_ij + gamma U_ij^2 / 2``, certifies the same distance: all its terms are >= 0 and
are computed without cancellation.

A penalty that is kinked at zero has no such bound by itself: its dual is flat where eigenvalues sit at the cap, and the
rate falls to 1/k^2. What floating point does to the steps is not part of the proof.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.core import checks

LOOK = 4  # steps between two checks of the gap


def smoothed_lasso(s: np.ndarray, lam: float, top: float, width: float, distance: float) -> np.ndarray:
    """Compute T(S) to within ``distance`` in Frobenius norm, for every symmetric s.

    Every entry is penalised, the diagonal too. As width tends to zero this is the graphical lasso with the constraint
    T <= top I, which has no effect for top >= d / lam.
    """
    s = checks.square("s", s)
    for name, value in (("lam", lam), ("top", top), ("width", width), ("distance", distance)):
        checks.positive(name, value)
    t, certified = _ascend(s, lam, top, min(1 / lam, top), width, distance)
    if not certified and 1 / lam < top:
        t, _ = _ascend(s, lam, top, top, width, distance)
    return t


def _ascend(
    s: np.ndarray, lam: float, top: float, cap: float, width: float, distance: float
) -> tuple[np.ndarray, bool]:
    """Return T, and whether its gap certifies the distance, after at most `steps` for the cap.

    The steps are those of the problem with the tighter cap, whose rate is better; T and the certificate are those of
    the problem with ``top``. For cap = top the number of steps is enough without the certificate.
    """
    gamma = width / lam
    quotient = 1 + cap**2 / gamma
    momentum = (math.sqrt(quotient) - 1) / (math.sqrt(quotient) + 1)
    u = before = np.zeros_like(s)
    most = steps(len(s), lam, cap, width, distance)
    for step in range(1, most + 1):
        ahead = u + momentum * (u - before)
        before = u
        u = np.clip(ahead + (capped_inverse(s + ahead, cap) - gamma * ahead) / (cap**2 + gamma), -lam, lam)
        if step % LOOK == 0 or step == most:
            t = capped_inverse(s + u, top)
            if top * math.sqrt(2 * duality_gap(t, u, lam, width)) <= distance:
                return t, True
    return t, False


def steps(d: int, lam: float, top: float, width: float, distance: float) -> int:
    """Return how many steps are enough for matrices of this size: sqrt(Q) log(2 top^2 A / distance^2), A as above."""
    start = lam * top * d**1.5 + lam * width * d**2 / 2
    ratio = max(2 * top**2 * start / distance**2, 1.0)
    return max(math.ceil(math.sqrt(1 + top**2 * lam / width) * math.log(ratio)), 1)


def capped_inverse(w: np.ndarray, top: float) -> np.ndarray:
    """Return argmin over 0 < T <= top I of -log det T + <w, T>."""
    values, vectors = np.linalg.eigh((w + w.T) / 2)
    half = vectors / np.sqrt(np.maximum(values, 1 / top))
    return half @ half.T


def duality_gap(t: np.ndarray, u: np.ndarray, lam: float, width: float) -> float:
    """Return the sum of ``h(t) - u t + gamma u^2 / 2``, in a form without cancellation."""
    gamma, size = width / lam, np.abs(t)
    along = np.where(t >= 0, u, -u)
    near = (size - gamma * along) ** 2 / (2 * gamma)
    far = (lam - along) * (size - gamma * (lam + along) / 2)
    return float(np.where(size <= width, near, far).sum())
