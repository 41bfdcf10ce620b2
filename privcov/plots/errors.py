"""Draw where the error comes from (waterfall), how it falls with the guarantee (curves) and where it meets a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.core.words import percent, plain
from privcov.plots.labels import instead_of_legend, span
from privcov.plots.look import Pen, Picture, draw, hline, pens_of, ribbon, ticks, vline
from privcov.plots.palette import Palette, readable


def waterfall(stages: list[tuple[str, float]], palette: Palette, *, reference: str, height: int = 300) -> Picture:
    """Return the steps of the error from stage to stage, also negative ones, and the final error as a whole bar."""
    names = [name for name, _ in stages]
    levels = np.array([level for _, level in stages])
    steps = np.diff(levels, prepend=0.0)
    top = max(levels.max(), 1e-12)
    trace = {
        "type": "waterfall",
        "x": [*names, "Total"],
        "y": [100 * step for step in (*steps, levels[-1])],
        "measure": ["relative"] * len(steps) + ["total"],
        "text": [*(("+" if s > 0 else "") + percent(s) for s in steps), percent(levels[-1])],
        "textposition": "outside",
        "textfont": {"color": palette.ink},
        "cliponaxis": False,
        "connector": {"line": {"color": palette.grid}},
        "increasing": {"marker": {"color": palette.bad}},
        "decreasing": {"marker": {"color": palette.good}},
        "totals": {"marker": {"color": palette.quiet}},
        "hovertemplate": "%{x}: %{y:.1~f} %<extra></extra>",
    }
    figure = draw(
        [trace],
        palette,
        height=height,
        showlegend=False,
        y={
            "title": f"Error, share of {reference} (%)",
            # A number below a falling step would else lie on the names of the stages.
            "range": [100 * min([0, levels.min(), *(levels[steps < 0] - 0.12 * top)]), 120 * top],
        },
    )
    story = ", ".join(f"after {n.lower()} {percent(level)}" for n, level in stages)
    return Picture(figure, f"Waterfall of the relative Frobenius error: {story}. It ends at {percent(levels[-1])}.")


def bars(answers: list[tuple[str, float]], palette: Palette, *, quiet: int = 0) -> Picture:
    """Return the errors of answers as bars, the first on top; the last ``quiet`` of them are only to compare with."""
    names, errors = [name for name, _ in answers], [error for _, error in answers]
    colours = [palette.good] * (len(answers) - quiet) + [palette.quiet] * quiet
    bar = go.Bar(
        x=[100 * error for error in errors], y=names, orientation="h", text=[percent(error) for error in errors],
        textposition="outside", cliponaxis=False, marker={"color": colours}, hoverinfo="skip",
    )  # fmt: skip
    figure = draw(
        [bar],
        palette,
        height=60 + 34 * len(answers),
        showlegend=False,
        x={"title": "Relative Frobenius error (%)", "range": [0, 118 * max(errors)]},
        y={"autorange": "reversed", "automargin": True},
    )
    story = "; ".join(f"{name} {percent(error)}" for name, error in answers)
    return Picture(figure, f"Errors: {story}.")


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
    mark: float | None = None,
    height: int | None = 460,
) -> Picture:
    """Return error curves with bands, on logarithmic axes."""
    traces, shapes, ends, trivial, story = [], [], [], [], []
    table = table[(table["mean"] > 0) & np.isfinite(table["mean"]) & (table[x] > 0)]
    if table.empty:
        raise ValueError("Every error is zero or undefined, so there is nothing to draw on a logarithmic axis.")
    # A quantile of zero would leave the axis; the smallest mean is far enough down.
    table = table.assign(low=table["low"].where(table["low"] > 0, table["mean"].min()))
    keys = dict(zip(table["method"], table["key" if "key" in table else "method"], strict=True))
    names = [name for name in order if name in keys]
    for name, style in zip(names, pens_of([keys[name] for name in names], palette), strict=True):
        part = table[table["method"] == name].sort_values(x)
        xs, label = part[x].to_numpy(), labels.get(name, name)
        # Sets the mode, because plotly would add markers to few points.
        traces.append(ribbon(xs, part["low"], part["high"], style.colour, 0.16, mode="lines", name=f"{label} band"))
        traces.append(
            go.Scatter(
                x=xs,
                y=part["mean"],
                name=label,
                mode="lines+markers",
                line=style.line(2.2),
                marker=style.marker(7),
                hovertemplate=f"{label}: %{{y:.3g}}<extra></extra>",
            )
        )
        ends.append((label, float(part["mean"].iloc[-1]), style))
        story.append(f"{label} from {plain(part['mean'].iloc[0])} to {plain(part['mean'].iloc[-1])}")
    for index, (name, level) in enumerate(references):
        dash = ("dot", "dash", "dashdot")[index % 3]
        shapes.append(hline(level, palette.quiet, dash, 1.3))
        trivial.append((name, level, Pen(palette.quiet, dash, "circle")))
        story.append(f"{name} at {plain(level)}")
    if mark is not None:
        shapes.append(vline(mark, palette.quiet, "dot", 1))
    across: dict[str, Any] = {"title": x_label, "type": "log"} | ticks(_places(table[x]))
    narrow = table["high"].max() < 50 * table["low"].min()
    up: dict[str, Any] = {"type": "log", "tickformat": "~g", "dtick": "D2" if narrow else 1}
    values = np.array([*table["low"], *table["mean"], *table["high"], *(level for _, level in references)])
    up["range"] = span(values, log=True)
    figure = draw(
        traces,
        palette,
        height=height,
        hovermode="x unified",
        x=across,
        y={"title": y_label, **up},
        **instead_of_legend([*trivial, *ends], up["range"], palette, height, log=True, shapes=shapes),
    )
    return Picture(figure, f"Error curves against {x_label}: " + "; ".join(story) + ".")


def _places(values: pd.Series) -> list[float]:
    distinct = sorted(set(values))
    if len(distinct) <= 6:
        return distinct
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    # A few decades have room for ticks at 1 and 3, many only at 1.
    steps = (1,) if high - low > 9 else (1, 3)
    return [
        m * 10.0**e
        for e in np.arange(low, high + 1)
        for m in steps
        if values.min() * 0.99 <= m * 10.0**e <= values.max() * 1.01
    ]


_ROOM = 0.14  # of the bar, for a name inside


def shares_bar(shares: Mapping[str, float], palette: Palette, *, what: str) -> Picture:
    """Return one bar whose pieces are the shares, largest first; a piece with too little room is named on hover."""
    ordered = sorted(shares.items(), key=lambda piece: -piece[1])
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": [100 * share],
            "y": [""],
            "text": [f"{name} {percent(round(share, 2))}" if share >= _ROOM else ""],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textfont": {"color": readable(palette.lines[place % len(palette.lines)])},
            "marker": {
                "color": palette.lines[place % len(palette.lines)],
                "line": {"color": palette.ground, "width": 2},
            },
            "hovertemplate": f"{name}: %{{x:.0f}} %<extra></extra>",
        }
        for place, (name, share) in enumerate(ordered)
    ]
    figure = draw(
        traces, palette, height=110, barmode="stack", showlegend=False, x={"title": "share (%)", "range": [0, 100]}
    )
    story = ", ".join(f"{percent(round(share, 2))} {name}" for name, share in ordered if share >= 0.005)
    return Picture(figure, f"One bar of {what}: {story}.")
