"""Export a figure: for a paper, as a page that needs no server, or as the SVG of a report.

The SVG of a report is made here, without a browser. It supports the parts of report figures and refuses anything
else, so that nothing is silently missing from a printed figure.
"""

from __future__ import annotations

import base64
import itertools
import math
import operator
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape, unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from privcov.core.words import plain
from privcov.plots.look import Picture
from privcov.plots.matrices import LETTERS, colours_of, hatching, marks, png
from privcov.plots.palette import LIGHT, WHITE, Palette, channels

_SVG_FONT = "Helvetica, Arial, sans-serif"
_LINE = 22  # pixels of a row of a table
_ABOVE, _SCALE, _STEPS = 6, 48, 32  # pixels above a heatmap, pixels and colours of its colour bar
_NAMED = 40  # columns whose names stand beside a heatmap
_LETTER = 0.58  # approximate width of a letter in units of the font's size

_LISTS = {"data", "shapes", "annotations"}
_PARTS = {"xaxis", "yaxis", "title", "margin", "line", "marker", "font", "textfont"}  # of a figure that may lack them
# Dashes and marks by the names that plotly gives them.
_DASH = {"solid": "", "dash": "9 5", "dot": "2 3", "dashdot": "9 4 2 4", "longdash": "14 6", "longdashdot": "14 5 2 5"}
# Corners in units of half the size; None is a round mark.
_STAR = [
    (math.sin(k * math.pi / 5) * r, -math.cos(k * math.pi / 5) * r) for k in range(10) for r in ((1.15, 0.5)[k % 2],)
]
_CROSS = [(-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35), (0.35, 1), (-0.35, 1),
          (-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)]  # fmt: skip
_CORNERS = {
    "circle": None,
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "triangle-up": [(0, -1.15), (1.05, 0.75), (-1.05, 0.75)],
    "triangle-down": [(0, 1.15), (1.05, -0.75), (-1.05, -0.75)],
    "star": _STAR,
    "pentagon": [(math.sin(k * 0.4 * math.pi), -math.cos(k * 0.4 * math.pi)) for k in range(5)],
    "hexagon": [(math.sin(k * math.pi / 3), -math.cos(k * math.pi / 3)) for k in range(6)],
    "cross": _CROSS,
    "x": [((x - y) * 0.71, (x + y) * 0.71) for x, y in _CROSS],
}


# --- SVG --------------------------------------------------------------------------------------------------------------


class _Part(dict):
    """A part of a figure as plotly's own dictionary, by attributes: plotly validates each access again, which is slow.

    What is not set is None, an empty list or an empty part.
    """

    def __getattr__(self, name: str) -> Any:
        value = self.get(name)
        if name in _LISTS:
            return [_Part(part) for part in value or ()]
        if value is None and name in _PARTS:
            return _Part()
        return _Part(value) if isinstance(value, dict) else value


