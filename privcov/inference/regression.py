"""What is left of columns after others: slopes, R squared and partial correlations, with privacy noise and sampling.

Let O be the columns that are held fixed, Q the inverse of their noisy covariance (a ridge added), and v, e two vectors
whose parts on O are the regression on O, so that without noise v'C0 and C0 e vanish on O. With E the whole error of the
covariance, exactly

    g = v'C e, both fitted in the noisy C,  =  v0'C0 e0 + v0'E e0 - (E v0)_O' Q (E e0)_O.

The last term does not average out. With the noise of noise_law.py its mean is -B(v, e),

    B = t^2 (v.e tr Q + v'Q e) + sum_a x_a Q_aa v_a e_a + c v'Q e + t_m^4 (v.e tr Q + v'Q e)
      + t_m^2 [v.e m'Qm + (m.e)(m'Qv) + (m.v)(m'Qe) + tr Q (m.v)(m.e)] + v_u (m.v)(m.e) m'Qm

(Q is zero outside O), so g + B is centred, and its variance is, with w = v'C v + B(v, v), s = e'C e + B(e, e) and
u^2 = t^2 + t_m^4 + t_m^2 |m|^2 / p over the p columns that take part,

    V = N((v e' + e v') / 2) + [w s + (v'C e)^2] / n
      + u^4 (|v|^2 |e|^2 + (v.e)^2) |Q|^2 + u^2 (|v|^2 s + |e|^2 w) tr Q / n + |O| w s / n^2.

**Slope** b_j of y on X, ridge l: O = X without j, v the column j less its regression on O, e(d) = y - X b - d v for the
fitted b. Fixing every other coefficient at its fit under b_j + d leaves g(d) = -d D + B(v, e(d)), D = v'(C + l I) v.
The standard error is sqrt V / (D + B(v, v)) at the estimate, the d with g(d) = 0. The test of no slope is that of g
at d = -b_j. A sum w'b of slopes is the slope on v = P w / (w'P w) in place of P_j / P_jj, where P = (C_XX + l I)^-1.
The interval is all d with g(d)^2 <= z^2 V(d), a quadratic inequality; where it has no end, the slope is not identified.
With a ridge the target is the ridge coefficient of the population. Whatever the law of the regressors, a response that
is linear in them with errors of one variance has w s / n as well; for one of two values, h apart, h^2 / 4 takes the
place of s (Popoviciu 1935). **Expected response** at x, with w = x - m: the mean of the residual, m_y - m'b, and w'b.
With e the noise on the means, the first has the error e'(y - X b), of variance t_m^2 |y - X b|^2, and the sampling
variance s / n; its covariance with the error of w'b is -t_m^2 (v.r m.r + |r|^2 v.m), r = y - X b. **Partial
correlation**: O = all but i and j; T = the 2 x 2 matrix of g + B, then the interval of a correlation; with columns of
two values only the test of zero, in which a pair of them has min(h_i^2 T_jj, h_j^2 T_ii) / 4n in place of
T_ii T_jj / n.
**R squared** r: s = e'C e + B(e, e) with O = X, corrected for the |X| fitted slopes; all r with
(s - (1 - r) c_yy)^2 <= z^2 V, V with the form e e' - (1 - r) y y'.

The last level of a category follows from its others and is left out of partial correlations.

Nothing is answered where C_XX has an eigenvalue at or below zero, or t^2 tr Q^2 > 1: there the second order that B
corrects is as large as the first.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from privcov.inference.entries import fieller
from privcov.inference.unbiased import (
    FOLLOWS,
    NO_END,
    NO_INVERSE,
    NO_MEAN,
    TESTED_ONLY,
    TOO_NOISY,
    TWO_VALUED,
    Intervals,
    UnbiasedMoments,
)
from privcov.measurements.noise_theory.noise_law import NoiseLaw
from privcov.measurements.noise_theory.tails import tail
from privcov.postprocess.edge_test import edge_test

MAX_NOISE = 1.0  # of t^2 tr Q^2
_WEAK = 2.8  # standard deviations of its noise that what is left of a column must have
_CLEAR = (
    3.3  # standard deviations of the noise that the least eigenvalue must have for an upper end of R squared below 1
)


@dataclass(frozen=True, eq=False)
class RegressionFit:
    """A regression in working units: the slopes by column of the regressors, R squared, and the expected responses."""

    slopes: Intervals
    r_squared: Intervals
    expected: Intervals


@dataclass(frozen=True, eq=False)
class _Part:
    """The columns that take part: law, mean, covariance, number of rows, and u^2."""

    law: NoiseLaw
    mean: np.ndarray
    covariance: np.ndarray
    rows: float
    square: float

    def bias(self, v: np.ndarray, e: np.ndarray, q: np.ndarray) -> float:
        """Return B(v, e) for one Q."""
        law, m = self.law, self.mean
        ve, trace, qv, qe, qm = float(v @ e), float(np.trace(q)), q @ v, q @ e, q @ m
        mv, me, both = float(m @ v), float(m @ e), float(v @ qe)
        total = (law.entry_variance + law.mean_variance**2) * (ve * trace + both) + law.diagonal_covariance * both
        total += float((law.diagonal_excess * np.diag(q) * v) @ e)
        total += law.mean_variance * (ve * float(m @ qm) + me * float(m @ qv) + mv * float(m @ qe) + trace * mv * me)
        return total + law.count_variance * mv * me * float(m @ qm)

    def noise(self, form: np.ndarray) -> float:
        """Return N(A), in which |A m|^2 is corrected for the noise in m."""
        return self.law.debiased_form_variance(form, self.mean, self.covariance)


def _part(moments: UnbiasedMoments, columns: list[int]) -> _Part:
    at = np.array(columns)
    law, mean = moments.law.restricted_to(at), moments.centre[at]
    square = law.entry_variance + law.mean_variance**2 + law.mean_variance * float(mean @ mean) / len(at)
    return _Part(law, mean, moments.covariance[np.ix_(at, at)], moments.n_rows, square)


def _mixed(v: np.ndarray, e: np.ndarray) -> np.ndarray:
    outer = np.outer(v, e)
    return (outer + outer.T) / 2


def _excess(law: NoiseLaw, v: np.ndarray, e: np.ndarray) -> float:
    vv, ee = float(v @ v), float(e @ e)
    return float(
        law.excess_kurtosis(float(np.sum(v**4) * np.sum(e**4)) / (vv * ee) ** 2, float(v @ e) / np.sqrt(vv * ee))
    )


def _inverse(covariance: np.ndarray, off: float) -> tuple[np.ndarray | None, float]:
    """Return the inverse, None where the noise forbids it, and the least eigenvalue."""
    if np.isnan(covariance).any():
        return None, float("nan")
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= 0 or off * float(np.sum(values**-2)) > MAX_NOISE:
        return None, float(values[0])
    return (vectors / values) @ vectors.T, float(values[0])


def least_ridge(moments: UnbiasedMoments, target: int, on: list[int]) -> float:
    """Return the smallest ridge with which slopes can be computed, 0 where none is needed."""
    part, c = _part(moments, [target, *on]), moments.covariance[np.ix_(on, on)]
    if _inverse(c, part.square)[0] is not None:
        return 0.0
    low, high = 0.0, 2 * float(np.abs(c).sum()) + np.sqrt(len(on) * part.square / MAX_NOISE) + 1e-12
    least = 1e-12 * high  # where any ridge will do, as beside a constant column without noise
    while high - low > 1e-3 * high and high > least:
        middle = (low + high) / 2
        fits = _inverse(c + middle * np.eye(len(on)), part.square)[0] is not None
        low, high = (low, middle) if fits else (middle, high)
    return float(high)


def regress(
    moments: UnbiasedMoments, target: int, on: list[int], ridge: float, level: float, at: np.ndarray | None = None
) -> RegressionFit:
    """Return the slopes of one column on others, R squared, and the expected response at rows of regressors.

    By the inversion of a test, as Anderson and Rubin (1949) do for a set; derived in the docstring of the module.
    """
    points = np.zeros((0, len(on))) if at is None else at
    part, k, n = _part(moments, [target, *on]), len(on), moments.n_rows
    c = part.covariance
    penalised = c.copy()
    penalised[1:, 1:] += ridge * np.eye(k)
    inner, least = _inverse(penalised[1:, 1:], part.square)
    if inner is None:
        none, why, one = np.full(k, np.nan), np.full(k, NO_INVERSE), np.array(np.nan)
        there = np.full(len(points), np.nan)
        return RegressionFit(
            Intervals(none, none, none, why, none, none),
            Intervals(one, np.array(0.0), np.array(1.0), np.array(NO_INVERSE)),
            Intervals(there, there, there, np.full(len(points), NO_INVERSE)),
        )
    p = np.zeros((k + 1, k + 1))
    p[1:, 1:] = inner
    e = np.concatenate([[1.0], -inner @ c[1:, 0]])
    most = float(moments.span[target]) ** 2 / 4
    ways = np.column_stack([np.zeros(k), np.eye(k)])
    slopes, low, high, std, p_value, why = np.array(
        [_slope(part, p, e, w, n, level, ridge, moments, most) for w in ways]
    ).T
    two = bool(moments.span[[target, *on]].any())
    own = np.array(two and (ridge > 0 or bool(moments.unknown.any())))
    fit = Intervals(slopes, low, high, why.astype(np.int64), p_value, np.where(own, np.nan, std)).without_intervals(own)
    responses = [_expected_response(part, p, e, x, slopes, n, level, ridge, moments, most) for x in points]
    estimate, half, reason = np.array(responses).reshape(-1, 3).T
    response_intervals = Intervals(
        estimate, estimate - half, estimate + half, reason.astype(np.int64)
    ).without_intervals(own)
    return RegressionFit(
        fit, _r_squared(part, p, e, least, n, level, moments).without_intervals(np.array(two)), response_intervals
    )


def _expected_response(
    part: _Part, p: np.ndarray, e: np.ndarray, x: np.ndarray, slopes: np.ndarray, n: float, level: float, ridge: float,
    moments: UnbiasedMoments, most: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return (estimate, half-length of the interval, reason) of the expected response at x, in working units."""
    law, m = part.law, part.mean
    rest = np.concatenate([[1.0], -slopes])
    away = x - m[1:]
    estimate = float(m @ rest) + float(x @ slopes)
    if moments.mean is None:
        return estimate, np.nan, NO_MEAN
    residual = most or max(float(rest @ part.covariance @ rest), 0.0)
    noise = law.mean_variance * float(rest @ rest) + law.count_variance * float(m @ rest) ** 2
    sampling = residual / n
    if away.any():
        w = np.concatenate([[0.0], away])
        slope = _slope(part, p, e, w, n, level, ridge, moments, most)
        if slope.reason:
            return estimate, np.nan, slope.reason
        v = p @ w
        both = float(v @ rest) * float(m @ rest) + float(rest @ rest) * float(v @ m)
        apart = noise + slope.std * slope.std
        noise = max(apart - 2 * law.mean_variance * both, apart / 4)  # at noisy slopes both may be too large
    z = float(moments.z(level, np.array(noise), np.array(sampling), 0.0))
    return estimate, z * np.sqrt(max(noise + sampling, 0.0)), 0


