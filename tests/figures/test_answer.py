"""The chart of an answer: every line named, and the answer marked where the table has it."""

import numpy as np
import pytest

from privcov.figures.answer import answer_chart
from privcov.figures.palette import DARK, LIGHT

LEVELS = np.geomspace(0.01, 10, 9)
ERRORS = {key: 0.5 * (1 + i / 9) / LEVELS**0.4 for i, key in enumerate(("auto-cov", "projection", "dp-thresholding"))}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("wanted", [None, 0.4])
def test_every_line_is_named_and_no_two_share_colour_and_dash(palette, wanted):
    labels = {key: f"Method {key}" for key in ERRORS}
    picture = answer_chart(
        LEVELS, ERRORS, labels, palette, level=1.0, level_name="epsilon", error=0.5, wanted=wanted,
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
    assert "The answer is epsilon = 1, with 0.5" in picture.alt
