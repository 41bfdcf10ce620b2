"""Names of lines stand beside their lines, inside the plot, and never on one another."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from privcov.plots.errors import curves
from privcov.plots.labels import SIZE, End, at_ends, instead_of_legend, spread
from privcov.plots.look import pen
from privcov.plots.palette import DARK, LIGHT, contrast

SHARES = st.floats(-0.2, 1.2, allow_nan=False)


@given(st.lists(st.tuples(SHARES, st.floats(0.01, 0.2)), max_size=8))
def test_blocks_never_overlap_and_stay_in_range_and_in_order(blocks):
    wanted, sizes = [w for w, _ in blocks], [s for _, s in blocks]
    placed = spread(wanted, sizes, 0.0, 1.0)
    order = np.argsort(wanted, kind="stable")
    needed = sum((sizes[a] + sizes[b]) / 2 for a, b in itertools.pairwise(order))
    assert (placed is None) == (needed > 1 + 1e-12)
    if placed is None:
        return
    assert (placed >= -1e-9).all()
    assert (placed <= 1 + 1e-9).all()
    for a, b in itertools.pairwise(order):
        assert placed[b] - placed[a] >= (sizes[a] + sizes[b]) / 2 - 1e-9


@given(st.lists(st.floats(0.1, 0.9), min_size=1, max_size=6, unique=True))
def test_blocks_that_have_room_stay_where_they_are(wanted):
    least = min((abs(a - b) for a, b in itertools.combinations(wanted, 2)), default=1.0)
    np.testing.assert_allclose(spread(wanted, [0.99 * min(least, 0.2)] * len(wanted), 0.0, 1.0), wanted, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_shifts_are_the_least_that_a_general_solver_finds(seed):
    rng = np.random.default_rng(seed)
    wanted, sizes = np.sort(rng.random(5)), rng.uniform(0.05, 0.2, 5)
    gaps = (sizes[1:] + sizes[:-1]) / 2
    limits = [{"type": "ineq", "fun": lambda p, k=k: p[k + 1] - p[k] - gaps[k]} for k in range(4)]
    start = np.cumsum([0.0, *gaps])
    found = minimize(lambda p: ((p - wanted) ** 2).sum(), start, bounds=[(0, 1)] * 5, constraints=limits)
    placed = spread(wanted, sizes, 0.0, 1.0)
    assert found.success
    assert ((placed - wanted) ** 2).sum() <= found.fun + 1e-7


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_names_at_the_ends_are_legible_joined_to_their_lines_and_apart(palette):
    ends = [End(f"line {k}", 0.5, pen(k, palette)) for k in range(6)]
    notes, shapes, room = at_ends(ends, palette, 300)
    heights = sorted(note["y"] for note in notes)
    assert min(np.diff(heights)) >= SIZE / 300
    for end, note, leader in zip(ends, notes, shapes, strict=True):
        assert note["text"] == end.name
        assert contrast(note["font"]["color"], palette.ground) >= 4.5
        assert (leader["y0"], leader["y1"]) == (end.at, note["y"])
        assert leader["line"]["color"] == end.style.colour
    assert room > 6 * SIZE / 2
    assert at_ends([*ends] * 20, palette, 300) is None  # no room: the chart keeps its legend


def test_names_are_text_and_long_ones_take_lines():
    ((note,), _, room) = at_ends([End("<b>a name</b> that takes several lines", 0.5, pen(0, LIGHT))], LIGHT, 300)
    assert note["text"].startswith("&lt;b&gt;")
    assert "<br>" in note["text"]
    assert room < 180


def test_of_lines_that_end_together_the_first_is_named_on_top():
    ends = [(name, 0.5, pen(k, LIGHT)) for k, name in enumerate(("first", "second", "third"))]
    for log in (False, True):
        layout = instead_of_legend(ends, (-1.0, 1.0), LIGHT, 330, log=log)
        height = {note["text"]: note["y"] for note in layout["annotations"]}
        assert height["first"] > height["second"] > height["third"]


def some_table(names: int) -> pd.DataFrame:
    return pd.DataFrame(
        [{"method": f"m{k}", "x": x, "mean": (k + 1) / x, "low": k / x, "high": (k + 2) / x}
         for k in range(names) for x in (1.0, 2.0, 4.0)]
    )  # fmt: skip


@pytest.mark.parametrize(("names", "direct"), [(3, True), (60, False)])
def test_error_curves_are_named_at_their_ends_or_in_a_legend(names, direct):
    table = some_table(names)
    picture = curves(
        table, LIGHT, x="x", x_label="x", y_label="y", order=[f"m{k}" for k in range(names)], labels={},
        references=[("zero", 3.0)],
    )  # fmt: skip
    layout = picture.figure.layout
    assert (layout.showlegend is False) == direct
    if not direct:
        assert not layout.annotations
        return
    low, high = layout.yaxis.range
    level = dict(
        zip([n.text for n in layout.annotations], [s.y0 for s in layout.shapes if s.yref == "paper"], strict=True)
    )
    for name, value in {"m0": 0.25, "m1": 0.5, "m2": 0.75, "zero": 3.0}.items():
        at = low + level[name] * (high - low)
        assert 10**at == pytest.approx(value)
    values = table[["mean", "high"]].to_numpy()
    assert np.log10(values).max() <= high
