"""Heatmaps of symmetric matrices on one shared, symmetric colour range."""

from __future__ import annotations

from html import unescape
from typing import Any

import numpy as np

from privcov.figures.look import Palette, Picture, draw, plain, safe
from privcov.figures.pixels import Still, colours_of, png

MOST_NAMES = 30  # columns; beyond this the axes count columns instead of naming them
LETTERS = 12  # of a name on an axis; the pointer tells the whole of it
MOST_CELLS = 200  # per side; beyond this the screen has fewer pixels than the matrix has cells


def colour_limit(reference: np.ndarray) -> float:
    """Range of the colours, from the reference alone, so it stays put while epsilon moves.

    99.5 % quantile of the absolute off-diagonal (one large variance would bleach everything else); the largest
    entry when there is no off-diagonal or it is zero.
    """
    d = len(reference)
    off = np.abs(reference[~np.eye(d, dtype=bool)])
    limit = float(np.quantile(off, 0.995)) if d > 1 else 0.0
    return limit or float(np.abs(reference).max()) or 1.0


def saturated(matrix: np.ndarray, limit: float) -> int:
    """Number of off-diagonal cells beyond the colour range, each pair counted once."""
    upper = np.abs(matrix[np.triu_indices(len(matrix), 1)])
    return int((upper > limit * (1 + 1e-9)).sum())


def thin_out(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """(block means with at most MOST_CELLS a side, block size); the matrix itself when it is small enough."""
    d = len(matrix)
    size = -(-d // MOST_CELLS)
    if size == 1:
        return matrix, 1
    starts = np.arange(0, d, size)
    counts = np.diff(np.append(starts, d))
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    return sums / np.outer(counts, counts), size


def heatmap(matrix: np.ndarray, columns: tuple[str, ...], limit: float, palette: Palette, *, what: str) -> Picture:
    """A square heatmap, first row on top, colours from -limit to limit. ``what`` names it for the alternative.

    No height of its own: the page makes it as high as it is wide.
    """
    shown, block = thin_out(np.asarray(matrix, dtype=np.float64))
    names = [safe(c) for c in columns[::block]]
    trace = {
        "type": "heatmap",
        "z": shown.astype(np.float32),
        "x": names,
        "y": names,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": palette.diverging,
        "showscale": False,
        "hovertemplate": "%{y} x %{x}: %{z:.3g}<extra></extra>",
    }
    figure = draw(
        [trace],
        palette,
        height=None,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        x=_names(names, block, palette, upright=False),
        y=_names(names, block, palette, upright=True) | {"scaleanchor": "x", "autorange": "reversed"},
    )
    return Picture(figure, _describe(matrix, columns, limit, what, block))


def still(matrix: np.ndarray, columns: tuple[str, ...], limit: float, palette: Palette, *, what: str) -> Still:
    """The same cells as an image of one pixel each, without plotly's script: for a page that must be there at once."""
    shown, block = thin_out(np.asarray(matrix, dtype=np.float64))
    pixels = colours_of(shown, -limit, limit, palette.diverging)
    return Still(png(pixels), _describe(matrix, columns, limit, what, block))


def _names(names: list[str], block: int, palette: Palette, *, upright: bool) -> dict:
    """One axis of a matrix: its columns' names, as many as have room, or their numbers where there are many."""
    d = len(names)
    few = d <= MOST_NAMES and block == 1
    axis: dict[str, Any] = {
        "type": "category",
        "constrain": "domain",
        "constraintoward": "top" if upright else "right",  # no gap between the cells and what stands beside them
        "showgrid": False,
        "showline": False,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"size": 11 if d <= 12 else 10, "color": palette.quiet},
    }
    if not few:
        step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, d * block) if d * block / s <= 10)
        marks = [0, *range(step - 1, d * block, step)]
        return axis | {"tickvals": [names[i // block] for i in marks], "ticktext": [str(i + 1) for i in marks]}
    short = {name: cut(name) for name in names if len(unescape(name)) > LETTERS}
    if short:
        axis["labelalias"] = short
    flat = upright or d * max(len(short.get(name, name)) for name in names) <= 36
    return axis | {"tickangle": 0 if flat else -90}


def cut(name: str) -> str:
    """An escaped name of at most LETTERS letters."""
    return safe(unescape(name)[: LETTERS - 1].rstrip() + "\u2026")


def _describe(matrix: np.ndarray, columns: tuple[str, ...], limit: float, what: str, block: int) -> str:
    d = len(matrix)
    text = f"Heatmap of {what}, {d} by {d}, colours from {plain(-limit)} to {plain(limit)}."
    if d > 1:
        off = np.abs(np.triu(matrix, 1))
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        text += f" Largest off-diagonal entry: {plain(float(matrix[i, j]))}, between {columns[i]} and {columns[j]}."
    else:
        text += f" Its one entry is {plain(float(matrix[0, 0]))}."
    return text + (f" Each cell is the mean of {block} by {block} entries." if block > 1 else "")
