"""Figures as SVG in a report."""

import re

import numpy as np
import plotly.graph_objects as go
import pytest

from privcov.figures.exports import svg
from privcov.figures.graphs import network, positions
from privcov.figures.look import SYMBOLS, Picture
from privcov.figures.palette import LIGHT

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