class _SlopeAnswer(NamedTuple):
    """One slope in working units: its interval, standard error, p-value of no slope, and position in `REASONS`."""

    estimate: float
    low: float
    high: float
    std: float
    p_value: float
    reason: int


def _slope(
    part: _Part, p: np.ndarray, e: np.ndarray, w: np.ndarray, n: float, level: float, ridge: float,
    moments: UnbiasedMoments, most: float,
) -> _SlopeAnswer:  # fmt: skip
    """Return the answer on a sum w of slopes; letters as in the docstring of the module.

    ``most``: a bound that takes the place of the residual variance s, or 0 for none.
    """
    law, covariance, fitted = part.law, part.covariance, -float(w @ e)
    turned = p @ w
    inverse_size = 1 / float(w @ turned)
    v, q = turned * inverse_size, p - np.outer(turned, turned) * inverse_size
    bias_vv, bias_ve = part.bias(v, v, q), part.bias(v, e, q)
    trace, squared_norm, held = float(np.trace(q)), float(np.sum(q * q)), len(e) - 2

    def variance(step: float) -> float:
        """Return V at this step from the fitted slope."""
        residual = e - step * v
        regressor_variance = max(float(v @ covariance @ v) + bias_vv, 0.0)
        residual_variance = most or max(float(residual @ covariance @ residual) + part.bias(residual, residual, q), 0.0)
        vv, ee, ve = float(v @ v), float(residual @ residual), float(v @ residual)
        across = float(v @ covariance @ residual) if ridge else 0.0  # without a ridge it is zero in the population
        second = part.square**2 * (vv * ee + ve * ve) * squared_norm
        second = second + part.square * (vv * residual_variance + ee * regressor_variance) * trace / n
        sampling = (regressor_variance * residual_variance + across**2) / n
        noise = part.noise(_mixed(v, residual))
        return noise + sampling + second + held * regressor_variance * residual_variance / n**2

    slope_of_g = inverse_size + bias_vv
    if slope_of_g <= 0:
        return _SlopeAnswer(fitted, np.nan, np.nan, np.nan, np.nan, NO_END)
    centre = bias_ve / slope_of_g
    estimate = fitted + centre
    # V is a quadratic in the step: three values give it, taken at a step of the interval's own size.
    at_centre = variance(centre)
    std = max(np.sqrt(at_centre) / slope_of_g, 1e-12)
    up, down = variance(centre + std), variance(centre - std)
    curvature, lean = (up + down - 2 * at_centre) / 2 / std**2, (up - down) / 2 / std
    noise = part.noise(_mixed(v, e - centre * v))
    z = float(moments.z(level, np.array(noise), np.array(at_centre - noise), _excess(law, v, e - centre * v)))
    a, b, c = slope_of_g**2 - z * z * curvature, z * z * lean, z * z * at_centre
    if a <= 0:
        return _SlopeAnswer(estimate, np.nan, np.nan, np.nan, np.nan, NO_END)
    root = np.sqrt(max(b * b + 4 * a * c, 0.0))
    low, high = estimate + (b - root) / (2 * a), estimate + (b + root) / (2 * a)

    # The test of no slope is that of g at the step to zero.
    residual_at_zero = e + fitted * v
    noise_at_zero = part.noise(_mixed(v, residual_at_zero))
    other_at_zero = max(variance(-fitted) - noise_at_zero, 0.0)
    shape = 3 / max(_excess(law, v, residual_at_zero), 1e-9)
    p_value = float(
        tail(np.array([estimate * slope_of_g]), np.array([other_at_zero]), np.array([noise_at_zero]), shape)[0]
    )
    return _SlopeAnswer(estimate, low, high, std, p_value, 0)


