"""Intervals of eigenvalues and loadings of the covariance in half-range units, privacy noise and sampling together.

With l_i, u_i the eigenvalues and axes of the noisy C, E its whole error and f_ij = t^2 + l_i l_j / n the variance of
u_i'E u_j, to second order in E

    l_i(C) - l_i = u_i'E u_i + b_i,  b_i = sum_{j != i} f_ij / (l_i - l_j),  h_i = sum_{j != i} f_ij / (l_i - l_j)^2.

Where h_i <= 0.1 the interval spans l_i and l_i - b_i, each with z standard deviations of u_i'E u_i, N(u_i u_i') + V_i
/ n, V_i the variance of the square of a row along u_i: (2 + 3 k) l_i^2 for elliptical rows. With columns of two values
that row is b + g, b of these and bounded, |b| <= M, and g of the others, Gaussian; however those of two values are
related,

    sqrt V_i <= sqrt(l_b (M^2 - l_b)) + 2 M sqrt(l_g) + sqrt(2 + 3 k) l_g,   l_b and l_g the variances of b and g

(Bhatia and Davis 2000 for the first term; shortened rows lie between the same ends), and (V_i + l_i^2)^1/2 takes the
place of l_i in f_ij (Cauchy and Schwarz). Elsewhere Weyl's bound holds whatever the order of the axes: no eigenvalue
moves by more than the spectral norm of E, taken as its mean and 2.1 standard deviations in draws of E (the 97.5 % point
of Tracy and Widom's law of the largest eigenvalue); with columns of two values the part of sampling is its Frobenius
norm, z times the root of the sum of its variances. One long row can move it: under a kurtosis no eigenvalue of more
than 6 columns is identified where some are close. A loading moves by u_ia(C) - u_ia = g'E u_i with g = sum_{j != i}
u_ja u_j / (l_i - l_j), whose sampling has the variance g'C g l_i / n for Gaussian rows, and at most sqrt((V_g +
(g'C g)^2) (V_i + l_i^2)) / n with columns of two values. It is answered where h_i <= 0.03: noise pushes eigenvalues
apart, so tied ones look farther than they are.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.inference import entries
from privcov.inference.unbiased import FEW_ROWS, TIED, Intervals, UnbiasedMoments

FEWEST_ROWS = 20  # for each column, below which the smallest eigenvalue is outside its interval too often
MAX_TIED = 6  # columns, to which close eigenvalues of heavy rows were measured
STEADY, CLEAR = 0.1, 0.03  # of h_i, for eigenvalues and for loadings
_DRAWS = 32
_TRACY_WIDOM = 2.1 / 1.96  # its 97.5 % point, in standard deviations from its mean, over that of a normal number


def _turns(
    moments: UnbiasedMoments, kurtosis: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (eigenvalues, axes, V, b, h), largest first."""
    values, axes = np.linalg.eigh(moments.covariance)
    values, axes = values[::-1], axes[:, ::-1]
    positive, of_squares = np.maximum(values, 0.0), (2 + 3 * kurtosis) * values**2
    both = (1 + kurtosis) * np.outer(positive, positive)
    if moments.span.any():
        of_squares = np.array([_two_valued(moments, u, kurtosis) for u in axes.T])
        fourth = np.sqrt(of_squares + positive**2)
        both = np.outer(fourth, fourth)
    square = (
        moments.law.entry_variance
        + moments.law.mean_variance**2
        + moments.law.mean_variance * float(moments.centre @ moments.centre) / moments.d
    )
    f = square + both / moments.n_rows
    gap = values[:, None] - values[None, :]
    np.fill_diagonal(gap, np.inf)
    gap = np.where(gap == 0, 1e-300, gap)
    with np.errstate(over="ignore"):
        return values, axes, of_squares, np.sum(f / gap, axis=1), np.sum(f / gap**2, axis=1)


def eigenvalues(moments: UnbiasedMoments, level: float, kurtosis: float = 0.0) -> Intervals:
    """Return the interval of every eigenvalue, largest first (Weyl 1912; Tracy and Widom 1996; derived above)."""
    values, axes, sampling, bias, turn = _turns(moments, kurtosis)
    steady = turn <= STEADY
    low, high = np.empty_like(values), np.empty_like(values)
    excess = moments.law.excess_kurtosis(0.0 if moments.d > 3 else 1.0, 1.0)
    z = float(moments.z(level, np.array(1.0), np.array(0.0), excess))
    for i in np.flatnonzero(steady):
        u = axes[:, i]
        noise = moments.law.form_variance(np.outer(u, u), moments.centre, moments.covariance)
        half = z * math.sqrt(noise + sampling[i] / moments.n_rows)
        both = values[i], values[i] - bias[i]
        low[i], high[i] = min(both) - half, max(both) + half
    tied = np.array(kurtosis > 0 and moments.d > MAX_TIED and not steady.all())
    reason = np.where(tied, TIED, np.zeros(moments.d, dtype=np.int64))
    if not steady.all():
        reach = _spectral_reach(moments, level, kurtosis)
        low[~steady], high[~steady] = values[~steady] - reach, values[~steady] + reach
    low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    estimate = np.maximum(np.where(steady, values - bias, values), 0.0)
    few = np.array(moments.n_rows < FEWEST_ROWS * moments.d)
    intervals = Intervals(estimate, low, high, reason).without_intervals(few, FEW_ROWS)
    return intervals.without_intervals(np.array(bool(moments.unknown.any())))


