"""The recovered network: nodes that stay put; edges told apart by colour, dash and count."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from privcov.figures.look import Palette, Picture, draw, plain, safe, wash
from privcov.postprocess.edges import EDGE, LEVEL, UNDECIDED

LINKED = f"Linked in at least {LEVEL:.0%} of redraws".replace("%", " %")
_NAMED = 40  # nodes; beyond this names would lie on top of each other
_HUBS = 12  # nodes named where not all can be: those with the most edges
_SHORT = 5  # letters of a name that fits into its node
_HOVERED = 1_500  # edges that answer to the pointer


def against_reference(found: np.ndarray, true: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """(name, d x d bool) of the edges a known graph sorts: missed, false, found."""
    return [("Missed", true & ~found), ("False", found & ~true), ("Found", found & true)]


def by_state(states: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """(name, d x d bool) without a known graph; states as of `privcov.postprocess.edges` at its `LEVEL`."""
    return [("Undecided", states == UNDECIDED), (LINKED, states == EDGE)]


def network(
    kinds: list[tuple[str, np.ndarray]],
    place: np.ndarray,
    columns: tuple[str, ...],
    palette: Palette,
    *,
    strength: np.ndarray | None = None,
    rest: str = "",
    height: int | None = None,
) -> Picture:
    """Nodes at ``place`` (d x 2, see `layout.positions`) and the edges of each kind.

    kinds: of `against_reference` or `by_state`, or [("Drawn", graph)]; later ones lie on top. strength: d x d partial
    correlations, told to the pointer. rest: one more sentence for the alternative, for example how many pairs have no
    edge.
    """
    d = len(place)
    styles = {
        "Missed": (palette.quiet, "dash", 1.5),
        "False": (palette.bad, "dot", 2.0),
        "Found": (palette.good, "solid", 2.8),
        LINKED: (palette.good, "solid", 2.8),
        "Drawn": (palette.good, "solid", 2.4),
        "Undecided": (wash(palette.quiet, 0.6), "dash", 1.1),
    }
    traces, counts, told = [], [], []
    for name, mask in kinds:
        pairs = np.argwhere(np.triu(mask, 1))
        colour, dash, width = styles[name]
        if d > _NAMED:
            width = max(0.8, width / 2)
        ends = np.full((max(len(pairs), 1), 3, 2), np.nan)  # a kind without edges keeps its entry in the legend
        ends[: len(pairs), 0], ends[: len(pairs), 1] = place[pairs[:, 0]], place[pairs[:, 1]]
        traces.append(
            go.Scatter(
                x=ends[..., 0].ravel().astype(np.float32),
                y=ends[..., 1].ravel().astype(np.float32),
                mode="lines",
                name=f"{name}: {len(pairs)}",
                hoverinfo="skip",
                showlegend=True,
                line={"color": colour, "dash": dash, "width": width},
            )
        )
        counts.append(f"{len(pairs)} {name.lower()}")
        told += [(name.lower(), i, j) for i, j in pairs.tolist()]
    if len(told) <= _HOVERED:
        traces.append(_hover(told, place, columns, strength))
    traces.append(_nodes(kinds, place, columns, palette))
    wide, high = np.abs(place).max(axis=0) if d > 1 else (1.0, 1.0)
    if d > _NAMED:  # room for the names of the hubs outside the circle
        wide, high = wide + 0.25, high + 0.06
    figure = draw(
        traces,
        palette,
        height=height,
        margin={"l": 0, "r": 0, "t": 34, "b": 0},
        hovermode="closest",
        x={"visible": False, "range": [-wide - 0.14, wide + 0.14]},
        y={"visible": False, "scaleanchor": "x", "range": [-high - 0.14, high + 0.14]},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.0,
            "x": 0,
            "font": {"size": 14},
            "traceorder": "reversed",
            "itemwidth": 40,
        },
    )
    told_all = f"Recovered network of {d} variables, by pairs: " + ", ".join(counts) + "."
    return Picture(figure, told_all + (f" {rest}" if rest else ""))


def _hover(told: list[tuple[str, int, int]], place: np.ndarray, columns: tuple[str, ...], strength) -> go.Scatter:
    """Nothing to see, but the middle of each edge answers to the pointer."""
    middle = np.array([(place[i] + place[j]) / 2 for _, i, j in told]).reshape(-1, 2)
    words = [
        f"{safe(columns[i])} and {safe(columns[j])}: {name}"
        + ("" if strength is None else f", partial correlation {plain(float(strength[i, j]))}")
        for name, i, j in told
    ]
    return go.Scatter(
        x=middle[:, 0],
        y=middle[:, 1],
        mode="markers",
        marker={"size": 14, "opacity": 0},
        text=words,
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _nodes(kinds: list, place: np.ndarray, columns: tuple[str, ...], palette: Palette) -> go.Scatter:
    d = len(place)
    drawn = [mask for name, mask in kinds if name not in ("Missed", "Undecided")]
    degree = np.sum([mask.sum(axis=1) for mask in drawn], axis=0) if drawn else np.zeros(d, dtype=int)
    longest = max(map(len, columns))
    inside = longest <= _SHORT
    size = max(3.0, min(12.0, 600 / d)) if d > _NAMED else (17 + 4.2 * max(longest, 2) if inside else 14)
    names = [safe(c if len(c) <= 14 else c[:13] + "\u2026") for c in columns]
    return go.Scatter(
        x=place[:, 0],
        y=place[:, 1],
        showlegend=False,
        mode="markers+text",
        text=names if d <= _NAMED else [name if hub else "" for name, hub in zip(names, _hubs(degree), strict=True)],
        textfont={"size": 12, "color": palette.ink},
        customdata=np.array([[safe(c), int(k)] for c, k in zip(columns, degree, strict=True)], dtype=object),
        textposition=_outwards(place) if d > _NAMED else "middle center" if inside else "top center",
        cliponaxis=False,
        marker={"size": size, "color": palette.ground, "line": {"color": palette.ink, "width": 1.3}},
        hovertemplate="%{customdata[0]}: %{customdata[1]} edges<extra></extra>",
    )


def _hubs(degree: np.ndarray) -> np.ndarray:
    """Which nodes bear a name in a large network: the `_HUBS` with the most edges, at least two; ties by column."""
    order = np.argsort(-degree, kind="stable")[:_HUBS]
    found = np.zeros(len(degree), dtype=bool)
    found[order] = degree[order] >= 2
    return found


def _outwards(place: np.ndarray) -> list[str]:
    """Names stand outside the circle, away from the edges."""
    across = np.where(place[:, 0] > 0.15, "right", np.where(place[:, 0] < -0.15, "left", "center"))
    along = np.where(np.abs(place[:, 0]) > 0.6, "middle", np.where(place[:, 1] > 0, "top", "bottom"))
    return [f"{a} {b}" for a, b in zip(along, across, strict=True)]