@dataclass(frozen=True)
class _Axis:
    """One direction, from data to places on the paper. ``ticks`` holds (value, label)."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[tuple[float, str], ...]
    title: str
    visible: bool

    def at(self, value: float) -> float:
        if self.log:
            value = math.log10(value) if value > 0 else math.nan
        return self.between((value - self.low) / (self.high - self.low))

    def between(self, fraction: float) -> float:
        return self.start + float(fraction) * (self.end - self.start)


def svg(picture: Picture, *, width: int = 640, height: int | None = None, palette: Palette = LIGHT) -> str:
    """Return the figure as one <svg> element with its text alternative; TypeError for a trace that it cannot draw.

    Sizes are in CSS pixels; the height is the figure's own unless given, and heatmaps are squares in a row. ``palette``
    is that of the figure.
    """
    markup = _render(picture, width, height)
    for name in ("ink", "quiet", "grid"):  # of axes and words; the other colours are the figure's own
        markup = markup.replace(getattr(LIGHT, name), getattr(palette, name))
    return markup


def _render(picture: Picture, width: int, height: int | None) -> str:
    for trace in picture.figure.data:
        if not isinstance(trace, (go.Scatter, go.Heatmap)):
            raise TypeError(f"a static figure holds lines, marks and heatmaps, not {type(trace).__name__}.")
    traces = [trace.to_plotly_json() for trace in picture.figure.data]
    figure = _Part(data=traces, layout=picture.figure.layout.to_plotly_json())
    heatmaps = [trace for trace in figure.data if trace.type == "heatmap" and trace.zmin is not None]
    if len(heatmaps) > 1:
        return _in_a_row(figure, heatmaps, picture.alt, width)
    if heatmaps:
        if not heatmaps[0].showscale:
            return _wrap(_heatmap(heatmaps[0], width), picture.alt, width, width)
        body, high = _with_axes(heatmaps[0], width)
        return _wrap(body, picture.alt, width, high)
    height = height or figure.layout.height or 400
    legend, legend_height = _legend(figure, width)
    across, up = _axes(figure, width, height, 10 + legend_height)
    frame = (across.start, up.end, across.end - across.start, up.start - up.end)
    parts = [_grid(across, up)]
    parts += [_shape(s, across, up) for s in figure.layout.shapes if s.layer == "below"]
    clip = f"c{zlib.crc32(picture.alt.encode()):x}"
    parts.append(f'<clipPath id="{clip}"><rect x="{frame[0]:.1f}" y="{frame[1]:.1f}" width="{frame[2]:.1f}" '
                 f'height="{frame[3]:.1f}"/></clipPath>')  # fmt: skip
    clipped = f' clip-path="url(#{clip})"' if across.visible else ""
    parts.append(f"<g{clipped}>{''.join(_trace(trace, across, up) for trace in figure.data)}</g>")
    parts += [_shape(s, across, up) for s in figure.layout.shapes if s.layer != "below"]
    parts += [_note(a, across, up) for a in figure.layout.annotations]
    return _wrap("".join([legend, *parts]), picture.alt, width, height)


def _wrap(body: str, alt: str, width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(alt)}" font-family="{_SVG_FONT}">{body}</svg>'
    )


# --- axes -----------------------------------------------------------------------------------------------------------


def _axes(figure: _Part, width: float, height: float, top: float) -> tuple[_Axis, _Axis]:
    x, y = figure.layout.xaxis, figure.layout.yaxis
    visible = x.visible is not False
    level = [s for s in figure.layout.shapes if s.xref == "paper" and s.yref != "paper" and s.type == "line"]
    low_y, high_y = _limits(y, [t.y for t in figure.data] + [[s.y0] for s in level])
    low_x, high_x = _limits(x, [t.x for t in figure.data], pad=0.02)
    margin = figure.layout.margin
    left, bottom = (62.0, 48.0) if visible else (margin.l or 0.0, margin.b or 0.0)
    right, top = max(12.0, margin.r or 0.0), top if visible else top + (margin.b or 0.0)
    box = [left, width - right, height - bottom, top]
    if y.scaleanchor:  # one unit has the same length in both directions
        unit = min((box[1] - box[0]) / (high_x - low_x), (box[2] - box[3]) / (high_y - low_y))
        middle, half_x, half_y = (box[0] + box[1]) / 2, unit * (high_x - low_x) / 2, unit * (high_y - low_y) / 2
        centre = (box[2] + box[3]) / 2
        box = [middle - half_x, middle + half_x, centre + half_y, centre - half_y]
    return (
        _Axis(low_x, high_x, box[0], box[1], x.type == "log", _ticks(x, low_x, high_x), x.title.text or "", visible),
        _Axis(low_y, high_y, box[2], box[3], y.type == "log", _ticks(y, low_y, high_y), y.title.text or "", visible),
    )


def _limits(axis: _Part, values: list, pad: float = 0.05) -> tuple[float, float]:
    """Return the ends in axis units (log10 on a log axis), as the figure gives them or around what is drawn."""
    if axis.range is not None:
        return float(axis.range[0]), float(axis.range[1])
    flat = np.concatenate([np.asarray(v, dtype=np.float64).ravel() for v in values if v is not None and len(v)])
    flat = flat[np.isfinite(flat)]
    if axis.type == "log":
        flat = np.log10(flat[flat > 0])
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (0.0, 1.0)
    if axis.rangemode == "tozero":
        low, high = min(low, 0.0), max(high, 0.0)
    space = pad * (high - low) or 0.5
    return (low if axis.rangemode == "tozero" and low == 0 else low - space), high + space


def _ticks(axis: _Part, low: float, high: float) -> tuple[tuple[float, str], ...]:
    if axis.tickvals is not None:
        words = axis.ticktext if axis.ticktext is not None else [plain(float(v)) for v in axis.tickvals]
        return tuple((float(v), str(w)) for v, w in zip(axis.tickvals, words, strict=True))
    if axis.type == "log":
        steps = (1,) if high - low > 3 else (1, 2, 5)
        decades = range(math.floor(low), math.ceil(high) + 1)
        values = [m * 10.0**e for e in decades for m in steps]
        return tuple((v, plain(v)) for v in values if low <= math.log10(v) <= high)
    step = float(axis.dtick) if isinstance(axis.dtick, (int, float)) else _step(high - low)
    first = math.ceil(low / step - 1e-9)
    values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return tuple((v, f"{v:.3g}") for v in (float(f"{v:.10g}") for v in values))


def _step(width: float) -> float:
    """Return a round step that gives about six ticks."""
    rough = width / 6
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)


def _grid(across: _Axis, up: _Axis) -> str:
    if not across.visible:
        return ""
    parts, free = [], -math.inf
    for value, words in across.ticks:
        x, half = across.at(value), 3.4 * len(words) + 2
        if across.start - 0.5 <= x <= across.end + 0.5:
            parts.append(_line(x, up.start, x, up.end, LIGHT.grid, 1))
            if x - half >= free:  # a name that would lie on the one before is left out
                parts.append(_text(x, up.start + 15, words, "middle", 11.5, LIGHT.quiet))
                free = x + half
    for value, words in up.ticks:
        y = up.at(value)
        if up.end - 0.5 <= y <= up.start + 0.5:
            parts.append(_line(across.start, y, across.end, y, LIGHT.grid, 1))
            parts.append(_text(across.start - 6, y + 4, words, "end", 11.5, LIGHT.quiet))
    parts.append(_text((across.start + across.end) / 2, up.start + 37, across.title, "middle", 12.5))
    middle = (up.start + up.end) / 2
    parts.append(f'<g transform="rotate(-90 13 {middle:.1f})">{_text(13, middle + 4, up.title, "middle", 12.5)}</g>')
    return "".join(parts)


# --- what is drawn --------------------------------------------------------------------------------------------------


def _cells(trace: _Part, across: _Axis, up: _Axis) -> str:
    """Return the words in the cells of a map; the colours of its cells are shapes."""
    markup = ""
    for j, line in enumerate(trace.text):
        for i, words in enumerate(line):
            rows = str(words).split("<br>")
            first = up.at(j) + 4 - 6 * (len(rows) - 1)
            markup += "".join(_text(across.at(i), first + 12 * k, row, "middle", 10) for k, row in enumerate(rows))
    return markup


def _trace(trace: _Part, across: _Axis, up: _Axis) -> str:
    if trace.type == "heatmap":
        return _cells(trace, across, up)
    if trace.visible is False or trace.x is None or trace.y is None:
        return ""
    points = [
        (across.at(float(x)), up.at(float(y))) if x is not None and y is not None else (math.nan, math.nan)
        for x, y in zip(trace.x, trace.y, strict=True)
    ]
    mode, markup = trace.mode or "lines", ""
    if trace.fill:
        ends = [point for point in points if all(map(math.isfinite, point))]
        if trace.fill == "tozeroy":
            ends = [(points[0][0], up.at(0.0)), *ends, (points[-1][0], up.at(0.0))]
        elif trace.fill != "toself":
            raise TypeError(f"a static figure fills closed lines only, not {trace.fill}.")
        markup += f'<path d="{_way(ends)}z" fill="{trace.fillcolor}"/>'
    if "lines" in mode and trace.line.width != 0:
        markup += _path(points, trace.line.color, trace.line.dash, trace.line.width or 2)
    if "markers" in mode and trace.marker.opacity != 0:
        markup += _looking_alike(_marks(trace, points))
    if "text" in mode and trace.text is not None:
        above = str(trace.textposition or "").startswith("top")
        size, colour = trace.textfont.size or 11, trace.textfont.color or LIGHT.ink
        for (x, y), words in zip(points, trace.text, strict=True):
            markup += _text(x, y - 9 if above else y + 4, words, "middle", size * 0.95, colour)
    return markup


def _path(points: list, colour: str, dash: str | None, width: float) -> str:
    pattern = _DASH.get(dash or "solid")
    dashes = f' stroke-dasharray="{pattern}"' if pattern else ""
    return f'<path d="{_way(points)}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashes}/>'


def _way(points: Iterable[tuple[float, float]]) -> str:
    """Return the steps from point to point, broken where one is missing."""
    steps, before = [], None
    for point in points:
        if not all(map(math.isfinite, point)):
            before = None
            continue
        x, y = (f"{place:.1f}".removesuffix(".0") for place in point)
        if before is None:
            steps.append(f"M{x} {y}")
        elif before != (x, y):
            steps.append(f"V{y}" if before[0] == x else f"H{x}" if before[1] == y else f"L{x} {y}")
        before = x, y
    return "".join(steps)


def _marks(trace: _Part, points: list) -> list[tuple[str, str]]:
    """Return (look, shape) of every mark."""

    def each(value: Any) -> Callable[[int], Any]:
        is_list = isinstance(value, (list, tuple, np.ndarray))
        return lambda i: value[i] if is_list else value

    symbol, size, colour = each(trace.marker.symbol), each(trace.marker.size), each(trace.marker.color)
    line = trace.marker.line
    return [
        part
        for i, (x, y) in enumerate(points)
        if math.isfinite(x) and math.isfinite(y)
        for part in _mark(
            str(symbol(i) or "circle"), x, y, float(size(i) or 6), str(colour(i) or LIGHT.ink), line.color, line.width
        )
    ]


def _looking_alike(marks: Iterable[tuple[str, str]]) -> str:
    """Return marks as SVG, neighbours of one look in one group."""
    groups = itertools.groupby(marks, key=operator.itemgetter(0))
    return "".join(f"<g {look}>{''.join(shape for _, shape in group)}</g>" for look, group in groups)


def _mark(
    symbol: str, x: float, y: float, size: float, colour: str, edge: str | None, width: float | None
) -> list[tuple[str, str]]:
    """Return (look, shape) of one mark, an outline for -open and a point more for -dot.

    Raises KeyError for an unknown symbol.
    """
    if symbol.endswith("-dot"):
        outline = _mark(symbol.removesuffix("-dot"), x, y, size, colour, edge, width)
        return outline + _mark("circle", x, y, max(size / 4, 2.0), colour, None, None)
    hollow = symbol.endswith("-open")
    corners = _CORNERS[symbol.removesuffix("-open")]
    half = size / 2
    look = f'fill="{"none" if hollow else colour}"'
    if hollow or width:
        look += f' stroke="{colour if hollow else edge}" stroke-width="{width or 1.4:g}"'
    if corners is None:
        return [(look, f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:g}"/>')]
    (left, top), *_ = corners
    onward = "".join(
        f"l{half * (a - c):.1f} {half * (b - d):.1f}".replace(".0", "")
        for (a, b), (c, d) in zip(corners[1:], corners, strict=False)
    )
    return [(look, f'<path d="{_way([(x + half * left, y + half * top)])}{onward}z"/>')]


def _shape(shape: _Part, across: _Axis, up: _Axis) -> str:
    if shape.type == "path":
        ends = [float(word) for word in re.findall(r"-?[\d.]+(?:e-?\d+)?", shape.path)]
        strokes = zip(*[iter(ends)] * 4, strict=True)
        return "".join(
            _line(across.at(a), up.at(b), across.at(c), up.at(d), shape.line.color, shape.line.width)
            for a, b, c, d in strokes
        )
    x0, x1 = (across.between(v) if shape.xref == "paper" else across.at(v) for v in (shape.x0, shape.x1))
    if shape.xsizemode == "pixel":
        x0, x1 = (across.between(shape.xanchor) + v for v in (shape.x0, shape.x1))
    y0, y1 = (up.between(v) if shape.yref == "paper" else up.at(v) for v in (shape.y0, shape.y1))
    if shape.type == "rect":
        y0, y1 = (min(max(y, up.end), up.start) for y in (y0, y1))
        edge = f' stroke="{shape.line.color}" stroke-width="{shape.line.width:g}"' if shape.line.width else ""
        return (
            f'<rect x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" '
            f'height="{abs(y1 - y0):.1f}" fill="{shape.fillcolor}" opacity="{shape.opacity or 1:g}"{edge}/>'
        )
    if not up.end - 1 <= min(y0, y1) <= max(y0, y1) <= up.start + 1:
        return ""
    return _line(x0, y0, x1, y1, shape.line.color, shape.line.width or 1, shape.line.dash)


def _note(note: _Part, across: _Axis, up: _Axis) -> str:
    x = across.between(note.x) if note.xref == "paper" else across.at(10.0 ** float(note.x) if across.log else note.x)
    x += note.xshift or 0
    y = up.between(note.y) if note.yref == "paper" else up.at(10.0 ** float(note.y) if up.log else float(note.y))
    if not up.end - 1 <= y <= up.start + 1:
        return ""
    anchor = {"left": "start", "right": "end"}.get(note.xanchor or "", "middle")
    y += {"bottom": -4, "top": 13}.get(note.yanchor or "", 4)
    lines = str(note.text).split("<br>")
    y -= 6.5 * (len(lines) - 1) * {"top": 0, "bottom": 2}.get(note.yanchor or "", 1)
    colour = note.font.color or LIGHT.quiet
    return "".join(_text(x, y + 13 * k, line, anchor, 11, colour) for k, line in enumerate(lines))


def _legend(figure: _Part, width: float) -> tuple[str, float]:
    """Return (markup, height) of the legend: entries side by side, in as many lines as they need."""
    if figure.layout.showlegend is False:
        return "", 0.0
    entries, x, y = [], 62.0, 14.0
    for trace in figure.data:
        if trace.showlegend is False or not trace.name:
            continue
        words = unescape(trace.name)
        wide = 34 + len(words) * 11.5 * _LETTER + 14
        if x + wide > width and x > 62:
            x, y = 62.0, y + 17
        if trace.fill:
            entries.append(f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="26" height="10" fill="{trace.fillcolor}"/>')
        elif "lines" in (trace.mode or "lines"):
            entries.append(_line(x, y - 4, x + 26, y - 4, trace.line.color, trace.line.width or 2, trace.line.dash))
        if "markers" in (trace.mode or ""):
            symbol, line = trace.marker.symbol, trace.marker.line
            symbol = symbol[0] if isinstance(symbol, (list, tuple, np.ndarray)) else symbol
            mark = _mark(str(symbol or "circle"), x + 13, y - 4, 7, str(trace.marker.color), line.color, line.width)
            entries.append(_looking_alike(mark))
        entries.append(_text(x + 31, y, words, "start", 11.5))
        x += wide
    return "".join(entries), y + 6 if entries else 0.0


def _line(x0: float, y0: float, x1: float, y1: float, colour: str, width: float, dash: str | None = None) -> str:
    return _path([(x0, y0), (x1, y1)], colour, dash, width)


def _text(x: float, y: float, words: Any, anchor: str, size: float, colour: str = LIGHT.ink) -> str:
    text = escape(unescape(str(words)).replace("<br>", " "))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:.3g}" fill="{colour}">{text}</text>'


def _in_a_row(figure: _Part, heatmaps: list[_Part], alt: str, width: float) -> str:
    """Return heatmaps side by side where their axes have them, with titles, numbers in the cells and framed rows."""
    titles = {note.xref.removesuffix(" domain"): note.text for note in figure.layout.annotations}
    parts, height, top = [], 0.0, 36 if figure.layout.xaxis.visible else 22  # room for the names of columns
    for trace in heatmaps:
        axis, (rows, columns) = trace.xaxis or "x", np.shape(trace.z)
        left, right = (width * end for end in getattr(figure.layout, axis.replace("x", "xaxis")).domain)
        wide = right - left
        high = wide if rows == columns else rows * _LINE
        across, up = wide / columns, high / rows
        elements = [_heatmap(trace, wide, high)]
        if top > 22:
            elements += [_text((j + 0.5) * across, -4, name, "middle", 11) for j, name in enumerate(trace.x)]
        for numbers in (t for t in figure.data if t.type == "scatter" and (t.xaxis or "x") == axis):
            for k, (words, colour) in enumerate(zip(numbers.text, numbers.textfont.color, strict=True)):
                i, j = divmod(k, columns)
                elements.append(_text((j + 0.5) * across, (i + 0.5) * up + 4, words, "middle", 11, colour))
        for shape in figure.layout.shapes:
            if shape.xref == axis:
                elements.append(
                    f'<rect x="0" y="{(shape.y0 + 0.5) * up:.1f}" width="{wide:.1f}" '
                    f'height="{(shape.y1 - shape.y0) * up:.1f}" fill="none" stroke="{LIGHT.ink}" stroke-width="2.5"/>'
                )
        parts.append(_text((left + right) / 2, 14, titles.get(axis, ""), "middle", 12.5))
        parts.append(f'<g transform="translate({left:.1f} {top})">{"".join(elements)}</g>')
        height = max(height, top + high)
    return _wrap("".join(parts), alt, width, round(height + 2))


def _with_axes(trace: _Part, width: float) -> tuple[str, float]:
    """Return a heatmap with the names of its columns and its colour bar, and the height."""
    names = [unescape(str(name)) for name in trace.y]
    names = [name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…" for name in names]
    room = 8 + 6.5 * max(map(len, names)) if len(names) <= _NAMED else 4
    side = width - room - _SCALE
    cell = side / len(names)
    parts = [f'<g transform="translate({room:.1f} {_ABOVE})">{_heatmap(trace, side)}</g>']
    for k, name in enumerate(names if len(names) <= _NAMED else []):
        at, size = (k + 0.5) * cell, min(10.0, cell)
        parts.append(_text(room - 4, _ABOVE + at + size / 3, name, "end", size))
        x, y = room + at + size / 3, _ABOVE + side + 4
        parts.append(f'<g transform="translate({x:.1f} {y:.1f}) rotate(-90)">{_text(0, 0, name, "end", size)}</g>')
    limit, left = float(trace.zmax), room + side + 8
    steps = np.linspace(limit, -limit, _STEPS)
    for k, colour in enumerate(colours_of(steps, -limit, limit, trace.colorscale)):
        fill = "#" + "".join(f"{channel:02x}" for channel in colour)
        high = side / _STEPS
        parts.append(
            f'<rect x="{left:.1f}" y="{_ABOVE + k * high:.2f}" width="8" height="{high + 0.5:.2f}" fill="{fill}"/>'
        )
    for mark in marks(limit):
        y = _ABOVE + side * (limit - mark) / (2 * limit) + 3
        parts.append(_text(left + 12, y, f"{mark:g}", "start", 9))
    return "".join(parts), round(_ABOVE + side + room)


def _heatmap(trace: _Part, side: float, height: float | None = None) -> str:
    """Return the cells as a PNG of one pixel each, which the browser enlarges without smoothing; square unless told."""
    z = np.asarray(trace.z, dtype=np.float64)
    pixels = colours_of(np.nan_to_num(z), trace.zmin, trace.zmax, trace.colorscale)
    pixels[np.isnan(z)] = channels(WHITE)
    across, up = side / z.shape[1], (height or side) / z.shape[0]
    path = hatching(z, 0)
    strokes = (
        f'<path d="{path}" transform="scale({across:.4f} {up:.4f})" stroke="{LIGHT.quiet}" '
        'vector-effect="non-scaling-stroke"/>'
    )
    return (
        f'<image width="{side:g}" height="{height or side:g}" preserveAspectRatio="none" '
        f'style="image-rendering: pixelated" href="data:image/png;base64,{base64.b64encode(png(pixels)).decode()}"/>'
        f"{strokes if path else ''}"
    )