def _r_squared(
    part: _Part, p: np.ndarray, e: np.ndarray, least: float, n: float, level: float, moments: UnbiasedMoments
) -> Intervals:
    """Return R squared: the ratio of two forms, by bisection."""
    law, c, k = part.law, part.covariance, len(e) - 1
    whole = float(c[0, 0])
    residual = (float(e @ c @ e) + part.bias(e, e, p)) * n / max(n - k, 1.0)
    if whole <= 0:
        return Intervals(np.array(np.nan), np.array(0.0), np.array(1.0), np.array(NO_INVERSE))
    y = np.zeros(k + 1)
    y[0] = 1.0
    forms = np.outer(e, e), np.outer(y, y)
    n00, n11, cross = part.noise(forms[0]), part.noise(forms[1]), part.noise(forms[0] + forms[1])
    n01 = (cross - n00 - n11) / 2
    trace, norm, ee = float(np.trace(p)), float(np.sum(p * p)), float(e @ e)

    def parts(r: float) -> tuple[float, float]:
        rest, s = 1 - r, (1 - r) * whole
        noise = max(n00 - 2 * rest * n01 + rest * rest * n11, 0.0)
        noise += 2 * part.square**2 * ee * ee * norm
        return noise, 4 * s * s * max(r, 0.0) / n + 4 * part.square * ee * s * trace / n + 2 * k * s * s / n**2

    raw_estimate = 1 - residual / whole
    start = float(np.clip(raw_estimate, 0.0, 1.0))
    noise, own = parts(start)
    z = float(moments.z(level, np.array(noise), np.array(own), _excess(law, e, e)))

    def outside(r: float) -> bool:
        return (residual - (1 - r) * whole) ** 2 > z * z * sum(parts(r))

    def last_inside(outer: float) -> float:
        inner = start if outside(outer) else outer
        for _ in range(40 if inner != outer else 0):
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if outside(middle) else (middle, outer)
        return inner

    ends = [last_inside(0.0), last_inside(1.0)]
    if least < _CLEAR * np.sqrt(part.square):
        ends[1] = 1.0
    reason = TOO_NOISY if ends == [0.0, 1.0] else 0
    return Intervals(np.array(start), np.array(ends[0]), np.array(ends[1]), np.array(reason))


