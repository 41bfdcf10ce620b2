"""The computed figures as curves, and what a sound calibration leaves of each.

from privcov.papers.published import TABLES
from privcov.papers.published_curves import curves, kept

curves(TABLES["5-figure-4"])     # panel, line, method, x, variant, value, se
kept(TABLES["5-figure-4"])       # a `Kept` per curve: sound over as published, rows for the same error
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from privcov import accounting
from privcov.papers import published_cells, published_figures, published_figures_2, published_figures_5
from privcov.papers.published import LITERAL, REPRODUCED, SOUND, Table, computed, standard_error
from privcov.papers.published_cells import CHANGED
from privcov.papers.published_figures_2 import AREA, DELTA, EPSILONS, NO_NOISE, WRONG, N
from privcov.papers.published_verdicts import CLOSE, rows_needed
from privcov.privacy import ApproxDP

MADE = (*published_figures.TABLES, *published_figures_2.TABLES, *published_cells.TABLES, *published_figures_5.TABLES)
FIGURES = tuple(sorted((table.key for table in MADE), key=lambda key: int(key[0])))
FREE = ("zero", "guessing")  # answers that need no data
# Panels by the names they have in the papers.
TITLES = {
    "3": "Model 3",
    "4": "Model 4",
    **{f"2-{x}": f"({x}) n = {n:,}" for x, n in zip("abc", (1_000, 4_000, 16_000), strict=True)},
    **{f"3-{x}": f"({x}) along {w}" for x, w in zip("abcd", ("N", "d", "n", "rho"), strict=True)},
    **{f"4-{x}": f"({x}) {n:,} pictures" for x, n in zip("abc", published_figures_5.PICTURES, strict=True)},
    **{
        f"5-{x}": f"({x}) d = {d}, {trace}"
        for x, (trace, d) in zip(
            "abcdef", ((t, d) for t in ("tr = 1", "tr < 1") for d in published_figures_5.WIDTHS), strict=True
        )
    },
    "pure epsilon": "along epsilon",
    "pure n": "along n",
}
WORDS = {
    "n": "rows n",
    "d": "columns d",
    "bins": "bins N",
    "rho": "rho (zCDP)",
    "epsilon": "epsilon",
    "drawn": "share of absent edges drawn",
}


@dataclass(frozen=True)
class View:
    """How a panel is drawn and judged.

    x: what runs along the axis, a key of `WORDS`; "drawn" for curves of edges found. metric: of the error that is
    judged; of curves of edges found it is one minus their area. along: what runs along the curve that is judged. at:
    the value of ``along`` at which rows are counted. strength: from ``along`` to the inverse of the noise, up to a
    factor; None where that is not what varies.
    """

    x: str
    metric: str = published_figures.FROBENIUS
    along: str = ""
    at: float = math.nan
    strength: Callable[[float], float] | None = None

    @property
    def judged_along(self) -> str:
        """The column along which the claim of the text is read."""
        return self.along or self.x


def _approx(epsilon: float) -> float:
    return 1 / accounting.gaussian_scale(ApproxDP(float(epsilon), DELTA), 1.0)


_RHO = View("rho", at=0.1, strength=math.sqrt)
_PANELS = {
    "1-figure-1": View("n", published_figures.SPECTRAL, at=3_000, strength=float),
    "2-figure-1": View("drawn", AREA, "n", N, float),
    "2-figure-2": View("epsilon", WRONG, at=2.0, strength=_approx),
    "2-figure-3": View("drawn", AREA, "epsilon", 1.0, _approx),
    "2-figure-4": View("epsilon", CHANGED, at=1.0, strength=_approx),
    "5-figure-2": View("d"),
    "3-a": View("bins"),
    "3-b": View("d"),
    "3-c": View("n", at=10_000, strength=float),
    "pure epsilon": View("epsilon", at=0.8, strength=float),
    "pure n": View("n", at=5_000, strength=float),
}


def view(key: str, panel: str) -> View:
    """How a panel of a figure is drawn; most of paper 5's run along rho."""
    return _PANELS.get(key) or _PANELS.get(panel) or _RHO


def _stored(table: Table, folder: Path) -> pd.DataFrame:
    """Stored rows with the name of their panel and line, and what may run along an axis as numbers."""
    found = computed(table, folder)
    found["se"] = standard_error(found)
    level = found["epsilon"].where(found["epsilon"] == "", ", epsilon " + found["epsilon"])
    found["panel"] = found["model"].where(found["model"] != "", found["data"])
    found["line"] = found["method"]
    if table.key == "1-figure-1":
        lines = {"left": found["data"], "middle": "p = " + found["d"], "right": "epsilon " + found["epsilon"]}
        for panel, names in lines.items():
            found["line"] = found["line"].where(found["panel"] != panel, names)
    elif table.paper == 2:
        found["line"] = found["method"] + level
    for name, pattern in (("bins", r"N = (\d+)"), ("rho", r"rho = (.*)")):
        found[name] = pd.to_numeric(found["data"].str.extract(pattern)[0])
    found["drawn"] = pd.to_numeric(found["metric"].str.extract(r"found at (.*)")[0])
    for name in ("n", "d", "epsilon"):
        found[name] = pd.to_numeric(found[name], errors="coerce")
    return found


