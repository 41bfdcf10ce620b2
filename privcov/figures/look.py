"""One visual language: palettes for light and dark, one colour, dash and symbol per method, shared layout."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import plotly.graph_objects as go


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
    # Okabe and Ito, reordered so that the first is near the accent; distinct without colour vision.
    lines=("#00716A", "#D55E00", "#0072B2", "#B0568C", "#8A6A00", "#56616B", "#3D8B3D", "#7A4A2A"),
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
    lines=("#4FC3B8", "#F0965A", "#6FB7EA", "#E39AC4", "#E0B84C", "#9FB0C0", "#8FCB76", "#C9AB8B"),
    good="#4FC3B8",
    bad="#F0965A",
)

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
FONT = '"Source Sans", "Source Sans Pro", sans-serif'  # the one Streamlit carries with it


@dataclass(frozen=True)
class Pen:
    """How one series is drawn, everywhere in the app."""

    colour: str
    dash: str
    symbol: str


def pen(index: int, palette: Palette) -> Pen:
    """The pen of the index-th method; colour, dash and symbol differ, so no meaning rests on colour alone."""
    return Pen(palette.lines[index % len(palette.lines)], DASHES[index % len(DASHES)], SYMBOLS[index % len(SYMBOLS)])


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
    plotly figure piece by piece costs more than drawing it.
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
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": FONT, "color": palette.ink, "size": 14},
            "hoverlabel": {"font": {"family": FONT, "size": 14}},
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "font": {"size": 13}},
            "xaxis": axis(x),
            "yaxis": axis(y),
            **more,
        },
    )


def plain(value: float) -> str:
    """A number with three significant digits, without needless zeros or exponents."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"
