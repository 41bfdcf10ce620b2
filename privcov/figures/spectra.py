"""Draw the eigenvalues of the true, sample, noisy and repaired matrix, and the band that the noise alone would fill."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from privcov.figures.look import Picture, band, draw, note, pen
from privcov.figures.palette import Palette
from privcov.figures.words import plain

_PLACES = ("Truth", "Sample", "Noisy", "Post-processed")  # a series keeps its pen where another is absent


def spectrum(
    series: list[tuple[str, np.ndarray]],
    edge: float,
    palette: Palette,
    *,
    scale: str,
    unit: str,
    height: int | None = 460,
) -> Picture:
    """Return eigenvalues in descending order, on a linear or an asinh axis.

    Eigenvalues of the noisy matrix inside the band are drawn hollow: they cannot be recovered separately.

    Parameters
    ----------
    series : list of (str, ndarray)
        Name and eigenvalues of each matrix, in any order. "Truth", "Sample", "Noisy" and "Post-processed" have pens of
        their own.
    edge : float
        Where the spectrum of the noise alone ends, in the unit of the eigenvalues; 0 for no noise.
    palette : Palette
        Colours of the theme.
    scale : {"linear", "asinh"}
        Scale of the vertical axis; "asinh" is linear within the band and logarithmic far outside it.
    unit : str
        Unit of the eigenvalues, for the title of the axis.
    height : int or None, optional
        Height in pixels; None leaves it to the page.

    Returns
    -------
    Picture
        The figure and its text alternative.
    """
    bend = max(edge, 1e-12) if scale == "asinh" else 1.0

    def bent(values: ArrayLike) -> np.ndarray:
        return np.arcsinh(np.asarray(values) / bend) if scale == "asinh" else np.asarray(values)

    traces, shapes, notes, story, inside = [], [], [], [], 0
    if edge > 0:
        shapes.append(band(palette.quiet, y=(float(bent(-edge)), float(bent(edge))), opacity=0.16))
        # At the lower left, where the band always is and a falling spectrum never.
        corner: dict[str, Any] = {"xref": "paper", "xanchor": "left", "yref": "paper", "yanchor": "bottom"}
        notes.append(note("what the noise alone would fill", palette.quiet, 0.01, 0.01, **corner))
    for index, (name, values) in enumerate(series):
        ordered = np.sort(np.asarray(values))[::-1]
        style = pen(_PLACES.index(name) if name in _PLACES else len(_PLACES) + index, palette)
        symbol: Any = style.symbol
        if name == "Noisy" and edge > 0:
            hidden = np.abs(ordered) <= edge
            inside = int(hidden.sum())
            symbol = [f"{style.symbol}-open" if h else style.symbol for h in hidden]
        traces.append(
            go.Scatter(
                x=np.arange(1, len(ordered) + 1),
                y=bent(ordered),
                name=name,
                mode="lines+markers",
                line=style.line(1.6),
                marker={**style.marker(7), "symbol": symbol},
                customdata=ordered,
                hovertemplate=f"{name}, rank %{{x}}: %{{customdata:.3g}}<extra></extra>",
            )
        )
        story.append(f"{name} from {plain(ordered[0])} down to {plain(ordered[-1])}")
    vertical: dict = {"title": f"Eigenvalue, {unit}"}
    if scale == "asinh":
        top = max(float(np.abs(v).max()) for _, v in series)
        marks = [m * s for m in _decades(bend, top) for s in (1, -1)] + [0.0]
        vertical |= {"tickvals": [float(bent(m)) for m in marks], "ticktext": [plain(m) for m in marks]}
    figure = draw(
        traces,
        palette,
        height=height,
        x={"title": "Rank of the eigenvalue"},
        y=vertical,
        shapes=shapes,
        annotations=notes,
    )
    tail = (
        f" The noise alone would fill plus or minus {plain(edge)}; {inside} noisy eigenvalues lie inside it."
        if edge > 0
        else ""
    )
    return Picture(figure, "Eigenvalues: " + "; ".join(story) + "." + tail)


def _decades(low: float, high: float) -> list[float]:
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(max(high, low * 1.01))))
    return [10.0**e for e in range(first, last + 1)]
