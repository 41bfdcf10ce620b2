"""The chart of an answer: labels that do not overlap, and the answer marked where the table has it."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from privcov.figures.answer import answer_chart, spaced
from privcov.figures.palette import DARK, LIGHT

LEVELS = np.geomspace(0.01, 10, 9)
ERRORS = {key: 0.5 * (1 + i / 9) / LEVELS**0.4 for i, key in enumerate(("auto-cov", "projection", "dp-thresholding"))}


@pytest.mark.parametrize("seed", range(30))
def test_labels_keep_their_distance_their_order_and_move_the_least(seed):
    """Against a general optimiser of the same problem."""
    rng = np.random.default_rng(seed)
    places, sizes = rng.uniform(0, 1, 5), rng.uniform(0.05, 0.15, 5)
    found = np.array(spaced(places, sizes, 0.0, 1.0))
    order = np.argsort(places)
    apart = np.diff(found[order]) - (sizes[order][:-1] + sizes[order][1:]) / 2
    assert (apart > -1e-9).all()
    assert (found - sizes / 2 > -1e-9).all()
    assert (found + sizes / 2 < 1 + 1e-9).all()
    rules = [{"type": "ineq", "fun": lambda x, i=i, j=j: x[j] - x[i] - (sizes[i] + sizes[j]) / 2}
             for i, j in itertools.pairwise(order)]  # fmt: skip
    ends = list(zip(sizes / 2, 1 - sizes / 2, strict=True))
    best = minimize(lambda x: ((x - places) ** 2).sum(), found, constraints=rules, bounds=ends, method="SLSQP")
    assert ((found - places) ** 2).sum() <= best.fun + 1e-6


def test_labels_without_a_quarrel_stay():
    assert spaced([0.9, 0.1, 0.5], [0.1, 0.1, 0.1], 0.0, 1.0) == pytest.approx([0.9, 0.1, 0.5])


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
    words = [a.text.replace("<br>", " ") for a in picture.figure.layout.annotations]
    assert all(any(label in text for text in words) for label in labels.values())
    assert ("target 0.4" in words) == (wanted is not None)
    assert "zero matrix" in words
    assert "no error" not in words  # it has no place on a logarithmic axis
    (dot,) = [t for t in picture.figure.data if t.mode == "markers"]
    assert (dot.x[0], dot.y[0]) == (1.0, 0.5)
    assert "The answer is epsilon = 1, with 0.5" in picture.alt
