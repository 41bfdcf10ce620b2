"""Draw ROC and precision-recall curves of edge recovery, with the same pen for a line in both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from privcov.figures.look import Pen, Picture, dotted, draw, entry, note, pens_of, ribbon
from privcov.figures.palette import Palette
from privcov.figures.words import percent, plain
from privcov.privacy import NoPrivacy
from privcov.sweeps.graph_curves import GRID, Curve

RULES = {"ebic": "diamond", "half-universal": "square", "fission": "star", "chosen": "hexagon"}


def roc(curves: Sequence[Curve], palette: Palette, *, height: int | None = 400) -> Picture:
    """Return the ROC curves: share of the true edges found against share of the absent edges drawn.

    Each curve is the vertical mean over replicates with its band; a dotted line shows guessing. A curve ends, with a
    ring, where fewer than half of the replicates have a graph. It is thin where not all of them have one. The last
    trace is the mark of one network; see `point_at`.

    Parameters
    ----------
    curves : sequence of Curve
        One curve per line, as `privcov.sweeps.graph_curves.average` returns them.
    palette : Palette
        Colours of the theme.
    height : int or None, optional
        Height in pixels; None leaves it to the page.

    Returns
    -------
    Picture
        The figure and its text alternative.
    """
    guessing = dotted([0, 1], [0, 1], palette, 1.3, name="Guessing", hoverinfo="skip")
    traces, story = [guessing], []
    for curve, style in zip(curves, pens(curves, palette), strict=True):
        traces += _line(curve.name, GRID, (curve.tpr, curve.low, curve.high), curve.reach, style, "found", legend=True)
        story.append(f"{curve.name} finds {_summary(curve)}")
    for curve, style in zip(curves, pens(curves, palette), strict=True):
        traces += _marks(curve, style, lambda m: (m[0], m[1]), legend=False, palette=palette)
    traces.append(_here(palette, legend=True))
    figure = draw(
        traces,
        palette,
        height=height,
        margin={"l": 10, "r": 14, "t": 30, "b": 10},
        x={"title": "False positive rate (share of absent edges drawn)", "range": [-0.02, 1.03], "dtick": 0.2},
        y={"title": "True positive rate (edges found)", "range": [-0.015, 1.06], "dtick": 0.2},
    )
    return Picture(figure, "ROC curves of edge recovery: " + "; ".join(story) + ".")


def precision_recall(curves: Sequence[Curve], palette: Palette, *, height: int | None = 360) -> Picture:
    """Return the precision-recall curves: share of the drawn edges that are true against share of the true edges found.

    The line of guessing is the base rate, taken from the first curve. The last trace is the mark of one network; see
    `point_at`.

    Parameters
    ----------
    curves : sequence of Curve
        At least one curve, as `privcov.sweeps.graph_curves.average` returns them.
    palette : Palette
        Colours of the theme.
    height : int or None, optional
        Height in pixels; None leaves it to the page.

    Returns
    -------
    Picture
        The figure and its text alternative.
    """
    base = curves[0].base
    guessing = dotted([0, 1], [base, base], palette, 1.3, name="Guessing", showlegend=False, hoverinfo="skip")
    traces, story = [guessing], []
    for curve, style in zip(curves, pens(curves, palette), strict=True):
        values = (curve.precision, curve.precision_low, curve.precision_high)
        traces += _line(curve.name, GRID, values, curve.recall, style, "true", legend=False)
        half = int(np.searchsorted(GRID, 0.5))
        at_half = f"{curve.precision[half]:.2f}" if np.isfinite(curve.precision[half]) else "not reached"
        story.append(f"{curve.name} {at_half}")
    shown: set[str] = set()
    for curve, style in zip(curves, pens(curves, palette), strict=True):
        traces += _marks(curve, style, lambda m: (m[1], m[2]), legend=True, palette=palette, shown=shown)
    traces.append(_here(palette, legend=False))
    words = f"guessing: {percent(base)} of the pairs are edges"
    figure = draw(
        traces,
        palette,
        height=height,
        margin={"l": 10, "r": 14, "t": 30, "b": 10},
        x={"title": "Recall (share of edges found)", "range": [-0.02, 1.03], "dtick": 0.2},
        y={"title": "Precision (drawn edges that are true)", "range": [-0.015, 1.06], "dtick": 0.2},
        annotations=[note(words, palette.quiet, 0, base, size=12, xanchor="left", yanchor="top")],
    )
    words = f"Precision-recall curves; guessing gives {base:.2f}. Precision with half of the edges found: "
    return Picture(figure, words + "; ".join(story) + ".")


def pens(curves: Sequence[Curve], palette: Palette) -> list[Pen]:
    """Return the pen of every curve: ink for lines without noise, the pens of their methods for the others.

    Parameters
    ----------
    curves : sequence of Curve
        The curves of one picture.
    palette : Palette
        Colours of the theme.

    Returns
    -------
    list of Pen
        One pen per curve, in the same order.
    """
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
    parts = [(whole, 2.4)] + ([(x >= full - 1e-9, 1.1)] if not whole.all() else [])
    for part, width in parts:
        traces.append(
            go.Scatter(
                x=x[part],
                y=mean[part],
                mode="lines",
                name=name,
                showlegend=legend and width > 2,
                line=style.line(width),
                hovertemplate=f"{name}: %{{y:.2f}} {verb} at %{{x:.2f}}<extra></extra>",
            )
        )
    if x[-1] < 0.995:
        traces.append(
            go.Scatter(
                x=x[-1:],
                y=mean[-1:],
                mode="markers",
                showlegend=False,
                marker={"symbol": "circle-open", "size": 9, "color": style.colour, "line": {"width": 2}},
                hovertemplate=f"{name}: the path ends here, at %{{x:.2f}}<extra></extra>",
            )
        )
    return traces


def _marks(
    curve: Curve,
    style: Pen,
    at: Callable[[tuple[float, float, float]], tuple[float, float]],
    *,
    legend: bool,
    palette: Palette,
    shown: set[str] | None = None,
) -> list:
    """Return the points that the automatic rules choose on this curve, and one entry per rule in the legend, in ink."""
    traces = []
    for rule, mark in curve.marks.items():
        x, y = at(mark)
        if not np.isfinite([x, y]).all():
            continue
        symbol = RULES.get(rule, "hexagon")
        traces.append(
            go.Scatter(
                x=[x],
                y=[y],
                mode="markers",
                showlegend=False,
                marker={
                    "symbol": symbol,
                    "size": 11,
                    "color": style.colour,
                    "line": {"color": palette.ground, "width": 1.2},
                },
                hovertemplate=f"{rule} lambda, {curve.name}: %{{y:.2f}} at %{{x:.2f}}<extra></extra>",
            )
        )
        if legend and shown is not None and rule not in shown:
            shown.add(rule)
            traces.append(entry(rule, {"symbol": symbol, "size": 10, "color": palette.ink}))
    return traces


def point_at(picture: Picture, point: tuple[float, float] | None) -> Picture:
    """Move the mark of the current network, in place, so that nothing else is built again while lambda changes.

    Parameters
    ----------
    picture : Picture
        A picture of `roc` or `precision_recall`; it is changed.
    point : tuple of (float, float) or None
        Place on the two axes, each from 0 to 1; None hides the mark.

    Returns
    -------
    Picture
        The same picture.
    """
    mark = picture.figure.data[-1]
    mark.x, mark.y = ([None], [None]) if point is None else ([point[0]], [point[1]])
    return picture


def _here(palette: Palette, *, legend: bool) -> go.Scatter:
    return entry(
        "This network",
        {"symbol": "circle-open-dot", "size": 17, "color": palette.ink, "line": {"width": 2.4}},
        showlegend=legend,
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
