"""Intervals of means, variances, covariances and correlations: privacy noise and sampling together.

Each interval inverts a test: it holds all values within z standard deviations of the estimate, computed at that value.
N(A) is the noise of noise_law.py, n the number of rows, k the assumed excess kurtosis of the rows (0 for Gaussian ones;
elliptical rows otherwise).

    mean          t_m^2 + v_u m^2 + c_jj / n; of two values a and b, c_jj = (m - a)(b - m) at the tested m
    variance      (v' - v)^2 <= z^2 (N + (2 + 3 k) v^2 / n), a quadratic in v
    covariance    N + [(1 + k)(c_ii c_jj + c_ij^2) + k c_ij^2] / n
    correlation   Fieller: (c_ij - r g)^2 <= z^2 (N(A_r) + (1 + k)(1 - r^2)^2 g^2 / n), g^2 = c_ii c_jj, where A_r has
                  1/2 at (i, j), -r a / 2 at (i, i) and -r / (2 a) at (j, j), a^2 = c_jj / c_ii

A column of two values, s apart, has (x - m)^2 = v + t (x - m), t = low + high - 2 m, t^2 = s^2 - 4 v, and no kurtosis
is assumed of it. With T = t / sqrt(v) the sampling part over n is

    variance      v s^2 - 4 v^2; and v' is below v by (m' - m)^2 <= z^2 v / n, which is all there is at t = 0
    covariance    of two such columns c_ii c_jj + t_i t_j c_ij - c_ij^2, of one and another kind of column, whose mean
                  alone depends on it, c_ii c_jj + c_ij^2 (T^2 - 1); each with 3 (s_i s_j)^2 / n more, as if three more
                  rows had the rarer value
    correlation   of two 1 - r^2 + T_i T_j (r + r^3 / 2) - 3/4 r^2 (T_i^2 + T_j^2) (Yule 1912); of one
                  (1 - r^2)^2 (1 + r^2 (T^2 - 2) / 4)

Of such a column without a cell between the two values, the variance is (m - a)(b - m) over the interval of the mean.
Two levels of one column, with means l_i and l_j above their lower values, have the covariance -l_i l_j. Its interval
has the products of the ends of both means: the relative error of a product is at most the sum of both.

Where missing cells are measured by pairs, n is the number n_ij of rows that have both cells. A correlation also has
variances of n_i and n_j rows, so its sampling part is, for x and y in standard deviations from their means,

    (E x^2 y^2 - r^2) / n_ij + r^2 / 4 [(E x^4 - 1) / n_i + (E y^4 - 1) / n_j + 2 (E x^2 y^2 - 1) n_ij / (n_i n_j)]
        - r [(E x^3 y - r) / n_i + (E x y^3 - r) / n_j],

which is the one above where all have n rows. Elliptical rows have E x^4 = 3 (1 + k), E x^3 y = 3 (1 + k) r and
E x^2 y^2 = (1 + k)(1 + 2 r^2). A column of two values has x^2 = 1 + T x and E x^4 = 1 + T^2. Beside one, y = r x + e
gives E x^2 y^2 = 1 + r^2 T^2, E x y^3 = 3 r + r^3 (T^2 - 2) and E y^4 = 3 + r^4 (T^2 - 2).

Where rows are shortened, such a column has any value between its two, so bounds take the place of these. With q the
largest square of a deviation from the mean: the mean has the same interval, because v <= (m - a)(b - m); the variance
q v; the covariance q_i c_jj, or the smaller of both; and the correlation, by the triangle inequality for standard
deviations, (s + |r| (s_i + s_j) / 2)^2 with s^2 the bound of the covariance over g^2 and s_i^2 = q_i / c_ii, or
3 (1 + k) of a column of many values.

The test of r = 0 is the test of c_ij = 0; its noise is one entry, whose law is exact.

A correlation takes `ReleaseAnswers.correlations`, `unbiased.unbiased_moments_of_sum` (of the stored whole numbers),
`correlations` here, and `noise_theory.forms` for the variance N(A) of a linear form of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from privcov.inference.unbiased import NO_MEAN, NO_VARIANCE, ONE_COLUMN, TOO_FEW, TOO_NOISY, Intervals, UnbiasedMoments
from privcov.measurements.noise_theory.tails import tail

_HALVINGS = 44


def means(moments: UnbiasedMoments, level: float) -> Intervals:
    """Return the interval of every mean, in working units."""
    d, law = moments.d, moments.law
    if moments.mean is None:
        none = np.full(d, np.nan)
        return Intervals(none, none, none, np.full(d, NO_MEAN))
    variances = np.maximum(np.nan_to_num(np.diag(moments.covariance)), 0.0)
    if moments.available is None:
        noise, rows = np.full(d, law.mean_variance), np.full(d, moments.n_rows)
        noise = noise + law.count_variance * moments.mean**2
    else:
        noise, rows = (
            moments.available.mean_std**2,
            moments.n_rows * np.maximum(np.diag(moments.available.shares), 1e-9),
        )
    z = moments.z(level, noise, variances / rows, law.excess_kurtosis(1.0, 0.0))
    half = z * np.sqrt(noise + variances / rows)
    estimate, low, high = moments.mean, moments.mean - half, moments.mean + half
    if moments.binary is not None:  # the variance at the mean m that is tested is (m - a)(b - m)
        first, last, q = moments.binary.low, moments.binary.low + moments.span, z * z / rows
        middle = (moments.mean + q * (first + last) / 2) / (1 + q)
        square = middle**2 - (moments.mean**2 + q * first * last - z * z * noise) / (1 + q)
        half, two = np.sqrt(np.maximum(square, 0.0)), moments.span > 0
        low, high = np.where(two, middle - half, low), np.where(two, middle + half, high)
        estimate, low, high = (np.where(two, np.clip(x, first, last), x) for x in (estimate, low, high))
    return Intervals(estimate, low, high, np.where(np.isnan(moments.mean), TOO_FEW, 0))


def variances(moments: UnbiasedMoments, level: float, kurtosis: float) -> Intervals:
    """Return the interval of every variance, in working units."""
    diagonal, two, largest = np.diag(moments.covariance), moments.span > 0, moments.span**2 / 4
    noise, rows = np.diag(_entry_noise(moments)), moments.n_rows * np.diag(_shares(moments))
    # The sampling variance of a variance v is linear v + quadratic v^2: see the docstring of the module.
    linear = np.where(moments.shortened, moments.max_square_deviation, moments.span**2) / rows
    quadratic = np.where(moments.shortened, 0.0, np.where(two, -4.0, 2 + 3 * kurtosis)) / rows
    inside = np.where(two, np.clip(diagonal, 0.0, largest), np.maximum(diagonal, 0.0))
    z = moments.z(level, noise, linear * inside + quadratic * inside**2, moments.law.excess_kurtosis(1.0, 1.0))
    low, high = _variance_ends(diagonal, noise, linear, quadratic, z)
    high = np.where(two, np.minimum(high + z * z * inside / rows, largest), high)
    reason = np.where(np.isnan(diagonal), TOO_FEW, np.where(high > 0, 0, NO_VARIANCE))
    estimate = np.where(two, np.minimum(diagonal, largest), diagonal)  # a column of two values varies no more
    high = np.maximum(high, 0.0)
    if moments.binary is not None and moments.mean is not None:
        estimate, low, high = _bounded_by_mean(moments, level, estimate, low, high)
        reason = np.where(two & (reason != TOO_FEW), 0, reason)
    return Intervals(estimate, low, high, reason).without_intervals(moments.unknown)


def _variance_ends(
    diagonal: np.ndarray, noise: np.ndarray, linear: np.ndarray, quadratic: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of all v >= 0 with (diagonal - v)^2 <= z^2 (noise + linear v + quadratic v^2)."""
    leading = np.maximum(1 - z * z * quadratic, 1e-9)
    middle = diagonal + z * z * linear / 2
    root = np.sqrt(np.maximum(middle**2 - leading * (diagonal**2 - z * z * noise), 0.0))
    return np.maximum((middle - root) / leading, 0.0), (middle + root) / leading


