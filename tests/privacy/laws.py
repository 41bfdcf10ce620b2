"""Exact privacy losses of single steps, from what is added to the statistic or from the outcomes' probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np


def linear_loss(change: np.ndarray, added: np.ndarray, kind: str) -> float:
    """Loss of ``statistic + added @ u``, u independent standard normal or Laplace deviates, when the statistic changes.

    Normal: the length of the shortest u with added @ u = change, which is mu. Laplace: the smallest sum of absolute
    values, the largest log ratio of densities where every number has a deviate of its own. Infinite where no u does it:
    the change is then not hidden at all.
    """
    size = np.abs(change).max(initial=0.0)
    if size == 0:
        return 0.0
    if not added.size:
        return math.inf
    shift, *_ = np.linalg.lstsq(added, change, rcond=1e-12)
    if np.abs(added @ shift - change).max() > 1e-9 * size + 1e-15:
        return math.inf
    if kind == "normal":
        return float(np.linalg.norm(shift))
    overlap = (np.abs(added) > 1e-12 * np.abs(added).max()).astype(int)
    shared = overlap.T @ overlap
    if np.array_equal(shared, np.diag(np.diag(shared))):
        return float(np.abs(shift).sum())
    from scipy.optimize import linprog

    unit = np.abs(added).max()
    found = linprog(np.ones(2 * added.shape[1]), A_eq=np.hstack([added, -added]) / unit, b_eq=change / unit)
    assert found.success, found.message
    return float(found.fun)


def wishart_scale(run: Callable, still: np.ndarray, shapes: list) -> float:
    """2 C of A - B, A and B of W_p(p + 1, C I), from a run with scripted deviates. Checks the degrees of freedom."""
    (shape,) = shapes
    sides, p, degrees = shape
    assert (sides, degrees) == (2, p + 1), "another law than the proof speaks of"
    unit = np.zeros(shape)
    scales = []
    for side, sign in ((0, 1.0), (1, -1.0)):
        unit[:] = 0
        unit[side, 0, 0] = math.sqrt(2)
        scales.append(sign * (run(unit.ravel())[0] - still)[0])
    assert math.isclose(*scales, rel_tol=1e-9)
    return scales[0]


def wishart_loss(change: np.ndarray, scale: float) -> float:
    """Bound of the proof in wishart.py: the nuclear norm of the change over 2 C."""
    size = math.isqrt(len(change))
    return float(np.abs(np.linalg.eigvalsh(change.reshape(size, size))).sum() / scale)


def vector_noise(first_above: Callable, scale: float) -> np.ndarray:
    """(deviate of the threshold, deviate of a query), over ``scale``: where the real function changes its mind."""

    class Fixed:
        def __init__(self, threshold: float, query: float) -> None:
            self.deviates = np.array([threshold, query])

        def laplace(self, size):
            assert size == 2, "one deviate for the threshold and one for each query"
            return self.deviates

    def least(threshold: float, query: float) -> float:
        low, high = -64.0 * scale, 64.0 * scale
        for _ in range(80):
            middle = (low + high) / 2
            fires = first_above(np.array([middle]), scale, Fixed(threshold, query)) is not None
            low, high = (low, middle) if fires else (middle, high)
        return high / scale

    of_threshold, of_query = least(1.0, 0.0), -least(0.0, 1.0)
    assert math.isclose(least(1.0, 1.0), of_threshold - of_query, abs_tol=1e-9)
    return np.array([of_threshold, of_query])


def vector_probabilities(queries: np.ndarray, of_threshold: float, of_query: float) -> np.ndarray:
    """Probability of every outcome: the index of the first noisy query above the noisy threshold, and none at last.

    Integrated over the threshold's deviate between its kinks, where the integrand is a sum of exponentials.
    """
    kinks = np.unique(np.clip(np.concatenate([queries / of_threshold, [0.0, -200.0, 200.0]]), -200, 200))
    pieces = [np.linspace(a, b, 2 + int((b - a) / 3)) for a, b in itertools.pairwise(kinks)]
    edges = np.unique(np.concatenate(pieces))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges) / 2
    t = (edges[:-1, None] + half[:, None] * (1 + nodes)).ravel()
    weight = (half[:, None] * weights).ravel() * np.exp(-np.abs(t)) / 2
    x = (of_threshold * t[:, None] - queries) / of_query  # a query stays below where its deviate is below this
    tail = np.exp(-np.abs(x)) / 2
    above, below = np.where(x > 0, tail, 1 - tail), np.where(x > 0, 1 - tail, tail)
    before = np.cumprod(np.hstack([np.ones((len(t), 1)), below]), axis=1)
    return weight @ np.hstack([before[:, :-1] * above, before[:, -1:]])


def vector_loss(one: np.ndarray, two: np.ndarray, of_threshold: float, of_query: float) -> float:
    """Largest log ratio of probabilities, over all outcomes that are not rarer than 1e-60 with both."""
    p, q = (vector_probabilities(x, of_threshold, of_query) for x in (one, two))
    assert max(abs(p.sum() - 1), abs(q.sum() - 1)) < 1e-9
    seen = (p > 1e-60) & (q > 1e-60)
    return float(np.abs(np.log(p[seen] / q[seen])).max())


def log_bingham(a: np.ndarray) -> float:
    """log of the mean of exp(-sum_j a_j v_j^2) over the unit sphere of 1 to 4 dimensions, by quadrature."""
    return float(np.log(_sphere(np.sort(a)[None] - a.min())[0]) - a.min())


def _sphere(a: np.ndarray) -> np.ndarray:
    """The mean itself, for each line of a (k x q, rising and >= 0): over the last coordinate, and so on."""
    from scipy.special import ive

    count, q = a.shape
    if q == 1:
        return np.exp(-a[:, 0])
    if q == 2:
        return ive(0, (a[:, 1] - a[:, 0]) / 2) * np.exp(-a[:, 0])  # ive is scaled by exp(-|x|)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    # The last coordinate is the sine of an angle, squeezed to where exp(-a t^2) is not negligible.
    reach = np.arcsin(np.minimum(1.0, 7 / np.sqrt(a[:, -1:] + 1e-300)))
    angle = (nodes + 1) / 2 * reach
    inner = _sphere((a[:, None, :-1] * np.cos(angle)[..., None] ** 2).reshape(-1, q - 1)).reshape(count, -1)
    total = math.gamma(q / 2) / math.gamma((q - 1) / 2) / math.sqrt(math.pi)
    return total * (weights * reach * np.cos(angle) ** (q - 2) * inner * np.exp(-a[:, -1:] * np.sin(angle) ** 2)).sum(
        axis=1
    )


def bingham_loss(one: np.ndarray, two: np.ndarray, basis: np.ndarray) -> float:
    """Range of the log ratio of exp(-u' one u) / c and exp(-u' two u) / c' over unit vectors u in the span of basis.

    The range bounds the loss either way, as both densities have mean one; that is checked with c and c' themselves.
    """
    forms = [basis.T @ form @ basis for form in (one, two)]
    ends = np.linalg.eigvalsh(forms[1] - forms[0])
    constant = -np.subtract(*[log_bingham(np.linalg.eigvalsh(form)) for form in forms])
    wide = float(ends[-1] - ends[0])
    assert max(abs(ends[-1] + constant), abs(ends[0] + constant)) <= wide + 1e-7
    return wide
