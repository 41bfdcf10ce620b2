"""Pictures of the privacy audit: two output distributions, the impossible region, and what an attacker may conclude."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from privcov.audit import disclosure
from privcov.audit.live import Audit, Histogram
from privcov.figures.look import Palette, Picture, draw, pen, plain, wash

_NAMES = ("first table", "second table")
_FINE = 201


def _bars(found: Histogram, palette: Palette) -> list:
    total = max(int(found.first.sum()), 1)
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    traces = []
    for i, counts in enumerate((found.first, found.second)):
        colour = pen(i, palette).colour
        traces.append(
            go.Scatter(
                x=middle,
                y=counts / total,
                mode="lines",
                line={"shape": "hvh", "color": colour, "width": 2, "dash": pen(i, palette).dash},
                fill="tozeroy",
                fillcolor=wash(colour, 0.16),
                name=_NAMES[i],
                hovertemplate="%{x:.4g}: %{y:.2%}<extra>" + _NAMES[i] + "</extra>",
            )
        )
    return traces


def _share_axis(found: Histogram) -> dict:
    """Room at the top for the name of the shaded set."""
    top = 1.25 * max(found.first.max(), found.second.max()) / max(int(found.first.sum()), 1)
    return {"title": "share of draws (%)", "tickformat": ".1~%", "range": [0, top]}


def _zone(low: float, high: float, text: str, palette: Palette, *, right: bool) -> dict:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": low,
        "x1": high,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "fillcolor": wash(palette.bad, 0.10),
        "layer": "below",
        "label": {"text": text, "textposition": "top right" if right else "top left", "font": {"color": palette.bad}},
    }


def outputs(audit: Audit, palette: Palette, *, height: int = 400) -> Picture:
    """The statistic that tells the tables apart best, over the test draws of both, and the set that is tested."""
    found = audit.histogram
    low, high = float(found.edges[0]), float(found.edges[-1])
    ends = (found.cut, high) if found.above else (low, found.cut)
    shapes = [_zone(*ends, "tested set", palette, right=found.above)]
    figure = draw(
        _bars(found, palette),
        palette,
        height=height,
        x={"title": found.label},
        y=_share_axis(found),
        shapes=shapes,
    )
    hits = audit.for_level.hits
    return Picture(
        figure,
        f"Two histograms of {found.label}, {audit.draws:,} draws each. The tested set, {audit.for_level.words}, "
        f"holds {hits[0]:,} draws of the first and {hits[1]:,} of the second table.",
    )


def support(audit: Audit, palette: Palette, *, height: int = 400) -> Picture:
    """Answers that only one table can give: below zero the other one has none."""
    found, counts = audit.support, audit.impossible
    low = float(found.edges[0])
    most = max(counts)
    alone = _NAMES[0] if counts[0] >= counts[1] else _NAMES[1]
    other = _NAMES[1] if alone == _NAMES[0] else _NAMES[0]
    shapes = [_zone(low, 0.0, f"impossible with the {other}", palette, right=False)] if low < 0 else []
    figure = draw(
        _bars(found, palette),
        palette,
        height=height,
        x={"title": f"{found.label}"},
        y=_share_axis(found),
        shapes=shapes,
    )
    return Picture(
        figure,
        f"Histograms of the {found.label}. {most:,} of {audit.draws:,} answers of the {alone} lie below zero, "
        f"which no answer of the {other} can.",
    )


def beliefs(claim: disclosure.Claim, chances: tuple[float, ...], prior: float, palette: Palette) -> Picture:
    """Belief after the release against belief before, in the worst case that has at most each of these chances."""
    x = np.linspace(0, 1, _FINE)
    traces = [
        go.Scatter(
            x=x, y=x, mode="lines", name="nothing learned", line={"color": palette.quiet, "dash": "dot", "width": 1.5}
        )
    ]
    for i, chance in enumerate(chances):
        y = disclosure.posterior(x, disclosure.loss(claim, chance))
        look = pen(i, palette)
        name = "any release" if len(chances) == 1 else f"all but {chance * 100:g} % of releases"
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                name=name,
                line={"color": look.colour, "dash": look.dash, "width": 2.5},
                hovertemplate="before %{x:.1%}, after at most %{y:.1%}<extra>" + name + "</extra>",
            )
        )
    after = float(disclosure.posterior(prior, disclosure.loss(claim, chances[-1])))
    traces.append(
        go.Scatter(
            x=[prior],
            y=[after],
            mode="markers",
            showlegend=False,
            marker={"color": palette.ink, "size": 10},
            hovertemplate="%{x:.1%} becomes at most %{y:.1%}<extra></extra>",
        )
    )
    across, up = "belief before the release (probability, %)", "belief after it, at most (probability, %)"
    figure = _two_shares(traces, palette, across, up)
    return Picture(figure, f"Under {claim} a belief of {prior:.1%} becomes at most {after:.1%}.")


def accusations(claim: disclosure.Claim, palette: Palette) -> Picture:
    """The best attacker's ROC curve: true against false accusations."""
    x = np.unique(np.concatenate([np.linspace(0, 1, _FINE), np.logspace(-5, 0, 60)]))
    y = disclosure.power(claim, x)
    traces = [
        go.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            name="guessing",
            line={"color": palette.quiet, "dash": "dot", "width": 1.5},
        ),
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            name="best attacker",
            line={"color": palette.bad, "width": 2.5},
            fill="tonexty",
            fillcolor=wash(palette.bad, 0.10),
            hovertemplate="%{x:.2%} of the innocent, %{y:.2%} of the guilty<extra></extra>",
        ),
    ]
    across, up = "innocent people accused (false positives, %)", "guilty people found (true positives, %)"
    figure = _two_shares(traces, palette, across, up)
    at = float(disclosure.power(claim, 0.01))
    return Picture(
        figure, f"Under {claim}, accusing 1 % of the innocent finds at most {plain(at * 100)} % of the guilty."
    )


def _two_shares(traces: list, palette: Palette, across: str, up: str) -> go.Figure:
    """A square of two shares, each from 0 to 100 %."""
    axis = {"range": [-0.01, 1.01], "tickformat": ".0%"}
    return draw(traces, palette, height=430, x={**axis, "title": across}, y={**axis, "title": up})
