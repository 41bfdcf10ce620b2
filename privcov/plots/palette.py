"""Every colour of the figures, the pages and the reports; the widgets have theirs from .streamlit/config.toml."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours of the figures in one theme; ``diverging`` runs from negative over zero, the ground, to positive."""

    dark: bool
    ink: str
    quiet: str
    grid: str
    ground: str
    diverging: tuple[tuple[float, str], ...]
    lines: tuple[str, ...]
    bad: str

    @property
    def good(self) -> str:
        """The opposite of ``bad``: the accent, which is also the colour of the first line."""
        return self.lines[0]

    @property
    def faint(self) -> str:
        """A grey nearer to the ground, which is told from ``good`` and ``bad`` without colour vision."""
        return mixed(self.quiet, self.ground, 0.28)


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
    # in each kind of colour blindness (tested by tests/plots/test_contrast.py).
    lines=("#00716A", "#E56B18", "#788DD2", "#C871A2", "#755914", "#13353D", "#10A55F", "#51271B"),
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
    bad="#F0965A",
)

# Shades of one line's colour, see `shades`.
_STRONG, _TO_INK, _TO_GROUND = 8.0, (0.45, 0.75), (0.22, 0.42)

CLEAR = "rgba(0,0,0,0)"
WHITE, BLACK = "#FFFFFF", "#000000"
# Half-transparent grey, seen on the light and on the dark ground: lines in tables, frames of keys, edges of links.
FAINT, KEY, ROW, BORDER = (f"rgba(128,128,128,{opacity})" for opacity in (".2", ".35", ".4", ".55"))

# Text in the accent (linkColor of the theme), and the same under the pointer, where the ground is darker: on the light
# ground, on the dark one.
CHOSEN = "#0F6E6E", "#6FD0C6"
CHOSEN_UNDER_POINTER = "#0B5A5A", CHOSEN[1]

# Reports and records, in the light ink on white: lines in tables, captions, the ground of code.
PAPER_RULE, PAPER_CAPTION, PAPER_FIELD = "#D8D1C3", "#5A544A", "#F6F2EA"


def channels(colour: str) -> tuple[int, ...]:
    """Return red, green and blue of #RRGGBB, 0 to 255."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def to_hex(parts: tuple[int, ...]) -> str:
    """Return #RRGGBB of red, green and blue, 0 to 255."""
    return "#" + "".join(f"{part:02X}" for part in parts)


def mixed(colour: str, other: str, fraction: float) -> str:
    """Return #RRGGBB: (1 - fraction) of ``colour`` and ``fraction`` of ``other``."""
    pairs = zip(channels(colour), channels(other), strict=True)
    return to_hex(tuple(round(a + fraction * (b - a)) for a, b in pairs))


def wash(colour: str, opacity: float | str) -> str:
    """Return a #RRGGBB colour as rgba, for bands."""
    return f"rgba({','.join(map(str, channels(colour)))},{opacity})"


def luminance(colour: str) -> float:
    """Return the relative luminance of #RRGGBB by WCAG 2.2: 0 is black, 1 is white."""
    parts = (part / 255 for part in channels(colour))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour: str, other: str) -> float:
    """Return the contrast of two colours #RRGGBB by WCAG 2.2, from 1 to 21."""
    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable(ground: str) -> str:
    """Return black or white, whichever is easier to read on a ground #RRGGBB; the contrast is at least 4.58."""
    return max(BLACK, WHITE, key=lambda ink: contrast(ink, ground))


def legible(colour: str, palette: Palette) -> str:
    """Return the colour of a line as the colour of its name: nearer to the ink, until it can be read on the ground."""
    mixtures = (mixed(colour, palette.ink, step / 10) for step in range(1, 11))
    return next(mixture for mixture in mixtures if contrast(mixture, palette.ground) >= 4.5)


def shades(colour: int, palette: Palette) -> list[str]:
    """Return one of the colours of lines as it is, and two that can be told from it and seen on the ground.

    They lie towards the ink, or towards the ground for a colour that is near the ink.
    """
    own = palette.lines[colour]
    other, fractions = (
        (palette.ground, _TO_GROUND) if contrast(own, palette.ground) > _STRONG else (palette.ink, _TO_INK)
    )
    return [own, *(mixed(own, other, fraction) for fraction in fractions)]
