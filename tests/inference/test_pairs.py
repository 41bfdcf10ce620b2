"""Correlations of tables whose missing cells are measured by pairs: sampling variances literally, and coverage."""

import itertools

import numpy as np
import pytest

from privcov.inference import entries
from privcov.inference.unbiased import UnbiasedMoments
from privcov.measurements.noise_theory.noise_law import NoiseLaw
from privcov.postprocess.available_cases import AvailableCases
from privcov.postprocess.binary_columns import BinaryColumns
from privcov.steward.preview import detection_probability


def exact_variance(values, shares, there):
    """n times the variance of a correlation over available cases, by a sum over all rows and patterns of cells."""
    mean = shares @ values
    x = (values - mean) / np.sqrt(shares @ (values - mean) ** 2)
    r = shares @ (x[:, 0] * x[:, 1])
    each = there.sum(axis=1), there.sum(axis=0)  # shares of patterns: rows have the first column, columns the second
    total = 0.0
    for one, other in itertools.product((0, 1), repeat=2):
        both = one * other / there[1, 1] * (x[:, 0] * x[:, 1] - r)
        alone = one / each[0][1] * (x[:, 0] ** 2 - 1) + other / each[1][1] * (x[:, 1] ** 2 - 1)
        total += there[one, other] * (shares @ (both - r / 2 * alone) ** 2)
    return total


def known_with(values, shares, there, two=None):
    """A release without noise of these values, with the shares of the patterns of cells."""
    mean = shares @ values
    covariance = (values - mean).T @ ((values - mean) * shares[:, None])
    each = np.array([[there[1].sum(), there[1, 1]], [there[1, 1], there[:, 1].sum()]])
    none, zero = np.zeros(2), np.zeros((2, 2))
    available = AvailableCases(each, zero, mean, none, covariance, zero)
    names, law = ("x", "y"), NoiseLaw(0.0, none, 0.0, 0.0)
    return UnbiasedMoments(names, mean, covariance, 1e6, law, none + 1, none, None, available, None, two)


def normal_points(r):
    """Points and weights that integrate every polynomial of degree 9 over Gaussian pairs of correlation r."""
    at, weight = np.polynomial.hermite_e.hermegauss(5)
    z = np.array(list(itertools.product(at, at)))
    shares = np.outer(weight, weight).ravel() / weight.sum() ** 2
    return np.column_stack([z[:, 0], r * z[:, 0] + np.sqrt(1 - r * r) * z[:, 1]]), shares


PATTERNS = [
    np.array([[0.0, 0.0], [0.0, 1.0]]),
    np.array([[0.09, 0.21], [0.21, 0.49]]),
    np.array([[0, 0.3], [0.1, 0.6]]),
]


@pytest.mark.parametrize("there", PATTERNS)
@pytest.mark.parametrize("r", [-0.9, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("kurtosis", [0.0, 0.75])
def test_half_lengths_of_elliptical_rows_are_those_of_the_exact_variance(there, r, kurtosis):
    """Rows of two scales are elliptical: of squared scales 1 +- sqrt(k), half of the rows each, E scale^4 is 1 + k."""
    points, weights = normal_points(r)
    scales = np.sqrt(1 + np.array([-1, 1]) * np.sqrt(kurtosis))
    values, shares = np.concatenate([points * s for s in scales]), np.concatenate([weights, weights]) / 2
    found = entries.correlations(known_with(values, shares, there), 0.95, kurtosis, tested=False)
    std = (found.high - found.low)[0, 1] / 2 / 1.959964 * 1e3
    assert std == pytest.approx(np.sqrt(exact_variance(values, shares, there)), rel=0.02)


@pytest.mark.parametrize("there", PATTERNS)
def test_half_lengths_of_columns_of_two_values_are_those_of_the_exact_variance(there):
    for p in itertools.product((0.05, 0.3, 0.9), repeat=4):
        values = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
        two = BinaryColumns(np.zeros(2), np.ones(2), ((0,), (1,)), names=("x", "y"))
        known = known_with(values, np.array(p) / sum(p), there, two)
        found = entries.correlations(known, 0.95, 0.0, tested=False)
        std = (found.high - found.low)[0, 1] / 2 / 1.959964 * 1e3
        assert std == pytest.approx(np.sqrt(exact_variance(values, np.array(p) / sum(p), there)), rel=0.03, abs=0.02)


def test_a_plan_has_the_same_sampling_variance_as_the_answer():
    """A correlation of .8 with a third of the cells missing exceeds a cut one deviation below it in 84 % of tables."""
    there = np.array([[1, 2], [2, 4]]) / 9
    std = np.sqrt(exact_variance(*normal_points(0.8), there) / 900)
    zero = 1 / np.sqrt(900 * there[1, 1])
    assert detection_probability(0.8, 0.0, zero, (0.8 - std) / zero, there=2 / 3) == pytest.approx(0.8413447, abs=1e-6)