def partial_correlations(moments: UnbiasedMoments, level: float, among: list[int] | None = None) -> Intervals:
    """Return the interval of every partial correlation given all others, with the test of zero, as derived above.

    All others are those of ``among``, by default of all columns but the last level of every category.
    """
    columns = np.flatnonzero(~moments.is_redundant_level) if among is None else np.array(among)
    d, shape = len(columns), (moments.d, moments.d)
    part = _part(moments, columns.tolist())
    inverse, _ = _inverse(part.covariance, part.square)
    if inverse is None or d < 2:
        none = np.full(shape, np.nan)
        return Intervals(none, none, none, np.full(shape, NO_INVERSE), none)
    powers = inverse, inverse @ inverse, inverse @ part.mean
    lines = [np.concatenate(line) for line in zip(*(_pairs_of(part, powers, i) for i in range(d - 1)), strict=True)]
    above, below, zero, first, second, more, weak, excess, *residual_variances = lines
    sampling = 1 / max(part.rows - (d - 2), 1.0)
    own = more + sampling * below**2
    z = moments.z(level, zero, own, excess)
    estimate, low, high = fieller(above, below, (zero + more, first, second), lambda r: sampling * (1 - r * r) ** 2, z)
    shape_of = 1 / max(float(np.max(excess)) / 3, 1e-9)
    upper = np.triu_indices(d, 1)
    reason = np.where(weak > 0, NO_INVERSE, np.where((low <= -1) & (high >= 1), TOO_NOISY, 0))
    if moments.span.any():
        most = moments.span[columns] ** 2 / 4
        both = np.minimum(most[upper[0]] * residual_variances[1], most[upper[1]] * residual_variances[0])
        own = more + sampling * np.where(both > 0, both, below**2)
        reason = np.where(weak > 0, NO_INVERSE, TWO_VALUED if moments.unknown.any() else TESTED_ONLY)
    p_value = tail(above, own, zero, shape_of)

    def square(line: np.ndarray, rest: float) -> np.ndarray:
        whole, places = np.full(shape, rest), (columns[upper[0]], columns[upper[1]])
        whole[places] = line
        whole.T[places] = line
        return whole

    estimate, low, high, p_value = (square(line, np.nan) for line in (estimate, low, high, p_value))
    intervals = Intervals(estimate, low, high, square(reason, 0).astype(np.int64), p_value)
    follows = np.isin(np.arange(moments.d), columns, invert=True) & moments.is_redundant_level
    return intervals.without_intervals(np.array(bool(moments.unknown.any()))).without_intervals(
        follows[:, None] | follows, FOLLOWS
    )


