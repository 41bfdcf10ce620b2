"""Draw ROC and precision-recall curves of edge recovery, with the same pen for a line in both, for a lecture hall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from privcov.figures.labels import along
from privcov.figures.look import Pen, Picture, dotted, draw, entry, note, pens_of, ribbon, scatter
from privcov.figures.palette import Palette, legible
from privcov.figures.words import plain, safe
from privcov.privacy import NoPrivacy
from privcov.sweeps.graph_curves import GRID, Curve

RULES = {"edge-test": "cross", "ebic": "diamond", "half-universal": "square", "fission": "star", "chosen": "hexagon"}
_KIND = {"edge-test": ""}  # what a rule chooses where it is no lambda
_TYPE = 15  # size of all words, pixels
_THICK, _THIN = 3.4, 1.6
# Least width and height of the plot on a page beside a network; names placed for it stand further apart on a wider one.
_WIDTH, _HEIGHT = 280, 320
_LOW, _HIGH = -0.02, 1.04  # ends of all axes


def roc(curves: Sequence[Curve], palette: Palette, *, rules: bool = False) -> Picture:
    """Return the ROC curves: share of the true edges found against share of the absent edges drawn.

    Each is the vertical mean over replicates with its band, thin where some have no graph, and ends with a ring where
    fewer than half have one. The last trace is the mark of one network; see `point_at`.
    """
    styles, story = pens(curves, palette), []
    traces = [dotted([0, 1], [0, 1], palette, _THIN, name="Guessing", showlegend=False, hoverinfo="skip")]
    notes, unnamed = _names([(c.name, c.tpr) for c in curves], styles, palette, guess=lambda x: x)
    for curve, style in zip(curves, styles, strict=True):
        values, legend = (curve.tpr, curve.low, curve.high), curve.name in unnamed
        traces += _line(curve.name, GRID, values, curve.reach, style, "found", legend=legend)
        story.append(f"{curve.name} finds {_summary(curve)}")
    if rules:
        traces += _marks(curves, styles, palette, lambda m: (m[0], m[1]))
    traces.append(_here(palette))
    figure = _figure(
        traces,
        palette,
        notes,
        x="False positive rate (share of absent edges drawn)",
        y="True positive rate (edges found)",
    )
    return Picture(figure, "ROC curves of edge recovery: " + "; ".join(story) + ".")


def precision_recall(curves: Sequence[Curve], palette: Palette, *, rules: bool = False) -> Picture:
    """Return the precision-recall curves: share of the drawn edges that are true against share of the true edges found.

    The first curve's base rate is the line of guessing; the last trace is the mark of one network, see `point_at`.
    """
    base, styles, story = curves[0].base, pens(curves, palette), []
    traces = [dotted([0, 1], [base, base], palette, _THIN, name="Guessing", showlegend=False, hoverinfo="skip")]
    named = [(c.name, c.precision) for c in curves]
    notes, unnamed = _names(named, styles, palette, guess=lambda x: np.full(len(x), base))
    for curve, style in zip(curves, styles, strict=True):
        values, legend = (curve.precision, curve.precision_low, curve.precision_high), curve.name in unnamed
        traces += _line(curve.name, GRID, values, curve.recall, style, "true", legend=legend)
        half = int(np.searchsorted(GRID, 0.5))
        at_half = f"{curve.precision[half]:.2f}" if np.isfinite(curve.precision[half]) else "not reached"
        story.append(f"{curve.name} {at_half}")
    if rules:
        traces += _marks(curves, styles, palette, lambda m: (m[1], m[2]))
    traces.append(_here(palette))
    figure = _figure(
        traces, palette, notes, x="Recall (share of edges found)", y="Precision (drawn edges that are true)"
    )
    words = f"Precision-recall curves; guessing gives {base:.2f}. Precision with half of the edges found: "
    return Picture(figure, words + "; ".join(story) + ".")


def _names(
    named: list[tuple[str, np.ndarray]], styles: Sequence[Pen], palette: Palette, guess: Callable
) -> tuple[list[dict], set[str]]:
    """Return the names beside the curves over `GRID`, and which of them have no room and need the legend."""
    lines = [*named, ("guessing", guess(GRID))]
    points = []
    for name, values in lines:
        there = np.isfinite(values)
        points.append((name, _fraction(GRID[there]), _fraction(np.asarray(values)[there])))
    colours = [*(style.colour for style in styles), palette.quiet]
    notes, unnamed = [], set()
    places = along(points, width=_WIDTH, height=_HEIGHT, size=_TYPE)
    for (name, _), colour, place in zip(lines, colours, places, strict=True):
        if place is None:
            unnamed.add(name)
            continue
        anchors = {side: place[side] for side in ("xanchor", "yanchor")}
        x, y = (float(_LOW + place[axis] * (_HIGH - _LOW)) for axis in ("x", "y"))
        notes.append(note(safe(name), legible(colour, palette), x, y, size=_TYPE, **anchors))
    return notes, unnamed


def _fraction(values: np.ndarray) -> np.ndarray:
    return (values - _LOW) / (_HIGH - _LOW)


def _figure(traces: list, palette: Palette, notes: list, *, x: str, y: str) -> go.Figure:
    """Return both kinds of curves on their common axes, in type for a lecture hall."""
    axis = {"range": [_LOW, _HIGH], "dtick": 0.2, "tickfont": {"size": _TYPE - 1, "color": palette.quiet}}
    return draw(
        traces,
        palette,
        height=440,
        margin={"l": 10, "r": 14, "t": 30, "b": 10},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.01, "x": 0, "font": {"size": _TYPE}},
        annotations=notes,
        x={"title": x, **axis},
        y={"title": y, **axis},
    )


def pens(curves: Sequence[Curve], palette: Palette) -> list[Pen]:
    """Return the pen of every curve: ink for lines without noise, the pens of their methods for the others."""
    noisy = iter(pens_of([c.line.method for c in curves if not _exact(c)], palette))
    return [Pen(palette.ink, "longdash", "circle") if _exact(curve) else next(noisy) for curve in curves]


def _exact(curve: Curve) -> bool:
    return isinstance(curve.line.guarantee, NoPrivacy)


def _line(name: str, grid: np.ndarray, values: tuple, full: float, style: Pen, verb: str, *, legend: bool) -> list:
    """Return the band, the line, its thin rest where some replicates have ended, and a ring at an open end."""
    middle, low, high = values
    there = np.isfinite(middle)
    x, mean = grid[there], middle[there]
    traces: list = []
    if len(x) == 0:
        return traces
    if (high[there] > low[there]).any():
        traces.append(ribbon(x, low[there], high[there], style.colour, 0.14, name=f"{name} band"))
    whole = x <= full + 1e-9
    parts = [(whole, _THICK)] + ([(x >= full - 1e-9, _THIN)] if not whole.all() else [])
    for part, width in parts:
        traces.append(
            scatter(
                x=x[part],
                y=mean[part],
                mode="lines",
                name=name,
                showlegend=legend and width == _THICK,
                line=style.line(width),
                hovertemplate=f"{name}: %{{y:.2f}} {verb} at %{{x:.2f}}<extra></extra>",
            )
        )
    if x[-1] < 0.995:
        traces.append(
            scatter(
                x=x[-1:],
                y=mean[-1:],
                mode="markers",
                showlegend=False,
                marker={"symbol": "circle-open", "size": 10, "color": style.colour, "line": {"width": 2}},
                hovertemplate=f"{name}: the path ends here, at %{{x:.2f}}<extra></extra>",
            )
        )
    return traces


def _marks(
    curves: Sequence[Curve],
    styles: Sequence[Pen],
    palette: Palette,
    at: Callable[[tuple[float, float, float]], tuple[float, float]],
) -> list:
    """Return the points that the automatic rules choose, in ink, and one legend entry per rule, always in one order."""
    traces, shown = [], set()
    for curve, style in zip(curves, styles, strict=True):
        for rule, mark in curve.marks.items():
            x, y = at(mark)
            if not np.isfinite([x, y]).all():
                continue
            shown.add(rule)
            what = f"{rule}{_KIND.get(rule, ' lambda')}, {curve.name}"
            traces.append(
                scatter(
                    x=[x],
                    y=[y],
                    mode="markers",
                    showlegend=False,
                    marker={
                        "symbol": RULES.get(rule, "hexagon"),
                        "size": 13,
                        "color": style.colour,
                        "line": {"color": palette.ground, "width": 1.2},
                    },
                    hovertemplate=f"{what}: %{{y:.2f}} at %{{x:.2f}}<extra></extra>",
                )
            )
    order = [*RULES, *sorted(shown - set(RULES))]
    look = {"size": 12, "color": palette.ink}
    return traces + [entry(r, {"symbol": RULES.get(r, "hexagon"), **look}) for r in order if r in shown]


def point_at(picture: Picture, point: tuple[float, float] | None) -> Picture:
    """Move the mark of the current network, in place, so that nothing else is built again while lambda changes."""
    mark = picture.figure.data[-1]
    mark.x, mark.y = ([None], [None]) if point is None else ([point[0]], [point[1]])
    return picture


def _here(palette: Palette) -> go.Scatter:
    return entry(
        "This network",
        {"symbol": "circle-open-dot", "size": 17, "color": palette.ink, "line": {"width": 2.4}},
        hovertemplate="The network on the screen: %{y:.2f} at %{x:.2f}<extra></extra>",
    )


def _summary(curve: Curve) -> str:
    at = int(np.searchsorted(GRID, 0.1))
    if np.isfinite(curve.tpr[at]):
        words = f"{curve.tpr[at]:.2f} at false positive rate 0.10"
    else:
        last = np.flatnonzero(np.isfinite(curve.tpr))[-1]
        words = f"{curve.tpr[last]:.2f} at its end"
    return words + (f", open beyond {plain(curve.reach)}" if curve.reach < 0.995 else "")
