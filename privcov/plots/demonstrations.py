"""Draw the demonstrations: what the attacker sees of either table, and how often the guess is right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from privcov.attacks.demonstrations import Curve, Demonstration
from privcov.attacks.demonstrations_attack import AttackResult
from privcov.core.words import percent
from privcov.plots.labels import instead_of_legend
from privcov.plots.look import Pen, Picture, draw, note, pen, vline
from privcov.plots.palette import Palette, wash

NAMES = ("first table", "second table")
ALONE = ("nobody's row", "one person's row")
DONE, REPAIRED, PERMITTED, CHARGED = "as done", "repaired", "permitted", "if charged"


def outlines(edges: np.ndarray, fractions: Sequence, palette: Palette) -> list[go.Scatter]:
    """Return the histograms of both tables in percent, as steps between edges over their shaded areas."""
    return [
        go.Scatter(
            x=np.repeat(edges, 2)[1:-1],
            y=100 * np.repeat(y, 2),
            mode="lines",
            line=pen(i, palette).line(2),
            fill="tozeroy",
            fillcolor=wash(pen(i, palette).colour, 0.16),
            name=name,
            hovertemplate=f"%{{x:.4g}}: %{{y:.2~f}} %<extra>{name}</extra>",
        )
        for i, (name, y) in enumerate(zip(NAMES, fractions, strict=True))
    ]


def answer_histogram(side: AttackResult, title: str, palette: Palette) -> Picture:
    """Draw the shares of the simulated answers of either table, and the cut by which the attacker guesses."""
    return _alone(side, title, palette) if side.histogram.second is None else _both(side, title, palette)


def _both(side: AttackResult, title: str, palette: Palette) -> Picture:
    histogram = side.histogram
    second, cut = histogram.second, histogram.cut
    assert second is not None  # checked in `answer_histogram`, and with two tables there is a cut
    assert cut is not None
    word = note("guess: first", palette.quiet, cut, 1, yref="paper", yanchor="top", xanchor="left", xshift=4)
    top = 1.2 * max(histogram.first.max(), second.max())
    figure = draw(
        outlines(histogram.edges, (histogram.first, second), palette),
        palette,
        height=None,
        x={
            "title": histogram.label,
            "zeroline": False,
            "range": [float(histogram.edges[0]), float(histogram.edges[-1])],
        },
        y={"title": "share of answers (%)", "range": [0, 100 * top]},
        shapes=[vline(cut, palette.ink, "dot", 1.5)],
        annotations=[word],
    )
    return Picture(
        figure,
        f"{title}: histograms of {histogram.label} for two neighbouring tables. Guessing the first table above "
        f"{cut:.3g} is right in {side.hits:,} of {side.guesses:,} simulated attacks.",
    )


def _alone(side: AttackResult, title: str, palette: Palette) -> Picture:
    fractions = side.histogram.first
    bars = [
        go.Scatter(
            x=[at - 0.25, at - 0.25, at + 0.25, at + 0.25],
            y=[0, 100 * fraction, 100 * fraction, 0],
            fill="toself",
            fillcolor=colour,
            mode="lines",
            line={"color": colour, "width": 1},
            hoverinfo="skip",
        )
        for at, fraction, colour in zip((0, 1), fractions, (palette.quiet, palette.bad), strict=True)
    ]
    words = go.Scatter(
        x=[0, 1],
        y=100 * np.asarray(fractions),
        mode="text",
        text=[percent(fraction) for fraction in fractions],
        textposition="top center",
        hoverinfo="skip",
    )
    figure = draw(
        [*bars, words],
        palette,
        height=None,
        x={
            "title": "printed in the clear in one release",
            "tickvals": [0, 1],
            "ticktext": list(ALONE),
            "range": [-0.6, 1.6],
        },
        y={"title": "share of releases (%)", "range": [0, 115]},
        showlegend=False,
    )
    return Picture(
        figure, f"{title}: {percent(fractions[1])} of the simulated releases print somebody's row in the clear."
    )


def over_lever(curve: Curve, demonstration: Demonstration, value: float, palette: Palette) -> Picture:
    """Draw how often the best attacker is right at every position of the control, and what the claim permits."""
    control = demonstration.control
    places = np.arange(len(curve.values))
    here = list(curve.values).index(value)
    size = [13 if i == here else 6 for i in places]
    permitted = PERMITTED + (", if named beforehand" if demonstration.certain else "")
    lines = [
        (DONE, curve.done, palette.bad, "solid", "circle"),
        (REPAIRED, curve.repaired, palette.good, "dash", "square"),
        (permitted, curve.permitted, palette.ink, "dot", None),
    ]
    if curve.charged is not None:
        lines.append((CHARGED, curve.charged, palette.quiet, "dashdot", None))
    traces = [
        go.Scatter(
            x=places,
            y=100 * np.asarray(y),
            name=name,
            text=[control.words(v) for v in curve.values],
            mode="lines+markers" if symbol else "lines",
            line={"color": colour, "dash": dash, "width": 2.5 if symbol else 1.8},
            marker={"symbol": symbol, "size": size} if symbol else None,
            hovertemplate="%{text}: %{y:.2~f} %<extra>" + name + "</extra>",
        )
        for name, y, colour, dash, symbol in lines
    ]
    axis = [48, 103]
    ends = [(name, 100 * float(y[-1]), Pen(colour, dash, mark or "circle")) for name, y, colour, dash, mark in lines]
    figure = draw(
        traces,
        palette,
        height=None,
        **instead_of_legend(ends, axis, palette, None),
        x={
            "title": control.label,
            "tickvals": places[:: -(-len(places) // 6)],
            "ticktext": [control.words(v) for v in curve.values[:: -(-len(places) // 6)]],
        },
        y={"title": "attacker is right (%)", "range": axis},
    )
    return Picture(
        figure,
        f"{demonstration.title}, over the lever: at {control.words(value)} the attacker is right "
        f"{percent(curve.done[here])} of the time as it is done and {percent(curve.repaired[here])} as it should be; "
        f"the claim permits {percent(curve.permitted[here], 'at most')}"
        + (" about a person named beforehand." if demonstration.certain else "."),
    )
