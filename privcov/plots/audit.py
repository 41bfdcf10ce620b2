"""Draw the privacy audit: two output distributions, impossible region, attacker's conclusions."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from privcov.attacks import disclosure
from privcov.attacks.live_audit import Audit, Histogram
from privcov.core.words import percent
from privcov.plots.demonstrations import NAMES, outlines
from privcov.plots.look import Picture, band, dotted, draw, note, pen
from privcov.plots.palette import Palette, wash

_FINE = 201


def _bars(histogram: Histogram, palette: Palette) -> list[go.Scatter]:
    total = max(int(histogram.first.sum()), 1)
    return outlines(histogram.edges, (histogram.first / total, histogram.second / total), palette)


def _fraction_axis(histogram: Histogram) -> dict:
    """Return the axis of shares, with room at the top for the name of the shaded set.

    The inner bars set it: the end bars hold everything beyond, and would flatten the others.
    """
    inside = [
        bars[1:-1] if len(bars) > 2 and bars[1:-1].max() else bars for bars in (histogram.first, histogram.second)
    ]
    top = 125 * max(bars.max() for bars in inside) / max(int(histogram.first.sum()), 1)
    return {"title": "share of draws (%)", "range": [0, top]}


def _beyond(histogram: Histogram, palette: Palette) -> list[dict]:
    """Return a note at each end whose bar leaves the chart: the share of either table's draws that it holds."""
    top, total = _fraction_axis(histogram)["range"][1], max(int(histogram.first.sum()), 1)
    notes = []
    for end, anchor in ((0, "left"), (-1, "right")):
        first, second = (bars[end] / total for bars in (histogram.first, histogram.second))
        if 100 * max(first, second) > top:
            text = f"here and beyond:<br>{percent(round(first, 3))} and {percent(round(second, 3))}"
            beside: dict[str, Any] = {"xanchor": anchor, "align": anchor, "xshift": 8 if end == 0 else -8}
            notes.append(note(text, palette.quiet, float(histogram.edges[end]), 0.8 * top, **beside))
    return notes


def _zone(low: float, high: float, text: str, palette: Palette, *, right: bool) -> dict:
    label = {"text": text, "textposition": "top right" if right else "top left", "font": {"color": palette.bad}}
    return band(wash(palette.bad, 0.10), x=(low, high), xref="x", label=label)


def _histograms(histogram: Histogram, palette: Palette, shapes: list[dict]) -> go.Figure:
    look: dict[str, Any] = {"height": 400, "shapes": shapes, "annotations": _beyond(histogram, palette)}
    x, y = {"title": histogram.label}, _fraction_axis(histogram)
    return draw(_bars(histogram, palette), palette, x=x, y=y, **look)


def outputs(audit: Audit, palette: Palette) -> Picture:
    """Draw the statistic that separates the two tables best, over the test draws of both, and the tested set."""
    histogram = audit.histogram
    low, high = float(histogram.edges[0]), float(histogram.edges[-1])
    cut = histogram.cut
    assert cut is not None  # the histogram of a tested set has one
    start, end = (cut, high) if histogram.above else (low, cut)
    shapes = [_zone(start, end, "tested set", palette, right=histogram.above)]
    hits = audit.for_level.hits
    return Picture(
        _histograms(histogram, palette, shapes),
        f"Two histograms of {histogram.label}, {audit.draws:,} draws each. The tested set, {audit.for_level.words}, "
        f"holds {hits[0]:,} draws of the first and {hits[1]:,} of the second table.",
    )


def support(audit: Audit, palette: Palette) -> Picture:
    """Draw the answers that only one table can give: below zero the other table has none."""
    histogram, counts = audit.support, audit.impossible
    assert histogram is not None  # only drawn for additive Wishart noise, which has both
    assert counts is not None
    low = float(histogram.edges[0])
    most = max(counts)
    alone = NAMES[0] if counts[0] >= counts[1] else NAMES[1]
    other = NAMES[1] if alone == NAMES[0] else NAMES[0]
    shapes = [_zone(low, 0.0, f"impossible with the {other}", palette, right=False)] if low < 0 else []
    return Picture(
        _histograms(histogram, palette, shapes),
        f"Histograms of the {histogram.label}. {most:,} of {audit.draws:,} answers of the {alone} lie below zero, "
        f"which no answer of the {other} can.",
    )


def beliefs(claim: disclosure.BoundedGuarantee, chances: tuple[float, ...], prior: float, palette: Palette) -> Picture:
    """Draw belief after the release against belief before, in the worst case that has at most each of these chances."""
    x = np.linspace(0, 1, _FINE)
    traces = [dotted(100 * x, 100 * x, palette, 1.5, name="nothing learned")]
    for i, chance in enumerate(chances):
        y = disclosure.posterior(x, disclosure.privacy_loss(claim, chance))
        name = "any release" if len(chances) == 1 else f"all but {percent(chance)} of releases"
        traces.append(
            go.Scatter(
                x=100 * x,
                y=100 * y,
                mode="lines",
                name=name,
                line=pen(i, palette).line(2.5),
                hovertemplate="before %{x:.1~f} %, after at most %{y:.1~f} %<extra>" + name + "</extra>",
            )
        )
    after = float(disclosure.posterior(prior, disclosure.privacy_loss(claim, chances[-1])))
    traces.append(
        go.Scatter(
            x=[100 * prior],
            y=[100 * after],
            mode="markers",
            showlegend=False,
            marker={"color": palette.ink, "size": 10},
            hovertemplate="%{x:.1~f} % becomes at most %{y:.1~f} %<extra></extra>",
        )
    )
    across, up = "belief before the release (probability, %)", "belief after it, at most (probability, %)"
    figure = _unit_square(traces, palette, across, up)
    return Picture(figure, f"Under {claim} a belief of {percent(prior)} becomes at most {percent(after, 'at most')}.")


def accusations(claim: disclosure.BoundedGuarantee, palette: Palette) -> Picture:
    """Draw the best attacker's ROC curve: true against false accusations."""
    x = np.unique(np.concatenate([np.linspace(0, 1, _FINE), np.logspace(-5, 0, 60)]))
    y = disclosure.true_positive_rate(claim, x)
    traces = [
        dotted([0, 100], [0, 100], palette, 1.5, name="guessing"),
        go.Scatter(
            x=100 * x,
            y=100 * y,
            mode="lines",
            name="best attacker",
            line={"color": palette.bad, "width": 2.5},
            fill="tonexty",
            fillcolor=wash(palette.bad, 0.10),
            hovertemplate="%{x:.2~f} % of the innocent, %{y:.2~f} % of the guilty<extra></extra>",
        ),
    ]
    across, up = "innocent people accused (false positives, %)", "guilty people found (true positives, %)"
    figure = _unit_square(traces, palette, across, up)
    at = float(disclosure.true_positive_rate(claim, 0.01))
    return Picture(
        figure, f"Under {claim}, accusing 1 % of the innocent finds at most {percent(at, 'at most')} of the guilty."
    )


def _unit_square(traces: list, palette: Palette, across: str, up: str) -> go.Figure:
    axis = {"range": [-1, 101]}
    return draw(traces, palette, height=430, x={**axis, "title": across}, y={**axis, "title": up})
