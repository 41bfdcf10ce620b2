"""What a set of answers proves about the rho of a zCDP claim.

Let a set A have probability p on one table and q < p on its neighbour, and let the mechanism be rho-zCDP. Whether the
answer lies in A is a function of the answer, so by the data-processing inequality (van Erven and Harremoes 2014,
Theorem 9) the two coins with these probabilities are no further apart than the mechanism allows, either way round:

    D_a(p || q) <= a rho  and  D_a(q || p) <= a rho  for every order a > 1,
    D_a(p || q) = ln(p^a q^(1-a) + (1-p)^a (1-q)^(1-a)) / (a - 1).

So rho is at least the largest D_a / a over both directions and any orders: leaving orders out only weakens the
statement. Order 1, the Kullback-Leibler divergence, belongs to them, as D_a does not fall with a.

**Bounds instead of probabilities.** If p >= p_low > q_high >= q, the divergences at (p_low, q_high) are bounds as well.
The derivative of the sum in the logarithm is a ((p/q)^(a-1) - ((1-p)/(1-q))^(a-1)) in p and
(1 - a) ((p/q)^a - ((1-p)/(1-q))^a) in q; wherever p >= q the first is not negative and the second is not positive. On
the way from (p_low, q_high) to (p, q_high) and on to (p, q) p stays above q, so D_a(p || q) does not fall. For
D_a(q || p) take the complement of A: D_a(q || p) = D_a(1 - q || 1 - p) with 1 - q > 1 - p. Nothing but the two bounds
is used, so both directions and all orders come without another correction for multiple tests.

**What one set cannot see.** The two coins satisfy rho-zCDP for the rho that this returns (up to the grid of orders), so
no sound argument from one set proves more. Of Gaussian noise the set half way between the two answers shows 2/pi of a
small rho, and sets further out show more, up to all of it, but so rarely that few draws fall into them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# a - 1; every order is valid. For Gaussian noise, sqrt(2 rho) between the answers and a cut t, a = t / sqrt(2 rho).
_ORDERS = np.concatenate([np.geomspace(1e-2, 100.0, 60), [1e3, 1e4]])


def rho_low(p_low: ArrayLike, q_high: ArrayLike) -> np.ndarray:
    """Return the largest rho that is refuted by P(A) >= p_low on one table and P(A) <= q_high on the other; 0 for none.

    p_low, q_high: probabilities, any shapes that broadcast. inf where q_high is 0 and p_low is not.
    """
    p, q = np.broadcast_arrays(np.asarray(p_low, dtype=float), np.asarray(q_high, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(p), np.log1p(-p), np.log(q), np.log1p(-q)
        best = np.maximum(_divergence(p, *logs), _divergence(q, *logs[2:], *logs[:2]))
    return np.where(p > q, np.maximum(best, 0.0), 0.0)


def _divergence(
    p: np.ndarray, log_p: np.ndarray, log_p_not: np.ndarray, log_q: np.ndarray, log_q_not: np.ndarray
) -> np.ndarray:
    """Return the largest D_a / a over the orders and order 1, of the coin p from the coin q."""
    a = 1 + _ORDERS.reshape(-1, *(1,) * np.ndim(p))
    terms = [_power(a, log_p, log_q), _power(a, log_p_not, log_q_not)]
    best = (np.logaddexp(*terms) / ((a - 1) * a)).max(axis=0)
    first = _share(p, log_p, log_q) + _share(1 - p, log_p_not, log_q_not)
    return np.maximum(best, first)


def _share(p: np.ndarray, log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    return np.where(p > 0, p * (log_p - log_q), 0.0)


def _power(a: np.ndarray, log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """Return ln(p^a q^(1-a)), where 0^a is 0 whatever q is."""
    return np.where(np.isneginf(log_p), -np.inf, a * log_p + (1 - a) * log_q)
