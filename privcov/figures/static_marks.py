"""Dashes and marks of static figures, by the names that plotly gives them."""

from __future__ import annotations

import math

DASH = {
    "solid": "",
    "dash": "9 5",
    "dot": "2 3",
    "dashdot": "9 4 2 4",
    "longdash": "14 6",
    "longdashdot": "14 5 2 5",
}
# Corners in units of half the size; None is a round mark.
_STAR = [
    (math.sin(k * math.pi / 5) * r, -math.cos(k * math.pi / 5) * r) for k in range(10) for r in ((1.15, 0.5)[k % 2],)
]
_CORNERS = {
    "circle": None,
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "triangle-up": [(0, -1.15), (1.05, 0.75), (-1.05, 0.75)],
    "star": _STAR,
    "pentagon": [(math.sin(k * 0.4 * math.pi), -math.cos(k * 0.4 * math.pi)) for k in range(5)],
    "hexagon": [(math.sin(k * math.pi / 3), -math.cos(k * math.pi / 3)) for k in range(6)],
    "cross": [(-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35), (0.35, 1), (-0.35, 1),
              (-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)],
}  # fmt: skip
_CORNERS["x"] = [((x - y) * 0.71, (x + y) * 0.71) for x, y in _CORNERS["cross"]]


def mark(symbol: str, x: float, y: float, size: float, colour: str, edge: str | None, width: float | None) -> str:
    """One mark as SVG. A symbol ending in -open is drawn as its outline. Raises KeyError for an unknown symbol."""
    hollow = symbol.endswith("-open")
    corners = _CORNERS[symbol.removesuffix("-open")]
    half = size / 2
    look = f'fill="{"none" if hollow else colour}"'
    if hollow or width:
        look += f' stroke="{colour if hollow else edge}" stroke-width="{width or 1.4:g}"'
    if corners is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:.2f}" {look}/>'
    ends = " ".join(f"{x + half * a:.1f},{y + half * b:.1f}" for a, b in corners)
    return f'<polygon points="{ends}" {look}/>'
