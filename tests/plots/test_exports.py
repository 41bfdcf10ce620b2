"""Figures as SVG in a report."""

from xml.etree import ElementTree

import numpy as np

from privcov.plots.exports import svg
from privcov.plots.matrices import heatmap
from privcov.plots.palette import LIGHT

GRAPH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)


def test_a_heatmap_on_paper_names_its_columns_and_its_colours():
    """Of a known matrix: each name twice, at the places of its row and column, and the marks of the scale."""
    matrix = np.array([[1.0, 0.5], [0.5, 0.2]])
    found = svg(heatmap(matrix, ("age", "<b>weight"), 1.0, LIGHT, what="covariance"), width=300)
    ElementTree.fromstring(found)
    assert found.count(">age<") == 2
    assert found.count("&lt;b&gt;weight<") == 2
    for mark in ("-1", "-0.5", "0", "0.5", "1"):
        assert f">{mark}<" in found
    many = svg(heatmap(np.eye(60), tuple(f"c{k}" for k in range(60)), 1.0, LIGHT, what="covariance"))
    assert ">c59<" not in many