def controlled_correlations(moments: UnbiasedMoments, level: float, controls: list[int]) -> Intervals:
    """Return the interval of every partial correlation given the held columns alone."""
    d = moments.d
    estimate, low, high, p_value = np.full((4, d, d), np.nan)
    reason, free = np.zeros((d, d), dtype=np.int64), [j for j in range(d) if j not in controls]
    for at, other in combinations(free, 2):
        intervals, pair = partial_correlations(moments, level, [at, other, *controls]), ([at, other], [other, at])
        assert intervals.p_value is not None, "a partial correlation is tested"
        estimate[pair], low[pair], high[pair] = intervals.estimate[pair], intervals.low[pair], intervals.high[pair]
        reason[pair], p_value[pair] = intervals.reason_code[pair], intervals.p_value[pair]
    return Intervals(estimate, low, high, reason, p_value)


def _pairs_of(part: _Part, powers: tuple[np.ndarray, ...], i: int) -> tuple[np.ndarray, ...]:
    """Return what the intervals of the pairs (i, j), j > i, are made of, all at once; ``powers``: P, P^2 and P m.

    With P_ij the two columns of P, T = (P_ij,ij)^-1, the vectors are v = P_ij T and Q = P - P_ij T P_ij', so all their
    products are 2 x 2 matrices in P, P^2 and P^3.
    """
    law, m, (p, square, at_mean) = part.law, part.mean, powers
    d, js = len(p), np.arange(i + 1, len(p))

    def corner(matrix: np.ndarray) -> np.ndarray:
        small = np.empty((len(js), 2, 2))
        small[:, 0, 0], small[:, 1, 1] = matrix[i, i], matrix[js, js]
        small[:, 0, 1] = small[:, 1, 0] = matrix[i, js]
        return small

    def two(vector: np.ndarray) -> np.ndarray:
        return np.stack([np.full(len(js), vector[i]), vector[js]], axis=1)[:, :, None]

    block, gram = np.linalg.inv(corner(p)), corner(square)
    cross, pm, p2m = corner(square @ p), two(at_mean), two(square @ m)
    block_gram, vm = block @ gram, block @ pm
    trace = (float(np.trace(p)) - np.trace(block_gram, axis1=1, axis2=2))[:, None, None]
    norm = (
        float(np.sum(p * p))
        - 2 * np.einsum("kab,kba->k", block, cross)
        + np.einsum("kab,kba->k", block_gram, block_gram)
    )
    vv = block_gram @ block
    vqv = block @ (cross - gram @ block_gram) @ block
    vqm = block @ p2m - block_gram @ vm
    mqm = float(m @ at_mean) - pm.transpose(0, 2, 1) @ vm
    mm, around = vm @ vm.transpose(0, 2, 1), vm @ vqm.transpose(0, 2, 1)
    rows = np.stack([np.broadcast_to(p[i], (len(js), d)), p[js]], axis=1)
    v = block @ rows
    v0, v1 = v[:, 0], v[:, 1]
    on = (np.diag(p) - v0 * rows[:, 0] - v1 * rows[:, 1]) * law.diagonal_excess
    bias = (
        (law.entry_variance + law.mean_variance**2) * (vv * trace + vqv)
        + law.diagonal_covariance * vqv
        + (v * on[:, None, :]) @ v.transpose(0, 2, 1)
    )
    bias = bias + law.mean_variance * (vv * mqm + around + around.transpose(0, 2, 1) + trace * mm)
    pair_block = block + bias + law.count_variance * mm * mqm
    t0, t1, above = pair_block[:, 0, 0], pair_block[:, 1, 1], pair_block[:, 0, 1]
    aa, bb, ab = vv[:, 0, 0], vv[:, 1, 1], vv[:, 0, 1]
    weak = np.minimum(t0 - _WEAK * np.sqrt(law.entry_variance) * aa, t1 - _WEAK * np.sqrt(law.entry_variance) * bb) <= 0
    safe0, safe1 = np.where(t0 > 0, t0, 1.0), np.where(t1 > 0, t1, 1.0)
    a, below = np.sqrt(safe1 / safe0), np.sqrt(safe0 * safe1)
    squares = np.stack([v0 * v0, v1 * v1, v0 * v1], axis=1)  # the diagonal of A_r is made of these
    quartic = (squares * law.diagonal_excess) @ squares.transpose(0, 2, 1)
    m0, m1 = vm[:, 0, 0], vm[:, 1, 0]

    def noise(r: float) -> np.ndarray:
        """Return N(A_r) for A_r = x v0 v0' + y v1 v1' + (v0 v1' + v1 v0') / 2."""
        x, y = -r * a / 2, -r / (2 * a)
        form = np.stack([x, y, np.ones_like(x)], axis=1)
        size = (x * aa) ** 2 + (y * bb) ** 2 + (aa * bb + ab * ab) / 2 + 2 * ab * (x * y * ab + x * aa + y * bb)
        on_trace = x * aa + y * bb + ab
        f0, f1 = x * m0 + m1 / 2, y * m1 + m0 / 2  # A m = f0 v0 + f1 v1
        turned = np.maximum(f0 * f0 * aa + f1 * f1 * bb + 2 * f0 * f1 * ab - law.mean_variance * size, 0.0)
        q = m0 * f0 + m1 * f1
        variance = (
            2 * law.entry_variance * size
            + np.einsum("ka,kab,kb->k", form, quartic, form)
            + law.diagonal_covariance * on_trace**2
        )
        variance = variance + 4 * law.mean_variance * turned + 2 * law.mean_variance**2 * size
        return np.maximum(variance + law.count_variance * q * q + 2 * law.count_diagonal_covariance * q * on_trace, 0.0)

    zero, up, down = noise(0.0), noise(1.0), noise(-1.0)
    n = max(part.rows - (d - 2), 1.0)
    more = part.square**2 * (aa * bb + ab * ab) * norm
    more = more + part.square * (aa * safe1 + bb * safe0) * trace[:, 0, 0] / n + (d - 2) * below**2 / n**2
    spread = np.sum(squares[:, 0] ** 2, axis=1) * np.sum(squares[:, 1] ** 2, axis=1) / (aa * bb) ** 2
    excess = law.excess_kurtosis(spread, ab / np.sqrt(aa * bb))
    curvature = (up + down) / 2 - zero
    return above, below, zero, (up - down) / 2, curvature, more, weak.astype(np.float64), excess, safe0, safe1


def edges(moments: UnbiasedMoments, exact: Intervals, kurtosis: float = 0.0) -> Intervals:
    """Return the partial correlations, with the test of zero (`postprocess.edge_test`) also without an interval."""
    if moments.for_shape(kurtosis).span.any() or moments.is_redundant_level.any():
        return exact
    shape = (moments.d, moments.d)
    tested = edge_test(moments.covariance, moments.centre, moments.n_rows, moments.law, kurtosis)
    none = np.full(shape, np.nan)
    p = none if tested is None else tested.p_value
    if exact.identified[np.triu_indices(moments.d, 1)].all():
        return dataclasses.replace(exact, p_value=p)
    if tested is None:
        return Intervals(none, none, none, np.full(shape, NO_INVERSE), none)
    return Intervals(tested.partial, none, none, np.full(shape, TESTED_ONLY), p)
