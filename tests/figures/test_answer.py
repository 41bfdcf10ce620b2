"""The chart of an answer: every line named, and the answer marked where the table has it."""

import numpy as np
import pytest

from privcov.figures.answer import AXIS, LINE, answer_chart
from privcov.figures.palette import DARK, LIGHT

LEVELS = np.geomspace(0.01, 10, 9)
KEYS = ("auto-cov", "projection", "dp-thresholding")
CURVES = {key: (LEVELS[i:], 0.5 * (1 + i / 9) / LEVELS[i:] ** 0.4) for i, key in enumerate(KEYS)}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("wanted", [None, 0.4])
def test_every_line_is_named_and_no_two_share_colour_and_dash(palette, wanted):
    labels = {key: f"Method {key}" for key in KEYS}
    picture = answer_chart(
        CURVES, labels, palette, level=1.0, level_name="epsilon", error=0.5, wanted=wanted,
        references=[("zero matrix", 1.0), ("no error", 0.0)], measure="Error",
    )  # fmt: skip
    lines = [t for t in picture.figure.data if t.mode == "lines"]
    assert [t.name for t in lines] == list(labels.values())
    assert len({(t.line.color, t.line.dash) for t in lines}) == len(lines)
    words = [a.text.replace("-<br>", "-").replace("<br>", " ") for a in picture.figure.layout.annotations]
    assert all(any(label in text for text in words) for label in labels.values())
    assert ("target 0.4" in words) == (wanted is not None)
    assert "zero matrix" in words
    assert "no error" not in words  # it has no place on a logarithmic axis
    (dot,) = [t for t in picture.figure.data if t.mode == "markers"]
    assert (dot.x[0], dot.y[0]) == (1.0, 0.5)
    np.testing.assert_allclose(picture.figure.layout.xaxis.range, np.log10([LEVELS[0], LEVELS[-1]]))
    assert "The answer is epsilon = 1, with 0.5" in picture.alt


def test_names_of_horizontal_lines_stay_inside_the_plot_and_apart():
    """Three lines at its lower end and two at its upper one: their names would hang over if nothing held them."""
    references = [("a", 0.001), ("b", 0.001), ("c", 0.001), ("d", 10.0), ("e", 10.0)]
    picture = answer_chart(
        CURVES, {key: key for key in KEYS}, LIGHT, level=1.0, level_name="epsilon", error=0.5, wanted=None,
        references=references, measure="Error",
    )  # fmt: skip
    low, high = picture.figure.layout.yaxis.range
    size = LINE * (high - low) / (330 - AXIS)
    at = {note.text: note.y for note in picture.figure.layout.annotations if note.text in dict(references)}
    assert len(at) == len(references)
    for names in (("a", "b", "c"), ("d", "e")):
        heights = sorted(at[name] for name in names)
        assert heights[0] - size / 2 >= low - 1e-9
        assert heights[-1] + size / 2 <= high + 1e-9
        assert min(np.diff(heights)) >= size - 1e-9
