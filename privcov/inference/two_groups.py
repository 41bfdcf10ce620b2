"""Means of every column in the two groups that a column of two values makes, and their difference, with intervals.

x is the column with the values a and a + h, in working units; p = (E x - a) / h is the share of the group with the
higher one. With S the covariance of y and x over n, the mean t of y in that group solves

    (S + (E y - t)(E x - a)) / h = 0,

and that of the other group the same with -S and (a + h - E x): both linear in t. Read as sums over the rows, the noise
on the left times h is W_yx - c e_y - t e_x + u t c, c being a or a + h, and its variance t^2 + (c^2 + t^2) t_m^2 +
v_u t^2 c^2. The difference D solves S / h - D q = 0, q = p (1 - p) made unbiased, where the noise times h is

    W_yx - (E x) e_y - (E y + D (1 - 2 p)) e_x - e_x e_y + D (e_x^2 - t_m^2) / h
      - u (D q h - E x E y - D (1 - 2 p) E x).

Sampling, in the same equations: p_g s / n, and q s / n for the difference, s the variance within groups, assumed equal
in both; for y of two values, each group has that of its own mean. As if three more rows had the rarer value, 3 v / n^2
is added, v the variance of y, or the square of its span. The interval is all t, or D, whose square is at most z^2 times
the variance, which is quadratic: the law of forms.py, inverted as in Fieller (1954).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from privcov.inference.contrasts import LEAST
from privcov.inference.unbiased import NO_GROUPS, NO_MEAN, ONE_COLUMN, SMALL_CLASS, Intervals, UnbiasedMoments, within

LOWER, HIGHER, STEP = range(3)


def by_column(known: UnbiasedMoments, by: int, level: float) -> list[Intervals]:
    """Return, for every column, the mean in the group with the lower value of ``by``, in the other, and the difference.

    In working units, as derived in the docstring of the module.
    """
    d = known.d
    if known.mean is None:
        none = np.full(d, np.nan)
        return [Intervals(none, none, none, np.full(d, NO_MEAN))] * 3
    assert known.two is not None, "checked by the caller"
    m, n, law = known.mean, known.rows, known.law
    a, h, mx = float(known.two.low[by]), float(known.span[by]), float(m[by])
    p, v = (mx - a) / h, np.maximum(np.diag(known.covariance), 0.0)
    s = known.covariance[:, by] * (n - 1) / n
    q = p * (1 - p) + law.mean / h**2
    std = np.sqrt(law.mean + law.count * mx**2) / h
    two, first, last = known.span > 0, known.two.low, known.two.low + known.span
    few = 3 * np.where(two, known.span**2, v) / n**2
    step = s / (h * q) if q > 0 else np.zeros(d)
    own = np.maximum(v - max(q, 0.0) * step**2, 0.0)

    def varies(mean: np.ndarray) -> np.ndarray:
        return np.where(two, (mean - first) * (last - mean), own)

    def solved(line: tuple[np.ndarray, float], noise: Callable, sampling: Callable, small: bool) -> Intervals:
        estimate = line[0] / line[1] if line[1] else np.full(d, np.nan)
        at = np.clip(np.nan_to_num(estimate), -1e6, 1e6)
        z = known.z(level, noise(at), np.maximum(sampling(at), 0.0), law.excess(1.0, 0.0))
        error = [noise(x) + sampling(x) for x in (np.full(d, k) for k in (-1.0, 0.0, 1.0))]
        low, high, ended = within((line[0], -line[1]), error, z)
        found = Intervals(estimate, low, high, np.where(ended & (not small), 0, SMALL_CLASS))
        found = found.refusing(np.full(d, known.shortened[by]), NO_GROUPS)
        found = dataclasses.replace(found, estimate=np.where(found.identified, estimate, np.nan))  # noise over noise
        return found.refusing(known.same_column[by] | (np.arange(d) == by), ONE_COLUMN)

    def group(sign: float, c: float, share: float) -> Intervals:
        def noise(t: np.ndarray) -> np.ndarray:
            return (law.off + (c * c + t * t) * law.mean + law.count * (t * c) ** 2) / h**2

        def sampling(t: np.ndarray) -> np.ndarray:
            return max(share, 0.0) * varies(t) / n + few

        found = solved((sign * s / h + m * share, share), noise, sampling, min(share, 1.0) < LEAST * std)
        estimate, low, high = (
            np.where(two, np.clip(x, first, last), x) for x in (found.estimate, found.low, found.high)
        )
        return dataclasses.replace(found, estimate=estimate, low=low, high=high)

    def noise(step: np.ndarray) -> np.ndarray:
        turned = m + step * (1 - 2 * p)
        found = law.off + law.mean * (max(mx**2 - law.mean, 0.0) + np.maximum(turned**2 - law.mean, 0.0))
        found = found + law.mean**2 * (1 + 2 * step**2 / h**2)
        return (found + law.count * (step * q * h - mx * turned) ** 2) / h**2

    def sampling(step: np.ndarray) -> np.ndarray:
        apart = p * (1 - p) ** 2 * varies(m + (1 - p) * step) + (1 - p) * p**2 * varies(m - p * step)
        return np.where(two, apart, q * own) / n + few

    small = min(p, 1 - p) < LEAST * std
    return [group(-1.0, a + h, 1 - p), group(1.0, a, p), solved((s / h, q), noise, sampling, small)]
