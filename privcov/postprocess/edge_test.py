"""Which pairs have an edge: a test with a bounded rate of false discoveries, from the de-biased graphical lasso.

With S the unrepaired covariance, Th a graphical lasso of it and Q = Th^2,

    T = 2 Th - Th S Th,     V_ij = N((th_i th_j' + th_j th_i') / 2) + [(1 + k)(Th_ii Th_jj + Th_ij^2) + k Th_ij^2] / n,

and T_ij / sqrt(V_ij) is close to a normal number where the pair has no edge: to first order T_ij - Theta_ij is a linear
form of the error of S, and the penalty's bias is taken out. What is left of the bias, and of the second order, makes
the error larger than V: V is multiplied by `MORE`. The penalty is half the universal one, and more of it where
H = t^2 tr Q shows that the second order of the noise matters (`PENALTIES`). Both were set on simulated releases of
AR(2) and random graphs; data/graphs has what they give on others. In closed form
    N = (t^2 + t_m^4)(Q_ii Q_jj + Q_ij^2) + sum_a x_a Th_ia^2 Th_ja^2 + c Q_ij^2
        + t_m^2 |th_i (th_j'm) + th_j (th_i'm)|^2 + v_u ((th_i'm)(th_j'm) - Th_ij)^2
with the letters of `noise_theory.noise_law`, whose `NoiseLaw` brings N and the tails of the noise.

The rule of Benjamini and Hochberg turns the p-values into edges. The same rule on the p-values of another hypothesis,
that a partial correlation is at least `SLIGHT`, says which pairs have no relevant edge; the rest is undecided.

Elliptical rows of excess kurtosis 3 k are assumed in the sampling part of V, Gaussian ones for k = 0. Under heavier
tails than that more pairs than the rate are found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from privcov.postprocess.glasso import lambda_max, solve_path
from privcov.postprocess.threshold import universal_level

EDGE, UNDECIDED, NO_EDGE = 1, 0, -1
SLIGHT = 0.1  # a partial correlation below it counts as no edge
MORE = 1.3
PENALTIES = ((0.0, 0.5), (0.15, 0.75), (0.75, 1.0))  # from this H on, this share of the universal penalty
_STEPS = 12
_PASSES, _CLOSE = 100, 1e-10


class ErrorLaw(Protocol):
    """Noise law that the test needs; `noise_theory.noise_law.NoiseLaw` implements it."""

    @property
    def entry_variance(self) -> float:
        """Variance of the noise on an entry above the diagonal."""

    def products(self, theta: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return the variances of the noise on Th C Th."""

    def tail(self, value: np.ndarray, normal: np.ndarray, noise: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the probabilities of a larger error."""


@dataclass(frozen=True, eq=False)
class EdgeTest:
    """The test of every pair. All arrays have the shape (d, d), and their diagonals mean nothing.

    partial: estimates of the partial correlations. p_value: of the hypothesis that the pair has no edge. p_slight: of
    the hypothesis that the partial correlation is at least `SLIGHT` in absolute value.
    """

    partial: np.ndarray
    p_value: np.ndarray
    p_slight: np.ndarray

    def states(self, rate: float) -> np.ndarray:
        """Return the state of every pair, by the rule of Benjamini and Hochberg at this rate."""
        d = len(self.partial)
        upper = np.triu_indices(d, 1)
        state = np.full((d, d), UNDECIDED, dtype=np.int8)
        for p, kind in ((self.p_slight, NO_EDGE), (self.p_value, EDGE)):  # rejected by both tests: a small edge
            mask = np.zeros((d, d), dtype=bool)
            mask[upper] = discoveries(p[upper], rate)
            state[mask | mask.T] = kind
        np.fill_diagonal(state, NO_EDGE)
        return state

    def graph(self, rate: float) -> np.ndarray:
        """Return the edges at a rate of false discoveries, d x d bool."""
        return self.states(rate) == EDGE


def discoveries(p_values: np.ndarray, rate: float) -> np.ndarray:
    """Return which hypotheses the rule of Benjamini and Hochberg (1995) rejects at a rate of false discoveries."""
    p = np.where(np.isnan(p_values), 1.0, p_values)
    m = len(p)
    if not m:
        return np.zeros(0, dtype=bool)
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= rate * np.arange(1, m + 1) / m)
    return p <= ordered[below[-1]] if len(below) else np.zeros(m, dtype=bool)


def edge_test(
    covariance: np.ndarray, mean: np.ndarray, rows: float, law: ErrorLaw, kurtosis: float = 0.0
) -> EdgeTest | None:
    """Test every pair of columns for an edge.

    Reference: Jankova and van de Geer (2015) without noise; own derivation of V, in the docstring of the module.
    """
    theta = _lasso(covariance, rows, law, PENALTIES[0][1])
    if theta is None:
        return None
    second = law.entry_variance * float(np.sum(theta * theta))
    share = max(share for least, share in PENALTIES if second >= least)
    if share > PENALTIES[0][1]:
        larger = _lasso(covariance, rows, law, share)
        theta = theta if larger is None else larger
    t = 2 * theta - theta @ covariance @ theta
    own = np.diag(theta)
    square = theta * theta
    sampling = MORE * ((1 + kurtosis) * (np.outer(own, own) + square) + kurtosis * square) / rows
    noise = MORE * law.products(theta, mean)
    rest = np.where(np.diag(t) > 0, np.diag(t), own)
    unit = np.sqrt(np.outer(rest, rest))
    short = SLIGHT * unit - np.abs(t)
    beyond = law.tail(short, sampling, noise, theta) / 2
    return EdgeTest(
        np.clip(-t / unit, -1, 1), law.tail(t, sampling, noise, theta), np.where(short > 0, beyond, 1 - beyond)
    )


def _lasso(s: np.ndarray, rows: float, law: ErrorLaw, share: float) -> np.ndarray | None:
    """Return the graphical lasso at a share of the universal penalty, or the least larger one that has a solution."""
    d = len(s)
    if d < 2 or np.isnan(s).any():
        return None
    on = np.maximum(np.diag(s), 0.0)
    typical = math.sqrt(law.entry_variance + float(np.median(np.outer(on, on))) / rows)
    lam, most = share * universal_level(d) * typical, max(lambda_max(s), 1e-12)
    for _ in range(_STEPS):
        (fit,) = solve_path(s, [lam], tol=1e-5)
        if fit.precision is not None:
            return fit.precision
        if lam > most:
            return None
        lam *= 1.3
    return None


def on_graph(s: np.ndarray, graph: np.ndarray) -> np.ndarray:
    """Return the precision matrix without entries off a graph whose inverse is s on the diagonal and on the edges.

    It has the largest likelihood (Dempster 1972), and its columns are solved in turn as in Hastie, Tibshirani and
    Friedman (2009), algorithm 17.1.
    """
    d = len(s)
    linked = [np.flatnonzero(graph[j] & (np.arange(d) != j)) for j in range(d)]
    w, slopes = s.copy(), np.zeros((d, d))
    for _ in range(_PASSES):
        change = 0.0
        for j, near in enumerate(linked):
            slope = np.linalg.solve(w[np.ix_(near, near)], s[near, j]) if len(near) else np.zeros(0)
            column = w[:, near] @ slope
            column[j] = s[j, j]
            change = max(change, float(np.abs(column - w[:, j]).max()))
            w[:, j], w[j], slopes[near, j] = column, column, slope
        if change <= _CLOSE * float(np.diag(s).max()):
            break
    theta = np.zeros((d, d))
    for j, near in enumerate(linked):
        theta[j, j] = 1 / (s[j, j] - w[j, near] @ slopes[near, j])
        theta[near, j] = -slopes[near, j] * theta[j, j]
    return (theta + theta.T) / 2
