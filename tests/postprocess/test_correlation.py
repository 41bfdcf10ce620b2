"""Correlations of a noisy covariance: unit diagonal, entries within [-1, 1], never a division by zero."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privcov.postprocess.matrices import correlation


def test_worked_by_hand():
    # 3 / (2 * 5) and the floor 4 under the negative variance: -1 / (2 * 2).
    found = correlation(np.array([[4.0, 3.0, -1.0], [3.0, 25.0, 0.0], [-1.0, 0.0, -9.0]]), floor=4.0)
    np.testing.assert_allclose(found, [[1, 0.3, -0.25], [0.3, 1, 0], [-0.25, 0, 1]])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(arrays(float, (4, 4), elements=st.floats(-1e6, 1e6)), st.floats(1e-6, 1e3))
def test_unit_diagonal_and_range(a, floor):
    a = (a + a.T) / 2
    before = a.copy()
    found = correlation(a, floor)
    assert (np.diag(found) == 1).all()
    assert np.abs(found).max() <= 1
    assert (found == found.T).all()
    np.testing.assert_array_equal(a, before)


def test_scales_of_columns_do_not_matter_above_the_floor():
    root = np.random.default_rng(0).standard_normal((5, 5))
    c, scale = root @ root.T, np.array([1.0, 1e3, 1e-2, 7.0, 50.0])
    np.testing.assert_allclose(correlation(c * np.outer(scale, scale), 1e-12), correlation(c, 1e-12), rtol=1e-12)


@pytest.mark.parametrize("floor", [0, -1, float("nan")])
def test_floor_must_be_positive(floor):
    with pytest.raises(ValueError, match="floor must be"):
        correlation(np.eye(2), floor)
