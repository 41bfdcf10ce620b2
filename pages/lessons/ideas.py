"""The idea of a lesson as one moving drawing, before its first number: SVG that moves by its own style sheet.

It moves for some twelve seconds, and not at all where the visitor wants no motion or on paper; then its last state
stands still.
"""

from __future__ import annotations

import base64
from itertools import product

from privcov.plots.palette import Palette


def neighbour(palette: Palette) -> str:
    """Return one row of a table that becomes another person's, beside a release that trembles as before."""
    table = [
        _box(20 + 24 * j, 8 + 11 * i, 22, 9, palette.grid, "swap" if i == 2 else "")
        for i, j in product(range(5), range(4))
    ]
    cells = [
        _box(
            230 + 14 * j,
            8 + 14 * i,
            13,
            13,
            palette.good if i == j else palette.bad,
            "cell",
            0.23 * (7 * min(i, j) + 5 * max(i, j)),
        )
        for i, j in product(range(4), repeat=2)
    ]
    style = (
        f".swap{{fill:{palette.good};animation:swap 3s steps(1) 4}}@keyframes swap{{50%{{fill:{palette.bad}}}}}"
        ".cell{opacity:.6;animation:cell 1.3s ease-in-out 9 alternate}"
        "@keyframes cell{from{opacity:.25}to{opacity:.9}}"
    )
    words = "One row of a table becomes another person's, and the release trembles as much as before."
    below = {68: "one row is exchanged", 258: "the noise hides it"}
    return _image(palette, words, style, [*table, *cells, _arrow(palette, 140)], below)


def longest(palette: Palette) -> str:
    """Return a row that doubles, beside what one row can change, which becomes four times as large."""
    tiles = [
        _box(250 + 26 * i, 36 - 26 * j, 25, 25, palette.bad, "tile" if i or j else "")
        for i, j in product(range(2), repeat=2)
    ]
    row = _box(20, 42, 104, 12, palette.good, "row")
    style = (
        ".row{transform-origin:20px 0;animation:row 4s ease-in-out 3 alternate}"
        "@keyframes row{0%,30%{transform:scaleX(.5)}70%,100%{transform:none}}"
        ".tile{animation:tile 4s ease-in-out 3 alternate}@keyframes tile{0%,40%{opacity:0}70%,100%{opacity:1}}"
    )
    words = "The longest row doubles, and what one row can change becomes four times as large."
    below = {72: "a row twice as long", 276: "four times the change"}
    return _image(palette, words, style, [row, *tiles, _arrow(palette, 150)], below)


def crowd(palette: Palette) -> str:
    """Return four times the people, beside a quarter of the privacy noise and half of the sampling error."""
    people = [
        _box(22 + 13 * j, 10 + 13 * i, 8, 8, palette.faint, "more" if j > 1 else "")
        for i, j in product(range(4), range(8))
    ]
    bars = [_box(192, 48.5, 40, 13.5, palette.good, "noise"), _box(286, 35, 40, 27, palette.lines[3], "sample")]
    style = (
        ".more{animation:more 4s ease-in-out 3 alternate}@keyframes more{0%,30%{opacity:0}70%,100%{opacity:1}}"
        ".noise,.sample{transform-origin:0 62px;animation:noise 4s ease-in-out 3 alternate}"
        ".sample{animation-name:sample}"
        "@keyframes noise{0%,30%{transform:scaleY(4)}70%,100%{transform:none}}"
        "@keyframes sample{0%,30%{transform:scaleY(2)}70%,100%{transform:none}}"
    )
    words = "Four times the people: a quarter of the privacy noise, half of the sampling error."
    below = {72: "four times the people", 212: "privacy noise", 306: "sampling error"}
    return _image(palette, words, style, [*people, *bars], below)


def cut(palette: Palette) -> str:
    """Return entries that tremble with noise, and a rising cut that removes what is no larger than the noise."""
    real = {2: 46, 7: 36, 11: 52}
    bars = []
    for k in range(13):
        high, colour = real.get(k, 9 + 5 * k % 7), palette.good if k in real else palette.bad
        bar = _box(24 + 26 * k, 62 - high, 16, high, colour, "shake", 0.17 * k)
        bars.append(bar if k in real else f'<g class="gone">{bar}</g>')
    line = f'<path d="M14 42H352" stroke="{palette.ink}" stroke-width="1.5" stroke-dasharray="5 4" class="line"/>'
    style = (
        ".shake{transform-origin:0 62px;animation:shake .5s ease-in-out 30 alternate}"
        "@keyframes shake{from{transform:scaleY(.8)}to{transform:scaleY(1.15)}}"
        ".line{animation:line 5s ease-in-out 3 alternate}"
        "@keyframes line{0%,25%{transform:translateY(20px)}75%,100%{transform:none}}"
        ".gone{opacity:.12;animation:gone 5s ease-in-out 3 alternate}"
        "@keyframes gone{0%,40%{opacity:1}75%,100%{opacity:.12}}"
    )
    words = "Every entry trembles with noise; a rising cut removes what is no larger than the noise."
    return _image(palette, words, style, [*bars, line], {180: "a cut just above the noise leaves what is real"})


def _box(x: float, y: float, wide: float, high: float, fill: str, kind: str, before: float = 0.0) -> str:
    """Return a rectangle of a class of the style sheet, whose motion is some seconds ahead."""
    place = f'x="{x}" y="{y}" width="{wide}" height="{high}" fill="{fill}"'
    return f'<rect {place} class="{kind}" style="animation-delay:-{before:.2f}s"/>'


def _arrow(palette: Palette, left: int) -> str:
    return f'<path d="M{left} 36h75m-6 -5l6 5l-6 5" fill="none" stroke="{palette.quiet}" stroke-width="1.5"/>'


def _image(palette: Palette, words: str, style: str, shapes: list[str], below: dict[int, str]) -> str:
    """Return the drawing as an image of HTML, with short texts below it at their middles, and words in its place."""
    texts = "".join(f'<text x="{x}" y="81">{text}</text>' for x, text in below.items())
    still = "@media (prefers-reduced-motion:reduce),print{*{animation:none!important}}"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 86"><style>{style}{still}'
        f"text{{font:12px sans-serif;text-anchor:middle;fill:{palette.ink}}}</style>{''.join(shapes)}{texts}</svg>"
    )
    data = base64.b64encode(svg.encode()).decode()
    return f'<img class="idea" alt="{words}" width="360" height="86" src="data:image/svg+xml;base64,{data}">'
