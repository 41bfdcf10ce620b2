"""The pictures of the lessons, decoded."""

import json

import numpy as np
import pytest

from privcov.figures.lessons import enlarged, panels, running_scores, worst_changes
from privcov.figures.look import DARK, LIGHT

SQUARE = np.array([[1.0, -0.5], [-0.5, 2.0]])


def test_panels_share_one_symmetric_range_and_show_the_values():
    table = np.arange(6.0).reshape(3, 2)
    found = panels([("a <b> table", table), ("a matrix", SQUARE)], 2.0, LIGHT, marked=1)
    first, second = found.figure.data
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


def test_worst_changes_draws_every_pair_and_names_the_numbers():
    bounds, random = np.array([1.0, 2.0]), np.array([[0.1, 0.2], [0.4, 0.8]])
    found = worst_changes(bounds, random, np.array([0.3, 1.2]), np.array([0.31, 1.21]), DARK, marked=2.0)
    dots, line, worst = found.figure.data
    assert sorted(zip(dots.x, dots.y, strict=True)) == [(1.0, 0.1), (1.0, 0.2), (2.0, 0.4), (2.0, 0.8)]
    assert list(line.y) == [0.31, 1.21]
    assert list(worst.y) == [0.3, 1.2]
    assert found.figure.layout.shapes[0].x0 == 2.0
    assert "At R = 2 the worst of the pairs found moves it by 1.2; the proved bound is 1.21" in found.alt


def test_running_scores_are_running_means_with_the_interval_at_the_end():
    mine = [(2, True), (5, False), (6, True)]
    found = running_scores([("the class", mine), ("attacker", [])], 0.7, (0.1, 0.9), LIGHT)
    line = found.figure.data[0]
    assert list(line.x) == [2, 5, 6]
    assert list(line.y) == pytest.approx([1, 0.5, 2 / 3])
    assert list(line.error_y.array) == pytest.approx([0, 0, 0.9 - 2 / 3])
    assert list(line.error_y.arrayminus) == pytest.approx([0, 0, 2 / 3 - 0.1])
    assert list(found.figure.data[2].y) == [0.7, 0.7]
    assert found.figure.data[2].name == "the limit, 0.700"
    assert found.figure.layout.xaxis.range[1] > 10, "whole rounds on the axis, however few were played"
    assert "the class: 2 of 3 right, 95% binomial interval 0.10 to 0.90; attacker: no round yet" in found.alt


def test_enlarged_scales_the_type_and_leaves_the_numbers():
    small = panels([("m", SQUARE)], 2.0, LIGHT)
    large = enlarged(small, 1.5)
    assert large.figure.layout.font.size == 1.5 * small.figure.layout.font.size
    assert large.figure.layout.annotations[0].font.size == 1.5 * small.figure.layout.annotations[0].font.size
    assert small.figure.layout.font.size == 14, "the original stays as it was"
    assert json.loads(large.figure.to_json())["data"] == json.loads(small.figure.to_json())["data"]
    assert large.alt == small.alt
