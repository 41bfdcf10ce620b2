"""On paper a figure is the same whatever the page looked like, and its numbers are those of the page."""

import json
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from pages.shell import export
from privcov.figures.errors import curves
from privcov.figures.exports import for_paper, svg
from privcov.figures.graphs import network, positions
from privcov.figures.look import SYMBOLS, Picture
from privcov.figures.matrices import heatmap
from privcov.figures.own import intervals
from privcov.figures.palette import DARK, LIGHT
from privcov.figures.spectra import spectrum

GRAPH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
TABLE = pd.DataFrame(
    [{"method": m, "x": x, "mean": 1 / x, "low": 0.5 / x, "high": 2 / x} for m in ("auto-cov", "auto-cov lambda=1")
     for x in (1.0, 2.0)]
)  # fmt: skip
MAKE = {
    "matrix": lambda p: heatmap(np.eye(3), ("a", "b", "c"), 1.0, p, what="it"),
    "pale matrix": lambda p: heatmap(np.eye(3), ("a", "b", "c"), 1.0, p, what="it", pale=np.ones((3, 3), bool)),
    "intervals": lambda p: intervals(
        ["a", "b", "c"], np.array([0.5, 0.1, 0.2]), np.array([0.4, -0.1, np.nan]), np.array([0.6, 0.3, np.nan]), p,
        clear=np.array([True, False, False]), x_title="x", what="Pairs"),
    "curves": lambda p: curves(
        TABLE, p, x="x", x_label="n (rows)", y_label="error", order=list(TABLE["method"].unique()), labels={},
        references=[("zero", 1.0)], marked=1.0),
    "network": lambda p: network([("Found", GRAPH), ("Undecided", GRAPH)], positions(None, 3), ("a", "b", "c"), p),
    "spectrum": lambda p: spectrum([("Noisy", np.array([1.0, -1.0]))], 1.0, p, scale="linear", unit="u"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKE)
def test_both_palettes_give_one_paper(kind):
    light, dark = (json.dumps(for_paper(MAKE[kind](p).figure)) for p in (LIGHT, DARK))
    assert light == dark
    of_the_page = {DARK.ink, DARK.ground, DARK.grid, DARK.quiet, *DARK.lines, LIGHT.ink, LIGHT.ground}
    assert not [colour for colour in of_the_page if colour.lower() in light.lower()]


def test_a_matrix_brings_its_colour_bar_and_the_page_keeps_its_figure():
    picture = MAKE["matrix"](DARK)
    before = picture.figure.to_json()
    found = for_paper(picture.figure)
    assert found["data"][0]["showscale"]
    assert found["layout"]["annotations"] == []  # plotly's own numbers instead
    assert found["data"][0]["z"] == json.loads(before)["data"][0]["z"]
    assert picture.figure.to_json() == before


def test_names_of_columns_cannot_leave_the_export_page():
    name = "</script><script>alert(1)</script>"
    picture = heatmap(np.eye(2), (name, 'quote " here'), 1.0, DARK, what="it")
    page = export._page("square-x", picture, for_paper(picture.figure), DARK)
    assert page.count("<script") == page.count("</script>") == 2
    assert 'quote " here' not in page


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
