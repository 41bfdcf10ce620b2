"""Draw matrices as heatmaps on one shared, symmetric colour range, or as images of one pixel per cell."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from html import unescape
from typing import Any, NamedTuple

import numpy as np

from privcov.core.words import labels, plain, safe
from privcov.plots.look import Picture, draw, note
from privcov.plots.palette import Palette, channels

MAX_NAMES = 60  # columns; beyond this the axes count columns instead of naming them
MAX_DEFAULT_NAMES = 30  # the same where their names are x1, x2 and so on
BAR = 9  # width of a colour bar, pixels
RIGHT, TOP = 46, 7  # room for the bar and its numbers, and for half of the uppermost number, pixels
BAR_MARK = "bar"  # name of the notes beside it
LETTERS = 12  # of a name on an axis; the pointer shows all of it
_PALE = 0.2  # of its colour, for a cell that may be noise alone
MAX_CELLS = 200  # per side; beyond this the screen has fewer pixels than the matrix has cells


class Still(NamedTuple):
    """A picture of a matrix as a PNG file, its text alternative with the finding, and the end of its colour range."""

    png: bytes
    alt: str
    limit: float


def colour_limit(reference: np.ndarray) -> float:
    """Return the end of the colour range for matrices that are compared with a reference.

    It is the 99.5 % quantile of the reference's absolute off-diagonal entries: the same while epsilon changes, and not
    so large that one large variance makes everything else pale.
    """
    d = len(reference)
    off = np.abs(reference[~np.eye(d, dtype=bool)])
    limit = float(np.quantile(off, 0.995)) if d > 2 else 0.0  # a single pair is told from the diagonal
    return limit or float(np.abs(reference).max()) or 1.0


def own_limit(difference: np.ndarray) -> float:
    """Return the end of a matrix's own colour range, rounded up to 1, 2 or 5 times a power of ten to stay put."""
    limit = colour_limit(difference)
    unit = 10.0 ** np.floor(np.log10(limit))
    return float(f"{next(m * unit for m in (1, 2, 5, 10) if m * unit >= limit * (1 - 1e-9)):.3g}")


def beyond(matrix: np.ndarray, limit: float, what: str = "") -> str:
    """Return how many pairs exceed the scale, as a sentence; empty where none does."""
    count = saturated(matrix, limit)
    pairs = f"{count:,} {what} pair".replace("  ", " ") + ("" if count == 1 else "s")
    return f"{pairs} exceed{'s' if count == 1 else ''} the scale." if count else ""


def saturated(matrix: np.ndarray, limit: float) -> int:
    """Return the number of off-diagonal cells beyond the colour range, each pair counted once."""
    upper = np.abs(matrix[np.triu_indices(len(matrix), 1)])
    return int((upper > limit * (1 + 1e-9)).sum())


