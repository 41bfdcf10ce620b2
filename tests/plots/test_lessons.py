"""The pictures of the lessons, decoded."""

import re

import numpy as np

from privcov.plots.exports import svg
from privcov.plots.lessons import over_control, panels
from privcov.plots.look import pen_of
from privcov.plots.palette import DARK, LIGHT

SQUARE = np.array([[1.0, -0.5], [-0.5, 2.0]])


def test_panels_share_one_symmetric_range_and_show_the_values():
    table = np.arange(6.0).reshape(3, 2)
    found = panels([("a <b> table", table), ("a matrix", SQUARE)], 2.0, LIGHT, marked_row=1)
    first, second = (t for t in found.figure.data if t.type == "heatmap")
    assert {(t.zmin, t.zmax) for t in (first, second)} == {(-2.0, 2.0)}
    np.testing.assert_array_equal(first.z, table)
    np.testing.assert_array_equal(second.z, SQUARE)
    layout = found.figure.layout
    assert layout.yaxis.autorange == layout.yaxis2.autorange == "reversed"
    assert layout.yaxis2.scaleanchor == "x2"
    assert [note.text for note in layout.annotations] == ["a &lt;b&gt; table", "a matrix"]
    (frame,) = layout.shapes
    assert (frame.y0, frame.y1, frame.yref) == (0.5, 1.5, "y")
    assert found.alt.startswith("Table of a <b> table, 3 rows and 2 columns. Heatmap of a matrix, 2 by 2")
    assert layout.xaxis.domain[1] < layout.xaxis2.domain[0]


def test_lines_over_a_control_carry_every_value_and_its_place():
    points = [(1.0, (0.5, 0.4)), (10.0, (0.05, 0.1))]
    names = {"gaussian-cov": "the release", "sample": "the sample"}
    found = over_control(points, names, DARK, x="n", x_label="Rows n", y_label="Error", mark=10.0)
    drawn = {t.name: list(t.y) for t in found.figure.data if "band" not in t.name}
    assert drawn == {"the release": [0.5, 0.05], "the sample": [0.4, 0.1]}
    assert [t.line.color for t in found.figure.data if t.name == "the release"] == [pen_of("gaussian-cov", DARK).colour]
    mark = found.figure.layout.shapes[0]
    assert sorted(note.text for note in found.figure.layout.annotations) == ["the release", "the sample"]
    assert mark.x0 == mark.x1 == 10.0
    assert found.alt.startswith("Error curves against Rows n: the release from 0.5 to 0.05")


def test_names_stand_above_their_columns():
    tables = [(name, np.arange(6.0).reshape(3, 2)) for name in ("one", "other")]
    image = svg(panels(tables, 5.0, LIGHT, columns=("sleep", "marks")))
    places = {
        word: [float(x) for x in re.findall(rf'<text x="([\d.]+)"[^>]*>{word}<', image)] for word in ("sleep", "marks")
    }
    assert len(places["sleep"]) == len(places["marks"]) == 2
    assert all(a < b for a, b in zip(places["sleep"], places["marks"], strict=True))
    assert "sleep" not in svg(panels(tables, 5.0, LIGHT))
