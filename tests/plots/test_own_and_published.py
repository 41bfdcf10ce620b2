"""Figures of Your data and of Published results: what they send; conftest.py checks them property by property."""

import numpy as np
import pandas as pd
import pytest

from privcov.plots import intervals
from privcov.plots.palette import DARK, LIGHT

BOTH = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@BOTH
def test_intervals_hold_their_answers_and_what_may_be_noise_is_pale(palette):
    """The first is off zero, the second may be zero, the third has no interval, the fourth not even a value."""
    values = np.array([0.5, -0.2, 0.1, np.nan])
    low, high = values - 0.3, values + 0.3
    low[2] = high[2] = np.nan
    names, clear = ["a", "b", "<c>", "d"], np.array([True, False, False, False])
    picture = intervals.intervals(names, values, low, high, palette, clear=clear, x_title="x", what="Pairs", level=0.9)
    sure, maybe, marks = picture.figure.data
    assert (*sure.x[:2], *maybe.x[:2]) == pytest.approx((0.2, 0.8, -0.5, 0.1))
    assert sure.line.color != maybe.line.color == palette.faint
    assert all("90" in bars.name for bars in (sure, maybe))
    assert list(marks.x) == [0.5, -0.2, 0.1]
    assert list(marks.marker.symbol) == ["diamond", "diamond", "diamond-open"]
    assert list(marks.marker.color) == [palette.ink, palette.quiet, palette.quiet]
    assert marks.hovertext[2] == "no interval"
    assert not marks.showlegend  # it has several colours
    assert "<c>" not in picture.figure.to_json()
    assert picture.alt == "Pairs with total intervals: 4 values, 1 off zero, 2 without an interval; a 0.5 (0.2 to 0.8)."
    assert (
        "0 values"
        in intervals.intervals([], *[np.array([])] * 3, palette, clear=np.array([], bool), x_title="x", what="P").alt
    )


def test_pairs_are_read_from_what_is_real_to_what_is_not_identified():
    found = pd.DataFrame(
        {
            "first": list("abcd"),
            "second": list("bcde"),
            "estimate": [0.9, 0.2, np.nan, -0.5],
            "ci_low": [-0.1, 0.1, np.nan, -0.9],
            "ci_high": [1.0, 0.3, np.nan, 0.2],
            "identified": [True, True, False, True],
            "reject": [False, True, False, False],
        }
    )
    found.attrs["level"] = 0.95
    assert intervals.strongest_first(found)["first"].tolist() == ["b", "a", "d", "c"]
    assert intervals.off_zero(found.drop(columns="reject")).tolist() == [False, True, False, False]
    drawn = intervals.pairs(found, LIGHT, x_title="x", what="P", most=2).figure.layout.yaxis.ticktext
    assert drawn[0] == "b and c"
    assert len(drawn) == 2
    found.loc[1, ["identified", "ci_low", "ci_high"]] = False, np.nan, np.nan  # tested only: its mark is open
    found.loc[3, ["identified", "ci_low", "ci_high"]] = False, np.nan, np.nan  # not identified: it has no mark
    marks = intervals.pairs(found, LIGHT, x_title="x", what="P", most=9).figure.data[-1]
    assert (list(marks.x), list(marks.marker.symbol)) == ([0.2, 0.9], ["diamond-open", "diamond"])
