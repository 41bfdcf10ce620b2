"""Draw the recovered network; places come once from a reference graph, so that nothing moves with lambda."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

from privcov.core.words import plain, safe
from privcov.metrics.graphs import Rates, roc_at
from privcov.plots.look import Pen, Picture, dotted, draw, entry, scatter
from privcov.plots.palette import Palette, wash
from privcov.postprocess.edge_test import EDGE, UNDECIDED

TESTED_EDGE = "Passes the edge test"
_HUBS = 12  # nodes named where not all can be: those with the most edges
_SHORT = 5  # letters of a name that fits into its node
_HOVERED = 1_500  # edges that respond to the pointer
MAX_NODES = 40  # nodes; beyond this names would lie on top of each other, and a circle is easier to read
_STEPS = 300
_STRETCH = 1.4  # how much the shorter direction may be stretched to fill the square
_BEND = 0.6  # distances to this power: a long chain folds up and fills the picture


def against_reference(estimated: np.ndarray, true: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return the edges of a recovered graph, sorted by whether a known graph has them."""
    return [("Missed", true & ~estimated), ("False", estimated & ~true), ("Found", estimated & true)]


def by_state(states: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return edges sorted by a test, without a known graph."""
    return [("Undecided", states == UNDECIDED), (TESTED_EDGE, states == EDGE)]


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
    """Return a network: nodes at fixed places, and the edges of each kind."""
    d = len(place)
    styles = {
        "Missed": (palette.faint, "dash", 1.5),
        "False": (palette.bad, "dot", 2.0),
        "Found": (palette.good, "solid", 2.8),
        TESTED_EDGE: (palette.good, "solid", 2.8),
        "Drawn": (palette.good, "solid", 2.4),
        "Undecided": (wash(palette.quiet, 0.6), "dash", 1.1),
    }
    traces, counts, edges = [], [], []
    for name, mask in kinds:
        pairs = np.argwhere(np.triu(mask, 1))
        colour, dash, width = styles[name]
        if d > MAX_NODES:
            width = max(0.8, width / 2)
        ends = np.full((max(len(pairs), 1), 3, 2), np.nan)  # a kind without edges keeps its entry in the legend
        ends[: len(pairs), 0], ends[: len(pairs), 1] = place[pairs[:, 0]], place[pairs[:, 1]]
        traces.append(
            scatter(
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
        edges += [(name.lower(), i, j) for i, j in pairs.tolist()]
    if len(edges) <= _HOVERED:
        traces.append(_hover(edges, place, columns, strength))
    nodes = _nodes(kinds, place, columns, palette)
    traces.append(nodes)
    wide, high = np.maximum(np.abs(place).max(axis=0), 0.1)  # two nodes lie on a line
    up = across = nodes.marker.size / 2 + 2  # pixels that a node and its name need beyond its place
    if nodes.textposition != "middle center":
        up, across = up + 16, across + (3.6 if d <= MAX_NODES else 7.2) * max(map(len, nodes.text))
    figure = draw(
        traces,
        palette,
        height=height,
        margin={"l": across, "r": across, "t": 34 + up, "b": up},
        hovermode="closest",
        # Without `constrain`, plotly widens a range, and once more when the chart's size changes.
        x={"visible": False, "constrain": "domain", "range": [-wide, wide]},
        y={"visible": False, "constrain": "domain", "scaleanchor": "x", "range": [-high, high]},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1 + up / max(100, (height or 200) - 34 - 2 * up),
            "x": 0,
            "font": {"size": 14},
            "traceorder": "reversed",
            "itemwidth": 40,
        },
    )
    alt = f"Recovered network of {d} variables, by pairs: " + ", ".join(counts) + "."
    return Picture(figure, alt + (f" {rest}" if rest else ""))


def _hover(
    edges: list[tuple[str, int, int]], place: np.ndarray, columns: tuple[str, ...], strength: np.ndarray | None
) -> go.Scatter:
    """Return invisible marks in the middle of the edges, which answer to the pointer."""
    middle = np.array([(place[i] + place[j]) / 2 for _, i, j in edges]).reshape(-1, 2)
    words = [
        f"{safe(columns[i])} and {safe(columns[j])}: {name}"
        + ("" if strength is None else f", partial correlation {plain(float(strength[i, j]))}")
        for name, i, j in edges
    ]
    return scatter(
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
    masks = [mask for name, mask in kinds if name not in ("Missed", "Undecided")]
    degree = np.sum([mask.sum(axis=1) for mask in masks], axis=0) if masks else np.zeros(d, dtype=int)
    longest = max(map(len, columns))
    inside = longest <= _SHORT
    size = max(3.0, min(12.0, 600 / d)) if d > MAX_NODES else (17 + 4.2 * max(longest, 2) if inside else 14)
    names = [safe(c if len(c) <= 14 else c[:13] + "\u2026") for c in columns]
    return scatter(
        x=place[:, 0],
        y=place[:, 1],
        showlegend=False,
        mode="markers+text",
        text=names if d <= MAX_NODES else [name if hub else "" for name, hub in zip(names, _hubs(degree), strict=True)],
        textfont={"size": 12, "color": palette.ink},
        customdata=np.array([[safe(c), int(k)] for c, k in zip(columns, degree, strict=True)], dtype=object),
        textposition=_outwards(place) if d > MAX_NODES else "middle center" if inside else "top center",
        cliponaxis=False,
        marker={"size": size, "color": palette.ground, "line": {"color": palette.ink, "width": 1.3}},
        hovertemplate="%{customdata[0]}: %{customdata[1]} edges<extra></extra>",
    )


def _hubs(degree: np.ndarray) -> np.ndarray:
    """Return which nodes of a large network are named: of the `_HUBS` with the most edges, those with at least two.

    Ties are broken by column.
    """
    order = np.argsort(-degree, kind="stable")[:_HUBS]
    hubs = np.zeros(len(degree), dtype=bool)
    hubs[order] = degree[order] >= 2
    return hubs


def _outwards(place: np.ndarray) -> list[str]:
    """Return where names stand: outside the circle, away from the edges."""
    across = np.where(place[:, 0] > 0.15, "right", np.where(place[:, 0] < -0.15, "left", "center"))
    along = np.where(np.abs(place[:, 0]) > 0.6, "middle", np.where(place[:, 1] > 0, "top", "bottom"))
    return [f"{a} {b}" for a, b in zip(along, across, strict=True)]


# --- places -----------------------------------------------------------------------------------------------------------


def positions(reference: np.ndarray | None, d: int) -> np.ndarray:
    """Return places of the nodes in the square [-1, 1]^2, the same for the same graph.

    Small graphs with edges are placed by stress majorisation (Gansner, Koren & North 2004) from a circle, without
    random numbers; other graphs on a circle, clockwise from the top in column order.
    """
    graph = b"" if reference is None else np.ascontiguousarray(reference, dtype=bool).tobytes()
    return _cached_positions(graph, d)


@lru_cache(maxsize=64)
def _cached_positions(graph: bytes, d: int) -> np.ndarray:
    """Return `positions` of a graph given as bytes, b"" for none; cached, because the slider needs it at every step."""
    places = _place(np.frombuffer(graph, dtype=bool).reshape(d, d) if graph else None, d)
    places.flags.writeable = False
    return places


def _place(reference: np.ndarray | None, d: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(d) / d
    circle = np.column_stack([np.sin(angle), np.cos(angle)])
    if reference is None or d > MAX_NODES or d < 3 or not reference.any():
        return circle
    from scipy.sparse.csgraph import shortest_path

    far = shortest_path(reference, unweighted=True)  # in edges, inf where there is no way
    finite = np.isfinite(far)
    # Parts that no edge joins stand a little further apart than any two nodes of one part.
    far[~finite] = far[finite].max() + 1
    distances = far**_BEND
    layout = _settle(circle * distances.max() / 2, distances)
    layout -= (layout.max(axis=0) + layout.min(axis=0)) / 2
    # A graph has no orientation of its own: the widest direction lies flat, and of its four mirror images that one is
    # taken whose nodes follow the columns best, from left to right and from top to bottom, as in a matrix beside it.
    _, axes = np.linalg.eigh(layout.T @ layout)
    layout = layout @ axes[:, ::-1]
    order = np.arange(d) - (d - 1) / 2
    layout *= np.where(order @ layout * np.array([1.0, -1.0]) < 0, -1.0, 1.0)
    layout -= (layout.max(axis=0) + layout.min(axis=0)) / 2
    reach = np.maximum(np.abs(layout).max(axis=0), 1e-9)
    return layout / np.maximum(reach, reach.max() / _STRETCH)


def _settle(start: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return places after stress majorisation with weights 1 / wanted^2: every step lowers the stress."""
    d = len(start)
    off = ~np.eye(d, dtype=bool)
    weight = np.zeros((d, d))
    weight[off] = distances[off] ** -2
    pinned = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    layout = start
    for _ in range(_STEPS):
        gap = np.linalg.norm(layout[:, None] - layout[None], axis=2)
        pull = np.where(off, -weight * distances / np.maximum(gap, 1e-9), 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        layout = pinned @ (pull @ layout)
    return layout


GRID = np.linspace(0, 1, 101)
OWN, EXACT = "This release", "Without noise"
_TYPE = 15  # size of all words, pixels


def roc(noisy: Rates, exact: Rates | None, own: Pen, palette: Palette) -> Picture:
    """Return the ROC curves: share of the true edges found against share of the absent edges drawn.

    The last trace is the mark of one network; see `point_at`.
    """
    by_name = {OWN: noisy} | ({} if exact is None else {EXACT: exact})
    curves = {name: roc_at(rates, GRID) for name, rates in by_name.items()}
    figure = _figure(curves, own, palette)
    words = "; ".join(f"{name} finds {_at_a_tenth(values)}" for name, values in curves.items())
    return Picture(figure, f"ROC curves of edge recovery: {words}.")


def point_at(picture: Picture, point: tuple[float, float] | None) -> Picture:
    """Move the mark of the network on the screen, in place."""
    mark = picture.figure.data[-1]
    mark.x, mark.y = ([None], [None]) if point is None else ([point[0]], [point[1]])
    return picture


def _figure(curves: dict[str, np.ndarray], own: Pen, palette: Palette) -> go.Figure:
    """Draw the curves, a ring where a path ends, the line of guessing, and the mark of the network on the screen."""
    traces = [dotted([0, 1], [0, 1], palette, 1.6, name="Guessing", hoverinfo="skip")]
    for name, values in curves.items():
        style = own if name == OWN else Pen(palette.ink, "longdash", "circle")
        there = np.isfinite(values)
        hover = f"{name}: %{{y:.2f}} found at %{{x:.2f}}<extra></extra>"
        line = style.line(3.4)
        traces.append(scatter(x=GRID[there], y=values[there], mode="lines", name=name, line=line, hovertemplate=hover))
        if there.any() and not there[-1]:
            ring = {"symbol": "circle-open", "size": 10, "color": style.colour, "line": {"width": 2}}
            end = f"{name}: the path ends here, at %{{x:.2f}}<extra></extra>"
            at = {"x": GRID[there][-1:], "y": values[there][-1:]}
            traces.append(scatter(**at, mode="markers", showlegend=False, marker=ring, hovertemplate=end))
    look = {"symbol": "circle-open-dot", "size": 17, "color": palette.ink, "line": {"width": 2.4}}
    here = "The network on the screen: %{y:.2f} at %{x:.2f}<extra></extra>"
    traces.append(entry("This network", look, hovertemplate=here))
    axis = {"range": [-0.02, 1.04], "dtick": 0.2, "tickfont": {"size": _TYPE - 1, "color": palette.quiet}}
    return draw(
        traces,
        palette,
        height=440,
        margin={"l": 10, "r": 14, "t": 30, "b": 10},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.01, "x": 0, "font": {"size": _TYPE}},
        x={"title": "False positive rate (share of absent edges drawn)", **axis},
        y={"title": "True positive rate (share of edges found)", **axis},
    )


def _at_a_tenth(tpr: np.ndarray) -> str:
    end = int(np.flatnonzero(np.isfinite(tpr))[-1])
    words = f"{tpr[min(10, end)]:.2f} at " + ("false positive rate 0.10" if end >= 10 else "its end")
    return words + (f", and ends at {plain(float(GRID[end]))}" if end < 100 else "")
