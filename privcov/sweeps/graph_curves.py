"""Curves of graph recovery: the mean over replicates at fixed rates, and how far it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privcov.metrics.graphs import Rates, precision_at, roc_at
from privcov.privacy import Guarantee

GRID = np.linspace(0, 1, 101)
BAND = (0.1, 0.9)  # quantiles of the replicates


@dataclass(frozen=True)
class Line:
    """The settings of one curve: a method of `GraphStudy.methods`, its label, and a guarantee, perhaps NoPrivacy."""

    entry: Any
    method: str
    guarantee: Guarantee


@dataclass(frozen=True, eq=False)
class Run:
    """One lambda path compared with the graph.

    ``rates`` is None where the release failed, for the reason ``problem``. ``base`` is the fraction of pairs that are
    true edges, and ``marks`` has (false positive rate, true positive rate) of the graph that each rule chose.
    """

    line: int
    replicate: int
    rates: Rates | None
    base: float
    problem: str = ""
    marks: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean over replicates at each point of `GRID`, with the quantiles of `BAND`; NaN where fewer than half get there.

    ``tpr`` is the true positive rate at each false positive rate; ``precision`` the fraction of drawn edges that are
    true, at each fraction of true edges found. ``reach`` and ``recall`` are the false positive rate and the fraction of
    true edges found at which the first replicate ends; ``base`` is the fraction of pairs that are true edges.

    ``replicates`` counts those with a path, ``without`` those with none. ``infeasible`` (no solution), ``unfinished``
    (gap not certified) and ``lambdas`` (all) are counted over all paths. ``marks`` has the mean (false positive rate,
    true positive rate, fraction of drawn edges that are true) by rule, ``problem`` the first failure's reason, or "".
    """

    name: str
    line: Line
    tpr: np.ndarray
    low: np.ndarray
    high: np.ndarray
    precision: np.ndarray
    precision_low: np.ndarray
    precision_high: np.ndarray
    reach: float
    recall: float
    base: float
    replicates: int
    without: int
    infeasible: int
    unfinished: int
    lambdas: int
    marks: Mapping[str, tuple[float, float, float]]
    problem: str = ""

    def area(self, to: float) -> float:
        """Return the area under the mean curve from false positive rate 0 to ``to``."""
        if not 0 <= to <= self.reach + 1e-9:
            raise ValueError(f"to must lie between 0 and {self.reach:.3g}, where the curve ends; got {to:g}.")
        inside = to + 1e-9 >= GRID
        return float(np.trapezoid(self.tpr[inside], GRID[inside]))


def average(lines: Sequence[Line], names: Sequence[str], results: Sequence[Run]) -> tuple[Curve, ...]:
    """Return one curve per line that has at least one path, whatever the order of the runs."""
    ordered = sorted(results, key=lambda run: run.replicate)
    averaged = []
    for i, (name, line) in enumerate(zip(names, lines, strict=True)):
        mine = [run for run in ordered if run.line == i]
        every = [run.rates for run in mine if run.rates is not None]
        if any(len(rates.lam) for rates in every):
            averaged.append(_curve(name, line, mine, every))
    return tuple(averaged)


def _curve(name: str, line: Line, mine: list[Run], every: list[Rates]) -> Curve:
    """Return the curve of one line from its runs."""
    base, solved = mine[0].base, [rates for rates in every if len(rates.lam)]
    tpr, low, high, reach = _vertical(np.array([roc_at(rates, GRID) for rates in solved]))
    right = _vertical(np.array([precision_at(rates, GRID, base) for rates in solved]))
    marks = {}
    for rule in dict.fromkeys(rule for run in mine for rule in run.marks):
        at = np.mean([run.marks[rule] for run in mine if rule in run.marks], axis=0)
        drawn = at[1] * base + at[0] * (1 - base)
        marks[rule] = (float(at[0]), float(at[1]), float(at[1] * base / drawn) if drawn > 0 else float("nan"))
    return Curve(
        name,
        line,
        tpr,
        low,
        high,
        *right[:3],
        reach,
        right[3],
        base,
        len(solved),
        len(mine) - len(solved),
        sum(r.infeasible for r in every),
        sum(r.unfinished for r in every),
        sum(len(r.lam) + r.infeasible + r.lost for r in every),
        marks,
        next((run.problem for run in mine if run.problem), ""),
    )


def _vertical(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return (mean, low, high) of the replicates that reach a point, where at least half do; and where all do."""
    there = ~np.isnan(values)
    enough = 2 * there.sum(axis=0) >= len(values)
    mean, low, high = (np.full(len(GRID), np.nan) for _ in range(3))
    if enough.any():
        kept = values[:, enough]
        mean[enough] = np.nanmean(kept, axis=0)
        low[enough], high[enough] = (_quantile(kept, level) for level in BAND)
    whole = np.flatnonzero(there.all(axis=0))
    return mean, low, high, float(GRID[whole[-1]]) if len(whole) else 0.0


def _quantile(values: np.ndarray, level: float) -> np.ndarray:
    """Return `numpy.nanquantile` of every column; numpy goes through the columns one by one where some hold NaN."""
    rising = np.sort(values, axis=0)  # NaN at the end
    at = level * (np.count_nonzero(~np.isnan(values), axis=0) - 1)
    below = np.floor(at).astype(int)
    columns = np.arange(values.shape[1])
    low, high = rising[below, columns], rising[np.ceil(at).astype(int), columns]
    return low + (at - below) * (high - low)
