"""The shared look of all figures: one colour, dash and symbol per method; lines, bands, notes and layout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import plotly.graph_objects as go

from privcov.core.words import plain
from privcov.plots.palette import CLEAR, Palette, shades, wash


class Picture(NamedTuple):
    """A figure and its text alternative."""

    figure: go.Figure
    alt: str


DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon", "triangle-down")
FONT = '"Source Sans", "Source Sans Pro", sans-serif'  # comes with Streamlit


@dataclass(frozen=True)
class Pen:
    """How one series is drawn, everywhere in the app."""

    colour: str
    dash: str
    symbol: str

    def line(self, width: float) -> dict[str, Any]:
        """Return the value of a trace's ``line``."""
        return {"color": self.colour, "dash": self.dash, "width": width}

    def marker(self, size: float) -> dict[str, Any]:
        """Return the value of a trace's ``marker``."""
        return {"color": self.colour, "symbol": self.symbol, "size": size}


# Method key -> places of its colour, dash and symbol. Methods of one colour differ in dash and symbol; those usually
# drawn together (the additive ones, the spectral ones, the thresholds, the graphs) differ in colour too. Methods of one
# target that share a symbol have colours far apart (tests/plots/test_contrast.py).
_METHODS = {
    "auto-cov": (0, 0, 0),
    "gaussian-cov": (1, 1, 1),
    "wishart-difference": (2, 2, 2),
    "separate-cov": (3, 3, 3),
    "adaptive-cov": (4, 4, 4),
    "projection": (5, 5, 5),
    "em-cov": (6, 0, 6),
    "coinpress": (7, 1, 7),
    "diagonal": (0, 1, 2),
    "laplace-cov": (5, 0, 8),
    "wishart-approx": (6, 1, 8),
    "wishart-pure": (3, 4, 5),
    "sulq": (4, 5, 6),
    "zero": (7, 2, 1),
    "dp-thresholding": (2, 3, 4),
    "modified-dp-thresholding": (3, 5, 1),
    "ldp-thresholding": (6, 2, 4),
    "modified-ldp-thresholding": (4, 0, 2),
    "auto-precision": (0, 2, 6),
    "glasso-gaussian": (1, 2, 3),
    "ridge-precision": (2, 4, 0),
    "glasso-laplace": (5, 1, 3),
    "glasso-wishart-approx": (6, 3, 7),
    "glasso-wishart-pure": (3, 0, 4),
    "glasso-sulq": (4, 1, 0),
    "output-perturbation": (7, 3, 5),
}


def pen(index: int, palette: Palette) -> Pen:
    """Return the pen of the index-th line of a chart whose lines are not methods (quantities, guarantees, tables)."""
    return Pen(palette.lines[index % len(palette.lines)], DASHES[index % len(DASHES)], SYMBOLS[index % len(SYMBOLS)])


