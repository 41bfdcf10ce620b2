"""Which pairs are real: tests with a bounded rate of false discoveries, and the edges of the graph.

Where the covariance can be inverted in spite of its noise, edges are the partial correlations of schur.py. Elsewhere
they come from the de-biased graphical lasso. With S the unrepaired covariance, Th its graphical lasso at half the
universal penalty and Q = Th^2,

    T = 2 Th - Th S Th,     V_ij = N((th_i th_j' + th_j th_i') / 2) + (Th_ii Th_jj + Th_ij^2) / n,

and T_ij / sqrt(V_ij) is close to a normal number where the pair has no edge: to first order T_ij - Theta_ij is a linear
form of the error of S, and the penalty's bias is taken out. What is left of the bias, and of the second order, makes
the error larger than V: with H = t^2 tr Q, V is multiplied by 1.1 (1 + H / 2), which simulated releases needed. The
test is kept and no interval is given. In closed form
    N = (t^2 + t_m^4)(Q_ii Q_jj + Q_ij^2) + sum_a x_a Th_ia^2 Th_ja^2 + c Q_ij^2
        + t_m^2 |th_i (th_j'm) + th_j (th_i'm)|^2 + v_u ((th_i'm)(th_j'm) - Th_ij)^2.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.answering.known import NO_INVERSE, TESTED_ONLY, Found, Known
from privcov.answering.tails import tail
from privcov.postprocess.feasibility import Infeasible
from privcov.postprocess.glasso import lambda_max, solve
from privcov.postprocess.threshold import universal_level

_STEPS = 12
_MORE = 1.1


def discoveries(p_values: np.ndarray, rate: float) -> np.ndarray:
    """Return which hypotheses are rejected at a rate of false discoveries, by Benjamini and Hochberg's rule.

    Parameters
    ----------
    p_values : ndarray of shape (m,)
        NaN is never rejected, and counts as a test.
    rate : float
        In (0, 1).

    Returns
    -------
    ndarray of bool, shape (m,)
        True where rejected.

    Spends
    ------
    Nothing.

    Reference
    ---------
    Benjamini and Hochberg (1995).

    Examples
    --------
    >>> discoveries(np.array([0.001, 0.04, 0.02, 0.9]), 0.05).tolist()
    [True, False, True, False]
    """
    known = np.where(np.isnan(p_values), 1.0, p_values)
    m = len(known)
    if not m:
        return np.zeros(0, dtype=bool)
    ordered = np.sort(known)
    below = np.flatnonzero(ordered <= rate * np.arange(1, m + 1) / m)
    return known <= ordered[below[-1]] if len(below) else np.zeros(m, dtype=bool)


def edges(known: Known, exact: Found) -> Found:
    """Return the partial correlations, with the test of zero for every pair, also where there is no interval.

    Parameters
    ----------
    known : Known
        The release.
    exact : Found
        From `schur.partial_correlations`, which are the answer where all are identified.

    Returns
    -------
    Found
        By pair, d x d; the diagonal means nothing.

    Spends
    ------
    Nothing.

    Reference
    ---------
    Jankova and van de Geer (2015) without noise; own derivation of V, in the docstring of the module.
    """
    d, law, n, m = known.d, known.law, known.rows, known.centre
    if exact.identified[np.triu_indices(d, 1)].all():
        return exact
    theta = _lasso(known)
    if theta is None:
        none = np.full((d, d), np.nan)
        return Found(none, none, none, np.full((d, d), NO_INVERSE), none)
    t = 2 * theta - theta @ known.covariance @ theta
    q, square, at_mean = theta @ theta, theta * theta, theta @ m
    own = np.diag(q)
    noise = (law.off + law.mean**2) * (np.outer(own, own) + q * q) + (square * law.extra) @ square + law.common * q * q
    turned = np.outer(own, at_mean**2)
    noise = noise + law.mean * (turned + turned.T + 2 * q * np.outer(at_mean, at_mean))
    noise = np.maximum(noise + law.count * (np.outer(at_mean, at_mean) - theta) ** 2, 0.0)
    on = np.diag(theta)
    sampling = (np.outer(on, on) + square) / n
    shape = 1.0 if law.laplace else law.freedom or math.inf
    more = _MORE * (1 + law.off * float(np.trace(q)) / 2)
    p = tail(t, more * sampling, more * noise, shape)
    rest = np.where(np.diag(t) > 0, np.diag(t), on)
    unit = np.sqrt(np.outer(rest, rest))
    none = np.full((d, d), np.nan)
    return Found(np.clip(-t / unit, -1, 1), none, none, np.full((d, d), TESTED_ONLY), p)


def _lasso(known: Known) -> np.ndarray | None:
    """Return the graphical lasso at half the universal penalty, or the least larger one that has a solution."""
    s = known.covariance
    if known.d < 2 or np.isnan(s).any():
        return None
    on = np.maximum(np.diag(s), 0.0)
    typical = math.sqrt(known.law.off + float(np.median(np.outer(on, on))) / known.rows)
    lam, most = universal_level(known.d) / 2 * typical, max(lambda_max(s), 1e-12)
    for _ in range(_STEPS):
        try:
            fit = solve(s, lam, tol=1e-5)
        except Infeasible:
            fit = None
        if fit is not None and fit.precision is not None:
            return fit.precision
        if lam > most:
            return None
        lam *= 1.3
    return None