def panels(table: Table, folder: Path = REPRODUCED) -> list[str]:
    """The panels that have stored numbers."""
    return list(dict.fromkeys(_stored(table, folder)["panel"]))


def curves(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Every point of every curve: panel, line, method, x, variant, value, se. x is NaN where an answer has no level."""
    parts = []
    for panel, group in _stored(table, folder).groupby("panel", sort=False):
        own = view(table.key, panel)
        if own.x == "drawn":
            part = group[group["drawn"].notna() & (group["n"] == group["n"].min())]
            shown = part["epsilon"].isna() | part["epsilon"].isin([float(e) for e in EPSILONS])
            parts.append(part[shown].assign(x=part["drawn"]))
        else:
            part = group[group["metric"] == own.metric]
            line = part["method"] if table.paper == 2 else part["line"]
            parts.append(part.assign(x=part[own.x], line=line))
    columns = ["panel", "line", "method", "x", "variant", "value", "se"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


# --- what a sound calibration leaves ------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """One curve under a sound calibration.

    ratio: geometric mean over its points of sound over as-published error. at: where the rest is told, a value of
    ``along``. ours, sound, trivial: errors there, as published, sound, and of an answer without data (inf where there
    is none). times: what n has to be multiplied by so that the sound error is the as-published one; half: so that it is
    half the trivial one. Both are inf where the curve does not reach it and NaN where they cannot be told. least: the
    multiplier at the curve's beginning; where another one equals it, fewer rows may do.
    Where ``along`` is n the rows were drawn; else noise falls like 1/n for the same sample matrix.
    """

    panel: str
    line: str
    along: str
    ratio: float
    at: float
    ours: float
    sound: float
    trivial: float
    times: float
    half: float
    least: float

    @property
    def survives(self) -> bool:
        """The sound error is at most a tenth larger, and at least a tenth better than an answer without data."""
        return self.ratio <= 1 + CLOSE and self.sound <= (1 - CLOSE) * self.trivial


def judged(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """The errors that are judged: panel, line, x, variant, value."""
    parts = []
    for panel, group in _stored(table, folder).groupby("panel", sort=False):
        own = view(table.key, panel)
        part = group[group["metric"] == own.metric].copy()
        if own.x == "drawn":
            part["value"] = 1 - part["value"]
        if table.paper == 2 and own.judged_along == "epsilon":
            part["line"] = part["method"]
        parts.append(part.assign(x=part[own.judged_along]))
    columns = ["panel", "line", "x", "variant", "value"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def kept(table: Table, folder: Path = REPRODUCED) -> list[Kept]:
    """Every curve of a figure with numbers in both versions, but the answers that need no data and those without
    noise."""
    answer = []
    for panel, part in judged(table, folder).groupby("panel", sort=False):
        free = part[part["line"].isin(FREE)]
        for line, group in part.groupby("line", sort=False):
            if line not in FREE and not line.startswith(NO_NOISE):
                answer += _kept(table, panel, line, group, free)
    return answer


def _kept(table: Table, panel: str, line: str, group: pd.DataFrame, free: pd.DataFrame) -> list[Kept]:
    own = view(table.key, panel)
    wide = group.pivot_table(index="x", columns="variant", values="value").reindex(columns=[LITERAL, SOUND])
    both = wide.dropna()
    both = both[(both > 0).all(axis=1)]
    if both.empty:
        return []
    ratio = float(np.exp(np.log(both[SOUND] / both[LITERAL]).mean()))
    at = own.at if own.at in both.index else float(both.index[len(both) // 2])
    ours, sound = float(both.loc[at, LITERAL]), float(both.loc[at, SOUND])
    trivial = _trivial(table, free, at)
    times = half = least = math.nan
    if own.strength is not None:
        along = wide[SOUND].dropna()
        strengths = np.array([own.strength(x) for x in along.index])
        here = own.strength(at)
        least = float(strengths[0] / here)
        times = rows_needed(strengths, along.to_numpy(), ours) / here
        if math.isfinite(trivial):
            half = rows_needed(strengths, along.to_numpy(), trivial / 2) / here
    return [Kept(panel, line, own.judged_along, ratio, at, ours, sound, trivial, times, half, least)]


def _trivial(table: Table, free: pd.DataFrame, at: float) -> float:
    found = free[(free["variant"] == LITERAL) & ((free["x"] == at) | free["x"].isna())]
    return float(found["value"].iloc[0]) if len(found) else table.trivial
