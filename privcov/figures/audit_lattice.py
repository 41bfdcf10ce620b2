"""Picture of the lattice test: how uneven the residues of two samplers are, over all periods that are looked at."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from privcov.audit.lattice import LIMIT, Evenness
from privcov.audit.trial import Trial
from privcov.figures.look import Palette, Picture, draw, pen, plain

_NAMES = ("old sampler, floating point", "exact sampler")


def peaks(found: Evenness) -> dict[float, tuple[float, float]]:
    """(largest statistic, its limit) of all groups of numbers, by log2 of the period 1 / theta, rising."""
    most: dict[float, tuple[float, float]] = {}
    for look in found.looks:
        period = look.power if look.lattice == "2^k" else math.log2(found.scale) - look.power
        at = round(period - math.log2(look.multiple), 6)
        most[at] = max(most.get(at, (0.0, 1.0)), (look.statistic, look.limit), key=lambda pair: pair[0] / pair[1])
    return dict(sorted(most.items()))


def evenness(trial: Trial, palette: Palette, *, height: int = 400) -> Picture:
    """The statistic over the period, for the old and the exact sampler, with the limit that even noise stays below."""
    traces = []
    colours = palette.bad, palette.good
    for i, (name, (found, _)) in enumerate(zip(_NAMES, (trial.old, trial.exact), strict=True)):
        most = peaks(found)
        traces.append(
            go.Scatter(
                x=list(most),
                y=[size for size, _ in most.values()],
                mode="markers",
                name=name,
                marker={"color": colours[i], "symbol": pen(i, palette).symbol, "size": 7},
                hovertemplate="period 2^%{x:.1f}: %{y:.3g}<extra>" + name + "</extra>",
            )
        )
    limits = peaks(trial.exact[0])
    traces.append(
        go.Scatter(
            x=list(limits),
            y=[limit for _, limit in limits.values()],
            mode="lines",
            name="limit for even noise",
            line={"color": palette.ink, "dash": "dash", "width": 2},
            hovertemplate="limit %{y:.3g}<extra></extra>",
        )
    )
    figure = draw(
        traces,
        palette,
        height=height,
        x={"title": "period of the residues (steps of R² / 2^40, powers of two)", "tickprefix": "2^"},
        y={"title": "unevenness (no unit; 1 on average for even noise)", "type": "log"},
    )
    old, exact = (max(size for size, _ in peaks(found).values()) for found, _ in (trial.old, trial.exact))
    return Picture(
        figure,
        f"Unevenness of residues over their period. The old sampler reaches {plain(old)}, the exact one {plain(exact)};"
        f" even noise stays below a limit of {LIMIT:g}, higher at the right end.",
    )
