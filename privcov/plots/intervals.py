"""Draw one release: answers with their total intervals, and the chance of a pair to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from privcov.core.words import brief, labels, percent, plain, safe
from privcov.plots.labels import instead_of_legend
from privcov.plots.look import Picture, draw, pen
from privcov.plots.palette import Palette

if TYPE_CHECKING:
    import pandas as pd


def intervals(
    names: list[str],
    values: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    palette: Palette,
    *,
    clear: np.ndarray,
    x_title: str,
    what: str,
    level: float = 0.95,
) -> Picture:
    """Draw one line per answer, first on top: its value and its interval for noise and sampling together.

    What is not ``clear`` is pale. An answer without an interval (NaN) has an open mark, or none where it has no value.
    """
    places = np.arange(len(names))[::-1]
    strong, pale = palette.good, palette.faint
    has_interval, valued = ~(np.isnan(low) | np.isnan(high)), ~np.isnan(values)

    def bars(mask: np.ndarray, colour: str, name: str) -> go.Scatter:
        at = places[mask].tolist()
        xs = [v for a, b in zip(low[mask].tolist(), high[mask].tolist(), strict=True) for v in (a, b, None)]
        line = {"color": colour, "width": 3.0}
        ys = [v for p in at for v in (p, p, None)]
        return go.Scatter(x=xs, y=ys, mode="lines", name=name, line=line, hoverinfo="skip")

    def ends(k: int) -> str:
        return f"{plain(float(low[k]))} to {plain(float(high[k]))}" if has_interval[k] else "no interval"

    kinds = [(has_interval & clear, strong, ""), (has_interval & ~clear, pale, ", may be zero")]
    traces = [
        bars(mask, colour, f"Total interval, {percent(level)}{rest}") for mask, colour, rest in kinds if mask.any()
    ]
    traces.append(
        go.Scatter(
            x=values[valued],
            y=places[valued],
            mode="markers",
            name="Released",
            showlegend=False,
            marker={
                "color": [palette.ink if sure else palette.quiet for sure in clear[valued]],
                "size": 8,
                "symbol": ["diamond" if has else "diamond-open" for has in has_interval[valued]],
            },
            customdata=np.column_stack([low, high])[valued],
            text=[safe(brief(names[k], 120)) for k in np.flatnonzero(valued).tolist()],
            hovertext=[ends(k) for k in np.flatnonzero(valued).tolist()],
            hovertemplate="%{text}: %{x:.3g}, %{hovertext}<extra></extra>",
        )
    )
    spread = np.concatenate([values[valued], low[has_interval], high[has_interval]])
    first, last = (float(spread.min()), float(spread.max())) if len(spread) else (0.0, 1.0)
    edge = 0.03 * (last - first) or 0.1  # a bar that ends at the frame looks cut
    figure = draw(
        traces,
        palette,
        height=max(90 + 30 * len(names), 180),  # room for the title of the axis
        x={"title": safe(x_title), "range": [first - edge, last + edge]},
        y={
            "tickvals": places.tolist(),
            "ticktext": [safe(brief(n, 58)) for n in names],
            "range": [-0.7, len(names) - 0.3],
        },
    )
    counts = [(int((has_interval & clear).sum()), "off zero"), (int((~has_interval).sum()), "without an interval")]
    rest = "".join(f", {count} {label}" for count, label in counts)
    top = f"{names[0]} {plain(float(values[0]))} ({ends(0)})" if names and valued[0] else ""
    return Picture(figure, f"{what} with total intervals: {len(names)} values{rest}{'; ' + top if top else ''}.")


def off_zero(answer: pd.DataFrame) -> np.ndarray:
    """Return which answers of a table of `privcov.answers` are not zero: by their test, else by their interval."""
    return np.asarray(answer["reject"] if "reject" in answer else (answer["ci_low"] > 0) | (answer["ci_high"] < 0))


def numbers(answer: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimates, low and high ends of a table of `privcov.answers`."""
    estimate, low, high = (answer[name].to_numpy(dtype=np.float64) for name in ("estimate", "ci_low", "ci_high"))
    return estimate, low, high


def strongest_first(answer: pd.DataFrame) -> pd.DataFrame:
    """Return pairs in the order of reading: off zero, then with an interval, then the rest; each by size."""
    order = np.lexsort((-answer["estimate"].abs().fillna(0.0), ~answer["identified"], ~off_zero(answer)))
    return answer.iloc[order]


def pairs(answer: pd.DataFrame, palette: Palette, *, x_title: str, what: str, most: int) -> Picture:
    """Draw the strongest pairs of a table of `privcov.answers` with their total intervals.

    A value that is neither identified nor off zero may be any number, and has no mark.
    """
    rows = strongest_first(answer).head(most)
    rows = rows.assign(estimate=rows["estimate"].where(rows["identified"] | off_zero(rows)))
    short = labels([*answer["first"], *answer["second"]], 26)
    return intervals(
        [f"{short[a]} and {short[b]}" for a, b in zip(rows["first"], rows["second"], strict=True)],
        *numbers(rows),
        palette,
        clear=off_zero(rows),
        x_title=x_title,
        what=what,
        level=answer.attrs["level"],
    )


def chances(x: np.ndarray, series: list[tuple[str, np.ndarray]], palette: Palette, *, x_title: str) -> Picture:
    """Draw the chance (0 to 1) against the strength of a correlation, one curve per guarantee."""
    traces = [
        go.Scatter(x=x, y=y, mode="lines", name=name, line=pen(i, palette).line(2.4))
        for i, (name, y) in enumerate(series)
    ]
    axis, ends = [-0.02, 1.02], [(name, float(y[-1]), pen(i, palette)) for i, (name, y) in enumerate(series)]
    figure = draw(
        traces,
        palette,
        height=330,
        x={"title": x_title, "range": [float(x[0]), float(x[-1])]},
        y={"title": "Chance to be seen", "range": axis},
        hovermode="x unified",
        **instead_of_legend(ends, axis, palette, 330),
    )
    half = len(x) // 2
    examples = "; ".join(f"{name}: {plain(float(y[half]))} at {plain(float(x[half]))}" for name, y in series)
    return Picture(
        figure,
        f"Chance to be larger than noise and sampling are likely to make any pair, by the strength of a correlation. "
        f"{examples}.",
    )