def _bounded_by_mean(
    moments: UnbiasedMoments, level: float, estimate: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (estimate, low, high) of the variances, those of columns of two values bounded by their means.

    Between the two values E (x - a)(b - x) >= 0, so such a column varies at most as much as two values of its mean.
    """
    assert moments.binary is not None, "checked by the caller"
    two, largest, mean = moments.span > 0, moments.span**2 / 4, means(moments, level)
    by_mean, *ends = (_of_mean(moments, x) for x in (mean.estimate, mean.low, mean.high))
    below, above = mean.low - moments.binary.low, mean.high - moments.binary.low
    holds_middle = (below < moments.span / 2) & (above > moments.span / 2)
    most = np.where(holds_middle, largest, np.maximum(*ends))
    low = np.where(moments.exact, np.minimum(*ends), np.where(two, np.minimum(low, most), low))
    high = np.where(moments.exact, most, np.where(two, np.minimum(high, most), high))
    clipped = np.minimum(np.clip(estimate, low, high), by_mean)
    estimate = np.where(moments.exact, by_mean, np.where(two, clipped, estimate))
    return estimate, np.minimum(low, np.where(two, estimate, low)), high


def _of_mean(moments: UnbiasedMoments, mean: np.ndarray) -> np.ndarray:
    above = np.clip(mean - (0.0 if moments.binary is None else moments.binary.low), 0.0, moments.span)
    return above * (moments.span - above)


def _of_levels(moments: UnbiasedMoments, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (estimate, low, high) of the covariances that two levels of one column have by their means."""
    assert moments.binary is not None, "they are levels"
    mean = means(moments, level)
    m, low, high = (np.clip(x - moments.binary.low, 0.0, moments.span) for x in (mean.estimate, mean.low, mean.high))
    return -np.outer(m, m), -np.outer(high, high), -np.outer(low, low)


def covariances(moments: UnbiasedMoments, level: float, kurtosis: float) -> Intervals:
    """Return the interval of every covariance, in working units."""
    covariance, noise = moments.covariance, _entry_noise(moments)
    on = np.maximum(np.nan_to_num(np.diag(covariance)), 0.0)
    sampling = _covariance_sampling(moments, on, covariance, kurtosis) / (moments.n_rows * _shares(moments))
    half = moments.z(level, noise, sampling, moments.law.excess_kurtosis(1.0, 0.0)) * np.sqrt(noise + sampling)
    low, high = covariance - half, covariance + half
    if (same := moments.same_column).any() and moments.mean is not None:
        levels = _of_levels(moments, level)
        covariance, low, high = (np.where(same, b, a) for a, b in zip((covariance, low, high), levels, strict=True))
    intervals = Intervals(covariance, low, high, np.where(np.isnan(moments.covariance), TOO_FEW, 0))
    return intervals.without_intervals(moments.unknown[:, None] | moments.unknown[None, :])


def correlations(moments: UnbiasedMoments, level: float, kurtosis: float, tested: bool = True) -> Intervals:
    """Return every correlation's interval (Fieller 1954; noise as above and in noise_law.py), with a test of zero."""
    covariance, law = moments.covariance, moments.law
    diagonal, two = np.nan_to_num(np.diag(covariance)), moments.span > 0
    diagonal_noise = np.diag(_entry_noise(moments))
    least = moments.z(level, diagonal_noise, 0 * diagonal, law.excess_kurtosis(1.0, 1.0))
    weak = diagonal <= least * np.sqrt(diagonal_noise)
    safe = np.where(diagonal > 0, diagonal, 1.0)
    stds_product = np.sqrt(np.outer(safe, safe))  # g of the docstring of the module
    noise = _correlation_noise(moments, np.sqrt(safe[None, :] / safe[:, None]))
    plain = 1 + np.where(two[:, None] | two[None, :], 0.0, kurtosis)
    sampling_at = _correlation_sampling(moments, plain)
    p = _no_correlation_p_value(moments, diagonal, plain * stds_product * stds_product, noise[0]) if tested else None
    r = np.clip(np.nan_to_num(covariance) / stds_product, -1, 1)
    z = moments.z(level, noise[0], stds_product * stds_product * sampling_at(r), law.excess_kurtosis(1.0, 0.0))
    estimate, low, high = fieller(covariance, stds_product, noise, sampling_at, z)
    reason = np.where(weak[:, None] | weak[None, :], NO_VARIANCE, np.where((low <= -1) & (high >= 1), TOO_NOISY, 0))
    reason = np.where(np.isnan(covariance), TOO_FEW, reason)
    # A quotient of noise is anywhere in [-1, 1], often at an end; no test can call it real.
    estimate = np.where(reason > 0, np.nan, estimate)
    p = None if p is None else np.where(reason > 0, np.nan, p)
    same = moments.same_column
    if same.any() and moments.mean is not None:
        stds = np.sqrt(np.maximum(variances(moments, level, kurtosis).estimate, 1e-300))
        of_levels = np.clip(_of_levels(moments, level)[0] / np.outer(stds, stds), -1.0, 0.0)
        estimate = np.where(same & ~np.isnan(covariance), of_levels, estimate)
    unknown = moments.unknown[:, None] | moments.unknown[None, :]
    return Intervals(estimate, low, high, reason, p).without_intervals(unknown).without_intervals(same, ONE_COLUMN)


def _no_correlation_p_value(
    moments: UnbiasedMoments, diagonal: np.ndarray, product: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """Return the p-value of no correlation for every pair.

    product: (1 + k) c_ii c_jj. noise: N(A_0), of which a single entry's draw has the exact law of one number.
    """
    rows = moments.n_rows * _shares(moments)
    sampling = np.where(_either_short(moments), _product_bound(moments, diagonal), product + _few(moments)) / rows
    one = _one_entry(moments)
    return tail(np.nan_to_num(moments.covariance), noise - one + sampling, one, _shape(moments))


def correlation_variances(moments: UnbiasedMoments, r: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variances of the noise and of sampling on every correlation, as derived in the module's docstring."""
    zero, first, second = _correlation_noise(moments, spread[None, :] / spread[:, None])
    g = spread[:, None] * spread[None, :]
    noise = np.maximum(zero + r * (first + r * second), 0.0) / (g * g)
    return noise, _moment_variance(moments, r, 1 + 2 * r * r, 3 * r, np.full_like(r, 3.0))


def fieller(
    above: np.ndarray,
    below: np.ndarray,
    noise: tuple[np.ndarray, ...],
    sampling: Callable[[np.ndarray], np.ndarray],
    z: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (estimate, low, high) of a correlation: all r with (above - r below)^2 <= z^2 V(r), by bisection.

    V(r) = n_0 + n_1 r + n_2 r^2 + below^2 sampling(r); the ends are those nearest to the estimate (Fieller 1954).
    """
    ratio = np.nan_to_num(above) / below
    start = np.clip(ratio, -1.0, 1.0)

    def outside(r: np.ndarray) -> np.ndarray:
        spread = noise[0] + r * (noise[1] + r * noise[2])
        return (ratio - r) ** 2 > z * z * (np.maximum(spread, 0.0) / below**2 + sampling(r))

    ends = []
    for end in (-1.0, 1.0):
        inner, outer = start.copy(), np.full_like(start, end)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            out = outside(middle)
            inner, outer = np.where(out, inner, middle), np.where(out, middle, outer)
        ends.append(np.where(outside(np.full_like(start, end)), inner, end))
    return np.where(np.isnan(above), np.nan, ratio), ends[0], ends[1]


def _covariance_sampling(
    moments: UnbiasedMoments, on: np.ndarray, covariance: np.ndarray, kurtosis: float
) -> np.ndarray:
    """Return the variance of the product of two deviations from the mean, for every pair of columns."""
    two, t, both = moments.span > 0, moments.square_slope, np.outer(on, on)
    square = np.minimum(np.nan_to_num(covariance) ** 2, both)
    variance = (1 + kurtosis) * (both + covariance**2) + kurtosis * covariance**2
    explained = np.minimum(square / np.maximum(on, 1e-300)[:, None], on[None, :])
    one = both + _few(moments) - square + explained * (t * t)[:, None]
    variance = np.where(two[:, None], one, np.where(two[None, :], one.T, variance))
    pair = np.maximum(both + np.outer(t, t) * np.nan_to_num(covariance) - square, 0.0) + _few(moments)
    variance = np.where(two[:, None] & two[None, :], pair, variance)
    return np.where(_either_short(moments), _product_bound(moments, on), variance)


def _either_short(moments: UnbiasedMoments) -> np.ndarray:
    return moments.shortened[:, None] | moments.shortened[None, :]


def _product_bound(moments: UnbiasedMoments, on: np.ndarray) -> np.ndarray:
    """Return the bound on the variance of the product of two deviations, where rows are shortened."""
    most = np.where(moments.shortened, moments.max_square_deviation, np.nan)[:, None] * on[None, :]
    return np.nan_to_num(np.fmin(most, most.T)) + _few(moments)


def _correlation_sampling(moments: UnbiasedMoments, plain: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that gives the sampling variance of every correlation r."""
    two, v = moments.span > 0, np.maximum(np.nan_to_num(np.diag(moments.covariance)), 0.0)
    t = np.divide(moments.square_slope, np.sqrt(v), out=np.zeros(moments.d), where=two & (v > 0))
    first, second, square = two[:, None], two[None, :], (t * t)[:, None] + np.zeros((moments.d, moments.d))
    few = np.divide(_few(moments), np.outer(v, v), out=np.zeros((moments.d, moments.d)), where=np.outer(v, v) > 0)
    pairs = moments.n_rows * _shares(moments)

    safe = np.where(v > 0, v, 1.0)
    fourth = np.sqrt(np.where(moments.shortened, moments.max_square_deviation / safe, 3 * np.diag(plain)))
    product_std = np.sqrt(_product_bound(moments, v) / np.outer(safe, safe))

    def own(r: np.ndarray) -> np.ndarray:
        r2 = r * r
        correction = r2 * (square.T - 2)  # of a column of many values beside one of two
        m22 = np.where(first & second, 1 + np.outer(t, t) * r, 1 + r2 * (square + square.T))
        m22 = np.where(first | second, m22, plain * (1 + 2 * r2))
        m31 = np.where(first, r * (1 + square), np.where(second, r * (3 + correction), 3 * plain * r))
        m40 = np.where(first, 1 + square, np.where(second, 3 + r2 * correction, 3 * plain))
        variance = _moment_variance(moments, r, m22, m31, m40) + np.where(first & second, few, 0.0) / pairs
        most = product_std + np.abs(r) * (fourth[:, None] + fourth[None, :]) / 2
        return np.where(_either_short(moments), most * most / pairs, np.maximum(variance, 0.0))

    return own


def _moment_variance(
    moments: UnbiasedMoments, r: np.ndarray, m22: np.ndarray, m31: np.ndarray, m40: np.ndarray
) -> np.ndarray:
    """Return the sampling variance of every correlation r, from the fourth moments E x^2 y^2, E x^3 y and E x^4."""
    pairs = moments.n_rows * _shares(moments)
    each = np.diag(pairs)[:, None]
    part = r * r / 4 * (m40 - 1) / each - r * (m31 - r) / each
    return (m22 - r * r) / pairs + part + part.T + r * r / 2 * (m22 - 1) * pairs / (each * each.T)


def sampling_norm(moments: UnbiasedMoments) -> float:
    """Return the root of the mean squared Frobenius norm of the sampling error of the covariance."""
    covariance, on = moments.covariance, np.maximum(np.diag(moments.covariance), 0.0)
    entries = _covariance_sampling(moments, on, covariance, 0.0)
    np.fill_diagonal(entries, np.where(moments.span > 0, np.maximum(on * moments.span**2 - 4 * on**2, 0.0), 2 * on**2))
    return math.sqrt(float(entries.sum()) / moments.n_rows)


def _few(moments: UnbiasedMoments) -> np.ndarray:
    """Return 3 (s_i s_j)^2 / n; s is the standard deviation of a column of many values; 0 for two such columns.

    A count with mean 3 is zero with at most 5 % chance.
    """
    two, std = moments.span > 0, np.sqrt(np.maximum(np.nan_to_num(np.diag(moments.covariance)), 0.0))
    size = np.where(two, moments.span, std)
    either = two[:, None] | two[None, :]
    return np.where(either, 3 * np.outer(size, size) ** 2, 0.0) / (moments.n_rows * _shares(moments))


def _shares(moments: UnbiasedMoments) -> np.ndarray:
    if moments.available is None:
        return np.ones((moments.d, moments.d))
    return np.maximum(moments.available.shares, 1e-9)


def _entry_noise(moments: UnbiasedMoments) -> np.ndarray:
    """Return the variance of the noise on every entry of the covariance: N(A) for A = (e_i e_j' + e_j e_i') / 2."""
    if moments.available is not None:
        return moments.available.variance
    law, m, diagonal = moments.law, moments.centre, np.eye(moments.d) > 0
    size, t2 = np.where(diagonal, 1.0, 0.5), law.mean_variance
    square = m * m
    turned = np.where(diagonal, square[:, None], (square[:, None] + square[None, :]) / 4)
    # The square of a noisy mean is too large by t2; |A m|^2 by t2 |A|^2.
    turned = np.maximum(turned - t2 * size, 0.0)
    noise = (
        2 * law.entry_variance * size
        + np.diag(law.diagonal_excess + law.diagonal_covariance)
        + 4 * t2 * turned
        + 2 * t2 * t2 * size
    )
    q = np.outer(m, m) - moments.covariance
    return np.maximum(noise + law.count_variance * q * q + 2 * law.count_diagonal_covariance * np.diag(np.diag(q)), 0.0)


def _one_entry(moments: UnbiasedMoments) -> np.ndarray:
    """Return the variance of the single noise draw on every covariance."""
    if moments.available is None:
        return np.full((moments.d, moments.d), moments.law.entry_variance)
    return moments.available.variance


def _shape(moments: UnbiasedMoments) -> float:
    """Return j, the shape of the Gamma mixture that one number above the diagonal is."""
    return 1.0 if moments.law.laplace else moments.law.freedom or math.inf


def _correlation_noise(moments: UnbiasedMoments, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (n_0, n_1, n_2): N(A_r) = n_0 + n_1 r + n_2 r^2 for every pair.

    With flags of missing cells, entries are taken as uncorrelated with the noise on the variances.
    """
    law, m = moments.law, moments.centre
    one = _entry_noise(moments)
    x, y = a / 2, 1 / (2 * a)  # of -r in the two diagonal entries
    if moments.available is not None:
        v = np.diag(moments.available.variance)
        return one, 0 * one, x * x * v[:, None] + y * y * v[None, :]
    mi, mj = m[:, None], m[None, :]
    size, on, t2 = x * x + y * y, law.diagonal_excess, law.mean_variance
    second = 2 * law.entry_variance * size + on[:, None] * x * x + on[None, :] * y * y
    second = second + law.diagonal_covariance * (x + y) ** 2
    second = second + 4 * t2 * (x * x * mi * mi + y * y * mj * mj) + 2 * t2 * t2 * size
    first = -4 * t2 * (x + y) * mi * mj
    q0, q1 = mi * mj, -(x * mi * mi + y * mj * mj)  # <A_r, C> = 0 where r is the correlation
    second = second + law.count_variance * q1 * q1 - 2 * law.count_diagonal_covariance * q1 * (x + y)
    first = first + 2 * law.count_variance * q0 * q1 - 2 * law.count_diagonal_covariance * q0 * (x + y)
    zero = one + law.count_variance * (q0 * q0 - (q0 - moments.covariance) ** 2)
    return zero, first, second
