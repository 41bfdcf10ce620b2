"""Figures are pure and honest: the values sent are the values given, ranges come from the reference, words agree."""

import base64
import itertools
import re
import zlib

import numpy as np
import pandas as pd
import pytest

from privcov.core.words import plain
from privcov.plots.errors import curves, waterfall
from privcov.plots.exports import svg
from privcov.plots.matrices import MAX_CELLS, colour_limit, heatmap, saturated, thin_out
from privcov.plots.palette import DARK, LIGHT
from privcov.plots.spectra import spectrum


def some_matrix(d: int, seed: int = 0) -> np.ndarray:
    a = np.random.default_rng(seed).standard_normal((d, d))
    return (a + a.T) / 2


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("d", [1, 2, 20, 200, 451])
def test_a_heatmap_sends_the_matrix_on_a_symmetric_range(d, palette):
    matrix = some_matrix(d)
    picture = heatmap(matrix, tuple(f"x{i}" for i in range(d)), 0.5, palette, what="the test matrix")
    trace = picture.figure.data[0]
    shown, block = thin_out(matrix)
    assert np.array_equal(trace.z, shown.astype(np.float32))
    assert max(shown.shape) <= MAX_CELLS
    assert (block == 1) == (d <= MAX_CELLS)
    assert (trace.zmin, trace.zmax) == (-0.5, 0.5)
    assert picture.figure.layout.yaxis.autorange == "reversed"
    assert picture.figure.layout.yaxis.scaleanchor == "x"
    assert len(picture.figure.to_json()) < 600_000


def test_cells_that_may_be_noise_have_a_fifth_of_their_colour_and_keep_their_number():
    matrix, pale = np.array([[2.0, 0.5, -0.4], [0.5, 2.0, 0.3], [-0.4, 0.3, 2.0]]), np.zeros((3, 3), dtype=bool)
    plain_one = heatmap(matrix, tuple("abc"), 1.0, LIGHT, what="it")
    pale[0, 1] = pale[1, 0] = True
    picture = heatmap(matrix, tuple("abc"), 1.0, LIGHT, what="it", pale=pale)
    (cells,) = picture.figure.data
    assert np.allclose(cells.z, np.where(pale, matrix / 5, matrix))
    assert np.allclose(cells.customdata, matrix)
    assert "customdata" in cells.hovertemplate
    assert picture.alt.endswith("1 of 3 pairs are pale: they may be noise alone.")
    assert plain_one.figure.data[0].customdata is None
    assert np.array_equal(plain_one.figure.data[0].z, matrix.astype(np.float32))
    wide = heatmap(some_matrix(451), tuple(map(str, range(451))), 1.0, LIGHT, what="it", pale=np.ones((451, 451), bool))
    assert np.allclose(wide.figure.data[0].z, thin_out(some_matrix(451))[0] / 5)


def test_what_is_not_identified_is_a_hatched_gap_on_the_screen_and_on_paper():
    matrix, gone = np.array([[1.0, 0.5, 0.9], [0.5, 1.0, 0.3], [0.9, 0.3, 1.0]]), np.zeros((3, 3), dtype=bool)
    gone[0, 2] = gone[2, 0] = True
    picture = heatmap(matrix, tuple("abc"), 1.0, LIGHT, what="it", pale=gone, unknown=gone)
    (cells,), (strokes,) = picture.figure.data, picture.figure.layout.shapes
    assert np.array_equal(np.isnan(cells.z), gone)
    assert not cells.hoverongaps
    assert strokes.path == "M1.5 0.5L2.5 -0.5M-0.5 2.5L0.5 1.5"
    assert "1 of 3 pairs are hatched: not identified" in picture.alt
    assert "0.9" not in picture.alt
    drawn = svg(picture)
    assert 'd="M2 1L3 0M0 3L1 2"' in drawn
    pixels = zlib.decompress(base64.b64decode(re.search(r"base64,([^\"]+)", drawn)[1]).split(b"IDAT")[1][:-8])
    assert pixels[1 + 6 : 1 + 9] == b"\xff" * 3  # the third cell of the first row, after the byte of its filter
    assert not heatmap(matrix, tuple("abc"), 1.0, LIGHT, what="it", unknown=gone & False).figure.layout.shapes


