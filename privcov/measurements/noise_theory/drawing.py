"""The scales that are drawn, rounded so that the guarantee holds, and the draws of the diagonal."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial

import numpy as np

from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact.noise import root_up
from privcov.measurements.noise_theory.free_groups import Group


def scale_over(scale: float, divisor: int | Fraction) -> float:
    """Return the smallest float whose square is at least scale^2 / divisor."""
    return root_up(Fraction(scale) ** 2 / divisor)


def noisy_diagonal(
    exact: np.ndarray, scale: float, groups: tuple[tuple[Group, ...], tuple[Fraction, ...]]
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Add discrete Gaussian noise to a diagonal and to the second sums of its groups, one draw for each scale.

    With noise for the bound of `norm_bound` off the diagonal, the guarantee is that of the measurement, see
    free_groups.py. By itself it spends nothing: the measurement that calls it states the event.
    """
    scales, numbers, known = [scale] * len(exact), exact.tolist(), cache(partial(scale_over, scale))
    for group, kappa in zip(*groups, strict=True):
        if len(group.columns) == 1:
            scales[group.columns[0]] = known(1 + kappa)
        else:
            scales.append(known(kappa))
            numbers.append(int(sum(exact[j] for j in group.columns)))
    values, drawn = np.array(numbers, dtype=exact.dtype), np.array(scales)
    noisy = np.zeros(len(values), dtype=object)
    for one in sorted(set(scales), reverse=True):
        noisy[drawn == one] = exact_noise.add_discrete_gaussian(values[drawn == one], one)
    return noisy[: len(exact)], tuple(int(v) for v in noisy[len(exact) :])
