"""Compute the papers' tables again, as published and sound, and keep the results: ``python -m replication reproduce``.

A point (cells that share their rows) is written at once, and its replicates are kept until then, so a run that was
stopped goes on where it was and ends with the same bytes.
"""

from __future__ import annotations

import contextlib
import csv
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from privcov.core import parallel, paths
from privcov.studies.cells import build_entry, rows_of
from replication import catalogue
from replication.base import COMPUTED, KEYS, LITERAL, Number, Point, Table
from replication.provenance import made_with
from replication.replicates import Made, Unfinished

SEED = 20_240
PRESETS = ("small", "overnight", "full")


@dataclass(frozen=True)
class Step:
    """One point of one table in one variant."""

    table: Table
    point: Point
    variant: str
    replicates: int


def steps(keys: Sequence[str] = (), preset: str = "small") -> list[Step]:
    """Return what a preset computes."""
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
    known = catalogue.TABLES
    for key in keys:
        if key not in known:
            raise ValueError(f"There is no table {key!r}. There are {', '.join(known)}.")
    planned = []
    for table in (known[k] for k in keys or known):
        for point in table.points:
            for variant in point.variants:
                count = _replicates(table, point, preset)[variant != LITERAL]
                if count:
                    planned.append(Step(table, point, variant, count))
    return planned


def _replicates(table: Table, point: Point, preset: str) -> tuple[int, int]:
    """Return how many replicates a preset computes, as published and sound."""
    if preset == "full":
        return table.replicates, table.replicates
    left_out = preset == "overnight" and point.small == (0, 0)
    return table.small if point.small is None or left_out else point.small


def stamp(step: Step, seed: int = SEED) -> str:
    """Return what the numbers of a step depend on beside the seed: versions of the table and of sound methods."""
    parts = [f"table {step.table.version}"]
    if step.variant != LITERAL:
        keys = step.point.methods if step.point.plan is None else step.point.plan(1, seed).methods
        for _, method, _ in map(build_entry, keys):
            parts.append(f"{method.card.key} {method.card.version}")
    return "; ".join(parts)


def numbers(point: Point, variant: str, replicates: int, seed: int, replicate: int) -> Iterator[Number]:
    """Yield the numbers of one replicate of a point."""
    if point.ready is not None:
        point.ready()
    each = point.literal if variant == LITERAL else point.sound
    if each is not None:
        yield from each(seed, replicate)
        return
    assert point.plan is not None  # the only other way to compute a variant
    assert point.read is not None
    for row in rows_of(point.plan(replicates, seed), replicate):
        keys, metric = point.read(row)
        yield Number(keys, metric, point.unit * float(row["value"]), row["problem"])


@dataclass(frozen=True)
class Task:
    """One replicate of a step, by name: tables hold functions that cannot be sent to another process."""

    table: str
    point: str
    variant: str
    replicates: int
    seed: int
    replicate: int


def one_replicate(task: Task) -> Made:
    """Compute one replicate of a step, as a task of `privcov.core.parallel.run_tasks`."""
    from replication.sources.papers import MissingData

    begun = time.perf_counter()
    point = next(p for p in catalogue.TABLES[task.table].points if p.name == task.point)
    found = None
    with contextlib.suppress(MissingData):
        found = tuple(numbers(point, task.variant, task.replicates, task.seed, task.replicate))
    return Made(time.perf_counter() - begun, found)


def summary(step: Step, seed: int, found_numbers: Sequence[Number]) -> list[dict]:
    """Return the rows of data/reproduced from the numbers of all replicates."""
    cells: dict[tuple, list[Number]] = {}
    for number in found_numbers:
        keys = tuple(number.keys.get(name, "") for name in KEYS)
        cells.setdefault((*keys, number.metric), []).append(number)
    rows = []
    for (*keys, metric), group in cells.items():
        values = np.array([number.value for number in group])
        values = values[np.isfinite(values)]
        rows.append(
            {
                **dict(zip(KEYS, keys, strict=True)),
                "metric": metric,
                "variant": step.variant,
                "point": step.point.name,
                "value": f"{values.mean():.6g}" if len(values) else "",
                "sd": f"{values.std(ddof=1):.6g}" if len(values) > 1 else "",
                "replicates": len(values),
                "failed": len(group) - len(values),
                "problem": next((number.problem for number in group if number.problem), ""),
                "seed": seed,
                "version": stamp(step),
                "made_with": made_with(step.table.needs),
            }
        )
    return rows


