"""Draw the answer of Trade-offs: the errors of a few methods against epsilon or rho, and where one meets a target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from privcov.figures.labels import instead_of_legend, spread
from privcov.figures.look import Picture, draw, hline, note, pens_of, ticks, vline
from privcov.figures.palette import Palette
from privcov.figures.words import plain

LINE = 17  # pixels, the name of a horizontal line
AXIS = 62  # pixels of the height that the horizontal axis takes


def answer_chart(
    curves: dict[str, tuple[np.ndarray, np.ndarray]],
    labels: dict[str, str],
    palette: Palette,
    *,
    level: float,
    level_name: str,
    error: float,
    wanted: float | None,
    references: Sequence[tuple[str, float]],
    measure: str,
    height: int = 330,
) -> Picture:
    """Return the error of each method against rising levels, named at the end of its line; first that of the answer."""
    traces, story, ends = [], [], []
    for i, (key, style) in enumerate(zip(curves, pens_of(list(curves), palette), strict=True)):
        levels, values = curves[key][0], np.maximum(curves[key][1], 1e-4)
        line = style.line(3.2 if i == 0 else 1.8)
        hover = f"{labels[key]}: %{{y:.3g}} at {level_name} %{{x:.3g}}<extra></extra>"
        traces.append(go.Scatter(x=levels, y=values, mode="lines", name=labels[key], line=line, hovertemplate=hover))
        ends.append((labels[key], float(values[-1]), style))
        story.append(f"{labels[key]} from {plain(values[0])} to {plain(values[-1])}")
    lines = [(name, at) for name, at in references if at > 0]
    shapes = [hline(at, palette.quiet, "dot", 1.2) for _, at in lines]
    if wanted is not None:
        shapes.append(hline(wanted, palette.ink, "solid", 1.2))
    shapes.append(vline(level, palette.ink, "solid", 1.2))
    dot = {"color": palette.ink, "size": 10, "symbol": "circle"}
    traces.append(go.Scatter(x=[level], y=[error], mode="markers", marker=dot, hoverinfo="skip", showlegend=False))
    ys = np.log10([*(max(float(v), 1e-4) for _, part in curves.values() for v in (part.min(), part.max())), error])
    ys = np.append(ys, np.log10([at for _, at in lines] + ([wanted] if wanted is not None else [])))
    low, high = float(ys.min()) - 0.08, float(ys.max()) + 0.12
    named = [(name, palette.quiet, float(np.log10(at))) for name, at in lines]
    if wanted is not None:
        named.append((f"target {plain(wanted)}", palette.ink, float(np.log10(wanted))))
    notes, size = [], LINE * (high - low) / (height - AXIS)
    # The methods' lines fall to the right: there is room at the upper right and at the lower left.
    for right in (True, False):
        part = [line for line in named if (line[2] > (low + high) / 2) == right]
        above = [at + size / 2 for *_, at in part]
        placed = spread(above, [size] * len(part), low + size / 2, high - size / 2)
        side, edge = ("right", 0.99) if right else ("left", 0.01)
        for (name, colour, _), at in zip(part, above if placed is None else placed, strict=True):
            notes.append(note(name, colour, edge, float(at), xref="paper", xanchor=side, yanchor="middle"))
    least, most = min(at[0] for at, _ in curves.values()), max(at[-1] for at, _ in curves.values())
    powers = 10.0 ** np.arange(np.floor(np.log10(least)), np.ceil(np.log10(most)) + 1)
    figure = draw(
        traces,
        palette,
        height=height,
        **instead_of_legend(ends, (low, high), palette, height, log=True, shapes=shapes, notes=notes),
        x={
            "title": f"{level_name} (stronger privacy left)",
            "type": "log",
            "range": [np.log10(least), np.log10(most)],
            **ticks(powers),
        },
        y={
            "title": measure,
            "type": "log",
            "range": [low, high],
            "tickformat": "~g",
            "dtick": "D2" if high - low < 2 else 1,
        },
    )
    alt = f"{measure} against {level_name}: " + "; ".join(story)
    alt += f". The answer is {level_name} = {plain(level)}, with {plain(error)}"
    return Picture(figure, alt + ("." if wanted is None else f"; the target is {plain(wanted)}."))
