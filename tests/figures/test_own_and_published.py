"""Figures of Your data and of Published results: what they send; conftest.py checks them property by property."""

import numpy as np
import pytest

from privcov.figures import own
from privcov.figures import published as pictures
from privcov.figures.palette import DARK, LIGHT
from privcov.papers import base, catalogue
from privcov.papers.curves import curves

BOTH = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@BOTH
def test_intervals_hold_their_answers(palette):
    values = np.array([0.5, -0.2])
    inner, outer = (values - 0.1, values + 0.1), (values - 0.3, values + 0.4)
    found = own.intervals(["a", "b"], values, *inner, palette, x_title="x", what="Pairs", second=outer).figure
    assert any(np.array_equal(trace.x, values) for trace in found.data)
    assert found.layout.xaxis.title.text == "x"


@BOTH
def test_chances_are_drawn_as_given(palette):
    x = np.linspace(0, 1, 21)
    found = own.chances(x, [("rho = 0.1", x**2), ("rho = 1", np.sqrt(x))], palette, x_title="Correlation")
    for trace, y in zip(found.figure.data, (x**2, np.sqrt(x)), strict=True):
        np.testing.assert_array_equal(trace.x, x)
        np.testing.assert_array_equal(trace.y, y)
    assert "rho = 0.1: 0.25 at 0.5; rho = 1: 0.707 at 0.5" in found.alt


@BOTH
def test_printed_and_computed_numbers_are_drawn_beside_each_other(palette):
    found = pictures.panel(curves(catalogue.TABLES["2-figure-2"]), palette, x="epsilon", y="wrong", methods=False)
    assert found.figure.layout.xaxis.title.text == "epsilon"
    cells = base.again(base.beside(catalogue.TABLES["2-table-2"]).head(4))
    drawn = pictures.scatter(cells, list("abcd"), palette).figure
    assert sum(len(trace.x) for trace in drawn.data if trace.name) == 4
