"""The cells of an experiment (one method, on one draw of rows, under one guarantee), and those that a store has."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from privcov.core.guarantees import Guarantee, NoPrivacy
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import Method
from privcov.releases.public import build_method
from privcov.studies.store import Store, guarantee_part, key_of, method_part, place_part
from privcov.studies.tasks import Run, SweepTask, run_draws, run_task

if TYPE_CHECKING:
    from privcov.studies.plan import Plan

Entry = str | tuple[str, dict]  # of a plan's ``methods``: a key, alone or with parameters and options

_OPTIONS = ("calibration", "centre", "tuning", "neighbours")
# Columns of the table that a varied source parameter must not overwrite (AR(1) has a rho of its own).
_TAKEN = ("source", "method", "guarantee", "epsilon", "delta", "rho", "replicate", "target", "metric", "value")


def build_entry(entry: Entry) -> tuple[str, Method, dict]:
    """Return (label, built method, options) of one entry of a plan's ``methods``."""
    key, parameters = (entry, {}) if isinstance(entry, str) else entry
    options = {k: parameters[k] for k in _OPTIONS if k in parameters}
    own = {k: v for k, v in parameters.items() if k not in options}
    label = key + "".join(f" {k}={v}" for k, v in sorted(parameters.items()))
    return label, build_method(key, own), options


def column_of(name: str) -> str:
    """Return the column of the table that holds a varied name."""
    return f"source_{name}" if name in _TAKEN else name


class Cell(list):
    """The rows of one method run, one per metric, with its position in the table, and whether it was stored."""

    def __init__(self, rows: list, reused: bool, position: int = 0) -> None:
        super().__init__(rows)
        self.reused, self.position = reused, position


def cells(plan: Plan, store: Store | None = None, *, workers: int | None = None) -> Generator[Cell, None, None]:
    """Run the methods of a plan and yield the cells: stored ones first, then the others as they are finished.

    Rows are drawn when a cell first needs them, so nothing is drawn where the store has every cell. Small work is done
    in this process, the rest by `privcov.core.parallel`. Only the caller's process writes the store, each cell when it
    arrives.
    """
    plan_runs, draws = _PlanRuns(plan), []
    for draw in plan_runs.draws():
        missing = []
        for run in draw.runs:
            results = None if store is None else store.get(plan_runs.keys(run.position))
            if results is None:
                missing.append(run)
            else:
                yield plan_runs.cell(run.position, results, reused=True)
        if missing:
            draws.append(dataclasses.replace(draw, runs=tuple(missing)))
    for position, results in run_draws(draws, workers):
        if store is not None:
            store.put(plan_runs.keys(position), results)
        yield plan_runs.cell(position, results, reused=False)


def rows_of(plan: Plan, replicate: int) -> list[dict]:
    """Compute the rows of the table that belong to one replicate, in this process."""
    plan_runs = _PlanRuns(plan)
    rows: list[dict] = []
    for draw in plan_runs.draws():
        if draw.replicate == replicate:
            for position, results in run_task(draw):
                rows += plan_runs.cell(position, results, reused=False)
    return rows


class _PlanRuns:
    """The method runs of a plan by their position: every point once, then every point again, replicate by replicate."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.spots = list(_spots(plan))
        entries = [(*entry, method_part(*entry[1:])) for entry in _entries(plan)]
        levels = [(guarantee, guarantee_part(guarantee)) for guarantee in plan.guarantees]
        self.pairs = [
            pair for pair in itertools.product(entries, levels) if not pair[0][1].card.refuses(pair[1][0].kind)
        ]

    def _at(self, position: int) -> tuple:
        """Return (replicate, spot, method, guarantee) of a position."""
        place, pair = divmod(position, len(self.pairs))
        replicate, spot = divmod(place, len(self.spots))
        return replicate, self.spots[spot], *self.pairs[pair]

    def keys(self, position: int) -> list[bytes]:
        """Return the key of the store for every metric of one run."""
        replicate, (*_, spot), (*_, part), (_, level) = self._at(position)
        return [key_of(spot, part, level, replicate, metric) for metric in self.plan.metrics]

    def cell(self, position: int, results: list[tuple], *, reused: bool) -> Cell:
        """Return the cell of one run from its values."""
        replicate, (part, *_), (label, *_), (guarantee, _) = self._at(position)
        rows = _rows(label, guarantee, replicate, self.plan.metrics, results)
        return Cell([{"source": self.plan.source, **part, **row} for row in rows], reused, position)

    def draws(self) -> Iterator[SweepTask]:
        """Yield all draws, whatever the store has; points with equal rows share one."""
        plan, position = self.plan, 0
        for replicate in range(plan.replicates):
            for source, spots in itertools.groupby(self.spots, key=lambda spot: spot[1]):
                runs = []
                for _, _, bound, _ in spots:
                    for (_, method, options, _), (guarantee, _) in self.pairs:
                        runs.append(Run(position, bound, method, options, guarantee))
                        position += 1
                if runs:
                    yield SweepTask(source, plan.seed, replicate, plan.sizes, tuple(plan.metrics), tuple(runs))


def _entries(plan: Plan) -> Iterator[tuple[str, Method, dict]]:
    """Build every method; for classification each measures the class means."""
    more = {} if plan.sizes is None else {"centre": "classes"}
    for label, method, options in map(build_entry, plan.methods):
        yield label, method, options | more


def _spots(plan: Plan) -> Iterator[tuple]:
    """Yield (columns of the table, source, row bound, its part of the key) of every point."""
    split = "" if plan.sizes is None else json.dumps(dataclasses.asdict(plan.sizes), sort_keys=True)
    for point in plan.points():
        own = {k: v for k, v in point.items() if k != "row_bound"}
        source = build(SOURCES.get(plan.source).cls, f"Source {plan.source!r}", {**plan.source_params, **own})
        bound = point.get("row_bound", plan.row_bound)
        bound = source.default_row_bound(plan.seed) if bound is None else float(bound)
        place = place_part(source, bound, plan.seed) + split
        yield {column_of(k): v for k, v in point.items()}, source, bound, place


def _rows(label: str, guarantee: Guarantee, replicate: int, metrics: list, results: list[tuple]) -> list[dict]:
    common = {"method": label, **_columns(guarantee), "replicate": replicate}
    return [
        {**common, "target": target, "metric": metric, "value": value, "problem": text}
        for metric, (target, value, text) in zip(metrics, results, strict=True)
    ]


def _columns(guarantee: Guarantee) -> dict:
    empty = {"guarantee": guarantee.kind, "epsilon": float("nan"), "delta": float("nan"), "rho": float("nan")}
    return empty if isinstance(guarantee, NoPrivacy) else {**empty, **vars(guarantee)}
