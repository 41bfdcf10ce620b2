"""Draw which method wins where: a map of cells in the colours of the best methods, every cell also named in words."""

from __future__ import annotations

import math
import textwrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from privcov.figures.look import Picture, band, draw, entry, pen_of
from privcov.figures.palette import CLEAR, Palette, wash
from privcov.figures.words import plain, safe

FULL = 2.0  # a margin of this ratio has the full colour
PALE, STRONG = 0.16, 0.4  # opacity of a margin of 1 and of FULL: text in the page's ink stays readable on both
HATCHES = 5
_ROOM = 6  # cells beside each other with room for a line of numbers


def winner_map(
    table: pd.DataFrame,
    palette: Palette,
    *,
    x: str,
    y: str,
    x_label: str,
    y_label: str,
    order: list[str],
    labels: dict[str, str],
    story: str,
    trivial: tuple[str, ...] = (),
) -> Picture:
    """Draw a cell per row of ``table``, as `winners` returns it, in the colour of the best method.

    The colour deepens with the margin; a cell without a clear winner is hatched and names the methods that share it.
    ``order`` is that of the legend; ``trivial`` methods are grey. ``story`` is the map in words, for the text
    alternative.
    """
    xs, ys = sorted(table[x].unique()), sorted(table[y].unique())
    column, line = {v: i for i, v in enumerate(xs)}, {v: i for i, v in enumerate(ys)}
    texts = np.full((len(ys), len(xs)), "", dtype=object)
    hover = texts.copy()
    shapes = []
    width = max(9, 96 // len(xs))
    for row in table.to_dict("records"):
        i, j = column[row[x]], line[row[y]]
        texts[j, i] = _cell(row, labels, width) + (_oracle(row) if len(xs) <= _ROOM else "")
        hover[j, i] = _hover(row, labels, x, y)
        colour = None
        if row["clear"]:
            colour = palette.quiet if row["winner"] in trivial else pen_of(row["winner"], palette).colour
        shapes += _paint(i, j, colour, _strength(row["ratio"]), palette)
    cells = go.Heatmap(  # invisible: it holds the words and the hover text
        z=np.zeros(texts.shape),
        text=texts,
        customdata=hover,
        texttemplate="%{text}",
        textfont={"size": 13, "color": palette.ink},
        colorscale=[[0, CLEAR], [1, CLEAR]],
        showscale=False,
        hovertemplate="%{customdata}<extra></extra>",
    )
    shown = set(table.loc[table["clear"], "winner"])
    legend = [_key(m, labels, trivial, palette) for m in [*order, *trivial] if m in shown]
    figure = draw(
        [cells, *legend], palette, height=120 + 84 * len(ys), shapes=shapes, x=_axis(xs, x_label), y=_axis(ys, y_label)
    )
    return Picture(figure, f"Map of the best method over {x_label} and {y_label}. {story}")


def _strength(ratio: float) -> float:
    if not math.isfinite(ratio):
        return STRONG
    return PALE + (STRONG - PALE) * min(1.0, max(0.0, math.log(ratio) / math.log(FULL)))


def _cell(row: dict, labels: dict[str, str], width: int) -> str:
    if not row["winner"]:
        return "no matrix"
    if row["clear"]:
        lines = [*_wrap(row["winner"], labels, width), _times(row["ratio"])]
        return "<br>".join(line for line in lines if line)
    rivals = [row["winner"], *row["rivals"]]
    if len(rivals) > 2:
        return "<br>".join(["no clear winner", f"among {len(rivals)}"])
    return "<br>".join(["no clear winner", *_wrap(rivals[0], labels, width), *_wrap(rivals[1], labels, width)])


def _oracle(row: dict) -> str:
    """Return the line of a cell with its smallest error and the oracle's, or nothing where that is not known."""
    known = row["winner"] and math.isfinite(row["oracle"])
    return f"<br>{plain(row['error'])}, oracle {plain(row['oracle'])}" if known else ""


def _wrap(method: str, labels: dict[str, str], width: int) -> list[str]:
    return [safe(line) for line in textwrap.wrap(labels.get(method, method), width)]


def _times(ratio: float) -> str:
    """Return the margin as text; empty where no other method gave a matrix."""
    if math.isnan(ratio):
        return ""
    if not math.isfinite(ratio):
        return "no error"
    if ratio < 1.01:
        return "by less than 1 %"
    return f"{ratio:.2f} ×" if ratio < 10 else f"{plain(ratio)} ×"


def _hover(row: dict, labels: dict[str, str], x: str, y: str) -> str:
    text = [f"{x} = {row[x]:,.6g}, {y} = {row[y]:,.6g}"]
    if row["winner"]:
        text.append(f"{safe(labels.get(row['winner'], row['winner']))}: error {plain(row['error'])}")
    if row["runner_up"]:
        text.append(f"next {safe(labels.get(row['runner_up'], row['runner_up']))}: error {plain(row['second'])}")
    if math.isfinite(row["oracle"]):
        text.append(f"oracle of the eigenvalues: error {plain(row['oracle'])}")
    if row["rivals"]:
        text.append("not clearly better than " + safe(", ".join(labels.get(m, m) for m in row["rivals"])))
    if row["absent"]:
        text.append("no matrix: " + safe(", ".join(labels.get(m, m) for m in row["absent"])))
    return "<br>".join(text)


def _paint(i: int, j: int, colour: str | None, strength: float, palette: Palette) -> list[dict]:
    """Return the ground of one cell: a wash of the winner's colour, or hatching where no method clearly wins."""
    edge = {"color": palette.ground, "width": 3}
    fill = CLEAR if colour is None else wash(colour, strength)
    box = band(fill, x=(i - 0.5, i + 0.5), y=(j - 0.5, j + 0.5), line=edge)
    if colour is not None:
        return [box]
    # Parallel strokes from the lower left to the upper right, cut at the border.
    strokes = []
    for k in range(1, 2 * HATCHES):
        a = k / HATCHES
        start, end = (max(0.0, a - 1), min(1.0, a)), (min(1.0, a), max(0.0, a - 1))
        strokes.append(f"M {i - 0.5 + start[0]} {j - 0.5 + start[1]} L {i - 0.5 + end[0]} {j - 0.5 + end[1]}")
    hatch = {"type": "path", "path": " ".join(strokes), "line": {"color": palette.grid, "width": 1}, "layer": "below"}
    return [hatch, box]


def _key(method: str, labels: dict[str, str], trivial: tuple[str, ...], palette: Palette) -> go.Scatter:
    colour = palette.quiet if method in trivial else pen_of(method, palette).colour
    return entry(safe(labels.get(method, method)), {"symbol": "square", "size": 13, "color": colour})


def _axis(values: list, title: str) -> dict:
    return {
        "title": title,
        "tickvals": list(range(len(values))),
        "ticktext": [f"{v:,}" if float(v).is_integer() and v >= 1 else plain(v) for v in values],
        "range": [-0.5, len(values) - 0.5],
        "showgrid": False,
        "zeroline": False,
    }
