"""Place the names of lines beside the lines, so that none overlap and no legend is needed.

Places are fractions of the plot, because a page may enlarge a figure: then the names move apart.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcov.core.words import safe
from privcov.plots.look import Pen, note
from privcov.plots.palette import Palette, legible

SIZE = 13  # of a name, pixels
_LINE = 1.3  # height of a line of text in units of its size
_LETTER = 0.52  # approximate width of a letter in units of the size
_WRAP = 17  # letters of a line
_LEADER = 16  # pixels between the plot and the names at its right
_AROUND = 90  # pixels of a figure that are not its plot
LEAST = 150  # height of a plot whose height the page decides, pixels


@dataclass(frozen=True)
class End:
    """The right end of one line: its name, its height as a fraction of the plot, and how the line is drawn."""

    name: str
    at: float
    style: Pen


def spread(targets: Sequence[float], sizes: Sequence[float], low: float, high: float) -> np.ndarray | None:
    """Return the places nearest to the wanted ones (least squares), in their order, at which blocks do not overlap."""
    order = np.argsort(np.asarray(targets, dtype=float), kind="stable")
    target, size = np.asarray(targets, dtype=float)[order], np.asarray(sizes, dtype=float)[order]
    # Less the room of the blocks below it, the middle of a block may not fall: a regression on rising values.
    below = np.concatenate([[0.0], np.cumsum((size[:-1] + size[1:]) / 2)])[: len(size)]
    if len(size) and below[-1] > high - low + 1e-12:
        return None
    pools: list[tuple[float, int]] = []
    for value in target - below:
        mean, count = float(value), 1
        while pools and pools[-1][0] > mean:
            other, many = pools.pop()
            mean, count = (mean * count + other * many) / (count + many), count + many
        pools.append((mean, count))
    rising = np.repeat([mean for mean, _ in pools], [count for _, count in pools])
    places = np.empty(len(size))
    places[order] = np.clip(rising, low, max(low, high - (below[-1] if len(size) else 0.0))) + below
    return places


def at_ends(ends: Sequence[End], palette: Palette, height: float) -> tuple[list[dict], list[dict], int] | None:
    """Return the names of lines at their right ends, each joined to its end."""
    lines = [textwrap.wrap(end.name, _WRAP) or [""] for end in ends]
    sizes = [SIZE * _LINE * len(words) / height for words in lines]
    places = spread([end.at for end in ends], sizes, 0.0, 1.0)
    if places is None:
        return None
    notes, shapes = [], []
    for end, words, at in zip(ends, lines, places.tolist(), strict=True):
        text = "<br>".join(safe(line) for line in words)
        beside: dict[str, Any] = {"xref": "paper", "xanchor": "left", "xshift": _LEADER + 4, "align": "left"}
        colour = legible(end.style.colour, palette)
        notes.append(note(text, colour, 1, at, size=SIZE, yref="paper", yanchor="middle", **beside))
        where = {"xref": "paper", "yref": "paper", "xsizemode": "pixel", "xanchor": 1}
        ends_at = {"x0": 3, "x1": _LEADER, "y0": end.at, "y1": at}
        look = {"color": end.style.colour, "dash": "solid", "width": 1.4}
        shapes.append({"type": "line", **where, **ends_at, "line": look})
    widest = max((len(line) for words in lines for line in words), default=0)
    return notes, shapes, round(_LEADER + 10 + SIZE * _LETTER * widest)


def span(values: np.ndarray, *, log: bool) -> list[float]:
    """Return the ends of an axis around the values, as plotly takes them: powers of ten on a logarithmic one."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return [0.0, 1.0]
    if not log:
        return [min(0.0, 1.05 * float(values.min())), 1.05 * float(values.max()) or 1.0]
    low, high = np.log10(values.min()), np.log10(values.max())
    space = 0.05 * (high - low) or 0.1
    return [float(low - space), float(high + space)]


def instead_of_legend(
    ends: Sequence[tuple[str, float, Pen]],
    axis: Sequence[float],
    palette: Palette,
    height: int | None,
    *,
    log: bool = False,
    shapes: Sequence[dict] = (),
    notes: Sequence[dict] = (),
) -> dict[str, Any]:
    """Return the settings of a layout that names lines at their right ends; the legend stays where there is no room."""
    low, high = axis
    at = [float(np.clip(((np.log10(v) if log else v) - low) / (high - low), 0.0, 1.0)) for _, v, _ in ends]
    lines = [End(name, where, style) for (name, _, style), where in zip(ends, at, strict=True)]
    layout = at_ends(lines[::-1], palette, LEAST if height is None else height - _AROUND)
    if layout is None:
        return {"shapes": [*shapes], "annotations": [*notes]}
    return {
        "shapes": [*shapes, *layout[1]],
        "annotations": [*notes, *layout[0]],
        "margin": {"l": 10, "r": layout[2], "t": 12, "b": 10},
        "showlegend": False,
    }