def reproduce(
    keys: Sequence[str] = (),
    preset: str = "small",
    *,
    seed: int = SEED,
    folder: Path | None = None,
    fresh: bool = False,
    progress: Callable[[int, int, Step, float], None] | None = None,
    remaining: Callable[[float], None] | None = None,
    workers: int | None = None,
) -> list[Path]:
    """Compute what is not stored yet, or with fewer replicates, another seed or version, and return the files.

    A step whose data set is not there (see data/README.md) is left as it is stored.
    """
    folder = paths.own_results("reproduced") if folder is None else folder
    todo, done = steps(keys, preset), 0
    kept = {key: Unfinished(folder, key) for key in dict.fromkeys(step.table.key for step in todo)}
    if fresh:
        for unfinished in kept.values():
            unfinished.forget()
    missing = [s for s in todo if fresh or not _stored(folder / f"{s.table.key}.csv", s, seed)]
    made = [kept[s.table.key].of(_identity(s, seed)) for s in missing]

    def report(step: Step, seconds: float) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(todo), step, seconds)

    for step in todo:
        if step not in missing:
            report(step, 0.0)

    def whole(number: int) -> None:
        step = missing[number]
        if len(made[number]) == step.replicates:
            report(step, _kept(step, seed, folder, made[number]))
            kept[step.table.key].forget(_identity(step, seed))

    for number in range(len(missing)):
        whole(number)  # one that was stopped between its last replicate and the table
    # The first replicate of every step comes first, so that the forecast is soon known.
    tasks = [(number, k) for number, s in enumerate(missing) for k in range(s.replicates) if k not in made[number]]
    tasks.sort(key=lambda task: task[1] > 0)
    wanted = [
        Task(s.table.key, s.point.name, s.variant, s.replicates, seed, k)
        for s, k in ((missing[number], k) for number, k in tasks)
    ]
    with contextlib.closing(parallel.run_tasks(one_replicate, wanted, workers=workers)) as results:
        for position, found in results:
            number, replicate = tasks[position]
            step = missing[number]
            made[number][replicate] = found
            if found.numbers is not None:
                kept[step.table.key].add(_identity(step, seed), replicate, found)
            if remaining is not None:
                remaining(forecast(missing, made))
            whole(number)
    return sorted({folder / f"{step.table.key}.csv" for step in todo})


def forecast(missing: Sequence[Step], made: Sequence[dict[int, Made]]) -> float:
    """Return the seconds of computing that steps still take: their replicates left, each as long as those before."""
    left = 0.0
    for step, parts in zip(missing, made, strict=True):
        if len(parts) < step.replicates:
            each = sum(m.seconds for m in parts.values()) / len(parts) if parts else math.nan
            left += each * (step.replicates - len(parts))
    return left


def _identity(step: Step, seed: int) -> list:
    """Return all that the numbers of a step depend on, beside the number of a replicate."""
    return [step.point.name, step.variant, step.replicates, seed, stamp(step, seed)]


def _kept(step: Step, seed: int, folder: Path, parts: dict[int, Made]) -> float:
    """Write a step whose replicates are all there, and return the seconds it took."""
    numbers: list[Number] = []
    for replicate in range(step.replicates):
        one = parts[replicate].numbers
        if one is None:
            return math.nan
        numbers.extend(one)
    _write(folder / f"{step.table.key}.csv", summary(step, seed, numbers), step)
    return sum(made.seconds for made in parts.values())


def _rows(path: Path) -> list[dict]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _same(row: dict, step: Step) -> bool:
    return row["point"] == step.point.name and row["variant"] == step.variant


def _stored(path: Path, step: Step, seed: int) -> bool:
    """Return whether a step is stored with this seed, version and at least as many replicates."""
    rows = [row for row in _rows(path) if _same(row, step)]
    return bool(rows) and all(
        int(row["replicates"]) + int(row["failed"]) >= step.replicates
        and row["seed"] == str(seed)
        and row["version"] == stamp(step)
        for row in rows
    )


def _write(path: Path, rows: list[dict], step: Step) -> None:
    """Replace this step's rows in the file, wholly or not at all."""
    kept = [row for row in _rows(path) if not _same(row, step)]
    order = {(p.name, v): i for i, (p, v) in enumerate((p, v) for p in step.table.points for v in p.variants)}
    whole = sorted(kept + rows, key=lambda row: order.get((row["point"], row["variant"]), len(order)))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    pd.DataFrame(whole, columns=COMPUTED).to_csv(draft, index=False, lineterminator="\n")
    os.replace(draft, path)
