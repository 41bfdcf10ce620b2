"""The pictures of the lessons, decoded."""

from xml.etree import ElementTree

import numpy as np
import pytest

from privcov.plots.exports import svg
from privcov.plots.lessons import over_control, panels
from privcov.plots.look import pen_of
from privcov.plots.matrices import colours_of
from privcov.plots.palette import DARK, LIGHT, contrast, written

SQUARE = np.array([[1.0, -0.5], [-0.5, 2.0]])


def test_panels_share_one_symmetric_range_and_show_the_values():
    table = np.arange(6.0).reshape(3, 2)
    found = panels([("a <b> table", table), ("a matrix", SQUARE)], 2.0, LIGHT, marked=1)
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
    found = over_control(points, names, DARK, x="n", x_label="Rows n", y_label="Error", marked=10.0)
    drawn = {t.name: list(t.y) for t in found.figure.data if "band" not in t.name}
    assert drawn == {"the release": [0.5, 0.05], "the sample": [0.4, 0.1]}
    assert [t.line.color for t in found.figure.data if t.name == "the release"] == [pen_of("gaussian-cov", DARK).colour]
    mark = found.figure.layout.shapes[0]
    assert sorted(note.text for note in found.figure.layout.annotations) == ["the release", "the sample"]
    assert mark.x0 == mark.x1 == 10.0
    assert found.alt.startswith("Error curves against Rows n: the release from 0.5 to 0.05")


def test_panels_are_printed_side_by_side_with_titles_numbers_and_the_framed_row():
    table = np.array([[1.0, -2.0], [0.5, 0.0], [-0.001, 2.0]])
    text = svg(panels([("<one>", table), ("two", table)], 2.0, LIGHT, marked=1), width=400)
    tree = ElementTree.fromstring(text)
    assert text.count("<image ") == 2
    places = [g.get("transform") for g in tree.iter() if g.get("transform")]
    assert places == ["translate(0.0 22)", "translate(208.0 22)"]
    words = ["".join(t.itertext()) for t in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert [w for w in words if w in ("<one>", "two")] == ["<one>", "two"]
    assert sorted(words)[:2] == ["-2.00", "-2.00"]
    assert words.count("0") == 4, "no minus before zero, and no 0.00"
    assert words.count(".50") == 2, "no zero before a point"
    frames = list(tree.iter("{http://www.w3.org/2000/svg}rect"))
    assert [(r.get("y"), r.get("height")) for r in frames] == [("22.0", "22.0")] * 2
    square = svg(panels([("a", SQUARE), ("b", SQUARE), ("c", SQUARE)], 2.0, LIGHT), width=400)
    assert square.count("<image ") == 3
    sides = [
        (i.get("width"), i.get("height")) for i in ElementTree.fromstring(square).iter() if i.tag.endswith("image")
    ]
    assert all(wide == high for wide, high in sides)


@pytest.mark.parametrize(("d", "side_by_side", "numbers"), [(4, 3, True), (5, 2, True), (5, 3, False), (6, 1, False)])
def test_numbers_stand_in_cells_that_have_room_on_a_telephone(d, side_by_side, numbers):
    found = panels([("m", np.eye(d))] * side_by_side, 1.0, LIGHT)
    assert any(trace.type == "scatter" for trace in found.figure.data) == numbers


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_a_number_can_be_read_on_every_colour_of_its_cell(palette):
    values = np.linspace(-1.2, 1.2, 500)
    for some in values.reshape(-1, 4):
        picture = panels([("m", np.outer(some, [1.0, 1.0, 1.0]))], 1.0, palette)
        cells, numbers = picture.figure.data
        grounds = colours_of(np.asarray(cells.z, dtype=float), -1.0, 1.0, palette.diverging).reshape(-1, 3)
        assert len(grounds) == len(numbers.text) == len(numbers.textfont.color) == 12
        for ground, ink in zip(grounds.tolist(), numbers.textfont.color, strict=True):
            assert contrast(ink, written(tuple(ground))) >= 4.5
        assert [float(t) for t in numbers.text] == [float(f"{v:.2f}") for v in np.asarray(cells.z).ravel()]
