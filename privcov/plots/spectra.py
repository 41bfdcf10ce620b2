"""Draw the eigenvalues of the true, sample, noisy and repaired matrix, and the band that the noise alone would fill."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from privcov.core.words import plain
from privcov.plots.labels import instead_of_legend
from privcov.plots.look import Picture, band, draw, note, pen
from privcov.plots.palette import Palette, legible, wash

_PLACES = ("Truth", "Sample", "Noisy", "Post-processed")  # a series keeps its pen where another is absent


def spectrum(
    series: list[tuple[str, np.ndarray]], edge: float, palette: Palette, *, unit: str, height: int | None = 460
) -> Picture:
    """Return eigenvalues in descending order.

    Those of the noisy matrix inside the band, which cannot be recovered separately, are hollow.
    """
    traces, shapes, notes, story, ends, inside = [], [], [], [], [], 0
    reach = _range([*(values for _, values in series), np.array([-edge, edge])])
    if edge > 0:
        ground = band(wash(palette.quiet, 0.22), y=(-edge, edge))
        shapes.append(ground | {"line": {"color": palette.quiet, "width": 1}})
        # At the lower left, where the band always is and a falling spectrum never.
        corner: dict[str, Any] = {"xref": "paper", "xanchor": "left", "yanchor": "top"}
        words = f"noise alone: {plain(-edge)} to {plain(edge)}"
        notes.append(note(words, legible(palette.quiet, palette), 0.01, -edge, **corner))
    for index, (name, values) in enumerate(series):
        ordered = np.sort(np.asarray(values))[::-1]
        ordered = np.where(np.abs(ordered) < 1e-12 * np.abs(ordered).max(), 0.0, ordered)  # zero but for rounding
        style = pen(_PLACES.index(name) if name in _PLACES else len(_PLACES) + index, palette)
        symbol: Any = style.symbol
        if name == "Noisy" and edge > 0:
            hidden = np.abs(ordered) <= edge
            inside = int(hidden.sum())
            symbol = [f"{style.symbol}-open" if h else style.symbol for h in hidden]
        traces.append(
            go.Scatter(
                x=np.arange(1, len(ordered) + 1),
                y=ordered,
                name=name,
                mode="lines+markers",
                line=style.line(1.6),
                marker={**style.marker(7), "symbol": symbol},
                hovertemplate=f"{name}, rank %{{x}}: %{{y:.3g}}<extra></extra>",
            )
        )
        ends.append((name, float(ordered[-1]), style))
        story.append(f"{name} from {plain(ordered[0])} down to {plain(ordered[-1])}")
    figure = draw(
        traces,
        palette,
        height=height,
        x={"title": "Rank of the eigenvalue", "range": [0.4, max(len(values) for _, values in series) + 0.6]},
        y={"title": f"Eigenvalue, {unit}", "range": reach},
        **instead_of_legend(ends, reach, palette, height, shapes=shapes, notes=notes),
    )
    tail = (
        f" The noise alone would fill plus or minus {plain(edge)}; {inside} noisy eigenvalues lie inside it."
        if edge > 0
        else ""
    )
    return Picture(figure, "Eigenvalues: " + "; ".join(story) + "." + tail)


def describe_spectrum(series: list[tuple[str, np.ndarray]], edge: float) -> str:
    """Return what the noisy matrix did to the largest and smallest eigenvalue, and how many the noise hides."""
    values = dict(series)
    if "Noisy" not in values:
        return ""
    sample, noisy = values["Sample"], values["Noisy"]
    moves = [
        f"the {name} {_move(float(pick(sample)), float(pick(noisy)))}"
        for name, pick in (("largest eigenvalue", np.max), ("smallest", np.min))
    ]
    inside = int((np.abs(noisy) <= edge).sum())
    verb = "lies" if inside == 1 else "lie"
    sentence = f"{inside or 'None'} of {len(noisy)} {verb if inside else 'lies'} within the noise band."
    return f"From the sample to the noisy matrix {', '.join(moves)}. {sentence}"


def _move(before: float, after: float) -> str:
    if plain(before) == plain(after):
        return f"stays at {plain(after)}"
    return f"{'rises' if after > before else 'falls'} from {plain(before)} to {plain(after)}"


def _range(values: list[np.ndarray]) -> list[float]:
    """Return the ends of the vertical axis, with room for the words below the band."""
    every = np.concatenate(values)
    low, high = min(float(every.min()), 0.0), max(float(every.max()), 0.0)
    size = (high - low) or 1.0
    return [low - 0.08 * size, high + 0.04 * size]
