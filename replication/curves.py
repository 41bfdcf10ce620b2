"""The computed figures as curves, and what a sound calibration leaves of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from replication.base import LITERAL, REPRODUCED, SOUND, Table, View, standard_error, stored
from replication.catalogue import FIGURES, TABLES, TITLES, VIEWS
from replication.needed import Crossing, Needed, crossing, needed
from replication.su2019.figures import EPSILONS, NO_NOISE
from replication.verdicts import Survival, survival, survives

FREE = ("zero", "guessing")  # answers that need no data
WORDS = {
    "n": "rows n",
    "d": "columns d",
    "bins": "bins N",
    "rho": "rho (zCDP)",
    "epsilon": "epsilon",
    "drawn": "share of absent edges drawn",
}


def view(key: str, panel: str) -> View:
    """Return how a panel of a figure is drawn."""
    return VIEWS.get(key) or VIEWS[panel]


def _stored(table: Table, folder: Path, more: str = "") -> pd.DataFrame:
    parts = [part for part in (stored(table.key, folder), stored(more, folder)) if len(part)]
    rows = pd.concat(parts, ignore_index=True) if parts else stored(table.key, folder)
    rows["se"] = standard_error(rows)
    level = rows["epsilon"].where(rows["epsilon"] == "", ", epsilon " + rows["epsilon"])
    rows["panel"] = rows["model"].where(rows["model"] != "", rows["data"])
    rows["line"] = rows["method"]
    if table.key == "1-figure-1":
        lines = {"left": rows["data"], "middle": "p = " + rows["d"], "right": "epsilon " + rows["epsilon"]}
        for panel, names in lines.items():
            rows["line"] = rows["line"].where(rows["panel"] != panel, names)
    elif table.paper == 2:
        rows["line"] = rows["method"] + level
    for name, pattern in (("bins", r"N = (\d+)"), ("rho", r"rho = (.*)")):
        rows[name] = pd.to_numeric(rows["data"].str.extract(pattern)[0])
    rows["drawn"] = pd.to_numeric(rows["metric"].str.extract(r"found at (.*)")[0])
    for name in ("n", "d", "epsilon"):
        rows[name] = pd.to_numeric(rows[name], errors="coerce")
    return rows


def panels(table: Table, folder: Path = REPRODUCED) -> list[str]:
    """Return the panels that have stored numbers."""
    return list(dict.fromkeys(_stored(table, folder)["panel"]))


def curves(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return every point of every curve. x is NaN where an answer has no level."""
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

    ``ratio`` is the geometric mean of sound over as-published error; ``ours``, ``sound`` and ``trivial`` are the errors
    where the panel's `View` counts rows. ``times`` is what n has to be multiplied by for the as-published error, and
    ``half`` for half the trivial one. ``least`` is the multiplier at the curve's beginning; at it fewer rows may do.
    Where the curve runs along n the rows were drawn; else noise falls like 1/n for the same sample matrix.
    """

    panel: str
    line: str
    ratio: float
    ours: float
    sound: float
    trivial: float
    times: Crossing
    half: Crossing
    least: float


def every_curve(folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return every published curve of every paper with what a sound calibration leaves of it."""
    rows = []
    for table in TABLES.values():
        if table.file:
            along: dict[tuple[str, str], list[Needed]] = {}
            for at in needed(table, folder):
                along.setdefault((at.method, at.metric), []).append(at)
            for own in survival(table, folder):
                found = along.get((own.method, own.metric))
                rows += [_of_table(table, own, at) for at in found] if found else [_of_table(table, own, None)]
        elif table.key in FIGURES:
            for one in kept(table, folder):
                words = ", ".join(part for part in (TITLES.get(one.panel, one.panel), one.line) if part)
                errors = (one.ratio, one.ours, one.sound, one.trivial)
                rows.append(_row(table, words, errors, (one.times, one.half), least=one.least))
    return pd.DataFrame(rows)


def _of_table(table: Table, own: Survival, one: Needed | None) -> dict:
    words = f"{own.method}, {own.metric}"
    if one is None:
        errors = (own.ratio, math.nan, own.level, own.trivial)
        return _row(table, words, errors, (Crossing(), Crossing()))
    errors = (one.sound / one.goal, one.goal, one.sound, one.trivial)
    return _row(table, f"{words}, {one.where}", errors, (one.published, one.half), one.start)


def _row(
    table: Table,
    words: str,
    errors: tuple[float, float, float, float],
    crossings: tuple[Crossing, Crossing],
    start: float = 1.0,
    least: float = 1.0,
) -> dict:
    names = ("ratio", "published", "sound", "trivial")
    ratio, _, sound, trivial = errors
    row = {"paper": table.paper, "table": table.key, "curve": words, "survives": survives(ratio, sound, trivial)}
    row |= dict(zip(names, errors, strict=True))
    row["least"] = least
    for name, one in zip(("times", "half"), crossings, strict=True):
        row |= {name: one.rows / start, f"{name}_low": one.low / start, f"{name}_high": one.high / start}
    return row


def judged(table: Table, folder: Path = REPRODUCED) -> pd.DataFrame:
    """Return the errors that are judged."""
    parts = []
    more = VIEWS[table.key].more if table.key in VIEWS else ""
    for panel, group in _stored(table, folder, more).groupby("panel", sort=False):
        own = view(table.key, panel)
        part = group[group["metric"] == own.metric].copy()
        if own.x == "drawn":
            part["value"] = 1 - part["value"]
        if table.paper == 2 and own.judged_along == "epsilon":
            part["line"] = part["method"]
        parts.append(part.assign(x=part[own.judged_along]))
    columns = ["panel", "line", "x", "variant", "value", "se", "replicates"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def kept(table: Table, folder: Path = REPRODUCED) -> list[Kept]:
    """Return every curve of a figure with numbers in both versions, but answers without data or without noise."""
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
    times, half, least = Crossing(), Crossing(), math.nan
    if own.strength is not None:
        along = group[group["variant"] == SOUND].dropna(subset=["x", "value"]).sort_values("x")
        here = own.strength(at)
        strengths = np.array([own.strength(x) for x in along["x"]]) / here
        least = float(strengths[0])
        errors, se, runs = (along[name].to_numpy() for name in ("value", "se", "replicates"))
        reached = group[(group["variant"] == LITERAL) & (group["x"] == at)]
        times = crossing(strengths, errors, se, runs, ours, float(reached["se"].fillna(0.0).iloc[0]))
        if math.isfinite(trivial):
            half = crossing(strengths, errors, se, runs, trivial / 2)
    return [Kept(panel, line, ratio, ours, sound, trivial, times, half, least)]


def _trivial(table: Table, free: pd.DataFrame, at: float) -> float:
    answers = free[(free["variant"] == LITERAL) & ((free["x"] == at) | free["x"].isna())]
    return float(answers["value"].iloc[0]) if len(answers) else table.trivial
