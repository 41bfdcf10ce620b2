"""The idea of a lesson as one moving drawing, before its first number: SVG that moves by its own style sheet.

It moves for some twelve seconds, and not at all where the visitor wants no motion or on paper; then its last state
stands still.
"""

from __future__ import annotations

import base64

from privcov.figures.palette import Palette


def neighbour(palette: Palette) -> str:
    """Return the drawing of its sentence."""
    words = "One row of a table becomes another person's, and the release trembles as much as before."
    orange, teal = palette.bad, palette.good
    table = "".join(
        f'<rect x="{20 + 24 * j}" y="{8 + 11 * i}" width="22" height="9" fill="{palette.grid}"'
        f"{' class=' + chr(34) + 'swap' + chr(34) if i == 2 else ''}/>"
        for i in range(5)
        for j in range(4)
    )
    cells = "".join(
        f'<rect x="{230 + 14 * j}" y="{8 + 14 * i}" width="13" height="13" fill="{teal if i == j else orange}" '
        f'class="cell" style="animation-delay:-{(7 * i + 5 * j) % 11 * 0.23:.2f}s"/>'
        for i in range(4)
        for j in range(4)
    )
    style = (
        f".swap{{fill:{teal};animation:swap 3s steps(1) 4}}@keyframes swap{{50%{{fill:{orange}}}}}"
        ".cell{opacity:.6;animation:cell 1.3s ease-in-out 9 alternate}"
        "@keyframes cell{from{opacity:.25}to{opacity:.9}}"
    )
    return _image(
        palette, words, style, table + cells + _arrow(palette, 140, 215, 36),
        (68, "one row is exchanged"), (258, "the noise hides it"),
    )  # fmt: skip


def longest(palette: Palette) -> str:
    """Return the drawing of its sentence."""
    words = "The longest row doubles, and what one row can change becomes four times as large."
    tiles = "".join(
        f'<rect x="{250 + 26 * i}" y="{36 - 26 * j}" width="25" height="25" fill="{palette.bad}"'
        f"{'' if i == j == 0 else ' class=' + chr(34) + 'tile' + chr(34)}/>"
        for i in range(2)
        for j in range(2)
    )
    row = f'<rect x="20" y="42" width="104" height="12" fill="{palette.good}" class="row"/>'
    style = (
        ".row{transform-origin:20px 0;animation:row 4s ease-in-out 3 alternate}"
        "@keyframes row{0%,30%{transform:scaleX(.5)}70%,100%{transform:none}}"
        ".tile{animation:tile 4s ease-in-out 3 alternate}@keyframes tile{0%,40%{opacity:0}70%,100%{opacity:1}}"
    )
    return _image(
        palette, words, style, row + tiles + _arrow(palette, 150, 225, 36),
        (72, "a row twice as long"), (276, "four times the change"),
    )  # fmt: skip


def crowd(palette: Palette) -> str:
    """Return the drawing of its sentence."""
    words = "Four times the people: a quarter of the privacy noise, half of the sampling error."
    people = "".join(
        f'<circle cx="{26 + 13 * j}" cy="{14 + 13 * i}" r="4" fill="{palette.good}"'
        f"{'' if i + 4 * (j // 2) < 4 and j < 2 else ' class=' + chr(34) + 'more' + chr(34)}/>"
        for i in range(4)
        for j in range(8)
    )
    bars = "".join(
        f'<rect x="{x}" y="{62 - 54 * left}" width="40" height="{54 * left}" fill="{colour}" class="bar{name}"/>'
        for x, left, colour, name in ((192, 0.25, palette.bad, "n"), (286, 0.5, palette.quiet, "s"))
    )
    style = (
        ".more{animation:more 4s ease-in-out 3 alternate}@keyframes more{0%,30%{opacity:0}70%,100%{opacity:1}}"
        ".barn{transform-origin:0 62px;animation:barn 4s ease-in-out 3 alternate}"
        ".bars{transform-origin:0 62px;animation:bars 4s ease-in-out 3 alternate}"
        "@keyframes barn{0%,30%{transform:scaleY(4)}70%,100%{transform:none}}"
        "@keyframes bars{0%,30%{transform:scaleY(2)}70%,100%{transform:none}}"
    )
    return _image(
        palette, words, style, people + bars, (72, "more people"), (212, "privacy noise"), (306, "sampling error"),
    )  # fmt: skip


def cut(palette: Palette) -> str:
    """Return the drawing of its sentence."""
    words = "Every entry trembles with noise; a rising cut removes what is no larger than the noise."
    real = {2: 46, 7: 36, 11: 52}
    bars = "".join(
        f'<g class="{"real" if k in real else "gone"}"><rect x="{24 + 26 * k}" y="{62 - real.get(k, 9 + 5 * k % 7)}" '
        f'width="16" height="{real.get(k, 9 + 5 * k % 7)}" fill="{palette.good if k in real else palette.bad}" '
        f'class="shake" style="animation-delay:-{k * 0.17:.2f}s"/></g>'
        for k in range(13)
    )
    line = f'<path d="M14 42H352" stroke="{palette.ink}" stroke-width="1.5" stroke-dasharray="5 4" class="line"/>'
    style = (
        ".shake{transform-origin:0 62px;animation:shake .5s ease-in-out 30 alternate}"
        "@keyframes shake{from{transform:scaleY(.8)}to{transform:scaleY(1.15)}}"
        ".line{animation:line 5s ease-in-out 3 alternate}"
        "@keyframes line{0%,25%{transform:translateY(20px)}75%,100%{transform:none}}"
        ".gone{opacity:.12;animation:gone 5s ease-in-out 3 alternate}"
        "@keyframes gone{0%,40%{opacity:1}75%,100%{opacity:.12}}"
    )
    return _image(palette, words, style, bars + line, (180, "a cut above the noise leaves what is real"))


def _arrow(palette: Palette, left: int, right: int, y: int) -> str:
    return f'<path d="M{left} {y}H{right}m-6 -5l6 5l-6 5" fill="none" stroke="{palette.quiet}" stroke-width="1.5"/>'


def _image(palette: Palette, words: str, style: str, body: str, *below: tuple[float, str]) -> str:
    """Return the drawing as an image of HTML, with short texts below it at their middles, and words in its place."""
    texts = "".join(f'<text x="{x}" y="81">{text}</text>' for x, text in below)
    still = "@media (prefers-reduced-motion:reduce),print{*{animation:none!important}}"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 86"><style>{style}{still}'
        f"text{{font:12px sans-serif;text-anchor:middle;fill:{palette.ink}}}</style>{body}{texts}</svg>"
    )
    data = base64.b64encode(svg.encode()).decode()
    return f'<img class="idea" alt="{words}" width="360" height="86" src="data:image/svg+xml;base64,{data}">'
