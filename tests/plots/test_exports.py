"""Figures as SVG in a report."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest

from privcov.plots import exports
from privcov.plots.exports import svg
from privcov.plots.graphs import network, positions
from privcov.plots.look import SYMBOLS, Picture
from privcov.plots.matrices import heatmap
from privcov.plots.palette import LIGHT

GRAPH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)


@pytest.mark.parametrize("d", [2, 16])
def test_names_of_nodes_lie_inside_the_report_and_below_the_legend(d):
    links, names = np.eye(d, k=1, dtype=bool), tuple(f"long name {j}" for j in range(d))
    drawn = svg(network([("Found", links | links.T)], positions(None, d), names, LIGHT), width=380, height=400)
    said = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</text>', drawn)
    ends = {words: (float(x), float(y)) for x, y, words in said}
    (legend,) = [y for words, (_, y) in ends.items() if words.startswith("Found: ")]
    for name in names:
        x, y = ends[name]
        assert min(x, 380 - x) > 3 * len(name)
        assert legend + 12 < y < 400


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_every_mark_of_a_curve_can_be_put_into_a_report(symbol):
    figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], mode="lines+markers", marker={"symbol": symbol}))
    figure.update_layout(width=300, height=200, xaxis={"range": [0, 3]}, yaxis={"range": [0, 5]})
    assert svg(Picture(figure, "two points"), height=200).startswith("<svg")


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


def followed(way: str) -> list[tuple[float, float]]:
    """The points of a path of M, L, H, V and l steps, one by one."""
    points, x, y = [], 0.0, 0.0
    for step, ends in re.findall(r"([MLHVl])([^A-Za-z]*)", way):
        numbers = [float(n) for n in ends.split()]
        x = numbers[0] if step in "MLH" else x + numbers[0] if step == "l" else x
        y = numbers[-1] if step in "MLV" else y + numbers[-1] if step == "l" else y
        points.append((x, y))
    return points


def test_a_path_goes_through_its_points_and_a_mark_stands_at_its_own():
    """Steps that are level or upright are written shorter; a missing point breaks the line."""
    steps = [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (2.0, 0.5), (2.0, 0.5), (math.nan, 0.0), (3.0, 1.0), (4.0, 1.0)]
    way = exports._way(steps)
    assert followed(way) == [*steps[:4], *steps[6:]]
    assert way.count("M") == 2
    for symbol in ("diamond", "square", "star", "triangle-up-open"):
        [(look, shape)] = exports._mark(symbol, 50.0, 80.0, 10.0, "#112233", None, None)
        corners = np.array(followed(re.search(r'd="([^"]*)"', shape).group(1)))
        wanted = np.array([50.0, 80.0]) + 5.0 * np.array(exports._CORNERS[symbol.removesuffix("-open")])
        assert np.abs(corners - wanted).max() < 0.5
        assert ("none" in look) == symbol.endswith("-open")
