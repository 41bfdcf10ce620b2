"""Where the error comes from (waterfall), and how it falls with the guarantee (curves)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.figures.look import Palette, Picture, draw, pens_of, plain, wash


def waterfall(stages: list[tuple[str, float]], palette: Palette, *, reference: str, height: int = 300) -> Picture:
    """Steps from stage to stage (they may be negative) and the final error as a whole bar.

    stages: (name, relative error after it), cumulative. reference: what the error is relative to.
    """
    names = [name for name, _ in stages]
    levels = np.array([level for _, level in stages])
    steps = np.diff(levels, prepend=0.0)
    top = max(levels.max(), 1e-12)
    trace = {
        "type": "waterfall",
        "x": [*names, "Total"],
        "y": [*steps, levels[-1]],
        "measure": ["relative"] * len(steps) + ["total"],
        "text": [f"{s:+.1%}".replace("+0.0%", "0.0%").replace("-0.0%", "0.0%") for s in steps] + [f"{levels[-1]:.1%}"],
        "textposition": "outside",
        "textfont": {"color": palette.ink},
        "cliponaxis": False,
        "connector": {"line": {"color": palette.grid}},
        "increasing": {"marker": {"color": palette.bad}},
        "decreasing": {"marker": {"color": palette.good}},
        "totals": {"marker": {"color": palette.quiet}},
        "hovertemplate": "%{x}: %{y:.2%}<extra></extra>",
    }
    figure = draw(
        [trace],
        palette,
        height=height,
        showlegend=False,
        y={
            "title": f"Error, share of {reference}",
            "tickformat": ".0%" if top > 0.05 else ".1%",
            "range": [min(0, levels.min()), 1.2 * top],
        },
    )
    story = ", ".join(f"after {n.lower()} {level:.1%}" for n, level in stages)
    return Picture(figure, f"Waterfall of the relative Frobenius error: {story}. It ends at {levels[-1]:.1%}.")


def curves(
    table: pd.DataFrame,
    palette: Palette,
    *,
    x: str,
    x_label: str,
    y_label: str,
    order: list[str],
    labels: dict[str, str],
    references: list[tuple[str, float]],
    marked: float | None = None,
    height: int = 460,
    log: bool = True,
    log_error: bool = True,
) -> Picture:
    """Error curves with bands, the error on a log axis unless ``log_error`` is False (then from zero).

    table: columns method (or any name of a series), ``x``, mean, low, high, and key where the name of a series is not
    the method's own; what has no place on a log axis is left out. order: all names in the order of drawing; several
    lines of one method share its hue. references: (name, level) drawn as horizontal lines.
    marked: the study's own x, drawn as a vertical line. log: whether x is logarithmic too.
    """
    traces, shapes, notes, story = [], [], [], []
    positive = (table["mean"] > 0) | (not log_error)
    table = table[positive & np.isfinite(table["mean"]) & ((table[x] > 0) | (not log))]
    if table.empty:
        raise ValueError("Every error is zero or undefined, so there is nothing to draw on a logarithmic axis.")
    # A quantile of zero would leave the axis; the smallest mean is far enough down.
    if log_error:
        table = table.assign(low=table["low"].where(table["low"] > 0, table["mean"].min()))
    keys = dict(zip(table["method"], table["key" if "key" in table else "method"], strict=True))
    drawn = [name for name in order if name in keys]
    for name, style in zip(drawn, pens_of([keys[name] for name in drawn], palette), strict=True):
        part = table[table["method"] == name].sort_values(x)
        xs, label = part[x].to_numpy(), labels.get(name, name)
        traces.append(
            go.Scatter(
                x=np.concatenate([xs, xs[::-1]]),
                y=np.concatenate([part["high"], part["low"][::-1]]),
                mode="lines",  # few points would get markers of their own
                fill="toself",
                fillcolor=wash(style.colour, 0.16),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
                name=f"{label} band",
            )
        )
        traces.append(
            go.Scatter(
                x=xs,
                y=part["mean"],
                name=label,
                mode="lines+markers",
                line={"color": style.colour, "dash": style.dash, "width": 2.2},
                marker={"symbol": style.symbol, "size": 7, "color": style.colour},
                hovertemplate=f"{label}: %{{y:.3g}}<extra></extra>",
            )
        )
        story.append(f"{label} from {plain(part['mean'].iloc[0])} to {plain(part['mean'].iloc[-1])}")
    for index, (name, level) in enumerate(references):
        dash = ("dot", "dash", "dashdot")[index % 3]
        shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": level,
                "y1": level,
                "line": {"color": palette.quiet, "dash": dash, "width": 1.3},
            }
        )
        notes.append(
            {
                "x": 1,
                "xref": "paper",
                "xanchor": "right",
                "y": np.log10(level) if log_error else level,
                # Classification errors fall onto the lowest line, which must not write over them.
                "yanchor": "bottom" if log_error or level > min(level for _, level in references) else "top",
                "text": name,
                "showarrow": False,
                "font": {"size": 13, "color": palette.quiet},
            }
        )
        story.append(f"{name} at {plain(level)}")
    if marked is not None:
        shapes.append(
            {
                "type": "line",
                "x0": marked,
                "x1": marked,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": palette.quiet, "width": 1, "dash": "dot"},
            }
        )
    ticks = _ticks(table[x]) if log else []
    across: dict[str, Any] = {"title": x_label, "type": "log" if log else "linear"}
    if log:
        across |= {"tickvals": ticks, "ticktext": [plain(t) for t in ticks]}
    narrow = table["high"].max() < 50 * table["low"].min()
    up = {"type": "log", "tickformat": "~g", "dtick": "D2" if narrow else 1}
    if not log_error:
        up = {"type": "linear", "rangemode": "tozero"}
    figure = draw(
        traces,
        palette,
        height=height,
        hovermode="x unified",
        shapes=shapes,
        annotations=notes,
        x=across,
        y={"title": y_label, **up},
    )
    return Picture(figure, f"Error curves against {x_label}: " + "; ".join(story) + ".")


def _ticks(values: pd.Series) -> list[float]:
    distinct = sorted(set(values))
    if len(distinct) <= 6:
        return distinct
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    # A few decades bear ticks at 1 and 3, many only at 1.
    steps = (1,) if high - low > 9 else (1, 3)
    return [
        m * 10.0**e
        for e in np.arange(low, high + 1)
        for m in steps
        if values.min() * 0.99 <= m * 10.0**e <= values.max() * 1.01
    ]
