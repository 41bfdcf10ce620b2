"""Pictures of the lessons that no other page has: matrices in one row, worst changes, a running score; larger type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from privcov.figures.look import Palette, Picture, draw, pen, plain, safe, wash
from privcov.figures.matrices import heatmap

_GAP = 0.04  # between two panels, as a share of the picture
_FEW = 5  # columns of a matrix whose cells have room for their numbers


def panels(
    found: Sequence[tuple[str, np.ndarray]],
    limit: float,
    palette: Palette,
    *,
    marked: int | None = None,
) -> Picture:
    """Tables or symmetric matrices side by side on one colour range, -limit to limit, first row on top.

    found: (title, n x d). marked: a row of the tables (not square ones) that gets a frame. Cells of small ones carry
    their number. No height of its own: the page knows how wide it is.
    """
    count = len(found)
    wide = (1 - _GAP * (count - 1)) / count
    traces, notes, shapes, axes, words = [], [], [], {}, []
    for i, (title, matrix) in enumerate(found):
        rows, d = matrix.shape
        names, mark = tuple(f"x{j + 1}" for j in range(d)), str(i + 1) if i else ""  # plotly's first axis has no number
        table = rows != d
        if table:
            trace, told = _table(matrix, names, limit, palette), f"Table of {title}, {rows} rows and {d} columns."
        else:
            square = heatmap(matrix, names, limit, palette, what=title)
            trace, told = square.figure.data[0], square.alt
        if d <= _FEW:
            trace.texttemplate = "%{z:.2f}"
        mine = {"anchor": f"y{mark}", "domain": [i * (wide + _GAP), i * (wide + _GAP) + wide]}
        trace.xaxis, trace.yaxis = f"x{mark}", f"y{mark}"
        axes[f"xaxis{mark}"] = {"visible": False, "constrain": "domain", **mine}
        axes[f"yaxis{mark}"] = {
            "visible": False,
            "autorange": "reversed",
            "anchor": f"x{mark}",
            "constrain": "domain",
            **({} if table else {"scaleanchor": f"x{mark}"}),
        }
        notes.append(
            {
                "x": 0.5,
                "y": 1,
                "xref": f"x{mark} domain",
                "yref": f"y{mark} domain",
                "xanchor": "center",
                "yanchor": "bottom",
                "text": safe(title),
                "showarrow": False,
                "font": {"size": 14, "color": palette.ink},
            }
        )
        if table and marked is not None:
            shapes.append(
                {
                    "type": "rect",
                    "xref": f"x{mark}",
                    "yref": f"y{mark}",
                    "x0": -0.5,
                    "x1": d - 0.5,
                    "y0": marked - 0.5,
                    "y1": marked + 0.5,
                    "line": {"color": palette.ink, "width": 3},
                }
            )
        traces.append(trace)
        words.append(told)
    shared: dict[str, Any] = {"margin": {"l": 0, "r": 0, "t": 28, "b": 4}, "annotations": notes, "shapes": shapes}
    figure = draw(traces, palette, height=None, **shared)
    figure.update_layout(axes)
    return Picture(figure, " ".join(words))


def _table(rows: np.ndarray, names: tuple[str, ...], limit: float, palette: Palette) -> go.Heatmap:
    return go.Heatmap(
        z=rows.astype(np.float32),
        x=names,
        zmin=-limit,
        zmax=limit,
        colorscale=palette.diverging,
        showscale=False,
        hovertemplate="row %{y}, %{x}: %{z:.3g}<extra></extra>",
    )


def worst_changes(
    bounds: np.ndarray,
    random: np.ndarray,
    worst: np.ndarray,
    proved: np.ndarray,
    palette: Palette,
    *,
    marked: float,
) -> Picture:
    """How far one row moves the second moment, against the row bound: random pairs, the worst found, the proved bound.

    bounds, worst, proved: length k. random: k x pairs. marked: the row bound of the lever.
    """
    line, dot = pen(0, palette), pen(1, palette)
    traces = [
        go.Scatter(
            x=np.repeat(bounds, random.shape[1]),
            y=random.ravel(),
            mode="markers",
            name="random pairs of rows",
            marker={"size": 5, "color": wash(palette.quiet, 0.45)},
            hovertemplate="R = %{x:.3g}: %{y:.3g}<extra>a random pair</extra>",
        ),
        go.Scatter(
            x=bounds,
            y=proved,
            mode="lines",
            name="proved bound",
            line={"color": line.colour, "dash": line.dash, "width": 2.2},
            hovertemplate="R = %{x:.3g}: at most %{y:.4g}<extra>proved</extra>",
        ),
        go.Scatter(
            x=bounds,
            y=worst,
            mode="markers",
            name="worst pair found by search",
            marker={"size": 11, "symbol": dot.symbol, "color": dot.colour},
            hovertemplate="R = %{x:.3g}: %{y:.4g}<extra>worst found</extra>",
        ),
    ]
    figure = draw(
        traces,
        palette,
        height=None,
        shapes=[_upright(marked, palette)],
        x={"title": "Row bound R", "tickvals": list(bounds), "ticktext": [plain(b) for b in bounds], "type": "log"},
        y={"title": "Change of the second moment", "rangemode": "tozero"},
    )
    at = int(np.abs(bounds - marked).argmin())
    return Picture(
        figure,
        f"Change of the second moment when one row is replaced, at {len(bounds)} row bounds. At R = {plain(marked)} "
        f"the worst of the pairs found moves it by {plain(float(worst[at]))}; the proved bound is "
        f"{plain(float(proved[at]))}, and the largest of {random.shape[1]} random pairs reaches "
        f"{plain(float(random[at].max()))}.",
    )


def _upright(x: float, palette: Palette) -> dict:
    line = {"color": palette.quiet, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def running_scores(
    series: Sequence[tuple[str, Sequence[tuple[int, bool]]]],
    limit: float,
    interval: tuple[float, float] | None,
    palette: Palette,
) -> Picture:
    """Share of right guesses so far, one line per guesser, beside the limit.

    series: (name, [(round, right)]) in the order of the rounds. interval: of the first guesser's score, drawn at its
    end, or None.
    """
    traces, words = [], []
    last = max([round_ for _, guesses in series for round_, _ in guesses], default=10)
    for i, (name, guesses) in enumerate(series):
        style = pen(1 - i if i < 2 else i, palette)
        right = np.array([hit for _, hit in guesses], dtype=float)
        share = np.cumsum(right) / np.arange(1, len(right) + 1)
        traces.append(
            go.Scatter(
                x=[at for at, _ in guesses],
                y=share,
                mode="lines+markers" if len(right) <= 40 else "lines",
                name=name,
                line={"color": style.colour, "dash": style.dash, "width": 2.2},
                marker={"symbol": style.symbol, "size": 8, "color": style.colour},
                hovertemplate="round %{x}: %{y:.1%} right<extra>" + name + "</extra>",
            )
        )
        words.append(f"{name}: {int(right.sum())} of {len(right)} right" if len(right) else f"{name}: no round yet")
        if i == 0 and interval is not None and len(right):
            traces[-1].error_y = {
                "type": "data",
                "symmetric": False,
                "array": [0.0] * (len(right) - 1) + [interval[1] - share[-1]],
                "arrayminus": [0.0] * (len(right) - 1) + [share[-1] - interval[0]],
                "thickness": 1.6,
                "width": 6,
            }
            words[-1] += f", 95% binomial interval {interval[0]:.2f} to {interval[1]:.2f}"
    reach = max(last, 10) * 1.04 + 0.5  # fewer rounds would get ticks between them
    traces.append(  # named in the legend: beside its line the word would lie on the scores
        go.Scatter(
            x=[0, reach],
            y=[limit, limit],
            mode="lines",
            name=f"the limit, {limit:.3f}",
            line={"color": palette.ink, "dash": "dot", "width": 1.6},
            hoverinfo="skip",
        )
    )
    figure = draw(
        traces,
        palette,
        height=None,
        showlegend=True,
        x={"title": "Round", "range": [0, reach], "tickformat": "d"},
        y={"title": "Right so far", "tickformat": ".0%", "range": [0, 1.04]},
    )
    return Picture(figure, "Running scores. " + "; ".join(words) + f". The limit is {limit:.3f}.")


def enlarged(picture: Picture, factor: float) -> Picture:
    """The same picture for the last row of a lecture hall: its type, and the margin above it, times ``factor``."""
    figure = go.Figure(picture.figure)
    layout = figure.layout
    fonts = [layout.font, layout.legend.font, layout.hoverlabel.font]
    fonts += [note.font for note in layout.annotations]
    for name in layout:
        if name.startswith(("xaxis", "yaxis")):
            fonts += [layout[name].tickfont, layout[name].title.font]
    for font in fonts:
        if font.size:
            font.size = font.size * factor
    if layout.margin.t:
        layout.margin.t = round(layout.margin.t * factor)
    return Picture(figure, picture.alt)
