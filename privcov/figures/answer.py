"""Draw the answer of Trade-offs: the errors of a few methods against epsilon or rho, and where one meets a target."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from privcov.figures.look import Picture, draw, hline, note, pens_of, ticks, vline
from privcov.figures.palette import Palette
from privcov.figures.words import plain

ROOM, GAP = 132, 0.075  # pixels for labels at the right; least distance of two labels, as a part of the height
FEW = 14  # letters in a line of a label


def answer_chart(
    levels: np.ndarray,
    errors: dict[str, np.ndarray],
    labels: dict[str, str],
    palette: Palette,
    *,
    level: float,
    level_name: str,
    error: float,
    wanted: float | None,
    references: Sequence[tuple[str, float]],
    measure: str,
    height: int = 330,
) -> Picture:
    """Return the error of each method against the level, named at the end of its line.

    Parameters
    ----------
    levels : numpy.ndarray
        Epsilon or rho, rising, shape (levels,).
    errors : dict of str to numpy.ndarray
        By method, shape (levels,); the first is the recommended one and is drawn thicker.
    labels : dict of str to str
        Name of each method.
    palette : Palette
        Colours of the theme.
    level, error : float
        The answer, marked with a dot and a vertical line.
    level_name : str
        "epsilon" or "rho".
    wanted : float or None
        The error that was asked for, as a horizontal line.
    references : sequence of (str, float)
        Name and error of each further horizontal line; those not above 0 have no place.
    measure : str
        Title of the vertical axis.
    height : int, optional
        Height in pixels.

    Returns
    -------
    Picture
        The figure and its text alternative.
    """
    traces, story, ends = [], [], []
    for i, (key, style) in enumerate(zip(errors, pens_of(list(errors), palette), strict=True)):
        values = np.maximum(errors[key], 1e-4)
        line = style.line(3.2 if i == 0 else 1.8)
        hover = f"{labels[key]}: %{{y:.3g}} at {level_name} %{{x:.3g}}<extra></extra>"
        traces.append(go.Scatter(x=levels, y=values, mode="lines", name=labels[key], line=line, hovertemplate=hover))
        ends.append((labels[key], style.colour, float(np.log10(values[-1]))))
        story.append(f"{labels[key]} from {plain(values[0])} to {plain(values[-1])}")
    lines = [(name, at) for name, at in references if at > 0]
    shapes = [hline(at, palette.quiet, "dot", 1.2) for _, at in lines]
    if wanted is not None:
        shapes.append(hline(wanted, palette.ink, "solid", 1.2))
    shapes.append(vline(level, palette.ink, "solid", 1.2))
    dot = {"color": palette.ink, "size": 10, "symbol": "circle"}
    traces.append(go.Scatter(x=[level], y=[error], mode="markers", marker=dot, hoverinfo="skip"))
    ys = np.log10([*(max(float(v), 1e-4) for part in errors.values() for v in (part.min(), part.max())), error])
    ys = np.append(ys, np.log10([at for _, at in lines] + ([wanted] if wanted is not None else [])))
    low, high = float(ys.min()) - 0.08, float(ys.max()) + 0.08
    places = spaced([at for *_, at in ends], GAP * (high - low))
    notes = [
        note(_folded(name), colour, 1.01, at, xref="paper", xanchor="left", yanchor="middle", align="left")
        for (name, colour, _), at in zip(ends, places, strict=True)
    ]
    # Lines fall to the right, so above the left end of a low one and below that of a high one there is most room.
    notes += [
        note(name, palette.quiet, 0, np.log10(at), xref="paper", xanchor="left", yanchor="bottom") for name, at in lines
    ]
    if wanted is not None:
        words = f"target {plain(wanted)}"
        notes.append(note(words, palette.ink, 0, np.log10(wanted), xref="paper", xanchor="left", yanchor="top"))
    powers = 10.0 ** np.arange(np.floor(np.log10(levels[0])), np.ceil(np.log10(levels[-1])) + 1)
    figure = draw(
        traces,
        palette,
        height=height,
        shapes=shapes,
        annotations=notes,
        showlegend=False,
        margin={"l": 10, "r": ROOM, "t": 10, "b": 10},
        x={
            "title": f"{level_name} (stronger privacy left)",
            "type": "log",
            "range": [np.log10(levels[0]), np.log10(levels[-1])],
            **ticks(powers),
        },
        y={"title": measure, "type": "log", "range": [low, high], "tickformat": "~g", "dtick": "D1"},
    )
    alt = f"Error against {level_name}: " + "; ".join(story)
    alt += f". The answer is {level_name} = {plain(level)} with an error of {plain(error)}"
    return Picture(figure, alt + ("." if wanted is None else f"; the target is {plain(wanted)}."))


def spaced(places: Sequence[float], gap: float) -> list[float]:
    """Return places that are at least ``gap`` apart, in the same order, and move as little as that takes.

    Parameters
    ----------
    places : sequence of float
        Where the labels would stand.
    gap : float
        Least distance of two of them.

    Returns
    -------
    list of float
        In the order of ``places``. Labels that collide share their displacement, so their mean stays.
    """
    order = np.argsort(places, kind="stable")
    groups: list[list[float]] = []  # each: sum of wanted first places, number of labels
    for rank in order:
        groups.append([float(places[rank]), 1])
        while len(groups) > 1:
            (total, many), (later, few) = groups[-2], groups[-1]
            if later / few - total / many >= many * gap:
                break
            groups[-2:] = [[total + later - few * many * gap, many + few]]
    settled = [total / many + i * gap for total, many in groups for i in range(int(many))]
    found = [0.0] * len(settled)
    for rank, place in zip(order, settled, strict=True):
        found[int(rank)] = place
    return found


def _folded(name: str) -> str:
    """Return a label of few letters a line."""
    return "<br>".join(textwrap.wrap(name, FEW, break_long_words=False))