def test_the_colour_range_follows_the_reference_not_the_diagonal():
    reference = np.diag([1000.0] * 30) + 0.1 * np.ones((30, 30))
    assert colour_limit(reference) == pytest.approx(0.1)
    assert colour_limit(np.diag([2.0, 3.0])) == 3.0
    assert colour_limit(np.array([[1.0, 0.7], [0.7, 1.0]])) == 1.0, "one pair has another colour than the diagonal"
    assert colour_limit(np.zeros((3, 3))) == 1.0
    assert colour_limit(np.array([[4.0]])) == 4.0


def test_saturated_cells_are_counted_once_a_pair():
    matrix = np.array([[9.0, 2.0, 0.1], [2.0, 9.0, -3.0], [0.1, -3.0, 9.0]])
    assert saturated(matrix, 1.0) == 2
    assert saturated(matrix, 3.0) == 0


def test_a_heatmap_s_words_name_the_largest_pair():
    matrix = np.array([[9.0, 0.2], [0.2, 9.0]])
    picture = heatmap(matrix, ("age", "height"), 1.0, LIGHT, what="it")
    assert "0.2, between age and height" in picture.alt


def test_column_names_are_text_not_markup():
    picture = heatmap(np.eye(2), ("<b>a</b>", "c&d"), 1.0, LIGHT, what="it")
    assert list(picture.figure.data[0].x) == ["&lt;b&gt;a&lt;/b&gt;", "c&amp;d"]


def test_the_waterfall_adds_up_and_steps_may_be_negative():
    stages = [("Sample", 0.02), ("Clipped", 0.015), ("Noisy", 0.3), ("Post-processed", 0.1)]
    picture = waterfall(stages, LIGHT, reference="x")
    trace = picture.figure.data[0]
    assert np.cumsum(trace.y[:-1])[-1] == pytest.approx(trace.y[-1]) == pytest.approx(10)
    assert trace.y[1] < 0
    assert trace.measure[-1] == "total"
    assert picture.figure.layout.yaxis.range[0] < 1.5 - 0.1 * 30, "room for the number of a step that falls so far"
    assert "It ends at 10\u00a0%" in picture.alt


def table() -> pd.DataFrame:
    rows = [
        {"method": m, "rho": r, "mean": v, "low": 0.9 * v, "high": 1.2 * v}
        for m, (r, v) in itertools.product(["a", "b"], [(0.01, 0.5), (0.1, 0.2), (1.0, 0.1)])
    ]
    return pd.DataFrame(rows)


def test_curves_lie_inside_their_bands_and_keep_their_pens():
    picture = curves(
        table(),
        LIGHT,
        x="rho",
        x_label="rho",
        y_label="error",
        order=["z", "a", "b"],
        labels={},
        references=[("zero matrix", 1.0)],
    )
    band, line = picture.figure.data[:2]
    n = len(line.x)
    high, low = np.array(band.y[:n]), np.array(band.y[n:])[::-1]
    assert (low <= line.y).all()
    assert (line.y <= high).all()
    # A method keeps its colour, dash and symbol whoever else is drawn.
    alone = curves(
        table()[lambda t: t["method"] == "b"],
        LIGHT,
        x="rho",
        x_label="",
        y_label="",
        order=["z", "a", "b"],
        labels={},
        references=[],
    )
    assert alone.figure.data[1].line == picture.figure.data[3].line
    assert "a from 0.5 to 0.1" in picture.alt
    assert "zero matrix at 1" in picture.alt


def test_a_spectrum_marks_what_the_noise_hides():
    noisy = np.array([-1.0, 0.5, 3.0])
    picture = spectrum([("Sample", np.array([0.1, 0.2, 3.0])), ("Noisy", noisy)], 1.0, LIGHT, unit="u")
    trace = picture.figure.data[1]
    assert list(trace.y) == [3.0, 0.5, -1.0]
    assert [s.endswith("-open") for s in trace.marker.symbol] == [False, True, True]
    assert "2 noisy eigenvalues lie inside it" in picture.alt
    linear = spectrum([("Noisy", noisy)], 0.0, LIGHT, unit="u")
    assert "inside" not in linear.alt
    assert list(linear.figure.data[0].y) == [3.0, 0.5, -1.0]


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (0.6, "0.6"), (12345.6, "12,346"), (0.00012, "0.00012"), (-0.607, "-0.607"), (1e-5, "10⁻⁵"),
    (2e7, "2 × 10⁷"),
])  # fmt: skip
def test_plain_numbers(value, text):
    assert plain(value) == text
