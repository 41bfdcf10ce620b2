"""Draw one release with its privacy noise: answers with their intervals, and the chance of a pair to be kept."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from privcov.figures.labels import instead_of_legend
from privcov.figures.look import Picture, draw, pen
from privcov.figures.palette import Palette
from privcov.figures.words import brief, plain, safe


def intervals(
    names: list[str],
    values: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    palette: Palette,
    *,
    x_title: str,
    what: str,
    second: tuple[np.ndarray, np.ndarray] | None = None,
    height: int | None = None,
) -> Picture:
    """Draw one line per answer, first on top: its value, the privacy-noise interval, and any sampling interval."""
    places = list(range(len(names)))[::-1]
    style, other = pen(0, palette), pen(1, palette)

    def bars(
        start: np.ndarray, end: np.ndarray, at: list[float], colour: str, dash: str, width: float, name: str
    ) -> go.Scatter:
        xs = [v for a, b in zip(start, end, strict=True) for v in (a, b, None)]
        ys = [v for p in at for v in (p, p, None)]
        line = {"color": colour, "dash": dash, "width": width}
        return go.Scatter(x=xs, y=ys, mode="lines", name=name, line=line, hoverinfo="skip")

    traces = [bars(low, high, [p + 0.12 for p in places], style.colour, "solid", 3.0, "Privacy-noise interval, 95 %")]
    if second is not None:
        shifted = [p - 0.18 for p in places]
        traces.append(bars(*second, shifted, other.colour, "dot", 2.2, "Sampling interval, 95 %"))
    traces.append(
        go.Scatter(
            x=values,
            y=[p + 0.12 for p in places],
            mode="markers",
            name="Released",
            marker={"color": palette.ink, "size": 8, "symbol": "diamond"},
            customdata=np.column_stack([low, high]),
            text=[safe(brief(n, 120)) for n in names],
            hovertemplate="%{text}: %{x:.3g}, "
            "privacy noise %{customdata[0]:.3g} to %{customdata[1]:.3g}<extra></extra>",
        )
    )
    ends = np.concatenate([values, low, high, *(second or ())])
    first, last = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
    edge = 0.03 * (last - first) or 0.1  # a bar that ends at the frame looks cut
    figure = draw(
        traces,
        palette,
        height=height or 90 + 30 * len(names),
        x={"title": safe(x_title), "range": [first - edge, last + edge]},
        y={"tickvals": places, "ticktext": [safe(brief(n, 58)) for n in names], "range": [-0.7, len(names) - 0.3]},
    )
    clear = int(((low > 0) | (high < 0)).sum())
    top = f"{names[0]} {plain(float(values[0]))} ({plain(float(low[0]))} to {plain(float(high[0]))})" if names else ""
    return Picture(figure, f"{what}: {len(names)} values, {clear} whose privacy-noise interval is off zero; {top}.")


def chances(x: np.ndarray, series: list[tuple[str, np.ndarray]], palette: Palette, *, x_title: str) -> Picture:
    """Draw the chance (0 to 1) against the strength of a correlation, one curve per guarantee."""
    traces = [
        go.Scatter(x=x, y=y, mode="lines", name=name, line=pen(i, palette).line(2.4))
        for i, (name, y) in enumerate(series)
    ]
    axis, ends = [-0.02, 1.02], [(name, float(y[-1]), pen(i, palette)) for i, (name, y) in enumerate(series)]
    figure = draw(
        traces,
        palette,
        height=330,
        x={"title": x_title, "range": [float(x[0]), float(x[-1])]},
        y={"title": "Chance to be kept", "range": axis},
        hovermode="x unified",
        **instead_of_legend(ends, axis, palette, 330),
    )
    half = len(x) // 2
    examples = "; ".join(f"{name}: {plain(float(y[half]))} at {plain(float(x[half]))}" for name, y in series)
    return Picture(
        figure, f"Chance that the thresholded answer keeps a pair, by the strength of its correlation. {examples}."
    )


def against_weight(weights: np.ndarray, ratios: np.ndarray, declared: int, palette: Palette) -> Picture:
    """Draw the noise (a multiple of that at weight 1) against the largest weight of a person; one is declared."""
    trace = go.Scatter(x=weights, y=ratios, mode="lines+markers", line=pen(0, palette).line(2.4), showlegend=False)
    traces, said = [trace], ""
    if declared in weights:
        at = float(ratios[list(weights).index(declared)])
        traces.append(
            go.Scatter(
                x=[declared],
                y=[at],
                mode="markers+text",
                text=["declared"],
                textposition="top center",
                marker={"color": palette.ink, "size": 11, "symbol": "diamond"},
                showlegend=False,
                hoverinfo="skip",
            )
        )
        said = f" Declared is {declared}, with {plain(at)} times the noise."
    figure = draw(
        traces,
        palette,
        height=300,
        x={"title": "Largest weight of a person", "range": [float(weights[0]) - 0.5, float(weights[-1]) + 0.5]},
        y={"title": "Noise, times that at 1", "range": [0, 1.12 * float(ratios.max())]},
    )
    return Picture(
        figure,
        f"Noise against the largest weight of a person: 1 at weight 1, {plain(float(ratios[-1]))} at "
        f"{int(weights[-1])}.{said}",
    )