def thin_out(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a matrix of block means with at most ``MAX_CELLS`` cells per side."""
    d = len(matrix)
    size = -(-d // MAX_CELLS)
    if size == 1:
        return matrix, 1
    starts = np.arange(0, d, size)
    counts = np.diff(np.append(starts, d))
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    return sums / np.outer(counts, counts), size


def heatmap(
    matrix: np.ndarray,
    columns: tuple[str, ...],
    limit: float,
    palette: Palette,
    *,
    what: str,
    bar: bool = True,
    pale: np.ndarray | None = None,
    unknown: np.ndarray | None = None,
) -> Picture:
    """Return a square heatmap, first row on top, with colours from ``-limit`` to ``limit``; the page sets its height.

    Cells of ``pale`` may be noise alone; those of ``unknown`` are hatched: not identified, or known beforehand.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if unknown is not None:
        matrix = np.where(unknown, np.nan, matrix)
    coarse, block = thin_out(matrix)
    names = [safe(c) for c in columns[::block]]
    trace = {
        "type": "heatmap",
        "z": coarse.astype(np.float32),
        "x": names,
        "y": names,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": palette.diverging,
        "showscale": bar,
        "hovertemplate": "%{y} x %{x}: %{z:.3g}<extra></extra>",
        "hoverongaps": False,
    }
    if bar:
        trace["colorbar"] = {
            "thickness": BAR,
            "outlinewidth": 0,
            "x": 1,  # plotly's own place is a share of the width beyond, where the numbers of a wide figure stand
            "xpad": 8,
            "ypad": 0,
            "len": 1,
            "showticklabels": False,
        }
    if pale is not None:
        faint = thin_out(pale.astype(np.float64))[0] > 0.5
        trace |= {
            "z": np.where(faint, _PALE * coarse, coarse).astype(np.float32),
            "customdata": coarse.astype(np.float32),
        }
        trace["hovertemplate"] = "%{y} x %{x}: %{customdata:.3g}<extra></extra>"
    path = hatching(coarse)
    # The same room below as on the left: a page that knows the other two margins makes the cells square.
    letters = max((min(len(unescape(name)), LETTERS) for name in names), default=0) if _names_fit(names, block) else 3
    room = 6 + 6 * letters
    figure = draw(
        [trace],
        palette,
        height=None,
        margin={"l": room, "b": room, **({"r": RIGHT, "t": TOP} if bar else {"r": 0, "t": 0})},
        annotations=_bar_marks(limit, palette) if bar else [],
        shapes=[{"type": "path", "path": path, "line": {"color": palette.quiet, "width": 1}}] if path else [],
        x=_names(names, block, palette, upright=False),
        y=_names(names, block, palette, upright=True) | {"scaleanchor": "x", "autorange": "reversed"},
    )
    faded, every = 0 if pale is None else int(np.triu(pale, 1).sum()), len(matrix) * (len(matrix) - 1) // 2
    rest = f" {faded} of {every} pairs are pale: they may be noise alone." if faded else ""
    gone = int(np.isnan(matrix[np.triu_indices(len(matrix), 1)]).sum())
    rest += f" {gone} of {every} pairs are hatched: not identified, or of one column." if gone else ""
    return Picture(figure, _describe(matrix, columns, limit, what, block) + rest)


def hatching(matrix: np.ndarray, corner: float = -0.5) -> str:
    """Return the path of a stroke through every cell without a number; ``corner`` is where the first cell begins.

    Examples
    --------
    >>> hatching(np.array([[1.0, np.nan], [np.nan, 1.0]]), 0)
    'M1 1L2 0M0 2L1 1'
    """
    return "".join(
        f"M{j + corner:g} {i + 1 + corner:g}L{j + 1 + corner:g} {i + corner:g}"
        for i, j in np.argwhere(np.isnan(matrix))
    )


def still(matrix: np.ndarray, columns: tuple[str, ...], limit: float, palette: Palette, *, what: str) -> Still:
    """Return `heatmap` as an image of one pixel a cell, which a page can show at once, without plotly's script."""
    coarse, block = thin_out(np.asarray(matrix, dtype=np.float64))
    pixels = colours_of(coarse, -limit, limit, palette.diverging)
    return Still(png(pixels), _describe(matrix, columns, limit, what, block), limit)


def marks(limit: float) -> list[float]:
    """Return the round values that a colour bar from ``-limit`` to ``limit`` names."""
    unit = 10.0 ** np.floor(np.log10(limit))
    step = next(m * unit for m in (0.2, 0.5, 1, 2, 5) if limit <= 3.5 * m * unit)
    most = int(limit / step + 1e-9)
    return [float(f"{k * step:.6g}") for k in range(-most, most + 1)]


def colours_of(z: np.ndarray, low: float, high: float, scale: Sequence[tuple[float, str]]) -> np.ndarray:
    """Return the colour of every value on a scale."""
    at = np.clip((z - low) / (high - low), 0, 1)
    stops = np.array([float(s) for s, _ in scale])
    colours = np.array([channels(c) for _, c in scale], dtype=np.float64)
    return np.stack([np.interp(at, stops, colours[:, k]) for k in range(3)], axis=-1).round().astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """Return pixels as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _names(names: list[str], block: int, palette: Palette, *, upright: bool) -> dict:
    """Return one axis of a matrix: the columns' names, or their numbers where there are too many names."""
    d = len(names)
    few = _names_fit(names, block)
    axis: dict[str, Any] = {
        "type": "category",
        "automargin": False,  # it leaves twice the room that names take
        "constrain": "domain",
        "constraintoward": "top" if upright else "right",  # no gap between the cells and the labels
        "showgrid": False,
        "showline": False,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"size": 11 if d <= 12 else 10, "color": palette.quiet},
    }
    if not few:
        step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, d * block) if d * block / s <= 10)
        marks = [0, *range(step - 1, d * block, step)]
        return axis | {"tickvals": [names[i // block] for i in marks], "ticktext": [str(i + 1) for i in marks]}
    aliases = labels(map(unescape, names), LETTERS)
    if short := {name: safe(aliases[unescape(name)]) for name in names if len(unescape(name)) > LETTERS}:
        axis["labelalias"] = short
    flat = upright or d * max(len(short.get(name, name)) for name in names) <= 36
    return axis | {"tickangle": 0 if flat else -90}


def _names_fit(names: list[str], block: int) -> bool:
    return len(names) <= (MAX_DEFAULT_NAMES if names[:1] == ["x1"] else MAX_NAMES) and block == 1


def _bar_marks(limit: float, palette: Palette) -> list[dict]:
    """Return the numbers beside the colour bar. Those of plotly's own bar leave out the ends."""
    beside: dict[str, Any] = {"xref": "paper", "xanchor": "left", "xshift": BAR + 8, "yref": "paper", "name": BAR_MARK}
    return [
        note(plain(value), palette.quiet, 1, (value / limit + 1) / 2, size=11, yanchor="middle", **beside)
        for value in marks(limit)
    ]


def _describe(matrix: np.ndarray, columns: tuple[str, ...], limit: float, what: str, block: int) -> str:
    d = len(matrix)
    text = f"Heatmap of {what}, {d} by {d}, colours from {plain(-limit)} to {plain(limit)}."
    if d > 1:
        off = np.nan_to_num(np.abs(np.triu(matrix, 1)))
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        largest = f"Largest off-diagonal entry: {plain(float(matrix[i, j]))}, between {columns[i]} and {columns[j]}."
        text += f" {largest if off.any() else 'Every off-diagonal entry is zero.'}"
    else:
        text += f" Its one entry is {plain(float(matrix[0, 0]))}."
    return text + (f" Each cell is the mean of {block} by {block} entries." if block > 1 else "")
