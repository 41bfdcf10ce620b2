"""Checks: what passes comes back as a plain number, what does not is named in a sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privcov.core import checks


def test_numbers_come_back_as_plain_floats():
    for value in (3, 3.0, np.float32(3), np.int64(3)):
        assert checks.number("x", value) == 3.0
        assert type(checks.number("x", value)) is float


@pytest.mark.parametrize("bad", [math.nan, -math.inf, 10**400, True, np.True_, "1", None, 1j, [1.0]])
def test_what_is_not_a_finite_number(bad):
    with pytest.raises(ValueError, match=r"^x must be"):
        checks.number("x", bad)


def test_edges_belong_or_not():
    assert checks.in_range("x", 1.0, 1.0, 2.0) == 1.0
    assert checks.in_range("x", 2.0, 1.0, 2.0) == 2.0
    for call in (
        lambda: checks.positive("x", 0.0),
        lambda: checks.in_range("x", math.nextafter(2.0, 3.0), 1.0, 2.0),
        lambda: checks.strictly_between("x", 1.0, 1.0, 2.0),
        lambda: checks.strictly_between("x", 2.0, 1.0, 2.0),
    ):
        with pytest.raises(ValueError, match=r"^x must"):
            call()


def test_whole_numbers_keep_every_digit():
    assert checks.integer("seed", 2**60 + 1, 0) == 2**60 + 1
    assert checks.integer("k", 3.0, 1, 3) == 3
    assert type(checks.integer("k", np.int64(3), 1)) is int
    for bad, low, high in ((2.5, 0, None), (-1, 0, None), (4, 0, 3)):
        with pytest.raises(ValueError, match=r"^k must be"):
            checks.integer("k", bad, low, high)


def test_the_remedy_ends_the_sentence():
    with pytest.raises(ValueError, match=r"^x must be > 0, got x=-1\. Do this\.$"):
        checks.positive("x", -1, "Do this.")
    with pytest.raises(ValueError, match=r"^shape must be one of 'a', 'b', got shape='c'\.$"):
        checks.one_of("shape", "c", ("a", "b"))


def test_square_matrices():
    a = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.array_equal(checks.square("A", a), a)
    assert checks.square("A", [[1]]).dtype == np.float64
    corner = np.array([[0.0, 1.0], [0.0, 0.0]])
    almost = a + 1e-12 * corner
    assert np.array_equal(checks.square("A", almost), almost)
    nan = [[1, np.nan], [np.nan, 1]]
    for bad in (np.ones(3), np.ones((2, 3)), np.empty((0, 0)), nan, a + 1e-6 * corner):
        with pytest.raises(ValueError, match=r"^A must be"):
            checks.square("A", bad)


@pytest.mark.parametrize(
    ("said", "choices", "want"),
    [
        ("gausian-cov", ["auto-cov", "gaussian-cov"], "gaussian-cov"),
        ("ADD_REMOVE", ["add-remove", "replace-one"], "add-remove"),
        ("ar1", ["ar1-covariance", "wine"], "ar1-covariance"),
        ("Realease", ["release", "Release"], "Release"),
        ("realease", ["release", "Release"], "release"),
        ("N", ["n", "d"], "n"),
        ("", ["a", "b"], ""),
        ("quite another", ["a", "b"], ""),
        (3, ["3"], ""),
        ("true", [True, False, "true"], "true"),
    ],
)
def test_meant(said, choices, want):
    assert checks.suggest(said, choices) == (f" Did you mean {want!r}?" if want else "")
