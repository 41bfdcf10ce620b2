"""Draw which lambdas have a solution: the line of lambdas, and the objective that falls without end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from privcov.figures.labels import instead_of_legend
from privcov.figures.look import Pen, Picture, band, draw, note, ticks
from privcov.figures.palette import Palette, wash
from privcov.figures.words import plain


def lambda_line(
    lambdas: Sequence[float], usable: Sequence[bool], below: float, smallest: float, palette: Palette
) -> Picture:
    """Draw the lambda path on a log axis: no solution up to ``below`` (certified), a solution above ``smallest``.

    The path is given by ``lambdas`` and, for each, whether it has a graph (``usable``). ``below`` is 0 where nothing is
    ruled out, and ``smallest`` is inf where no lambda has a solution.
    """
    lam, good = np.asarray(lambdas, dtype=float), np.asarray(usable, dtype=bool)
    known = [v for v in (*lam, below, smallest) if 0 < v < math.inf]
    low, high = min(known) / 1.4, max(known) * 1.4
    left, right = math.log10(low), math.log10(high)

    def fraction(at: float) -> float:
        return (at - left) / (right - left)

    def zone(start: float, end: float, colour: str) -> dict:
        return band(wash(colour, 0.18), x=(fraction(start), fraction(end)), xref="paper")

    cut = right if math.isinf(below) else math.log10(max(below, low))
    start = right if math.isinf(smallest) else math.log10(max(smallest, low))
    shapes = [zone(left, cut, palette.bad), zone(start, right, palette.good)]
    words = []
    if cut > left:
        words.append((left + cut, "no solution, certified", palette.bad))
    if start < right:
        words.append((start + right, "one solution", palette.good))
    notes = [
        note(text, colour, fraction(middle / 2), 0.88, xref="paper", xanchor="center", yref="paper")
        for middle, text, colour in words
    ]
    marks = [m * 10.0**e for e in range(math.floor(left), math.ceil(right)) for m in (1, 2, 5)]
    traces = [
        go.Scatter(
            x=lam[mask],
            y=np.zeros(int(mask.sum())),
            mode="markers",
            name=f"{name}: {int(mask.sum())}",
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
            hovertemplate="lambda %{x:.3g}<extra></extra>",
        )
        for name, mask, symbol, colour in (
            ("Solvable penalties of the path", good, "circle", palette.good),
            ("No solution", ~good, "x-thin", palette.bad),
        )
    ]
    figure = draw(
        traces,
        palette,
        height=170,
        shapes=shapes,
        annotations=notes,
        x={"title": "Penalty lambda", "type": "log", "range": [left, right], **ticks(marks)},
        y={"visible": False, "range": [-1, 1.6]},
    )
    limit = "no lambda has a solution" if math.isinf(smallest) else f"a solution above {plain(smallest)}"
    ruled = "" if below <= 0 or math.isinf(below) else f"certified to have none up to {plain(below)}, "
    return Picture(
        figure,
        f"Lambdas of the path: {int(good.sum())} usable, {int((~good).sum())} without a solution; {ruled}{limit}.",
    )


def objective(s: np.ndarray, direction: np.ndarray, lams: Sequence[float], free: bool) -> tuple[np.ndarray, list]:
    """Return (t, [values at each lambda]) of -log det T + <S, T> + lam |T|_1 at T = I + t D, from t = 0 in 240 steps.

    The direction D is positive semi-definite. With ``free`` the diagonal is penalised too. The value at t = 0 is
    subtracted.
    """
    d = len(s)
    spectrum = np.maximum(np.linalg.eigvalsh(direction), 0.0)
    size = np.abs(direction).sum() - (0.0 if free else np.trace(np.abs(direction)))
    slope = float(np.sum(s * direction))
    curvature = float(spectrum.sum()) or 1.0
    # Far enough that the linear part outweighs the logarithm of the determinant at every lambda.
    steepest = min(abs(slope + lam * size) for lam in lams) or curvature
    t = np.linspace(0, 1, 240) ** 2 * (6 * d / steepest)
    barrier = -np.log1p(np.outer(t, spectrum)).sum(axis=1)
    return t, [barrier + t * (slope + lam * size) for lam in lams]


def _style(endless: bool, palette: Palette) -> Pen:
    return Pen(palette.bad, "dash", "circle") if endless else Pen(palette.good, "solid", "circle")


def falling(t: np.ndarray, series: Sequence[tuple[str, np.ndarray, bool]], palette: Palette) -> Picture:
    """Draw the objective along the certificate. The series hold (name, values, whether it falls without end)."""
    traces = [
        go.Scatter(
            x=t,
            y=values,
            mode="lines",
            name=name,
            line=_style(endless, palette).line(2.6),
            hovertemplate=f"{name}: %{{y:.3g}}<extra></extra>",
        )
        for name, values, endless in series
    ]
    reach = max(1.0, *(float(-v.min()) for _, v, _ in series))
    axis = [-1.08 * reach, 0.5 * reach]
    ends = [(name, float(values[-1]), _style(endless, palette)) for name, values, endless in series]
    figure = draw(
        traces,
        palette,
        height=300,
        x={"title": "Step t from the identity"},
        y={"title": "Objective, less its start", "range": axis},
        **instead_of_legend(ends, axis, palette, 300),
    )
    endings = "; ".join(f"{name} {'falls without end' if endless else 'turns up'}" for name, _, endless in series)
    return Picture(figure, f"Objective along the certificate: {endings}.")
