"""Columns of two values: the sampling variances against a literal sum over all rows that there can be."""

import dataclasses
import itertools

import numpy as np
import pytest

import privcov
from privcov import Dataset, Kind
from privcov.answering import entries
from privcov.answering.known import known_of
from privcov.measurements.laws.forms import Law

QUIET = Law(0.0, np.zeros(2), 0.0, 0.0)


def known_with(p: np.ndarray, low=(0.0, 0.0), span=(1.0, 1.0)):
    """A release without noise whose two columns have the joint shares p; also its rows and their shares."""
    rows = np.array([[low[0] + span[0] * i, low[1] + span[1] * j] for i in (0, 1) for j in (0, 1)])
    shares = p.ravel()
    mean = shares @ rows
    covariance = (rows - mean).T @ ((rows - mean) * shares[:, None])
    kinds = {name: Kind("yes-no", values=("n", "y"), typical="n") for name in "ab"}
    data = Dataset.from_rows([["n", "y"], ["y", "n"]], columns=["a", "b"], kinds=kinds)
    known = known_of(privcov.release("gaussian-cov", data, privcov.ZCDP(1.0)))
    two = dataclasses.replace(known.two, low=np.array(low), span=np.array(span))
    return dataclasses.replace(known, mean=mean, covariance=covariance, rows=1e6, law=QUIET, two=two), rows, shares


CASES = [np.array(p) / np.sum(p) for p in itertools.product((0.02, 0.3, 0.9), repeat=4)]
CASES = [p.reshape(2, 2) for p in CASES]


@pytest.mark.parametrize("low", [(0.0, 0.0), (-1.0, 0.0), (-2.0, 0.5)])
def test_half_lengths_are_those_of_the_exact_variance(low):
    """Variances, covariances and correlations of 81 joint laws, each unequal, at an n where the error is normal."""
    for p in CASES:
        known, rows, shares = known_with(p, low, (2.0, 0.5))
        off = rows - known.mean
        c = known.covariance
        squares = shares @ off**4 - np.diag(c) ** 2
        product = shares @ (off[:, 0] * off[:, 1]) ** 2 - c[0, 1] ** 2
        g = np.sqrt(c[0, 0] * c[1, 1])
        r = c[0, 1] / g
        turn = off[:, 0] * off[:, 1] / g - r / 2 * (off[:, 0] ** 2 / c[0, 0] + off[:, 1] ** 2 / c[1, 1])
        exact = [squares[0], squares[1], product, shares @ turn**2 - (shares @ turn) ** 2]
        found = [entries.variances(known, 0.95, 3.0), entries.covariances(known, 0.95, 3.0)]
        widths = (found[0].high - found[0].low).tolist()
        widths += [x.high[0, 1] - x.low[0, 1] for x in (found[1], entries.correlations(known, 0.95, 3.0))]
        stds = np.array(widths) / 2 / 1.959964 * 1e3
        assert stds == pytest.approx(np.sqrt(np.maximum(exact, 0.0)), rel=0.02, abs=0.02)


def test_a_cell_between_the_two_values_makes_the_variance_vary_less_than_is_said():
    """A missing cell counts as the middle: of every law on three values the formula is an upper bound."""
    shares = np.array([p for p in itertools.product(np.linspace(0, 1, 21), repeat=3) if sum(p) > 0])
    shares /= shares.sum(axis=1)[:, None]
    x = np.array([-1.0, 0.0, 1.0])
    off = x - (shares @ x)[:, None]
    v = (shares * off**2).sum(axis=1)
    assert (v * (4 - 4 * v) - ((shares * off**4).sum(axis=1) - v**2) > -1e-12).all()


def test_two_values_are_known_from_the_declaration_and_not_where_rows_are_shortened():
    kinds = {
        "a": Kind("number", 0, 1),
        "b": Kind("yes-no", values=("n", "y")),
        "c": Kind("category", values=("p", "q")),
    }
    data = Dataset.from_rows([[0.2, "n", "p"], [0.4, "y", "q"]], columns=list("abc"), kinds=kinds)
    known = known_of(privcov.release("gaussian-cov", data, privcov.ZCDP(1.0)))
    assert known.two.blocks == ((1,), (2, 3))
    assert known.span.tolist() == [0, 2, 1, 1]
    assert known.two.low.tolist() == [0, -1, 0, 0]
    short = data.with_row_bound(data.row_bound * 0.9)
    assert known_of(privcov.release("gaussian-cov", short, privcov.ZCDP(1.0))).two is None