def pen_of(method: str, palette: Palette, line: int = 0) -> Pen:
    """Return the pen of a method in every chart: colour, dash and symbol differ, so no meaning rests on colour alone.

    Settings may follow the key after a space; ``line`` counts lines of one method, which keep the hue. A method that is
    not listed gets a pen by its name, so that adding one changes no other.
    """
    key = method.split(" ", maxsplit=1)[0]
    hashed = crc32(key.encode())
    colour, dash, symbol = _METHODS.get(key) or (hashed % len(palette.lines), hashed // 8, hashed // 64)
    own = shades(colour, palette)
    symbol += 2 * line + line // len(SYMBOLS)  # every shade meets every symbol before one comes back
    return Pen(own[line % len(own)], DASHES[(dash + line) % len(DASHES)], SYMBOLS[symbol % len(SYMBOLS)])


def pens_of(methods: Iterable[str], palette: Palette) -> list[Pen]:
    """Return `pen_of` for the lines of one chart in order; no two of them have both colour and symbol in common."""
    keys = [method.split(" ", maxsplit=1)[0] for method in methods]
    styles = {key: pen_of(key, palette) for key in keys}
    used_pairs = {(style.colour, style.symbol) for style in styles.values()}
    line = dict.fromkeys(keys, 0)
    pens = []
    for place, key in enumerate(keys):
        if key in keys[:place]:  # passes over what another line has taken, as long as anything is free
            most = line[key] + len(keys) * len(SYMBOLS)
            while line[key] < most and (styles[key].colour, styles[key].symbol) in used_pairs:
                line[key] += 1
                styles[key] = pen_of(key, palette, line[key])
            used_pairs.add((styles[key].colour, styles[key].symbol))
        pens.append(styles[key])
    return pens


def hline(y: float, colour: str, dash: str, width: float) -> dict[str, Any]:
    """Return a line across the whole figure, as a shape."""
    line = {"color": colour, "dash": dash, "width": width}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def vline(x: float, colour: str, dash: str, width: float) -> dict[str, Any]:
    """Return a line from the foot to the top of the figure, as a shape."""
    line = {"color": colour, "dash": dash, "width": width}
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def band(
    fill: str, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a rectangle below the traces, as a shape; x and y are its ends, and a direction without ends is filled."""
    across = {"xref": "paper", "x0": 0, "x1": 1} if x is None else {"x0": x[0], "x1": x[1]}
    up = {"yref": "paper", "y0": 0, "y1": 1} if y is None else {"y0": y[0], "y1": y[1]}
    return {"type": "rect", **across, **up, "fillcolor": fill, "line": {"width": 0}, "layer": "below", **more}


def note(text: str, colour: str, x: float, y: float, *, size: int = 13, **more: Any) -> dict[str, Any]:
    """Return words on the figure, without an arrow; on a logarithmic axis x and y are powers of ten."""
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": {"size": size, "color": colour}, **more}


def scatter(**properties: Any) -> go.Scatter:
    """Return a trace of lines or marks without plotly's validation, which costs six times as much; see `draw`."""
    return go.Scatter(**properties, _validate=False)


def ribbon(x: np.ndarray, low: Any, high: Any, colour: str, opacity: float, **more: Any) -> go.Scatter:
    """Return the area between two curves over rising x, as a trace under its line."""
    return scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        fill="toself",
        fillcolor=wash(colour, opacity),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        **more,
    )


def dotted(x: Sequence[float] | np.ndarray, y: Any, palette: Palette, width: float, **more: Any) -> go.Scatter:
    """Return a quiet dotted line to compare with, such as the line of guessing, as a trace."""
    line = {"color": palette.faint, "dash": "dot", "width": width}
    return scatter(x=x, y=y, mode="lines", line=line, **more)


def entry(name: str, marker: dict[str, Any], **more: Any) -> go.Scatter:
    """Return a mark that is only in the legend, or has no place yet, as a trace."""
    return scatter(x=[None], y=[None], mode="markers", name=name, marker=marker, **more)


def ticks(values: Any) -> dict[str, Any]:
    """Return the settings of an axis with ticks at these values, as plain numbers."""
    return {"tickvals": values, "ticktext": [plain(v) for v in values]}


def draw(
    traces: list, palette: Palette, *, height: int | None, x: dict | None = None, y: dict | None = None, **more: Any
) -> go.Figure:
    """Return a figure with the shared look: quiet grid, transparent ground, axis titles with units.

    ``x`` and ``y`` are settings of one axis on top. For speed the layout is passed as a whole and without plotly's
    validation; tests/plots/conftest.py validates every figure that a test draws.
    """
    tick, title = {"color": palette.quiet, "size": 13}, {"size": 14}

    def axis(own: dict | None) -> dict:
        own = dict(own or {})
        return {
            "gridcolor": palette.grid,
            "zerolinecolor": palette.grid,
            "linecolor": palette.quiet,
            "tickfont": tick,
            "automargin": True,
            **own,
            "title": {"text": own.get("title", ""), "font": title},
        }

    return go.Figure(
        traces,
        {
            "height": height,
            "margin": {"l": 10, "r": 10, "t": 30, "b": 10},
            "template": {},
            "paper_bgcolor": palette.ground,  # also of a chart that is saved
            "plot_bgcolor": CLEAR,
            "font": {"family": FONT, "color": palette.ink, "size": 14},
            "hoverlabel": {"font": {"family": FONT, "size": 14}},
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "font": {"size": 13}},
            "xaxis": axis(x),
            "yaxis": axis(y),
            **more,
        },
        _validate=False,
    )
