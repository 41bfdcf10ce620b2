"""Which epsilon do I need: the mean error against the level, the target as a line, the answer where they meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.figures.look import Palette, Pen, Picture, draw, plain, wash


def solution(
    curve: pd.DataFrame,
    palette: Palette,
    style: Pen,
    *,
    name: str,
    target: float,
    level: float | None,
    interval: tuple[float | None, float | None],
    x_label: str,
    y_label: str,
    references: Sequence[tuple[str, float]] = (),
    height: int = 360,
) -> Picture:
    """Log-log curve with its band.

    curve: columns level, mean, low, high (a band of the mean). level, interval: the answer and its ends, or None.
    references: (name, error) drawn as quiet horizontal lines; those not above 0 have no place on a log axis.
    """
    part = curve[np.isfinite(curve["mean"]) & (curve["mean"] > 0)].sort_values("level")
    # The lower end of a wide band may be negative, which a log axis cannot show.
    low = np.maximum(part["low"], 0.05 * part["mean"])
    xs = part["level"].to_numpy(dtype=float)
    traces = [
        go.Scatter(
            x=np.concatenate([xs, xs[::-1]]),
            y=np.concatenate([part["high"], low[::-1]]),
            fill="toself",
            fillcolor=wash(style.colour, 0.2),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        ),
        go.Scatter(
            x=xs,
            y=part["mean"],
            name=name,
            mode="lines+markers",
            line={"color": style.colour, "dash": style.dash, "width": 2.2},
            marker={"symbol": style.symbol, "size": 6, "color": style.colour},
            hovertemplate="%{x:.3g}: error %{y:.3g}<extra></extra>",
            showlegend=False,
        ),
    ]
    lines = [(f"target {target:.3g}", target, palette.ink, "solid")]
    lines += [(text, at, palette.quiet, "dash") for text, at in references if at > 0]
    shapes = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at,
         "line": {"color": colour, "dash": dash, "width": 1.4}}
        for _, at, colour, dash in lines
    ]  # fmt: skip
    notes = [
        {"x": 1, "xref": "paper", "xanchor": "right", "y": np.log10(at), "yanchor": "bottom", "text": text,
         "showarrow": False, "font": {"size": 13, "color": colour}}
        for text, at, colour, _ in lines
    ]  # fmt: skip
    if level is not None:
        shapes.append(_upright(level, palette.ink, "solid"))
        ends = [end for end in interval if end is not None]
        shapes += [_upright(end, palette.quiet, "dot") for end in ends]
    # The axis alone would not make room for the lines.
    ys = np.array([*part["high"], *low, *(at for _, at, _, _ in lines)], dtype=float)
    reach = [np.log10(ys.min()) - 0.06, np.log10(ys.max()) + 0.12]
    figure = draw(
        traces,
        palette,
        height=height,
        shapes=shapes,
        annotations=notes,
        x={"title": x_label, "type": "log", **_ticks(xs)},
        y={
            "title": y_label,
            "type": "log",
            "tickformat": ".2~g",
            "range": reach,
            "dtick": "D2" if reach[1] - reach[0] < 2.5 else 1,
        },
    )
    alt = f"Mean error of {name} against {x_label}"
    if len(part):
        first, last = part.iloc[0], part.iloc[-1]
        alt += f": {plain(first['mean'])} at {plain(first['level'])}, {plain(last['mean'])} at {plain(last['level'])}"
    alt += f"; the target is {plain(target)}"
    alt += f", reached at {plain(level)}." if level is not None else ", which is not reached."
    return Picture(figure, alt)


def _upright(at: float, colour: str, dash: str) -> dict:
    line = {"color": colour, "dash": dash, "width": 1.2}
    return {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _ticks(xs: np.ndarray) -> dict:
    """Powers of ten in plain numbers."""
    if not len(xs):
        return {}
    powers = 10.0 ** np.arange(np.floor(np.log10(xs.min())), np.ceil(np.log10(xs.max())) + 1)
    return {"tickvals": powers, "ticktext": [plain(p) for p in powers]}
