"""Draw printed against computed numbers, a point per cell, and the computed curves of a figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.core.words import plain, safe
from privcov.plots.labels import instead_of_legend, span
from privcov.plots.look import Picture, dotted, draw, pen, pens_of, ticks
from privcov.plots.palette import Palette

# Agreement -> symbol on the chart; the table beside it names the agreement.
SYMBOLS = {"within error": "circle", "same order": "diamond-open", "different": "x"}


def colours(palette: Palette) -> dict[str, str]:
    """Return one colour per agreement."""
    return {"within error": palette.good, "same order": palette.lines[2], "different": palette.bad}


# Verdict of a claim -> its word; every other verdict is "in part".
WORDS = {
    "holds": "holds", "proved": "holds", "holds after a correction": "holds", "does not hold": "does not hold",
    "not tested on their data": "not decided", "not examined": "not decided", "not computed yet": "not decided",
}  # fmt: skip


def verdicts(claims: pd.DataFrame, palette: Palette) -> Picture:
    """Draw how many claims of each paper hold, as one bar per paper; ``claims`` has columns paper and verdict."""
    words = claims["verdict"].map(lambda verdict: WORDS.get(verdict, "in part"))
    counts = pd.crosstab(claims["paper"], words).reindex(index=list(dict.fromkeys(claims["paper"]))[::-1])
    tones = {
        "holds": palette.good, "in part": palette.lines[2], "does not hold": palette.bad, "not decided": palette.faint
    }  # fmt: skip
    bars = [
        go.Bar(
            y=list(counts.index), x=counts[word].tolist(), name=word, orientation="h", marker={"color": colour},
            text=[f"{count}" if count else "" for count in counts[word]], textposition="inside", textangle=0,
            hovertemplate=f"%{{y}}: %{{x}} {word}<extra></extra>",
        )
        for word, colour in tones.items() if word in counts
    ]  # fmt: skip
    figure = draw(
        bars, palette, height=320, x={"title": "claims"}, y={"automargin": True}, barmode="stack", bargap=0.35,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"},
    )  # fmt: skip
    story = "; ".join(
        f"{paper}: " + ", ".join(f"{count} {word}" for word, count in line.items() if count)
        for paper, line in counts[[word for word in tones if word in counts]][::-1].iterrows()
    )
    return Picture(figure, f"Claims of each paper. {story}.")


def scatter(cells: pd.DataFrame, names: list[str], palette: Palette) -> Picture:
    """Draw printed against computed numbers of named cells (`replication.base.join_printed`), on log axes."""
    both = cells.assign(name=names).dropna(subset=["value", "ours"])
    both = both[(both["value"] > 0) & (both["ours"] > 0)]
    traces = []
    if len(both):
        low = float(min(both["value"].min(), both["ours"].min())) * 0.8
        high = float(max(both["value"].max(), both["ours"].max())) * 1.25
        traces.append(dotted([low, high], [low, high], palette, 1, showlegend=False, hoverinfo="skip"))
    counts = []
    for agreement, colour in colours(palette).items():
        group = both[both["agreement"] == agreement]
        counts.append(f"{len(group)} {agreement}")
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
    alt = f"Printed against ours, one point per cell: {', '.join(counts)}; median ratio {ratio:.2f}."
    return Picture(figure, alt)


# The dash shows the version, colour and symbol the line.
VERSION_DASHES = {"as published": "dash", "sound": "solid"}


def panel(
    points: pd.DataFrame,
    palette: Palette,
    *,
    x: str,
    y: str,
    log: bool = True,
    log_x: bool = True,
    methods: bool = True,
) -> Picture:
    """Draw the curves of one panel of a figure, with standard errors: as published dashed and open, sound ones solid.

    The points have the columns line, method, x, variant, value and se; x is NaN for an answer that has no place along
    the axis, drawn as a level. ``methods`` says whether "method" holds keys of methods, each a line with its own pen.
    """
    points = points[np.isfinite(points["value"]) & ((points["value"] > 0) | (not log))]
    names = list(dict.fromkeys(points["line"]))
    keys = [str(points.loc[points["line"] == name, "method"].iloc[0]) for name in names]
    styles = pens_of(keys, palette) if methods else [pen(i, palette) for i in range(len(names))]
    traces, story, ends = [], [], []
    borders, places = (points["x"].min(), points["x"].max()), sorted(set(points["x"].dropna()))
    for name, style in zip(names, styles, strict=True):
        has_curve, last = False, 0.0
        for version, dash in VERSION_DASHES.items():
            part = points[(points["line"] == name) & (points["variant"] == version)].sort_values("x")
            if part.empty:
                continue
            level = not np.isfinite(part["x"]).any()
            xs = np.array(borders) if level else part["x"].to_numpy()
            ys = np.repeat(part["value"].iloc[0], 2) if level else part["value"].to_numpy()
            bars = None if level else {"type": "data", "array": part["se"].fillna(0).to_numpy(), "thickness": 1}
            traces.append(
                go.Scatter(
                    x=xs,
                    y=ys,
                    error_y=bars,
                    name=safe(name),
                    legendgroup=name,
                    showlegend=not has_curve,
                    mode="lines" if level else "lines+markers",
                    line={"color": style.colour, "dash": dash, "width": 1.4 if level else 2.2},
                    marker={"symbol": style.symbol + ("-open" if version == "as published" else ""), "size": 7},
                    hovertemplate=f"{safe(name)}, {version}: %{{y:.3g}}<extra></extra>",
                )
            )
            has_curve, last = True, float(ys[-1])
            story.append(f"{name} {version} from {plain(ys[0])} to {plain(ys[-1])}")
        if has_curve:
            ends.append((name, last, style))
    error = points["se"].fillna(0)
    axis = span(np.array([*(points["value"] - error), *points["value"], *(points["value"] + error)]), log=log)
    figure = draw(
        traces, palette, height=430,
        x={"title": x, "type": "log", **ticks(places)} if log_x else {"title": x},
        y={"title": y, "type": "log" if log else "linear", "range": axis},
        **instead_of_legend(ends, axis, palette, 430, log=log),
    )  # fmt: skip
    return Picture(figure, f"Curves of {y} along {x}: {'; '.join(story)}.")