def _two_valued(moments: UnbiasedMoments, u: np.ndarray, kurtosis: float) -> float:
    """Return the bound on the variance of the square of a row along u, with columns of two values.

    A declared column is at one of its levels, or at none.
    """
    assert moments.binary is not None
    c, two = moments.covariance, moments.span > 0
    steps = [np.append((u * moments.span)[list(block)], 0.0) for block in moments.binary.blocks]
    ends = [float(sum(step.min() for step in steps)), float(sum(step.max() for step in steps))]
    middle = float(u[two] @ (moments.centre - moments.binary.low)[two])
    most = max(middle - ends[0], ends[1] - middle, 0.0) ** 2
    variance = max(float(u[two] @ c[np.ix_(two, two)] @ u[two]), 0.0)
    # Up to three more rows may have the rarer value; l (M^2 - l) is largest at M^2 / 2.
    bounded = min(max(most / 2, variance), variance + 3 * most / moments.n_rows, most)
    free = max(float(u[~two] @ c[np.ix_(~two, ~two)] @ u[~two]), 0.0)
    std = math.sqrt(bounded * (most - bounded)) + 2 * math.sqrt(most * free) + math.sqrt(2 + 3 * kurtosis) * free
    return std * std


def _spectral_reach(moments: UnbiasedMoments, level: float, kurtosis: float) -> float:
    """Return the bound on the spectral norm of the whole error of the covariance."""
    rng, d, r2 = np.random.default_rng(0), moments.d, moments.noisy_moment.row_bound**2
    values, axes = np.linalg.eigh(moments.covariance)
    root = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T
    elliptical = 0.0 if moments.span.any() else 1 / moments.n_rows
    ends = []
    for _ in range(_DRAWS):
        noise_draw = moments.noisy_moment.distribution.draw(rng)
        error = (
            r2
            * noise_draw[: moments.noisy_moment.distribution.dimension, : moments.noisy_moment.distribution.dimension]
        )
        if moments.mean is not None:
            e = math.sqrt(moments.law.mean_variance) * rng.standard_normal(d)
            error = error - np.outer(moments.mean, e) - np.outer(e, moments.mean) - np.outer(e, e)
        if moments.law.count_variance:
            second = moments.covariance - np.outer(moments.centre, moments.centre)
            error = error - math.sqrt(moments.law.count_variance) * rng.standard_normal() * second
        own = rng.standard_normal((d, d))
        error = error + math.sqrt((1 + kurtosis) * elliptical / 2) * root @ (own + own.T) @ root
        error = error + math.sqrt(kurtosis * elliptical) * rng.standard_normal() * moments.covariance
        around = np.linalg.eigvalsh(error)
        ends += [float(around[-1]), float(-around[0])]
    normal = float(moments.z(level, np.array(1.0), np.array(0.0), 0.0))
    sampling = entries.sampling_norm(moments) if moments.span.any() else 0.0
    return float(np.mean(ends) + _TRACY_WIDOM * normal * np.std(ends, ddof=1)) + normal * sampling


def components(moments: UnbiasedMoments, axes_asked: int, level: float) -> Intervals:
    """Return the loadings of the first axes, each with the sign that makes its largest loading positive.

    Reference: own derivation, in the docstring of the module; Anderson (1963) for sampling alone.
    """
    values, axes, _, _, turn = _turns(moments)
    d, positive = moments.d, np.maximum(values, 0.0)
    near = np.abs(values[:, None] - values) + np.where(np.eye(d, dtype=bool), np.inf, 0.0)
    equal = near.min(axis=1) < 1e-12 * max(float(positive.max()), 1e-300)  # up to rounding, where nothing is noisy
    estimate, half = axes[:, :axes_asked].copy(), np.full((d, axes_asked), np.nan)
    reason = np.zeros((d, axes_asked), dtype=np.int64)
    excess = moments.law.excess_kurtosis(0.0 if d > 3 else 1.0, 0.0)
    for i in range(axes_asked):
        estimate[:, i] *= np.sign(estimate[np.argmax(np.abs(estimate[:, i])), i])
        if turn[i] > CLEAR or equal[i]:
            reason[:, i] = TIED
            continue
        u, gap = estimate[:, i], values[i] - values
        gap[i] = np.inf
        g = (axes / gap) @ axes.T
        sampling = (axes**2 / gap**2) @ positive * positive[i] / moments.n_rows
        if moments.span.any():
            fourth = np.array(
                [_two_valued(moments, v, 0.0) + max(v @ moments.covariance @ v, 0.0) ** 2 for v in (u, *g)]
            )
            sampling = np.sqrt(fourth[0] * fourth[1:]) / moments.n_rows
        for a in range(d):
            form = np.outer(g[a], u)
            noise = moments.law.form_variance((form + form.T) / 2, moments.centre, moments.covariance)
            z = float(moments.z(level, np.array(noise), sampling[a], excess))
            half[a, i] = z * math.sqrt(noise + sampling[a])
    intervals = Intervals(estimate, np.maximum(estimate - half, -1.0), np.minimum(estimate + half, 1.0), reason)
    return intervals.without_intervals(np.array(bool(moments.unknown.any())))
