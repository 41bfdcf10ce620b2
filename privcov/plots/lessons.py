"""Build the pictures of lessons: matrices in one row, lines over a control, and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.core.words import safe
from privcov.plots.errors import curves
from privcov.plots.look import Picture, draw, note
from privcov.plots.matrices import colours_of, heatmap
from privcov.plots.palette import Palette, readable, to_hex

_GAP = 0.04  # between two panels, as a fraction of the picture
_FEW, _SIDE = 5, 12  # columns of a matrix, and of all side by side, whose cells have room for their numbers


def panels(
    matrices: Sequence[tuple[str, np.ndarray]],
    limit: float,
    palette: Palette,
    *,
    marked_row: int | None = None,
    columns: Sequence[str] = (),
) -> Picture:
    """Draw tables or symmetric matrices side by side on one colour range, -limit to limit, first row on top.

    They are (title, n x d), small ones with numbers; ``marked_row`` is a row of tables with a frame, and ``columns``
    are names above them. The page sets the height.
    """
    count = len(matrices)
    wide = (1 - _GAP * (count - 1)) / count
    traces, notes, shapes, axes, words = [], [], [], {}, []
    for i, (title, matrix) in enumerate(matrices):
        rows, d = matrix.shape
        names = tuple(columns) or tuple(f"x{j + 1}" for j in range(d))
        mark = str(i + 1) if i else ""  # plotly's first axis has no number
        table = rows != d
        if table:
            trace, alt = _table(matrix, names, limit, palette), f"Table of {title}, {rows} rows and {d} columns."
        else:
            square = heatmap(matrix, names, limit, palette, what=title, bar=False)
            trace, alt = square.figure.data[0], square.alt
        numbers = _numbers(trace, palette) if d <= _FEW and count * d <= _SIDE else None
        mine = {"anchor": f"y{mark}", "domain": [i * (wide + _GAP), i * (wide + _GAP) + wide]}
        trace.xaxis, trace.yaxis = f"x{mark}", f"y{mark}"
        axes[f"xaxis{mark}"] = {"visible": bool(columns), "side": "top", "constrain": "domain", **mine}
        axes[f"yaxis{mark}"] = {
            "visible": False,
            "autorange": "reversed",
            "anchor": f"x{mark}",
            "constrain": "domain",
            **({} if table else {"scaleanchor": f"x{mark}"}),
        }
        where = {"xref": f"x{mark} domain", "yref": f"y{mark} domain", "xanchor": "center", "yanchor": "bottom"}
        notes.append(note(safe(title), palette.ink, 0.5, 1, size=14, **where))
        if table and marked_row is not None:
            frame = {"xref": f"x{mark}", "yref": f"y{mark}", "line": {"color": palette.ink, "width": 3}}
            ends = {"x0": -0.5, "x1": d - 0.5, "y0": marked_row - 0.5, "y1": marked_row + 0.5}
            shapes.append({"type": "rect", **frame, **ends})
        traces.append(trace)
        if numbers is not None:
            numbers.xaxis, numbers.yaxis = trace.xaxis, trace.yaxis
            traces.append(numbers)
        words.append(alt)
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


def _numbers(cells: go.Heatmap, palette: Palette) -> go.Scatter:
    """Return the value of every cell as text, black or white, whichever can be read on the colour of its cell."""
    values = np.asarray(cells.z, dtype=np.float64)
    colours = colours_of(values, cells.zmin, cells.zmax, palette.diverging)
    rows, d = values.shape
    return go.Scatter(
        x=np.tile(np.asarray(cells.x), rows),
        y=np.repeat(np.arange(rows) if cells.y is None else np.asarray(cells.y), d),
        mode="text",
        text=[_short(value) for value in values.ravel()],
        textfont={"size": 14, "color": [readable(to_hex(tuple(cell))) for cell in colours.reshape(-1, 3).tolist()]},
        hoverinfo="skip",
        showlegend=False,
    )


def _short(value: float) -> str:
    """Return two decimals, without a zero before them: on a phone the numbers of a row must not touch."""
    text = f"{value:.2f}"
    return "0" if abs(value) < 0.005 else text.replace("0.", ".", 1) if abs(value) < 0.995 else text


def over_control(
    points: Sequence[tuple[float, Sequence[float]]],
    names: Mapping[str, str],
    palette: Palette,
    *,
    x: str,
    x_label: str,
    y_label: str,
    mark: float,
    references: Sequence[tuple[str, float]] = (),
) -> Picture:
    """Draw one line per series over every place of a control, with its current place marked.

    The points are (place, the value of every series); ``names`` has labels by the key that chooses the pen, ``x`` the
    name of the places, and ``references`` (label, value) of level lines.
    """
    table = pd.DataFrame(
        [
            {"method": key, x: at, "mean": value, "low": value, "high": value}
            for at, values in points
            for key, value in zip(names, values, strict=True)
        ]
    )
    return curves(
        table, palette, x=x, x_label=x_label, y_label=y_label, references=list(references), order=list(names),
        labels=dict(names), mark=mark, height=None,
    )  # fmt: skip


def dots(x: Any, y: Any, name: str, hover: str, marker: dict) -> go.Scatter:
    """Return points without a line. The marker has size, colour and symbol, by plotly's names."""
    return go.Scatter(x=x, y=y, mode="markers", name=name, marker=marker, hovertemplate=hover)


def line(x: Any, y: Any, name: str, look: dict, **more: Any) -> go.Scatter:
    """Return a line. ``look`` has colour, dash and width, ``more`` markers and hover text, by plotly's names."""
    return go.Scatter(**{"x": x, "y": y, "mode": "lines", "name": name, "line": look, **more})
