"""One visual language: palettes for light and dark, one colour, dash and symbol per method, shared layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import NamedTuple
from zlib import crc32

import plotly.graph_objects as go

from privcov.figures.words import plain  # noqa: F401  every figure takes it from here


class Picture(NamedTuple):
    """A figure and its text alternative."""

    figure: go.Figure
    alt: str


@dataclass(frozen=True)
class Palette:
    """Colours of one theme. ``diverging`` runs negative - zero - positive, zero being the page's ground."""

    dark: bool
    ink: str
    quiet: str
    grid: str
    ground: str
    diverging: tuple[tuple[float, str], ...]
    lines: tuple[str, ...]
    good: str
    bad: str


LIGHT = Palette(
    dark=False,
    ink="#171512",
    quiet="#6B6459",
    grid="#E4DED2",
    ground="#FCFAF6",
    diverging=(
        (0, "#7A3406"),
        (0.2, "#B9652A"),
        (0.4, "#E8BC95"),
        (0.5, "#FBF9F4"),
        (0.6, "#A9D3CD"),
        (0.8, "#2F8981"),
        (1, "#084846"),
    ),
    # Hues near those of Okabe and Ito, the first the accent; their lightness is spread so that every pair stays apart
    # in each kind of colour blindness (tests/figures/test_contrast.py holds them to that).
    lines=("#00716A", "#E56B18", "#788DD2", "#C871A2", "#755914", "#13353D", "#10A55F", "#51271B"),
    good="#00716A",
    bad="#C2500A",
)
DARK = Palette(
    dark=True,
    ink="#E8E4DB",
    quiet="#A39D91",
    grid="#2E3331",
    ground="#0D0F0E",
    diverging=(
        (0, "#FFC48C"),
        (0.2, "#D98442"),
        (0.4, "#6A3F1E"),
        (0.5, "#141716"),
        (0.6, "#1C4744"),
        (0.8, "#3EA398"),
        (1, "#A9F0E6"),
    ),
    lines=("#4FC3B8", "#EF9B51", "#4887CC", "#A66478", "#FDCD3F", "#B9D4FD", "#638C53", "#D4D4A6"),
    good="#4FC3B8",
    bad="#F0965A",
)

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# By how much a round moves on dash and symbol: chosen so that no two methods have both in common.
_TURNS = ((0, 0), (1, 2), (2, 6), (3, 1), (4, 5), (5, 3))
_SHADES = (0.0, 0.45, 0.75)  # towards ink, so contrast with the ground only grows
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
FONT = '"Source Sans", "Source Sans Pro", sans-serif'  # the one Streamlit carries with it


@dataclass(frozen=True)
class Pen:
    """How one series is drawn, everywhere in the app."""

    colour: str
    dash: str
    symbol: str


# Method key -> (colour, round). Methods of one colour differ in dash and symbol; those usually drawn together (the
# additive ones, the spectral ones, the thresholds, the graphs) differ in colour too.
_METHODS = {
    "auto-cov": (0, 0),
    "gaussian-cov": (1, 0),
    "wishart-difference": (2, 0),
    "separate-cov": (3, 0),
    "adaptive-cov": (4, 0),
    "projection": (5, 0),
    "em-cov": (6, 0),
    "coinpress": (7, 0),
    "diagonal": (0, 1),
    "laplace-cov": (5, 1),
    "wishart-approx": (6, 1),
    "wishart-pure": (3, 1),
    "sulq": (4, 1),
    "zero": (7, 1),
    "dp-thresholding": (2, 1),
    "modified-dp-thresholding": (3, 2),
    "ldp-thresholding": (6, 2),
    "modified-ldp-thresholding": (4, 2),
    "auto-precision": (0, 2),
    "glasso-gaussian": (1, 1),
    "ridge-precision": (2, 2),
    "glasso-laplace": (5, 2),
    "glasso-wishart-approx": (6, 3),
    "glasso-wishart-pure": (3, 3),
    "glasso-sulq": (4, 3),
    "output-perturbation": (7, 2),
}


def pen(index: int, palette: Palette) -> Pen:
    """The pen of the index-th line of a chart whose lines are not methods (quantities, guarantees, tables)."""
    return Pen(palette.lines[index % len(palette.lines)], DASHES[index % len(DASHES)], SYMBOLS[index % len(SYMBOLS)])


def pen_of(method: str, palette: Palette, line: int = 0) -> Pen:
    """The pen of a method in every chart: colour, dash and symbol differ, so no meaning rests on colour alone.

    method: its key, settings may follow after a space. line: 0, 1, ... for several lines of one method in one chart
    (its guarantees, its settings); they keep the hue and change shade, dash and symbol. A method this file has never
    heard of gets a pen by its name, so that adding one moves no other.
    """
    key = method.split(" ", maxsplit=1)[0]
    hashed = crc32(key.encode())
    colour, turn = _METHODS.get(key) or (hashed % len(palette.lines), 4 + hashed // 64 % 2)
    dash, symbol = colour + _TURNS[turn][0] + line, colour + _TURNS[turn][1] + 3 * line
    return Pen(shades(colour, palette)[line % len(_SHADES)], DASHES[dash % len(DASHES)], SYMBOLS[symbol % len(SYMBOLS)])


def pens_of(methods: Iterable[str], palette: Palette) -> list[Pen]:
    """`pen_of` for the lines of one chart in order: the second line of a method is its line 1, and so on."""
    seen: Counter[str] = Counter()
    found = []
    for method in methods:
        key = method.split(" ", maxsplit=1)[0]
        found.append(pen_of(key, palette, seen[key]))
        seen[key] += 1
    return found


def shades(colour: int, palette: Palette) -> list[str]:
    """One of the colours of lines as it is, and nearer to the ink, for several lines of one method."""
    return [mixed(palette.lines[colour], palette.ink, share) for share in _SHADES]


def mixed(colour: str, other: str, share: float) -> str:
    """#RRGGBB: (1 - share) of ``colour`` and ``share`` of ``other``."""
    pairs = ((int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)


def wash(colour: str, opacity: float) -> str:
    """A #RRGGBB colour as rgba, for bands."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def safe(text: object) -> str:
    """Column names as text: plotly would read markup in them."""
    return escape(str(text), quote=False)


def draw(
    traces: list, palette: Palette, *, height: int | None, x: dict | None = None, y: dict | None = None, **more
) -> go.Figure:
    """A figure with the shared look: quiet grid, transparent ground, titles of axes carrying units.

    x, y: what an axis has of its own, on top of the shared look. The layout is handed over whole, because changing a
    plotly figure piece by piece costs more than drawing it; and as it is, because plotly's check of it costs twice as
    much again. tests/figures/conftest.py checks every figure that a test draws.
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
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": FONT, "color": palette.ink, "size": 14},
            "hoverlabel": {"font": {"family": FONT, "size": 14}},
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "font": {"size": 13}},
            "xaxis": axis(x),
            "yaxis": axis(y),
            **more,
        },
        _validate=False,
    )
