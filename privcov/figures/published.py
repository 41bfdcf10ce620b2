"""Printed against computed: a point per cell, on the diagonal where they agree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.figures.look import Palette, Picture, draw, plain, safe

# Agreement -> symbol on the chart; in the table beside it the same by name.
SYMBOLS = {"within error": "circle", "same order": "diamond-open", "different": "x"}


def colours(palette: Palette) -> dict[str, str]:
    """One colour per agreement."""
    return {"within error": palette.good, "same order": palette.lines[4], "different": palette.bad}


def scatter(cells: pd.DataFrame, names: list[str], palette: Palette) -> Picture:
    """cells: rows of `privcov.experiments.published.beside`. names: of the cells, for the pointer."""
    both = cells.assign(name=names).dropna(subset=["value", "ours"])
    both = both[(both["value"] > 0) & (both["ours"] > 0)]
    traces = []
    if len(both):
        low = float(min(both["value"].min(), both["ours"].min())) * 0.8
        high = float(max(both["value"].max(), both["ours"].max())) * 1.25
        line = {"color": palette.quiet, "dash": "dot", "width": 1}
        traces.append(go.Scatter(x=[low, high], y=[low, high], mode="lines", line=line, showlegend=False,
                                 hoverinfo="skip"))  # fmt: skip
    told = []
    for agreement, colour in colours(palette).items():
        group = both[both["agreement"] == agreement]
        told.append(f"{len(group)} {agreement}")
        if group.empty:
            continue
        text = [
            f"{safe(row.name_)}<br>printed {safe(row.printed_value)}, ours {plain(row.ours)}"
            for row in group.rename(columns={"name": "name_"}).itertuples()
        ]
        traces.append(
            go.Scatter(
                x=group["value"],
                y=group["ours"],
                mode="markers",
                name=agreement,
                text=text,
                hovertemplate="%{text}<extra></extra>",
                marker={"color": colour, "symbol": SYMBOLS[agreement], "size": 8, "line": {"width": 1.5}},
            )
        )
    figure = draw(
        traces, palette, height=430, x={"title": "printed", "type": "log"},
        y={"title": "as published, ours", "type": "log"},
    )  # fmt: skip
    ratio = np.median(both["ours"] / both["value"]) if len(both) else float("nan")
    alt = f"Printed against ours, one point per cell: {', '.join(told)}; median ratio {ratio:.2f}."
    return Picture(figure, alt)
