"""ROC curves of edge recovery, and the recovered network itself."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from privcov.figures.look import Palette, Picture, draw, pen, safe, wash

GRID = np.linspace(0, 1, 101)


def roc(curves: list[tuple[str, list[np.ndarray]]], palette: Palette, *, height: int = 430) -> Picture:
    """Vertical mean of the true positive rate over replicates, on the false positive rates all of them reach.

    curves: (name, [array of (false positive rate, true positive rate) per replicate]); rates of one replicate are
    made monotone from the empty graph at (0, 0). Band: 10 % to 90 % of the replicates. Nothing is drawn beyond the
    densest graph of the path, so a curve may stay open.
    """
    traces, story = [], []
    traces.append(
        go.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            name="Guessing",
            hoverinfo="skip",
            line={"color": palette.quiet, "dash": "dot", "width": 1.2},
        )
    )
    for index, (name, replicates) in enumerate(curves):
        reach = min(points[:, 0].max() for points in replicates)
        grid = GRID[reach + 1e-9 >= GRID]
        rates = np.array([_monotone(points, grid) for points in replicates])
        style = pen(index, palette)
        middle = rates.mean(axis=0)
        if len(replicates) > 1:
            low, high = np.quantile(rates, [0.1, 0.9], axis=0)
            traces.append(
                go.Scatter(
                    x=np.concatenate([grid, grid[::-1]]),
                    y=np.concatenate([high, low[::-1]]),
                    fill="toself",
                    fillcolor=wash(style.colour, 0.16),
                    line={"width": 0},
                    hoverinfo="skip",
                    showlegend=False,
                    name=f"{name} band",
                )
            )
        traces.append(
            go.Scatter(
                x=grid,
                y=middle,
                mode="lines",
                name=name,
                line={"color": style.colour, "dash": style.dash, "width": 2.4},
                hovertemplate=f"{name}: %{{y:.2f}} found at %{{x:.2f}} false<extra></extra>",
            )
        )
        at = int(np.searchsorted(grid, 0.1))
        told = f"{middle[at]:.2f} at false positive rate 0.10" if at < len(grid) else f"{middle[-1]:.2f} at its end"
        story.append(f"{name} finds {told}")
    figure = draw(
        traces,
        palette,
        height=height,
        x={"title": "False positive rate (share of absent edges drawn)", "range": [-0.01, 1.01]},
        y={"title": "True positive rate (share of edges found)", "range": [-0.01, 1.02]},
    )
    return Picture(figure, "ROC curves of edge recovery: " + "; ".join(story) + ".")


def _monotone(points: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """True positive rate at each grid point: running maximum, straight between the points of the path."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    x = np.concatenate([[0.0], ordered[:, 0]])
    y = np.maximum.accumulate(np.concatenate([[0.0], ordered[:, 1]]))
    # At repeated x keep the best point.
    last = np.append(np.flatnonzero(np.diff(x)), len(x) - 1)
    return np.interp(grid, x[last], y[last])


def network(
    found: np.ndarray, true: np.ndarray | None, columns: tuple[str, ...], palette: Palette, *, height: int = 430
) -> Picture:
    """The recovered graph on a fixed circular layout; with a known truth, edges are found, missed or false.

    found, true: d x d bool. Colour, dash and the legend's counts say the same thing.
    """
    d = len(found)
    angle = 2 * np.pi * np.arange(d) / d
    place = np.column_stack([np.sin(angle), np.cos(angle)])  # clockwise from the top, in column order
    if true is None:
        kinds = [("Edge", found, palette.good, "solid", 2.0)]
    else:
        kinds = [
            ("Missed", true & ~found, palette.quiet, "dash", 1.4),
            ("False", found & ~true, palette.bad, "dot", 1.8),
            ("Found", found & true, palette.good, "solid", 2.6),
        ]
    traces, counts = [], []
    for name, mask, colour, dash, width in kinds:
        pairs = np.argwhere(np.triu(mask, 1))
        xs = [v for i, j in pairs for v in (place[i][0], place[j][0], None)]
        ys = [v for i, j in pairs for v in (place[i][1], place[j][1], None)]
        traces.append(
            go.Scatter(
                x=xs,
                y=ys,
                mode="lines",
                name=f"{name}: {len(pairs)}",
                hoverinfo="skip",
                line={"color": colour, "dash": dash, "width": width},
            )
        )
        counts.append(f"{len(pairs)} {name.lower()}")
    degree = found.sum(axis=1)
    traces.append(
        go.Scatter(
            x=place[:, 0],
            y=place[:, 1],
            showlegend=False,
            mode="markers+text" if d <= 40 else "markers",
            text=[safe(c) for c in columns],
            textfont={"size": 10 if d > 15 else 12},
            customdata=degree,
            textposition=[
                "middle right"
                if place[i][0] > 0.05
                else "middle left"
                if place[i][0] < -0.05
                else ("top center" if place[i][1] > 0 else "bottom center")
                for i in range(d)
            ],
            marker={"size": 11, "color": palette.ground, "line": {"color": palette.ink, "width": 1.4}},
            hovertemplate="%{text}: %{customdata} edges<extra></extra>",
        )
    )
    figure = draw(
        traces,
        palette,
        height=height,
        x={"visible": False, "range": [-1.35, 1.35]},
        y={"visible": False, "scaleanchor": "x", "range": [-1.2, 1.2]},
    )
    return Picture(figure, f"Recovered network of {d} variables: " + ", ".join(counts) + " edges.")
