"""Figures are pure and honest: the values sent are the values given, ranges come from the reference, words agree."""

import base64
import itertools
import re
import zlib

import numpy as np
import pandas as pd
import pytest

from privcov.plots import look
from privcov.plots.errors import curves, waterfall
from privcov.plots.exports import svg
from privcov.plots.lessons import _short
from privcov.plots.matrices import MAX_CELLS, beyond, colour_limit, heatmap, marks, own_limit, saturated, thin_out
from privcov.plots.palette import DARK, LIGHT
from privcov.plots.shares import shares_bar
from privcov.plots.spectra import in_words, spectrum
from privcov.plots.words import plain


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


@pytest.mark.parametrize(("names", "named"), [
    ([f"item {k}" for k in range(50)], True), ([f"item {k}" for k in range(61)], False),
    ([f"x{k + 1}" for k in range(30)], True), ([f"x{k + 1}" for k in range(31)], False),
])  # fmt: skip
def test_fifty_columns_have_their_names_and_numbered_ones_are_counted(names, named):
    axis = heatmap(np.eye(len(names)), tuple(names), 1.0, LIGHT, what="it").figure.layout.yaxis
    assert (axis.ticktext is None) == named


def test_thinning_takes_block_means():
    matrix = some_matrix(401)
    shown, block = thin_out(matrix)
    assert block == 3
    assert shown[0, 1] == pytest.approx(matrix[0:3, 3:6].mean())
    assert shown[-1, -1] == pytest.approx(matrix[399:, 399:].mean())
    weights = np.diff(np.append(np.arange(0, 401, 3), 401))
    assert (weights @ shown @ weights) == pytest.approx(matrix.sum())


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


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("limit", [1.0, 0.645, 0.1, 2e-7, 3.6e4])
def test_a_colour_bar_names_round_values_at_their_places(limit, palette):
    values = marks(limit)
    assert 3 <= len(values) <= 7
    assert values == [-v for v in values[::-1]]
    steps = np.diff(values)
    assert steps == pytest.approx(steps[0])
    assert float(f"{steps[0]:.0e}") == pytest.approx(steps[0])  # one digit
    assert max(values) <= limit * (1 + 1e-9) < max(values) + steps[0]
    picture = heatmap(np.eye(3), tuple("abc"), limit, palette, what="it")
    notes = picture.figure.layout.annotations
    assert [note.text for note in notes] == [plain(v) for v in values]
    assert [limit * (2 * note.y - 1) for note in notes] == pytest.approx(values)
    assert picture.figure.data[0].colorbar.thickness < 15
    assert not heatmap(np.eye(3), tuple("abc"), limit, palette, what="it", bar=False).figure.layout.annotations


def test_a_scale_of_its_own_is_round_and_holds_the_quantile():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        matrix = some_matrix(int(rng.integers(1, 8)), seed) * 10.0 ** rng.integers(-6, 6)
        limit, wanted = own_limit(matrix), colour_limit(matrix)
        assert wanted * (1 - 1e-9) <= limit <= 2.5 * wanted
        assert f"{limit:.6e}"[0] in "125"
        assert float(f"{limit:.0e}") == limit
    assert own_limit(np.zeros((3, 3))) == 1.0


def test_pairs_beyond_the_scale_are_said_in_a_sentence():
    matrix = np.array([[9.0, 2.0, 0.1], [2.0, 9.0, -3.0], [0.1, -3.0, 9.0]])
    assert beyond(matrix, 1.0) == "2 pairs exceed the scale."
    assert beyond(matrix, 2.5, "private") == "1 private pair exceeds the scale."
    assert beyond(matrix, 3.0) == ""


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


def test_same_input_same_figure():
    pictures = [heatmap(some_matrix(5), tuple("abcde"), 1.0, LIGHT, what="m") for _ in range(2)]
    assert pictures[0].figure.to_json() == pictures[1].figure.to_json()


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_and_lines_can_be_read_on_the_ground(palette):
    assert contrast(palette.ink, palette.ground) >= 7
    assert contrast(palette.quiet, palette.ground) >= 4.5
    for colour in palette.lines:
        assert contrast(colour, palette.ground) >= 3


def test_pens_differ_in_more_than_colour():
    pens = [look.pen(i, LIGHT) for i in range(8)]
    assert len({p.colour for p in pens}) == len({p.symbol for p in pens}) == 8
    assert len({(p.dash, p.symbol) for p in pens}) == 8


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (0.6, "0.6"), (12345.6, "12,346"), (0.00012, "0.00012"), (-0.607, "-0.607"), (1e-5, "10⁻⁵"),
    (2e7, "2 × 10⁷"),
])  # fmt: skip
def test_plain_numbers(value, text):
    assert plain(value) == text


@pytest.mark.parametrize("edge", [1e-4, 0.0135, 0.4, 5.0])
def test_the_noise_band_is_seen_at_every_setting(edge):
    """By its ground or, where that is thinner than a line, by its outline; its words say the numbers."""
    sample = np.linspace(0.25, 3.7, 20)
    noisy = sample + np.random.default_rng(0).uniform(-edge, edge, 20)
    picture = spectrum([("Sample", sample), ("Noisy", noisy)], edge, LIGHT, unit="u")
    layout = picture.figure.layout
    low, high = layout.yaxis.range
    ground = layout.shapes[0]
    assert low <= ground.y0 < ground.y1 <= high
    assert ground.line.width >= 1
    assert contrast(ground.line.color, LIGHT.ground) >= 3
    words = next(note for note in layout.annotations if "noise alone" in note.text)
    assert plain(edge) in words.text
    assert words.y == ground.y0
    for trace in picture.figure.data:
        assert low <= min(trace.y) <= max(trace.y) <= high


def test_the_sentence_on_a_spectrum_has_the_numbers_of_the_chart():
    sample = np.array([0.24, 1.0, 3.72])
    for noisy, largest, smallest, hidden in (
        ([0.2, 1.0, 3.54], "falls from 3.72 to 3.54", "falls from 0.24 to 0.2", "None of 3 lies"),
        ([0.01, 1.0, 4.0], "rises from 3.72 to 4", "falls from 0.24 to 0.01", "1 of 3 lies"),
        ([-0.05, 0.05, 3.7204], "stays at 3.72", "falls from 0.24 to -0.05", "2 of 3 lie"),
    ):
        words = in_words([("Sample", sample), ("Noisy", np.array(noisy))], 0.1)
        assert f"largest eigenvalue {largest}" in words
        assert f"smallest {smallest}" in words
        assert f"{hidden} within" in words
    assert in_words([("Sample", sample), ("Post-processed", sample)], 0.0) == ""


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_pieces_of_a_mixture_add_up_and_are_named_where_there_is_room(palette):
    picture = shares_bar({"diagonal": 0.08, "band": 0.62, "eigenvalues": 0.3}, palette, what="a matrix")
    assert [trace.x[0] for trace in picture.figure.data] == pytest.approx([62, 30, 8])
    assert [trace.text[0] for trace in picture.figure.data] == ["band 62\u00a0%", "eigenvalues 30\u00a0%", ""]
    assert picture.alt == "One bar of a matrix: 62\u00a0% band, 30\u00a0% eigenvalues, 8\u00a0% diagonal."
    assert picture.figure.layout.barmode == "stack"


def test_a_number_in_a_small_cell_is_short():
    values = (0.0, -0.004, 0.36, -0.02, 0.996, 1.74, -1.97, 10.05)
    assert [_short(value) for value in values] == ["0", "0", ".36", "-.02", "1.00", "1.74", "-1.97", "10.05"]
