"""Draw ROC curves of the graphs along a lambda path, for a lecture hall."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from privcov.metrics.graphs import Rates, roc_at
from privcov.plots.look import Pen, Picture, dotted, draw, entry, scatter
from privcov.plots.palette import Palette
from privcov.plots.words import plain

GRID = np.linspace(0, 1, 101)
OWN, EXACT = "This release", "Without noise"
_TYPE = 15  # size of all words, pixels


def roc(noisy: Rates, exact: Rates | None, own: Pen, palette: Palette) -> Picture:
    """Return the ROC curves: share of the true edges found against share of the absent edges drawn.

    The last trace is the mark of one network; see `point_at`.
    """
    curves = {name: roc_at(rates, GRID) for name, rates in _named(noisy, exact).items()}
    figure = _figure(curves, own, palette)
    words = "; ".join(f"{name} finds {_at_a_tenth(values)}" for name, values in curves.items())
    return Picture(figure, f"ROC curves of edge recovery: {words}.")


def point_at(picture: Picture, point: tuple[float, float] | None) -> Picture:
    """Move the mark of the network on the screen, in place."""
    mark = picture.figure.data[-1]
    mark.x, mark.y = ([None], [None]) if point is None else ([point[0]], [point[1]])
    return picture


def _named(noisy: Rates, exact: Rates | None) -> dict[str, Rates]:
    return {OWN: noisy} | ({} if exact is None else {EXACT: exact})


def _figure(curves: dict[str, np.ndarray], own: Pen, palette: Palette) -> go.Figure:
    """Draw the curves, a ring where a path ends, the line of guessing, and the mark of the network on the screen."""
    traces = [dotted([0, 1], [0, 1], palette, 1.6, name="Guessing", hoverinfo="skip")]
    for name, values in curves.items():
        style = own if name == OWN else Pen(palette.ink, "longdash", "circle")
        there = np.isfinite(values)
        hover = f"{name}: %{{y:.2f}} found at %{{x:.2f}}<extra></extra>"
        line = style.line(3.4)
        traces.append(scatter(x=GRID[there], y=values[there], mode="lines", name=name, line=line, hovertemplate=hover))
        if there.any() and not there[-1]:
            ring = {"symbol": "circle-open", "size": 10, "color": style.colour, "line": {"width": 2}}
            end = f"{name}: the path ends here, at %{{x:.2f}}<extra></extra>"
            at = {"x": GRID[there][-1:], "y": values[there][-1:]}
            traces.append(scatter(**at, mode="markers", showlegend=False, marker=ring, hovertemplate=end))
    look = {"symbol": "circle-open-dot", "size": 17, "color": palette.ink, "line": {"width": 2.4}}
    here = "The network on the screen: %{y:.2f} at %{x:.2f}<extra></extra>"
    traces.append(entry("This network", look, hovertemplate=here))
    axis = {"range": [-0.02, 1.04], "dtick": 0.2, "tickfont": {"size": _TYPE - 1, "color": palette.quiet}}
    return draw(
        traces,
        palette,
        height=440,
        margin={"l": 10, "r": 14, "t": 30, "b": 10},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.01, "x": 0, "font": {"size": _TYPE}},
        x={"title": "False positive rate (share of absent edges drawn)", **axis},
        y={"title": "True positive rate (share of edges found)", **axis},
    )


def _at_a_tenth(tpr: np.ndarray) -> str:
    end = int(np.flatnonzero(np.isfinite(tpr))[-1])
    words = f"{tpr[min(10, end)]:.2f} at " + ("false positive rate 0.10" if end >= 10 else "its end")
    return words + (f", and ends at {plain(float(GRID[end]))}" if end < 100 else "")
