"""A figure as it goes into a paper: dark ink on white, a colour bar beside a matrix, fonts every reader has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import plotly
import plotly.graph_objects as go

from privcov.figures.look import DARK, LIGHT, Palette, shades

WIDTH, HEIGHT = 720, 480  # pixels at 96 an inch: 190 mm wide
PNG_SCALE = 3  # 288 pixels an inch
SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"  # what draws it, from the installed package
FONT = "Arial, Helvetica, sans-serif"
_WHITE, _BLACK = "#FFFFFF", "#000000"


def for_paper(figure: go.Figure) -> dict:
    """The figure as plotly's JSON ({"data", "layout"}), with width and height, whatever palette it was drawn in.

    Colours of both palettes become those of the light one; the ground becomes white, the ink black. A matrix, which
    on the page shares one colour bar with its neighbours, gets its own.
    """
    found = _recoloured(json.loads(figure.to_json()))
    layout = found["layout"]
    layout |= {"paper_bgcolor": _WHITE, "plot_bgcolor": _WHITE, "width": WIDTH}
    layout["font"] = {**layout.get("font", {}), "family": FONT}
    layout["height"] = layout.get("height") or HEIGHT
    layout["margin"] = {"l": 20, "r": 20, "t": 40, "b": 20}
    for trace in found["data"]:
        if trace.get("type") == "heatmap" and "zmin" in trace:
            layout["height"] = WIDTH - 100  # square, beside its colour bar
            trace |= {"showscale": True, "colorbar": {"thickness": 14, "outlinewidth": 0, "tickfont": {"size": 12}}}
            for axis in ("xaxis", "yaxis"):  # cells of zero are as white as the paper: a frame says where they end
                frame = {"showline": True, "mirror": True, "linewidth": 1, "linecolor": LIGHT.quiet}
                layout[axis] |= frame | {"tickfont": {"size": 12, "color": _BLACK}}
    return {"data": found["data"], "layout": layout}


def _recoloured(part):
    if isinstance(part, dict):
        return {k: _recoloured(v) for k, v in part.items()}
    if isinstance(part, list):
        return [_recoloured(v) for v in part]
    return _colour(part) if isinstance(part, str) else part


_RGBA = re.compile(r"rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)")


def _colour(text: str) -> str:
    """A colour of a palette as it is on paper; any other text as it is."""
    wash = _RGBA.fullmatch(text)
    if wash:
        plain = "#" + "".join(f"{int(v):02X}" for v in wash.groups()[:3])
        new = _ON_PAPER.get(plain)
        return text if new is None else f"rgba({','.join(str(int(new[i : i + 2], 16)) for i in (1, 3, 5))},{wash[4]})"
    return _ON_PAPER.get(text.upper(), text) if text.startswith("#") else text


def _colours(palette: Palette) -> list[str]:
    scale = [colour for _, colour in palette.diverging]
    lines = [shade for i in range(len(palette.lines)) for shade in shades(i, palette)]
    return [palette.good, palette.bad, *lines, palette.quiet, palette.grid, *scale, palette.ink, palette.ground]


def _table() -> dict[str, str]:
    wanted = _colours(LIGHT)
    wanted[-2:] = [_BLACK, _WHITE]
    middle = [at for at, _ in LIGHT.diverging].index(0.5) - len(LIGHT.diverging) - 2
    wanted[middle] = _WHITE  # zero is the ground
    found = dict(zip(_colours(LIGHT), wanted, strict=True))
    return found | dict(zip(_colours(DARK), wanted, strict=True))


_ON_PAPER = _table()
