"""Coupled noise as it is read: whose trace the block has, the law that is told for it, and sums beyond 64 bits."""

import numpy as np
import pytest

import privcov
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.integer_gram import UNIT
from privcov.measurements.exact.reading import read_sum
from privcov.tables.private_dataset import PrivateDataset

N = 40


def noise_of_block(monkeypatch, noise: np.ndarray, centre: str = "joint", **more) -> np.ndarray:
    """What this noise on the sum becomes in the block of two columns, in steps; the rows are zeros."""
    monkeypatch.setattr(exact_noise, "add_coupled_wishart", lambda values, scale: values + noise)
    private = PrivateDataset.from_rows(np.zeros((N, 2)), row_bound=1.0, **more)
    noisy = exact_moment.measure_exactly(private, privcov.PureDP(1.0), shape="wishart-difference")
    assert noisy.shape == "coupled-wishart"
    measured = read_sum(noisy, centre)
    return measured.matrix[:2, :2] * measured.n_rows * UNIT**2


def test_the_block_has_the_trace_of_the_whole(monkeypatch):
    """With one anchor its corner is public, so its noise is moved to the diagonal, half to each of two columns.

    A share of the wrong sign or size would be seen: the noise of the trace is 7 + 4 - 10, and of nothing else.
    """
    noise = np.array([[7, 3, 1], [3, 4, 2], [1, 2, -10]]) * 10**6
    found = noise_of_block(monkeypatch, noise) / 10**6
    np.testing.assert_allclose(found, [[7 - 5, 3], [3, 4 - 5]], atol=1e-9)


def test_with_classes_the_block_is_left_alone(monkeypatch):
    """No corner is public there: the counts are measured."""
    noise = np.diag([7, 4, -10, 20]) * 10**6
    found = noise_of_block(monkeypatch, noise, "classes", labels=["a", "b"] * (N // 2), classes=["a", "b"])
    np.testing.assert_allclose(found / 10**6, np.diag([7.0, 4.0]), atol=1e-9)


def test_exact_noise_and_sum_do_not_wrap_around(monkeypatch):
    """Two numbers that fit into 64 bits, and their sum, which does not."""
    for sign in (1, -1):
        noise = np.full((1, 1), sign * 2**62)
        monkeypatch.setattr(exact_noise.exact_wishart, "coupled_noise", lambda p, scale, noise=noise: noise)
        monkeypatch.setattr(exact_noise.exact_wishart, "wishart_difference_noise", lambda p, scale, noise=noise: noise)
        for add in (exact_noise.add_coupled_wishart, exact_noise.add_wishart_difference):
            assert add(np.full((1, 1), sign * 2**62), 1.0).tolist() == [[sign * 2**63]]


@pytest.mark.parametrize(("k", "kind"), [(1, "int64"), (4_000, "object")])
def test_where_sum_and_noise_may_leave_64_bits_they_meet_in_python_integers(k, kind, monkeypatch):
    """From public facts alone: a person with 4,000 rows needs a scale of 2^53, and 512 of those leave 64 bits."""
    seen = []
    monkeypatch.setattr(
        exact_noise, "add_discrete_laplace", lambda values, scale: seen.append((values.dtype, scale)) or values
    )
    private = PrivateDataset.from_rows(np.zeros((3, 1)), row_bound=1.0, rows_per_person=k, n_public=False)
    exact_moment.measure_exactly(private, privcov.PureDP(1.0), shape="laplace")
    assert [dtype for dtype, _ in seen] == [kind]
    assert (seen[0][1] > 2.0**52) == (k > 1)
